/* SPDX-License-Identifier: MIT
 *
 * CUDA C++ on the processor, as far as generated kernels and runtime/pmgrt_cuda*.h use it: read first when g++ compiles
 * a .cu file. Blocks run one after the other; the threads of a block are fibers, which change places only where they
 * wait: at __syncthreads, __syncwarp and shuffles. What goes wrong is a CUDA error with words, or ends the process:
 * - a barrier that not all threads reach, or a shuffle in which lanes of the mask do not take part: an error;
 * - memory of the device has a page without access on both sides, and is without access while the host runs: a fault,
 *   which says so and ends the process with status OUTSIDE; a write before an array is found when it is freed;
 * - what a graph does not order runs in another order than it was added in, and in a third one the next time;
 * - asynchronous copies are made where a thread waits for them;
 * - memory of the device and of a block begins as NaN, or -1 in integers, so that what is read too early is seen;
 * - PMG_EMULATED_MEMORY is how many bytes the device has; with PMG_EMULATED_COUNTS the process says at its end how
 *   many kernels it has run, how many graphs it has made and started, and how often the host waited. */
#ifndef PMG_TESTS_CUDA_RUNTIME_H
#define PMG_TESTS_CUDA_RUNTIME_H

#define __CUDACC__
#define __host__
#define __device__
#define __global__
#define __launch_bounds__(...)
#define __forceinline__ inline
#define __shared__ static __attribute__((section("pmg_shared")))

#include <functional>
#include <limits>
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <vector>

enum cudaError_t {
	cudaSuccess = 0, cudaErrorInvalidValue = 1, cudaErrorMemoryAllocation = 2,
	cudaErrorInsufficientDriver = 35, cudaErrorNoDevice = 100, cudaErrorInvalidResourceHandle = 400,
	cudaErrorLaunchFailure = 719
};
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };
typedef struct emulated_stream *cudaStream_t;

struct emulated_event {
	timespec at;
	bool is_recorded;
};
typedef emulated_event *cudaEvent_t;
typedef struct emulated_graph *cudaGraph_t, *cudaGraphExec_t;
typedef size_t cudaGraphNode_t;         /* its number, from 1 on */

struct emulated_dim3 {
	unsigned x, y, z;
};

struct alignas(8) uint2 {
	unsigned x, y;
};

struct alignas(16) uint4 {
	unsigned x, y, z, w;
};

static emulated_dim3 threadIdx, blockIdx, blockDim, gridDim;

namespace emulated {

enum { WARP = 32, STACK = 1 << 17, MOST_THREADS = 1024, OUTSIDE = 42, PAGE = 4096 };

/* ---- counts ---- */

struct counts {
	unsigned kernels, graphs, launches, waits;

	~counts()
	{
		if (getenv("PMG_EMULATED_COUNTS"))
			fprintf(stderr, "emulated CUDA: %u kernels, %u graphs, %u launches, %u waits\n", kernels,
				graphs, launches, waits);
	}
};

static counts count;

/* ---- memory ---- */

struct piece {
	char *region, *data;
	size_t region_bytes, bytes;
};

enum { MOST_PIECES = 4096 };

static piece pieces[MOST_PIECES];
static size_t n_pieces, used;

static size_t capacity()
{
	const char *text = getenv("PMG_EMULATED_MEMORY");

	return text ? (size_t) atoll(text) : (size_t) 1 << 34;
}

/* What a region has between its guards. */
static void protect(const piece &p, int access)
{
	mprotect(p.region + PAGE, p.region_bytes - 2*PAGE, access);
}

struct access {
	access() { set(PROT_READ | PROT_WRITE); }
	~access() { set(PROT_NONE); }

