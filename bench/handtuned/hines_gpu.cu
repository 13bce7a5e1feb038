/* SPDX-License-Identifier: MIT
 *
 * Many Hines systems by hand for a GPU (systems_gpu.h): a thread for each (hines_gpu_threads.h), and lanes that share a
 * system as it lies (hines_gpu_chains.h), with the tables of trees that they take (hines_gpu_trees.h). Here a method is
 * made ready: which layout and tables, how many lanes and systems, what to bring back before it runs again. */
extern "C" {
#include "systems_gpu.h"
}

#include <cuda_runtime.h>

#include "systems_gpu_batch.h"
#include "tri_gpu_thomas.h"
#include "hines_gpu_threads.h"
#include "hines_gpu_chains.h"
#include "hines_gpu_trees.h"

enum { FEW = 2560, SHARED_LANES = 32 };

/* Of a block, by the kernel's registers. */
template <class K> static int most_threads(K kernel)
{
#ifdef __NVCC__
	cudaFuncAttributes attributes;

	return gpu_is_ok(cudaFuncGetAttributes(&attributes, kernel)) ? attributes.maxThreadsPerBlock : 0;
#else
	(void) kernel;
	return 1024;
#endif
}

/* ---- A thread for each system ---- */

/* Of the layout; NULL: there is not the memory. */
static const int *parents_in(systems_gpu *gpu, const gpu_layout *layout)
{
	const system_batch &b = gpu->batch;
	const size_t n = (size_t) (b.has_one_tree ? b.n : b.n_rows);
	int *parents = gpu_on_device(gpu, std::vector<int>(b.parent, b.parent + n));

	if (!parents || b.has_one_tree || !layout)
		return parents;
	int *blocks = (int *) gpu_memory(gpu, (size_t) (gpu_padded(layout->shape)*layout->shape.n)*sizeof(int));

	return blocks && gpu_relayout<int>(layout->shape, parents, blocks, -1, false) ? blocks : NULL;
}

/* Where a method that works in place finds its arrays, and what it overwrites: diag and rhs. */
template <class T> static hines_arrays<T> in_place(systems_gpu *gpu, const gpu_layout *layout, systems_gpu_call *call)
{
	void *const *in = layout ? layout->in : gpu->array;
	const size_t bytes = layout ? gpu_layout_bytes(gpu, layout->shape) : (size_t) gpu->batch.n_rows*sizeof(T);

	call->state->layout = layout;
	call->state->x = gpu->work[SYSTEMS_GPU_RHS];
	call->state->restore = [=] {
		return gpu_restore(gpu, in, bytes, 1u << SYSTEMS_GPU_DIAG | 1u << SYSTEMS_GPU_RHS);
	};
	return { (T *) in[SYSTEMS_GPU_UPPER], (T *) in[SYSTEMS_GPU_LOWER], (T *) gpu->work[SYSTEMS_GPU_DIAG],
		 (T *) gpu->work[SYSTEMS_GPU_RHS] };
}

/* `lanes` 0: flat. */
template <class T> static bool prepare_papers(systems_gpu *gpu, int64_t lanes, systems_gpu_call *call)
{
	const gpu_layout *layout = lanes ? gpu_layout_of(gpu, lanes, false) : NULL;
	const int *parents = !lanes || layout ? parents_in(gpu, layout) : NULL;
	const int threads = thomas_threads(gpu->batch.n_systems);
	const int64_t blocks = gpu_ceiling(gpu->batch.n_systems, threads);

	if (!parents)
		return false;
	const hines_arrays<T> a = in_place<T>(gpu, layout, call);
	const hines_parents t = { parents, gpu->batch.has_one_tree };
	const gpu_shape shape = layout ? layout->shape
				       : gpu_shape{ gpu->batch.n_systems, 0, (int) gpu->batch.n, gpu->offset, NULL };

	call->state->start = [=] {
		GPU_START(hines_kernel<T>, blocks, threads, 0, shape, a, t);
		return true;
	};
	snprintf(call->layout, sizeof(call->layout), "%s, blocks of %d threads", lanes ? "interleaved" : "flat", threads);
	return true;
}

template <class T> static bool prepare_shared(systems_gpu *gpu, systems_gpu_call *call, char *error, size_t size)
{
	const size_t shared = (size_t) gpu->batch.n*SHARED_LANES*sizeof(T);

	if (!gpu_allow_shared(hines_kernel_shared<T>, shared))
		return gpu_fail(error, size, "right-hand sides of %d systems do not fit into a block", SHARED_LANES);
	const gpu_layout *layout = gpu_layout_of(gpu, SHARED_LANES, false);
	const int *parents = layout ? parents_in(gpu, layout) : NULL;
	const int64_t blocks = gpu_ceiling(gpu->batch.n_systems, SHARED_LANES);

	if (!parents)
		return false;
	hines_arrays<T> a = in_place<T>(gpu, layout, call);
	const hines_parents t = { parents, gpu->batch.has_one_tree };
	const gpu_shape shape = layout->shape;
	T *const x = (T *) layout->x;

	a.rhs = (T *) layout->in[SYSTEMS_GPU_RHS];
	call->state->x = x;
	call->state->start = [=] {
		GPU_START(hines_kernel_shared<T>, blocks, SHARED_LANES, shared, shape, a, t, x);
		return true;
	};
	snprintf(call->layout, sizeof(call->layout), "blocks of %d systems", SHARED_LANES);
	return true;
}

