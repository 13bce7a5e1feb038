/* SPDX-License-Identifier: MIT
 *
 * Affine expressions, domains and accesses as isl objects.
 *
 * All spaces carry the module's sizes and its loop variable as parameters, in the module's order. The tuple of a
 * stage is named after it and its id points to the stage; so does the id of an array's tuple. Bound dims make every
 * subscript affine: { S[k, voxel, t] -> Y[voxel, t] }. */
#include <limits.h>

#include "ir/ir.h"

/* ---- spaces ---- */

static bool param_is_symbol(const struct param *param)
{
	return !param->is_scalar;
}

static int param_position(const struct module *module, int number)
{
	int position = 0;

	for (int i = 0; i < number; i++)
		position += param_is_symbol(&module->params.items[i]);
	return position;
}

static __isl_give isl_space *params_space(const struct module *module)
{
	isl_space *space = isl_space_params_alloc(module->ctx, 0);

	for (int i = 0; i < module->params.n; i++) {
		const struct param *param = &module->params.items[i];

		if (param_is_symbol(param))
			space = isl_space_add_param_id(space, isl_id_alloc(module->ctx, param->name, NULL));
	}
	return space;
}

static __isl_give isl_space *tuple_space(const struct module *module, unsigned n, const char *name, const void *user)
{
	isl_space *space = isl_space_add_unnamed_tuple_ui(params_space(module), n);
	isl_id *id = isl_id_alloc(module->ctx, name, (void *) (uintptr_t) user);

	return isl_space_set_tuple_id(space, isl_dim_set, id);
}

static __isl_give isl_space *stage_space(const struct module *module, const struct stage *stage)
{
	isl_space *space = tuple_space(module, (unsigned) stage->dims.n, stage->name, stage);

	for (int i = 0; i < stage->dims.n; i++)
		space = isl_space_set_dim_name(space, isl_dim_set, (unsigned) i, stage->dims.items[i].name);
	return space;
}

static int access_rank(const struct access *access)
{
	const struct array *array = access->array;

	return array->role == ROLE_LOCAL ? array->group->n_common : array->rank;
}

static __isl_give isl_space *array_space(const struct module *module, const struct access *access)
{
	return tuple_space(module, (unsigned) access_rank(access), access->array->c_name, access->array);
}

struct stage *stage_of_id(__isl_take isl_id *id)
{
	struct stage *stage = isl_id_get_user(id);

	isl_id_free(id);
	return stage;
}

/* ---- expressions ---- */

static __isl_give isl_local_space *domain_space(const struct module *module, const struct stage *stage)
{
	return isl_local_space_from_space(stage ? stage_space(module, stage) : params_space(module));
}

static __isl_give isl_pw_aff *constant_aff(const struct module *module, const struct stage *stage, int64_t value)
{
	isl_val *val = isl_val_int_from_si(module->ctx, value);

	return isl_pw_aff_from_aff(isl_aff_val_on_domain(domain_space(module, stage), val));
}

static __isl_give isl_pw_aff *variable_aff(const struct module *module, const struct stage *stage,
					   enum isl_dim_type type, int position)
{
	return isl_pw_aff_from_aff(isl_aff_var_on_domain(domain_space(module, stage), type, (unsigned) position));
}

/* floor(a / b) for a positive constant b. */
static __isl_give isl_pw_aff *floor_quotient(__isl_take isl_pw_aff *a, __isl_take isl_pw_aff *b)
{
	return isl_pw_aff_floor(isl_pw_aff_div(a, b));
}

static __isl_give isl_pw_aff *modulus(__isl_take isl_pw_aff *a, __isl_take isl_pw_aff *b)
{
	isl_pw_aff *quotient = floor_quotient(isl_pw_aff_copy(a), isl_pw_aff_copy(b));

	return isl_pw_aff_sub(a, isl_pw_aff_mul(b, quotient));
}

