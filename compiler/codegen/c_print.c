/* SPDX-License-Identifier: MIT
 *
 * Statements and functions of the kernel tree as C text, for OpenMP, CUDA or OpenCL. Each line has the place of the
 * node, or of its annotation, else or end, that it is printed for. */
#include <ctype.h>

#include "codegen/c_print.h"

struct print {
	struct writer *w;
	enum c_spelling spelling;
};

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

/* What each name of a line has for itself. */
static const char *declarator(struct arena *arena, const struct k_type *type, const char *name,
			      enum c_spelling spelling)
{
	const char *restricted = spelling == C_SPELLING_CUDA ? "__restrict__ " : "restrict ";

	return arena_printf(arena, "%s%s%s", type->is_pointer ? "*" : "", type->is_restrict ? restricted : "", name);
}

const char *c_declaration(struct arena *arena, const struct k_type *type, const char *name, enum c_spelling spelling)
{
	return arena_printf(arena, "%s%s%s %s", type->is_pointer && spelling == C_SPELLING_OPENCL ? "global " : "",
			    type->is_const ? "const " : "", type->name ? type->name : "auto",
			    declarator(arena, type, name, spelling));
}

static const char *extents_text(const struct print *p, const struct k_let *let)
{
	struct str out = str_new(arena_of(p));

	for (int i = 0; i < let->extents.n; i++)
		str_add(&out, "[%s]", expr_text(p, let->extents.items[i]));
	return str_text(&out);
}

static const char *value_text(const struct print *p, const struct k_let *let)
{
	return let->value ? arena_printf(arena_of(p), " = %s", expr_text(p, let->value)) : "";
}

/* Memory that the lanes of a team share, which the kernel is started with. */
static const char *shared_text(const struct print *p, const struct k_let *let)
{
	return arena_printf(arena_of(p), "PMG_SHARED(%s, %s, %s)", let->type.name, let->name,
			    expr_text(p, let->extents.items[0]));
}

/* All but the first name of a line come without their type. */
static const char *let_text(const struct print *p, const struct k_let *let)
{
	struct k_type type = let->type;
	const char *name = arena_printf(arena_of(p), "%s%s%s", let->name, extents_text(p, let), value_text(p, let));
	bool is_constexpr = let->is_known && p->spelling == C_SPELLING_CUDA;

	if (let->space == K_SPACE_SHARED && let->extents.n == 1)
		return shared_text(p, let);
	if (let->is_joined)
		return declarator(arena_of(p), &type, name, p->spelling);
	type.is_const = type.is_const && !is_constexpr;
	return arena_printf(arena_of(p), "%s%s", is_constexpr ? "constexpr " : "",
			    c_declaration(arena_of(p), &type, name, p->spelling));
}

/* The declaration that begins at an item and those that are joined to it; `*n` of them. */
static const char *lets_text(const struct print *p, const struct k_block *block, int first, int *n)
{
	struct str out = str_new(arena_of(p));

	str_add(&out, "%s", let_text(p, &block->stmts.items[first]->let));
	for (*n = 1; first + *n < block->stmts.n; ++*n) {
		const struct k_stmt *next = block->stmts.items[first + *n];

		if (next->kind != KS_LET || !next->let.is_joined)
			break;
		str_add(&out, ", %s", let_text(p, &next->let));
	}
	return str_text(&out);
}

/* ---- lines ---- */

static void at(const struct print *p, struct span span)
{
	p->w->span = span;
}

static void close_at(const struct print *p, const struct k_stmt *stmt, const char *text)
{
	at(p, stmt->end.span);
	writer_close_at(p->w, stmt->end.emitter, "%s", text);
}

static void print_items(struct print *p, const struct k_block *block)
{
	for (int i = 0, n; i < block->stmts.n; i += n) {
		const struct k_stmt *stmt = block->stmts.items[i];

		n = 1;
		at(p, stmt->span);
		if (stmt->kind == KS_LET)
			writer_line_at(p->w, stmt->emitter, "%s;", lets_text(p, block, i, &n));
		else
			print_stmt(p, stmt);
	}
}

static void print_braces(struct print *p, const struct k_stmt *stmt, const char *head, const struct k_block *body)
{
	at(p, stmt->span);
	writer_open_at(p->w, stmt->emitter, "%s{", head);
	print_items(p, body);
	close_at(p, stmt, "}");
}

