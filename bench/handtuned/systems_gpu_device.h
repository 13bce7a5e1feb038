/* SPDX-License-Identifier: MIT
 *
 * What kernels for many systems share: how they are started, memory of blocks, copies that go on beside the work, a
 * fast reciprocal. Another compiler than nvcc (the tests have one that runs kernels on the processor) has neither PTX
 * nor clusters of blocks nor cuSPARSE; copies are finished at once there. */
#ifndef BENCH_HANDTUNED_SYSTEMS_GPU_DEVICE_H
#define BENCH_HANDTUNED_SYSTEMS_GPU_DEVICE_H

/* The last: bytes that a block can have. */
enum { GPU_WARP = 32, GPU_BANK = 16, GPU_MOST_SHARED = 227*1024 };

static const unsigned gpu_all_lanes = 0xffffffffu;

#ifdef __NVCC__
#define GPU_START(kernel, blocks, threads, shared, ...) \
	kernel<<<(unsigned) (blocks), (unsigned) (threads), (size_t) (shared)>>>(__VA_ARGS__)
#define GPU_SHARED(name) extern __shared__ __align__(128) unsigned char name[]
#else
alignas(128) static __attribute__((section("pmg_shared"))) unsigned char gpu_shared[GPU_MOST_SHARED];
#define GPU_START(kernel, blocks, threads, shared, ...) \
	PMG_CUDA_START(kernel, (unsigned) (blocks), (unsigned) (threads), 0, NULL, __VA_ARGS__)
#define GPU_SHARED(name) unsigned char *const name = gpu_shared
#endif

static inline int64_t gpu_ceiling(int64_t count, int64_t size)
{
	return (count + size - 1)/size;
}

/* ---- Numbers that are wide as an access ---- */

template <class T> struct alignas(GPU_BANK) gpu_vector {
	enum { WIDTH = GPU_BANK/sizeof(T) };
	T at[WIDTH];
};

/* ---- Reciprocals: an approximation and Newton's steps ---- */

static __device__ __forceinline__ double gpu_reciprocal(double d)
{
#ifdef __NVCC__
	double y;

	asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(d));
	y = fma(y, fma(-d, y, 1.0), y);
	return fma(y, fma(-d, y, 1.0), y);
#else
	return 1/d;
#endif
}

static __device__ __forceinline__ float gpu_reciprocal(float d)
{
#ifdef __NVCC__
	float y;

	asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(d));
	return fmaf(y, fmaf(-d, y, 1.0f), y);
#else
	return 1/d;
#endif
}

/* ---- Copies into the memory of a block ---- */

template <int bytes> static __device__ __forceinline__ void gpu_copy_begin(void *to, const void *from)
{
#ifdef __NVCC__
	const unsigned shared = (unsigned) __cvta_generic_to_shared(to);

	if constexpr (bytes == GPU_BANK)
		asm volatile("cp.async.cg.shared.global [%0], [%1], %2;"
			     :: "r"(shared), "l"(from), "n"(bytes) : "memory");
	else
		asm volatile("cp.async.ca.shared.global [%0], [%1], %2;"
			     :: "r"(shared), "l"(from), "n"(bytes) : "memory");
#else
	memcpy(to, from, bytes);
#endif
}

/* Until all that this thread has begun are there; the others see it after a barrier. */
static __device__ __forceinline__ void gpu_copies_wait()
{
#ifdef __NVCC__
	asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

/* ---- Blocks of one cluster: each says that it has come so far, and waits for the others ---- */

static __device__ __forceinline__ void gpu_cluster_arrive()
{
#ifdef __NVCC__
	asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
#endif
}

static __device__ __forceinline__ void gpu_cluster_wait()
{
#ifdef __NVCC__
	asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
#endif
}

/* ---- Bulk copies, which one thread begins and all wait for at a barrier in the memory of the block ---- */

#ifdef __NVCC__
static __device__ __forceinline__ unsigned gpu_shared_address(const void *memory)
{
	return (unsigned) __cvta_generic_to_shared(memory);
}

static __device__ __forceinline__ void gpu_bulk_open(unsigned long long *barrier)
{
	asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(gpu_shared_address(barrier)) : "memory");
	asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

static __device__ __forceinline__ void gpu_bulk_expect(unsigned long long *barrier, unsigned bytes)
{
	asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
		     :: "r"(gpu_shared_address(barrier)), "r"(bytes) : "memory");
}

static __device__ __forceinline__ void
gpu_bulk_begin(void *to, const void *from, unsigned bytes, unsigned long long *barrier)
{
	asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
		     :: "r"(gpu_shared_address(to)), "l"(from), "r"(bytes), "r"(gpu_shared_address(barrier))
		     : "memory");
}

/* Its first phase. */
static __device__ __forceinline__ void gpu_bulk_wait(unsigned long long *barrier)
{
	unsigned is_done = 0;

	while (!is_done)
		asm volatile("{\n\t.reg .pred p;\n\t"
			     "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;\n\t"
			     "selp.u32 %0, 1, 0, p;\n\t}"
			     : "=r"(is_done) : "r"(gpu_shared_address(barrier)) : "memory");
}
#endif

#endif
