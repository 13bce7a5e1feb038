/* SPDX-License-Identifier: MIT
 *
 * Trees in blocks, a lane for each: what kernels need to find parents and children of a row in all lanes
 * (pmg_lane_masks, pmgrt_generated.h). Where branches are numbered one after the other, the parent of nearly each row
 * is the row before, which is a bit for each lane; what is not so is listed, the cells of a row's other children and
 * of its other parents. */
#include "plan/plan.h"

#include <string.h>

enum { MASK_WORDS = sizeof(pmg_lane_masks)/sizeof(int64_t), BEHIND = PMG_LISTED - 1 };

/* ---- how much ---- */

/* Parents that are neither the node before nor none. */
static int64_t n_jumps(const struct elements *offsets, int64_t n_segments, const struct elements *parents, int64_t n)
{
	int64_t at[BLOCK], segment = 0, begin = 0, end = 0, count = 0;

	for (int64_t first = 0; first < n; first += BLOCK) {
		const int64_t some = block_size(first, n);

		elements_read(parents, first, some, at);
		for (int64_t i = 0; i < some; i++) {
			while (first + i >= end && segment < n_segments) {
				begin = end;
				elements_read(offsets, ++segment, 1, &end);
			}
			count += at[i] >= 0 && at[i] != first + i - begin - 1;
		}
	}
	return count;
}

static bool is_there(const pmg_pipeline_desc *desc, int32_t number, const void *args, const int64_t *extents)
{
	return array_argument(&desc->arrays[number], args)->data &&
	       argument_check(NULL, desc, number, args, extents) == PMG_OK;
}

/* Cells are numbers of 32 bits. */
static int64_t most_nodes(const pmg_children_desc *children)
{
	return INT32_MAX/children->lanes;
}

void forest_measure(const pmg_pipeline_desc *desc, const pmg_children_desc *children, const void *args,
		    int64_t *extents, int64_t longest)
{
	const pmg_array_desc *parent = &desc->arrays[children->parent];
	const int64_t n = array_elements(parent, extents);
	const int64_t n_segments = array_elements(&desc->arrays[parent->segments], extents) - 1;
	const int64_t n_blocks = blocks_of(n_segments, children->lanes);
	struct elements offsets, parents;

	if (!is_there(desc, children->parent, args, extents) || !is_there(desc, parent->segments, args, extents) ||
	    longest > most_nodes(children))
		return;
	offsets = elements_of(array_argument(&desc->arrays[parent->segments], args));
	parents = elements_of(array_argument(parent, args));
	extents[desc->arrays[children->offsets].first_extent] =
		n_blocks + MASK_WORDS*(segments_most_rows(n, n_segments, longest, children->lanes) + n_blocks);
	extents[desc->arrays[children->list].first_extent] =
		2*(n_jumps(&offsets, n_segments, &parents, n) + BEHIND*n_blocks);
}

pmg_status forest_check(pmg_context *context, const pmg_pipeline_desc *desc, const pmg_children_desc *children,
			int64_t longest)
{
	const pmg_array_desc *parent = &desc->arrays[children->parent];

	if (longest <= most_nodes(children))
		return PMG_OK;
	return pmg_fail(context, STATUS_TOO_NARROW,
			"a tree of '%s' has %lld nodes, but blocks of %d systems hold trees of at most %lld; "
			"'--interleave=off' makes none (%s)",
			parent->name, (long long) longest, (int) children->lanes, (long long) most_nodes(children),
			parent->place);
}

/* ---- filling ---- */

struct forest {
	const int64_t *offsets, *parent, *order;
	int64_t n_segments, lanes;
};

/* The trees order[first..first + n_lanes]. */
struct grove {
	const struct forest *forest;
	int64_t first, n_lanes, n_rows;
	pmg_lane_masks *masks;
	int32_t *cells;
};

/* The parent of a row, as a row: -1 of roots; -2: the lane has no such row. */
static int64_t parent_row(const struct grove *grove, int64_t row, int64_t lane)
{
	const struct forest *forest = grove->forest;
	const int64_t tree = forest->order[grove->first + lane], begin = forest->offsets[tree];
	int64_t parent;

	if (row >= forest->offsets[tree + 1] - begin)
		return -2;
	parent = forest->parent[begin + row];
	return parent < 0 ? -1 : parent - begin;
}

