/* SPDX-License-Identifier: MIT
 *
 * Kernels of one iteration of a loop as a graph of CUDA, read by pmgrt_cuda_plan.h. The host runs the body of the loop
 * twice where it has to: first its starts are only noted, as text; where a graph was made of the same text before, that
 * one is started; else the body runs again, and each start becomes a node. So what the host decides in a body (a step
 * rule that alternates) leads to as many graphs as there are ways through it, and an iteration costs one start.
 *
 * A node waits for those before it whose arrays it reads or writes: what a kernel writes are its arguments of type T *,
 * what it reads those of type const T *; what does not depend on each other runs side by side. */
#ifndef PMGRT_CUDA_GRAPH_H
#define PMGRT_CUDA_GRAPH_H

#include <type_traits>

enum {
	PMG_CUDA_MOST_GRAPHS = 16, PMG_CUDA_MOST_NODES = 512, PMG_CUDA_MOST_USES = 8192, PMG_CUDA_NOTE_BYTES = 1 << 16
};

/* What becomes of a start. */
enum pmg_cuda_mode { PMG_CUDA_NOW, PMG_CUDA_NOTED, PMG_CUDA_AS_NODE };

struct pmg_cuda_graph {
	char *text;
	size_t bytes;
	cudaGraphExec_t graph;
};

struct pmg_cuda_use {
	const void *array;
	int node;
	bool writes;
};

struct pmg_cuda_starts {
	pmg_cuda_mode mode;
	bool is_full;                   /* the text or the graph are too long */
	char text[PMG_CUDA_NOTE_BYTES];
	size_t bytes;
	int n_noted;
	uint64_t last_sum;              /* of the text of the execution before, where there is no loop */
	int n_graphs;
	pmg_cuda_graph graphs[PMG_CUDA_MOST_GRAPHS];
	/* The graph that is made. */
	cudaGraph_t graph;
	int n_nodes, n_uses;
	cudaGraphNode_t nodes[PMG_CUDA_MOST_NODES];
	pmg_cuda_use uses[PMG_CUDA_MOST_USES];
};

/* ---- Notes ---- */

static inline void pmg_cuda_note_bytes(pmg_cuda_starts *starts, const void *bytes, size_t n)
{
	if (starts->bytes + n > sizeof starts->text) {
		starts->is_full = true;
		return;
	}
	memcpy(starts->text + starts->bytes, bytes, n);
	starts->bytes += n;
}

template <class... P>
static inline void pmg_cuda_note(pmg_cuda_starts *starts, void (*kernel)(P...), unsigned blocks, unsigned threads,
				 unsigned shared, P... arguments)
{
	const unsigned grid[3] = { blocks, threads, shared };

	starts->n_noted++;
	pmg_cuda_note_bytes(starts, &kernel, sizeof kernel);
	pmg_cuda_note_bytes(starts, grid, sizeof grid);
	(pmg_cuda_note_bytes(starts, &arguments, sizeof arguments), ...);
}

static inline void pmg_cuda_begin_note(pmg_cuda_starts *starts)
{
	starts->mode = PMG_CUDA_NOTED;
	starts->bytes = 0;
	starts->n_noted = 0;
	starts->is_full = false;
}

/* Was the same noted the last time? */
static inline bool pmg_cuda_is_noted_again(pmg_cuda_starts *starts)
{
	uint64_t sum = 0xcbf29ce484222325u;
	bool is_again;

	for (size_t i = 0; i < starts->bytes; i++)
		sum = (sum ^ (unsigned char) starts->text[i])*0x100000001b3u;
	is_again = sum == starts->last_sum;
	starts->last_sum = sum;
	return is_again;
}

/* The graph of what was noted; NULL: none. */
static inline const pmg_cuda_graph *pmg_cuda_graph_of_note(const pmg_cuda_starts *starts)
{
	for (int i = 0; i < starts->n_graphs; i++)
		if (starts->graphs[i].bytes == starts->bytes &&
		    memcmp(starts->graphs[i].text, starts->text, starts->bytes) == 0)
			return &starts->graphs[i];
	return NULL;
}

/* ---- Graphs ---- */

/* The last who wrote the array; for one who writes it, those who have read it since. */
static inline void pmg_cuda_wait_for(const pmg_cuda_starts *starts, const void *array, bool writes, bool *waits)
{
	bool has_reader = false;

	for (int i = starts->n_uses - 1; i >= 0; i--) {
		const pmg_cuda_use *use = &starts->uses[i];

		if (use->array != array || use->node == starts->n_nodes)
			continue;
		if (use->writes) {
			waits[use->node] = waits[use->node] || !has_reader;
			return;
		}
		if (writes)
			has_reader = waits[use->node] = true;
	}
}