static __isl_give isl_pw_aff *binary_aff(enum expr_op op, __isl_take isl_pw_aff *a, __isl_take isl_pw_aff *b)
{
	if (op == OP_ADD)
		return isl_pw_aff_add(a, b);
	if (op == OP_SUB)
		return isl_pw_aff_sub(a, b);
	if (op == OP_MUL)
		return isl_pw_aff_mul(a, b);
	if (op == OP_DIV)
		return floor_quotient(a, b);
	if (op == OP_MOD)
		return modulus(a, b);
	if (op == OP_MIN)
		return isl_pw_aff_min(a, b);
	if (op == OP_MAX)
		return isl_pw_aff_max(a, b);
	isl_pw_aff_free(a);
	return isl_pw_aff_free(b);
}

static __isl_give isl_pw_aff *operation_aff(const struct module *module, const struct stage *stage,
					    const struct expr *expr)
{
	isl_pw_aff *a = expr_pw_aff(module, stage, expr->args[0]);

	if (expr->op == OP_NEG)
		return isl_pw_aff_neg(a);
	if (op_arity(expr->op) != 2)
		return isl_pw_aff_free(a);
	return binary_aff(expr->op, a, expr_pw_aff(module, stage, expr->args[1]));
}

__isl_give isl_pw_aff *expr_pw_aff(const struct module *module, const struct stage *stage, const struct expr *expr)
{
	switch (expr->kind) {
	case EXPR_INT:
		return constant_aff(module, stage, expr->integer);
	case EXPR_PARAM:
		return variable_aff(module, stage, isl_dim_param, param_position(module, expr->index));
	case EXPR_DIM:
		return variable_aff(module, stage, isl_dim_set, expr->index);
	case EXPR_CAST:
		return expr_pw_aff(module, stage, expr->args[0]);
	case EXPR_OP:
		return operation_aff(module, stage, expr);
	case EXPR_FLOAT:
	case EXPR_BOOL:
	case EXPR_READ:
	case EXPR_N:
		break;
	}
	return NULL;
}

static __isl_give isl_set *universe_of(const struct module *module, const struct stage *stage)
{
	return isl_set_universe(stage ? stage_space(module, stage) : params_space(module));
}

static __isl_give isl_set *comparison_set(const struct module *module, const struct stage *stage,
					  const struct expr *expr)
{
	isl_pw_aff *a = expr_pw_aff(module, stage, expr->args[0]);
	isl_pw_aff *b = expr_pw_aff(module, stage, expr->args[1]);

	if (expr->op == OP_EQ)
		return isl_pw_aff_eq_set(a, b);
	if (expr->op == OP_NE)
		return isl_pw_aff_ne_set(a, b);
	if (expr->op == OP_LT)
		return isl_pw_aff_lt_set(a, b);
	if (expr->op == OP_LE)
		return isl_pw_aff_le_set(a, b);
	if (expr->op == OP_GT)
		return isl_pw_aff_gt_set(a, b);
	if (expr->op == OP_GE)
		return isl_pw_aff_ge_set(a, b);
	isl_pw_aff_free(a);
	isl_pw_aff_free(b);
	return NULL;
}

__isl_give isl_set *expr_set(const struct module *module, const struct stage *stage, const struct expr *condition)
{
	if (condition->kind == EXPR_BOOL && condition->integer)
		return universe_of(module, stage);
	if (condition->kind == EXPR_BOOL)
		return isl_set_complement(universe_of(module, stage));
	if (condition->kind != EXPR_OP)
		return NULL;
	if (condition->op == OP_NOT)
		return isl_set_complement(expr_set(module, stage, condition->args[0]));
	if (condition->op == OP_AND)
		return isl_set_intersect(expr_set(module, stage, condition->args[0]),
					 expr_set(module, stage, condition->args[1]));
	if (condition->op == OP_OR)
		return isl_set_union(expr_set(module, stage, condition->args[0]),
				     expr_set(module, stage, condition->args[1]));
	return comparison_set(module, stage, condition);
}

/* ---- accesses ---- */

