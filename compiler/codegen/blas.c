/* SPDX-License-Identifier: MIT
 *
 * A BLAS mark: a call, and the loops below the mark for sizes at which it does not pay or that it cannot take. The call
 * is built from isl's AST: the counts are those of its loops, the operands begin at the first point. If isl has made
 * other loops than one for each dim, the loops alone are built. */
#include <isl/id.h>
#include <string.h>

#include "codegen/codegen_private.h"
#include "ir/match/blas.h"

struct call {
	struct emit *e;
	struct blas_nest nest;
	struct blas_call blas;
	struct range ranges[3];         /* of nest.dims */
	struct point point, last;       /* the first ones */
	struct k_expr *alpha;           /* NULL: 1 */
};

/* ---- the nest in isl's AST ---- */

static bool find_nest(struct call *call, __isl_keep isl_ast_node *node, const struct mark *loop);

static bool find_below_mark(struct call *call, __isl_keep isl_ast_node *node, const struct mark *loop)
{
	const struct mark *mark = ast_mark(node);

	call->nest.is_shared |= mark->kind == MARK_PARALLEL || mark->kind == MARK_TEAM;
	return find_nest(call, ast_below(node), mark->kind == MARK_LOOP ? mark : loop);
}

static bool find_below_for(struct call *call, __isl_keep isl_ast_node *node, const struct mark *loop)
{
	struct blas_nest *nest = &call->nest;

	if (!loop || nest->n_dims == 3)
		return false;
	nest->dims[nest->n_dims] = (int) (loop->dim - loop->stage->dims.items);
	call->ranges[nest->n_dims] = range_of(call->e, node, 1);
	if (call->ranges[nest->n_dims].is_single || call->ranges[nest->n_dims].step != 1)
		return false;
	iterator_push(call->e, node, &call->ranges[nest->n_dims++].first, 1);
	return find_nest(call, ast_body(node), NULL);
}

static isl_ast_expr *instance_of(__isl_keep isl_ast_node *node)
{
	return isl_ast_node_get_type(node) == isl_ast_node_user ? ast_instance(node) : NULL;
}

static bool find_in_block(struct call *call, __isl_keep isl_ast_node *node)
{
	if (ast_n_children(node) != 3 || call->last.instance)
		return false;
	call->last.instance = instance_of(ast_child(node, 2));
	call->last.stage = call->last.instance ? ast_stage(call->last.instance) : NULL;
	call->nest.last = call->last.stage;
	return call->last.stage && find_nest(call, ast_child(node, 1), NULL);
}

static bool find_nest(struct call *call, __isl_keep isl_ast_node *node, const struct mark *loop)
{
	switch (isl_ast_node_get_type(node)) {
	case isl_ast_node_mark:
		return find_below_mark(call, node, loop);
	case isl_ast_node_for:
		return find_below_for(call, node, loop);
	case isl_ast_node_block:
		return find_in_block(call, node);
	case isl_ast_node_user:
		call->point.instance = instance_of(node);
		call->point.stage = call->nest.stage = ast_stage(call->point.instance);
		return !loop;
	case isl_ast_node_if:
	case isl_ast_node_error:
		break;
	}
	return false;
}

/* ---- operands ---- */

/* How far apart the elements are that differ by one in the dim. */
static struct affine stride(const struct call *call, const struct access *access, int dim)
{
	struct arena *arena = call->e->arena;
	struct affine behind = affine_constant(1), sum = affine_constant(0);

	for (int s = access_n_subs(access) - 1; s >= 0; s--) {
		struct affine extent = affine_of_range(call->e, access->array, s);
		int64_t coefficient = 0;

		blas_coefficient(access->subs[s], dim, &coefficient);
		sum = affine_combine(arena, 1, &sum, coefficient, &behind);
		behind = affine_multiply(call->e, &behind, &extent);
	}
	return sum;
}

/* Of a dim of the nest. */
static struct affine count(const struct call *call, int dim)
{
	const struct range *range = call->ranges;

	for (const int *of = call->nest.dims; *of != dim; of++)
		range++;
	return affine_combine(call->e->arena, 1, &range->end, -1, &range->first);
}

static struct k_expr *expr_of(const struct call *call, struct affine value)
{
	return affine_expr(call->e->arena, &value);
}

static struct k_expr *count_of(const struct call *call, int dim)
{
	return expr_of(call, count(call, dim));
}

