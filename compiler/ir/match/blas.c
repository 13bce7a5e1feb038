/* SPDX-License-Identifier: MIT
 *
 * Matching a nest of loops with an operation of the BLAS (Lawson et al. 1979; Dongarra et al. 1988, 1990). The value is
 * taken apart into factors; each factor that changes with the loops must be an element of a matrix or vector, and which
 * of the loops move it says what it is. Ranges must be a box, and the target may not be among what is read. */
#include "ir/match/blas.h"

struct match {
	struct module *module;
	const struct blas_nest *nest;
	struct blas_call *call;
	VEC(const struct expr *) moving;        /* factors that the loops change */
};

/* ---- the table ---- */

static const struct blas_row {
	const char *name;
	int level;
	int64_t work;
} blas_rows[] = {
#define BLAS(id, text, level, work) { text, level, work },
#include "ir/match/blas.def"
#undef BLAS
};

const char *blas_name(enum blas_kind kind)
{
	return blas_rows[kind].name;
}

int blas_level(enum blas_kind kind)
{
	return blas_rows[kind].level;
}

int64_t blas_work(enum blas_kind kind)
{
	return blas_rows[kind].work;
}

/* ---- which dims an expression has ---- */

/* A LOCAL array is read at the point of its group: only where the loops are inside of that does it stay the same. */
static bool access_moves(const struct access *access, const struct stage *stage, int dim)
{
	return access_uses_dim(access, dim) || (access->array->role == ROLE_LOCAL && dim < stage->group->n_common);
}

static bool expr_moves(const struct expr *expr, const struct stage *stage, int dim)
{
	bool moves = expr->kind == EXPR_DIM && expr->index == dim;

	if (expr->kind == EXPR_READ)
		return access_moves(&expr->access, stage, dim);
	for (int i = 0; !moves && i < expr_n_args(expr); i++)
		moves = expr_moves(expr->args[i], stage, dim);
	return moves;
}

static bool is_moved(const struct match *match, const struct expr *expr)
{
	bool is = false;

	for (int i = 0; i < match->nest->n_dims && !is; i++)
		is = expr_moves(expr, match->nest->stage, match->nest->dims[i]);
	return is;
}

bool blas_coefficient(const struct expr *sub, int dim, int64_t *coefficient)
{
	int64_t a, b, factor;

	*coefficient = sub->kind == EXPR_DIM && sub->index == dim;
	if (!expr_uses_dim(sub, dim) || *coefficient)
		return true;
	if (sub->kind != EXPR_OP || !blas_coefficient(sub->args[0], dim, &a))
		return false;
	if (sub->op == OP_NEG)
		return *coefficient = -a, true;
	if (sub->op == OP_MUL && expr_is_constant(sub->args[1], &factor))
		return !__builtin_mul_overflow(a, factor, coefficient);
	if (op_arity(sub->op) != 2 || !blas_coefficient(sub->args[1], dim, &b))
		return false;
	if (sub->op == OP_MUL && expr_is_constant(sub->args[0], &factor))
		return !__builtin_mul_overflow(b, factor, coefficient);
	if (sub->op == OP_ADD)
		return !__builtin_add_overflow(a, b, coefficient);
	return sub->op == OP_SUB && !__builtin_sub_overflow(a, b, coefficient);
}

/* ---- operands ---- */

static bool moves(const struct match *match, const struct access *access, int dim)
{
	return access_moves(access, match->nest->stage, dim);
}

/* Does exactly one subscript have the dim, and with coefficient 1? */
static bool has_plain(const struct access *access, int dim, int *at)
{
	int64_t coefficient;

	*at = -1;
	for (int s = 0; s < access_n_subs(access); s++) {
		if (!blas_coefficient(access->subs[s], dim, &coefficient) || (coefficient && *at >= 0) ||
		    (coefficient && coefficient != 1))
			return false;
		if (coefficient)
			*at = s;
	}
	return *at >= 0;
}

static bool matrix(const struct access *access, int row, int column, struct blas_operand *operand)
{
	int at_row, at_column, last = access_n_subs(access) - 1;

	*operand = (struct blas_operand) { access, row, column, false };
	if (!has_plain(access, row, &at_row) || !has_plain(access, column, &at_column) || at_row == at_column)
		return false;
	operand->is_transposed = at_row == last;
	return at_row == last || at_column == last;
}

static bool vector(const struct access *access, int dim, struct blas_operand *operand)
{
	bool ok = true, moves_it = false;

	*operand = (struct blas_operand) { access, dim, -1, false };
	for (int s = 0; ok && s < access_n_subs(access); s++) {
		int64_t coefficient;

		ok = blas_coefficient(access->subs[s], dim, &coefficient) && coefficient >= 0;
		moves_it |= ok && coefficient > 0;
	}
	return ok && moves_it;
}

