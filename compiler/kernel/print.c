/* SPDX-License-Identifier: MIT
 *
 * The dump of a kernel program: a statement a line, indented by tabs below the statement that it is part of, with every
 * property that a node has. docs/ir.md describes the notation; read.c reads it. A place is written where it is another
 * one than that of the line before, so that lines of one origin stay readable; which line of the compiler made a node
 * is not written. */
#include "kernel/read.h"

#include <inttypes.h>
#include <stddef.h>

struct print {
	struct writer *w;
	struct span place;              /* of the line before */
};

static void print_block(struct print *p, const struct k_block *block);

/* ---- words ---- */

const char *k_space_word(enum k_space space)
{
	static const char *const names[] = {
		[K_SPACE_MEMORY] = "memory", [K_SPACE_REGISTERS] = "registers", [K_SPACE_STACK] = "stack",
		[K_SPACE_SHARED] = "shared", [K_SPACE_THREAD] = "thread"
	};

	return names[space];
}

const char *k_mode_word(enum k_store_mode mode)
{
	static const char *const names[] = { [K_STORE_ATOMIC] = "atomic", [K_STORE_NONTEMPORAL] = "nontemporal" };

	return names[mode];
}

const char *k_loop_word(enum k_loop_kind kind)
{
	static const char *const names[K_LOOP_KIND_N + 1] = {
		[K_LOOP_UNROLLED] = "unrolled", [K_LOOP_ROLLED] = "rolled", [K_LOOP_WORKSHARE] = "workshare",
		[K_LOOP_SIMD] = "simd", [K_LOOP_GRID] = "grid", [K_LOOP_LANES] = "lanes"
	};

	return names[kind];
}

const char *k_stmt_word(enum k_stmt_kind kind)
{
	static const char *const names[KS_N + 1] = {
		[KS_BLOCK] = "block", [KS_LOOP] = "loop", [KS_WHILE] = "while", [KS_IF] = "if", [KS_CALL] = "call",
		[KS_PARALLEL] = "parallel", [KS_RETURN] = "return", [KS_BREAK] = "break", [KS_CONTINUE] = "continue",
		[KS_RECORD] = "record", [KS_UNUSED] = "unused", [KS_COMMENT] = "comment", [KS_BLANK] = "blank"
	};

	return names[kind];
}

#define FLAG(word, structure, field) { word, true, offsetof(struct structure, field) }
#define PART(word, structure, field) { word, false, offsetof(struct structure, field) }

const struct k_property k_let_properties[] = {
	FLAG("known", k_let, is_known), FLAG("joined", k_let, is_joined), FLAG("padded", k_let, is_padded),
	FLAG("result", k_let, is_result), { NULL, false, 0 }
};

const struct k_property k_loop_properties[] = {
	FLAG("dynamic", k_loop, share.is_dynamic), PART("chunk", k_loop, share.chunk),
	FLAG("team", k_loop, share.starts_team), PART("threads", k_loop, share.threads),
	FLAG("vectors", k_loop, is_simd), FLAG("strided", k_loop, is_strided), FLAG("short", k_loop, is_short),
	PART("number", k_loop, number), PART("count", k_loop, count), PART("row", k_loop, row.length),
	FLAG("narrow", k_loop, row.is_narrow), FLAG("neutral", k_loop, row.is_neutral),
	PART("alone", k_loop, row.alone), { NULL, false, 0 }
};

/* ---- parts of lines ---- */

static struct arena *arena_of(const struct print *p)
{
	return p->w->text.arena;
}

static void add_words(struct str *out, const char *words)
{
	if (words)
		str_add(out, ", %s", words);
}

static void add_part(struct str *out, const char *words, const struct k_expr *expr)
{
	if (expr)
		str_add(out, "%s %s", words, k_expr_text(out->arena, expr));
}

/* ---- statements, without their bodies ---- */

static const char *let_word(const struct k_let *let)
{
	if (let->extents.n)
		return let->is_variable ? "array" : "table";
	return let->is_variable ? "var" : "let";
}

static void add_let(struct str *out, const struct k_let *let)
{
	for (const struct k_property *property = k_let_properties; property->word; property++)
		if (*(const bool *) ((const char *) let + property->offset))
			str_add(out, "%s ", property->word);
	str_add(out, "%s %s: %s", let_word(let), let->name, k_type_text(out->arena, &let->type));
	for (int i = 0; i < let->extents.n; i++)
		str_add(out, " [%s]", k_expr_text(out->arena, let->extents.items[i]));
	if (let->extents.n || let->space != K_SPACE_MEMORY)
		str_add(out, " in %s", k_space_word(let->space));
	add_part(out, " =", let->value);
}