static __isl_give isl_pw_aff *subscript_aff(const struct module *module, const struct stage *stage,
					    const struct access *access, int i)
{
	if (access->array->role == ROLE_LOCAL)
		return variable_aff(module, stage, isl_dim_set, i);
	return expr_pw_aff(module, stage, access->subs[i]);
}

__isl_give isl_map *access_map(const struct module *module, const struct stage *stage, const struct access *access)
{
	isl_space *range = array_space(module, access);
	isl_map *map = isl_map_universe(isl_space_map_from_domain_and_range(stage_space(module, stage), range));

	for (int i = 0; i < access_rank(access); i++) {
		isl_map *subscript = isl_map_from_pw_aff(subscript_aff(module, stage, access, i));

		subscript = isl_map_insert_dims(subscript, isl_dim_out, 0, (unsigned) i);
		subscript = isl_map_add_dims(subscript, isl_dim_out, (unsigned) (access_rank(access) - i - 1));
		subscript = isl_map_set_tuple_id(subscript, isl_dim_out,
						 isl_map_get_tuple_id(map, isl_dim_out));
		map = isl_map_intersect(map, subscript);
	}
	return isl_map_intersect_domain(map, isl_set_copy(stage->domain));
}

__isl_give isl_set *array_box(const struct module *module, const struct array *array)
{
	const struct access whole = { .array = (struct array *) (uintptr_t) array };
	isl_set *box = isl_set_universe(array_space(module, &whole));

	for (int i = 0; i < array->rank; i++) {
		isl_local_space *space = isl_local_space_from_space(isl_set_get_space(box));
		isl_pw_aff *at = isl_pw_aff_from_aff(isl_aff_var_on_domain(space, isl_dim_set, (unsigned) i));
		isl_pw_aff *lo = expr_pw_aff(module, NULL, array->lo[i]);
		isl_pw_aff *hi = expr_pw_aff(module, NULL, array->hi[i]);
		isl_set *universe = isl_set_universe(isl_set_get_space(box));

		lo = isl_pw_aff_insert_domain(lo, isl_set_get_space(box));
		hi = isl_pw_aff_insert_domain(hi, isl_set_get_space(box));
		box = isl_set_intersect(box, isl_pw_aff_ge_set(isl_pw_aff_copy(at), lo));
		box = isl_set_intersect(box, isl_pw_aff_lt_set(at, hi));
		box = isl_set_intersect(box, universe);
	}
	return box;
}

/* ---- domains ---- */

static __isl_give isl_set *dim_at_least(const struct module *module, const struct stage *stage, int dim,
					__isl_take isl_pw_aff *bound)
{
	return isl_pw_aff_ge_set(variable_aff(module, stage, isl_dim_set, dim), bound);
}

static __isl_give isl_set *dim_below(const struct module *module, const struct stage *stage, int dim,
				     __isl_take isl_pw_aff *bound)
{
	return isl_pw_aff_lt_set(variable_aff(module, stage, isl_dim_set, dim), bound);
}

/* The values that the facts of the index array leave to a bound dim; any, where it is `open` and checked where it is
 * read. Offsets and parents always have a value that they may have. */
static __isl_give isl_set *bind_set(const struct module *module, const struct stage *stage, int number, bool is_open)
{
	const struct dim *dim = &stage->dims.items[number];
	const struct array *array = dim->source.array;
	bool is_tree = array->facts & FACT_TREE, has_any = array->facts & (FACT_TREE | FACT_OFFSETS);
	isl_pw_aff *hi = is_tree ? expr_pw_aff(module, stage, dim->source.subs[0])
				 : expr_pw_aff(module, stage, array->limit);

	if (is_open && !has_any && dim_is_checked(dim)) {
		isl_pw_aff_free(hi);
		hi = constant_aff(module, stage, INDEX_ANY);
	}
	if (array->facts & FACT_OFFSETS)
		hi = isl_pw_aff_add(hi, constant_aff(module, stage, 1));
	return isl_set_intersect(dim_at_least(module, stage, number, constant_aff(module, stage, is_tree ? -1 : 0)),
				 dim_below(module, stage, number, hi));
}