static struct k_expr *increment(const struct call *call, const struct blas_operand *vector)
{
	return expr_of(call, vector->access ? stride(call, vector->access, vector->row) : affine_constant(1));
}

static struct k_expr *leading(const struct call *call, const struct blas_operand *matrix)
{
	return expr_of(call, stride(call, matrix->access, matrix->is_transposed ? matrix->column : matrix->row));
}

/* Where an access begins: `A`, `&D[atom*nTheta]`. */
static struct k_expr *start_of(const struct call *call, const struct point *point, const struct access *access)
{
	struct affine index = c_index(call->e, point, access);
	struct k_expr *array = k_name(call->e->arena, access->array->c_name);
	int64_t value;

	if (affine_is_constant(&index, &value) && value == 0)
		return array;
	return k_address(call->e->arena, k_load(call->e->arena, array, expr_of(call, index)));
}

static struct k_expr *start(const struct call *call, const struct blas_operand *operand)
{
	bool is_last = call->nest.last && operand == &call->blas.target;

	return start_of(call, is_last ? &call->last : &call->point, operand->access);
}

static struct k_expr *trans(const struct call *call, const struct blas_operand *matrix)
{
	return k_name(call->e->arena, matrix->is_transposed ? "PMG_TRANS" : "PMG_NO_TRANS");
}

/* ---- alpha ---- */

static bool begins_with_minus(const struct k_expr *expr)
{
	return (expr->kind == KE_UNARY && expr->op == K_NEG) || (expr->kind == KE_INT && expr->integer < 0) ||
	       (expr->kind == KE_FLOAT && expr->text[0] == '-');
}

/* product*factors. NULL: no product yet, and the first factor gets a minus if `is_negative`. */
static struct k_expr *times(const struct call *call, struct k_expr *product, bool is_negative,
			    const struct point *point, const struct expr *const *factors, int n)
{
	struct arena *a = call->e->arena;

	for (int i = 0; i < n; i++) {
		struct k_expr *factor = k_at_least(a, c_expr(call->e, point, factors[i]), K_LEVEL_UNARY);

		if ((product || is_negative) && begins_with_minus(factor))
			factor = k_at_least(a, factor, K_LEVEL_PRIMARY);
		if (product)
			product = k_binary(a, K_MUL, product, factor);
		else
			product = is_negative ? k_unary(a, K_NEG, factor) : factor;
	}
	return product;
}

/* A number in the type of the call. */
static struct k_expr *literal(const struct call *call, const char *value, bool is_negative)
{
	struct arena *a = call->e->arena;
	struct k_expr *number = k_float(a, call->blas.type == TYPE_F32 ? arena_printf(a, "%sf", value) : value);

	return is_negative ? k_unary(a, K_NEG, number) : number;
}

/* A name or number, or what is minus one. */
static bool is_simple(const struct k_expr *expr)
{
	if (expr->kind == KE_UNARY && expr->op == K_NEG)
		expr = expr->args.items[0];
	return !expr->is_grouped && (expr->kind == KE_NAME || expr->kind == KE_INT || expr->kind == KE_FLOAT);
}

/* If it is more than one name, or read from memory: a variable of its own. NULL: 1. */
static struct k_expr *alpha_of(struct call *call)
{
	const struct blas_call *blas = &call->blas;
	struct k_expr *alpha;
	const char *name;

	alpha = times(call, NULL, blas->is_negative, &call->last, blas->last_factors.items, blas->last_factors.n);
	alpha = times(call, alpha, blas->is_negative, &call->point, blas->factors.items, blas->factors.n);
	if (!alpha)
		return blas->is_negative ? literal(call, "1.0", true) : NULL;
	if (is_simple(alpha))
		return alpha;
	name = names_declare(&call->e->names, "alpha");
	k_const(call->e->b, k_scalar(type_c_name(blas->type)), name, alpha);
	return k_name(call->e->arena, name);
}

static struct k_expr *alpha_or_one(const struct call *call)
{
	return call->alpha ? call->alpha : literal(call, "1.0", false);
}

/* ---- the condition ---- */

static bool is_known(const struct affine *size)
{
	int64_t value;

	return affine_is_constant(size, &value) && value >= 1 && value <= INT32_MAX;
}

static struct affine step_of(const struct call *call, const struct blas_operand *operand)
{
	if (!operand->access || (operand->column < 0 && operand->row < 0))
		return affine_constant(1);
	return stride(call, operand->access,
		      operand->column >= 0 && operand->is_transposed ? operand->column : operand->row);
}

