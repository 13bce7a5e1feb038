/* SPDX-License-Identifier: MIT
 *
 * Expressions: building, comparing, walking and copying trees, and what counts as affine.
 *
 * Trees may share nodes; nobody changes a node in place. A LOCAL array has no subscripts. The type of an operator
 * follows from its operands, so that a dump need not say it (op_result_type). */
#include "ir/module.h"

#include <string.h>

static struct expr *expr_new(struct arena *arena, enum expr_kind kind, enum scalar_type type, struct span span)
{
	struct expr *expr = arena_new(arena, struct expr);

	expr->kind = kind;
	expr->type = type;
	expr->span = span;
	return expr;
}

struct expr *expr_int(struct arena *arena, int64_t value, struct span span)
{
	struct expr *expr = expr_new(arena, EXPR_INT, TYPE_I64, span);

	expr->integer = value;
	return expr;
}

struct expr *expr_float(struct arena *arena, double value, enum scalar_type type, struct span span)
{
	struct expr *expr = expr_new(arena, EXPR_FLOAT, type, span);

	expr->real = value;
	return expr;
}

struct expr *expr_dim(struct arena *arena, int dim, struct span span)
{
	struct expr *expr = expr_new(arena, EXPR_DIM, TYPE_I64, span);

	expr->index = dim;
	return expr;
}

struct expr *expr_param(struct arena *arena, const struct module *module, int param, struct span span)
{
	const struct param *of = &module->params.items[param];
	struct expr *expr = expr_new(arena, EXPR_PARAM, of->is_scalar ? of->type : TYPE_I64, span);

	expr->index = param;
	return expr;
}

struct expr *expr_read(struct arena *arena, struct array *array, struct expr **subs, struct span span)
{
	struct expr *expr = expr_new(arena, EXPR_READ, array->type, span);

	expr->access.array = array;
	expr->access.subs = subs;
	expr->access.span = span;
	return expr;
}

struct expr *expr_unary(struct arena *arena, enum expr_op op, enum scalar_type type, struct expr *arg)
{
	struct expr **args = arena_new_array(arena, struct expr *, 1);

	args[0] = arg;
	return expr_call(arena, op, type, args, arg->span);
}

struct expr *expr_binary(struct arena *arena, enum expr_op op, enum scalar_type type, struct expr *a, struct expr *b)
{
	struct expr **args = arena_new_array(arena, struct expr *, 2);

	args[0] = a;
	args[1] = b;
	return expr_call(arena, op, type, args, span_join(a->span, b->span));
}

struct expr *expr_call(struct arena *arena, enum expr_op op, enum scalar_type type, struct expr **args,
		       struct span span)
{
	struct expr *expr = expr_new(arena, EXPR_OP, type, span);

	expr->op = op;
	expr->args = args;
	return expr;
}

struct expr *expr_cast(struct arena *arena, enum scalar_type type, struct expr *arg)
{
	struct expr *expr = expr_new(arena, EXPR_CAST, type, arg->span);

	expr->args = arena_new_array(arena, struct expr *, 1);
	expr->args[0] = arg;
	return expr;
}

struct expr *expr_as(struct arena *arena, enum scalar_type type, struct expr *arg)
{
	return arg->type == type ? arg : expr_cast(arena, type, arg);
}

/* ---- shape of a node ---- */

int op_arity(enum expr_op op)
{
	static const int arities[] = {
#define OP(id, text, c_text, arity, precedence) arity,
#include "ir/core/ops.def"
#undef OP
	};

	return arities[op];
}

bool op_is_comparison(enum expr_op op)
{
	return op == OP_EQ || op == OP_NE || op == OP_LT || op == OP_LE || op == OP_GT || op == OP_GE;
}

static bool op_is_logical(enum expr_op op)
{
	return op == OP_AND || op == OP_OR || op == OP_NOT;
}

enum scalar_type op_result_type(enum expr_op op, struct expr *const *args)
{
	if (op_is_comparison(op) || op_is_logical(op))
		return TYPE_BOOL;
	return args[op == OP_SELECT || op == OP_CHOOSE ? 1 : 0]->type;
}

int expr_n_args(const struct expr *expr)
{
	if (expr->kind == EXPR_OP)
		return op_arity(expr->op);
	return expr->kind == EXPR_CAST ? 1 : 0;
}

bool expr_is_pivot(const struct expr *expr)
{
	return expr->kind == EXPR_OP && expr->op == OP_PIVOT;
}

