/* SPDX-License-Identifier: MIT
 *
 * The two products of LiFE by hand for a GPU: K. Aggarwal's (IISc 2020), step by step, in life_gpu_steps.h, and
 *   opt_cut_32  the last of these steps made better: a warp waits for nothing but its own reads, the row is in shared
 *            memory for w = M'y, too, and numbers of atoms, voxels and fibers have 32 bits
 *   sparse   cuSPARSE: SpMM or SDDMM on the matrix of (voxel, atom), and what brings weights into it
 *   best     8 lanes for a voxel or a part of one, its row in registers, coefficients of one atom merged; voxels that
 *            use near atoms next to each other, so that rows of D are found in caches
 *   best_top the same with the upper 32 bits of D
 *   lanes    a coefficient for each lane of a warp, as generated kernels have it (life_gpu_lanes.h), and lanes_top
 * Numbers are ULong in the steps, as in the thesis (5.2). */
extern "C" {
#include "life_gpu.h"
}

#include <cuda_runtime.h>
#include <cusparse.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "life_gpu_lanes.h"
#include "life_gpu_steps.h"

enum { WARP = STEP_WARP, WARPS = STEP_WARPS, THREADS = STEP_THREADS, LANES = 8, LONGEST = 512, NEIGHBOURHOOD = 256 };

/* ---- State ---- */

struct life_gpu_state {
	enum life_gpu_code code;
	enum life_op op;
	int n, n_theta, n_parts, n_pairs;
	int64_t n_out;
	int *atom, *fiber;                      /* in the order of the version */
	step_number *atom_64, *voxel_64, *fiber_64;     /* as published; NULL in other versions */
	double *value, *D;
	unsigned *D_top;
	int *part_voxel, *part_begin, *part_end;        /* coefficients of one voxel */
	bool *part_is_whole;
	int *pair_begin, *pair_atom, *row_begin;     /* of the matrix for cuSPARSE */
	double *pair;
	cusparseHandle_t sparse;
	cusparseSpMatDescr_t matrix;
	cusparseDnMatDescr_t D_matrix, Y_matrix;
	void *scratch;
	std::vector<void *> memory;
	cudaEvent_t begin, end;
};

static bool is_ok(cudaError_t error)
{
	return error == cudaSuccess;
}

template <class T> static T *on_device(life_gpu_state *s, const std::vector<T> &host)
{
	void *memory = NULL;

	if (!is_ok(cudaMalloc(&memory, std::max<size_t>(host.size(), 1)*sizeof(T))))
		return NULL;
	s->memory.push_back(memory);
	cudaMemcpy(memory, host.data(), host.size()*sizeof(T), cudaMemcpyHostToDevice);
	return (T *) memory;
}

template <class T> static std::vector<T> in_order(const T *values, const int32_t *order, int64_t n)
{
	std::vector<T> sorted(n);

#pragma omp parallel for
	for (int64_t i = 0; i < n; i++)
		sorted[i] = values[order[i]];
	return sorted;
}

/* ---- Voxels cut, a warp for each part ---- */

static __global__ void cut_dsc_32(int n_parts, int n_theta, const int *part_voxel, const int *part_begin,
				  const bool *part_is_whole, const int *atom, const int *fiber, const double *value,
				  const double *D, const double *w, double *Y)
{
	extern __shared__ double rows[];
	const int lane = threadIdx.x % WARP, part = blockIdx.x*WARPS + threadIdx.x/WARP;
	double *row = rows + threadIdx.x/WARP*n_theta;

	if (part >= n_parts)
		return;
	for (int t = lane; t < n_theta; t += WARP)
		row[t] = 0;
	for (int k = part_begin[part]; k < part_begin[part + 1]; k++) {
		const double factor = w[fiber[k]]*value[k];
		const double *atoms = D + (int64_t) atom[k]*n_theta;

		if (factor == 0)
			continue;
#pragma unroll 8
		for (int t = lane; t < n_theta; t += WARP)
			row[t] += atoms[t]*factor;
	}
	__syncwarp();
	for (int t = lane; t < n_theta; t += WARP) {
		double *cell = &Y[(int64_t) part_voxel[part]*n_theta + t];

		if (part_is_whole[part])
			*cell = row[t];
		else
			atomicAdd(cell, row[t]);
	}
}

