/* SPDX-License-Identifier: MIT
 *
 * The chunks of trees and their turns, from what they are, in the plainest way. A branch is cut into as few chunks as
 * can be, all about as long; what hangs on a chunk is listed by the turns that it has without its siblings, the latest
 * first. */
#include "ir/interp/interp_private.h"

struct chunks {
	struct run *run;
	const struct chunking *what;
	int64_t n, n_chunks, n_turns;   /* nodes, … */
	int64_t *n_children;            /* by node */
	int64_t *chunk;                 /* by node: whose last one it is */
	int64_t *alone;                 /* by chunk: its turn if it had no sibling */
	int64_t *members;               /* of one list */
};

static int64_t parent_of(const struct chunks *chunks, int64_t node)
{
	return slot_integer(&chunks->run->slots[chunks->what->tree->number], node);
}

static int64_t get(const struct chunks *chunks, const struct array *array, int64_t at)
{
	return slot_integer(&chunks->run->slots[array->number], at);
}

static void set(const struct chunks *chunks, const struct array *array, int64_t at, int64_t value)
{
	slot_set_integer(&chunks->run->slots[array->number], at, value);
}

static void count_children(const struct chunks *chunks)
{
	for (int64_t k = 0; k < chunks->n; k++)
		chunks->n_children[k] = 0;
	for (int64_t k = 0; k < chunks->n; k++)
		if (parent_of(chunks, k) >= 0)
			chunks->n_children[parent_of(chunks, k)]++;
}

/* Where part k of so many of a branch begins. */
static int64_t part_begin(int64_t length, int64_t parts, int64_t k)
{
	return length/parts*k + length % parts*k/parts;
}

static void cut_branch(struct chunks *chunks, int64_t begin, int64_t length)
{
	const int64_t rows = chunks->what->rows, parts = length/rows + (length % rows > 0);

	for (int64_t k = 0; k < parts; k++) {
		set(chunks, chunks->what->offsets, chunks->n_chunks, begin + part_begin(length, parts, k));
		chunks->chunk[begin + part_begin(length, parts, k + 1) - 1] = chunks->n_chunks++;
	}
}

static void cut(struct chunks *chunks)
{
	int64_t end;

	for (int64_t begin = 0; begin < chunks->n; begin = end) {
		end = begin + 1;
		while (end < chunks->n && parent_of(chunks, end) == end - 1 && chunks->n_children[end - 1] == 1)
			end++;
		cut_branch(chunks, begin, end - begin);
	}
	set(chunks, chunks->what->offsets, chunks->n_chunks, chunks->n);
}

static void hang(const struct chunks *chunks)
{
	const int64_t none = chunks->n_chunks;

	for (int64_t c = 0; c <= none; c++) {
		const int64_t parent = c < none ? parent_of(chunks, get(chunks, chunks->what->offsets, c)) : -1;

		set(chunks, chunks->what->above, c, parent < 0 ? none : chunks->chunk[parent]);
		set(chunks, chunks->what->child, c, none);
		set(chunks, chunks->what->sibling, c, none);
		set(chunks, chunks->what->turn, c, 0);
	}
}

/* Into the list of those below `above`, which are known. */
static void list(const struct chunks *chunks, int64_t c, int64_t above)
{
	const struct array *of = chunks->what->child;
	int64_t at = above, next = get(chunks, of, at);

	while (next != chunks->n_chunks && chunks->alone[next] > chunks->alone[c]) {
		of = chunks->what->sibling;
		at = next;
		next = get(chunks, of, at);
	}
	set(chunks, of, at, c);
	set(chunks, chunks->what->sibling, c, next);
}

/* Those from c on, the last one first. */
static int64_t take_turns(const struct chunks *chunks, int64_t c)
{
	int64_t n = 0, behind = 0;

	for (; c != chunks->n_chunks; c = get(chunks, chunks->what->sibling, c))
		chunks->members[n++] = c;
	while (n-- > 0) {
		const int64_t member = chunks->members[n];

		behind = chunks->alone[member] > behind + 1 ? chunks->alone[member] : behind + 1;
		set(chunks, chunks->what->turn, member, behind);
	}
	return behind;
}

static void find_turns(struct chunks *chunks)
{
	for (int64_t c = chunks->n_chunks - 1; c >= 0; c--) {
		const int64_t above = get(chunks, chunks->what->above, c);

		chunks->alone[c] = take_turns(chunks, get(chunks, chunks->what->child, c)) + 1;
		chunks->n_turns = chunks->alone[c] >= chunks->n_turns ? chunks->alone[c] + 1 : chunks->n_turns;
		if (above == chunks->n_chunks)
			set(chunks, chunks->what->turn, c, chunks->alone[c]);
		else
			list(chunks, c, above);
	}
}

static void sort(const struct chunks *chunks)
{
	const struct array *turns = chunks->what->turns;
	int64_t *next = chunks->members, n = 0;

	for (int64_t t = 0; t <= chunks->n_turns; t++)
		set(chunks, turns, t, 0);
	for (int64_t c = 0; c < chunks->n_chunks; c++) {
		const int64_t turn = get(chunks, chunks->what->turn, c);

		set(chunks, turns, turn, get(chunks, turns, turn) + 1);
	}
	for (int64_t t = 0; t <= chunks->n_turns; t++) {
		const int64_t begin = n;

		n += get(chunks, turns, t);
		set(chunks, turns, t, begin);
		next[t] = begin;
	}
	for (int64_t c = 0; c < chunks->n_chunks; c++)
		set(chunks, chunks->what->order, next[get(chunks, chunks->what->turn, c)]++, c);
}

static void fill(struct chunks *chunks)
{
	count_children(chunks);
	cut(chunks);
	hang(chunks);
	find_turns(chunks);
	if (chunks->what->order)
		sort(chunks);
	chunks->run->sizes[chunks->what->n_chunks] = chunks->n_chunks;
	chunks->run->sizes[chunks->what->n_turns] = chunks->n_turns;
}

void bind_chunkings(struct run *run)
{
	for (int i = 0; i < run->module->chunkings.n && run->stop == RUN_GOES; i++) {
		const struct chunking *what = &run->module->chunkings.items[i];
		struct chunks chunks = { .run = run, .what = what, .n_turns = 1 };

		chunks.n = run->slots[what->tree->number].n;
		chunks.n_children = arena_new_array(run->scratch, int64_t, chunks.n + 1);
		chunks.chunk = arena_new_array(run->scratch, int64_t, chunks.n + 1);
		chunks.alone = arena_new_array(run->scratch, int64_t, chunks.n + 1);
		chunks.members = arena_new_array(run->scratch, int64_t, chunks.n + 2);
		fill(&chunks);
	}
}
