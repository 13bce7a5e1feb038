/* SPDX-License-Identifier: MIT
 *
 * Rows as vectors of runtime/pmgrt_row.h. A loop over cells becomes one over the vectors that hold them, and so do its
 * reads: they lie along it as the cells do. Doubles that may be added up as floats are read as such, and what is the
 * same for all cells is made one. */
#include <string.h>

#include "kernel/lower/rows_private.h"

static const char *variable_of(const struct row *row)
{
	return row->cells->loop.name;
}

/* ---- types ---- */

static const char *element_of(const struct row *row)
{
	return row->cell->type.name;
}

const char *vectors_element(const struct row *row)
{
	return row->cells->loop.row.is_narrow ? "float" : element_of(row);
}

static struct k_expr *type_of_sum(const struct row *row)
{
	return k_type_arg(row->arena, k_scalar(vectors_element(row)));
}

int64_t vectors_cell_size(const struct row *row)
{
	return strcmp(vectors_element(row), "float") == 0 ? 4 : 8;
}

static const char *suffix(const char *element)
{
	return strcmp(element, "float") == 0 ? "F32" : "F64";
}

const char *vectors_macro(const struct row *row, const char *word)
{
	return arena_printf(row->arena, "PMG_%s_%s", word, suffix(vectors_element(row)));
}

/* Of what reads or writes cells: PMG_READ_F64_TO_F32, kept `as` something else. */
static const char *macro_of(const struct row *row, const char *word, const char *as)
{
	return arena_printf(row->arena, "PMG_%s_%s%s%s", word, suffix(element_of(row)), as,
			    row->cells->loop.row.is_narrow ? "_TO_F32" : "");
}

/* ---- what is computed as vectors ---- */

/* One step of the variable is one step in memory. */
static bool lies_along(const struct k_expr *index, const char *variable)
{
	const struct k_expr *a, *b;

	if (index->kind == KE_NAME)
		return strcmp(index->text, variable) == 0;
	if (index->kind != KE_BINARY || (index->op != K_ADD && index->op != K_SUB))
		return false;
	a = index->args.items[0];
	b = index->args.items[1];
	if (!k_expr_mentions(b, variable))
		return lies_along(a, variable);
	return index->op == K_ADD && !k_expr_mentions(a, variable) && lies_along(b, variable);
}

static bool is_read_along(const struct k_expr *expr, const char *variable)
{
	return expr->kind == KE_LOAD && expr->args.items[0]->kind == KE_NAME &&
	       lies_along(expr->args.items[1], variable);
}

/* How the cells are kept that an expression reads one of, and the element; NULL: it reads none. */
static const char *storage_of(const struct k_expr *expr, const struct k_expr **element)
{
	const char *storage = expr->kind == KE_LOAD ? ""
			    : expr->kind == KE_CAST && strcmp(expr->of.name, "double") == 0 ? "_AS_F32"
			    : expr->kind == KE_CALL && strcmp(expr->text, "pmg_f64_of_top") == 0 ? "_AS_TOP" : NULL;

	*element = storage && *storage ? expr->args.items[0] : expr;
	return storage;
}

bool vectors_can_have(const struct row *row, const struct k_expr *expr)
{
	const struct k_expr *element;
	bool is = expr->type.name && strcmp(expr->type.name, element_of(row)) == 0;

	if (!k_expr_mentions(expr, variable_of(row)))
		return true;
	if (storage_of(expr, &element))
		return is && is_read_along(element, variable_of(row));
	is = is && (expr->op == K_NEG || expr->op == K_ADD || expr->op == K_SUB || expr->op == K_MUL ||
		    expr->op == K_DIV) && (expr->kind == KE_UNARY || expr->kind == KE_BINARY);
	for (int i = 0; is && i < expr->args.n; i++)
		is = vectors_can_have(row, expr->args.items[i]);
	return is;
}

bool vectors_are_possible(const struct row *row)
{
	return is_read_along(row->cell, variable_of(row)) && vectors_can_have(row, row_store(row)->value);
}

static struct k_expr *copy_of(const struct row *row, const struct k_expr *expr)
{
	return k_copy_expr(row->arena, expr, &(struct k_replacing) { 0 });
}

bool vectors_read_one(const struct row *row, const struct k_expr *expr)
{
	const struct k_expr *element;

	return k_expr_mentions(expr, variable_of(row)) && storage_of(expr, &element);
}

struct k_expr *vectors_part(const struct row *row, const struct k_expr *expr)
{
	const struct k_expr *element;
	const char *storage;

	if (k_expr_mentions(expr, variable_of(row))) {
		storage = storage_of(expr, &element);
		return storage ? K_CALL(row->arena, macro_of(row, "READ", storage), copy_of(row, element)) : NULL;
	}
	if (row->cells->loop.row.is_narrow && expr->type.name && strcmp(expr->type.name, "double") == 0)
		return k_cast(row->arena, k_scalar("float"), copy_of(row, expr));
	return NULL;
}

static struct k_expr *as_vector(const struct k_expr *expr, void *user)
{
	return vectors_part(user, expr);
}