static std::vector<hines_branch> branches_of(const tree_chains &tree)
{
	std::vector<hines_branch> branches;

	for (const chain_row &row : tree.rows)
		branches.push_back({ row.last - row.length + 1, row.last, row.child, row.end });
	return branches;
}

/* A launch for each level, up and down. */
template <class T> static bool prepare_levels(systems_gpu *gpu, systems_gpu_call *call)
{
	const tree_chains tree = tree_chains_of(gpu->batch.parent, (int) gpu->batch.n, (int) gpu->batch.n);
	const gpu_layout *layout = gpu_layout_of(gpu, gpu->batch.n_systems, false);
	const int *parents = layout ? parents_in(gpu, layout) : NULL;
	const hines_branch *branches = gpu_on_device(gpu, branches_of(tree));
	const int threads = thomas_threads(gpu->batch.n_systems);
	const int64_t blocks = gpu_ceiling(gpu->batch.n_systems, threads);
	const int n_levels = (int) tree.levels.size() - 1;

	if (!parents || !branches)
		return false;
	const hines_arrays<T> a = in_place<T>(gpu, layout, call);
	const gpu_shape shape = layout->shape;
	const std::vector<unsigned short> levels = tree.levels;

	call->state->start = [=] {
		for (int k = n_levels - 1; k >= 0; k--)
			GPU_START(hines_kernel_up<T>, blocks*(levels[k + 1] - levels[k]), threads, 0, shape, a, branches,
				  (int) levels[k], blocks);
		for (int k = 0; k < n_levels; k++)
			GPU_START(hines_kernel_down<T>, blocks*(levels[k + 1] - levels[k]), threads, 0, shape, a,
				  parents, branches, (int) levels[k], blocks);
		return true;
	};
	snprintf(call->layout, sizeof(call->layout), "interleaved, %d kernels", 2*n_levels);
	return true;
}

template <class T> static bool prepare_registers(systems_gpu *gpu, systems_gpu_call *call)
{
	int n_slots;
	const gpu_layout *layout = gpu_layout_of(gpu, gpu->batch.n_systems, false);
	const hines_step *steps = gpu_on_device(gpu, tree_steps(gpu->batch.parent, (int) gpu->batch.n, &n_slots));
	const int threads = thomas_threads(gpu->batch.n_systems);
	const int64_t blocks = gpu_ceiling(gpu->batch.n_systems, threads);
	const size_t shared = 2*(size_t) (n_slots*threads)*sizeof(T);

	if (!layout || !steps || !gpu_allow_shared(hines_kernel_registers<T>, shared))
		return false;
	const thomas_arrays<T> a = { (T *) layout->in[SYSTEMS_GPU_UPPER], (T *) layout->in[SYSTEMS_GPU_LOWER],
				     (T *) layout->in[SYSTEMS_GPU_DIAG], (T *) layout->in[SYSTEMS_GPU_RHS],
				     (T *) layout->x };
	T *const coefficient = (T *) gpu->work[SYSTEMS_GPU_UPPER];
	const gpu_shape shape = layout->shape;

	call->state->layout = layout;
	call->state->x = layout->x;
	call->state->start = [=] {
		GPU_START(hines_kernel_registers<T>, blocks, threads, shared, shape, a, coefficient, steps);
		return true;
	};
	snprintf(call->layout, sizeof(call->layout), "interleaved, %d slots", n_slots);
	return true;
}

/* ---- Lanes that share a system ---- */

enum chain_form { CHAIN_IN_REGISTERS, CHAIN_IN_PLACE, CHAIN_OF_NODES };

/* Nodes of a chain, lanes of a system, systems of a block at least. */
struct chain_choice {
	chain_form form;
	int rows, lanes, each;
};

static tree_chains first_chains(const systems_gpu *gpu, int R)
{
	const system_batch &b = gpu->batch;

	return tree_chains_of(b.parent, (int) (b.has_one_tree ? b.n : b.offset[1] - b.offset[0]), R);
}

static int chains_of(const systems_gpu *gpu, int R)
{
	return (int) first_chains(gpu, R).rows.size();
}

