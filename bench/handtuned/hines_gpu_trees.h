/* SPDX-License-Identifier: MIT
 *
 * Tables of trees for the kernels: chains (hines_gpu_chains.h), branches by levels, and what each node asks of a thread
 * that has the tree in registers (hines_gpu_threads.h). */
#ifndef BENCH_HANDTUNED_HINES_GPU_TREES_H
#define BENCH_HANDTUNED_HINES_GPU_TREES_H

/* ---- Chains ---- */

struct tree_chains {
	std::vector<chain_row> rows;
	std::vector<unsigned short> levels;     /* the first chain of each, and the end of the last */
};

/* Nodes of the branch that begins at `first`: up to a fork, to a node whose child is not the next one, or to a tip. */
static int tree_branch(const int *parent, const std::vector<int> &children, int n, int first)
{
	int end = first;

	while (end + 1 < n && parent[end + 1] == end && children[(size_t) end] == 1)
		end++;
	return end - first + 1;
}

static std::vector<int> tree_children(const int *parent, int n)
{
	std::vector<int> children((size_t) n, 0);

	for (int i = 0; i < n; i++)
		if (parent[i] >= 0)
			children[(size_t) parent[i]]++;
	return children;
}

/* Branches cut into as few chains of at most R nodes as can be, all about as long. As they lie; `above`: a node. */
static std::vector<chain_row> tree_cut(const int *parent, int n, int R)
{
	const std::vector<int> children = tree_children(parent, n);
	std::vector<chain_row> rows;

	for (int first = 0; first < n;) {
		const int length = tree_branch(parent, children, n, first), parts = (length + R - 1)/R;

		for (int k = 0; k < parts; k++) {
			const int begin = first + length*k/parts, end = first + length*(k + 1)/parts;
			const int above = parent[begin];

			rows.push_back({ (unsigned short) (end - 1), (unsigned short) (end - begin),
					 (unsigned short) (above < 0 ? CHAIN_ROOT : above), 0, 0, 0, {} });
		}
		first += length;
	}
	return rows;
}

/* Chains in the order of levels, those below one chain next to each other. */
static tree_chains tree_chains_of(const int *parent, int n, int R)
{
	const std::vector<chain_row> cut = tree_cut(parent, n, R);
	std::vector<int> with_last((size_t) n, -1), next(cut.size(), -1), below(cut.size(), -1);
	std::vector<int> order, number(cut.size());
	tree_chains chains;

	for (size_t c = 0; c < cut.size(); c++)
		with_last[cut[c].last] = (int) c;
	for (size_t c = cut.size(); c-- > 0;) {
		if (cut[c].above == CHAIN_ROOT)
			continue;
		const size_t above = (size_t) with_last[cut[c].above];

		next[c] = below[above];
		below[above] = (int) c;
	}
	for (size_t c = 0; c < cut.size(); c++)
		if (cut[c].above == CHAIN_ROOT)
			order.push_back((int) c);
	for (size_t k = 0; k < order.size(); k++) {
		chain_row row = cut[(size_t) order[k]];

		number[(size_t) order[k]] = (int) k;
		row.child = (unsigned short) order.size();
		for (int c = below[(size_t) order[k]]; c >= 0; c = next[(size_t) c])
			order.push_back(c);
		row.end = (unsigned short) order.size();
		if (row.above != CHAIN_ROOT) {
			row.above = (unsigned short) number[(size_t) with_last[row.above]];
			row.level = (unsigned short) (chains.rows[row.above].level + 1);
		}
		if (row.level == chains.levels.size())
			chains.levels.push_back((unsigned short) k);
		chains.rows.push_back(row);
	}
	chains.levels.push_back((unsigned short) chains.rows.size());
	return chains;
}

/* Of the tree that `row` is in. */
static void tree_row(const tree_chains &, const chain_row &row, chain_row *to)
{
	*to = row;
}

static void tree_row(const tree_chains &tree, const chain_row &row, node_row *to)
{
	*to = { row.last, row.above, row.child, (unsigned short) (row.end - row.child), {}, 0 };
	if (row.above != CHAIN_ROOT)
		to->above = tree.rows[row.above].last;
	for (int k = 0; k < NODE_BELOW && row.child + k < row.end; k++)
		to->below[k] = tree.rows[(size_t) (row.child + k)].last;
}

/* Of one tree or of all, one after the other, on the device. */
template <class Row> static bool tree_tables(systems_gpu *gpu, int R, chain_tables<Row> *tables)
{
	const system_batch &b = gpu->batch;
	const int64_t n_trees = b.has_one_tree ? 1 : b.n_systems;
	std::vector<tree_chains> trees((size_t) n_trees);
	std::vector<Row> rows;
	std::vector<unsigned short> levels;
	std::vector<int> chain(1, 0), level(1, 0);

#pragma omp parallel for
	for (int64_t s = 0; s < n_trees; s++) {
		const int64_t at = b.has_one_tree ? 0 : b.offset[s];

		trees[(size_t) s] = tree_chains_of(b.parent + at, (int) (b.offset[s + 1] - b.offset[s]), R);
	}
	*tables = chain_tables<Row>();
	for (const tree_chains &tree : trees) {
		for (const chain_row &row : tree.rows) {
			rows.push_back(Row());
			tree_row(tree, row, &rows.back());
		}
		levels.insert(levels.end(), tree.levels.begin(), tree.levels.end());
		chain.push_back((int) rows.size());
		level.push_back((int) levels.size());
		tables->most_chains = std::max(tables->most_chains, (int) tree.rows.size());
		tables->most_levels = std::max(tables->most_levels, (int) tree.levels.size() - 1);
	}
	tables->is_one = b.has_one_tree;
	tables->rows = gpu_on_device(gpu, rows);
	tables->levels = gpu_on_device(gpu, levels);
	tables->chain = gpu_on_device(gpu, chain);
	tables->level = gpu_on_device(gpu, level);
	return tables->rows && tables->levels && tables->chain && tables->level;
}

/* ---- One tree in registers ---- */

/* Slots for nodes to which others than the next one add, from the first of these that comes to the node itself. */
static std::vector<hines_step> tree_steps(const int *parent, int n, int *n_slots)
{
	std::vector<hines_step> steps((size_t) n);
	std::vector<bool> is_used;

	for (int i = n - 1; i >= 0; i--) {
		hines_step &own = steps[(size_t) i];
		const int p = parent[i];

		if (own.flags & ROW_ADDED)
			is_used[own.slot] = false;
		own.flags |= p < 0 ? ROW_ROOT : p == i - 1 ? ROW_CHAIN : 0;
		if (p < 0 || p == i - 1)
			continue;
		if (!(steps[(size_t) p].flags & ROW_ADDED)) {
			size_t slot = 0;

			while (slot < is_used.size() && is_used[slot])
				slot++;
			is_used.resize(std::max(is_used.size(), slot + 1));
			is_used[slot] = true;
			steps[(size_t) p].slot = (unsigned char) slot;
			steps[(size_t) p].flags |= ROW_ADDED;
			own.flags |= ROW_FIRST;
		}
		own.above = steps[(size_t) p].slot;
	}
	*n_slots = (int) is_used.size();
	return steps;
}

#endif