template <class T> static inline void pmg_cuda_use_of(pmg_cuda_starts *starts, T argument, bool *waits)
{
	typedef typename std::remove_pointer<T>::type cell;
	const bool is_array = std::is_pointer<T>::value && !std::is_same<T, pmg_cuda_bad_index *>::value;
	const bool writes = !std::is_const<cell>::value;
	pmg_cuda_use use = { NULL, starts->n_nodes, writes };

	if (!is_array || starts->is_full)
		return;
	memcpy(&use.array, &argument, sizeof argument < sizeof use.array ? sizeof argument : sizeof use.array);
	starts->is_full = starts->n_uses == PMG_CUDA_MOST_USES;
	if (starts->is_full)
		return;
	pmg_cuda_wait_for(starts, use.array, writes, waits);
	starts->uses[starts->n_uses++] = use;
}

template <class... P>
static inline cudaError_t pmg_cuda_add_node(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before,
					    size_t n, void (*kernel)(P...), unsigned blocks, unsigned threads,
					    unsigned shared, P... arguments)
{
#ifdef PMG_CUDA_ADD_NODE
	return PMG_CUDA_ADD_NODE(node, graph, before, n, blocks, threads, shared, [=] { kernel(arguments...); });
#else
	void *list[] = { (void *) &arguments..., NULL };
	cudaKernelNodeParams params = cudaKernelNodeParams();

	params.func = (void *) kernel;
	params.gridDim = dim3(blocks);
	params.blockDim = dim3(threads);
	params.sharedMemBytes = shared;
	params.kernelParams = list;
	return cudaGraphAddKernelNode(node, graph, before, n, &params);
#endif
}

template <class... P>
static inline cudaError_t pmg_cuda_node(pmg_cuda_starts *starts, void (*kernel)(P...), unsigned blocks,
					unsigned threads, unsigned shared, P... arguments)
{
	bool waits[PMG_CUDA_MOST_NODES + 1] = { false };
	cudaGraphNode_t before[PMG_CUDA_MOST_NODES];
	cudaError_t error;
	size_t n = 0;

	starts->is_full = starts->is_full || starts->n_nodes == PMG_CUDA_MOST_NODES;
	(pmg_cuda_use_of<P>(starts, arguments, waits), ...);
	if (starts->is_full)
		return cudaSuccess;
	for (int i = 0; i < starts->n_nodes; i++)
		if (waits[i])
			before[n++] = starts->nodes[i];
	error = pmg_cuda_add_node(&starts->nodes[starts->n_nodes], starts->graph, before, n, kernel, blocks, threads,
				  shared, arguments...);
	starts->n_nodes += error == cudaSuccess;
	return error;
}

static inline cudaError_t pmg_cuda_begin_graph(pmg_cuda_starts *starts)
{
	starts->n_nodes = starts->n_uses = 0;
	return cudaGraphCreate(&starts->graph, 0);
}

/* What was noted is then the text of this graph; without one, what was started is lost. */
static inline cudaError_t pmg_cuda_end_graph(pmg_cuda_starts *starts)
{
	pmg_cuda_graph made = { (char *) malloc(starts->bytes + 1), starts->bytes, NULL };
	cudaError_t error = made.text ? cudaSuccess : cudaErrorMemoryAllocation;

	if (error == cudaSuccess)
		error = cudaGraphInstantiateWithFlags(&made.graph, starts->graph, 0);
	(void) cudaGraphDestroy(starts->graph);
	starts->graph = NULL;
	if (error != cudaSuccess) {
		free(made.text);
		return error;
	}
	memcpy(made.text, starts->text, starts->bytes);
	starts->graphs[starts->n_graphs++] = made;
	return cudaSuccess;
}

/* Nothing of them runs any more. */
static inline void pmg_cuda_forget_graphs(pmg_cuda_starts *starts)
{
	if (starts->graph)
		(void) cudaGraphDestroy(starts->graph);
	starts->graph = NULL;
	for (int i = 0; i < starts->n_graphs; i++) {
		(void) cudaGraphExecDestroy(starts->graphs[i].graph);
		free(starts->graphs[i].text);
	}
	starts->n_graphs = 0;
}

#endif