int expr_n_operands(const struct expr *expr)
{
	return expr_is_pivot(expr) ? 1 : expr_n_args(expr);
}

bool expr_is_choice(const struct expr *expr)
{
	return expr->kind == EXPR_OP && expr->op == OP_CHOOSE;
}

bool expr_has_choice(const struct expr *expr)
{
	bool has = expr_is_choice(expr);

	for (int i = 0; !has && i < expr_n_args(expr); i++)
		has = expr_has_choice(expr->args[i]);
	return has;
}

const struct expr *expr_find_pivot(const struct expr *expr)
{
	const struct expr *pivot = expr_is_pivot(expr) ? expr : NULL;

	for (int i = 0; !pivot && i < expr_n_args(expr); i++)
		pivot = expr_find_pivot(expr->args[i]);
	return pivot;
}

struct expr *expr_without_pivot(struct expr *expr)
{
	return expr_is_pivot(expr) ? expr->args[0] : expr;
}

int access_n_subs(const struct access *access)
{
	return access->array->role == ROLE_LOCAL ? 0 : access->array->rank;
}

/* ---- comparing ---- */

bool access_equal(const struct access *a, const struct access *b)
{
	if (a->array != b->array)
		return false;
	for (int i = 0; i < access_n_subs(a); i++)
		if (!expr_equal(a->subs[i], b->subs[i]))
			return false;
	return true;
}

static bool args_equal(const struct expr *a, const struct expr *b)
{
	for (int i = 0; i < expr_n_args(a); i++)
		if (!expr_equal(a->args[i], b->args[i]))
			return false;
	return true;
}

bool expr_equal(const struct expr *a, const struct expr *b)
{
	if (a == b)
		return true;
	if (a->kind != b->kind || a->type != b->type)
		return false;
	switch (a->kind) {
	case EXPR_INT:
	case EXPR_BOOL:
		return a->integer == b->integer;
	case EXPR_FLOAT:
		return memcmp(&a->real, &b->real, sizeof a->real) == 0;
	case EXPR_PARAM:
	case EXPR_DIM:
		return a->index == b->index;
	case EXPR_READ:
		return access_equal(&a->access, &b->access);
	case EXPR_OP:
		return a->op == b->op && args_equal(a, b);
	case EXPR_CAST:
		return args_equal(a, b);
	case EXPR_N:
		break;
	}
	return false;
}

bool dim_equal(const struct dim *a, const struct dim *b)
{
	if (a->kind != b->kind)
		return false;
	if (a->kind == DIM_RANGE)
		return expr_equal(a->lo, b->lo) && expr_equal(a->hi, b->hi);
	return access_equal(&a->source, &b->source);
}

bool dim_uses_dim(const struct dim *dim, int other)
{
	return dim->kind == DIM_RANGE ? expr_uses_dim(dim->lo, other) || expr_uses_dim(dim->hi, other)
				      : access_uses_dim(&dim->source, other);
}

bool dim_is_fixed(const struct dim *dim)
{
	return dim->kind == DIM_RANGE && expr_last_dim(dim->lo) < 0 && expr_last_dim(dim->hi) < 0;
}

bool dim_has_known_length(const struct module *module, const struct dim *dim, int64_t *length)
{
	int64_t lo, hi;

	if (dim->kind != DIM_RANGE || !expr_is_known(module, dim->lo, &lo) || !expr_is_known(module, dim->hi, &hi))
		return false;
	*length = hi - lo;
	return true;
}

/* ---- constants and affine expressions ---- */

static bool fold(enum expr_op op, int64_t a, int64_t b, int64_t *value)
{
	if (op == OP_ADD)
		return !__builtin_add_overflow(a, b, value);
	if (op == OP_SUB || op == OP_NEG)
		return !__builtin_sub_overflow(a, b, value);
	return op == OP_MUL && !__builtin_mul_overflow(a, b, value);
}

bool expr_is_constant(const struct expr *expr, int64_t *value)
{
	int64_t a = 0, b = 0;

	if (expr->kind == EXPR_INT) {
		*value = expr->integer;
		return true;
	}
	if (expr->kind != EXPR_OP || expr->type != TYPE_I64)
		return false;
	if (expr->op == OP_NEG)
		return expr_is_constant(expr->args[0], &b) && fold(OP_NEG, 0, b, value);
	if (expr->op != OP_ADD && expr->op != OP_SUB && expr->op != OP_MUL)
		return false;
	return expr_is_constant(expr->args[0], &a) && expr_is_constant(expr->args[1], &b) &&
	       fold(expr->op, a, b, value);
}

