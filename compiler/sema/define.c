/* SPDX-License-Identifier: MIT
 *
 * Definitions: `A[i] = E for …`, whole arrays, functions, temporaries, starts of states, `next`, and
 * `reduce`. Each is one draft, whose common dims are the variables of the statement, or one per dimension for
 * a whole array. A `case` gives a stage per branch, guarded by its condition and by the failure of the
 * conditions before it. */
#include "sema/sema_private.h"

#include <string.h>

struct definition {
	struct context ctx;
	struct target *target;
	struct cells *cells;
	struct point point;             /* of a whole array */
	struct access write;
	enum reduce_op op;
	bool is_whole;
	bool has_gap;                   /* a case without else */
};

/* ---- may this be written here? ---- */

static bool report_target(struct sema *sema, const struct symbol *symbol, struct span span,
			  enum diag_code code, const char *problem, const char *help)
{
	struct diag *diag = diag_error(sema->diags, code, span, "'%s' %s", symbol->name, problem);

	label_declaration(sema, diag, symbol);
	if (help)
		diag_help(sema->diags, diag, (struct span) { 0 }, "%s", help);
	return false;
}

static bool check_next(struct sema *sema, const struct symbol *symbol, struct span span)
{
	enum array_role role = symbol->target->array->role;

	if (role != ROLE_STATE && role != ROLE_INOUT)
		return report_target(sema, symbol, span, DIAG_BAD_NEXT, "has no next value",
				     "'next' assigns to a 'state' or an 'inout'");
	if (!sema->in_body)
		return report_target(sema, symbol, span, DIAG_BAD_NEXT, "has a next value only in the loop",
				     "put this into the body of 'iterate'");
	return true;
}

static bool check_target(struct sema *sema, const struct symbol *symbol, const struct tree_stmt *stmt)
{
	struct span span = stmt->target->span;

	if (symbol->kind != SYMBOL_ARRAY)
		return report_target(
			sema, symbol, span, DIAG_BAD_TARGET,
			arena_printf(sema->arena, "is %s and cannot be defined", symbol_what(symbol)), NULL);
	if (symbol->target->array->role == ROLE_IN)
		return report_target(sema, symbol, span, DIAG_BAD_TARGET, "is an input and cannot be defined",
				     strchr(symbol->name, '.') ? NULL : "an array that is read and written is 'inout'");
	if (stmt->is_next)
		return check_next(sema, symbol, span);
	if (symbol->target->array->role == ROLE_STATE)
		return report_target(sema, symbol, span, DIAG_BAD_NEXT,
				     "is a state, which changes by 'next' only",
				     "write 'next' before it, in the body of 'iterate'");
	return true;
}

static struct target *find_target(struct sema *sema, struct scope *scope, const struct tree_stmt *stmt)
{
	struct symbol *symbol = scope_resolve(sema, scope, &stmt->target->name, stmt->is_next ? USE_NEXT : USE_TARGET);

	if (!symbol || symbol->kind == SYMBOL_BROKEN)
		return NULL;
	if (check_target(sema, symbol, stmt))
		return symbol->target;
	if (symbol->kind == SYMBOL_ARRAY)
		symbol->target->is_excused = true;
	return NULL;
}

/* ---- starting a definition ---- */

static struct array *next_array(struct sema *sema, struct target *target)
{
	struct shape shape = shape_of_array(target->array);

	if (target->next)
		return target->next;
	target->next = array_add(sema, arena_printf(sema->arena, "%s.next", target->array->name), ROLE_NEXT,
				 target->array->type, &shape, target->array->span);
	target->next->owner = target->array;
	return target->next;
}

static struct definition definition_new(struct sema *sema, struct scope *scope, struct target *target,
					bool is_next, struct span span)
{
	struct definition d = { .target = target, .cells = is_next ? &target->later : &target->now };
	const char *name = target->array->name;

	d.write.array = is_next ? next_array(sema, target) : target->array;
	d.write.span = span;
	d.cells->is_defined = true;
	d.ctx.sema = sema;
	d.ctx.scope = scope_new(sema, scope);
	d.ctx.draft =
		draft_new(sema, target, is_next ? arena_printf(sema->arena, "next %s", name) : name, span);
	d.ctx.guard = sema->condition;
	d.ctx.base = name;
	return d;
}

/* One variable per dimension of the array; whole arrays in the value are read there. */
static void make_whole(struct definition *d)
{
	struct shape box = shape_of_array(d->target->array);

	d->is_whole = true;
	d->point = point_over(&d->ctx, &box, true, d->write.span, NULL);
	d->write.subs = d->point.at;
	d->ctx.point = d->point.rank ? &d->point : NULL;
}