static __global__ void cut_wc_32(int n_parts, int n_theta, const int *part_voxel, const int *part_begin,
				 const int *atom, const int *fiber, const double *value, const double *D,
				 const double *Y, double *w)
{
	extern __shared__ double rows[];
	const int lane = threadIdx.x % WARP, part = blockIdx.x*WARPS + threadIdx.x/WARP;
	double *row = rows + threadIdx.x/WARP*n_theta;

	if (part >= n_parts)
		return;
	for (int t = lane; t < n_theta; t += WARP)
		row[t] = Y[(int64_t) part_voxel[part]*n_theta + t];
	for (int k = part_begin[part]; k < part_begin[part + 1]; k++) {
		double sum = 0;

		for (int t = lane; t < n_theta; t += WARP)
			sum += D[(int64_t) atom[k]*n_theta + t]*row[t];
		sum = step_warp_sum(sum);
		if (lane == 0)
			atomicAdd(&w[fiber[k]], sum*value[k]);
	}
}

/* ---- cuSPARSE ---- */

static __global__ void fill_pairs(int n_pairs, const int *pair_begin, const int *fiber, const double *value,
				  const double *w, double *pair)
{
	const int i = blockIdx.x*blockDim.x + threadIdx.x;
	double sum = 0;

	if (i >= n_pairs)
		return;
	for (int k = pair_begin[i]; k < pair_begin[i + 1]; k++)
		sum += w[fiber[k]]*value[k];
	pair[i] = sum;
}

static __global__ void scatter_pairs(int n_pairs, const int *pair_begin, const int *fiber, const double *value,
				     const double *pair, double *w)
{
	const int i = blockIdx.x*blockDim.x + threadIdx.x;

	for (int k = i < n_pairs ? pair_begin[i] : 0; i < n_pairs && k < pair_begin[i + 1]; k++)
		atomicAdd(&w[fiber[k]], pair[i]*value[k]);
}

/* ---- The best ---- */

static __device__ bool starts_run(int atom, int lane, unsigned mask)
{
	const int before = __shfl_up_sync(mask, atom, 1, LANES);

	return lane == 0 || before != atom;
}

/* Each of 8 lanes has of a row N times 16 bytes of D. */
template <int n_theta, class T> static __global__ void __launch_bounds__(THREADS, 4)
best_dsc(int n_parts, const int *__restrict__ part_voxel, const int *__restrict__ part_begin,
	 const int *__restrict__ part_end, const bool *__restrict__ part_is_whole, const int *__restrict__ atom,
	 const int *__restrict__ fiber, const double *__restrict__ value, const T *__restrict__ D,
	 const double *__restrict__ w, double *__restrict__ Y)
{
	constexpr int width = 16/sizeof(T), N = n_theta/(LANES*width);
	const int lane = threadIdx.x % LANES, part = (int) (blockIdx.x*THREADS + threadIdx.x)/LANES;
	const unsigned shift = threadIdx.x % WARP/LANES*LANES, mask = 0xffu << shift;
	double row[N][width] = { { 0 } };

	if (part >= n_parts)
		return;
	for (int first = part_begin[part]; first < part_end[part]; first += LANES) {
		const int k = first + lane;
		const bool is_in = k < part_end[part];
		const int a = is_in ? atom[k] : -1;
		double factor = is_in ? w[fiber[k]]*value[k] : 0;

		for (int d = 1; d < LANES; d *= 2) {
			const double more = __shfl_down_sync(mask, factor, d, LANES);
			const int b = __shfl_down_sync(mask, a, d, LANES);

			if (lane + d < LANES && a == b)
				factor += more;
		}
		unsigned heads = __ballot_sync(mask, starts_run(a, lane, mask) && factor != 0) >> shift & 0xffu;
		for (; heads; heads &= heads - 1) {
			const int i = __ffs((int) heads) - 1;
			const T *cells = D + (int64_t) __shfl_sync(mask, a, i, LANES)*n_theta + lane*width;
			const double times = __shfl_sync(mask, factor, i, LANES);

#pragma unroll
			for (int j = 0; j < N; j++) {
				double read[width];

				lanes_read(cells + j*LANES*width, read);
#pragma unroll
				for (int c = 0; c < width; c++)
					row[j][c] += read[c]*times;
			}
		}
	}
#pragma unroll
	for (int j = 0; j < N; j++)
#pragma unroll
		for (int c = 0; c < width; c += 2) {
			double *cell = &Y[(int64_t) part_voxel[part]*n_theta + (j*LANES + lane)*width + c];

			if (part_is_whole[part]) {
				*(double2 *) cell = make_double2(row[j][c], row[j][c + 1]);
			} else {
				atomicAdd(cell, row[j][c]);
				atomicAdd(cell + 1, row[j][c + 1]);
			}
		}
}

