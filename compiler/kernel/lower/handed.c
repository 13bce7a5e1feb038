/* SPDX-License-Identifier: MIT
 *
 * Values that lanes hand to groups of their team, in rounds. Shuffles bring them: first to lane n what the n-th one of
 * the lanes that have rows has, then to the group what lane `number` has. By shared memory a lane writes all that it
 * has into a structure, in the place of its rank, which a group reads at once. A factor that has been added up over
 * lanes is kept as the sums have it to which its products are added. */
#include <string.h>

#include "kernel/lower/rounds_private.h"

/* A value, and what is declared of it: in the order of lanes, and in a round. */
struct value {
	const struct k_let *packed;
	struct k_let *taken;
	const struct k_expr *own;       /* that of a lane */
	const char *name;
	struct k_type type;             /* in the structure */
	bool is_factor;
};

typedef VEC(struct value) value_list;

/* ---- finding them ---- */

static const struct k_expr *value_of(const struct k_stmt *stmt)
{
	return stmt->kind == KS_LET ? stmt->let.value : NULL;
}

/* Statement number `i` of a block, where that is a shuffle. */
static bool is_take(const struct k_block *block, int i)
{
	return i < block->stmts.n && is_call_of(value_of(block->stmts.items[i]), "pmg_cuda_take");
}

void rounds_find_values(struct rounds *rounds, const struct k_block *block, int at)
{
	int i = at;

	while (i > 0 && !(block->stmts.items[i]->kind == KS_LET &&
			  strcmp(block->stmts.items[i]->let.name, rounds->lanes) == 0))
		i--;
	rounds->source = i + 1;
	if (i == at || !is_call_of(value_of(block->stmts.items[i + 1]), "pmg_cuda_nth"))
		return;
	while (is_take(block, i + 2 + rounds->n_values) && is_take(rounds->body, 1 + rounds->n_values))
		rounds->n_values++;
}

static bool note_type(const struct k_expr *expr, void *user)
{
	if (is_call_of(expr, "PMG_VECTORS"))
		*(const char **) user = expr->args.items[0]->of.name;
	return true;
}

/* As what cells of rows are added up in a round: "float". */
static const char *type_of_sums(const struct rounds *rounds)
{
	const char *type = "double";

	k_walk_block(rounds->body, &(struct k_visitor) { .expr = note_type, .user = &type });
	return type;
}

/* The sum of a factor over lanes, of which this is the declaration: the factor; NULL: it is something else. */
static const struct k_expr *factor_of(const struct k_block *block, int end, const char *name)
{
	for (int i = 0; i < end; i++)
		if (is_call_of(value_of(block->stmts.items[i]), "pmg_cuda_merge") &&
		    strcmp(block->stmts.items[i]->let.name, name) == 0)
			return value_of(block->stmts.items[i])->args.items[1]->args.items[1];
	return NULL;
}

static value_list values_of(const struct rounds *rounds, const struct k_block *block)
{
	value_list values = { 0 };

	for (int i = 0; i < rounds->n_values; i++) {
		struct value value = { .packed = &block->stmts.items[rounds->source + 1 + i]->let,
				       .taken = &rounds->body->stmts.items[1 + i]->let };
		const struct k_expr *cast = value.packed->value->args.items[0], *factor;

		value.own = cast->args.items[0];
		factor = factor_of(block, rounds->source, value.own->text);
		value.is_factor = factor;
		value.name = factor ? factor->text : value.own->text;
		value.type = factor ? k_scalar(type_of_sums(rounds)) : cast->of;
		vec_push(rounds->arena, &values, value);
	}
	return values;
}

/* ---- in shared memory ---- */

/* Such that one read brings all values of a lane, up to 16 bytes. */
static int alignment_of(const value_list *values)
{
	int bytes = 0;

	for (int i = 0; i < values->n; i++)
		bytes += type_size_of(values->items[i].type.name);
	return bytes <= 4 ? 4 : bytes <= 8 ? 8 : 16;
}

/* The structure of a lane's values. Returns an initialiser with those of this lane. */
static struct k_expr *add_record(struct k_builder *b, const value_list *values, const char *type)
{
	struct k_expr *own = k_list_of(b->arena, NULL, 0);

	k_record(b, type, alignment_of(values));
	for (int i = 0; i < values->n; i++) {
		const struct value *value = &values->items[i];

		k_var(b, value->type, value->name, NULL);
		vec_push(b->arena, &own->args, k_cast(b->arena, value->type, (struct k_expr *) value->own));
	}
	k_end(b);
	return own;
}

static void put(struct k_builder *b, const struct rounds *rounds, const value_list *values, const char *type,
		const char *memory)
{
	struct arena *a = b->arena;
	struct k_expr *own = add_record(b, values, type);
	struct k_expr *place = K_CALL(a, "pmg_cuda_place", k_name(a, rounds->lanes), k_name(a, "pmg_lane"));

	k_do(b, K_CALL(a, "PMG_HANDED", k_name(a, type), k_name(a, memory)));
	k_macro(b, "PMG_TEAM_SYNC");
	k_set(b, k_at(a, memory, place), own);
	k_macro(b, "PMG_TEAM_SYNC");
}

/* In a round, behind its number. */
static void take(struct rounds *rounds, const value_list *values, const char *type, const char *memory)
{
	struct arena *a = rounds->arena;
	struct k_stmt *number = rounds->body->stmts.items[0];
	struct k_expr *place = k_address(a, k_at(a, memory, k_name(a, number->let.name)));
	struct k_block out = { 0 };
	struct k_builder b = k_builder_new(a, &out);
	const char *taken = lower_name(a, &rounds->visible, rounds->stmt, "taken");

	b.span = number->span;
	k_add_as_it_is(&b, number);
	k_const(&b, k_scalar(type), taken, K_CALL(a, "pmg_cuda_handed", place));
	for (int i = 0; i < values->n; i++) {
		const struct value *value = &values->items[i];
		const struct k_type own = value->is_factor ? value->type : k_scalar(value->taken->type.name);

		k_const(&b, own, value->taken->name, k_member(a, k_name(a, taken), value->name, false));
	}
	k_add_from(&b, rounds->body, 1 + values->n);
	*rounds->body = out;
}

static void share(struct k_builder *b, struct rounds *rounds, const struct k_block *block)
{
	const char *type = name_list_new(b->arena, &rounds->visible, rounds->stmt, "handed");
	const char *memory = name_list_new(b->arena, &rounds->visible, rounds->stmt, "values");
	const value_list values = values_of(rounds, block);

	put(b, rounds, &values, type, memory);
	take(rounds, &values, type, memory);
}

/* Lanes have waited for each other behind the structures: they need not for where sums are left. */
static bool is_wait(const struct rounds *rounds, const struct k_stmt *stmt)
{
	return rounds->shared && stmt->kind == KS_CALL && is_name_of(stmt->value, "PMG_TEAM_SYNC");
}

void rounds_hand_over(struct k_builder *b, struct rounds *rounds, const struct k_block *block, int at,
		      bool may_be_shared)
{
	int next = rounds->source;

	rounds->shared = may_be_shared && rounds->n_values > 0;
	for (int i = 0; i < rounds->source; i++)
		k_add_as_it_is(b, block->stmts.items[i]);
	if (rounds->shared) {
		share(b, rounds, block);
		next += 1 + rounds->n_values;
	}
	for (int i = next; i < at; i++)
		if (!is_wait(rounds, block->stmts.items[i]))
			k_add_as_it_is(b, block->stmts.items[i]);
}
