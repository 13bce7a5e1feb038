/* SPDX-License-Identifier: MIT
 *
 * A coefficient for each lane of a warp: the form that generated kernels have, written out with numbers of 32 bits.
 * Lanes next to each other with one atom are added up, groups of 8 lanes work at the rows of those that are left, of
 * which each has 12 cells in registers; what the next 32 coefficients need is read meanwhile. For w = M'y groups make
 * dot products, of several rounds before they are added up over lanes: four for doubles, two for upper halves, which
 * leave room for more warps. Parts of voxels come along a Hilbert curve in space (Hilbert 1891; the transposed form of
 * J. Skilling, AIP Conf. Proc. 707, 2004). */
#ifndef BENCH_HANDTUNED_LIFE_GPU_LANES_H
#define BENCH_HANDTUNED_LIFE_GPU_LANES_H

enum { LANES_THREADS = 128, LANES_GROUP = 8, LANES_GROUPS = 4, LANES_ALL = 32 };

static const unsigned lanes_full = 0xffffffffu;

struct lanes_parts {
	int n;
	const int *voxel, *begin, *end;
	const bool *is_whole;
	const int *atom, *fiber;
	const double *value;
};

/* ---- Cells of D ---- */

static __device__ __forceinline__ void lanes_read(const double *cells, double (&x)[2])
{
	const double2 c = *(const double2 *) cells;

	x[0] = c.x;
	x[1] = c.y;
}

static __device__ __forceinline__ void lanes_read(const unsigned *cells, double (&x)[4])
{
	const uint4 c = *(const uint4 *) cells;

	x[0] = __hiloint2double((int) c.x, 0);
	x[1] = __hiloint2double((int) c.y, 0);
	x[2] = __hiloint2double((int) c.z, 0);
	x[3] = __hiloint2double((int) c.w, 0);
}

template <class T> struct lanes_row {
	enum { WIDTH = 16/sizeof(T) };
};

/* Where pair j of the cells that a lane has is in a row. */
template <int width> static __device__ __forceinline__ int lanes_cell(int j, int member)
{
	return (j*2/width*LANES_GROUP + member)*width + j*2 % width;
}

/* ---- The coefficients of a warp ---- */

struct lanes_coefficient {
	int atom, fiber;
	double value;
};

static __device__ __forceinline__ lanes_coefficient lanes_get(const lanes_parts &p, int k)
{
	return { __ldcg(p.atom + k), __ldcg(p.fiber + k), __ldcg(p.value + k) };
}

/* Lane number n of `lanes`. */
static __device__ __forceinline__ int lanes_nth(unsigned lanes, int n)
{
	int at = 0;

#pragma unroll
	for (int half = LANES_ALL/2; half > 0; half /= 2) {
		const int below = __popc(lanes >> at & ((1u << half) - 1));

		if (n >= below) {
			n -= below;
			at += half;
		}
	}
	return at;
}

static __device__ __forceinline__ unsigned lanes_heads(int atom, int lane)
{
	const int before = __shfl_up_sync(lanes_full, atom, 1);

	return __ballot_sync(lanes_full, lane == 0 || before != atom);
}

/* In a head, the sum up to the next one. */
static __device__ __forceinline__ double lanes_merge(unsigned heads, double value, int lane)
{
	const unsigned behind = heads >> lane >> 1;
	unsigned longer = ~heads;

#pragma unroll
	for (int d = 1; d < LANES_ALL; d *= 2) {
		if (!longer)
			break;
		const double other = __shfl_down_sync(lanes_full, value, d);

		if (lane + d < LANES_ALL && !(behind & ((1u << d) - 1)))
			value += other;
		longer &= longer >> d;
	}
	return value;
}

/* ---- y = M w ---- */

template <class T, int N>
static __device__ __forceinline__ void lanes_add(const T *cells, double factor, double (&row)[N])
{
	constexpr int width = lanes_row<T>::WIDTH;

#pragma unroll
	for (int j = 0; j < N/width; j++) {
		double x[width];

		lanes_read(cells + j*LANES_GROUP*width, x);
#pragma unroll
		for (int c = 0; c < width; c++)
			row[j*width + c] += x[c]*factor;
	}
}