bool range_is_constant(const struct expr *lo, const struct expr *hi, int64_t *n)
{
	int64_t first, end;

	if (!expr_is_constant(lo, &first) || !expr_is_constant(hi, &end))
		return false;
	*n = end - first;
	return true;
}

bool expr_is_known(const struct module *module, const struct expr *expr, int64_t *value)
{
	if (expr->kind != EXPR_PARAM)
		return expr_is_constant(expr, value);
	*value = module->params.items[expr->index].value;
	return module->params.items[expr->index].is_specialized;
}

bool expr_is_zero(const struct expr *expr)
{
	int64_t value;

	return expr->kind == EXPR_FLOAT ? expr->real == 0 : expr_is_constant(expr, &value) && value == 0;
}

bool expr_is_shifted_dim(const struct expr *expr, int *dim, int64_t *offset)
{
	*offset = 0;
	if (expr->kind == EXPR_OP && (expr->op == OP_ADD || expr->op == OP_SUB)) {
		int constant = expr->op == OP_ADD && expr->args[0]->kind == EXPR_INT ? 0 : 1;

		if (!expr_is_constant(expr->args[constant], offset) ||
		    (expr->op == OP_SUB && !fold(OP_NEG, 0, *offset, offset)))
			return false;
		expr = expr->args[1 - constant];
	}
	*dim = expr->index;
	return expr->kind == EXPR_DIM;
}

static bool op_is_affine(const struct expr *expr)
{
	int64_t value;

	if (expr->op == OP_MUL)
		return expr_is_constant(expr->args[0], &value) || expr_is_constant(expr->args[1], &value);
	if (expr->op == OP_DIV || expr->op == OP_MOD)
		return expr_is_constant(expr->args[1], &value) && value > 0;
	return expr->op == OP_ADD || expr->op == OP_SUB || expr->op == OP_NEG || expr->op == OP_MIN ||
	       expr->op == OP_MAX;
}

static bool args_are_affine(const struct expr *expr)
{
	for (int i = 0; i < expr_n_args(expr); i++)
		if (!expr_is_affine(expr->args[i]))
			return false;
	return true;
}

bool expr_is_affine(const struct expr *expr)
{
	switch (expr->kind) {
	case EXPR_INT:
	case EXPR_DIM:
		return true;
	case EXPR_PARAM:
		return expr->type == TYPE_I64;
	case EXPR_CAST:
		return expr->type == TYPE_I64 && args_are_affine(expr);
	case EXPR_OP:
		return expr->type == TYPE_I64 && op_is_affine(expr) && args_are_affine(expr);
	case EXPR_FLOAT:
	case EXPR_BOOL:
	case EXPR_READ:
	case EXPR_N:
		break;
	}
	return false;
}

bool expr_is_affine_condition(const struct expr *expr)
{
	if (expr->kind == EXPR_BOOL)
		return true;
	if (expr->kind != EXPR_OP)
		return false;
	if (op_is_comparison(expr->op))
		return args_are_affine(expr);
	if (!op_is_logical(expr->op))
		return false;
	for (int i = 0; i < op_arity(expr->op); i++)
		if (!expr_is_affine_condition(expr->args[i]))
			return false;
	return true;
}

/* ---- copying and walking ---- */

static struct expr **substitute_all(struct arena *arena, struct expr **exprs, int n, struct expr *const *dims)
{
	struct expr **copies = n ? arena_new_array(arena, struct expr *, n) : NULL;

	for (int i = 0; i < n; i++)
		copies[i] = expr_substitute(arena, exprs[i], dims);
	return copies;
}

struct expr *expr_substitute(struct arena *arena, struct expr *expr, struct expr *const *dims)
{
	struct expr *copy;

	if (expr->kind == EXPR_DIM && dims[expr->index])
		return dims[expr->index];
	copy = arena_new(arena, struct expr);
	*copy = *expr;
	if (expr->kind == EXPR_READ)
		copy->access = access_substitute(arena, &expr->access, dims);
	copy->args = substitute_all(arena, expr->args, expr_n_args(expr), dims);
	return copy;
}

struct access access_substitute(struct arena *arena, const struct access *access, struct expr *const *dims)
{
	struct access copy = *access;

	copy.subs = substitute_all(arena, access->subs, access_n_subs(access), dims);
	return copy;
}

struct dim dim_substitute(struct arena *arena, const struct dim *dim, struct expr *const *dims)
{
	struct dim copy = *dim;