/* Children come after their node. */
static __isl_give isl_set *children_set(const struct module *module, const struct stage *stage, int number)
{
	const struct dim *dim = &stage->dims.items[number];
	isl_pw_aff *first = isl_pw_aff_add(expr_pw_aff(module, stage, dim->source.subs[0]),
					   constant_aff(module, stage, 1));

	return isl_set_intersect(dim_at_least(module, stage, number, first),
				 dim_below(module, stage, number,
					   expr_pw_aff(module, stage, dim->source.array->hi[0])));
}

static __isl_give isl_set *dim_set(const struct module *module, const struct stage *stage, int number, bool is_open)
{
	const struct dim *dim = &stage->dims.items[number];

	if (dim->kind == DIM_BIND)
		return bind_set(module, stage, number, is_open);
	if (dim->kind == DIM_CHILDREN)
		return children_set(module, stage, number);
	return isl_set_intersect(dim_at_least(module, stage, number, expr_pw_aff(module, stage, dim->lo)),
				 dim_below(module, stage, number, expr_pw_aff(module, stage, dim->hi)));
}

/* Two dims bound to one non-decreasing array of one dimension. */
static bool may_be_monotone(const struct dim *a, const struct dim *b)
{
	return a != b && a->kind == DIM_BIND && b->kind == DIM_BIND && a->source.array == b->source.array &&
	       a->source.array->rank == 1 && a->source.array->facts & (FACT_OFFSETS | FACT_SORTED);
}

/* off[s] <= off[s + 1]: of two such dims, the subscript of the first never behind that of the second. */
static __isl_give isl_set *monotone_set(const struct module *module, const struct stage *stage, int first, int second)
{
	const struct dim *a = &stage->dims.items[first], *b = &stage->dims.items[second];
	isl_set *always, *ordered;

	always = isl_pw_aff_gt_set(expr_pw_aff(module, stage, a->source.subs[0]),
				   expr_pw_aff(module, stage, b->source.subs[0]));
	ordered = isl_set_is_empty(always) == isl_bool_true
			? isl_pw_aff_le_set(variable_aff(module, stage, isl_dim_set, first),
					    variable_aff(module, stage, isl_dim_set, second))
			: universe_of(module, stage);
	isl_set_free(always);
	return ordered;
}

/* Is the second dim bound to the offset behind that of the first? */
static bool are_borders(const struct module *module, const struct stage *stage, const struct array *offsets, int first,
			int second)
{
	const struct dim *a = &stage->dims.items[first], *b = &stage->dims.items[second];
	isl_pw_aff *next;
	isl_set *others;
	bool are;

	if (a->kind != DIM_BIND || b->kind != DIM_BIND || a->source.array != offsets || b->source.array != offsets)
		return false;
	next = isl_pw_aff_add(expr_pw_aff(module, stage, a->source.subs[0]), constant_aff(module, stage, 1));
	others = isl_pw_aff_ne_set(next, expr_pw_aff(module, stage, b->source.subs[0]));
	are = isl_set_is_empty(others) == isl_bool_true;
	isl_set_free(others);
	return are;
}

static __isl_give isl_set *between(const struct module *module, const struct stage *stage, __isl_take isl_pw_aff *value,
				   int lo, int hi)
{
	isl_set *from = isl_pw_aff_ge_set(isl_pw_aff_copy(value), variable_aff(module, stage, isl_dim_set, lo));

	return isl_set_intersect(from, isl_pw_aff_lt_set(value, variable_aff(module, stage, isl_dim_set, hi)));
}

/* A tree does not leave its segment: what is parent or child of a node between two borders is between them. */
static __isl_give isl_set *keep_in_segment(const struct module *module, const struct stage *stage, int number, int lo,
					   int hi, __isl_take isl_set *domain)
{
	const struct dim *dim = &stage->dims.items[number];
	isl_set *inside = between(module, stage, expr_pw_aff(module, stage, dim->source.subs[0]), lo, hi);
	isl_set *members = between(module, stage, variable_aff(module, stage, isl_dim_set, number), lo, hi);
	bool is_inside = isl_set_is_subset(domain, inside) == isl_bool_true;

	isl_set_free(inside);
	if (is_inside && dim->kind == DIM_BIND)
		members = isl_set_union(members, dim_below(module, stage, number, constant_aff(module, stage, 0)));
	if (is_inside)
		return isl_set_intersect(domain, members);
	isl_set_free(members);
	return domain;
}