	static void set(int access)
	{
		for (size_t i = 0; i < n_pieces; i++)
			protect(pieces[i], access);
	}
};

static void on_fault(int, siginfo_t *info, void *)
{
	static const char inside[] = "emulated CUDA: the host touches memory of the device\n";
	static const char outside[] = "emulated CUDA: an access outside an array of the device\n";
	const char *at = (const char *) info->si_addr;

	for (size_t i = 0; i < n_pieces; i++) {
		const piece &p = pieces[i];
		const bool is_in = at >= p.data && at < p.data + p.bytes;

		if (at >= p.region && at < p.region + p.region_bytes) {
			(void) !write(2, is_in ? inside : outside, (is_in ? sizeof inside : sizeof outside) - 1);
			_exit(OUTSIDE);
		}
	}
	signal(SIGSEGV, SIG_DFL);
}

/* A page may have room before an array. */
static void check_front(const piece &p)
{
	protect(p, PROT_READ);
	for (const char *at = p.region + PAGE; at < p.data; at++)
		if (*at != (char) 0xff) {
			fprintf(stderr, "emulated CUDA: a write before an array of the device\n");
			_exit(OUTSIDE);
		}
}

static void watch()
{
	static bool is_watching;
	struct sigaction action;

	if (is_watching)
		return;
	is_watching = true;
	memset(&action, 0, sizeof action);
	action.sa_sigaction = on_fault;
	action.sa_flags = SA_SIGINFO | SA_ONSTACK;
	sigaction(SIGSEGV, &action, NULL);
}

/* ---- threads of a block ---- */

enum waiting { RUNNING, BLOCK, WARPS, DONE };

struct fiber {
	ucontext_t context;
	char *stack;
	waiting state;
	unsigned mask;
	int barrier;
};

static fiber fibers[MOST_THREADS];
static ucontext_t scheduler;
static unsigned n_threads, current;
/* The kernel with its arguments. */
static const void *kernel_of_block;
static char *shared_memory;             /* with which it was started */
static unsigned shared_bytes;
static void (*body)(const void *kernel);
static const char *problem;
static unsigned long long slots[MOST_THREADS];

static void run_thread()
{
	body(kernel_of_block);
	fibers[current].state = DONE;
	swapcontext(&fibers[current].context, &scheduler);
}

static void wait_for(waiting state, unsigned mask, int barrier)
{
	const unsigned thread = current;

	fibers[thread].state = state;
	fibers[thread].mask = mask;
	fibers[thread].barrier = barrier;
	swapcontext(&fibers[thread].context, &scheduler);
}

static void start_thread(unsigned thread)
{
	fiber &f = fibers[thread];

	if (!f.stack)
		f.stack = (char *) mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	getcontext(&f.context);
	f.context.uc_stack.ss_sp = f.stack;
	f.context.uc_stack.ss_size = STACK;
	f.context.uc_link = &scheduler;
	f.state = RUNNING;
	makecontext(&f.context, run_thread, 0);
}

static bool all_wait_for_block()
{
	for (unsigned t = 0; t < n_threads; t++)
		if (fibers[t].state != BLOCK)
			return false;
	return true;
}

/* Are all lanes of the mask at the same barrier of the warp? */
static bool warp_is_complete(unsigned thread)
{
	const fiber &f = fibers[thread];
	const unsigned first = thread/WARP*WARP;

	for (unsigned lane = 0; lane < WARP; lane++) {
		const fiber &other = fibers[first + lane];

		if (!(f.mask >> lane & 1))
			continue;
		if (first + lane >= n_threads || other.state != WARPS || other.mask != f.mask ||
		    other.barrier != f.barrier)
			return false;
	}
	return f.mask >> thread % WARP & 1;
}

/* Lets those go on who have waited for all others. */
static bool release()
{
	bool any = false;

	if (all_wait_for_block()) {
		for (unsigned t = 0; t < n_threads; t++)
			fibers[t].state = RUNNING;
		return true;
	}
	for (unsigned t = 0; t < n_threads; t++) {
		const unsigned mask = fibers[t].mask, first = t/WARP*WARP;

		if (fibers[t].state != WARPS || !warp_is_complete(t))
			continue;
		for (unsigned lane = 0; lane < WARP; lane++)
			if (mask >> lane & 1)
				fibers[first + lane].state = RUNNING;
		any = true;
	}
	return any;
}

static bool sweep()
{
	bool all_done = true;

	for (unsigned t = 0; t < n_threads; t++) {
		if (fibers[t].state == RUNNING) {
			current = t;
			threadIdx.x = t;
			swapcontext(&scheduler, &fibers[t].context);
		}
		all_done = all_done && fibers[t].state == DONE;
	}
	return all_done;
}

extern "C" char __start_pmg_shared[] __attribute__((weak, visibility("hidden")));
extern "C" char __stop_pmg_shared[] __attribute__((weak, visibility("hidden")));

static void run_block()
{
	if (__start_pmg_shared)
		memset(__start_pmg_shared, 0xff, (size_t) (__stop_pmg_shared - __start_pmg_shared));
	memset(shared_memory, 0xff, shared_bytes);
	for (unsigned t = 0; t < n_threads; t++)
		start_thread(t);
	while (!sweep())
		if (!release()) {
			problem = "a barrier that not all of its threads reach";
			return;
		}
}

template <class F> static void call(const void *kernel)
{
	(*(const F *) kernel)();
}

enum { MOST_SHARED = 227 << 10 };

/* Behind its end, none can be touched. */
static char *take_shared(unsigned bytes)
{
	static char *region;
	const size_t whole = (MOST_SHARED + PAGE - 1)/PAGE*PAGE;

	if (!region) {
		region = (char *) mmap(NULL, whole + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		mprotect(region + whole, PAGE, PROT_NONE);
	}
	return region + whole - (bytes + 15)/16*16;
}

template <class F> static void start(unsigned blocks, unsigned threads, unsigned shared, F kernel)
{
	access during;

	watch();
	count.kernels++;
	if (threads > MOST_THREADS || threads == 0 || blocks == 0 || shared > MOST_SHARED) {
		problem = "a grid of this size cannot be started";
		return;
	}
	kernel_of_block = &kernel;
	body = call<F>;
	n_threads = threads;
	shared_memory = take_shared(shared);
	shared_bytes = shared;
	gridDim = { blocks, 1, 1 };
	blockDim = { threads, 1, 1 };
	for (unsigned block = 0; block < blocks && !problem; block++) {
		blockIdx = { block, 0, 0 };
		run_block();
	}
}

enum barriers { SYNC, SHUFFLE_IN, SHUFFLE_OUT };

/* Asynchronous copies of a thread are made as late as can be: where it waits for them. */
struct later {
	void *to;
	const void *from;
	size_t bytes;
};

static std::vector<later> copies[MOST_THREADS];

static inline void copy_later(void *to, const void *from, size_t bytes)
{
	copies[current].push_back({ to, from, bytes });
}

static inline void copy_now()
{
	for (const later &copy : copies[current])
		memcpy(copy.to, copy.from, copy.bytes);
	copies[current].clear();
}

/* As rough as that of a device, and without subnormal numbers. */
static inline double reciprocal(double b)
{
	const double least = std::numeric_limits<double>::min(), divisor = fabs(b) < least ? copysign(0, b) : b;
	const double y = (1 + 0x1p-20)/divisor;

	return fabs(y) < least ? copysign(0, y) : y;
}

}

#define PMG_CUDA_MEMORY char *const pmg_shared_memory = emulated::shared_memory
#define PMG_CUDA_COPY(shared, from) emulated::copy_later(shared, from, sizeof *(shared))
#define PMG_COPIED emulated::copy_now()
#define PMG_CUDA_RECIPROCAL(b) emulated::reciprocal(b)
#define PMG_CUDA_START(kernel, blocks, threads, shared, stream, ...) \
	emulated::start(blocks, threads, shared, [=] { kernel(__VA_ARGS__); })

/* ---- graphs ---- */

struct emulated_node {
	std::function<void()> start;
	std::vector<cudaGraphNode_t> before;
};

struct emulated_graph {
	std::vector<emulated_node> nodes;
	unsigned n_launches;
};

namespace emulated {

template <class F> static cudaError_t add_node(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before,
					       size_t n, unsigned blocks, unsigned threads, unsigned shared, F kernel)
{
	emulated_node added = { [=] { start(blocks, threads, shared, kernel); }, { before, before + n } };

	for (size_t i = 0; i < n; i++)
		if (before[i] == 0 || before[i] > graph->nodes.size())
			return cudaErrorInvalidValue;
	graph->nodes.push_back(added);
	*node = graph->nodes.size();
	return cudaSuccess;
}

static bool can_run(const emulated_graph &graph, const std::vector<bool> &is_done, size_t node)
{
	bool can = !is_done[node];

	for (cudaGraphNode_t before : graph.nodes[node].before)
		can = can && is_done[before - 1];
	return can;
}

/* The last, the first, a middle one of those that can run. */
static void run_one(const emulated_graph &graph, std::vector<bool> &is_done)
{
	std::vector<size_t> ready;

	for (size_t i = 0; i < graph.nodes.size(); i++)
		if (can_run(graph, is_done, i))
			ready.push_back(i);
	const size_t at[] = { ready.size() - 1, 0, ready.size()/2 }, node = ready[at[graph.n_launches % 3]];

	is_done[node] = true;
	graph.nodes[node].start();
}

}

#define PMG_CUDA_ADD_NODE emulated::add_node

static inline cudaError_t cudaGraphCreate(cudaGraph_t *graph, unsigned)
{
	*graph = new emulated_graph();
	return cudaSuccess;
}

static inline cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long)
{
	*exec = new emulated_graph(*graph);
	emulated::count.graphs++;
	return cudaSuccess;
}