/* ---- loops over vectors ---- */

/* Numbers are left to the end. */
static struct k_expr *plus(struct arena *arena, struct k_expr *sum, struct k_expr *term, int64_t *number)
{
	if (term->kind != KE_INT)
		return k_operate(arena, sum, K_ADD, term);
	*number += term->integer;
	return sum;
}

/* The number of the first cell of a vector. */
static struct k_expr *start_of(const struct row *row, const char *vector)
{
	struct arena *arena = row->arena;
	int64_t number = 0;
	struct k_expr *start = K_CALL(arena, row->is_shared ? "PMG_SHARE_START" : "PMG_VECTOR_START", type_of_sum(row),
				      k_int(arena, row->length), k_name(arena, vector));

	start = plus(arena, start, row->cells->loop.first, &number);
	if (row->block)
		start = plus(arena, start, row->block, &number);
	if (number == 0)
		return start;
	return number > 0 ? k_binary(arena, K_ADD, start, k_int(arena, number))
			  : k_binary(arena, K_SUB, start, k_int(arena, -number));
}

const char *vectors_open(struct k_builder *b, const struct row *row, const name_list *names, bool needs_cell)
{
	const char *number = lower_name(row->arena, names, NULL, "j");
	struct k_expr *n = K_CALL(row->arena, row->is_shared ? "PMG_SHARES" : "PMG_VECTORS", type_of_sum(row),
				  k_int(row->arena, row->length));

	k_begin_for(b, "int64_t", number, k_int(row->arena, 0), n, NULL)->loop.kind = K_LOOP_UNROLLED;
	if (needs_cell)
		k_const(b, k_scalar("int64_t"), variable_of(row), start_of(row, number));
	return number;
}

/* The same, and returns the present vector. */
static struct k_expr *open_vectors(struct k_builder *b, const struct row *row, const name_list *names, bool needs_cell)
{
	return k_at(row->arena, row->name, k_name(row->arena, vectors_open(b, row, names, needs_cell)));
}

bool vectors_fill_team(const struct row *row)
{
	return !row->team || row->length % (row->team->group*row->team->width) == 0;
}

struct k_expr *vectors_are_own(const struct row *row, const char *number)
{
	return K_CALL(row->arena, "PMG_VECTOR_IS_OWN", k_int(row->arena, row->length), k_name(row->arena, number));
}

struct k_type vectors_type(const struct row *row)
{
	return k_scalar(strcmp(vectors_element(row), "float") == 0 ? "pmg_vector_f32" : "pmg_vector_f64");
}

void vectors_declare(struct k_builder *b, const struct row *row)
{
	k_array(b, vectors_type(row), row->name,
		K_CALL(row->arena, "PMG_VECTORS", type_of_sum(row), k_int(row->arena, row->length)), NULL);
}

void vectors_read(struct k_builder *b, const struct row *row)
{
	struct k_expr *vector = open_vectors(b, row, &row->visible, true);

	k_set(b, vector, K_CALL(row->arena, macro_of(row, "READ", ""), copy_of(row, row->cell)));
	k_end(b);
}

void vectors_begin(struct k_builder *b, const struct row *row)
{
	const char *neutral = row_store(row)->op == K_MUL ? "1.0" : "0.0";
	const char *suffix_of_float = strcmp(vectors_element(row), "float") == 0 ? "f" : "";
	const char *fill = vectors_macro(row, "FILL");
	struct k_expr *vector = open_vectors(b, row, &row->visible, false);

	k_set(b, vector, K_CALL(row->arena, fill, k_float(row->arena, arena_printf(row->arena, "%s%s", neutral,
										 suffix_of_float))));
	k_end(b);
}

void vectors_write(struct k_builder *b, const struct row *row)
{
	const char *number = vectors_open(b, row, &row->visible, true);
	struct k_expr *vector = k_at(row->arena, row->name, k_name(row->arena, number));

	if (!vectors_fill_team(row))
		k_only_if(b, vectors_are_own(row, number));
	k_set(b, K_CALL(row->arena, macro_of(row, "WRITE", ""), copy_of(row, row->cell)),
	      row->cells->loop.row.is_narrow ? K_CALL(row->arena, "PMG_WIDEN", vector) : vector);
	k_end(b);
}

void vectors_update(const struct row *row)
{
	const struct k_store *update = row_store(row);
	struct k_block block = { 0 };
	struct k_builder b = k_builder_new(row->arena, &block);
	struct k_expr *value = k_copy_expr(row->arena, update->value,
					   &(struct k_replacing) { .expr = as_vector, .user = (void *) row });
	struct k_expr *positive = update->op == K_ADD ? k_without_minus(row->arena, value) : NULL, *vector;

	b.span = row->cells->span;
	vector = open_vectors(&b, row, &row->inside, k_expr_mentions(value, variable_of(row)));
	k_update(&b, positive ? K_SUB : update->op, vector, positive ? positive : value);
	k_end(&b);
	*row->cells = *block.stmts.items[0];
}