static bool lower_variables(struct definition *d, const tree_ranges *ranges)
{
	bool ok = true;

	for (int i = 0; i < ranges->n; i++)
		ok = lower_range(&d->ctx, ranges->items[i], true) >= 0 && ok;
	return ok;
}

static bool lower_target(struct definition *d, const struct tree_stmt *stmt)
{
	struct diag *diag;

	if (!lower_variables(d, &stmt->ranges))
		return false;
	if (stmt->target->kind == TREE_INDEX)
		return lower_subs(&d->ctx, d->target->symbol, stmt->target, &d->write.subs);
	if (d->target->array->rank == 0 || stmt->ranges.n == 0) {
		make_whole(d);
		return true;
	}
	diag = diag_error(d->ctx.sema->diags, DIAG_WRONG_RANK, stmt->target->span,
			  "'%s' has %d dimension%s, here one cell is needed", d->target->symbol->name,
			  d->target->array->rank, d->target->array->rank == 1 ? "" : "s");
	label_declaration(d->ctx.sema, diag, d->target->symbol);
	return false;
}

/* ---- values ---- */

static bool is_transposed(struct sema *sema, const struct shape *a, const struct shape *b)
{
	struct expr *lo[2], *hi[2];
	struct shape turned = { .rank = 2, .lo = lo, .hi = hi };

	if (a->rank != 2 || b->rank != 2)
		return false;
	for (int i = 0; i < 2; i++) {
		lo[i] = b->lo[1 - i];
		hi[i] = b->hi[1 - i];
	}
	return shape_equal(sema, a, &turned);
}

static bool check_shape(const struct definition *d, const struct context *ctx, const struct tree_expr *value)
{
	struct shape box = shape_of_array(d->target->array), shape = { 0 };
	struct sema *sema = d->ctx.sema;
	struct diag *diag;

	if (!d->is_whole || box.rank == 0)
		return true;
	if (!shape_of(ctx, value, &shape))
		return false;
	if (shape.rank == 0 || shape_equal(sema, &box, &shape))
		return true;
	diag = diag_error(sema->diags, DIAG_SHAPE_MISMATCH, value->span, "'%s' is %s, but this is %s",
			  d->target->array->name, shape_text(sema, &box), shape_text(sema, &shape));
	label_declaration(sema, diag, d->target->symbol);
	if (is_transposed(sema, &box, &shape))
		diag_help(sema->diags, diag, value->span, "a matrix is transposed by transpose(A)");
	return false;
}

static void define_value(struct definition *d, const struct tree_expr *value, struct expr *guard);

static bool is_reached(struct sema *sema, const struct tree_branch *branch, bool has_else)
{
	if (has_else)
		diag_error(sema->diags, DIAG_MISPLACED, branch->span,
			   "nothing after 'else' is reached: 'else' is the last branch");
	return !has_else;
}

static void define_case(struct definition *d, const struct tree_expr *value, struct expr *guard)
{
	struct sema *sema = d->ctx.sema;
	bool has_else = false;

	for (int i = 0; i < value->branches.n; i++) {
		const struct tree_branch *branch = &value->branches.items[i];
		struct expr *condition =
			branch->condition ? lower_condition(&d->ctx, branch->condition, false) : NULL;

		if (!is_reached(sema, branch, has_else))
			break;
		has_else = has_else || !branch->condition;
		if (branch->condition && !condition)
			continue;
		define_value(d, branch->value, guard_and(sema, guard, condition));
		if (condition)
			guard = guard_and(sema, guard, guard_not(sema, condition));
	}
	d->has_gap = d->has_gap || !has_else;
}

static void define_value(struct definition *d, const struct tree_expr *value, struct expr *guard)
{
	struct sema *sema = d->ctx.sema;
	struct context ctx = d->ctx;
	struct draft_stage *stage;
	struct expr *lowered;

	if (value->kind == TREE_CASE) {
		define_case(d, value, guard);
		return;
	}
	ctx.guard = guard;
	lowered = check_shape(d, &ctx, value) ? value_store(sema, d->target, lower_value(&ctx, value)) : NULL;
	if (!lowered)
		return;
	stage = draft_add_stage(sema, d->ctx.draft, d->write.span);
	stage->guard = guard;
	stage->write = d->write;
	stage->op = d->op;
	stage->value = lowered;
}

/* ---- what a definition leaves undefined ---- */

/* A function has cells on its domain only. */
static bool definition_covers(const struct definition *d)
{
	return !d->has_gap && !d->ctx.sema->condition &&
	       (d->is_whole || d->target->domain || subs_cover(&d->ctx, &d->write));
}

static bool dim_mentions_loop(const struct module *module, const struct dim *dim)
{
	bool mentions = expr_mentions_loop(module, dim->lo) || expr_mentions_loop(module, dim->hi);

	for (int i = 0; dim->kind != DIM_RANGE && i < dim->source.array->rank; i++)
		mentions = mentions || expr_mentions_loop(module, dim->source.subs[i]);
	return mentions;
}

