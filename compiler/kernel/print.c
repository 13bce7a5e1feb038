/* SPDX-License-Identifier: MIT
 *
 * The dump of a kernel program: a statement a line, indented by tabs below the statement that it is part of, with every
 * property that a node has. docs/ir.md describes the notation; read.c reads it. A place is written where it is another
 * one than that of the line before, so that lines of one origin stay readable; which line of the compiler made a node
 * is not written. */
#include "kernel/read.h"

#include <inttypes.h>

struct print {
	struct writer *w;
	struct span place;              /* of the line before */
};

static void print_block(struct print *p, const struct k_block *block);
static void print_stmt(struct print *p, const struct k_stmt *stmt);

/* ---- parts of lines ---- */

static struct arena *arena_of(const struct print *p)
{
	return p->w->text.arena;
}

static const char *expr_text(const struct print *p, const struct k_expr *expr)
{
	return k_expr_text(arena_of(p), expr);
}

static void add_flag(struct str *out, bool is, const char *word)
{
	if (is)
		str_add(out, ", %s", word);
}

static void add_part(const struct print *p, struct str *out, const char *words, const struct k_expr *expr)
{
	if (expr)
		str_add(out, "%s %s", words, expr_text(p, expr));
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

static void put(struct print *p, const struct k_stmt *stmt, const char *text)
{
	p->w->span = stmt->span;
	line(p->w, "%s%s", text, places_text(p, stmt->span, &stmt->annotation, k_has_end(stmt) ? &stmt->end : NULL));
}

/* ---- declarations ---- */

const char *k_space_word(enum k_space space)
{
	static const char *const names[] = {
		[K_SPACE_MEMORY] = "memory", [K_SPACE_REGISTERS] = "registers", [K_SPACE_STACK] = "stack",
		[K_SPACE_SHARED] = "shared", [K_SPACE_THREAD] = "thread"
	};

	return names[space];
}

static const char *let_word(const struct k_let *let)
{
	if (let->extents.n)
		return let->is_variable ? "array" : "table";
	return let->is_variable ? "var" : "let";
}

static const char *let_text(const struct print *p, const struct k_let *let)
{
	struct str out = str_new(arena_of(p));

	str_add(&out, "%s%s%s%s%s %s: %s", let->is_known ? "known " : "", let->is_joined ? "joined " : "",
		let->is_padded ? "padded " : "", let->is_result ? "result " : "", let_word(let), let->name,
		k_type_text(arena_of(p), &let->type));
	for (int i = 0; i < let->extents.n; i++)
		str_add(&out, " [%s]", expr_text(p, let->extents.items[i]));
	if (let->extents.n || let->space != K_SPACE_MEMORY)
		str_add(&out, " in %s", k_space_word(let->space));
	add_part(p, &out, " =", let->value);
	return str_text(&out);
}

/* ---- stores and what else has an effect ---- */

static const char *mode_word(enum k_store_mode mode)
{
	switch (mode) {
	case K_STORE_ATOMIC: return "atomic ";
	case K_STORE_NONTEMPORAL: return "nontemporal ";
	case K_STORE_PLAIN: break;
	}
	return "";
}

static const char *store_text(const struct print *p, const struct k_store *store)
{
	struct str out = str_new(arena_of(p));

	str_add(&out, "%s%s", store->is_interim ? "interim " : "", mode_word(store->mode));
	if (store->is_step) {
		str_add(&out, "%s%s", expr_text(p, store->targets.items[0]), store->op == K_SUB ? "--" : "++");
		return str_text(&out);
	}
	for (int i = 0; i < store->targets.n; i++)
		str_add(&out, "%s %s= ", expr_text(p, store->targets.items[i]),
			store->op == K_OP_N ? "" : k_op_text(store->op));
	str_add(&out, "%s", expr_text(p, store->value));
	return str_text(&out);
}

static const char *value_text(const struct print *p, const char *word, const struct k_stmt *stmt)
{
	struct str out = str_new(arena_of(p));

	str_add(&out, "%s", word);
	add_part(p, &out, "", stmt->value);
	return str_text(&out);
}

static const char *comment_text(const struct print *p, const char *text)
{
	struct str out = str_new(arena_of(p));

	str_add(&out, "comment \"");
	for (; *text; text++) {
		if (*text == '\n' || *text == '\t')
			str_add(&out, *text == '\n' ? "\\n" : "\\t");
		else
			str_add(&out, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
	}
	str_add(&out, "\"");
	return str_text(&out);
}

/* ---- loops ---- */

const char *k_loop_word(enum k_loop_kind kind)
{
	switch (kind) {
	case K_LOOP_UNROLLED: return "unrolled";
	case K_LOOP_ROLLED: return "rolled";
	case K_LOOP_WORKSHARE: return "workshare";
	case K_LOOP_SIMD: return "simd";
	case K_LOOP_GRID: return "grid";
	case K_LOOP_LANES: return "lanes";
	case K_LOOP_SERIAL:
	case K_LOOP_KIND_N: break;
	}
	return NULL;
}

static void add_kind(struct str *out, enum k_loop_kind kind)
{
	add_flag(out, k_loop_word(kind), k_loop_word(kind));
}

static void add_share(const struct print *p, struct str *out, const struct k_share *share)
{
	add_flag(out, share->is_dynamic, "dynamic");
	add_part(p, out, ", chunk", share->chunk);
	add_flag(out, share->starts_team, "team");
	add_part(p, out, ", threads", share->threads);
}

static const char *loop_text(const struct print *p, const struct k_loop *loop)
{
	struct str out = str_new(arena_of(p));

	str_add(&out, "loop %s: %s from %s %s %s", loop->name, k_type_text(arena_of(p), &loop->type),
		expr_text(p, loop->first), loop->is_down ? "down to" : "below", expr_text(p, loop->bound));
	add_part(p, &out, " step", loop->step);
	add_kind(&out, loop->kind);
	add_share(p, &out, &loop->share);
	add_flag(&out, loop->is_simd, "vectors");
	add_flag(&out, loop->is_strided, "strided");
	add_flag(&out, loop->is_short, "short");
	add_part(p, &out, ", number", loop->number);
	add_part(p, &out, ", count", loop->count);
	add_part(p, &out, ", row", loop->row.length);
	add_flag(&out, loop->row.is_narrow, "narrow");
	for (int i = 0; i < loop->reductions.n; i++)
		str_add(&out, ", reduce %s %s", loop->reductions.items[i].op, loop->reductions.items[i].name);
	return str_text(&out);
}

static void print_body(struct print *p, const struct k_stmt *stmt, const char *head, const struct k_block *body)
{
	put(p, stmt, head);
	p->w->indent++;
	print_block(p, body);
	p->w->indent--;
}

/* Its lines need no place: they stand in that of the loop. */
static void print_aside(struct print *p, const char *word, const struct k_block *block)
{
	struct span outer = p->place;

	open_block(p->w, "%s", word);
	p->place = (struct span) { 0 };
	print_block(p, block);
	p->place = outer;
	p->w->indent--;
}

/* What is before the head has a block of its own ahead of it, what is after the body one behind it. */
static void print_while(struct print *p, const struct k_stmt *stmt)
{
	const struct k_while *repeat = &stmt->repeat;
	struct str head = str_new(arena_of(p));
	struct k_block after = { 0 };

	if (repeat->before.stmts.n)
		print_aside(p, "before", &repeat->before);
	str_add(&head, "while %s", expr_text(p, repeat->condition));
	add_kind(&head, repeat->kind);
	add_flag(&head, repeat->is_broken, "broken");
	print_body(p, stmt, str_text(&head), &repeat->body);
	if (repeat->after) {
		vec_push(arena_of(p), &after.stmts, repeat->after);
		print_aside(p, "after", &after);
	}
}

/* ---- other statements ---- */

static void print_if(struct print *p, const struct k_stmt *stmt)
{
	const struct k_if *branch = &stmt->branch;

	print_body(p, stmt, arena_printf(arena_of(p), "if %s%s", expr_text(p, branch->condition),
					 branch->is_bare ? ", bare" : ""), &branch->then);
	if (!branch->has_otherwise)
		return;
	p->w->span = stmt->otherwise.span;
	open_block(p->w, "else%s", places_text(p, stmt->otherwise.span, NULL, NULL));
	print_block(p, &branch->otherwise);
	p->w->indent--;
}

static const char *record_text(const struct print *p, const struct k_record *record)
{
	struct str out = str_new(arena_of(p));

	str_add(&out, "record %s", record->name);
	add_part(p, &out, ", alignment", record->alignment);
	return str_text(&out);
}

static void print_stmt(struct print *p, const struct k_stmt *stmt)
{
	switch (stmt->kind) {
	case KS_BLOCK: print_body(p, stmt, "block", &stmt->body); break;
	case KS_LET: put(p, stmt, let_text(p, &stmt->let)); break;
	case KS_STORE: put(p, stmt, store_text(p, &stmt->store)); break;
	case KS_LOOP: print_body(p, stmt, loop_text(p, &stmt->loop), &stmt->loop.body); break;
	case KS_WHILE: print_while(p, stmt); break;
	case KS_IF: print_if(p, stmt); break;
	case KS_CALL: put(p, stmt, value_text(p, "call", stmt)); break;
	case KS_PARALLEL: print_body(p, stmt, value_text(p, "parallel", stmt), &stmt->body); break;
	case KS_RETURN: put(p, stmt, value_text(p, "return", stmt)); break;
	case KS_BREAK: put(p, stmt, "break"); break;
	case KS_CONTINUE: put(p, stmt, "continue"); break;
	case KS_RECORD: print_body(p, stmt, record_text(p, &stmt->record), &stmt->record.fields); break;
	case KS_UNUSED: put(p, stmt, value_text(p, "unused", stmt)); break;
	case KS_COMMENT: put(p, stmt, comment_text(p, stmt->text)); break;
	case KS_BLANK: put(p, stmt, "blank"); break;
	case KS_N: break;
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

static const char *function_text(const struct print *p, const struct k_function *function)
{
	struct str out = str_new(arena_of(p));

	str_add(&out, "function %s%s%s%s %s(", function_kind_word(function->kind),
		function->qualifiers ? function->qualifiers : "", function->qualifiers ? " " : "",
		k_type_text(arena_of(p), &function->result), function->name);
	for (int i = 0; i < function->params.n; i++)
		str_add(&out, "%s%s", i ? ", " : "", param_text(p, &function->params.items[i]));
	str_add(&out, ")");
	add_part(p, &out, ", bounds", function->bounds);
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
