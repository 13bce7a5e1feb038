/* SPDX-License-Identifier: MIT
 *
 * Rows and warp-cooperative loops, for kernels of the CUDA target. A group of a team's lanes shares a row: member m
 * of g, which reads w cells at a time, has the cells (j*g + m)*w and the w - 1 behind it, for each j: a vector, which
 * is read and written in pieces of up to 16 bytes, where it lies at a multiple of them. Where a row ends before the
 * vectors do, members behind its end have the last vector, too, and `PMG_VECTOR_IS_OWN` is false.
 *
 * In a warp-cooperative loop, each lane has an iteration; what one lane has, others take by shuffles or from shared
 * memory. */
#ifndef PMGRT_CUDA_ROW_H
#define PMGRT_CUDA_ROW_H

/* ---- Vectors ---- */

template <class T, int width> struct alignas(sizeof(T)*width < 16 ? sizeof(T)*width : 16) pmg_cuda_vector {
	T cells[width];
};

#define PMG_CUDA_OPERATOR(op) \
	template <class T, int w> static inline __device__ \
	pmg_cuda_vector<T, w> operator op(pmg_cuda_vector<T, w> a, const pmg_cuda_vector<T, w> &b) \
	{ \
		for (int i = 0; i < w; i++) \
			a.cells[i] = a.cells[i] op b.cells[i]; \
		return a; \
	} \
	template <class T, int w> \
	static inline __device__ pmg_cuda_vector<T, w> operator op(pmg_cuda_vector<T, w> a, T b) \
	{ \
		for (int i = 0; i < w; i++) \
			a.cells[i] = a.cells[i] op b; \
		return a; \
	} \
	template <class T, int w> \
	static inline __device__ pmg_cuda_vector<T, w> operator op(T a, pmg_cuda_vector<T, w> b) \
	{ \
		for (int i = 0; i < w; i++) \
			b.cells[i] = a op b.cells[i]; \
		return b; \
	} \
	template <class T, int w, class B> \
	static inline __device__ pmg_cuda_vector<T, w> &operator op##=(pmg_cuda_vector<T, w> &a, const B &b) \
	{ \
		return a = a op b; \
	}
PMG_CUDA_OPERATOR(+)
PMG_CUDA_OPERATOR(-)
PMG_CUDA_OPERATOR(*)
PMG_CUDA_OPERATOR(/)

template <class T, int w> static inline __device__ pmg_cuda_vector<T, w> operator-(pmg_cuda_vector<T, w> a)
{
	for (int i = 0; i < w; i++)
		a.cells[i] = -a.cells[i];
	return a;
}

template <class T, int w> static inline __device__ pmg_cuda_vector<T, w> pmg_cuda_fill(T value)
{
	pmg_cuda_vector<T, w> filled;

	for (int i = 0; i < w; i++)
		filled.cells[i] = value;
	return filled;
}

template <class To, class T, int w>
static inline __device__ pmg_cuda_vector<To, w> pmg_cuda_convert(const pmg_cuda_vector<T, w> &a)
{
	pmg_cuda_vector<To, w> converted;

	for (int i = 0; i < w; i++)
		converted.cells[i] = (To) a.cells[i];
	return converted;
}

/* That which begins at a cell, to be written. */
template <int w, class T> static inline __device__ pmg_cuda_vector<T, w> &pmg_cuda_at(T *cell)
{
	return *(pmg_cuda_vector<T, w> *) (void *) cell;
}

/* And to be read: by 16 or 8 bytes, whatever their type; what is read once, past the cache next to the lanes. */
template <class Word, int w, bool once, class T>
static inline __device__ pmg_cuda_vector<T, w> pmg_cuda_read_words(const T *cell)
{
	pmg_cuda_vector<T, w> a;

	for (unsigned i = 0; (i + 1)*sizeof(Word) <= sizeof a; i++) {
		const Word *at = (const Word *) (const void *) cell + i, word = once ? __ldcg(at) : *at;

		memcpy((char *) &a + i*sizeof word, &word, sizeof word);
	}
	return a;
}

template <int w, bool once = false, class T>
static inline __device__ pmg_cuda_vector<T, w> pmg_cuda_read(const T *cell)
{
	if (sizeof(T)*w % sizeof(uint4) == 0)
		return pmg_cuda_read_words<uint4, w, once>(cell);
	if (sizeof(T)*w % sizeof(uint2) == 0)
		return pmg_cuda_read_words<uint2, w, once>(cell);
	return pmg_cuda_read_words<T, w, once>(cell);
}