static __isl_give isl_set *keep_in_segments(const struct module *module, const struct stage *stage,
					    __isl_take isl_set *domain)
{
	for (int d = 0; d < stage->dims.n; d++) {
		const struct array *tree = stage->dims.items[d].source.array;

		if (stage->dims.items[d].kind == DIM_RANGE || !(tree->facts & FACT_TREE) || !tree->segments)
			continue;
		for (int lo = 0; lo < stage->dims.n; lo++)
			for (int hi = 0; hi < stage->dims.n; hi++)
				if (are_borders(module, stage, tree->segments, lo, hi))
					domain = keep_in_segment(module, stage, d, lo, hi, domain);
	}
	return domain;
}

bool stage_is_in_loop(const struct module *module, const struct stage *stage)
{
	return group_region(module, stage->group) == REGION_BODY;
}

static unsigned loop_position(const struct module *module)
{
	return (unsigned) param_position(module, module->loop.param);
}

__isl_give isl_set *set_of_iterations(const struct module *module, __isl_take isl_set *set)
{
	return module->loop.var ? isl_set_eliminate(set, isl_dim_param, loop_position(module), 1) : set;
}

__isl_give isl_map *map_in_iteration(const struct module *module, __isl_take isl_map *map, const char *name)
{
	isl_id *id = isl_id_alloc(module->ctx, name, NULL);

	return isl_map_set_dim_id(map, isl_dim_param, loop_position(module), id);
}

__isl_give isl_set *loop_set(const struct module *module)
{
	isl_pw_aff *it = variable_aff(module, NULL, isl_dim_param, (int) loop_position(module));
	isl_set *set = isl_pw_aff_ge_set(isl_pw_aff_copy(it), expr_pw_aff(module, NULL, module->loop.lo));

	return isl_set_intersect(set, isl_pw_aff_lt_set(it, expr_pw_aff(module, NULL, module->loop.hi)));
}

__isl_give isl_set *until_domain(const struct module *module, const struct stage *until)
{
	isl_set *domain = isl_set_intersect_params(universe_of(module, until), loop_set(module));

	return isl_set_intersect_params(domain, isl_set_copy(module->context));
}

/* Sizes with which the first `n` assumptions hold, as far as those go that are used, unless that is NULL. A specialized
 * size is no more known than others: a generic kernel serves all its values. */
static __isl_give isl_set *context_by(const struct module *module, int n, const bool *are_used)
{
	isl_set *context = universe_of(module, NULL);

	for (int i = 0; i < module->params.n; i++)
		if (param_is_symbol(&module->params.items[i]) && !module->params.items[i].is_loop &&
		    (!are_used || are_used[i]))
			context = isl_set_lower_bound_si(context, isl_dim_param,
							 (unsigned) param_position(module, i), 0);
	for (int i = 0; i < n; i++)
		if (sizes_are_tied(module->assumptions.items[i], are_used))
			context = isl_set_intersect(context, expr_set(module, NULL, module->assumptions.items[i]));
	return context;
}

static __isl_give isl_set *points_of(const struct module *module, const struct stage *stage, int n, bool is_open)
{
	isl_set *points = universe_of(module, stage);

	for (int i = 0; i < n; i++)
		points = isl_set_intersect(points, dim_set(module, stage, i, is_open));
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			if (may_be_monotone(&stage->dims.items[i], &stage->dims.items[j]))
				points = isl_set_intersect(points, monotone_set(module, stage, i, j));
	if (stage_is_in_loop(module, stage))
		points = isl_set_intersect_params(points, loop_set(module));
	return isl_set_intersect_params(points, context_by(module, module->assumptions.n,
							   sizes_of_stage(module, stage)));
}

