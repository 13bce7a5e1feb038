/* SPDX-License-Identifier: MIT
 *
 * What a loop over rows reads of the row before. In loops over the vectors of a row, a read is from there if its index
 * says so: x[i - 1] always, and x[parent] if the parent is i - 1. Then the loop over the vectors stands twice, for a
 * variable that is the row before, and for others. */
#include <string.h>

#include "kernel/lower/forward_private.h"

/* A variable that may be the row before: it stands in an index where that of the row has the variable of the loop. */
struct possible {
	struct k_expr *value;           /* NULL: there is none */
	struct affine before;           /* the row before */
};

/* What is copied: a loop over vectors. */
struct copying {
	struct forward *forward;
	const struct k_loop *lanes;
	const struct possible *known;   /* it is the row before, in this copy; NULL */
};

/* ---- the row before ---- */

struct k_expr *cell_index(const struct k_expr *expr, const char *buffer)
{
	const bool is_element = expr->kind == KE_LOAD && expr->args.items[0]->kind == KE_NAME;

	return is_element && strcmp(expr->args.items[0]->text, buffer) == 0 ? expr->args.items[1] : NULL;
}

bool is_over_vectors(const struct k_stmt *stmt)
{
	return stmt->kind == KS_LOOP && stmt->loop.kind == K_LOOP_UNROLLED && stmt->loop.step &&
	       stmt->loop.step->kind == KE_CALL && strcmp(stmt->loop.step->text, "PMG_LANES") == 0;
}

bool is_over_row(const struct k_loop *row, const struct k_stmt *stmt)
{
	return is_over_vectors(stmt) && (!row || (k_expr_is_equal(stmt->loop.bound, row->bound) &&
						  k_expr_is_equal(stmt->loop.step, row->step)));
}

struct k_expr *vector_of(const struct forward *forward, const struct k_loop *lanes, const char *name)
{
	struct arena *a = forward->arena;

	return k_at(a, name, k_binary(a, K_DIV, k_name(a, lanes->name), lanes->step));
}

static struct affine iteration_before(const struct forward *forward, int distance)
{
	const struct k_loop *loop = &forward->loop->loop;
	const struct affine variable = affine_name(forward->arena, loop->name);

	return affine_scale(forward->arena, &variable, 1, loop->is_down ? distance : -distance);
}

struct affine row_before(const struct forward *forward, const struct carried *carried, int distance)
{
	const struct affine iteration = iteration_before(forward, distance);

	return affine_combine(forward->arena, 1, &carried->row, carried->step, &iteration);
}

static struct affine cell_before(const struct copying *copying, const struct carried *carried, int distance)
{
	const struct affine row = row_before(copying->forward, carried, distance);
	const struct affine lane = affine_name(copying->forward->arena, copying->lanes->name);

	return affine_combine(copying->forward->arena, 1, &row, 1, &lane);
}

/* Without bounds that keep it among the rows that there are. */
static struct affine unbounded(struct arena *arena, const struct affine *index)
{
	struct affine result = *index;

	for (int i = 0; i < index->terms.n; i++) {
		const struct k_expr *atom = index->terms.items[i].atom;
		struct affine value;

		if (atom->kind != KE_CALL || (strcmp(atom->text, "pmg_max_i64") != 0 &&
					      strcmp(atom->text, "pmg_min_i64") != 0))
			continue;
		value = affine_of(arena, atom->args.items[0]);
		value = unbounded(arena, &value);
		result = affine_with(arena, &result, atom, &value);
	}
	return result;
}

/* Where there is no row before the first one, nothing uses what is read in its place. */
static bool is_before(const struct copying *copying, const struct carried *carried, const struct affine *index)
{
	struct arena *arena = copying->forward->arena;
	const struct affine before = cell_before(copying, carried, 1), anywhere = unbounded(arena, index);

	return affine_is_equal(arena, carried->first ? index : &anywhere, &before);
}