template <int n_theta, class T> static __global__ void __launch_bounds__(THREADS, 3)
best_wc(int n_parts, const int *__restrict__ part_voxel, const int *__restrict__ part_begin,
	const int *__restrict__ part_end, const int *__restrict__ atom, const int *__restrict__ fiber,
	const double *__restrict__ value, const T *__restrict__ D, const double *__restrict__ Y, double *__restrict__ w)
{
	constexpr int width = 16/sizeof(T), N = n_theta/(LANES*width);
	const int lane = threadIdx.x % LANES, part = (int) (blockIdx.x*THREADS + threadIdx.x)/LANES;
	const unsigned shift = threadIdx.x % WARP/LANES*LANES, mask = 0xffu << shift;
	double row[N][width];

	if (part >= n_parts)
		return;
#pragma unroll
	for (int j = 0; j < N; j++)
#pragma unroll
		for (int c = 0; c < width; c += 2) {
			const double2 cells = *(const double2 *) &Y[(int64_t) part_voxel[part]*n_theta +
								    (j*LANES + lane)*width + c];

			row[j][c] = cells.x;
			row[j][c + 1] = cells.y;
		}
	for (int first = part_begin[part]; first < part_end[part]; first += LANES) {
		const int k = first + lane;
		const bool is_in = k < part_end[part];
		const int a = is_in ? atom[k] : -1;
		unsigned heads = __ballot_sync(mask, starts_run(a, lane, mask) && is_in) >> shift & 0xffu;
		double mine = 0;

		for (; heads; heads &= heads - 1) {
			const int b = __shfl_sync(mask, a, __ffs((int) heads) - 1, LANES);
			const T *cells = D + (int64_t) b*n_theta + lane*width;
			double sums[2] = { 0 };

#pragma unroll
			for (int j = 0; j < N; j++) {
				double read[width];

				lanes_read(cells + j*LANES*width, read);
#pragma unroll
				for (int c = 0; c < width; c++)
					sums[c % 2] += read[c]*row[j][c];
			}
			sums[0] += sums[1];
			for (int d = LANES/2; d > 0; d /= 2)
				sums[0] += __shfl_xor_sync(mask, sums[0], d, LANES);
			mine = a == b ? sums[0] : mine;
		}
		if (is_in)
			atomicAdd(&w[fiber[k]], mine*value[k]);
	}
}

/* ---- Making ready ---- */

struct part {
	int voxel, begin, end;
	uint64_t place;                         /* near those of parts that are to be near to it */
	bool is_whole;

	int length() const
	{
		return end - begin;
	}
};

/* Where its voxel is in space, if that is known and asked for, else the atom in the middle of it. */
static uint64_t place_of(const life_tensor *t, int voxel, int median, bool is_in_space)
{
	enum { BITS = 16 };

	return is_in_space && t->coords ? lanes_curve(t->coords + 3*(int64_t) voxel, BITS) : (uint64_t) median;
}

