/* SPDX-License-Identifier: MIT
 *
 * Which arrays that a team keeps in shared memory have one place there, a room. Each takes the first room of its type
 * in which nothing is of use while it is, one that holds an array of the same extents if there is one. A room is as
 * large as the largest of its arrays (ir/isl/lifetime.c). */
#include "passes/pass_private.h"

struct choosing {
	struct module *module;
	const struct lifetime *lifetimes;       /* by number of array */
	int n_before, n_rooms;                  /* of other kernels, and of this one, too */
};

static bool is_in_rooms(const struct choosing *c, const struct array *array)
{
	return array->in_team && array->in_team->is_shared && c->lifetimes[array->number].last > 0;
}

static bool has_same_extents(const struct array *a, const struct array *b)
{
	bool has = a->rank == b->rank && a->in_team->row == b->in_team->row && a->in_team->window == b->in_team->window;

	for (int i = 0; has && i < a->rank; i++)
		has = expr_equal(a->hi[i], b->hi[i]);
	return has;
}

/* Is nothing in the room of use when the array is? `*is_alike`: something there has the extents of the array. */
static bool fits_in(const struct choosing *c, const struct array *array, int room, bool *is_alike)
{
	bool fits = true;

	*is_alike = false;
	for (int k = 0; fits && k < c->module->arrays.n; k++) {
		const struct array *other = c->module->arrays.items[k];

		if (other == array || !is_in_rooms(c, other) || other->in_team->room != room)
			continue;
		fits = other->type == array->type && !lifetimes_meet(&c->lifetimes[k], &c->lifetimes[array->number]);
		*is_alike = *is_alike || has_same_extents(array, other);
	}
	return fits;
}

/* 0: there is none. */
static int find_room(const struct choosing *c, const struct array *array)
{
	int found = 0;

	for (int room = c->n_before + 1; room <= c->n_rooms; room++) {
		bool is_alike, fits = fits_in(c, array, room, &is_alike);

		if (fits && is_alike)
			return room;
		if (fits && !found)
			found = room;
	}
	return found;
}

static void take_room(struct choosing *c, struct array *array)
{
	struct team_storage *in_team = arena_new(c->module->arena, struct team_storage);

	*in_team = *array->in_team;
	in_team->room = find_room(c, array);
	if (!in_team->room)
		in_team->room = ++c->n_rooms;
	array->in_team = in_team;
}

/* The first array of the room, at the outermost of the marks. */
static const struct array *host_of(const struct choosing *c, const struct array *array)
{
	int k = 0;

	while (!is_in_rooms(c, c->module->arrays.items[k]) ||
	       c->module->arrays.items[k]->in_team->room != array->in_team->room)
		k++;
	return c->module->arrays.items[k];
}

static void note_room(const struct choosing *c, const struct array *array)
{
	const struct array *host = host_of(c, array);
	const bool is_later = c->lifetimes[host->number].last < c->lifetimes[array->number].first;

	if (host != array)
		module_decide(c->module, DECISION_TEAM_ROOM, array->name, array->span,
			      is_later ? "the lanes have done with '%s' before" : "the lanes come to '%s' after it",
			      host->name);
}

void team_rooms_share(struct module *module, __isl_keep isl_schedule_node *node)
{
	const int n = module->arrays.n;
	struct lifetime *lifetimes = arena_new_array(module->arena, struct lifetime, n);
	struct choosing c = { .module = module, .lifetimes = lifetimes };

	for (int k = 0; k < n; k++) {
		const struct array *array = module->arrays.items[k];

		lifetimes[k] = schedule_team_lifetime(module, node, array);
		if (array->in_team && array->in_team->room > c.n_before)
			c.n_before = array->in_team->room;
	}
	c.n_rooms = c.n_before;
	for (int k = 0; k < n; k++)
		if (is_in_rooms(&c, module->arrays.items[k]) && !module->arrays.items[k]->in_team->room)
			take_room(&c, module->arrays.items[k]);
	for (int k = 0; k < n; k++)
		if (is_in_rooms(&c, module->arrays.items[k]) && module->arrays.items[k]->in_team->room > c.n_before)
			note_room(&c, module->arrays.items[k]);
}