/* ---- reads ---- */

/* The buffer of a row that is read as a vector, and the index; NULL: it is none that is carried. */
static struct carried *read_row(const struct copying *copying, const struct k_expr *expr, struct affine *index)
{
	struct forward *forward = copying->forward;

	for (int i = 0; i < forward->carried.n && expr->kind == KE_CALL && expr->args.n == 1; i++) {
		struct carried *carried = &forward->carried.items[i];
		struct k_expr *at = cell_index(expr->args.items[0], carried->buffer);

		if (!at || strncmp(expr->text, "PMG_READ_", 9) != 0 || strcmp(expr->text + 9, carried->suffix) != 0)
			continue;
		*index = affine_of(forward->arena, at);
		if (copying->known)
			*index = affine_with(forward->arena, index, copying->known->value, &copying->known->before);
		return carried;
	}
	return NULL;
}

static bool has_term(const struct affine *sum, const struct k_expr *atom)
{
	for (int i = 0; i < sum->terms.n; i++)
		if (k_expr_is_equal(sum->terms.items[i].atom, atom))
			return true;
	return false;
}

/* An element of another row, where its index is known. */
static struct k_expr *at_known(const struct copying *copying, const struct k_expr *expr)
{
	struct arena *arena = copying->forward->arena;
	struct affine index;

	if (expr->kind != KE_LOAD || !copying->known)
		return NULL;
	index = affine_of(arena, expr->args.items[1]);
	if (!has_term(&index, copying->known->value))
		return NULL;
	index = affine_with(arena, &index, copying->known->value, &copying->known->before);
	return k_load(arena, k_copy_expr(arena, expr->args.items[0], &(struct k_replacing) { 0 }),
		      affine_expr(arena, &index));
}

static struct k_expr *read_forwarded(const struct k_expr *expr, void *user)
{
	const struct copying *copying = user;
	struct affine index;
	struct carried *carried = read_row(copying, expr, &index);

	if (!carried || !is_before(copying, carried, &index))
		return at_known(copying, expr);
	carried->is_read = true;
	return vector_of(copying->forward, copying->lanes, carried->last);
}

/* ---- writes ---- */

static struct carried *written_row(const struct forward *forward, const struct k_expr *target)
{
	for (int i = 0; i < forward->carried.n && target->kind == KE_CALL && target->args.n == 1; i++)
		if (cell_index(target->args.items[0], forward->carried.items[i].buffer))
			return &forward->carried.items[i];
	return NULL;
}

/* Is it what the cell was before, of lanes that are left alone? */
static bool keeps(const struct k_store *store)
{
	const struct k_expr *value = store->value, *cell = store->targets.items[store->targets.n - 1]->args.items[0];
	const struct k_expr *other = value->kind == KE_CALL && strncmp(value->text, "PMG_CHOOSE_", 11) == 0
				     ? value->args.items[2] : NULL;

	return other && other->kind == KE_CALL && other->args.n == 1 && k_expr_is_equal(other->args.items[0], cell);
}

/* now = PMG_WRITE_F64(x[…]) = value; of a row that holds nothing yet, lanes that are left alone keep what `now` has. */
static bool write_forwarded(const struct k_stmt *stmt, void *user)
{
	const struct copying *copying = user;
	struct k_store *store = &((struct k_stmt *) stmt)->store;
	struct carried *carried = NULL;
	struct k_expr *now, *cell;

	if (stmt->kind == KS_STORE)
		carried = written_row(copying->forward, store->targets.items[0]);
	if (!carried)
		return true;
	now = vector_of(copying->forward, copying->lanes, carried->now);
	cell = store->targets.items[0];
	if (carried->begins_empty && keeps(store)) {
		store->value->args.items[2] = now;
		carried->is_partial = true;
	}
	carried->is_partial = carried->is_partial || copying->forward->n_around > 0;
	store->targets.items[0] = now;
	vec_push(copying->forward->arena, &store->targets, cell);
	return true;
}