static int levels_of(const systems_gpu *gpu, int R)
{
	return (int) first_chains(gpu, R).levels.size() - 1;
}

/* A power of 2 up to a warp, then warps. */
static int lanes_for(int chains)
{
	int lanes = 4;

	while (lanes < chains && lanes < GPU_WARP)
		lanes *= 2;
	return chains <= lanes ? lanes : (int) gpu_ceiling(chains, GPU_WARP)*GPU_WARP;
}

/* What was best on an H200, by how many nodes a branch has. */
static chain_choice chain_best(const systems_gpu *gpu)
{
	enum { SMALL = 128, LONG = 500, MOST_LANES = 96, MANY = 100000, MOST_HELD = 192, FEW_LEVELS = 4 };
	const int64_t count = gpu->batch.n_systems;
	const int n = (int) gpu->batch.n, of_4 = chains_of(gpu, 4), of_16 = chains_of(gpu, 16), of_24 = chains_of(gpu, 24);

	if (of_16 > n/4) {
		if ((of_4 <= GPU_WARP && count < MANY) || (of_4 <= MOST_HELD && count < FEW))
			return { CHAIN_IN_REGISTERS, 4, lanes_for(of_4), n <= SMALL ? 4 : 2 };
		if (n <= SMALL)
			return { CHAIN_IN_PLACE, 4, 8, 8 };
		return { CHAIN_IN_PLACE, 4, GPU_WARP, n < LONG && count <= FEW ? 4 : 2 };
	}
	if (n <= SMALL && count >= MANY)
		return { CHAIN_IN_PLACE, 16, 4, 8 };
	if (of_16 <= GPU_WARP || of_24 <= GPU_WARP) {
		/* Fewer levels are worth registers. */
		const int R = of_16 <= GPU_WARP && levels_of(gpu, 16) - levels_of(gpu, 24) < FEW_LEVELS ? 16 : 24;

		return { CHAIN_IN_REGISTERS, R, lanes_for(R == 16 ? of_16 : of_24), R == 24 ? 1 : count <= FEW ? 4 : 2 };
	}
	if (of_16 <= MOST_LANES && count <= FEW)
		return { CHAIN_IN_REGISTERS, 16, lanes_for(of_16), 2 };
	return { CHAIN_IN_PLACE, 16, GPU_WARP, 2 };
}

/* What `variant` and `lanes` name, else the best of this form. */
static chain_choice chain_choose(const systems_gpu *gpu, const systems_gpu_method *method, chain_form form)
{
	const chain_choice best = chain_best(gpu);
	chain_choice choice = best;

	choice.form = form;
	if (form == CHAIN_OF_NODES)
		choice.rows = 1;
	else if (method->variant)
		choice.rows = method->variant;
	if (method->lanes)
		choice.lanes = method->lanes;
	else if (form != best.form || choice.rows != best.rows)
		choice.lanes = GPU_WARP;
	return choice;
}

template <class T, class K, class Row> static bool
start_chains(systems_gpu *gpu, const chain_choice &choice, const chain_tables<Row> &tables, K kernel, int numbers,
	     systems_gpu_call *call, char *error, size_t size)
{
	const int64_t n_systems = gpu->batch.n_systems;
	const int each = choice.each, threads = each*choice.lanes;
	const int room = (int) gpu_ceiling(each*gpu->batch.n, GPU_WARP)*GPU_WARP;
	const size_t shared = (4*(size_t) room + (size_t) (each*numbers))*sizeof(T);
	const chain_batch<T> b = {
		n_systems, (int) gpu->batch.n, choice.lanes, each, gpu->is_equal ? NULL : gpu->offset,
		(const T *) gpu->array[SYSTEMS_GPU_UPPER], (const T *) gpu->array[SYSTEMS_GPU_LOWER],
		(const T *) gpu->array[SYSTEMS_GPU_DIAG], (const T *) gpu->array[SYSTEMS_GPU_RHS],
		(T *) gpu->array[SYSTEMS_GPU_X]
	};

	if (threads > most_threads(kernel) || !gpu_allow_shared(kernel, shared))
		return gpu_fail(error, size, "%d systems do not fit into a block", each);
	call->levels = tables.most_levels;
	snprintf(call->layout, sizeof(call->layout), "%s of %d, %d chains, %d levels, %d lanes x %d",
		 choice.form == CHAIN_IN_REGISTERS ? "held" : "staged", choice.rows, tables.most_chains,
		 tables.most_levels, choice.lanes, each);
	call->state->start = [=] {
		GPU_START(kernel, gpu_ceiling(n_systems, each), threads, shared, b, tables, room);
		return true;
	};
	return true;
}