/* Parts of at most `most` coefficients of one voxel, which need not have any. */
static std::vector<part> parts_of(const life_tensor *t, const std::vector<int> &voxel, const std::vector<int> &atom,
				  int n, int most, bool is_in_space)
{
	std::vector<part> parts;
	int k = 0;

	for (int v = 0; v < (int) t->n_voxels; v++) {
		const int first = k;

		while (k < n && voxel[k] == v)
			k++;
		for (int begin = first; begin == first || begin < k; begin += std::min(most, n + 1))
			parts.push_back({ v, begin, (int) std::min<int64_t>(k, (int64_t) begin + most),
					  place_of(t, v, k > first ? atom[(first + k)/2] : 0, is_in_space),
					  k - first <= most });
	}
	return parts;
}

/* Those of near places next to each other; of groups of lanes of a warp, in each neighbourhood the longest first, so that
 * they end together. */
static void order_parts(std::vector<part> &parts, bool by_length)
{
	std::stable_sort(parts.begin(), parts.end(), [](const part &a, const part &b) { return a.place < b.place; });
	for (size_t i = 0; by_length && i < parts.size(); i += NEIGHBOURHOOD)
		std::stable_sort(parts.begin() + (long) i,
				 parts.begin() + (long) std::min(i + NEIGHBOURHOOD, parts.size()),
				 [](const part &a, const part &b) { return a.length() > b.length(); });
}

static void keep_parts(life_gpu_state *s, const std::vector<part> &parts)
{
	std::vector<int> voxels, begins, ends;
	std::vector<char> whole;

	for (const part &p : parts) {
		voxels.push_back(p.voxel);
		begins.push_back(p.begin);
		ends.push_back(p.end);
		whole.push_back(p.is_whole);
	}
	begins.push_back(s->n);
	s->n_parts = (int) voxels.size();
	s->part_voxel = on_device(s, voxels);
	s->part_begin = on_device(s, begins);
	s->part_end = on_device(s, ends);
	s->part_is_whole = (bool *) on_device(s, whole);
}

/* The upper halves of the bits, rounded. */
static std::vector<unsigned> tops_of(const double *values, int64_t n)
{
	std::vector<unsigned> tops((size_t) n);

	for (int64_t i = 0; i < n; i++) {
		uint64_t bits;

		memcpy(&bits, &values[i], sizeof bits);
		tops[(size_t) i] = (unsigned) ((bits + 0x7fffffffu + (bits >> 32 & 1)) >> 32);
	}
	return tops;
}

static void find_pairs(life_gpu_state *s, const life_tensor *t, const std::vector<int> &atom,
		       const std::vector<int> &voxel)
{
	std::vector<int> begin, atoms, rows(t->n_voxels + 1, 0);

	for (int k = 0; k < s->n; k++)
		if (k == 0 || atom[k] != atom[k - 1] || voxel[k] != voxel[k - 1]) {
			begin.push_back(k);
			atoms.push_back(atom[k]);
			rows[voxel[k] + 1]++;
		}
	for (int64_t v = 0; v < t->n_voxels; v++)
		rows[v + 1] += rows[v];
	s->n_pairs = (int) begin.size();
	begin.push_back(s->n);
	s->pair_begin = on_device(s, begin);
	s->pair_atom = on_device(s, atoms);
	s->row_begin = on_device(s, rows);
	s->pair = on_device(s, std::vector<double>(s->n_pairs));
}

static const double one = 1, zero = 0;

