/* SPDX-License-Identifier: MIT
 *
 * Statements for all lanes of a block. `lane` is the variable of the loop over them, and the subscript that stands last
 * in copies, in what is left of folded arrays, and in variables that live across such loops.
 *
 * Where all statements of the block are sums, products and quotients of one float type, such a loop goes from vector to
 * vector of the processor (runtime/pmgrt_row.h), `lane` being the first lane of each. It is unrolled, so that variables
 * of lanes are vectors, which stay in registers, and rows can be carried on in them (kernel/lower/forward.c). Else it
 * is left to the C compiler to make vectors of it. */
#include "codegen/codegen_private.h"

enum { WIDEST_VECTOR = 64 };            /* bytes; narrower ones divide it */

struct k_expr *lanes_expr(const struct emit *e)
{
	return k_int(e->arena, e->block.mark->lanes);
}

/* ---- is it vectors ---- */

static bool is_of_lanes(const struct emit *e, const struct array *array)
{
	return array_is_local(array) || block_array(e, array)->stored.lanes > 0;
}

/* A pivot is in a variable of each lane. */
static bool expr_is_of_lanes(const struct emit *e, const struct expr *expr)
{
	bool is = expr_is_pivot(expr) || (expr->kind == EXPR_READ && is_of_lanes(e, expr->access.array));

	for (int i = 0; i < expr_n_args(expr) && !is; i++)
		is = expr_is_of_lanes(e, expr->args[i]);
	return is;
}

static bool is_vector_op(const struct expr *expr)
{
	return expr->kind == EXPR_OP && (expr->op == OP_ADD || expr->op == OP_SUB || expr->op == OP_MUL ||
					 expr->op == OP_DIV || expr->op == OP_NEG);
}

static bool is_vector_value(const struct emit *e, const struct expr *expr, enum scalar_type type)
{
	bool is = expr->type == type;

	if (expr_is_pivot(expr))
		return is_vector_value(e, expr->args[0], type);
	if (!expr_is_of_lanes(e, expr))
		return is && !expr_uses_dim(expr, mark_dim_number(e->block.mark));
	if (expr->kind == EXPR_READ)
		return is && expr->access.array->storage == STORAGE_F64;
	is = is && is_vector_op(expr);
	for (int i = 0; i < expr_n_args(expr) && is; i++)
		is = is_vector_value(e, expr->args[i], type);
	return is;
}

struct look {
	const struct emit *e;
	enum scalar_type type;
	bool is_vector;
};

static void look_at_stage(struct stage *stage, void *user)
{
	struct look *look = user;

	look->type = look->type == TYPE_N ? stage->write.array->type : look->type;
	look->is_vector = look->is_vector && stage->write.array->type == look->type &&
			  (stage->op == REDUCE_SET || stage->op == REDUCE_ADD || stage->op == REDUCE_MUL) &&
			  is_vector_value(look->e, stage->value, look->type);
}

void lanes_begin(struct emit *e, __isl_keep isl_ast_node *body)
{
	struct look look = { e, TYPE_N, true };

	ast_each_stage(body, look_at_stage, &look);
	e->block.has_vectors = look.is_vector && look.type != TYPE_N && type_is_float(look.type) &&
			       e->block.mark->lanes*type_size(look.type) % WIDEST_VECTOR == 0;
	e->block.type = look.type;
	e->block.body = body;
}

void lanes_end(struct emit *e)
{
	e->block.mark = NULL;
	e->block.body = NULL;
	e->variable_length = NULL;
	e->block.has_vectors = false;
	e->windows.rows.n = 0;
	e->windows.results.n = 0;
	e->windows.prefetches.n = 0;
	e->windows.found.n = 0;
}

/* ---- names and values ---- */

void lane_declare_at(struct emit *e, const char *emitter, enum scalar_type type, const char *name, bool is_zero)
{
	const struct k_type of = k_scalar(type_c_name(type));
	const struct k_type vector = k_scalar(typed_function(e, "pmg_vector", type));
	struct k_expr *zero = K_LIST(e->arena, k_int(e->arena, 0));

	if (e->block.has_vectors)
		k_array_at(e->b, emitter, vector, name,
			   K_CALL(e->arena, "PMG_VECTORS", k_type_arg(e->arena, of), lanes_expr(e)),
			   is_zero ? K_LIST(e->arena, zero) : NULL);
	else
		k_array_at(e->b, emitter, of, name, lanes_expr(e), is_zero ? zero : NULL);
}

