/* SPDX-License-Identifier: MIT
 *
 * Kernels whose teams are blocks, read by pmgrt_cuda.h: a team has as many lanes as its longest loop has iterations. Up
 * to a warp that is a power of two, and a block has several teams; more are a multiple of a warp, and the team is the
 * block. Lanes of a team share memory with which the kernel is started. */
#ifndef PMGRT_CUDA_BLOCK_H
#define PMGRT_CUDA_BLOCK_H

/* Bytes that a kernel can be started with unless it asks for more; lanes of a block, at most; threads of a block whose
 * teams are warps at most. */
enum {
	PMG_CUDA_SHARED = 48 << 10, PMG_CUDA_MOST_LANES = 1024, PMG_CUDA_THREADS_OF_TEAMS = 128,
	PMG_CUDA_MOST_BLOCKS_AT_ONCE = 32
};

/* ---- How large a team is ------------------------------------------------------------------------------------ */

/* Lanes for which there are registers, each having so many bytes there, and about 40 more: at least one block with 255
 * registers for each of its threads. */
static constexpr __host__ __device__ int pmg_cuda_most_lanes(int bytes)
{
	return 40 + bytes/4 <= PMG_CUDA_REGISTERS/PMG_CUDA_MOST_LANES ? PMG_CUDA_MOST_LANES
	     : 40 + bytes/4 >= 255 ? PMG_CUDA_REGISTERS/256
	     : PMG_CUDA_REGISTERS/((40 + bytes/4 + 7)/8*8)/(4*PMG_CUDA_WARP)*(4*PMG_CUDA_WARP);
}

#define PMG_BLOCK_LANES(bytes) pmg_cuda_most_lanes(bytes)
#define PMG_BOUNDS_BLOCK(bytes) __launch_bounds__(pmg_cuda_most_lanes(bytes))

/* For loops of n iterations. */
static inline int pmg_cuda_lanes(int64_t n, int most)
{
	int lanes = 1;

	while (lanes < n && lanes < PMG_CUDA_WARP)
		lanes *= 2;
	if (n > PMG_CUDA_WARP)
		lanes = n < most ? (int) ((n + PMG_CUDA_WARP - 1)/PMG_CUDA_WARP)*PMG_CUDA_WARP : most;
	return lanes;
}

/* Teams that a multiprocessor has if blocks have so many; each block takes another kilobyte. */
static inline int64_t pmg_cuda_teams_at_once(int teams, int64_t bytes, int64_t most)
{
	const int64_t blocks = (most + 1024)/(teams*bytes + 1024);

	if (blocks > PMG_CUDA_MOST_BLOCKS_AT_ONCE)
		return (int64_t) teams*PMG_CUDA_MOST_BLOCKS_AT_ONCE;
	return teams*blocks;
}

/* As many as a block has threads for, or fewer, if there is memory for more of them then. */
static inline int pmg_cuda_teams_of_block(int lanes, int64_t bytes, int64_t most)
{
	int teams = lanes > PMG_CUDA_WARP ? 1 : PMG_CUDA_THREADS_OF_TEAMS/lanes, best = teams;

	for (; teams > 0; teams /= 2)
		if (pmg_cuda_teams_at_once(teams, bytes, most) > pmg_cuda_teams_at_once(best, bytes, most))
			best = teams;
	return best;
}

/* Bytes for so many elements. */
#define PMG_ROOM(type, n) (((int64_t) sizeof(type)*(n) + 15)/16*16)

/* ---- In kernels ---------------------------------------------------------------------------------------------- */

#ifndef PMG_CUDA_MEMORY
#define PMG_CUDA_MEMORY extern __shared__ double2 pmg_shared_memory[]
#endif

/* An element from memory to shared memory, not waited for: neither takes a register. Then a wait for all of a thread's
 * (PTX: cp.async). */
#ifndef PMG_CUDA_COPY
template <class T> static inline __device__ void pmg_cuda_copy_late(T *shared, const T *from)
{
#if __CUDA_ARCH__ >= 800
	asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" : : "r"((unsigned) __cvta_generic_to_shared(shared)),
		     "l"(from), "n"((int) sizeof(T)) : "memory");
#else
	*shared = *from;
#endif
}

static inline __device__ void pmg_cuda_copied()
{
#if __CUDA_ARCH__ >= 800
	asm volatile("cp.async.wait_all;" : : : "memory");
#endif
}