static inline cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
	delete graph;
	return cudaSuccess;
}

static inline cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
	return cudaGraphDestroy(exec);
}

static inline cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t)
{
	std::vector<bool> is_done(exec->nodes.size(), false);

	for (size_t i = 0; i < exec->nodes.size() && !emulated::problem; i++)
		emulated::run_one(*exec, is_done);
	exec->n_launches++;
	emulated::count.launches++;
	return emulated::problem ? cudaErrorLaunchFailure : cudaSuccess;
}

/* ---- in kernels ---- */

static inline void __syncthreads()
{
	emulated::wait_for(emulated::BLOCK, 0, emulated::SYNC);
}

static inline void __syncwarp(unsigned mask = 0xffffffffu)
{
	emulated::wait_for(emulated::WARPS, mask, emulated::SYNC);
}

static inline void __threadfence()
{
}

/* What thread `from` has, if it is of the same `width` lanes, else the value. */
template <class T> static inline T emulated_shuffle(unsigned mask, T value, unsigned from, int width)
{
	const unsigned thread = emulated::current;
	T result;

	memcpy(&emulated::slots[thread], &value, sizeof value);
	emulated::wait_for(emulated::WARPS, mask, emulated::SHUFFLE_IN);
	memcpy(&result, &emulated::slots[from/(unsigned) width == thread/(unsigned) width ? from : thread],
	       sizeof result);
	emulated::wait_for(emulated::WARPS, mask, emulated::SHUFFLE_OUT);
	return result;
}