static void report_defined_again(struct sema *sema, const struct symbol *symbol, struct span target)
{
	struct diag *diag = diag_error(sema->diags, DIAG_DEFINED_AGAIN, target,
				       "'%s' is defined again in each iteration", symbol->name);
	const char *text = span_text(sema->diags->sources, sema->arena, target);

	label_declaration(sema, diag, symbol);
	if (symbol->target->array->role == ROLE_INOUT && !strncmp(text, symbol->name, strlen(symbol->name)))
		diag_fix(sema->diags, diag, (struct span) { target.file, target.start, target.start }, "next ",
			 "what it is in the next iteration is written 'next %s'", text);
	else
		diag_help(sema->diags, diag, (struct span) { 0 },
			  "make it a state and assign to 'next', or accumulate with 'reduce'");
}

/* An array from outside of the loop may be defined in it, other cells in each iteration. */
static void check_each_iteration(const struct definition *d, const struct tree_stmt *stmt)
{
	struct sema *sema = d->ctx.sema;
	const struct draft *draft = d->ctx.draft;
	bool mentions = false;

	if (!sema->in_body || d->target->in_body || d->write.array != d->target->array)
		return;
	for (int i = 0; i < draft->slots.n; i++)
		mentions = mentions || dim_mentions_loop(sema->module, &draft->slots.items[i].dim);
	for (int i = 0; i < draft->stages.n; i++)
		mentions = mentions || expr_mentions_loop(sema->module, draft->stages.items[i]->guard);
	for (int i = 0; i < d->target->array->rank; i++)
		mentions = mentions || expr_mentions_loop(sema->module, d->write.subs[i]);
	if (!mentions)
		report_defined_again(sema, d->target->symbol, stmt->target->span);
}

static void finish_definition(struct definition *d)
{
	if (definition_covers(d))
		d->cells->is_covered = true;
}

/* ---- statements ---- */

static bool is_construct_call(const struct tree_expr *value)
{
	return value->kind == TREE_CALL && !value->name.member && construct_find(value->name.name);
}

/* Defines a whole array by a value: a declaration with one, or a statement without subscripts. */
static struct draft *define_whole(struct sema *sema, struct scope *scope, struct target *target,
				  const struct tree_expr *value, struct span span)
{
	struct definition d;

	if (is_construct_call(value) && target->array->role != ROLE_STATE &&
	    construct_define(sema, scope, target, value))
		return NULL;
	d = definition_new(sema, scope, target, false, span);
	make_whole(&d);
	define_value(&d, value, d.ctx.guard);
	finish_definition(&d);
	return d.ctx.draft;
}

void lower_declaration(struct sema *sema, struct scope *scope, const struct tree_stmt *stmt)
{
	for (int i = 0; stmt->value && i < stmt->names.n; i++) {
		struct symbol *symbol = scope_find(scope, name_text(sema->arena, &stmt->names.items[i]));
		struct draft *draft;

		if (!symbol || symbol->kind != SYMBOL_ARRAY)
			continue;
		draft = define_whole(sema, scope, symbol->target, stmt->value, stmt->span);
		if (draft)
			draft->is_start = stmt->role == TREE_STATE;
	}
}

void lower_define(struct sema *sema, struct scope *scope, const struct tree_stmt *stmt)
{
	struct target *target = find_target(sema, scope, stmt);
	struct definition d;

	if (!target)
		return;
	if (stmt->target->kind == TREE_NAME && stmt->ranges.n == 0 && !stmt->is_next &&
	    is_construct_call(stmt->value) && construct_define(sema, scope, target, stmt->value))
		return;
	d = definition_new(sema, scope, target, stmt->is_next, stmt->span);
	if (!lower_target(&d, stmt))
		return;
	define_value(&d, stmt->value, d.ctx.guard);
	finish_definition(&d);
	check_each_iteration(&d, stmt);
}

void lower_func(struct sema *sema, struct scope *scope, const struct tree_stmt *stmt)
{
	struct symbol *symbol = scope_find(scope, stmt->names.items[0].name);
	struct target *target = symbol && symbol->kind == SYMBOL_ARRAY ? symbol->target : NULL;
	struct definition d = { .target = target, .cells = target ? &target->now : NULL };
	int rank = 0;

	if (!target || !target->domain)
		return;
	d.ctx = (struct context) { .sema = sema, .scope = target->variables, .draft = target->domain,
				   .guard = sema->condition, .base = target->array->name };
	d.ctx.draft->number = sema->n_numbered++;
	d.write = (struct access) { target->array,
				   arena_new_array(sema->arena, struct expr *, target->array->rank + 1),
				   stmt->span };
	for (int i = 0; i < d.ctx.draft->slots.n; i++)
		if (d.ctx.draft->slots.items[i].is_common)
			d.write.subs[rank++] = expr_dim(sema->arena, i, stmt->span);
	d.cells->is_defined = true;
	define_value(&d, stmt->value, d.ctx.guard);
	finish_definition(&d);
}