static bool is_atomic_call(const struct print *p, const struct k_stmt *stmt)
{
	return stmt->kind == KS_STORE && stmt->store.mode == K_STORE_ATOMIC && p->spelling == C_SPELLING_CUDA;
}

/* One that is no macro, whose expansion may be several statements. */
static bool is_simple(const struct print *p, const struct k_stmt *stmt)
{
	switch (stmt->kind) {
	case KS_STORE:
		return stmt->store.mode != K_STORE_ATOMIC || is_atomic_call(p, stmt);
	case KS_CALL:
		return stmt->value->kind == KE_CALL && islower((unsigned char) *stmt->value->text);
	case KS_RETURN: case KS_BREAK: case KS_CONTINUE:
		return true;
	case KS_BLOCK: case KS_LET: case KS_LOOP: case KS_WHILE: case KS_IF: case KS_PARALLEL: case KS_RECORD:
	case KS_UNUSED: case KS_COMMENT: case KS_BLANK: case KS_N:
		break;
	}
	return false;
}

static bool needs_no_braces(const struct print *p, const struct k_block *body)
{
	return body->stmts.n == 1 && is_simple(p, body->stmts.items[0]);
}

/* One statement stands without braces. */
static void print_body(struct print *p, const struct k_stmt *stmt, const char *head, const struct k_block *body)
{
	if (!needs_no_braces(p, body)) {
		print_braces(p, stmt, arena_printf(arena_of(p), "%s ", head), body);
		return;
	}
	at(p, stmt->span);
	writer_open_at(p->w, stmt->emitter, "%s", head);
	print_items(p, body);
	p->w->indent--;
}

/* ---- annotations ---- */

static void annotate(const struct print *p, const struct k_stmt *stmt, const char *text)
{
	const char *emitter = stmt->annotation.emitter ? stmt->annotation.emitter : stmt->emitter;

	at(p, stmt->annotation.emitter ? stmt->annotation.span : stmt->span);
	writer_line_at(p->w, emitter, "%s", text);
	at(p, stmt->span);
}

static void add_share(const struct print *p, struct str *out, const struct k_loop *loop)
{
	str_add(out, "%s for%s schedule(%s", loop->share.starts_team ? " parallel" : "", loop->is_simd ? " simd" : "",
		loop->share.is_dynamic ? "dynamic" : "static");
	if (loop->share.chunk)
		str_add(out, ", %s", expr_text(p, loop->share.chunk));
	str_add(out, ")");
}

static const char *pragma_text(const struct print *p, const struct k_loop *loop)
{
	struct str out = str_new(arena_of(p));

	str_add(&out, "#pragma omp");
	if (loop->kind == K_LOOP_WORKSHARE)
		add_share(p, &out, loop);
	else
		str_add(&out, " simd");
	for (int i = 0; i < loop->reductions.n; i++)
		str_add(&out, " reduction(%s:%s)", loop->reductions.items[i].op, loop->reductions.items[i].name);
	if (loop->share.threads)
		str_add(&out, " num_threads(%s)", expr_text(p, loop->share.threads));
	return str_text(&out);
}

static void annotate_loop(const struct print *p, const struct k_stmt *stmt, enum k_loop_kind kind)
{
	switch (kind) {
	case K_LOOP_UNROLLED:
		annotate(p, stmt, "PMG_UNROLL");
		break;
	case K_LOOP_ROLLED:
		annotate(p, stmt, "PMG_ROLLED");
		break;
	case K_LOOP_WORKSHARE:
	case K_LOOP_SIMD:
		annotate(p, stmt, pragma_text(p, &stmt->loop));
		break;
	case K_LOOP_SERIAL:
	case K_LOOP_GRID:
	case K_LOOP_LANES:
	case K_LOOP_KIND_N:
		break;
	}
}

/* ---- loops ---- */

static const char *product_text(const struct print *p, const struct k_expr *factor, const struct k_expr *name)
{
	return factor ? arena_printf(arena_of(p), "%s*%s", expr_text(p, factor), expr_text(p, name))
		      : expr_text(p, name);
}