template <class T, int w>
static inline __device__ pmg_cuda_vector<T, w> pmg_cuda_of_top(const pmg_cuda_vector<uint32_t, w> &top)
{
	pmg_cuda_vector<T, w> a;

	for (int i = 0; i < w; i++)
		a.cells[i] = (T) pmg_f64_of_top(top.cells[i]);
	return a;
}

/* Adds the cells of vector j of a row to two sums in turn: more would take registers, and time to be added up. */
template <class T, int w>
static inline __device__ void pmg_cuda_add_cells(T (&sums)[2], int64_t j, const pmg_cuda_vector<T, w> &a)
{
	for (int i = 0; i < w; i++)
		sums[(j + i) % 2] += a.cells[i];
}

#undef pmg_vector_f64
#undef pmg_vector_f32
#define pmg_vector_f64 pmg_cuda_vector<double, pmg_width>
#define pmg_vector_f32 pmg_cuda_vector<float, pmg_width>
#undef PMG_VECTORS
#define PMG_VECTORS(type, n) (((n) + pmg_group*pmg_width - 1)/(pmg_group*pmg_width))
#define PMG_VECTOR_CELL(vector) (((vector)*pmg_group + pmg_member)*pmg_width)
#define PMG_VECTOR_IS_OWN(n, vector) ((n) % (pmg_group*pmg_width) == 0 || PMG_VECTOR_CELL(vector) < (n))
#undef PMG_VECTOR_START
#define PMG_VECTOR_START(type, n, vector) (PMG_VECTOR_IS_OWN(n, vector) ? PMG_VECTOR_CELL(vector) : (n) - pmg_width)
/* Of the sums of a row that groups have added up (pmg_cuda_share), the vectors, or cells of them, that one has. */
#define PMG_SHARES(type, n) (PMG_VECTORS(type, n)/PMG_SHARE_APART(type, n))
#define PMG_SHARE_APART(type, n) pmg_cuda_share_apart(PMG_VECTORS(type, n), pmg_width, pmg_groups)
#define PMG_SHARE_CELLS pmg_cuda_share_cells(pmg_width, pmg_groups)
#define PMG_SHARE_PARTS (pmg_width/PMG_SHARE_CELLS)
#define PMG_SHARE_VECTOR(type, n, share) \
	((share)*PMG_SHARE_APART(type, n) + pmg_group_number/PMG_SHARE_PARTS % PMG_SHARE_APART(type, n))
#define PMG_SHARE_START(type, n, share) \
	(PMG_VECTOR_START(type, n, PMG_SHARE_VECTOR(type, n, share)) + \
	 pmg_cuda_share_cell<pmg_width, PMG_SHARE_CELLS>(pmg_group_number))
#define PMG_SHARE_IS_OWN(type, n, share) \
	(PMG_VECTOR_IS_OWN(n, PMG_SHARE_VECTOR(type, n, share)) && \
	 pmg_group_number < PMG_SHARE_PARTS*PMG_SHARE_APART(type, n))
/* For what is read in this block. */
#define PMG_READ_ONCE constexpr bool pmg_once = true
#define PMG_READ_F64(cell) pmg_cuda_read<pmg_width, pmg_once>(&(cell))
#define PMG_READ_F32(cell) pmg_cuda_read<pmg_width, pmg_once>(&(cell))
#define PMG_READ_F64_AS_F32(cell) pmg_cuda_convert<double>(pmg_cuda_read<pmg_width, pmg_once>(&(cell)))
#define PMG_READ_F64_AS_TOP(cell) pmg_cuda_of_top<double>(pmg_cuda_read<pmg_width, pmg_once>(&(cell)))
#define PMG_READ_F64_TO_F32(cell) pmg_cuda_convert<float>(pmg_cuda_read<pmg_width, pmg_once>(&(cell)))
#define PMG_READ_F64_AS_F32_TO_F32(cell) pmg_cuda_read<pmg_width, pmg_once>(&(cell))
#define PMG_READ_F64_AS_TOP_TO_F32(cell) pmg_cuda_of_top<float>(pmg_cuda_read<pmg_width, pmg_once>(&(cell)))
#define PMG_WRITE_F64(cell) pmg_cuda_at<pmg_width>(&(cell))
#define PMG_WRITE_F32(cell) pmg_cuda_at<pmg_width>(&(cell))
#define PMG_WRITE_F64_TO_F32(cell) pmg_cuda_at<pmg_width>(&(cell))
#define PMG_WIDEN(row) pmg_cuda_convert<double>(row)
#define PMG_FILL_F64(value) pmg_cuda_fill<double, pmg_width>(value)
#define PMG_FILL_F32(value) pmg_cuda_fill<float, pmg_width>(value)
#undef PMG_UNROLL
#define PMG_UNROLL _Pragma("unroll")
/* Several iterations would need more registers than teams side by side leave. */
#define PMG_ROLLED _Pragma("unroll 1")