template <int n_theta, int blocks, class T> static __global__ void __launch_bounds__(LANES_THREADS, blocks)
lanes_dsc(lanes_parts p, const T *__restrict__ D, const double *__restrict__ w, double *__restrict__ Y)
{
	constexpr int width = lanes_row<T>::WIDTH, N = n_theta/LANES_GROUP;
	const int lane = threadIdx.x % LANES_ALL, member = lane % LANES_GROUP, group = lane/LANES_GROUP;
	const int part = (int) ((blockIdx.x*LANES_THREADS + threadIdx.x)/LANES_ALL);
	double row[N] = { 0 };

	if (part >= p.n || p.begin[part] == p.end[part])
		return;
	const int begin = p.begin[part], end = p.end[part], voxel = p.voxel[part];
	lanes_coefficient next = lanes_get(p, min(begin + lane, end - 1));

	for (int first = begin; first < end; first += LANES_ALL) {
		const lanes_coefficient now = next;
		const bool is_in = first + lane < end;

		if (first + LANES_ALL + lane < end)
			next = lanes_get(p, first + LANES_ALL + lane);
		const unsigned heads = lanes_heads(now.atom, lane);
		const double total = lanes_merge(heads, is_in ? __ldcg(w + now.fiber)*now.value : 0, lane);
		const unsigned lanes = __ballot_sync(lanes_full, is_in && (heads >> lane & 1) && total != 0);
		const int source = lanes_nth(lanes, lane), n = __popc(lanes);
		const int atom = __shfl_sync(lanes_full, now.atom, source);
		const double factor = __shfl_sync(lanes_full, total, source);

#pragma unroll 1
		for (int round = 0; round*LANES_GROUPS < n; round++) {
			const int number = round*LANES_GROUPS + group;
			const int a = __shfl_sync(lanes_full, atom, number);
			const double f = __shfl_sync(lanes_full, factor, number);

			if (number < n)
				lanes_add(D + a*n_theta + member*width, f, row);
		}
	}
#pragma unroll
	for (int j = 0; j < N; j++) {
		row[j] += __shfl_xor_sync(lanes_full, row[j], LANES_GROUP);
		row[j] += __shfl_xor_sync(lanes_full, row[j], 2*LANES_GROUP);
	}
	const bool is_whole = p.is_whole[part];
#pragma unroll
	for (int j = 0; j < N/2; j++) {
		double *cell = Y + (int64_t) voxel*n_theta + lanes_cell<width>(j, member);

		if (j % LANES_GROUPS != group)
			continue;
		if (is_whole) {
			*(double2 *) cell = make_double2(row[2*j], row[2*j + 1]);
		} else {
			atomicAdd(cell, row[2*j]);
			atomicAdd(cell + 1, row[2*j + 1]);
		}
	}
}

/* ---- w = M'y ---- */

template <class T, int N>
static __device__ __forceinline__ double lanes_dot(const T *cells, const double (&row)[N])
{
	constexpr int width = lanes_row<T>::WIDTH;
	double sums[2] = { 0 };

#pragma unroll
	for (int j = 0; j < N/width; j++) {
		double x[width];

		lanes_read(cells + j*LANES_GROUP*width, x);
#pragma unroll
		for (int c = 0; c < width; c++)
			sums[c % 2] += x[c]*row[j*width + c];
	}
	return sums[0] + sums[1];
}

/* Of two sums, the lower or the upper lanes go on with one. */
static __device__ __forceinline__ double lanes_halve(double lower, double upper, bool is_upper, int lanes)
{
	return (is_upper ? upper : lower) + __shfl_xor_sync(lanes_full, is_upper ? lower : upper, lanes);
}

/* Of the sums of `rounds` rounds, parts of which the lanes of a group have, the one that is number `rank`. */
static __device__ __forceinline__ double lanes_give(const double (&s)[4], int rank, int member)
{
	const double a = lanes_halve(s[0], s[2], member & 4, 4), b = lanes_halve(s[1], s[3], member & 4, 4);
	double sum = lanes_halve(a, b, member & 2, 2);

	sum += __shfl_xor_sync(lanes_full, sum, 1);
	return __shfl_sync(lanes_full, sum, (rank & 3)*LANES_GROUP + (rank >> 2 & 3)*2);
}

static __device__ __forceinline__ double lanes_give(const double (&s)[2], int rank, int member)
{
	double sum = lanes_halve(s[0], s[1], member & 4, 4);

	sum += __shfl_xor_sync(lanes_full, sum, 2);
	sum += __shfl_xor_sync(lanes_full, sum, 1);
	return __shfl_sync(lanes_full, sum, (rank & 3)*LANES_GROUP + (rank & 4));
}

