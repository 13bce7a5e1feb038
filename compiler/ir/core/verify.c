/* SPDX-License-Identifier: MIT
 *
 * The invariants of a module (ir/module.h) as a list of small checks. They run after a pass; what one finds is an
 * error of that pass, never of the user. A check relies on those before it in the table, so that the first that
 * fails is the last to run. */
#include "ir/schedule.h"

#include <math.h>
#include <string.h>

struct verifier {
	struct module *module;
	const char *pass, *check;
	bool failed;
};

static void PRINTF_LIKE(3, 4) fail(struct verifier *v, struct span span, const char *format, ...)
{
	const char *text;
	va_list args;

	if (v->failed)
		return;
	va_start(args, format);
	text = arena_vprintf(v->module->arena, format, args);
	va_end(args);
	diag_error(v->module->diags, DIAG_INTERNAL, span, "after pass '%s' the check '%s' fails: %s", v->pass, v->check,
		   text);
	v->failed = true;
}

/* ---- who stands where ---- */

static void check_numbers(struct verifier *v)
{
	const struct module *module = v->module;

	for (int i = 0; i < module->arrays.n; i++)
		if (module->arrays.items[i]->number != i)
			fail(v, module->arrays.items[i]->span, "array %d is numbered %d", i,
			     module->arrays.items[i]->number);
	for (int i = 0; i < module->groups.n; i++)
		if (module->groups.items[i]->number != i)
			fail(v, module->groups.items[i]->span, "group %d is numbered %d", i,
			     module->groups.items[i]->number);
	for (int i = 0; i < module->stages.n; i++)
		if (module->stages.items[i]->number != i)
			fail(v, module->stages.items[i]->span, "stage %d is numbered %d", i,
			     module->stages.items[i]->number);
}

static int count_in_regions(const struct module *module, const struct group *group)
{
	int n = 0;

	for (int i = 0; i < REGION_N; i++)
		for (int g = 0; g < module->regions[i].groups.n; g++)
			n += module->regions[i].groups.items[g] == group;
	return n;
}

static int count_in_group(const struct stage *stage)
{
	int n = 0;

	for (int i = 0; i < stage->group->stages.n; i++)
		n += stage->group->stages.items[i] == stage;
	return n;
}

static void check_places(struct verifier *v)
{
	const struct module *module = v->module;

	for (int i = 0; i < module->groups.n; i++) {
		const struct group *group = module->groups.items[i];

		if (count_in_regions(module, group) != 1)
			fail(v, group->span, "group %d is in %d regions", i, count_in_regions(module, group));
		if (group->stages.n == 0)
			fail(v, group->span, "group %d has no stages", i);
	}
	for (int i = 0; i < module->stages.n; i++)
		if (!module->stages.items[i]->group || count_in_group(module->stages.items[i]) != 1)
			fail(v, module->stages.items[i]->span, "stage %d does not stand in its group once", i);
}

static void check_c_names(struct verifier *v)
{
	const struct module *module = v->module;
	struct name_table names = { 0 };

	for (int i = 0; i < module->arrays.n; i++) {
		struct array *array = module->arrays.items[i];

		if (name_table_get(&names, array->c_name))
			fail(v, array->span, "two arrays are called %s in C", array->c_name);
		name_table_set(module->arena, &names, array->c_name, array);
	}
}

/* ---- expressions ---- */

static bool op_is_floating(enum expr_op op)
{
	return op == OP_POW || op == OP_EXP || op == OP_LOG || op == OP_SQRT || op == OP_SIN || op == OP_COS ||
	       op == OP_TANH || op == OP_FLOOR || op == OP_EXPRELR || op == OP_UNIT_SCALE;
}

static bool op_is_logical(enum expr_op op)
{
	return op == OP_AND || op == OP_OR || op == OP_NOT;
}

/* Comparisons and selections take any type. */
static bool op_takes(enum expr_op op, enum scalar_type type)
{
	if (op_is_logical(op))
		return type == TYPE_BOOL;
	if (op_is_floating(op))
		return type_is_float(type);
	if (op == OP_MOD)
		return type_is_integer(type);
	return type != TYPE_BOOL || op_is_comparison(op) || op == OP_SELECT ||
	       op == OP_CHOOSE || op == OP_MIN || op == OP_MAX;
}