/* ---- Rows that may meet others in memory ---- */

/* Has no neighbour the value that number i has? */
#define PMG_IS_ALONE(values, i, n) \
	(((i) == 0 || (values)[(i) - 1] != (values)[i]) & ((i) + 1 == (n) || (values)[(i) + 1] != (values)[i]))

/* Brings a row to its cells, of which nobody else has any where it is alone. */
#define PMG_CUDA_ROW(name, op) \
	template <class C, class T, int w> \
	static inline __device__ void pmg_cuda_row_##name(C *cell, const pmg_cuda_vector<T, w> &row, bool is_alone) \
	{ \
		if (is_alone) \
			pmg_cuda_at<w>(cell) = pmg_cuda_read<w>(cell) op pmg_cuda_convert<C>(row); \
		else \
			for (int i = 0; i < w; i++) \
				pmg_cuda_atomic_##name<C>(cell + i, (C) row.cells[i]); \
	} \
	/* The same, cells having held the neutral element. */ \
	template <class C, class T, int w> static inline __device__ \
	void pmg_cuda_row_##name##_first(C *cell, const pmg_cuda_vector<T, w> &row, bool is_alone) \
	{ \
		if (is_alone) \
			pmg_cuda_at<w>(cell) = pmg_cuda_convert<C>(row); \
		else \
			pmg_cuda_row_##name(cell, row, false); \
	}
PMG_CUDA_ROW(add, +)
PMG_CUDA_ROW(prod, *)

/* ---- Warp-cooperative loops ---- */

/* What is read once passes the caches by that rows are to stay in. */
template <class T> static inline __device__ T pmg_cuda_once(const T *cell)
{
	return *cell;
}

static inline __device__ double pmg_cuda_once(const double *cell)
{
	return __ldcg(cell);
}

static inline __device__ float pmg_cuda_once(const float *cell)
{
	return __ldcg(cell);
}

static inline __device__ int32_t pmg_cuda_once(const int32_t *cell)
{
	return __ldcg(cell);
}

static inline __device__ uint32_t pmg_cuda_once(const uint32_t *cell)
{
	return __ldcg(cell);
}

#define PMG_ONCE(cell) pmg_cuda_once(&(cell))

/* The element that this lane has in the warp that begins at `first`; of lanes without an iteration, the last one. */
template <class T, class I, class F, class E>
static inline __device__ T pmg_cuda_first(const T *array, I at, F first, E end)
{
	return first < end ? pmg_cuda_once(&array[at < end ? at : end - 1]) : T();
}

#define PMG_FIRST(array, first, end) pmg_cuda_first(array, (first) + pmg_lane, first, end)
/* That of the warp behind the one at `first`, if the lane has an iteration there; else `ahead` stays as it is. */
#define PMG_NEXT(ahead, array, first, end) \
	do { \
		if ((first) + pmg_team + pmg_lane < (end)) \
			ahead = PMG_ONCE((array)[(first) + pmg_team + pmg_lane]); \
	} while (0)

/* The same of an element whose number the lane has. */
template <class T, class I> static inline __device__ T pmg_cuda_first_at(const T *array, I at, bool has_any)
{
	return has_any ? pmg_cuda_once(&array[at]) : T();
}

#define PMG_READ_AT(now, at) ((void) (at), (now))
#define PMG_FIRST_AT(array, at, first, end) pmg_cuda_first_at(array, at, (first) < (end))
#define PMG_NEXT_AT(ahead, array, at, first, end) \
	do { \
		if ((first) + pmg_team + pmg_lane < (end)) \
			ahead = PMG_ONCE((array)[at]); \
	} while (0)

/* A bit for each lane of a team. */
template <int team> static inline __device__ unsigned pmg_cuda_lanes()
{
	return 0xffffffffu >> (PMG_CUDA_WARP - team);
}

/* Bit l: lane l of the team. */
template <int team> static inline __device__ unsigned pmg_cuda_ballot(bool is)
{
	const unsigned mask = pmg_cuda_mask<team>(), first = threadIdx.x % PMG_CUDA_WARP/team*team;

	return (__ballot_sync(mask, is) & mask) >> first;
}

static inline __device__ int pmg_cuda_count(unsigned lanes)
{
	return __popc(lanes);
}