template <int n_theta, int blocks, int rounds, class T> static __global__ void __launch_bounds__(LANES_THREADS, blocks)
lanes_wc(lanes_parts p, const T *__restrict__ D, const double *__restrict__ Y, double *__restrict__ w)
{
	constexpr int width = lanes_row<T>::WIDTH, N = n_theta/LANES_GROUP;
	const int lane = threadIdx.x % LANES_ALL, member = lane % LANES_GROUP, group = lane/LANES_GROUP;
	const int part = (int) ((blockIdx.x*LANES_THREADS + threadIdx.x)/LANES_ALL);
	double row[N];

	if (part >= p.n || p.begin[part] == p.end[part])
		return;
	const int begin = p.begin[part], end = p.end[part], voxel = p.voxel[part];
#pragma unroll
	for (int j = 0; j < N/2; j++) {
		const double *cell = Y + (int64_t) voxel*n_theta + lanes_cell<width>(j, member);
		const double2 c = __ldcg((const double2 *) cell);

		row[2*j] = c.x;
		row[2*j + 1] = c.y;
	}
	lanes_coefficient next = lanes_get(p, min(begin + lane, end - 1));

	for (int first = begin; first < end; first += LANES_ALL) {
		const lanes_coefficient now = next;
		const bool is_in = first + lane < end;

		if (first + LANES_ALL + lane < end)
			next = lanes_get(p, first + LANES_ALL + lane);
		const unsigned heads = lanes_heads(now.atom, lane);
		const unsigned lanes = __ballot_sync(lanes_full, is_in && (heads >> lane & 1));
		const int n = __popc(lanes), rank = __popc(lanes & ((2u << lane) - 1)) - 1;
		const int atom = __shfl_sync(lanes_full, now.atom, lanes_nth(lanes, lane));
		double sum = 0;

#pragma unroll 1
		for (int round = 0; round*LANES_GROUPS < n; round += rounds) {
			double sums[rounds] = { };

#pragma unroll
			for (int r = 0; r < rounds; r++) {
				const int number = (round + r)*LANES_GROUPS + group;
				const int a = __shfl_sync(lanes_full, atom, number);

				if (number < n)
					sums[r] = lanes_dot(D + a*n_theta + member*width, row);
			}
			const double given = lanes_give(sums, rank, member);

			if ((rank & -(LANES_GROUPS*rounds)) == round*LANES_GROUPS)
				sum = given;
		}
		if (is_in)
			atomicAdd(w + now.fiber, sum*now.value);
	}
}

/* ---- Starts ---- */

/* Blocks side by side, as registers allow, and what was best. */
template <int n_theta> static void lanes_run_dsc(const lanes_parts &p, const double *D, const double *w, double *Y)
{
	lanes_dsc<n_theta, 7><<<(p.n + LANES_GROUPS - 1)/LANES_GROUPS, LANES_THREADS>>>(p, D, w, Y);
}

template <int n_theta> static void lanes_run_dsc(const lanes_parts &p, const unsigned *D, const double *w, double *Y)
{
	lanes_dsc<n_theta, 9><<<(p.n + LANES_GROUPS - 1)/LANES_GROUPS, LANES_THREADS>>>(p, D, w, Y);
}

template <int n_theta> static void lanes_run_wc(const lanes_parts &p, const double *D, const double *Y, double *w)
{
	lanes_wc<n_theta, 6, 4><<<(p.n + LANES_GROUPS - 1)/LANES_GROUPS, LANES_THREADS>>>(p, D, Y, w);
}

template <int n_theta> static void lanes_run_wc(const lanes_parts &p, const unsigned *D, const double *Y, double *w)
{
	lanes_wc<n_theta, 8, 2><<<(p.n + LANES_GROUPS - 1)/LANES_GROUPS, LANES_THREADS>>>(p, D, Y, w);
}

/* ---- The curve ---- */

/* The place of a point of a cube of 2^bits on Hilbert's curve. */
static uint64_t lanes_curve(const int32_t *point, int bits)
{
	uint32_t x[3] = { (uint32_t) point[0], (uint32_t) point[1], (uint32_t) point[2] }, turned = 0;
	uint64_t place = 0;

	for (uint32_t side = 1u << (bits - 1); side > 1; side /= 2)
		for (int d = 0; d < 3; d++) {
			const uint32_t other = (x[0] ^ x[d]) & (side - 1);

			if (x[d] & side) {
				x[0] ^= side - 1;
			} else {
				x[0] ^= other;
				x[d] ^= other;
			}
		}
	x[1] ^= x[0];
	x[2] ^= x[1];
	for (uint32_t side = 1u << (bits - 1); side > 1; side /= 2)
		if (x[2] & side)
			turned ^= side - 1;
	for (int b = bits - 1; b >= 0; b--)
		for (int d = 0; d < 3; d++)
			place = place << 1 | ((x[d] ^ turned) >> b & 1);
	return place;
}

#endif