static bool pivot_is_typed(const struct expr *expr)
{
	return type_is_float(expr->type) && expr->args[0]->type == expr->type && expr->args[1]->type == TYPE_I64 &&
	       expr->args[2]->type == TYPE_I64;
}

static bool op_types_agree(const struct expr *expr)
{
	int first = expr->op == OP_SELECT || expr->op == OP_CHOOSE ? 1 : 0;

	if (first && expr->args[0]->type != TYPE_BOOL)
		return false;
	if (expr->op == OP_CHOOSE && !expr_is_affine_condition(expr->args[0]))
		return false;
	if (expr->op == OP_PIVOT)
		return pivot_is_typed(expr);
	for (int i = first; i < op_arity(expr->op); i++)
		if (expr->args[i]->type != expr->args[first]->type || !op_takes(expr->op, expr->args[i]->type))
			return false;
	return expr->type == op_result_type(expr->op, expr->args);
}

static bool param_type_is(const struct module *module, const struct expr *expr)
{
	const struct param *param;

	if (expr->index < 0 || expr->index >= module->params.n)
		return false;
	param = &module->params.items[expr->index];
	return expr->type == (param->is_scalar ? param->type : TYPE_I64);
}

static bool leaf_is_typed(const struct module *module, const struct expr *expr, int n_dims)
{
	switch (expr->kind) {
	case EXPR_INT:
		return type_is_integer(expr->type);
	case EXPR_FLOAT:
		return type_is_float(expr->type);
	case EXPR_BOOL:
		return expr->type == TYPE_BOOL;
	case EXPR_PARAM:
		return param_type_is(module, expr);
	case EXPR_DIM:
		return expr->type == TYPE_I64 && expr->index >= 0 && expr->index < n_dims;
	case EXPR_READ:
		return expr->access.array && expr->type == expr->access.array->type;
	case EXPR_CAST:
		return true;
	case EXPR_OP:
		return op_types_agree(expr);
	case EXPR_N:
		break;
	}
	return false;
}

static void check_access(struct verifier *v, const struct access *access, int n_dims);

/* The expression is typed, and names dims below `n_dims` only. */
static void check_expr(struct verifier *v, const struct expr *expr, int n_dims)
{
	if (!expr) {
		fail(v, (struct span) { 0 }, "an expression is missing");
		return;
	}
	for (int i = 0; i < expr_n_args(expr) && !v->failed; i++)
		check_expr(v, expr->args[i], n_dims);
	if (!v->failed && !leaf_is_typed(v->module, expr, n_dims))
		fail(v, expr->span, "the types of '%s' do not fit, or it names a later dim",
		     expr_text(v->module->arena, v->module, NULL, expr));
	if (!v->failed && expr->kind == EXPR_READ)
		check_access(v, &expr->access, n_dims);
}

static void check_affine(struct verifier *v, const struct expr *expr, int n_dims)
{
	check_expr(v, expr, n_dims);
	if (!v->failed && !expr_is_affine(expr))
		fail(v, expr->span, "'%s' is not affine", expr_text(v->module->arena, v->module, NULL, expr));
}

static void check_condition(struct verifier *v, const struct expr *expr, int n_dims)
{
	check_expr(v, expr, n_dims);
	if (!v->failed && !expr_is_affine_condition(expr))
		fail(v, expr->span, "'%s' is no affine condition",
		     expr_text(v->module->arena, v->module, NULL, expr));
}

static void check_access(struct verifier *v, const struct access *access, int n_dims)
{
	const struct array *array = access->array;

	if (!array || array->number < 0 || array->number >= v->module->arrays.n ||
	    v->module->arrays.items[array->number] != array) {
		fail(v, access->span, "an access names an array of another module");
		return;
	}
	if (access_n_subs(access) && !access->subs)
		fail(v, access->span, "'%s' is accessed without subscripts", array->name);
	for (int i = 0; i < access_n_subs(access) && !v->failed; i++)
		check_affine(v, access->subs[i], n_dims);
}

/* ---- arrays ---- */

static void check_array_box(struct verifier *v, const struct array *array)
{
	if (array->rank < 0 || array->rank > ARRAY_MAX_RANK + (array->role == ROLE_PRIVATE) ||
	    (array->role == ROLE_LOCAL && array->rank != 0))
		fail(v, array->span, "'%s' has the rank %d", array->name, array->rank);
	for (int i = 0; i < array->rank && !v->failed; i++) {
		check_affine(v, array->lo[i], 0);
		check_affine(v, array->hi[i], 0);
	}
}