/* The n-th of these lanes, from 0 on; behind the last one, any. */
static inline __device__ int pmg_cuda_nth(unsigned lanes, int n)
{
	int at = 0;

	for (int half = PMG_CUDA_WARP/2; half > 0; half /= 2) {
		const int below = __popc(lanes >> at & ((1u << half) - 1));

		if (n >= below) {
			n -= below;
			at += half;
		}
	}
	return at;
}

/* How many of these lanes are before the last one that is not behind `lane`. */
static inline __device__ int pmg_cuda_rank(unsigned lanes, int lane)
{
	return __popc(lanes & ((2u << lane) - 1)) - 1;
}

/* Room for what the lanes of a team hand over to others: `name` is that of this team. */
#define PMG_HANDED(type, name) \
	__shared__ type name##_of_block[pmg_most_threads]; \
	type *const name = name##_of_block + threadIdx.x/pmg_team*pmg_team

/* These lanes come first, in their order, then the others. */
static inline __device__ int pmg_cuda_place(unsigned lanes, int lane)
{
	const unsigned before = (1u << lane) - 1;

	return lanes >> lane & 1 ? __popc(lanes & before) : __popc(lanes) + __popc(~lanes & before);
}

/* By 16 bytes, where it has as many. */
template <class T> static inline __device__ T pmg_cuda_handed(const T *from)
{
	if constexpr (sizeof(T) % sizeof(uint4) != 0) {
		return *from;
	} else {
		T value;

		for (unsigned i = 0; i < sizeof(T)/sizeof(uint4); i++) {
			const uint4 word = ((const uint4 *) (const void *) from)[i];

			memcpy((char *) &value + i*sizeof word, &word, sizeof word);
		}
		return value;
	}
}

/* What lane `from` has. */
template <int team, class T> static inline __device__ T pmg_cuda_take(T value, int from)
{
	return __shfl_sync(pmg_cuda_mask<team>(), value, from, team);
}

/* A step of the sums of groups over their lanes: lanes apart by so many exchange what the other one goes on with. */
template <int team, class operation, class T>
static inline __device__ T pmg_cuda_halve(T lower, T upper, int lanes)
{
	const bool is_upper = threadIdx.x & (unsigned) lanes;

	return operation::of(is_upper ? upper : lower,
			     pmg_cuda_shuffle_xor(pmg_cuda_mask<team>(), is_upper ? lower : upper, lanes, team));
}

/* ---- Sums of groups ---- */

/* The cells of a vector that each of so many groups has: its vectors are split first, then shared out. */
static constexpr __device__ int pmg_cuda_share_cells(int width, int groups)
{
	return width > groups ? width/groups : 1;
}

/* Vectors of a group are apart by so many. Those of more groups have the same. */
static constexpr __device__ int pmg_cuda_share_apart(int64_t vectors, int width, int groups)
{
	const int left = groups*pmg_cuda_share_cells(width, groups)/width;
	int apart = 1;

	while (2*apart <= left && vectors % (2*apart) == 0)
		apart *= 2;
	return apart;
}

/* The first of its cells. */
template <int width, int cells> static inline __device__ int pmg_cuda_share_cell(int group_number)
{
	int cell = 0;

	PMG_UNROLL
	for (int half = width/2; half >= cells; half /= 2, group_number /= 2)
		cell += group_number % 2*half;
	return cell;
}

/* Adds up what the groups of a team have of a row, each its share, which then begins the vectors and their cells. */
template <int team, int group, class operation, class T, int width, size_t n>
static inline __device__ void pmg_cuda_share(pmg_cuda_vector<T, width> (&row)[n])
{
	constexpr int cells = pmg_cuda_share_cells(width, team/group);
	constexpr int apart = pmg_cuda_share_apart(n, width, team/group), most = (int) n;

	PMG_UNROLL
	for (int half = width/2; half >= cells; half /= 2) {
		PMG_UNROLL
		for (int i = 0; i < most*half; i++) {
			T *const at = row[i/half].cells;

			at[i % half] = pmg_cuda_halve<team, operation>(at[i % half], at[i % half + half],
								       group*width/2/half);
		}
	}
	PMG_UNROLL
	for (int step = 1; step < team/group*cells/width; step *= 2) {
		PMG_UNROLL
		for (int i = 0; i < most*cells; i++) {
			const int vector = i/cells, lanes = group*width/cells*step;
			T &sum = row[vector].cells[i % cells];

			if (step >= apart && vector < most/apart)
				sum = operation::of(sum, pmg_cuda_shuffle_xor(pmg_cuda_mask<team>(), sum, lanes, team));
			else if (step < apart && vector < most/step/2)
				sum = pmg_cuda_halve<team, operation>(row[2*vector].cells[i % cells],
								      row[2*vector + 1].cells[i % cells], lanes);
		}
	}
}