/* How many are to be listed stands where the lists of the row behind begin. */
static void row_count(const struct grove *grove, int64_t row)
{
	for (int64_t lane = 0; lane < grove->n_lanes; lane++) {
		const int64_t parent = parent_row(grove, row, lane), bit = (int64_t) ((uint64_t) 1 << lane);

		if (parent == -1) {
			grove->masks[row].roots |= bit;
		} else if (parent >= 0 && parent == row - 1) {
			grove->masks[row].follows |= bit;
		} else if (parent >= 0) {
			grove->masks[row + 1].parents++;
			grove->masks[parent + 1].children++;
		}
	}
}

/* The begin of a list moves to its end, which is the begin of the next one. */
static void row_list(const struct grove *grove, int64_t row)
{
	for (int64_t lane = 0; lane < grove->n_lanes; lane++) {
		const int64_t parent = parent_row(grove, row, lane), lanes = grove->forest->lanes;

		if (parent < 0 || parent == row - 1)
			continue;
		grove->cells[grove->masks[row].parents++] = (int32_t) (parent*lanes + lane);
		grove->cells[grove->masks[parent].children++] = (int32_t) (row*lanes + lane);
	}
}

/* Behind the last list that ends at `end`: its last cell, if there is one. Returns where what is read ends. */
static int64_t cells_end(int32_t *cells, int64_t begin, int64_t end)
{
	for (int64_t k = end; k < end + BEHIND; k++)
		cells[k] = end > begin ? cells[end - 1] : 0;
	return end + BEHIND;
}

/* All children's lists from `at` on, then those of parents. Returns where they end. */
static int64_t grove_fill(const struct grove *grove, int64_t at)
{
	pmg_lane_masks *masks = grove->masks;
	const int64_t n = grove->n_rows;
	int64_t parents;

	memset(masks, 0, (size_t) (n + 1) * sizeof *masks);
	for (int64_t row = 0; row < n; row++)
		row_count(grove, row);
	masks[0].children = at;
	for (int64_t row = 0; row < n; row++)
		masks[row + 1].children += masks[row].children;
	masks[0].parents = parents = masks[n].children + BEHIND;
	for (int64_t row = 0; row < n; row++)
		masks[row + 1].parents += masks[row].parents;
	for (int64_t row = 0; row < n; row++)
		row_list(grove, row);
	for (int64_t row = n; row > 0; row--) {
		masks[row].children = masks[row - 1].children;
		masks[row].parents = masks[row - 1].parents;
	}
	masks[0].children = at;
	masks[0].parents = parents;
	cells_end(grove->cells, at, masks[n].children);
	return cells_end(grove->cells, parents, masks[n].parents);
}

void forest_inspect(struct plan *plan, const pmg_children_desc *children)
{
	const pmg_array_desc *parent = &plan->desc->arrays[children->parent];
	const struct forest forest = {
		.offsets = plan->kernel.data[parent->segments], .parent = plan->kernel.data[children->parent],
		.order = plan->kernel.data[children->order], .lanes = children->lanes,
		.n_segments = array_elements(&plan->desc->arrays[parent->segments], plan->extents) - 1
	};
	int64_t *starts = plan->kernel.data[children->offsets];
	int64_t at = (forest.n_segments + forest.lanes - 1)/forest.lanes, n_cells = 0;

	for (int64_t first = 0; first < forest.n_segments; first += forest.lanes) {
		const int64_t rest = forest.n_segments - first, longest = forest.order[first];
		const struct grove grove = {
			.forest = &forest, .first = first, .n_lanes = rest < forest.lanes ? rest : forest.lanes,
			.n_rows = forest.offsets[longest + 1] - forest.offsets[longest],
			.masks = (pmg_lane_masks *) (starts + at), .cells = plan->kernel.data[children->list]
		};

		starts[first/forest.lanes] = at;
		n_cells = grove_fill(&grove, n_cells);
		at += MASK_WORDS*(grove.n_rows + 1);
	}
}