static void check_boxes(struct verifier *v)
{
	for (int i = 0; i < v->module->arrays.n && !v->failed; i++)
		check_array_box(v, v->module->arrays.items[i]);
}

static bool segments_are_offsets(const struct array *array)
{
	bool may_be_cut = array->role == ROLE_BLOCK || ((array->facts & FACT_TREE) && array->role == ROLE_IN);

	return may_be_cut && (array->segments->facts & FACT_OFFSETS) && array->segments->role == ROLE_IN;
}

static void check_known(struct verifier *v, const struct array *array)
{
	int64_t n = array->known.n;

	if (array->role != ROLE_IN || !array->is_fixed || !(array->facts & FACT_TREE) || array->rank != 1 ||
	    array->segments)
		fail(v, array->span, "'%s' is known, but no tree that is fixed", array->name);
	if (array->rank == 1 && expr_is_constant(array->hi[0], &n) && n != array->known.n)
		fail(v, array->span, "of '%s' %lld values are known, but it has %lld", array->name,
		     (long long) array->known.n, (long long) n);
	for (int64_t i = 0; i < array->known.n && !v->failed; i++)
		if (array->known.parents[i] < -1 || array->known.parents[i] >= i)
			fail(v, array->span, "'%s' holds %lld at [%lld], which is no parent", array->name,
			     (long long) array->known.parents[i], (long long) i);
}

static bool may_hold_offsets(const struct array *array)
{
	const struct array *of = array->row_of;

	return array->role == ROLE_INSPECTED && (array->facts & FACT_INDEX) && of->rank > 1 &&
	       (array_is_argument(of) || of->role == ROLE_STATE);
}

static void check_array_facts(struct verifier *v, const struct array *array)
{
	bool needs_limit = array->facts & (FACT_INDEX | FACT_OFFSETS | FACT_UNIQUE);

	if (array->facts && !type_is_integer(array->type))
		fail(v, array->span, "the index array '%s' is of type %s", array->name, type_name(array->type));
	if (needs_limit && !array->limit)
		fail(v, array->span, "the values of '%s' have no limit", array->name);
	if ((array->facts & (FACT_OFFSETS | FACT_TREE)) && array->rank != 1)
		fail(v, array->span, "'%s' has the rank %d, offsets and trees have 1", array->name, array->rank);
	if (array->limit)
		check_affine(v, array->limit, 0);
	if (array->segments && !segments_are_offsets(array))
		fail(v, array->span, "'%s' cannot be cut at '%s'", array->name, array->segments->name);
	if (array->row_of && !may_hold_offsets(array))
		fail(v, array->span, "'%s' cannot hold offsets of rows of '%s'", array->name, array->row_of->name);
	if (array->known.parents)
		check_known(v, array);
}

static void check_facts(struct verifier *v)
{
	for (int i = 0; i < v->module->arrays.n && !v->failed; i++)
		check_array_facts(v, v->module->arrays.items[i]);
}

static void check_owners(struct verifier *v)
{
	for (int i = 0; i < v->module->arrays.n; i++) {
		const struct array *array = v->module->arrays.items[i], *owner = array->owner;

		if ((array->role == ROLE_NEXT || array->role == ROLE_PRIVATE || array->role == ROLE_BLOCK) !=
		    (owner != NULL))
			fail(v, array->span, "'%s' has %s owner", array->name, owner ? "an" : "no");
		if (owner && array->role == ROLE_PRIVATE && owner->rank + 1 != array->rank)
			fail(v, array->span, "'%s' cannot hold copies of '%s'", array->name, owner->name);
		if (owner && array->role == ROLE_BLOCK &&
		    (owner->rank != array->rank || owner->type != array->type || array->stored.lanes < 1))
			fail(v, array->span, "'%s' cannot hold blocks of '%s'", array->name, owner->name);
		if (array->stored.stands_in &&
		    (array->role != ROLE_TEMP || array->stored.stands_in->role != ROLE_BLOCK))
			fail(v, array->span, "'%s' cannot stand in '%s'", array->name, array->stored.stands_in->name);
		if (owner && array->role == ROLE_NEXT &&
		    ((owner->role != ROLE_STATE && owner->role != ROLE_INOUT) || owner->type != array->type ||
		     owner->rank != array->rank))
			fail(v, array->span, "'%s' cannot be the next '%s'", array->name, owner->name);
		if (array->is_swapped && (array->role != ROLE_NEXT || !v->module->loop.var))
			fail(v, array->span, "'%s' has nothing to change places with", array->name);
		if ((array->role == ROLE_LOCAL) != (array->group != NULL))
			fail(v, array->span, "'%s' belongs to %s group", array->name, array->group ? "a" : "no");
	}
}