const char *lane_type(const struct emit *e, enum scalar_type type)
{
	if (e->block.has_vectors && e->block.in_lanes)
		return typed_function(e, "pmg_vector", type);
	return type_c_name(type);
}

/* PMG_LANES(double): how many lanes a vector has. */
static struct k_expr *lanes_of_vector(const struct emit *e)
{
	return K_CALL(e->arena, "PMG_LANES", k_type_arg(e->arena, k_scalar(type_c_name(e->block.type))));
}

struct k_expr *lane_of(const struct emit *e, const char *name)
{
	struct k_expr *lane = k_name(e->arena, e->block.lane);

	if (e->block.has_vectors)
		lane = k_binary(e->arena, K_DIV, lane, lanes_of_vector(e));
	return k_at(e->arena, name, lane);
}

const char *vector_macro(const struct emit *e, const char *macro, enum scalar_type type)
{
	return arena_printf(e->arena, "%s_%s", macro, row_suffix(type));
}

static struct k_expr *vector_call(struct emit *e, const char *macro, enum scalar_type type, struct k_expr *element)
{
	return K_CALL(e->arena, vector_macro(e, macro, type), element);
}

static bool is_vector_cell(const struct emit *e, const struct array *array)
{
	return e->block.has_vectors && e->block.in_lanes && !array_is_local(array) &&
	       is_of_lanes(e, array);
}

struct k_expr *lane_read(struct emit *e, const struct access *access, struct k_expr *element)
{
	if (!is_vector_cell(e, access->array))
		return NULL;
	variable_length_note_cell(e, element);
	return vector_call(e, "PMG_READ", access->array->type, element);
}

struct k_expr *lane_write(struct emit *e, const struct access *access, struct k_expr *element)
{
	if (!is_vector_cell(e, access->array))
		return element;
	variable_length_note_cell(e, element);
	return vector_call(e, "PMG_WRITE", access->array->type, element);
}

struct k_expr *lane_before(struct emit *e, const struct access *access, struct k_expr *element)
{
	return is_vector_cell(e, access->array) ? vector_call(e, "PMG_READ", access->array->type, element) : NULL;
}

void lane_note_interim(struct emit *e, const struct array *array)
{
	const struct array *copy = block_array(e, array);
	const struct k_block *block = e->b->open.items[e->b->open.n - 1];
	struct k_stmt *last = block->stmts.n ? block->stmts.items[block->stmts.n - 1] : NULL;

	if (e->block.in_lanes && copy != array && copy->owner != array && last && last->kind == KS_STORE)
		last->store.is_interim = is_blocked_by_caller(e, copy);
}

bool lane_is_reciprocal(const struct emit *e, const struct expr *quotient)
{
	return e->block.has_vectors && e->block.in_lanes && expr_is_pivot(quotient->args[1]) &&
	       quotient->args[0]->kind == EXPR_FLOAT && quotient->args[0]->real == 1;
}

struct k_expr *lane_value(struct emit *e, const struct expr *value, struct k_expr *built)
{
	return expr_is_of_lanes(e, value) ? built : lane_fill(e, value->type, built);
}

struct k_expr *lane_fill(struct emit *e, enum scalar_type type, struct k_expr *value)
{
	if (!e->block.has_vectors || !e->block.in_lanes)
		return value;
	return vector_call(e, "PMG_FILL", type, value);
}

/* ---- loops ---- */

static isl_bool look_at_node(__isl_keep isl_ast_node *node, void *user)
{
	enum isl_ast_node_type type = isl_ast_node_get_type(node);
	bool *is_straight = user;
	const struct mark *mark = ast_mark(node);

	if (type == isl_ast_node_for || type == isl_ast_node_if)
		*is_straight = false;
	if (mark)
		*is_straight = *is_straight && (mark->kind == MARK_GROUP || mark->kind == MARK_STORAGE);
	return *is_straight ? isl_bool_true : isl_bool_false;
}