/* The first cells of a vector. */
template <int cells, class T, int width>
static inline __device__ pmg_cuda_vector<T, cells> pmg_cuda_begin(const pmg_cuda_vector<T, width> &a)
{
	pmg_cuda_vector<T, cells> begin;

	for (int i = 0; i < cells; i++)
		begin.cells[i] = a.cells[i];
	return begin;
}

/* The sum over a group of what its members have. Of several sums, the members from which on the group has the first,
 * the second and so on are apart by group/rounds. */
template <int team, int group, class operation, class T> static inline __device__ T pmg_cuda_fold(const T (&sums)[1])
{
	return pmg_cuda_team<team, group, operation>(sums[0]);
}

template <int team, int group, class operation, class T> static inline __device__ T pmg_cuda_fold(const T (&sums)[2])
{
	static_assert(group >= 2, "lanes of a group, one for each round");
	const T sum = pmg_cuda_halve<team, operation>(sums[0], sums[1], group/2);

	return pmg_cuda_team<team, group/2, operation>(sum);
}

template <int team, int group, class operation, class T> static inline __device__ T pmg_cuda_fold(const T (&sums)[4])
{
	static_assert(group >= 4, "lanes of a group, one for each round");
	const T lower = pmg_cuda_halve<team, operation>(sums[0], sums[2], group/2);
	const T upper = pmg_cuda_halve<team, operation>(sums[1], sums[3], group/2);
	const T sum = pmg_cuda_halve<team, operation>(lower, upper, group/4);

	return pmg_cuda_team<team, group/4, operation>(sum);
}

/* Leaves the group's sums of some rounds where its first one belongs and, of further rounds, behind those of all groups
 * of the round before. */
template <int team, int group, class operation, class T, int rounds>
static inline __device__ void pmg_cuda_leave(const T (&sums)[rounds], T *found)
{
	constexpr int groups = team/group, members = group/rounds;
	const int member = (int) (threadIdx.x % group);
	const T sum = pmg_cuda_fold<team, group, operation>(sums);

	if (member % members == 0)
		found[member/members*groups] = sum;
}

/* The lanes whose value is another than that of the lane before. */
template <int team, class T> static inline __device__ unsigned pmg_cuda_heads(T value)
{
	const T before = __shfl_up_sync(pmg_cuda_mask<team>(), value, 1, team);

	return pmg_cuda_ballot<team>(threadIdx.x % team == 0 || before != value);
}

/* In a head, the sum over it and the lanes up to the next one. */
template <int team, class T> static inline __device__ T pmg_cuda_merge(unsigned heads, T value)
{
	const unsigned behind = heads >> threadIdx.x % team >> 1;
	unsigned longer = ~heads & pmg_cuda_lanes<team>();      /* lanes of runs that are longer than `lanes` */

	PMG_UNROLL
	for (int lanes = 1; lanes < team; lanes *= 2) {
		if (!longer)
			break;
		const T other = __shfl_down_sync(pmg_cuda_mask<team>(), value, lanes, team);

		if ((int) (threadIdx.x % team) + lanes < team && !(behind & ((1u << lanes) - 1)))
			value += other;
		longer &= longer >> lanes;
	}
	return value;
}

/* ---- Rows that begin anew ---- */

/* Sets the rows of values that several of n parts have. A lane looks at a part, all lanes set the rows found. */
template <class T, class V>
static __global__ void pmg_cuda_cut_rows(int64_t n, const V *values, T *cells, int64_t row, T value,
					 const pmg_cuda_loop *loop)
{
	PMG_TEAM(PMG_CUDA_WARP, PMG_CUDA_WARP, 1);

	if (loop && loop->is_over)
		return;
	for (int64_t first = pmg_index*pmg_team; first + 1 < n; first += pmg_teams*pmg_team) {
		const int64_t part = first + pmg_lane;
		const V at = values[part < n ? part : first];
		const unsigned lanes = pmg_cuda_ballot<pmg_team>(part + 1 < n && at == values[part + 1] &&
								 (part == 0 || at != values[part - 1]));

		for (int k = 0; k < pmg_cuda_count(lanes); k++) {
			const int64_t to = pmg_cuda_take<pmg_team>(at, pmg_cuda_nth(lanes, k));

			for (int64_t i = pmg_lane; i < row; i += pmg_team)
				cells[to*row + i] = value;
		}
	}
}

#endif