#define PMG_CUDA_COPY(shared, from) pmg_cuda_copy_late(shared, from)
#define PMG_COPIED pmg_cuda_copied()
#endif

/* 1/b to some twenty bits; subnormal numbers count as zeros. */
#ifndef PMG_CUDA_RECIPROCAL
static inline __device__ double pmg_cuda_reciprocal(double b)
{
	double y = b;

#ifdef __CUDA_ARCH__
	asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(b));
#endif
	return y;
}

#define PMG_CUDA_RECIPROCAL(b) pmg_cuda_reciprocal(b)
#endif

/* a/b without a branch: y is near 1/b by a step of third order and one of Newton's, a*y near the quotient, and what is
 * left of it rounds that as always (Markstein 1990). The last bit may differ where a or the quotient is near the
 * smallest numbers, as what is left is rounded itself there, and where all bits of b are ones. Both sides are scaled so
 * that neither b nor its reciprocal is subnormal; where that makes of a an infinity or a zero, so is the quotient. */
static inline __device__ double pmg_cuda_quotient(double a, double b)
{
	const double size = fabs(b), scale = size >= 0x1p1000 ? 0x1p-200 : size < 0x1p-1000 ? 0x1p200 : 1;
	const double divisor = b*scale, whole = a*scale, first = PMG_CUDA_RECIPROCAL(divisor);
	double error = fma(-divisor, first, 1.0), y, rough, q;

	y = fma(first, fma(error, error, error), first);
	y = fma(y, fma(-divisor, y, 1.0), y);
	rough = whole*y;
	q = fma(fma(-divisor, rough, whole), y, rough);
	return q - q == 0.0 ? copysign(q, rough) : whole*first;
}

#define PMG_QUOTIENT(a, b) pmg_cuda_quotient(a, b)

#define PMG_TEAM_BLOCK(lanes) \
	PMG_CUDA_MEMORY; \
	const int pmg_team = (lanes), pmg_lane = (int) threadIdx.x % pmg_team; \
	const int pmg_team_number = (int) threadIdx.x/pmg_team, pmg_block_teams = (int) blockDim.x/pmg_team; \
	const int64_t pmg_index = (int64_t) blockIdx.x*pmg_block_teams + pmg_team_number; \
	[[maybe_unused]] int pmg_used = 0; \
	(void) pmg_lane, (void) pmg_index, (void) pmg_shared_memory

/* Where the next array of so many bytes begins, one for each team of the block. */
static inline __device__ char *pmg_cuda_take_room(void *memory, int *used, int bytes, int teams, int team)
{
	char *room = (char *) memory + *used*teams + bytes*team;

	*used += bytes;
	return room;
}

/* An array of n elements that a team has. */
#define PMG_SHARED(type, name, n) \
	type *const name = (type *) (void *) pmg_cuda_take_room(pmg_shared_memory, &pmg_used, (int) PMG_ROOM(type, n), \
								pmg_block_teams, pmg_team_number)

/* ---- In kernels: arguments through shared memory. Lanes copy elements next to each other; behind each `row` of them
 * there is a free one, so that lanes at the same place of their rows are at different banks. ---- */

template <class T> static inline __device__ void pmg_cuda_copy_in(T *shared, const T *from, int n, int row, int lane,
								  int team)
{
	for (int i = lane; i < n; i += team)
		PMG_CUDA_COPY(shared + i + i/row, from + i);
}

template <class T> static inline __device__ void pmg_cuda_copy_out(T *to, const T *shared, int n, int row, int lane,
								   int team)
{
	for (int i = lane; i < n; i += team)
		to[i] = shared[i + i/row];
}

#define PMG_COPY_IN(shared, from, n, row) pmg_cuda_copy_in(shared, from, (int) (n), row, pmg_lane, pmg_team)
#define PMG_COPY_OUT(to, shared, n, row) pmg_cuda_copy_out(to, shared, (int) (n), row, pmg_lane, pmg_team)

static inline __device__ void pmg_cuda_sync(int team)
{
	if (team > PMG_CUDA_WARP)
		__syncthreads();
	else
		__syncwarp(team == PMG_CUDA_WARP ? 0xffffffffu
			   : ((1u << team % PMG_CUDA_WARP) - 1u) << (threadIdx.x % PMG_CUDA_WARP/team*team));
}

#define PMG_BLOCK_SYNC pmg_cuda_sync(pmg_team)

#endif