/* first, or first + step*number of a device, where a sum with 0 is the number. */
static const char *start_text(const struct print *p, const struct k_loop *loop)
{
	const struct k_expr *first = loop->first;
	const char *number;

	if (!loop->number)
		return expr_text(p, first);
	number = product_text(p, loop->step, loop->number);
	if (!loop->is_down && !loop->step && first->kind == KE_INT && first->integer == 0)
		return number;
	return arena_printf(arena_of(p), "%s %s %s", expr_text(p, first), loop->is_down ? "-" : "+", number);
}

static const char *step_text(const struct print *p, const struct k_loop *loop)
{
	if (!loop->step && !loop->count)
		return loop->is_down ? "--" : "++";
	return arena_printf(arena_of(p), " %s= %s", loop->is_down ? "-" : "+",
			    loop->count ? product_text(p, loop->step, loop->count) : expr_text(p, loop->step));
}

static void print_loop(struct print *p, const struct k_stmt *stmt)
{
	const struct k_loop *loop = &stmt->loop;
	const bool is_single = (loop->kind == K_LOOP_GRID && !loop->is_strided) ||
			       (loop->kind == K_LOOP_LANES && !loop->count);
	const char *head = arena_printf(arena_of(p), "%s %s = %s; %s %s %s", loop->type.name, loop->name,
					start_text(p, loop), loop->name, loop->is_down ? ">=" : "<",
					expr_text(p, loop->bound));

	annotate_loop(p, stmt, loop->kind);
	head = is_single ? arena_printf(arena_of(p), "if (const %s)", head)
			 : arena_printf(arena_of(p), "for (%s; %s%s)", head, loop->name, step_text(p, loop));
	print_body(p, stmt, head, &loop->body);
}

/* In the head of a loop. */
static const char *simple_text(const struct print *p, const struct k_stmt *stmt)
{
	return stmt->kind == KS_STORE ? k_store_text(arena_of(p), &stmt->store) : expr_text(p, stmt->value);
}

static const char *before_text(const struct print *p, const struct k_block *before)
{
	const struct k_stmt *first = before->stmts.n ? before->stmts.items[0] : NULL;
	int n;

	if (!first)
		return "";
	if (first->kind == KS_LET)
		return lets_text(p, before, 0, &n);
	return simple_text(p, first);
}

static void print_while(struct print *p, const struct k_stmt *stmt)
{
	const struct k_while *repeat = &stmt->repeat;
	const char *condition = expr_text(p, repeat->condition), *after = "", *head;

	annotate_loop(p, stmt, repeat->kind);
	if (repeat->after)
		after = arena_printf(arena_of(p), " %s", simple_text(p, repeat->after));
	if (repeat->before.stmts.n || repeat->after)
		head = arena_printf(arena_of(p), "for (%s;%s%s;%s)", before_text(p, &repeat->before),
				    repeat->is_broken ? "\n     " : " ", condition, after);
	else
		head = arena_printf(arena_of(p), "while (%s)", condition);
	print_body(p, stmt, head, &repeat->body);
}

/* ---- other statements ---- */

static void print_if(struct print *p, const struct k_stmt *stmt)
{
	const struct k_if *branch = &stmt->branch;
	const char *head = arena_printf(arena_of(p), "if (%s)", expr_text(p, branch->condition));

	if (branch->is_bare) {
		writer_open_at(p->w, stmt->emitter, "%s", head);
		print_items(p, &branch->then);
		p->w->indent--;
		return;
	}
	if (!branch->has_otherwise) {
		print_body(p, stmt, head, &branch->then);
		return;
	}
	writer_open_at(p->w, stmt->emitter, "%s {", head);
	print_items(p, &branch->then);
	p->w->indent--;
	at(p, stmt->otherwise.span);
	writer_open_at(p->w, stmt->otherwise.emitter, "} else {");
	print_items(p, &branch->otherwise);
	close_at(p, stmt, "}");
}

static void print_store(struct print *p, const struct k_stmt *stmt)
{
	const bool is_call = is_atomic_call(p, stmt);
	const char *text = is_call ? cuda_atomic_text(arena_of(p), &stmt->store)
				   : k_store_text(arena_of(p), &stmt->store);

	if (stmt->store.mode == K_STORE_ATOMIC && !is_call)
		annotate(p, stmt, "#pragma omp atomic");
	writer_line_at(p->w, stmt->emitter, "%s;", text);
}