static bool open_sparse(life_gpu_state *s, const life_tensor *t)
{
	size_t bytes = 0;
	void *Y = NULL;
	cusparseStatus_t status = cusparseCreate(&s->sparse);

	if (status != CUSPARSE_STATUS_SUCCESS || !is_ok(cudaMalloc(&Y, (size_t) (t->n_voxels*t->n_theta)*8)))
		return false;
	s->memory.push_back(Y);
	cusparseCreateCsr(&s->matrix, t->n_voxels, t->n_atoms, s->n_pairs, s->row_begin, s->pair_atom, s->pair,
			  CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F);
	cusparseCreateDnMat(&s->D_matrix, t->n_atoms, t->n_theta, t->n_theta, s->D, CUDA_R_64F, CUSPARSE_ORDER_ROW);
	cusparseCreateDnMat(&s->Y_matrix, t->n_voxels, t->n_theta, t->n_theta, Y, CUDA_R_64F, CUSPARSE_ORDER_ROW);
	if (s->op == LIFE_DSC)
		status = cusparseSpMM_bufferSize(s->sparse, CUSPARSE_OPERATION_NON_TRANSPOSE,
						 CUSPARSE_OPERATION_NON_TRANSPOSE, &one, s->matrix, s->D_matrix, &zero,
						 s->Y_matrix, CUDA_R_64F, CUSPARSE_SPMM_CSR_ALG2, &bytes);
	else
		status = cusparseSDDMM_bufferSize(s->sparse, CUSPARSE_OPERATION_NON_TRANSPOSE,
						  CUSPARSE_OPERATION_TRANSPOSE, &one, s->Y_matrix, s->D_matrix, &zero,
						  s->matrix, CUDA_R_64F, CUSPARSE_SDDMM_ALG_DEFAULT, &bytes);
	if (status != CUSPARSE_STATUS_SUCCESS || !is_ok(cudaMalloc(&s->scratch, bytes + 1)))
		return false;
	s->memory.push_back(s->scratch);
	if (s->op == LIFE_DSC)
		status = cusparseSpMM_preprocess(s->sparse, CUSPARSE_OPERATION_NON_TRANSPOSE,
						 CUSPARSE_OPERATION_NON_TRANSPOSE, &one, s->matrix, s->D_matrix, &zero,
						 s->Y_matrix, CUDA_R_64F, CUSPARSE_SPMM_CSR_ALG2, s->scratch);
	return status == CUSPARSE_STATUS_SUCCESS;
}

static void close_state(life_gpu_state *s)
{
	cudaEventDestroy(s->begin);
	cudaEventDestroy(s->end);
	if (s->sparse)
		cusparseDestroy(s->sparse);
	for (void *memory : s->memory)
		cudaFree(memory);
	delete s;
}

static bool is_of_lanes(enum life_gpu_code code)
{
	return code == LIFE_GPU_LANES || code == LIFE_GPU_LANES_TOP;
}

static bool is_best(enum life_gpu_code code)
{
	return code == LIFE_GPU_BEST || code == LIFE_GPU_BEST_TOP || is_of_lanes(code);
}

static bool is_cut(enum life_gpu_code code)
{
	return code == LIFE_GPU_OPT_CUT || code == LIFE_GPU_OPT_CUT_32 || code == LIFE_GPU_SPARSE || is_best(code);
}

static bool is_as_published(enum life_gpu_code code)
{
	return code != LIFE_GPU_OPT_CUT_32 && code != LIFE_GPU_SPARSE && !is_best(code);
}

static std::vector<step_number> in_64_bits(const std::vector<int> &numbers)
{
	return std::vector<step_number>(numbers.begin(), numbers.end());
}

/* The numbers of atoms, voxels and fibers, as wide as the version has them. */
static void keep_numbers(life_gpu_state *s, const std::vector<int> &atom, const std::vector<int> &voxel,
			 const std::vector<int> &fiber)
{
	if (is_as_published(s->code)) {
		s->atom_64 = on_device(s, in_64_bits(atom));
		s->voxel_64 = on_device(s, in_64_bits(voxel));
		s->fiber_64 = on_device(s, in_64_bits(fiber));
	} else {
		s->atom = on_device(s, atom);
		s->fiber = on_device(s, fiber);
	}
}

static life_gpu_state *open_state(const life_tensor *t, const int32_t *order, enum life_gpu_code code,
				  enum life_op op, char *error, size_t size)
{
	life_gpu_state *s = new life_gpu_state();
	const std::vector<int> atom = in_order(t->atom, order, t->n_coeffs);
	const std::vector<int> voxel = in_order(t->voxel, order, t->n_coeffs);
	bool ok = true;

