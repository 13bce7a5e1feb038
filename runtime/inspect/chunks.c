/* SPDX-License-Identifier: MIT
 *
 * The chunks of a tree and their turns (pmg_chunks_desc): branches are cut, then chunks hang on each other, then turns
 * are found from the leaves to the roots, all in O(n) and without memory of its own. Siblings wait for each other, so
 * those with the latest turns come first in their list; behind so many that are later, a chunk stays where it is. */
#include "plan/plan.h"

#include <string.h>

enum { MOST_LATER = 8 };

struct chunks {
	const int64_t *parent;
	int64_t n, n_chunks;            /* n_chunks: also the chunk that stands for none */
	int64_t *offsets, *above, *child, *sibling, *turn, *order, *turns;
};

static struct chunks chunks_of_plan(const struct plan *plan, const pmg_chunks_desc *desc)
{
	void *const *data = plan->kernel.data;

	return (struct chunks) {
		.parent = data[desc->parent], .n = array_elements(&plan->desc->arrays[desc->parent], plan->extents),
		.offsets = data[desc->offsets], .above = data[desc->above], .child = data[desc->child],
		.sibling = data[desc->sibling], .turn = data[desc->turn],
		.order = desc->order < 0 ? NULL : data[desc->order], .turns = desc->turns < 0 ? NULL : data[desc->turns]
	};
}

/* ---- Where they begin and end ---- */

static void children_count(const struct chunks *chunks, int64_t *n_children)
{
	memset(n_children, 0, (size_t) (chunks->n + 1) * sizeof *n_children);
	for (int64_t k = 0; k < chunks->n; k++)
		if (chunks->parent[k] >= 0)
			n_children[chunks->parent[k]]++;
}

/* chunk[k]: that of which k is the last node */
static void branch_cut(struct chunks *chunks, int64_t begin, int64_t length, int64_t rows, int64_t *chunk)
{
	const int64_t parts = length / rows + (length % rows > 0), each = length / parts, more = length % parts;

	for (int64_t k = 0; k < parts; k++) {
		chunks->offsets[chunks->n_chunks] = begin;
		begin += each + (k < more);
		chunk[begin - 1] = chunks->n_chunks++;
	}
}

static void branches_cut(struct chunks *chunks, int64_t rows, const int64_t *n_children, int64_t *chunk)
{
	int64_t end;

	for (int64_t begin = 0; begin < chunks->n; begin = end) {
		end = begin + 1;
		while (end < chunks->n && chunks->parent[end] == end - 1 && n_children[end - 1] == 1)
			end++;
		branch_cut(chunks, begin, end - begin, rows, chunk);
	}
	chunks->offsets[chunks->n_chunks] = chunks->n;
}

static void chunks_hang(const struct chunks *chunks, const int64_t *chunk)
{
	const int64_t none = chunks->n_chunks;

	for (int64_t c = 0; c < none; c++) {
		const int64_t parent = chunks->parent[chunks->offsets[c]];

		chunks->above[c] = parent < 0 ? none : chunk[parent];
		chunks->child[c] = chunks->sibling[c] = none;
	}
	chunks->above[none] = chunks->child[none] = chunks->sibling[none] = none;
}

/* ---- Turns ---- */

static int64_t list_reversed(const struct chunks *chunks, int64_t first)
{
	int64_t reversed = chunks->n_chunks;

	while (first != chunks->n_chunks) {
		const int64_t next = chunks->sibling[first];

		chunks->sibling[first] = reversed;
		reversed = first;
		first = next;
	}
	return reversed;
}

/* Those of a list, which have the turns that they would have alone. Returns the last one. */
static int64_t list_take_turns(const struct chunks *chunks, int64_t first)
{
	const int64_t last = list_reversed(chunks, first);
	int64_t turn = 0;

	for (int64_t c = last; c != chunks->n_chunks; c = chunks->sibling[c]) {
		turn = chunks->turn[c] > turn + 1 ? chunks->turn[c] : turn + 1;
		chunks->turn[c] = turn;
	}
	list_reversed(chunks, last);
	return turn;
}

static void list_add(const struct chunks *chunks, int64_t c)
{
	int64_t *next = &chunks->child[chunks->above[c]];

	for (int later = 0; later < MOST_LATER && *next != chunks->n_chunks && chunks->turn[*next] > chunks->turn[c];
	     later++)
		next = &chunks->sibling[*next];
	chunks->sibling[c] = *next;
	*next = c;
}

/* Chunks stand behind those on which they hang. Returns one more than the last turn. */
static int64_t turns_find(const struct chunks *chunks)
{
	int64_t last = 0;

	chunks->turn[chunks->n_chunks] = 0;
	for (int64_t c = chunks->n_chunks - 1; c >= 0; c--) {
		chunks->turn[c] = list_take_turns(chunks, chunks->child[c]) + 1;
		last = chunks->turn[c] > last ? chunks->turn[c] : last;
		if (chunks->above[c] != chunks->n_chunks)
			list_add(chunks, c);
	}
	return last + 1;
}

/* turns[t + 1] counts those of turn t, then is where they end; filling moves turns[t] to the end of turn t. */
static void chunks_sort(const struct chunks *chunks, int64_t n_turns)
{
	memset(chunks->turns, 0, (size_t) (n_turns + 1) * sizeof *chunks->turns);
	for (int64_t c = 0; c < chunks->n_chunks; c++)
		chunks->turns[chunks->turn[c] + 1]++;
	for (int64_t t = 0; t < n_turns; t++)
		chunks->turns[t + 1] += chunks->turns[t];
	for (int64_t c = 0; c < chunks->n_chunks; c++)
		chunks->order[chunks->turns[chunks->turn[c]]++] = c;
	for (int64_t t = n_turns; t > 0; t--)
		chunks->turns[t] = chunks->turns[t - 1];
	chunks->turns[0] = 0;
}

/* ---- All of them ---- */

/* The arrays that are filled last are room for others before. */
void chunks_build(struct plan *plan, const pmg_chunks_desc *desc)
{
	struct chunks chunks = chunks_of_plan(plan, desc);
	int64_t *const n_children = chunks.above, *const chunk = chunks.turn, n_turns;

	children_count(&chunks, n_children);
	branches_cut(&chunks, desc->rows, n_children, chunk);
	chunks_hang(&chunks, chunk);
	n_turns = turns_find(&chunks);
	if (chunks.order)
		chunks_sort(&chunks, n_turns);
	plan->sizes[desc->n_chunks] = chunks.n_chunks;
	plan->sizes[desc->n_turns] = n_turns;
}