/* The sizes that the call depends on: how many. */
static int sizes_of(const struct call *call, struct affine *sizes)
{
	const struct blas_call *blas = &call->blas;
	const int level = blas_level(blas->kind), n_sizes = level == 1 ? 3 : level + 3;
	int n = 0;

	sizes[n++] = count(call, blas->m);
	if (level >= 2)
		sizes[n++] = count(call, blas->n);
	if (level >= 3)
		sizes[n++] = count(call, blas->k);
	sizes[n++] = step_of(call, &blas->a);
	if (blas->kind == BLAS_GER || level >= 2 || blas->kind == BLAS_DOT)
		sizes[n++] = step_of(call, &blas->b);
	if (blas->kind != BLAS_DOT && blas->kind != BLAS_ASUM)
		sizes[n++] = step_of(call, &blas->target);
	while (n < n_sizes)
		sizes[n++] = affine_constant(1);
	return n_sizes;
}

/* What is tested before the call; NULL: nothing, all is known. */
static struct k_expr *condition(const struct call *call, int64_t least)
{
	struct arena *a = call->e->arena;
	struct affine sizes[6];
	const int n_sizes = sizes_of(call, sizes);
	const char *name = arena_printf(a, "pmg_blas_takes_%d", blas_level(call->blas.kind));
	struct k_expr *takes = K_CALL(a, name, k_int(a, least));
	bool are_known = !least;

	for (int i = 0; i < n_sizes; i++) {
		are_known = are_known && is_known(&sizes[i]);
		vec_push(a, &takes->args, expr_of(call, sizes[i]));
	}
	if (are_known)
		takes = NULL;
	if (blas_alpha_is_known(&call->blas))
		return takes;
	return k_join(a, K_AND, takes, K_CALL(a, "pmg_blas_scales", call->alpha));
}

/* ---- calls ---- */

static struct k_expr *threads_of(const struct call *call)
{
	struct arena *a = call->e->arena;

	return call->nest.is_shared ? k_member(a, k_name(a, "plan"), "threads", true) : k_int(a, 1);
}

static const char *function(const struct call *call, const char *name)
{
	return arena_printf(call->e->arena, "pmg_cblas_%c%s", call->blas.type == TYPE_F32 ? 's' : 'd', name);
}

static struct k_expr *beta_of(const struct call *call)
{
	const struct blas_addend *addend = &call->blas.addend;

	if (!addend->beta)
		return literal(call, "1.0", addend->is_negative);
	if (!addend->is_negative)
		return c_expr(call->e, &call->last, addend->beta);
	return times(call, NULL, true, &call->last, &addend->beta, 1);
}

static struct k_expr *addend_step(const struct call *call, int dim)
{
	return expr_of(call, dim < 0 ? affine_constant(0) : stride(call, call->blas.addend.access, dim));
}

/* The target is set to what is added, for a call that adds to it. */
static void emit_addend(const struct call *call, struct k_expr *rows, struct k_expr *columns, int column,
			struct k_expr *step)
{
	const struct blas_call *blas = &call->blas;

	if (blas->addend.access)
		k_do(call->e->b, K_CALL(call->e->arena, function(call, "put"), rows, columns, beta_of(call),
					start_of(call, &call->last, blas->addend.access), addend_step(call, blas->m),
					addend_step(call, column), start(call, &blas->target), step, threads_of(call)));
}

static struct k_expr *beta_of_target(const struct call *call)
{
	return literal(call, call->blas.sets && !call->blas.addend.access ? "0.0" : "1.0", false);
}

/* What is added to a sum. */
static void emit_sum(const struct call *call, struct k_expr *value)
{
	struct k_expr *sum = accumulator_of(call->e, call->nest.stage);

	if (!sum)
		sum = c_access(call->e, &call->point, &call->nest.stage->write);
	k_update(call->e->b, K_ADD, sum, k_join(call->e->arena, K_MUL, call->alpha, value));
}

/* A letter for each argument, or for a vector or matrix, which is where it begins and how far apart its elements or
 * rows are: x and A, z and B are the first and the second operand, y and C the target; t and u say whether the operands
 * are transposed, m, n and k are counts, r and c those of the rows and columns of A, * is alpha, + is beta. */
