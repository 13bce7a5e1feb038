/* SPDX-License-Identifier: MIT
 *
 * A BLAS mark: a call, and the loops below the mark for sizes at which it does not pay or that it cannot take. The call
 * is written from isl's AST: the counts are those of its loops, the operands begin where the first point is. Where isl
 * has made other loops than one for each dim, they are printed and there is no call. */
#include <isl/id.h>
#include <string.h>

#include "codegen/codegen_private.h"
#include "ir/blas.h"

struct call {
	struct emit *e;
	struct blas_nest nest;
	struct blas_call blas;
	struct range ranges[3];         /* of nest.dims */
	struct point point, last;       /* the first ones */
	const char *alpha;              /* NULL: 1 */
};

/* ---- the nest in isl's AST ---- */

static bool find_nest(struct call *call, __isl_keep isl_ast_node *node, const struct mark *loop);

static bool find_below_mark(struct call *call, __isl_keep isl_ast_node *node, const struct mark *loop)
{
	const struct mark *mark = ast_mark(node);
	isl_ast_node *below = isl_ast_node_mark_get_node(node);
	bool found;

	call->nest.is_shared |= mark->kind == MARK_PARALLEL || mark->kind == MARK_TEAM;
	found = find_nest(call, below, mark->kind == MARK_LOOP ? mark : loop);
	isl_ast_node_free(below);
	return found;
}

static bool find_below_for(struct call *call, __isl_keep isl_ast_node *node, const struct mark *loop)
{
	struct blas_nest *nest = &call->nest;
	isl_ast_node *body;
	bool found;

	if (!loop || nest->n_dims == 3)
		return false;
	nest->dims[nest->n_dims] = (int) (loop->dim - loop->stage->dims.items);
	call->ranges[nest->n_dims] = range_of(call->e, node, 1);
	if (call->ranges[nest->n_dims].is_single || call->ranges[nest->n_dims].step != 1)
		return false;
	iterator_push(call->e, node, &call->ranges[nest->n_dims++].first, 1);
	body = isl_ast_node_for_get_body(node);
	found = find_nest(call, body, NULL);
	isl_ast_node_free(body);
	return found;
}

static isl_ast_expr *instance_of(__isl_take isl_ast_node *node)
{
	isl_ast_expr *instance = NULL;

	if (isl_ast_node_get_type(node) == isl_ast_node_user)
		instance = isl_ast_node_user_get_expr(node);
	isl_ast_node_free(node);
	return instance;
}

static bool find_in_block(struct call *call, __isl_keep isl_ast_node *node)
{
	isl_ast_node_list *children = isl_ast_node_block_get_children(node);
	bool found = isl_ast_node_list_n_ast_node(children) == 3 && !call->last.instance;
	isl_ast_node *middle;

	if (found) {
		middle = isl_ast_node_list_get_at(children, 1);
		call->last.instance = instance_of(isl_ast_node_list_get_at(children, 2));
		call->last.stage = call->last.instance ? ast_stage(call->last.instance) : NULL;
		call->nest.last = call->last.stage;
		found = call->last.stage && find_nest(call, middle, NULL);
		isl_ast_node_free(middle);
	}
	isl_ast_node_list_free(children);
	return found;
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
		call->point.instance = instance_of(isl_ast_node_copy(node));
		call->point.stage = call->nest.stage = ast_stage(call->point.instance);
		return !loop;
	case isl_ast_node_if:
	case isl_ast_node_error:
		break;
	}
	return false;
}

/* ---- operands as text ---- */

static struct affine product(struct arena *arena, const struct affine *a, const struct affine *b)
{
	int64_t value;

	if (affine_is_constant(a, &value))
		return affine_scale(arena, b, value, 0);
	if (affine_is_constant(b, &value))
		return affine_scale(arena, a, value, 0);
	return affine_product(arena, affine_expr(arena, a), affine_expr(arena, b));
}

/* How far apart the elements are that differ by one in the dim. */
static struct affine stride(const struct call *call, const struct access *access, int dim)
{
	struct arena *arena = call->e->arena;
	struct affine behind = affine_constant(1), sum = affine_constant(0);