const char *k_store_text(struct arena *arena, const struct k_store *store)
{
	struct str out = str_new(arena);

	if (store->is_step)
		return arena_printf(arena, "%s%s", k_expr_text(arena, store->targets.items[0]),
				    store->op == K_SUB ? "--" : "++");
	for (int i = 0; i < store->targets.n; i++)
		str_add(&out, "%s %s= ", k_expr_text(arena, store->targets.items[i]),
			store->op == K_OP_N ? "" : k_op_text(store->op));
	str_add(&out, "%s", k_expr_text(arena, store->value));
	return str_text(&out);
}

static void add_store(struct str *out, const struct k_store *store)
{
	const char *mode = k_mode_word(store->mode);

	str_add(out, "%s%s%s%s", store->is_interim ? "interim " : "", mode ? mode : "", mode ? " " : "",
		k_store_text(out->arena, store));
}

static void add_comment(struct str *out, const char *text)
{
	str_add(out, " \"");
	for (; *text; text++) {
		if (*text == '\n' || *text == '\t')
			str_add(out, *text == '\n' ? "\\n" : "\\t");
		else
			str_add(out, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
	}
	str_add(out, "\"");
}

static void add_loop(struct str *out, const struct k_loop *loop)
{
	str_add(out, " %s: %s from %s %s %s", loop->name, k_type_text(out->arena, &loop->type),
		k_expr_text(out->arena, loop->first), loop->is_down ? "down to" : "below",
		k_expr_text(out->arena, loop->bound));
	add_part(out, " step", loop->step);
	add_words(out, k_loop_word(loop->kind));
	for (const struct k_property *property = k_loop_properties; property->word; property++) {
		const char *at = (const char *) loop + property->offset;

		if (property->is_flag)
			add_words(out, *(const bool *) at ? property->word : NULL);
		else
			add_part(out, arena_printf(out->arena, ", %s", property->word), *(struct k_expr *const *) at);
	}
	for (int i = 0; i < loop->reductions.n; i++)
		str_add(out, ", reduce %s %s", loop->reductions.items[i].op, loop->reductions.items[i].name);
}

static void add_while(struct str *out, const struct k_while *repeat)
{
	add_part(out, "", repeat->condition);
	add_words(out, k_loop_word(repeat->kind));
	add_words(out, repeat->is_broken ? "broken" : NULL);
}

static void add_if(struct str *out, const struct k_if *branch)
{
	add_part(out, "", branch->condition);
	add_words(out, branch->is_bare ? "bare" : NULL);
}

static void add_block(struct str *out, const struct k_stmt *stmt)
{
	if (stmt->part)
		str_add(out, " part %s", stmt->part);
	add_words(out, stmt->is_apart ? "apart" : NULL);
}

static void add_record(struct str *out, const struct k_record *record)
{
	str_add(out, " %s", record->name);
	add_part(out, ", alignment", record->alignment);
}

const char *k_stmt_text(struct arena *arena, const struct k_stmt *stmt)
{
	struct str out = str_new(arena);

	if (k_stmt_word(stmt->kind))
		str_add(&out, "%s", k_stmt_word(stmt->kind));
	switch (stmt->kind) {
	case KS_LET: add_let(&out, &stmt->let); break;
	case KS_STORE: add_store(&out, &stmt->store); break;
	case KS_LOOP: add_loop(&out, &stmt->loop); break;
	case KS_WHILE: add_while(&out, &stmt->repeat); break;
	case KS_IF: add_if(&out, &stmt->branch); break;
	case KS_CALL:
	case KS_PARALLEL:
	case KS_RETURN:
	case KS_UNUSED: add_part(&out, "", stmt->value); break;
	case KS_RECORD: add_record(&out, &stmt->record); break;
	case KS_COMMENT: add_comment(&out, stmt->text); break;
	case KS_BLOCK: add_block(&out, stmt); break;
	case KS_BREAK:
	case KS_CONTINUE:
	case KS_BLANK:
	case KS_N: break;
	}
	return str_text(&out);
}

/* ---- places ---- */

static const char *span_of(const struct print *p, struct span span)
{
	if (!span_is_known(span))
		return "nowhere";
	if (span.file != 1)
		return arena_printf(arena_of(p), "%" PRIu32 ":%" PRIu32 "-%" PRIu32, span.file, span.start, span.end);
	return arena_printf(arena_of(p), "%" PRIu32 "-%" PRIu32, span.start, span.end);
}

/* NULL: what has no such line. */
static const char *places_text(struct print *p, struct span span, const struct k_place *above,
			       const struct k_place *end)
{
	struct str out = str_new(arena_of(p));

	if (!span_equal(span, p->place))
		str_add(&out, " @ %s", span_of(p, span));
	if (above && span_is_known(above->span) && !span_equal(above->span, span))
		str_add(&out, " @ above %s", span_of(p, above->span));
	if (end && !span_equal(end->span, span))
		str_add(&out, " @ end %s", span_of(p, end->span));
	p->place = span;
	return str_text(&out);
}

bool k_has_end(const struct k_stmt *stmt)
{
	return stmt->kind == KS_BLOCK || stmt->kind == KS_PARALLEL || stmt->kind == KS_LOOP || stmt->kind == KS_WHILE ||
	       (stmt->kind == KS_IF && !stmt->branch.is_bare) || stmt->kind == KS_RECORD;
}

/* ---- blocks ---- */

static void print_below(struct print *p, const struct k_block *block)
{
	p->w->indent++;
	print_block(p, block);
	p->w->indent--;
}

/* Its lines need no place: they stand in that of the loop. */
static void print_aside(struct print *p, const char *word, const struct k_block *block)
{
	struct span outer = p->place;

	line(p->w, "%s", word);
	p->place = (struct span) { 0 };
	print_below(p, block);
	p->place = outer;
}

static void print_otherwise(struct print *p, const struct k_stmt *stmt)
{
	p->w->span = stmt->otherwise.span;
	line(p->w, "else%s", places_text(p, stmt->otherwise.span, NULL, NULL));
	print_below(p, &stmt->branch.otherwise);
}

/* What is before the head of a loop has a block of its own ahead of it, what is after the body one behind it. */
static void print_stmt(struct print *p, const struct k_stmt *stmt)
{
	const bool is_while = stmt->kind == KS_WHILE;
	const struct k_block *body = k_body((struct k_stmt *) (uintptr_t) stmt);
	struct k_block after = { 0 };

	if (is_while && stmt->repeat.before.stmts.n)
		print_aside(p, "before", &stmt->repeat.before);
	p->w->span = stmt->span;
	line(p->w, "%s%s", k_stmt_text(arena_of(p), stmt),
	     places_text(p, stmt->span, &stmt->annotation, k_has_end(stmt) ? &stmt->end : NULL));
	if (body)
		print_below(p, body);
	if (stmt->kind == KS_IF && stmt->branch.has_otherwise)
		print_otherwise(p, stmt);
	if (is_while && stmt->repeat.after) {
		vec_push(arena_of(p), &after.stmts, stmt->repeat.after);
		print_aside(p, "after", &after);
	}
}

static void print_block(struct print *p, const struct k_block *block)
{
	for (int i = 0; i < block->stmts.n; i++)
		print_stmt(p, block->stmts.items[i]);
}

void k_print_block(struct writer *w, const struct k_block *block)
{
	struct print p = { .w = w };

	print_block(&p, block);
}

/* ---- functions ---- */

static const char *param_text(const struct print *p, const struct k_param *param)
{
	return arena_printf(arena_of(p), "%s: %s", param->name, k_type_text(arena_of(p), &param->type));
}

static const char *function_kind_word(enum k_function_kind kind)
{
	switch (kind) {
	case K_FUNCTION_ENTRY: return "entry ";
	case K_FUNCTION_DEVICE: return "device ";
	case K_FUNCTION_HOST: break;
	}
	return "";
}

static void add_team(struct str *out, const struct k_team *team)
{
	if (team->lanes)
		str_add(out, ", team %d, group %d, width %d", team->lanes, team->group, team->width);
	if (team->warps)
		str_add(out, ", warps %d", team->warps);
	if (team->is_rolled)
		str_add(out, ", rolled");
}

static const char *function_text(const struct print *p, const struct k_function *function)
{
	struct str out = str_new(arena_of(p));

	str_add(&out, "function %s%s%s%s %s(", function_kind_word(function->kind),
		function->qualifiers ? function->qualifiers : "", function->qualifiers ? " " : "",
		k_type_text(arena_of(p), &function->result), function->name);
	for (int i = 0; i < function->params.n; i++)
		str_add(&out, "%s%s", i ? ", " : "", param_text(p, &function->params.items[i]));
	str_add(&out, ")");
	add_team(&out, &function->team);
	add_part(&out, ", bounds", function->bounds);
	if (function->broken_at)
		str_add(&out, ", broken at %d", function->broken_at);
	return str_text(&out);
}

void k_print_function(struct writer *w, const struct k_function *function)
{
	struct print p = { .w = w };

	w->span = function->head.span;
	open_block(w, "%s%s", function_text(&p, function), places_text(&p, function->head.span, NULL, &function->end));
	print_block(&p, &function->body);
	w->indent--;
}

static void print_globals(struct writer *w, const struct k_program *program)
{
	const struct print p = { .w = w };

	w->span = (struct span) { 0 };
	for (int i = 0; i < program->globals.n; i++)
		line(w, "global %s", param_text(&p, &program->globals.items[i]));
	if (program->globals.n)
		writer_blank(w);
}

void k_print_program(struct writer *w, const struct k_program *program)
{
	print_globals(w, program);
	for (int i = 0; i < program->functions.n; i++) {
		if (i)
			writer_blank(w);
		k_print_function(w, program->functions.items[i]);
	}
}