	cudaEventCreate(&s->begin);
	cudaEventCreate(&s->end);
	s->code = code;
	s->op = op;
	s->n = (int) t->n_coeffs;
	s->n_theta = (int) t->n_theta;
	s->n_out = op == LIFE_DSC ? t->n_voxels*t->n_theta : t->n_fibers;
	keep_numbers(s, atom, voxel, in_order(t->fiber, order, t->n_coeffs));
	s->value = on_device(s, in_order(t->value, order, t->n_coeffs));
	s->D = on_device(s, std::vector<double>(t->D, t->D + t->n_atoms*t->n_theta));
	if (code != LIFE_GPU_REF) {
		std::vector<part> parts = parts_of(t, voxel, atom, s->n, is_cut(code) ? LONGEST : s->n + 1,
						   is_of_lanes(code));

		if (is_best(code))
			order_parts(parts, !is_of_lanes(code));
		keep_parts(s, parts);
	}
	if (code == LIFE_GPU_BEST_TOP || code == LIFE_GPU_LANES_TOP)
		s->D_top = on_device(s, tops_of(t->D, t->n_atoms*t->n_theta));
	if (code == LIFE_GPU_SPARSE) {
		find_pairs(s, t, atom, voxel);
		ok = open_sparse(s, t);
	}
	if (is_best(code) && t->n_theta != 64 && t->n_theta != 96)
		snprintf(error, size, "it is written for 64 and 96 directions");
	else if (!ok || !is_ok(cudaGetLastError()))
		snprintf(error, size, "CUDA fails");
	else
		return s;
	close_state(s);
	return NULL;
}

/* ---- Running ---- */

static void run_cut_32(life_gpu_state *s, const double *in, double *out)
{
	const int blocks = step_blocks(s->n_parts, WARPS);
	const size_t shared = WARPS*(size_t) s->n_theta*sizeof(double);

	if (s->op == LIFE_DSC)
		cut_dsc_32<<<blocks, WARPS*WARP, shared>>>(s->n_parts, s->n_theta, s->part_voxel, s->part_begin,
							   s->part_is_whole, s->atom, s->fiber, s->value, s->D, in,
							   out);
	else
		cut_wc_32<<<blocks, WARPS*WARP, shared>>>(s->n_parts, s->n_theta, s->part_voxel, s->part_begin,
							  s->atom, s->fiber, s->value, s->D, in, out);
}

static bool run_sparse(life_gpu_state *s, const double *in, double *out)
{
	const int blocks = step_blocks(s->n_pairs, THREADS);
	cusparseStatus_t status;

	if (s->op == LIFE_DSC) {
		fill_pairs<<<blocks, THREADS>>>(s->n_pairs, s->pair_begin, s->fiber, s->value, in, s->pair);
		cusparseDnMatSetValues(s->Y_matrix, out);
		status = cusparseSpMM(s->sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE,
				      &one, s->matrix, s->D_matrix, &zero, s->Y_matrix, CUDA_R_64F,
				      CUSPARSE_SPMM_CSR_ALG2, s->scratch);
	} else {
		cusparseDnMatSetValues(s->Y_matrix, (void *) in);
		status = cusparseSDDMM(s->sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_TRANSPOSE,
				       &one, s->Y_matrix, s->D_matrix, &zero, s->matrix, CUDA_R_64F,
				       CUSPARSE_SDDMM_ALG_DEFAULT, s->scratch);
		scatter_pairs<<<blocks, THREADS>>>(s->n_pairs, s->pair_begin, s->fiber, s->value, s->pair, out);
	}
	return status == CUSPARSE_STATUS_SUCCESS;
}

template <int n_theta, class T> static void run_best(life_gpu_state *s, const T *D, const double *in, double *out)
{
	const int blocks = step_blocks((int64_t) s->n_parts*LANES, THREADS);

	if (s->op == LIFE_DSC)
		best_dsc<n_theta, T><<<blocks, THREADS>>>(s->n_parts, s->part_voxel, s->part_begin, s->part_end,
							   s->part_is_whole, s->atom, s->fiber, s->value, D, in, out);
	else
		best_wc<n_theta, T><<<blocks, THREADS>>>(s->n_parts, s->part_voxel, s->part_begin, s->part_end, s->atom,
							  s->fiber, s->value, D, in, out);
}

template <int n_theta, class T> static void run_lanes(life_gpu_state *s, const T *D, const double *in, double *out)
{
	const lanes_parts parts = { s->n_parts, s->part_voxel, s->part_begin, s->part_end, s->part_is_whole, s->atom,
				    s->fiber, s->value };

	if (s->op == LIFE_DSC)
		lanes_run_dsc<n_theta>(parts, D, in, out);
	else
		lanes_run_wc<n_theta>(parts, D, in, out);
}