/* ---- factors ---- */

static void take_apart(struct match *match, const struct expr *expr)
{
	struct arena *arena = match->module->arena;

	if (expr->kind == EXPR_OP && expr->op == OP_MUL) {
		take_apart(match, expr->args[0]);
		take_apart(match, expr->args[1]);
	} else if (expr->kind == EXPR_OP && expr->op == OP_NEG) {
		match->call->is_negative = !match->call->is_negative;
		take_apart(match, expr->args[0]);
	} else if (is_moved(match, expr)) {
		vec_push(arena, &match->moving, expr);
	} else {
		vec_push(arena, &match->call->factors, expr);
	}
}

static bool is_sum(const struct match *match, const struct expr *expr)
{
	return expr->kind == EXPR_READ && expr->access.array == match->nest->stage->write.array;
}

/* alpha * sum, where the factors of alpha are the same for all elements; counts the sums. */
static bool take_last_apart(struct match *match, const struct expr *expr, int *n_sums)
{
	if (expr->kind == EXPR_OP && expr->op == OP_MUL)
		return take_last_apart(match, expr->args[0], n_sums) &&
		       take_last_apart(match, expr->args[1], n_sums);
	if (expr->kind == EXPR_OP && expr->op == OP_NEG) {
		match->call->is_negative = !match->call->is_negative;
		return take_last_apart(match, expr->args[0], n_sums);
	}
	if (is_sum(match, expr)) {
		++*n_sums;
		return true;
	}
	vec_push(match->module->arena, &match->call->last_factors, expr);
	return !is_moved(match, expr);
}

/* beta * D: one element that steps with the loops, and one factor that stays, so that what is multiplied is what the
 * program multiplies. */
static bool take_addend_apart(struct match *match, const struct expr *expr)
{
	struct blas_addend *addend = &match->call->addend;
	bool is_product = expr->kind == EXPR_OP && expr->op == OP_MUL;

	if (expr->kind == EXPR_OP && expr->op == OP_NEG) {
		addend->is_negative = !addend->is_negative;
		return take_addend_apart(match, expr->args[0]);
	}
	if (is_product && !addend->beta) {
		bool is_left = !is_moved(match, expr->args[0]);

		addend->beta = expr->args[!is_left];
		return !is_moved(match, addend->beta) && take_addend_apart(match, expr->args[is_left]);
	}
	addend->access = expr->kind == EXPR_READ ? &expr->access : NULL;
	return addend->access && is_moved(match, expr);
}

/* alpha*sum, or a sum or difference of that and an addend, on either side. */
static bool take_value_apart(struct match *match, const struct expr *value, int *n_sums)
{
	const struct array *sum = match->nest->stage->write.array;
	bool is_second;

	if (value->kind != EXPR_OP || (value->op != OP_ADD && value->op != OP_SUB))
		return take_last_apart(match, value, n_sums);
	is_second = expr_reads_array(value->args[1], sum);
	match->call->is_negative = value->op == OP_SUB && is_second;
	match->call->addend.is_negative = value->op == OP_SUB && !is_second;
	return match->call->sets && take_addend_apart(match, value->args[!is_second]) &&
	       take_last_apart(match, value->args[is_second], n_sums);
}

bool blas_alpha_is_known(const struct blas_call *call)
{
	bool is_known = true;

	for (int i = 0; i < call->factors.n; i++)
		is_known = is_known && call->factors.items[i]->kind == EXPR_FLOAT;
	for (int i = 0; i < call->last_factors.n; i++)
		is_known = is_known && call->last_factors.items[i]->kind == EXPR_FLOAT;
	return is_known;
}

bool blas_alpha_is_zero(const struct blas_call *call)
{
	bool is = false;

	for (int i = 0; i < call->factors.n; i++)
		is = is || expr_is_zero(call->factors.items[i]);
	for (int i = 0; i < call->last_factors.n; i++)
		is = is || expr_is_zero(call->last_factors.items[i]);
	return is;
}

/* ---- conditions on the whole nest ---- */

static bool is_box(const struct blas_nest *nest)
{
	bool is = !nest->stage->guard && !(nest->last && nest->last->guard);

	for (int i = 0; is && i < nest->n_dims; i++) {
		const struct dim *dim = &nest->stage->dims.items[nest->dims[i]];

		is = dim->kind == DIM_RANGE;
		for (int other = 0; is && other < nest->n_dims; other++)
			is = !expr_uses_dim(dim->lo, nest->dims[other]) && !expr_uses_dim(dim->hi, nest->dims[other]);
	}
	return is;
}