/* ---- loops over vectors ---- */

struct finding {
	const struct copying *copying;
	struct possible found;
};

static struct k_expr *only_name(struct k_expr *atom)
{
	return atom->kind == KE_NAME ? atom : NULL;
}

/* The variable that stands in an index where that of the row has the variable of the loop; NULL. */
static struct k_expr *instead(const struct copying *copying, const struct carried *carried, const struct affine *index)
{
	const struct affine row = cell_before(copying, carried, 0);
	const struct affine difference = affine_combine(copying->forward->arena, 1, index, -1, &row);
	const struct term *terms = difference.terms.items;
	const char *variable = copying->forward->loop->loop.name;

	if (difference.terms.n != 2 || difference.constant != 0 || terms[0].factor != -terms[1].factor)
		return NULL;
	if (term_is_name(&terms[0], variable))
		return only_name(terms[1].atom);
	return term_is_name(&terms[1], variable) ? only_name(terms[0].atom) : NULL;
}

static bool find_possible(const struct k_expr *expr, void *user)
{
	struct finding *finding = user;
	struct affine index;
	const struct carried *carried = read_row(finding->copying, expr, &index);

	if (carried && !finding->found.value && !is_before(finding->copying, carried, &index))
		finding->found.value = instead(finding->copying, carried, &index);
	return true;
}

static struct k_stmt *copy_forwarded(const struct copying *copying, const struct k_stmt *stmt)
{
	struct k_stmt *copy = k_copy_stmt(copying->forward->arena, stmt,
					  &(struct k_replacing) { .expr = read_forwarded, .user = (void *) copying });

	k_walk_stmt(copy, &(struct k_visitor) { .stmt = write_forwarded, .user = (void *) copying });
	return copy;
}

static void add_vectors(struct forward *forward, const struct k_stmt *stmt, struct k_block *out)
{
	struct k_builder b = k_builder_new(forward->arena, out);
	const struct copying plain = { forward, &stmt->loop, NULL };
	struct finding finding = { &plain, { NULL, iteration_before(forward, 1) } };
	const struct copying known = { forward, &stmt->loop, &finding.found };
	struct affine value;

	k_walk_stmt(stmt, &(struct k_visitor) { .expr = find_possible, .user = &finding });
	if (!finding.found.value) {
		k_add_as_it_is(&b, copy_forwarded(&plain, stmt));
		return;
	}
	b.span = stmt->span;
	value = affine_term(forward->arena, finding.found.value);
	k_begin_if(&b, affine_comparison(forward->arena, &value, K_EQ, &finding.found.before));
	k_add_as_it_is(&b, copy_forwarded(&known, stmt));
	k_begin_else(&b);
	k_add_as_it_is(&b, copy_forwarded(&plain, stmt));
	k_end(&b);
}

static void add_other(struct forward *forward, const struct k_stmt *stmt, struct k_block *out)
{
	struct k_stmt *copy = arena_new(forward->arena, struct k_stmt);
	const bool is_around = stmt->kind == KS_IF || stmt->kind == KS_LOOP || stmt->kind == KS_WHILE;

	*copy = *stmt;
	forward->n_around += is_around;
	if (stmt->kind != KS_RECORD && k_body(copy))
		*k_body(copy) = forwarded(forward, k_body(copy));
	if (stmt->kind == KS_IF)
		copy->branch.otherwise = forwarded(forward, &stmt->branch.otherwise);
	forward->n_around -= is_around;
	vec_push(forward->arena, &out->stmts, copy);
}

struct k_block forwarded(struct forward *forward, const struct k_block *block)
{
	struct k_block out = { 0 };

	for (int i = 0; i < block->stmts.n; i++)
		if (is_over_row(forward->lanes, block->stmts.items[i]))
			add_vectors(forward, block->stmts.items[i], &out);
		else
			add_other(forward, block->stmts.items[i], &out);
	return out;
}