template <class T> static inline T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = emulated::WARP)
{
	return emulated_shuffle(mask, value, emulated::current ^ (unsigned) lanes, width);
}

template <class T> static inline T __shfl_up_sync(unsigned mask, T value, unsigned lanes, int width = emulated::WARP)
{
	return emulated_shuffle(mask, value, emulated::current - lanes, width);
}

template <class T> static inline T __shfl_down_sync(unsigned mask, T value, unsigned lanes, int width = emulated::WARP)
{
	return emulated_shuffle(mask, value, emulated::current + lanes, width);
}

template <class T> static inline T __shfl_sync(unsigned mask, T value, int lane, int width = emulated::WARP)
{
	const unsigned first = emulated::current/(unsigned) width*(unsigned) width;

	return emulated_shuffle(mask, value, first + (unsigned) lane % (unsigned) width, width);
}

static inline unsigned __ballot_sync(unsigned mask, bool is)
{
	const unsigned first = emulated::current/emulated::WARP*emulated::WARP;
	unsigned ballot = 0;

	emulated::slots[emulated::current] = is;
	emulated::wait_for(emulated::WARPS, mask, emulated::SHUFFLE_IN);
	for (unsigned lane = 0; lane < emulated::WARP; lane++)
		if (mask >> lane & 1 && emulated::slots[first + lane])
			ballot |= 1u << lane;
	emulated::wait_for(emulated::WARPS, mask, emulated::SHUFFLE_OUT);
	return ballot;
}

template <class T> static inline T __ldcg(const T *cell)
{
	return *cell;
}

static inline int __popc(unsigned bits)
{
	return __builtin_popcount(bits);
}

template <class T> static inline T atomicAdd(T *target, T value)
{
	T before = *target;

	*target = before + value;
	return before;
}

template <class T> static inline T atomicExch(T *target, T value)
{
	T before = *target;

	*target = value;
	return before;
}

template <class T> static inline T atomicCAS(T *target, T expected, T value)
{
	T before = *target;

	if (before == expected)
		*target = value;
	return before;
}

/* ---- on the host ---- */