/* ---- params and the loop ---- */

static void check_params(struct verifier *v)
{
	const struct module *module = v->module;

	for (int i = 0; i < module->params.n; i++) {
		const struct param *param = &module->params.items[i];

		if (param->is_loop != (module->loop.var && module->loop.param == i))
			fail(v, param->span, "'%s' is %sthe loop's variable", param->name,
			     param->is_loop ? "not " : "");
		if (param->is_scalar && !type_is_float(param->type))
			fail(v, param->span, "the scalar '%s' is of type %s", param->name, type_name(param->type));
		if (param->derivation && !v->failed)
			check_affine(v, param->of, 0);
		if (param->derivation && param->limit < 1)
			fail(v, param->span, "'%s' has the limit %lld", param->name, (long long) param->limit);
	}
	for (int i = 0; i < module->assumptions.n && !v->failed; i++)
		check_condition(v, module->assumptions.items[i], 0);
}

static void check_loop(struct verifier *v)
{
	const struct loop *loop = &v->module->loop;

	if (!loop->var && v->module->regions[REGION_BODY].groups.n)
		fail(v, v->module->span, "there is a body and no loop");
	if (!loop->var || v->failed)
		return;
	check_affine(v, loop->lo, 0);
	check_affine(v, loop->hi, 0);
	if (!loop->until || v->failed)
		return;
	check_expr(v, loop->until, 0);
	if (!v->failed && loop->until->type != TYPE_BOOL)
		fail(v, loop->until->span, "the condition of the loop is no truth value");
}

/* ---- stages ---- */

static void check_source(struct verifier *v, const struct dim *dim, int number)
{
	unsigned needed = dim->kind == DIM_CHILDREN ? FACT_TREE : FACT_INDEX | FACT_OFFSETS | FACT_TREE;

	check_access(v, &dim->source, number);
	if (!v->failed && !(dim->source.array->facts & needed))
		fail(v, dim->span, "the dim '%s' is read from '%s', which is no index array of that kind", dim->name,
		     dim->source.array->name);
}

static void check_dim(struct verifier *v, const struct dim *dim, int number)
{
	switch (dim->kind) {
	case DIM_RANGE:
		check_affine(v, dim->lo, number);
		if (!v->failed)
			check_affine(v, dim->hi, number);
		break;
	case DIM_BIND:
	case DIM_CHILDREN:
		check_source(v, dim, number);
		break;
	}
}

static void check_dims(struct verifier *v)
{
	for (int s = 0; s < v->module->stages.n; s++) {
		const struct stage *stage = v->module->stages.items[s];

		for (int i = 0; i < stage->dims.n && !v->failed; i++)
			check_dim(v, &stage->dims.items[i], i);
	}
}

static void check_common(struct verifier *v)
{
	for (int s = 0; s < v->module->stages.n && !v->failed; s++) {
		const struct stage *stage = v->module->stages.items[s], *first = stage->group->stages.items[0];
		const int n = stage->group->n_common;

		if (n < 0 || n > stage->dims.n)
			fail(v, stage->span, "%s has %d dims, its group %d", stage->name, stage->dims.n, n);
		for (int i = 0; i < n && !v->failed; i++) {
			const struct dim *dim = &stage->dims.items[i], *common = &first->dims.items[i];

			if (strcmp(dim->name, common->name) != 0 || !dim_equal(dim, common))
				fail(v, stage->span, "%s does not share the dim '%s' of its group", stage->name,
				     common->name);
		}
	}
}

static void check_windows(struct verifier *v)
{
	for (int a = 0; a < v->module->arrays.n; a++) {
		const struct array *array = v->module->arrays.items[a];
		const struct stored *stored = &array->stored;

		if (stored->window && ((array->role != ROLE_TEMP && array->role != ROLE_BLOCK) || stored->window < 0 ||
				       stored->windowed < 0 || stored->windowed >= array->rank ||
				       (stored->folded >> stored->windowed & 1U)))
			fail(v, array->span, "'%s' has a window of %lld of its subscript %d", array->name,
			     (long long) stored->window, stored->windowed);
		if (stored->is_prefetched && (array->role != ROLE_BLOCK || !array_is_argument(array->owner)))
			fail(v, array->span, "'%s' is prefetched, but no block of an argument", array->name);
	}
}