	if (dim->kind != DIM_RANGE) {
		copy.source = access_substitute(arena, &dim->source, dims);
		return copy;
	}
	copy.lo = expr_substitute(arena, dim->lo, dims);
	copy.hi = expr_substitute(arena, dim->hi, dims);
	return copy;
}

void expr_reads(struct expr *expr, void (*visit)(struct access *access, void *user), void *user)
{
	if (expr->kind == EXPR_READ)
		visit(&expr->access, user);
	for (int i = 0; i < expr_n_args(expr); i++)
		expr_reads(expr->args[i], visit, user);
}

static int later(int a, int b)
{
	return a > b ? a : b;
}

int expr_last_dim(const struct expr *expr)
{
	int last = expr->kind == EXPR_DIM ? expr->index : -1;

	if (expr->kind == EXPR_READ)
		for (int i = 0; i < access_n_subs(&expr->access); i++)
			last = later(last, expr_last_dim(expr->access.subs[i]));
	for (int i = 0; i < expr_n_operands(expr); i++)
		last = later(last, expr_last_dim(expr->args[i]));
	return last;
}

bool expr_uses_dim(const struct expr *expr, int dim)
{
	bool uses = expr->kind == EXPR_DIM && expr->index == dim;

	if (expr->kind == EXPR_READ)
		uses = access_uses_dim(&expr->access, dim);
	for (int i = 0; !uses && i < expr_n_operands(expr); i++)
		uses = expr_uses_dim(expr->args[i], dim);
	return uses;
}

bool access_uses_dim(const struct access *access, int dim)
{
	bool uses = false;

	for (int i = 0; !uses && i < access_n_subs(access); i++)
		uses = expr_uses_dim(access->subs[i], dim);
	return uses;
}

bool array_is_of(const struct array *array, const char *subject)
{
	size_t length = strlen(subject);

	return !strncmp(array->name, subject, length) && (!array->name[length] || array->name[length] == '.');
}

const char *array_member_name(const struct array *array)
{
	const char *dot = strchr(array->name, '.');

	return dot ? dot + 1 : array->name;
}

int array_n_stored(const struct array *array)
{
	int n = 0;

	for (int d = 0; d < array->rank; d++)
		n += !(array->stored.folded >> d & 1U);
	return n;
}

int array_cell_size(const struct array *array)
{
	return array->storage == STORAGE_F64 ? type_size(array->type) : type_size(TYPE_F32);
}

bool array_is_variable(const struct array *array)
{
	return array->role != ROLE_BLOCK && array->stored.folded && array->stored.folded == (1U << array->rank) - 1;
}

bool array_is_local(const struct array *array)
{
	return array->role == ROLE_LOCAL || array_is_variable(array);
}

void stage_reads(struct stage *stage, void (*visit)(struct access *access, void *user), void *user)
{
	expr_reads(stage->value, visit, user);
	for (int i = 0; i < stage->dims.n; i++)
		if (stage->dims.items[i].kind != DIM_RANGE)
			visit(&stage->dims.items[i].source, user);
}

struct search {
	const struct array *array;
	int n_found;
};

static void look_at_read(struct access *access, void *user)
{
	struct search *search = user;

	search->n_found += access->array == search->array;
}

int expr_count_reads(struct expr *expr, const struct array *array)
{
	struct search search = { array, 0 };

	expr_reads(expr, look_at_read, &search);
	return search.n_found;
}

bool expr_reads_array(struct expr *expr, const struct array *array)
{
	return expr_count_reads(expr, array) > 0;
}

int stage_count_reads(struct stage *stage, const struct array *array)
{
	struct search search = { array, 0 };

	stage_reads(stage, look_at_read, &search);
	return search.n_found;
}

static void find_local(struct access *access, void *user)
{
	bool *found = user;

	*found = *found || access->array->role == ROLE_LOCAL;
}

bool stage_reads_local(struct stage *stage)
{
	bool found = false;

	stage_reads(stage, find_local, &found);
	return found;
}

bool stage_reads_array(struct stage *stage, const struct array *array)
{
	return stage_count_reads(stage, array) > 0;
}

int module_count_reads(const struct module *module, const struct array *array)
{
	struct search search = { array, 0 };

	if (module->loop.until)
		expr_reads(module->loop.until, look_at_read, &search);
	for (int i = 0; i < module->stages.n; i++)
		search.n_found += stage_count_reads(module->stages.items[i], array);
	return search.n_found;
}