bool lanes_are_wanted(const struct emit *e, __isl_keep isl_ast_node *node)
{
	bool is_straight = true;

	if (!e->block.mark || e->block.in_lanes)
		return false;
	isl_ast_node_foreach_descendant_top_down(node, look_at_node, &is_straight);
	return is_straight;
}

int lanes_open(struct emit *e)
{
	struct k_expr *step = e->block.has_vectors ? lanes_of_vector(e) : NULL;
	struct k_stmt *stmt = k_begin_for(e->b, "int64_t", e->block.lane, k_int(e->arena, 0), lanes_expr(e), step);

	stmt->loop.kind = e->block.has_vectors ? K_LOOP_UNROLLED : K_LOOP_SIMD;
	e->block.in_lanes = true;
	return block_of(e, stmt);
}

void lanes_close(struct emit *e, int names)
{
	block_close(e, names);
	e->block.in_lanes = false;
}

/* What a loop over the lanes would have in it. */
static struct k_block lanes_body(struct emit *e, __isl_keep isl_ast_node *node)
{
	struct k_block body;
	int n_locals = e->locals.n;

	e->block.in_lanes = true;
	body = build_elsewhere(e, node);
	e->block.in_lanes = false;
	e->locals.n = n_locals;
	return body;
}

/* The variable of the loop itself is there where it is read. */
static void emit_loop(struct emit *e, __isl_keep isl_ast_node *node, const struct k_block *body)
{
	int names = lanes_open(e);

	if (k_mentions(body, e->block.variable))
		k_const(e->b, k_scalar("int64_t"), e->block.variable,
			k_binary(e->arena, K_ADD, k_name(e->arena, e->block.first), k_name(e->arena, e->block.lane)));
	emit_node(e, node, (struct loop_use) { 0 });
	lanes_close(e, names);
}

static void count_stage(struct stage *stage, void *n)
{
	(void) stage;
	(*(int *) n)++;
}

/* The bits of the lanes in which a statement runs; NULL: in all, or as other conditions say. */
static struct k_expr *lanes_of_statement(const struct emit *e, __isl_keep isl_ast_node *node)
{
	int n = 0;

	ast_each_stage(node, count_stage, &n);
	return n == 1 && e->variable_length ? e->variable_length->only : NULL;
}

/* What few rows have a lane for, as that of a root, is left out in others. */
static void emit_for_lanes(struct emit *e, __isl_keep isl_ast_node *node, const struct k_block *body)
{
	struct k_expr *bits = lanes_of_statement(e, node);
	int names = bits ? block_of(e, k_begin_if(e->b, bits)) : 0;

	emit_loop(e, node, body);
	if (bits)
		block_close(e, names);
}

static void look_for_variable(struct access *access, void *has_any)
{
	*(bool *) has_any |= array_is_local(access->array);
}

static void look_for_variables(struct stage *stage, void *has_any)
{
	look_for_variable(&stage->write, has_any);
	stage_reads(stage, look_for_variable, has_any);
}

/* Statements whose lanes are at rows of their own, as the last ones of segments, run lane by lane where no lane has
 * anything in registers; else no statement of the block runs in vectors. */
static bool emit_by_lane(struct emit *e, __isl_keep isl_ast_node *node, const struct k_block *body, bool had_others)
{
	bool has_variables = false;

	if (!e->block.has_vectors || !e->variable_length || !e->variable_length->is_by_lane)
		return false;
	ast_each_stage(node, look_for_variables, &has_variables);
	if (has_variables || e->accumulators.n || e->variable_length->n_loops || e->variable_length->above.n) {
		e->variable_length->has_others = true;
		return false;
	}
	e->variable_length->has_others = had_others;
	e->block.has_vectors = false;
	emit_loop(e, node, body);
	e->block.has_vectors = true;
	return true;
}

void emit_lanes(struct emit *e, __isl_keep isl_ast_node *node)
{
	bool had_others = e->variable_length && e->variable_length->has_others;
	struct k_block body;

	rows_enter(e, node);
	parents_look(e);
	variable_length_look(e, true);
	body = lanes_body(e, node);
	variable_length_look(e, false);
	parents_declare(e);
	if (!emit_by_lane(e, node, &body, had_others))
		emit_for_lanes(e, node, &body);
	parents_end(e);
}