	for (int s = access_n_subs(access) - 1; s >= 0; s--) {
		struct affine lo = affine_of_expr(call->e, NULL, access->array->lo[s]);
		struct affine hi = affine_of_expr(call->e, NULL, access->array->hi[s]);
		struct affine extent = affine_combine(arena, 1, &hi, -1, &lo);
		int64_t coefficient = 0;

		blas_coefficient(access->subs[s], dim, &coefficient);
		sum = affine_combine(arena, 1, &sum, coefficient, &behind);
		behind = product(arena, &behind, &extent);
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

static const char *count_text(const struct call *call, int dim)
{
	struct affine n = count(call, dim);

	return affine_plain(call->e->arena, &n);
}

static const char *increment(const struct call *call, const struct blas_operand *vector)
{
	struct affine step = vector->access ? stride(call, vector->access, vector->row) : affine_constant(1);

	return affine_plain(call->e->arena, &step);
}

static const char *leading(const struct call *call, const struct blas_operand *matrix)
{
	struct affine step = stride(call, matrix->access, matrix->is_transposed ? matrix->column : matrix->row);

	return affine_plain(call->e->arena, &step);
}

/* Where an access begins: `A`, `&D[atom*nTheta]`. */
static const char *start_of(const struct call *call, const struct point *point, const struct access *access)
{
	struct affine index = c_index(call->e, point, access);
	const char *name = access->array->c_name;
	int64_t value;

	if (affine_is_constant(&index, &value) && value == 0)
		return name;
	return arena_printf(call->e->arena, "&%s[%s]", name, affine_plain(call->e->arena, &index));
}

static const char *start(const struct call *call, const struct blas_operand *operand)
{
	bool is_last = call->nest.last && operand == &call->blas.target;

	return start_of(call, is_last ? &call->last : &call->point, operand->access);
}

static const char *trans(const struct blas_operand *matrix)
{
	return matrix->is_transposed ? "PMG_TRANS" : "PMG_NO_TRANS";
}

/* ---- alpha ---- */

static void add_factors(struct call *call, struct str *text, const struct point *point,
			const struct expr *const *factors, int n)
{
	for (int i = 0; i < n; i++) {
		const char *factor = x_text(call->e, k_at_least(call->e->arena, c_expr(call->e, point, factors[i]),
								K_LEVEL_UNARY));

		if (text->length && *factor == '-')
			factor = arena_printf(call->e->arena, "(%s)", factor);
		str_add(text, "%s%s", text->length && str_text(text)[text->length - 1] != '-' ? "*" : "", factor);
	}
}

/* Of more than one name, or read from memory: a variable of its own. */
static const char *alpha_text(struct call *call)
{
	struct str text = str_new(call->e->arena);
	const char *alpha;

	if (call->blas.is_negative)
		str_add(&text, "-");
	add_factors(call, &text, &call->last, call->blas.last_factors.items, call->blas.last_factors.n);
	add_factors(call, &text, &call->point, call->blas.factors.items, call->blas.factors.n);
	if (call->blas.factors.n + call->blas.last_factors.n == 0)
		return call->blas.is_negative ? "-1.0" : NULL;
	if (!strpbrk(str_text(&text), "*([+ "))
		return str_text(&text);
	alpha = names_declare(&call->e->names, "alpha");
	quote(call->e->b, "const %s %s = %s;", type_c_name(call->blas.type), alpha, str_text(&text));
	return alpha;
}

static const char *literal(const struct call *call, const char *value)
{
	bool is_float = call->blas.type == TYPE_F32 && strpbrk(value, ".") && !strpbrk(value, "fF");

	return is_float ? arena_printf(call->e->arena, "%sf", value) : value;
}

static const char *alpha_or_one(const struct call *call)
{
	return literal(call, call->alpha ? call->alpha : "1.0");
}

/* ---- the condition ---- */

static bool is_known(const struct affine *size)
{
	int64_t value;

	return affine_is_constant(size, &value) && value >= 1 && value <= INT32_MAX;
}

static const char *sizes_of(const struct call *call, const struct affine *sizes, int n, bool *are_known)
{
	struct str text = str_new(call->e->arena);

	*are_known = true;
	for (int i = 0; i < n; i++) {
		*are_known = *are_known && is_known(&sizes[i]);
		str_add(&text, "%s%s", i ? ", " : "", affine_plain(call->e->arena, &sizes[i]));
	}
	return str_text(&text);
}

static struct affine step_of(const struct call *call, const struct blas_operand *operand)
{
	if (!operand->access || (operand->column < 0 && operand->row < 0))
		return affine_constant(1);
	return stride(call, operand->access,
		      operand->column >= 0 && operand->is_transposed ? operand->column : operand->row);
}

/* What is asked before the call; NULL: nothing, all is known. */
static const char *condition(const struct call *call, int64_t least)
{
	const struct blas_call *blas = &call->blas;
	int level = blas_level(blas->kind), n_sizes = level == 1 ? 3 : level + 3, n = 0;
	struct affine sizes[6];
	bool are_known, has_alpha = !blas_alpha_is_known(blas);
	const char *text;

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
	text = sizes_of(call, sizes, n_sizes, &are_known);
	text = arena_printf(call->e->arena, "pmg_blas_takes_%d(%s, %s)", level, int_text(call->e->arena, least), text);
	if (has_alpha)
		text = arena_printf(call->e->arena, "%spmg_blas_scales(%s)", are_known && !least ? "" :
				    arena_printf(call->e->arena, "%s && ", text), call->alpha);
	return are_known && !least && !has_alpha ? NULL : text;
}

/* ---- calls ---- */

static const char *threads_of(const struct call *call)
{
	return call->nest.is_shared ? "plan->threads" : "1";
}

static const char *function(const struct call *call, const char *name)
{
	return arena_printf(call->e->arena, "pmg_cblas_%c%s", call->blas.type == TYPE_F32 ? 's' : 'd', name);
}

static const char *name_of(const struct call *call)
{
	return function(call, blas_name(call->blas.kind));
}

static const char *beta_text(struct call *call)
{
	const struct blas_addend *addend = &call->blas.addend;
	struct str text = str_new(call->e->arena);

	if (!addend->beta)
		return literal(call, addend->is_negative ? "-1.0" : "1.0");
	if (!addend->is_negative)
		return x_text(call->e, c_expr(call->e, &call->last, addend->beta));
	str_add(&text, "-");
	add_factors(call, &text, &call->last, &addend->beta, 1);
	return str_text(&text);
}

static const char *addend_step(const struct call *call, int dim)
{
	struct affine step = dim < 0 ? affine_constant(0) : stride(call, call->blas.addend.access, dim);

	return affine_plain(call->e->arena, &step);
}

/* The target is set to what is added, for a call that adds to it. */
static void print_addend(struct call *call, const char *rows, const char *columns, int column, const char *step)
{
	const struct blas_call *blas = &call->blas;

	if (blas->addend.access)
		quote(call->e->b, "%s(%s, %s, %s, %s, %s, %s, %s, %s, %s);", function(call, "put"), rows, columns,
		     beta_text(call), start_of(call, &call->last, blas->addend.access), addend_step(call, blas->m),
		     addend_step(call, column), start(call, &blas->target), step, threads_of(call));
}

static const char *beta_of_target(const struct call *call)
{
	return literal(call, call->blas.sets && !call->blas.addend.access ? "0.0" : "1.0");
}

static void print_vectors(struct call *call)
{
	const struct blas_call *blas = &call->blas;
	const char *n = count_text(call, blas->m), *y = start(call, &blas->target);

	if (blas->kind == BLAS_AXPY)
		quote(call->e->b, "%s(%s, %s, %s, %s, %s, %s, %s);", name_of(call), n, alpha_or_one(call),
		     start(call, &blas->a), increment(call, &blas->a), y, increment(call, &blas->target),
		     threads_of(call));
	else if (blas->kind == BLAS_SCAL)
		quote(call->e->b, "%s(%s, %s, %s, %s, %s);", name_of(call), n, alpha_or_one(call), y,
		     increment(call, &blas->target), threads_of(call));
	else
		quote(call->e->b, "%s(%s, %s, %s, %s, %s, %s);", name_of(call), n, start(call, &blas->a),
		     increment(call, &blas->a), y, increment(call, &blas->target), threads_of(call));
}

/* What is added to a sum. */
static void print_sum(struct call *call)
{
	const struct blas_call *blas = &call->blas;
	struct k_expr *sum = accumulator_of(call->e, call->nest.stage);
	const char *second = "";

	if (blas->kind == BLAS_DOT)
		second = arena_printf(call->e->arena, ", %s, %s", start(call, &blas->b), increment(call, &blas->b));
	quote(call->e->b, "%s += %s%s%s(%s, %s, %s%s, %s);", x_text(call->e, sum ? sum : c_access(call->e, &call->point,
	      &call->nest.stage->write)), call->alpha ? literal(call, call->alpha) : "", call->alpha ? "*" : "",
	     name_of(call), count_text(call, blas->m), start(call, &blas->a), increment(call, &blas->a), second,
	     threads_of(call));
}

static void print_matrix(struct call *call)
{
	const struct blas_call *blas = &call->blas;
	const char *m = count_text(call, blas->m), *n = count_text(call, blas->n);

	if (blas->kind == BLAS_GER) {
		quote(call->e->b, "%s(%s, %s, %s, %s, %s, %s, %s, %s, %s, %s);", name_of(call), m, n,
		     alpha_or_one(call), start(call, &blas->a), increment(call, &blas->a), start(call, &blas->b),
		     increment(call, &blas->b), start(call, &blas->target), leading(call, &blas->target),
		     threads_of(call));
		return;
	}
	print_addend(call, m, "1", -1, increment(call, &blas->target));
	quote(call->e->b, "%s(%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s);", name_of(call), trans(&blas->a),
	     blas->a.is_transposed ? n : m, blas->a.is_transposed ? m : n, alpha_or_one(call), start(call, &blas->a),
	     leading(call, &blas->a), start(call, &blas->b), increment(call, &blas->b),
	     beta_of_target(call), start(call, &blas->target), increment(call, &blas->target),
	     threads_of(call));
}

static void print_symmetric(struct call *call)
{
	const struct blas_call *blas = &call->blas;

	quote(call->e->b, "%s(%s, %s, %s, %s, %s, %s, %s, %s, %s);", name_of(call), trans(&blas->a),
	     count_text(call, blas->m), count_text(call, blas->k), alpha_or_one(call), start(call, &blas->a),
	     leading(call, &blas->a), start(call, &blas->target), leading(call, &blas->target), threads_of(call));
}

static void print_matrices(struct call *call)
{
	const struct blas_call *blas = &call->blas;
	const char *m = count_text(call, blas->m), *n = count_text(call, blas->n);

	print_addend(call, m, n, blas->n, leading(call, &blas->target));
	quote(call->e->b, "%s(%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s);", name_of(call), trans(&blas->a),
	     trans(&blas->b), m, n, count_text(call, blas->k), alpha_or_one(call), start(call, &blas->a),
	     leading(call, &blas->a), start(call, &blas->b), leading(call, &blas->b), beta_of_target(call),
	     start(call, &blas->target), leading(call, &blas->target), threads_of(call));
}

static void print_call(struct call *call)
{
	switch (call->blas.kind) {
	case BLAS_AXPY: case BLAS_SCAL: case BLAS_COPY:
		print_vectors(call);
		break;
	case BLAS_DOT: case BLAS_ASUM:
		print_sum(call);
		break;
	case BLAS_GEMV: case BLAS_GER:
		print_matrix(call);
		break;
	case BLAS_GEMM:
		print_matrices(call);
		break;
	case BLAS_SYRK:
		print_symmetric(call);
		break;
	case BLAS_N:
		break;
	}
	if (!accumulator_of(call->e, call->nest.stage))
		note_write(call->e, call->blas.target.access->array);
}

/* ---- the mark ---- */

static bool find_call(struct call *call, __isl_keep isl_ast_node *node, const struct mark *mark)
{
	bool found = find_nest(call, node, NULL) && call->nest.stage == mark->stage &&
		     blas_match(call->e->module, &call->nest, &call->blas);

	return found && !(call->e->guards_starts &&
			  call->e->layout->is_of_start[call->blas.target.access->array->number]);
}

/* The loops stand behind `else`, or alone where there is no call. */
static void print_call_or_loops(struct call *call, __isl_keep isl_ast_node *node, const struct mark *mark,
				struct scope scope)
{
	struct emit *e = call->e;
	const char *test;
	int names;

	call->alpha = alpha_text(call);
	test = condition(call, mark->least_work);
	if (!test) {
		print_call(call);
		scope_leave(e, scope);
		return;
	}
	names = block_open(e, "if (%s) {", test);
	print_call(call);
	scope_leave(e, scope);
	block_otherwise(e, names);
	emit_node(e, node, (struct loop_use) { 0 });
	block_close(e, names);
}

void emit_blas(struct emit *e, __isl_keep isl_ast_node *node, const struct mark *mark)
{
	struct call call = { .e = e };
	struct scope scope = scope_enter(e);

	e->b->span = mark->stage->span;
	if (find_call(&call, node, mark)) {
		print_call_or_loops(&call, node, mark, scope);
	} else {
		scope_leave(e, scope);
		emit_node(e, node, (struct loop_use) { 0 });
	}
	isl_ast_expr_free(call.point.instance);
	isl_ast_expr_free(call.last.instance);
}