static bool is_branch_index(const struct array *array)
{
	return array && array->role == ROLE_TEMP && array->rank == 1 && array->facts & FACT_INDEX && array->is_proved;
}

static void check_branchings(struct verifier *v)
{
	for (int i = 0; i < v->module->branchings.n; i++) {
		const struct branching *branching = &v->module->branchings.items[i];
		const struct array *tree = branching->tree;

		if (!tree || !(tree->facts & FACT_TREE) || !array_is_argument(tree) ||
		    !is_branch_index(branching->depth) || !is_branch_index(branching->levels) ||
		    !is_branch_index(branching->begins) || !is_branch_index(branching->ends))
			fail(v, branching->span, "branches are index arrays of a tree");
	}
}

static bool is_count(const struct verifier *v, int param)
{
	return param >= 0 && param < v->module->params.n && v->module->params.items[param].is_inspected &&
	       v->module->params.items[param].of;
}

static void check_chunkings(struct verifier *v)
{
	for (int i = 0; i < v->module->chunkings.n; i++) {
		const struct chunking *chunking = &v->module->chunkings.items[i];
		const struct array *tree = chunking->tree;

		if (!tree || !(tree->facts & FACT_TREE) || !array_is_argument(tree) || chunking->rows < 1 ||
		    !is_count(v, chunking->n_chunks) || !is_count(v, chunking->n_turns) ||
		    !is_branch_index(chunking->offsets) || !is_branch_index(chunking->above) ||
		    !is_branch_index(chunking->child) || !is_branch_index(chunking->sibling) ||
		    !is_branch_index(chunking->turn) || !chunking->order != !chunking->turns ||
		    (chunking->order && (!is_branch_index(chunking->order) || !is_branch_index(chunking->turns))))
			fail(v, chunking->span, "chunks are index arrays of a tree");
	}
}

static void check_directions(struct verifier *v)
{
	for (int g = 0; g < v->module->groups.n; g++) {
		const struct group *group = v->module->groups.items[g];

		for (int i = 0; group->direction && i < group->n_common; i++)
			if (group->direction[i] != 1 && group->direction[i] != -1)
				fail(v, group->span, "dim %d of '%s' runs in the direction %d", i, group->name,
				     group->direction[i]);
	}
}

/* An integer literal stands for a value of any integer type. */
static bool can_store(const struct array *array, const struct expr *value)
{
	return value->type == array->type || (value->kind == EXPR_INT && type_is_integer(array->type));
}

static void check_statements(struct verifier *v)
{
	for (int s = 0; s < v->module->stages.n && !v->failed; s++) {
		const struct stage *stage = v->module->stages.items[s];

		if (stage->guard)
			check_condition(v, stage->guard, stage->dims.n);
		if (!v->failed)
			check_access(v, &stage->write, stage->dims.n);
		if (!v->failed)
			check_expr(v, stage->value, stage->dims.n);
		if (!v->failed && !can_store(stage->write.array, stage->value))
			fail(v, stage->span, "%s stores %s in '%s' of %s", stage->name, type_name(stage->value->type),
			     stage->write.array->name, type_name(stage->write.array->type));
	}
}

struct local_use {
	struct verifier *verifier;
	const struct stage *stage;
};

static void check_local(struct access *access, void *user)
{
	const struct local_use *use = user;

	if (access->array->role == ROLE_LOCAL && access->array->group != use->stage->group)
		fail(use->verifier, use->stage->span, "%s uses '%s', which belongs to another group", use->stage->name,
		     access->array->name);
}

static void check_locals(struct verifier *v)
{
	for (int s = 0; s < v->module->stages.n; s++) {
		struct stage *stage = v->module->stages.items[s];
		struct local_use use = { v, stage };

		check_local(&stage->write, &use);
		stage_reads(stage, check_local, &use);
	}
}