static void print_parallel(struct print *p, const struct k_stmt *stmt)
{
	annotate(p, stmt, arena_printf(arena_of(p), "#pragma omp parallel num_threads(%s)",
				       expr_text(p, stmt->value)));
	print_braces(p, stmt, "", &stmt->body);
}

static void print_record(struct print *p, const struct k_stmt *stmt)
{
	const struct k_record *record = &stmt->record;
	const char *aligned = record->alignment
		? arena_printf(arena_of(p), "alignas(%s) ", expr_text(p, record->alignment)) : "";

	writer_open_at(p->w, stmt->emitter, "struct %s%s {", aligned, record->name);
	print_items(p, &record->fields);
	close_at(p, stmt, "};");
}

static void print_return(struct print *p, const struct k_stmt *stmt)
{
	writer_line_at(p->w, stmt->emitter, "return%s%s;", stmt->value ? " " : "",
		       stmt->value ? expr_text(p, stmt->value) : "");
}

/* Its span is already set. A let alone is printed by its block. */
static void print_stmt(struct print *p, const struct k_stmt *stmt)
{
	switch (stmt->kind) {
	case KS_BLOCK: print_braces(p, stmt, "", &stmt->body); break;
	case KS_STORE: print_store(p, stmt); break;
	case KS_LOOP: print_loop(p, stmt); break;
	case KS_WHILE: print_while(p, stmt); break;
	case KS_IF: print_if(p, stmt); break;
	case KS_CALL: writer_line_at(p->w, stmt->emitter, "%s;", expr_text(p, stmt->value)); break;
	case KS_PARALLEL: print_parallel(p, stmt); break;
	case KS_RETURN: print_return(p, stmt); break;
	case KS_BREAK: writer_line_at(p->w, stmt->emitter, "break;"); break;
	case KS_CONTINUE: writer_line_at(p->w, stmt->emitter, "continue;"); break;
	case KS_RECORD: print_record(p, stmt); break;
	case KS_UNUSED: writer_line_at(p->w, stmt->emitter, "(void) %s;", expr_text(p, stmt->value)); break;
	case KS_COMMENT: writer_line_at(p->w, stmt->emitter, "%s", stmt->text); break;
	case KS_BLANK: writer_blank_at(p->w, stmt->emitter); break;
	case KS_LET:
	case KS_N: break;
	}
}

void c_print_block(struct writer *w, const struct k_block *block, enum c_spelling spelling)
{
	struct print p = { w, spelling };

	print_items(&p, block);
}

/* ---- functions ---- */

static const char *params_text(const struct print *p, const struct k_function *function)
{
	struct str out = str_new(arena_of(p));

	for (int i = 0; i < function->params.n; i++) {
		const struct k_param *param = &function->params.items[i];
		const char *between = i && i == function->broken_at ? ",\n\t" : ", ";

		str_add(&out, "%s%s", i ? between : "",
			c_declaration(arena_of(p), &param->type, param->name, p->spelling));
	}
	return function->params.n ? str_text(&out) : "void";
}

static const char *head_text(const struct print *p, const struct k_function *function)
{
	const bool is_kernel = function->kind == K_FUNCTION_DEVICE;
	struct str out = str_new(arena_of(p));

	if (is_kernel && p->spelling == C_SPELLING_OPENCL)
		str_add(&out, "kernel ");
	else if (function->qualifiers)
		str_add(&out, "%s ", function->qualifiers);
	if (is_kernel && p->spelling == C_SPELLING_CUDA)
		str_add(&out, "__global__ ");
	if (function->bounds)
		str_add(&out, "%s %s ", function->result.name, expr_text(p, function->bounds));
	else
		str_add(&out, "%s", c_declaration(arena_of(p), &function->result, "", p->spelling));
	str_add(&out, "%s(%s)", function->name, params_text(p, function));
	return str_text(&out);
}

void c_print_function(struct writer *w, const struct k_function *function, enum c_spelling spelling)
{
	struct print p = { w, spelling };

	at(&p, function->head.span);
	writer_open_at(w, function->head.emitter, "%s\n{", head_text(&p, function));
	print_items(&p, &function->body);
	at(&p, function->end.span);
	writer_close_at(w, function->end.emitter, "}");
}