static bool has_types(const struct match *match)
{
	enum scalar_type type = match->call->type;
	bool has = type_is_float(type) && match->nest->stage->value->type == type;

	for (int i = 0; i < match->moving.n; i++)
		has = has && match->moving.items[i]->type == type;
	for (int i = 0; i < match->call->factors.n; i++)
		has = has && match->call->factors.items[i]->type == type;
	for (int i = 0; i < match->call->last_factors.n; i++)
		has = has && match->call->last_factors.items[i]->type == type;
	return has && (!match->call->addend.beta || match->call->addend.beta->type == type);
}

/* ---- the operations ---- */

static bool is_read(const struct match *match, int i)
{
	return match->moving.n > i && match->moving.items[i]->kind == EXPR_READ;
}

static const struct access *read_of(const struct match *match, int i)
{
	return &match->moving.items[i]->access;
}

static bool is(struct match *match, enum blas_kind kind)
{
	match->call->kind = kind;
	return true;
}

static bool absolute(struct match *match)
{
	const struct expr *expr = match->moving.items[0];

	return expr->kind == EXPR_OP && expr->op == OP_ABS && expr->args[0]->kind == EXPR_READ &&
	       vector(&expr->args[0]->access, match->call->m, &match->call->a) && is(match, BLAS_ASUM);
}

static bool match_fixed_target(struct match *match)
{
	struct blas_call *call = match->call;

	if (match->nest->stage->op != REDUCE_ADD)
		return false;
	if (match->moving.n == 1)
		return absolute(match);
	return match->moving.n == 2 && is_read(match, 0) && is_read(match, 1) &&
	       vector(read_of(match, 0), call->m, &call->a) && vector(read_of(match, 1), call->m, &call->b) &&
	       is(match, BLAS_DOT);
}

static bool match_vectors(struct match *match)
{
	struct blas_call *call = match->call;
	enum reduce_op op = match->nest->stage->op;

	call->m = match->nest->dims[0];
	if (!moves(match, call->target.access, call->m))
		return match_fixed_target(match);
	if (!vector(call->target.access, call->m, &call->target))
		return false;
	if (op == REDUCE_MUL)
		return match->moving.n == 0 && is(match, BLAS_SCAL);
	if (match->moving.n != 1 || !is_read(match, 0) || !vector(read_of(match, 0), call->m, &call->a))
		return false;
	if (op == REDUCE_SET)
		return call->factors.n == 0 && !call->is_negative && is(match, BLAS_COPY);
	return op == REDUCE_ADD && is(match, BLAS_AXPY);
}

/* Of the two factors the one that `dim` moves and `other` does not; -1. */
static int factor_of(const struct match *match, int dim, int other)
{
	for (int i = 0; i < 2; i++)
		if (moves(match, read_of(match, i), dim) && !moves(match, read_of(match, i), other))
			return i;
	return -1;
}

static bool match_ger(struct match *match)
{
	struct blas_call *call = match->call;
	int d0 = match->nest->dims[0], d1 = match->nest->dims[1], x, y;

	if (call->sets || !matrix(call->target.access, d0, d1, &call->target))
		return false;
	call->m = call->target.is_transposed ? d1 : d0;
	call->n = call->target.is_transposed ? d0 : d1;
	matrix(call->target.access, call->m, call->n, &call->target);
	x = factor_of(match, call->m, call->n);
	y = factor_of(match, call->n, call->m);
	return x >= 0 && y >= 0 && vector(read_of(match, x), call->m, &call->a) &&
	       vector(read_of(match, y), call->n, &call->b) && is(match, BLAS_GER);
}

static bool match_gemv(struct match *match, int i, int l)
{
	struct blas_call *call = match->call;
	int x = factor_of(match, l, i);

	call->m = i;
	call->n = l;
	return x >= 0 && vector(call->target.access, i, &call->target) &&
	       matrix(read_of(match, 1 - x), i, l, &call->a) && vector(read_of(match, x), l, &call->b) &&
	       is(match, BLAS_GEMV);
}

static bool match_matrix(struct match *match)
{
	const struct access *target = match->call->target.access;
	int d0 = match->nest->dims[0], d1 = match->nest->dims[1];
	bool first = moves(match, target, d0), second = moves(match, target, d1);

	if (match->nest->stage->op != REDUCE_ADD || match->moving.n != 2 || !is_read(match, 0) || !is_read(match, 1))
		return false;
	if (first && second)
		return match_ger(match);
	return first != second && match_gemv(match, first ? d0 : d1, first ? d1 : d0);
}