static void check_writes(struct verifier *v)
{
	for (int s = 0; s < v->module->stages.n; s++) {
		const struct stage *stage = v->module->stages.items[s];
		const struct array *array = stage->write.array;

		if (array->role == ROLE_IN)
			fail(v, stage->span, "%s writes the input '%s'", stage->name, array->name);
		if ((stage->is_commit || stage->is_next) && array->role != ROLE_STATE && array->role != ROLE_INOUT)
			fail(v, stage->span, "%s commits to '%s', which is no state", stage->name, array->name);
		if ((stage->is_commit || stage->is_init) && stage->op != REDUCE_SET)
			fail(v, stage->span, "%s starts or commits '%s' by an update", stage->name, array->name);
		if (stage->is_next && !stage_is_in_loop(v->module, stage))
			fail(v, stage->span, "%s sets a next value outside of the loop", stage->name);
	}
}

/* Updates by one operator commute; by two they would not. */
static void check_operators(struct verifier *v)
{
	enum reduce_op *ops = arena_new_array(v->module->arena, enum reduce_op, v->module->arrays.n);

	for (int s = 0; s < v->module->stages.n; s++) {
		const struct stage *stage = v->module->stages.items[s];
		enum reduce_op *op = &ops[stage->write.array->number];

		if (stage->op == REDUCE_SET)
			continue;
		if (*op != REDUCE_SET && *op != stage->op)
			fail(v, stage->span, "'%s' is updated by two operators", stage->write.array->name);
		*op = stage->op;
	}
}

/* Is a number no identity of `op`? Of integers, the least and largest are of their types. */
static bool changes_result(const struct expr *value, enum reduce_op op)
{
	bool is_float = value->kind == EXPR_FLOAT, is_number = is_float || value->kind == EXPR_INT;
	double real = is_float ? value->real : (double) value->integer;

	switch (op) {
	case REDUCE_ADD:
		return is_number && real != 0;
	case REDUCE_MUL:
		return is_number && real != 1;
	case REDUCE_MIN:
		return is_float && real != INFINITY;
	case REDUCE_MAX:
		return is_float && real != -INFINITY;
	case REDUCE_SET:
	case REDUCE_N:
		break;
	}
	return false;
}

/* Sums may be started anew for a part of their terms, and the start left out where it is a constant. */
static void check_starts(struct verifier *v)
{
	for (int s = 0; s < v->module->stages.n; s++) {
		const struct stage *stage = v->module->stages.items[s];

		if (stage->is_init && changes_result(stage->value, module_op_of_updates(v->module, stage->write.array)))
			fail(v, stage->span, "%s starts '%s' at '%s', which changes what its updates make",
			     stage->name, stage->write.array->name,
			     expr_text(v->module->arena, v->module, NULL, stage->value));
	}
}

static void check_live(struct verifier *v)
{
	struct live_points live;

	for (int g = 0; g < v->module->groups.n; g++) {
		const struct group *group = v->module->groups.items[g];

		if ((group->is_live || group->has_sparse_weights) && !module_live_points(v->module, group, &live))
			fail(v, group->span, "group %d leaves out points that change something", g);
	}
}

/* ---- the list ---- */

struct check {
	const char *name;
	void (*run)(struct verifier *v);
};

bool module_verify(struct module *module, const char *pass)
{
	static const struct check checks[] = {
		{ "numbers are positions", check_numbers },
		{ "groups stand in one region, stages in one group", check_places },
		{ "C names differ", check_c_names },
		{ "one loop, of one variable", check_params },
		{ "boxes are affine in params", check_boxes },
		{ "facts have limits", check_facts },
		{ "next arrays and locals have owners", check_owners },
		{ "the loop's range and condition", check_loop },
		{ "dims refer to earlier dims", check_dims },
		{ "stages share the common dims of their group", check_common },
		{ "branches are of trees", check_branchings },
		{ "chunks are of trees", check_chunkings },
		{ "directions are +1 or -1", check_directions },
		{ "windows are of subscripts that are stored", check_windows },
		{ "accesses are affine, values are typed", check_statements },
		{ "locals stay in their group", check_locals },
		{ "writes go to what can be written", check_writes },
		{ "one operator for each accumulation", check_operators },
		{ "constants that updates start at are their identities", check_starts },
		{ "points that are left out change nothing", check_live },
	};
	struct verifier v = { .module = module, .pass = pass };

	for (size_t i = 0; i < sizeof checks / sizeof checks[0] && !v.failed; i++) {
		v.check = checks[i].name;
		checks[i].run(&v);
	}
	return !v.failed;
}