/* ---- accumulations ---- */

static const char *operator_text(enum reduce_op op)
{
	static const char *const texts[] = {
#define REDUCE(id, text, identity) [REDUCE_##id] = text,
#include "ir/core/reduce.def"
#undef REDUCE
	};
	return texts[op];
}

static bool check_operator(struct sema *sema, const struct target *target, struct cells *cells,
			   const struct tree_stmt *stmt)
{
	enum reduce_op op = op_of_reduce(stmt->reduce_op);
	struct diag *diag;

	if (target->array->type == TYPE_BOOL)
		return report_target(sema, target->symbol, stmt->target->span, DIAG_TYPE_MISMATCH,
				     "is bool and cannot be accumulated", NULL);
	if (cells->is_accumulated && cells->op != op) {
		diag = diag_error(sema->diags, DIAG_MIXED_OPERATORS, stmt->span,
				  "'%s' is accumulated with %s and with %s", target->symbol->name,
				  operator_text(cells->op), operator_text(op));
		diag_label(sema->diags, diag, cells->span, "the other accumulation is here");
		diag_help(sema->diags, diag, (struct span) { 0 },
			  "updates come in any order, so a target has one operator: accumulate with %s into an array "
			  "of its own, and combine both where they are read", operator_text(op));
		return false;
	}
	if (!cells->is_accumulated)
		cells->span = stmt->span;
	cells->is_accumulated = true;
	cells->op = op;
	return true;
}

/* `voxel` for a variable or PHI.voxel[k]; NULL for what has no simple name. */
static const char *simple_name(const struct draft *draft, const struct expr *sub)
{
	const struct slot *slot = sub->kind == EXPR_DIM ? &draft->slots.items[sub->index] : NULL;
	const char *end;

	if (!slot || !slot->is_hidden || slot->dim.kind != DIM_BIND)
		return slot ? slot->dim.name : NULL;
	end = strrchr(slot->dim.source.array->name, '.');
	return end && strcmp(end + 1, slot->dim.name) == 0 ? slot->dim.name : NULL;
}

/* The names of the target's subscripts, for the dims of its start. */
static void note_names(const struct definition *d)
{
	struct cells *cells = d->cells;

	if (cells->names || !d->write.subs)
		return;
	cells->names = arena_new_array(d->ctx.sema->arena, const char *, d->target->array->rank + 1);
	for (int i = 0; i < d->target->array->rank; i++)
		cells->names[i] = simple_name(d->ctx.draft, d->write.subs[i]);
}

void lower_accumulate(struct sema *sema, struct scope *scope, const struct tree_stmt *stmt)
{
	struct target *target = find_target(sema, scope, stmt);
	struct cells *cells = !target ? NULL : stmt->is_next ? &target->later : &target->now;
	bool was_defined = cells && cells->is_defined;
	struct definition d;

	if (!target)
		return;
	if (!check_operator(sema, target, cells, stmt)) {
		target->is_excused = true;
		return;
	}
	d = definition_new(sema, scope, target, stmt->is_next, stmt->span);
	cells->is_defined = was_defined;
	d.op = cells->op;
	if (!lower_target(&d, stmt))
		return;
	define_value(&d, stmt->value, d.ctx.guard);
	note_names(&d);
}

/* ---- arrays without a name ---- */

struct symbol *define_hidden(struct sema *sema, struct scope *scope, const char *name,
			     const struct tree_expr *value, const struct shape *shape)
{
	struct context ctx = { .sema = sema, .scope = scope, .guard = sema->condition, .base = name };
	struct draft_stage *stage;
	struct symbol *symbol;
	struct point point;
	struct expr *lowered;

	ctx.draft = draft_new(sema, NULL, name, value->span);
	point = point_over(&ctx, shape, true, value->span, NULL);
	ctx.point = shape->rank ? &point : NULL;
	lowered = lower_value(&ctx, value);
	if (!lowered)
		return NULL;
	lowered = lowered->type == TYPE_BOOL ? lowered : value_as(sema, value_settled_type(lowered), lowered);
	symbol = array_hidden(sema, name, lowered->type, shape, value->span);
	ctx.draft->target = symbol->target;
	stage = draft_add_stage(sema, ctx.draft, value->span);
	stage->guard = ctx.guard;
	stage->write = (struct access) { symbol->target->array, point.at, value->span };
	stage->value = lowered;
	return symbol;
}