template <class T> static bool
prepare_nodes(systems_gpu *gpu, chain_choice choice, systems_gpu_call *call, char *error, size_t size)
{
	chain_tables<node_row> tables;

	choice.each = std::max(choice.each, GPU_WARP/choice.lanes);
	return tree_tables(gpu, 1, &tables) &&
	       start_chains<T>(gpu, choice, tables, chain_kernel_nodes<T>, 0, call, error, size);
}

template <class T> static bool
prepare_held(systems_gpu *gpu, const chain_choice &choice, const chain_tables<chain_row> &tables,
	     systems_gpu_call *call, char *error, size_t size)
{
	const int numbers = CHAIN_HELD*choice.lanes;

	switch (choice.rows) {
	case 4:
		return start_chains<T>(gpu, choice, tables, chain_kernel_held<T, 4>, numbers, call, error, size);
	case 8:
		return start_chains<T>(gpu, choice, tables, chain_kernel_held<T, 8>, numbers, call, error, size);
	case 16:
		return start_chains<T>(gpu, choice, tables, chain_kernel_held<T, 16>, numbers, call, error, size);
	default:
		return start_chains<T>(gpu, choice, tables, chain_kernel_held<T, 24>, numbers, call, error, size);
	}
}

template <class T> static bool
prepare_chains(systems_gpu *gpu, chain_choice choice, systems_gpu_call *call, char *error, size_t size)
{
	chain_tables<chain_row> tables;

	if (choice.form == CHAIN_OF_NODES)
		return prepare_nodes<T>(gpu, choice, call, error, size);
	if (!tree_tables(gpu, choice.rows, &tables))
		return false;
	if (choice.form == CHAIN_IN_REGISTERS)
		choice.lanes = lanes_for(tables.most_chains);
	choice.each = std::max(choice.each, GPU_WARP/choice.lanes);
	if (choice.form == CHAIN_IN_REGISTERS)
		return prepare_held<T>(gpu, choice, tables, call, error, size);
	return start_chains<T>(gpu, choice, tables, chain_kernel_staged<T>, CHAIN_NUMBERS*tables.most_chains, call,
			       error, size);
}

/* Large trees of short branches have a thread for each system, if there are enough of them. */
static bool is_for_threads(const systems_gpu *gpu)
{
	enum { LARGE = 600, ENOUGH = 25600 };
	const system_batch &b = gpu->batch;

	return b.has_one_tree && b.n >= LARGE && b.n_systems >= ENOUGH && chains_of(gpu, 16) > b.n/4;
}

/* ---- What the C side calls ---- */

template <class T> static bool prepare_code(systems_gpu *gpu, const systems_gpu_method *method, systems_gpu_call *call,
					    char *error, size_t size)
{
	switch (method->code) {
	case SYSTEMS_GPU_COPY:
		return gpu_prepare_copy(gpu, call);
	case SYSTEMS_GPU_CONVERT:
		return gpu_prepare_convert(gpu, call);
	case SYSTEMS_GPU_HINES_FLAT:
		return prepare_papers<T>(gpu, 0, call);
	case SYSTEMS_GPU_HINES_INTERLEAVED:
		return prepare_papers<T>(gpu, method->variant ? method->variant : gpu->batch.n_systems, call);
	case SYSTEMS_GPU_HINES_SHARED:
		return prepare_shared<T>(gpu, call, error, size);
	case SYSTEMS_GPU_HINES_LEVELS:
		return prepare_levels<T>(gpu, call);
	case SYSTEMS_GPU_HINES_REGISTERS:
		return prepare_registers<T>(gpu, call);
	case SYSTEMS_GPU_HINES_NODES:
		return prepare_chains<T>(gpu, chain_choose(gpu, method, CHAIN_OF_NODES), call, error, size);
	case SYSTEMS_GPU_HINES_CHAINS:
		return prepare_chains<T>(gpu, chain_choose(gpu, method, CHAIN_IN_PLACE), call, error, size);
	case SYSTEMS_GPU_HINES_CHAINS_HELD:
		return prepare_chains<T>(gpu, chain_choose(gpu, method, CHAIN_IN_REGISTERS), call, error, size);
	case SYSTEMS_GPU_HINES_BEST:
		return is_for_threads(gpu) ? prepare_registers<T>(gpu, call)
					   : prepare_chains<T>(gpu, chain_best(gpu), call, error, size);
	default:
		return gpu_fail(error, size, "it is not for Hines systems");
	}
}

static bool needs_one_tree(enum systems_gpu_code code)
{
	return code == SYSTEMS_GPU_HINES_LEVELS || code == SYSTEMS_GPU_HINES_REGISTERS;
}

static const char *refusal(const systems_gpu *gpu, enum systems_gpu_code code)
{
	enum { MOST_NODES = 65000 };

	if (needs_one_tree(code) && !gpu->batch.has_one_tree)
		return "it is for systems on one tree";
	return gpu->batch.n > MOST_NODES ? "tables have numbers of 16 bits" : NULL;
}