static const char *const arguments[BLAS_N] = {
	[BLAS_AXPY] = "m*xy", [BLAS_SCAL] = "m*y", [BLAS_COPY] = "mxy", [BLAS_DOT] = "mxz", [BLAS_ASUM] = "mx",
	[BLAS_GER] = "mn*xzC", [BLAS_GEMV] = "trc*Az+y", [BLAS_GEMM] = "tumnk*AB+C", [BLAS_SYRK] = "tmk*AC"
};

static const struct blas_operand *operand_of(const struct blas_call *blas, char letter)
{
	return strchr("xA", letter) ? &blas->a : strchr("zB", letter) ? &blas->b : &blas->target;
}

static struct k_expr *argument(const struct call *call, char letter)
{
	const struct blas_call *blas = &call->blas;

	switch (letter) {
	case 't': return trans(call, &blas->a);
	case 'u': return trans(call, &blas->b);
	case 'm': return count_of(call, blas->m);
	case 'n': return count_of(call, blas->n);
	case 'k': return count_of(call, blas->k);
	case 'r': return count_of(call, blas->a.is_transposed ? blas->n : blas->m);
	case 'c': return count_of(call, blas->a.is_transposed ? blas->m : blas->n);
	case '*': return alpha_or_one(call);
	case '+': return beta_of_target(call);
	}
	return start(call, operand_of(blas, letter));
}

static struct k_expr *blas_call_expr(const struct call *call)
{
	struct arena *arena = call->e->arena;
	struct k_expr *expr = k_call(arena, function(call, blas_name(call->blas.kind)), 0);

	for (const char *letter = arguments[call->blas.kind]; *letter; letter++) {
		const struct blas_operand *operand = operand_of(&call->blas, *letter);

		vec_push(arena, &expr->args, argument(call, *letter));
		if (strchr("xyz", *letter))
			vec_push(arena, &expr->args, increment(call, operand));
		if (strchr("ABC", *letter))
			vec_push(arena, &expr->args, leading(call, operand));
	}
	vec_push(arena, &expr->args, threads_of(call));
	return expr;
}

static void emit_call(const struct call *call)
{
	const struct blas_call *blas = &call->blas;

	if (blas->kind == BLAS_GEMV)
		emit_addend(call, count_of(call, blas->m), k_int(call->e->arena, 1), -1,
			    increment(call, &blas->target));
	if (blas->kind == BLAS_GEMM)
		emit_addend(call, count_of(call, blas->m), count_of(call, blas->n), blas->n,
			    leading(call, &blas->target));
	if (blas->kind == BLAS_DOT || blas->kind == BLAS_ASUM)
		emit_sum(call, blas_call_expr(call));
	else
		k_do(call->e->b, blas_call_expr(call));
	if (!accumulator_of(call->e, call->nest.stage))
		note_write(call->e, blas->target.access->array);
}

/* ---- the mark ---- */

static bool find_call(struct call *call, __isl_keep isl_ast_node *node, const struct mark *mark)
{
	bool found = find_nest(call, node, NULL) && call->nest.stage == mark->stage &&
		     blas_match(call->e->module, &call->nest, &call->blas);

	return found && !(call->e->function.guards_starts &&
			  call->e->layout->is_of_start[call->blas.target.access->array->number]);
}

/* The loops stand behind `else`, or there is the call alone. */
static void emit_call_or_loops(struct call *call, __isl_keep isl_ast_node *node, const struct mark *mark,
				struct scope scope)
{
	struct emit *e = call->e;
	struct k_expr *test;
	int names;

	call->alpha = alpha_of(call);
	test = condition(call, mark->least_work);
	if (!test) {
		emit_call(call);
		scope_leave(e, scope);
		return;
	}
	names = block_of(e, k_begin_if(e->b, test));
	emit_call(call);
	scope_leave(e, scope);
	block_otherwise(e, names);
	emit_node(e, node, (struct loop_use) { 0 });
	block_close(e, names);
}

void emit_blas(struct emit *e, __isl_keep isl_ast_node *node, const struct mark *mark)
{
	struct call call = { .e = e };
	struct scope scope = scope_enter(e);

	const bool is_call = find_call(&call, node, mark);

	e->b->span = mark->stage->span;
	note_followed(e, DECISION_BLAS_IDIOMS, NULL, mark->stage->span, is_call);
	if (is_call) {
		emit_call_or_loops(&call, node, mark, scope);
	} else {
		scope_leave(e, scope);
		emit_node(e, node, (struct loop_use) { 0 });
	}
}