/* Those with rows in registers. */
template <int n_theta> static void run_rows(life_gpu_state *s, const double *in, double *out)
{
	if (s->code == LIFE_GPU_BEST)
		run_best<n_theta>(s, s->D, in, out);
	else if (s->code == LIFE_GPU_BEST_TOP)
		run_best<n_theta>(s, s->D_top, in, out);
	else if (s->code == LIFE_GPU_LANES)
		run_lanes<n_theta>(s, s->D, in, out);
	else
		run_lanes<n_theta>(s, s->D_top, in, out);
}

static void run_step(life_gpu_state *s, enum step step, const double *in, double *out)
{
	const step_tensor tensor = { s->n, s->n_theta, s->n_parts, s->part_voxel, s->part_begin, s->part_is_whole,
				     s->atom_64, s->voxel_64, s->fiber_64, s->value, s->D };

	if (s->op == LIFE_DSC)
		step_run_dsc(tensor, step, in, out);
	else
		step_run_wc(tensor, step, in, out);
}

static bool run_code(life_gpu_state *s, const double *in, double *out)
{
	switch (s->code) {
	case LIFE_GPU_REF:
		run_step(s, STEP_REF, in, out);
		break;
	case LIFE_GPU_PARTITIONED:
		run_step(s, STEP_PARTITIONED, in, out);
		break;
	case LIFE_GPU_SHARED:
		run_step(s, STEP_SHARED, in, out);
		break;
	case LIFE_GPU_WARP:
		run_step(s, STEP_WARPS_1, in, out);
		break;
	case LIFE_GPU_WARPS:
		run_step(s, STEP_WARPS_4, in, out);
		break;
	case LIFE_GPU_REAL:
		run_step(s, STEP_REAL, in, out);
		break;
	case LIFE_GPU_OPT:
		run_step(s, STEP_OPT, in, out);
		break;
	case LIFE_GPU_OPT_CUT:
		run_step(s, STEP_OPT_CUT, in, out);
		break;
	case LIFE_GPU_OPT_CUT_32:
		run_cut_32(s, in, out);
		break;
	case LIFE_GPU_SPARSE:
		return run_sparse(s, in, out);
	case LIFE_GPU_BEST: case LIFE_GPU_BEST_TOP: case LIFE_GPU_LANES: case LIFE_GPU_LANES_TOP:
		if (s->n_theta == 96)
			run_rows<96>(s, in, out);
		else
			run_rows<64>(s, in, out);
		break;
	}
	return true;
}

static bool run_state(life_gpu_state *s, const double *in, double *out, double *seconds)
{
	bool ok = is_ok(cudaEventRecord(s->begin)) &&
		  is_ok(cudaMemsetAsync(out, 0, (size_t) s->n_out*sizeof(double)));
	float milliseconds = 0;

	ok = run_code(s, in, out) && is_ok(cudaEventRecord(s->end)) && ok;
	ok = is_ok(cudaGetLastError()) && is_ok(cudaDeviceSynchronize()) && ok;
	ok = ok && is_ok(cudaEventElapsedTime(&milliseconds, s->begin, s->end));
	*seconds = 1e-3*milliseconds;
	return ok;
}

/* ---- What the C side calls ---- */

static const char *device_name()
{
	static cudaDeviceProp properties;

	return is_ok(cudaGetDeviceProperties(&properties, 0)) ? properties.name : NULL;
}

static void *memory_of(size_t bytes)
{
	void *memory = NULL;

	return is_ok(cudaMalloc(&memory, bytes)) ? memory : NULL;
}

static void release(void *memory)
{
	cudaFree(memory);
}

static bool copy(void *to, const void *from, size_t bytes)
{
	return is_ok(cudaMemcpy(to, from, bytes, cudaMemcpyDefault));
}

extern "C" const struct life_gpu_functions *life_gpu_functions_of(void)
{
	static const struct life_gpu_functions functions = {
		device_name, memory_of, release, copy, open_state, run_state, close_state
	};

	return &functions;
}