__isl_give isl_set *stage_points(const struct module *module, const struct stage *stage, int n)
{
	return points_of(module, stage, n, false);
}

static __isl_give isl_set *domain_of(const struct module *module, const struct stage *stage, bool is_open)
{
	isl_set *domain = points_of(module, stage, stage->dims.n, is_open);

	if (stage->guard)
		domain = isl_set_intersect(domain, expr_set(module, stage, stage->guard));
	domain = keep_in_segments(module, stage, domain);
	return isl_set_coalesce(isl_set_detect_equalities(domain));
}

__isl_give isl_set *stage_loops(const struct module *module, const struct stage *stage)
{
	return domain_of(module, stage, true);
}

static bool can_hold(const struct module *module, int n)
{
	isl_set *context = context_by(module, n, NULL);
	bool can = isl_set_is_empty(context) != isl_bool_true;

	isl_set_free(context);
	return can;
}

static void label_assumptions(const struct module *module, struct diag *diag, int n)
{
	for (int i = 0; i < n; i++)
		diag_label(module->diags, diag, module->assumptions.items[i]->span, "assumed here");
}

static bool is_specialized(const struct param *param)
{
	return param->specialized.end;
}

static void report_specialized(const struct module *module, int number)
{
	const struct param *params = module->params.items;
	struct diag *diag = diag_error(module->diags, DIAG_NEVER_HOLDS, params[number].specialized,
				       "the assumptions do not allow this value of '%s'", params[number].name);

	label_assumptions(module, diag, module->assumptions.n);
	for (int i = 0; i < number; i++)
		if (is_specialized(&params[i]))
			diag_label(module->diags, diag, params[i].specialized, "specialized here");
}

/* Do the assumptions allow the values that the program specializes sizes for? */
static bool check_specialized(const struct module *module)
{
	isl_set *context = context_by(module, module->assumptions.n, NULL);
	bool allow = true;

	for (int i = 0; i < module->params.n && allow; i++) {
		const struct param *param = &module->params.items[i];

		if (!is_specialized(param))
			continue;
		context = isl_set_fix_val(context, isl_dim_param, (unsigned) param_position(module, i),
					  isl_val_int_from_si(module->ctx, (long) param->value));
		allow = isl_set_is_empty(context) != isl_bool_true;
		if (!allow)
			report_specialized(module, i);
	}
	isl_set_free(context);
	return allow;
}

bool module_check_assumptions(struct module *module)
{
	struct diag *diag;
	int n = 0;

	while (n < module->assumptions.n && can_hold(module, n + 1))
		n++;
	if (n == module->assumptions.n)
		return check_specialized(module);
	diag = diag_error(module->diags, DIAG_NEVER_HOLDS, module->assumptions.items[n]->span,
			  n ? "no sizes fulfil this and the assumptions before it" : "no sizes fulfil this");
	label_assumptions(module, diag, n);
	diag_help(module->diags, diag, (struct span) { 0 },
		  "sizes are never negative; change the assumptions so that some are left");
	return false;
}

void module_analyse(struct module *module)
{
	isl_set_free(module->context);
	module->context = context_by(module, module->assumptions.n, NULL);
	for (int i = 0; i < module->stages.n; i++) {
		struct stage *stage = module->stages.items[i];

		isl_set_free(stage->domain);
		stage->domain = domain_of(module, stage, false);
		module_note_quota(module, stage->span);
	}
}

void module_note_quota(struct module *module, struct span span)
{
	if (!module->given_up.end && isl_ctx_last_error(module->ctx) == isl_error_quota)
		module->given_up = span;
}

int64_t val_integer(__isl_take isl_val *val)
{
	bool is = isl_val_is_int(val) == isl_bool_true && isl_val_cmp_si(val, INT_MAX) < 0 &&
		  isl_val_cmp_si(val, -INT_MAX) > 0;
	int64_t integer = is ? isl_val_get_num_si(val) : INT_MAX;

	isl_val_free(val);
	return integer;
}