static inline cudaError_t cudaGetLastError()
{
	return emulated::problem ? cudaErrorLaunchFailure : cudaSuccess;
}

static inline const char *cudaGetErrorString(cudaError_t error)
{
	if (error == cudaErrorLaunchFailure && emulated::problem) {
		const char *text = emulated::problem;

		emulated::problem = NULL;
		return text;
	}
	return error == cudaErrorMemoryAllocation ? "out of memory" : "an error";
}

template <class T> static inline cudaError_t cudaMalloc(T **memory, size_t bytes)
{
	using namespace emulated;
	const size_t rounded = (bytes + 15)/16*16, inner = (rounded + PAGE - 1)/PAGE*PAGE;
	piece p;

	watch();
	if (used + bytes > capacity() || n_pieces == MOST_PIECES)
		return cudaErrorMemoryAllocation;
	p.region_bytes = inner + 2*PAGE;
	p.bytes = rounded;
	p.region = (char *) mmap(NULL, p.region_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p.region == MAP_FAILED)
		return cudaErrorMemoryAllocation;
	p.data = p.region + PAGE + inner - rounded;
	protect(p, PROT_READ | PROT_WRITE);
	memset(p.region + PAGE, 0xff, inner);
	protect(p, PROT_NONE);
	used += bytes;
	pieces[n_pieces++] = p;
	*memory = (T *) (void *) p.data;
	return cudaSuccess;
}

static inline cudaError_t cudaFree(void *memory)
{
	using namespace emulated;

	for (size_t i = 0; i < n_pieces; i++)
		if (pieces[i].data == memory) {
			check_front(pieces[i]);
			munmap(pieces[i].region, pieces[i].region_bytes);
			used -= pieces[i].bytes < used ? pieces[i].bytes : used;
			pieces[i] = pieces[--n_pieces];
			return cudaSuccess;
		}
	return cudaSuccess;
}

static inline cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind, cudaStream_t)
{
	emulated::access during;

	memcpy(to, from, bytes);
	return cudaSuccess;
}

static inline cudaError_t cudaMemsetAsync(void *memory, int value, size_t bytes, cudaStream_t)
{
	emulated::access during;

	memset(memory, value, bytes);
	return cudaSuccess;
}

enum cudaDeviceAttr { cudaDevAttrMultiProcessorCount, cudaDevAttrMaxSharedMemoryPerBlockOptin };
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize };

static inline cudaError_t cudaFuncSetAttribute(const void *, cudaFuncAttribute, int)
{
	return cudaSuccess;
}

static inline cudaError_t cudaGetDevice(int *device)
{
	*device = 0;
	return cudaSuccess;
}

/* PMG_EMULATED_SHARED: of a device with less. */
static inline cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int)
{
	const char *shared = getenv("PMG_EMULATED_SHARED");

	*value = attribute == cudaDevAttrMultiProcessorCount ? 1 : shared ? atoi(shared) : emulated::MOST_SHARED;
	return cudaSuccess;
}

static inline cudaError_t cudaMemGetInfo(size_t *available, size_t *all)
{
	*all = emulated::capacity();
	*available = *all - (emulated::used < *all ? emulated::used : *all);
	return cudaSuccess;
}

static inline cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
	*stream = NULL;
	return cudaSuccess;
}

static inline cudaError_t cudaStreamDestroy(cudaStream_t)
{
	return cudaSuccess;
}

static inline cudaError_t cudaStreamSynchronize(cudaStream_t)
{
	emulated::count.waits++;
	return cudaGetLastError();
}

static inline cudaError_t cudaEventCreate(cudaEvent_t *event)
{
	*event = new emulated_event();
	return cudaSuccess;
}

static inline cudaError_t cudaEventDestroy(cudaEvent_t event)
{
	delete event;
	return cudaSuccess;
}

static inline cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t)
{
	clock_gettime(CLOCK_MONOTONIC, &event->at);
	event->is_recorded = true;
	return cudaSuccess;
}

static inline cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end)
{
	if (!start->is_recorded || !end->is_recorded)
		return cudaErrorInvalidResourceHandle;
	*milliseconds = (float) (1e3*(double) (end->at.tv_sec - start->at.tv_sec) +
				 1e-6*(double) (end->at.tv_nsec - start->at.tv_nsec));
	return cudaSuccess;
}

#endif