/* Is b what a is with n in place of m, and are their ranges the same? */
static bool is_symmetric(const struct match *match)
{
	const struct blas_call *call = match->call;
	const struct stage *stage = match->nest->stage;
	const struct dim *m = &stage->dims.items[call->m], *n = &stage->dims.items[call->n];
	const struct access *a = call->a.access, *b = call->b.access;
	struct arena *arena = match->module->arena;
	struct expr **dims = arena_new_array(arena, struct expr *, stage->dims.n);
	bool is_same = a->array == b->array && expr_equal(m->lo, n->lo) && expr_equal(m->hi, n->hi);

	dims[call->m] = expr_dim(arena, call->n, m->span);
	for (int s = 0; is_same && s < access_n_subs(a); s++)
		is_same = expr_equal(expr_substitute(arena, a->subs[s], dims), b->subs[s]);
	return is_same;
}

static bool match_gemm(struct match *match, int i, int j, int l)
{
	struct blas_call *call = match->call;
	int a;

	if (!matrix(call->target.access, i, j, &call->target))
		return false;
	call->m = call->target.is_transposed ? j : i;
	call->n = call->target.is_transposed ? i : j;
	call->k = l;
	matrix(call->target.access, call->m, call->n, &call->target);
	a = factor_of(match, call->m, call->n);
	return a >= 0 && factor_of(match, call->n, call->m) == 1 - a &&
	       matrix(read_of(match, a), call->m, l, &call->a) &&
	       matrix(read_of(match, 1 - a), l, call->n, &call->b) &&
	       is(match, call->sets && !call->addend.access && is_symmetric(match) ? BLAS_SYRK : BLAS_GEMM);
}

static bool match_matrices(struct match *match)
{
	const int *dims = match->nest->dims;

	if (match->nest->stage->op != REDUCE_ADD || match->moving.n != 2 || !is_read(match, 0) || !is_read(match, 1))
		return false;
	for (int l = 0; l < 3; l++)
		if (!moves(match, match->call->target.access, dims[l]))
			return match_gemm(match, dims[(l + 1) % 3], dims[(l + 2) % 3], dims[l]);
	return false;
}

/* ---- a nest ---- */

/* Does it step with the loops, and is it what it is before the call? Its own array is read where it is written. */
static bool match_addend(const struct match *match)
{
	const struct access *access = match->call->addend.access, *target = &match->nest->last->write;
	bool is = !access || (access->array->role != ROLE_LOCAL && access->array->type == match->call->type);
	int64_t coefficient;

	for (int s = 0; access && is && s < access_n_subs(access); s++) {
		for (int d = 0; is && d < match->nest->n_dims; d++)
			is = blas_coefficient(access->subs[s], match->nest->dims[d], &coefficient);
		is = is && (access->array != target->array || expr_equal(access->subs[s], target->subs[s]));
	}
	return is;
}

/* What takes the sum to its target: alpha times it, and an addend. */
static bool match_last(struct match *match)
{
	const struct stage *last = match->nest->last;
	const struct blas_addend *addend = &match->call->addend;
	int n_sums = 0;

	match->call->sets = last->op == REDUCE_SET;
	return match->nest->n_dims > 1 && (last->op == REDUCE_SET || last->op == REDUCE_ADD) &&
	       last->value->type == match->call->type && take_value_apart(match, last->value, &n_sums) && n_sums == 1 &&
	       match_addend(match) && expr_count_reads(last->value, last->write.array) ==
	       (addend->access && addend->access->array == last->write.array);
}

bool blas_match(struct module *module, const struct blas_nest *nest, struct blas_call *call)
{
	const struct access *target = nest->last ? &nest->last->write : &nest->stage->write;
	struct match match = { .module = module, .nest = nest, .call = call };

	*call = (struct blas_call) { .type = target->array->type, .nest = *nest, .m = -1, .n = -1, .k = -1 };
	call->target.access = target;
	call->sets = nest->stage->op == REDUCE_SET;
	if (nest->n_dims < 1 || !is_box(nest) || nest->stage->is_commit ||
	    expr_reads_array(nest->stage->value, target->array) || nest->stage->write.array->type != call->type ||
	    (nest->last && !match_last(&match)))
		return false;
	take_apart(&match, nest->stage->value);
	if (!has_types(&match) || blas_alpha_is_zero(call))
		return false;
	if (nest->n_dims == 1)
		return match_vectors(&match);
	return nest->n_dims == 2 ? match_matrix(&match) : match_matrices(&match);
}
