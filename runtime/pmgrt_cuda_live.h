/* SPDX-License-Identifier: MIT
 *
 * Points of zero weight, left out on a device; included where a program may do so. Where segments are cut into parts,
 * the arrays of points are there a second time: in it, the points of a part that are not left out stand at its head, in
 * their order, and its end is nearer. So parts stay, and begin where they do; one that becomes empty still writes its
 * row. Each call starts two kernels ahead of those that work on the points: one looks at the weights and comes
 * to what pmgrt_live.h says, the other makes a copy, or all points, if it has come to that. The host neither knows nor
 * waits, so that what is done does not depend on when it looks, and graphs stay what they are. */
#ifndef PMGRT_CUDA_LIVE_H
#define PMGRT_CUDA_LIVE_H

#include <pmgrt_cuda_inspect.h>
#include <pmgrt_live.h>

enum {
	PMG_CUDA_MOST_COPIES = 12,
	PMG_CUDA_LOOKING = 1 << 17,     /* threads that look at weights, */
	PMG_CUDA_LOOKS = 4,             /* each at so many at a time */
	PMG_CUDA_MOVING = 1 << 12       /* warps that move points: few start quickly where there is nothing to do */
};

/* ---- In kernels ---- */

/* Of a weight: live in the copy that is shown; in a call of this window. */
enum { PMG_CUDA_KEPT = 1, PMG_CUDA_RECENT = 2 };

/* What is to be done with the copy. */
enum pmg_cuda_live_step { PMG_CUDA_STAY, PMG_CUDA_SHORTEN, PMG_CUDA_RESTORE };

struct pmg_cuda_live_state {
	pmg_live_rule rule;
	pmg_cuda_live_step step;        /* that the last call has come to */
	bool window_ended;              /* with it */
	unsigned is_infinite;           /* a factor is, when the plan is made */
	unsigned long long found;       /* by this call, pmg_cuda_live_of_block of those that have looked */
};

/* What a thread has found, such that these add up: points of weights that are recent, fewer than 2^32 in all; and
 * whether the copy lacks one. */
static __device__ int64_t pmg_cuda_live_of_thread(int64_t n_points, bool is_missing)
{
	return n_points | (int64_t) is_missing << 32;
}

/* The same of a block, from the sum of its threads: points; a block, of which there are fewer than 2^16; and one that
 * misses a weight. */
static __device__ unsigned long long pmg_cuda_live_of_block(int64_t found)
{
	const unsigned long long points = (unsigned long long) found & 0xffffffffu, is_missing = found >> 32 > 0;

	return points | 1ull << 32 | is_missing << 48;
}

/* What the last call has come to, seen by the next one. */
static __device__ unsigned pmg_cuda_live_mark(pmg_cuda_live_step step, bool window_ended, unsigned mark)
{
	if (step == PMG_CUDA_RESTORE)
		mark |= PMG_CUDA_KEPT;
	if (step == PMG_CUDA_SHORTEN)
		mark = mark & PMG_CUDA_RECENT ? PMG_CUDA_KEPT | PMG_CUDA_RECENT : 0;
	return window_ended ? mark & PMG_CUDA_KEPT : mark;
}

static __device__ void pmg_cuda_live_decide(pmg_cuda_live_state *state, unsigned long long found)
{
	const int64_t n_points = (int64_t) (found & 0xffffffffu);
	const bool is_missing = found >> 48 > 0;

	state->found = 0;
	state->step = PMG_CUDA_STAY;
	if (is_missing && state->rule.has_copy) {
		pmg_live_fail(&state->rule);
		state->step = PMG_CUDA_RESTORE;
	}
	state->window_ended = pmg_live_window_ends(&state->rule);
	if (state->window_ended && pmg_live_pays(n_points, state->rule.n_held)) {
		pmg_live_take(&state->rule, n_points);
		state->step = PMG_CUDA_SHORTEN;
	}
}

/* Of a thread: its weights from number i on, apart by `stride`, all of which it reads before it looks at them. True
 * where the copy lacks one. */
template <class T>
static __device__ bool pmg_cuda_live_look_at(int64_t i, int64_t stride, int64_t n, const T *weights,
					     const int32_t *degree, uint8_t *marks, pmg_cuda_live_step step,
					     bool window_ended, int64_t *n_points)
{
	bool is_zero[PMG_CUDA_LOOKS], is_missing = false;
	int32_t points[PMG_CUDA_LOOKS];
	unsigned before[PMG_CUDA_LOOKS];

	PMG_UNROLL
	for (int k = 0; k < PMG_CUDA_LOOKS; k++) {
		const int64_t at = i + k*stride < n ? i + k*stride : i;

		is_zero[k] = weights[at] == 0;
		points[k] = degree[at];
		before[k] = marks[at];
	}
	PMG_UNROLL
	for (int k = 0; k < PMG_CUDA_LOOKS; k++) {
		const unsigned mark = pmg_cuda_live_mark(step, window_ended, before[k]);
		const unsigned now = is_zero[k] ? mark : mark | PMG_CUDA_RECENT;

		if (i + k*stride >= n)
			break;
		is_missing = is_missing || (!is_zero[k] && !(mark & PMG_CUDA_KEPT));
		if (now != before[k])
			marks[i + k*stride] = (uint8_t) now;
		*n_points += now & PMG_CUDA_RECENT ? points[k] : 0;
	}
	return is_missing;
}

/* `degree`: points of each weight. `pmg_loop` NULL: there is none around. */
template <class T>
static __global__ void pmg_cuda_live_look(int64_t n, const T *weights, const int32_t *degree, uint8_t *marks,
					  pmg_cuda_live_state *state, const pmg_cuda_loop *pmg_loop)
{
	const int64_t stride = (int64_t) gridDim.x*blockDim.x;
	const pmg_cuda_live_step step = state->step;
	const bool window_ended = state->window_ended;
	bool is_missing = false;
	int64_t n_points = 0;

	if (pmg_loop && pmg_loop->is_over)
		return;
	for (int64_t i = (int64_t) blockIdx.x*blockDim.x + threadIdx.x; i < n; i += PMG_CUDA_LOOKS*stride)
		is_missing |= pmg_cuda_live_look_at(i, stride, n, weights, degree, marks, step, window_ended,
						    &n_points);
	int64_t sum = pmg_cuda_live_of_thread(n_points, is_missing);

	if (!pmg_cuda_block<pmg_cuda_add>(&sum, blockDim.x))
		return;
	const unsigned long long mine = pmg_cuda_live_of_block(sum), found = mine + atomicAdd(&state->found, mine);

	if ((found >> 32 & 0xffff) == gridDim.x)
		pmg_cuda_live_decide(state, found);
}

struct pmg_cuda_live_copy {
	const void *from;
	void *to;
	int64_t size;                   /* of an element */
};

/* Parts of all points, and what is stored by point. Without gaps, since starts are compared by their bytes. */
struct pmg_cuda_live_parts {
	const void *by, *begins, *ends;
	int by_type, part_type;         /* of the numbers of weights; of begins and ends */
	int64_t n, n_copies;
	pmg_cuda_live_copy copies[PMG_CUDA_MOST_COPIES];
};

template <class T>
static __device__ void pmg_cuda_live_move_as(const pmg_cuda_live_copy &copy, int64_t to, int64_t from)
{
	((T *) copy.to)[to] = ((const T *) copy.from)[from];
}

static __device__ void pmg_cuda_live_move(const pmg_cuda_live_parts &parts, int64_t to, int64_t from)
{
	for (int64_t i = 0; i < parts.n_copies; i++)
		switch (parts.copies[i].size) {
		case 1: pmg_cuda_live_move_as<uint8_t>(parts.copies[i], to, from); break;
		case 2: pmg_cuda_live_move_as<uint16_t>(parts.copies[i], to, from); break;
		case 4: pmg_cuda_live_move_as<uint32_t>(parts.copies[i], to, from); break;
		default: pmg_cuda_live_move_as<uint64_t>(parts.copies[i], to, from);
		}
}

/* Moves the points of a part, a warp of them at a time; where they end. */
static __device__ int64_t pmg_cuda_live_part(const pmg_cuda_live_parts &parts, const uint8_t *marks, bool all,
					     int64_t begin, int64_t end, int lane)
{
	int64_t to = begin;

	for (int64_t first = begin; first < end; first += PMG_CUDA_WARP) {
		const int64_t k = first + lane;
		const bool stays = k < end && (all || marks[pmg_cuda_element(parts.by, parts.by_type, k)] &
					       PMG_CUDA_RECENT);
		const unsigned lanes = pmg_cuda_ballot<PMG_CUDA_WARP>(stays);

		if (stays)
			pmg_cuda_live_move(parts, to + pmg_cuda_count(lanes & ((1u << lane) - 1)), k);
		to += pmg_cuda_count(lanes);
	}
	return to;
}

/* What depends on the copies waits for `ends`, which everything reads that loops over points. */
static __global__ void PMG_BOUNDS(PMG_CUDA_WARP, 0)
pmg_cuda_live_keep(pmg_cuda_live_parts parts, const uint8_t *marks, const pmg_cuda_live_state *state, void *ends,
		   const pmg_cuda_loop *pmg_loop)
{
	PMG_TEAM(PMG_CUDA_WARP, PMG_CUDA_WARP, 1);

	if (state->step == PMG_CUDA_STAY || (pmg_loop && pmg_loop->is_over))
		return;
	for (int64_t p = pmg_index; p < parts.n; p += pmg_teams) {
		const int64_t end = pmg_cuda_live_part(parts, marks, state->step == PMG_CUDA_RESTORE,
						       pmg_cuda_element(parts.begins, parts.part_type, p),
						       pmg_cuda_element(parts.ends, parts.part_type, p), pmg_lane);

		if (pmg_lane == 0)
			(void) pmg_cuda_put(ends, parts.part_type, p, end);
	}
}

/* Zero times infinity is no zero. */
template <class T> static __device__ bool pmg_cuda_live_is_finite(T value)
{
	return value - value == 0;
}

static __device__ bool pmg_cuda_live_is_finite_at(const void *values, int type, bool is_top, int64_t k)
{
	if (type == PMG_F64)
		return pmg_cuda_live_is_finite(((const double *) values)[k]);
	if (type == PMG_F32)
		return pmg_cuda_live_is_finite(((const float *) values)[k]);
	return !is_top || (((const uint32_t *) values)[k] >> 20 & 0x7ff) != 0x7ff;
}

static __global__ void pmg_cuda_live_check(int64_t n, const void *values, int type, bool is_top,
					   pmg_cuda_live_state *state)
{
	PMG_POINT(k, n);
	if (!pmg_cuda_live_is_finite_at(values, type, is_top, k))
		(void) atomicExch(&state->is_infinite, 1u);
}

static __global__ void pmg_cuda_live_count(int64_t n, const void *by, int by_type, int32_t *degree)
{
	PMG_POINT(k, n);
	(void) atomicAdd(&degree[pmg_cuda_element(by, by_type, k)], 1);
}

/* ---- On the host ---- */

struct pmg_cuda_live {
	pmg_live_use use;
	pmg_cuda_pool pool;             /* no memory: all points stay */
	pmg_cuda_live_parts parts;
	pmg_cuda_live_state *state;
	uint8_t *marks;
	int32_t *degree;
	void *ends;
};

/* Takes all parts; twice, first to find out how much that is. Without room for so many copies it is none. */
static inline void pmg_cuda_live_layout(pmg_plan *plan, pmg_cuda_live *live)
{
	const pmg_restructure_desc *desc = live->use.desc;
	pmg_cuda_live_parts *parts = &live->parts;
	pmg_cuda_pool *pool = &live->pool;

	pool->used = 0;
	live->state = (pmg_cuda_live_state *) pmg_cuda_part(pool, sizeof *live->state);
	live->marks = (uint8_t *) pmg_cuda_part(pool, (size_t) live->use.n_weights);
	live->degree = (int32_t *) pmg_cuda_part(pool, (size_t) live->use.n_weights*sizeof(int32_t));
	live->ends = pmg_cuda_part(pool, (size_t) pmg_plan_array(plan, desc->parts->ends).bytes);
	parts->n_copies = 0;
	for (int32_t i = 0; i < desc->n_copies; i++) {
		const int32_t to = desc->copies[i].to;
		const pmg_array_use use = pmg_plan_array(plan, to);

		parts->copies[parts->n_copies].from = pmg_cuda_of(plan)->own[to];
		parts->copies[parts->n_copies].to = pmg_cuda_part(pool, (size_t) use.bytes);
		parts->copies[parts->n_copies++].size = (int64_t) pmg_type_size(use.type);
	}
}

static inline void pmg_cuda_live_find(pmg_plan *plan, pmg_cuda_live *live)
{
	const pmg_restructure_desc *desc = live->use.desc;
	void **own = pmg_cuda_of(plan)->own;

	live->parts.by = own[desc->parts->by];
	live->parts.by_type = pmg_plan_array(plan, desc->parts->by).type;
	live->parts.begins = own[desc->parts->begins];
	live->parts.ends = own[desc->parts->ends];
	live->parts.part_type = pmg_plan_array(plan, desc->parts->ends).type;
	live->parts.n = plan->sizes[desc->parts->n_parts];
	pmg_cuda_live_layout(plan, live);
}

/* Memory of the device; what it has no room for is reported, and done without. */
static inline bool pmg_cuda_live_allocate(pmg_plan *plan, pmg_cuda_live *live)
{
	size_t available = 0, all = 0;

	if (pmg_cuda_check(plan, cudaMemGetInfo(&available, &all), "the memory of the device") != PMG_OK)
		return false;
	if (live->pool.used > available || cudaMalloc((void **) &live->pool.memory, live->pool.used) != cudaSuccess) {
		(void) cudaGetLastError();
		live->pool.memory = NULL;
		plan->device_lacks += (int64_t) live->pool.used;
		return false;
	}
	plan->device_bytes += (int64_t) live->pool.used;
	pmg_cuda_live_layout(plan, live);
	return pmg_cuda_check(plan, cudaMemsetAsync(live->pool.memory, 0, live->pool.used, pmg_cuda_of(plan)->stream),
			      "zeros") == PMG_OK;
}

static inline void pmg_cuda_live_free(pmg_plan *plan, pmg_cuda_live *live)
{
	if (live->pool.memory)
		plan->device_bytes -= (int64_t) live->pool.used;
	(void) cudaFree(live->pool.memory);
	live->pool.memory = NULL;
}

/* Counts points, and looks whether all factors are finite. */
static inline bool pmg_cuda_live_measure(pmg_plan *plan, const pmg_cuda_live *live)
{
	const pmg_restructure_desc *desc = live->use.desc;
	pmg_cuda_inspecting g = pmg_cuda_inspecting();
	pmg_cuda_live_state state;

	g.plan = plan;
	PMG_INSPECT(&g, pmg_cuda_live_count, live->use.n, live->use.n, live->parts.by, live->parts.by_type,
		    live->degree);
	for (int32_t i = 0; i < desc->n_copies; i++) {
		const bool is_top = desc->copies[i].from >= 0 &&
				    pmg_plan_array(plan, desc->copies[i].from).storage == PMG_AS_F64TOP;
		const int type = pmg_plan_array(plan, desc->copies[i].to).type;

		if (is_top || type == PMG_F64 || type == PMG_F32)
			PMG_INSPECT(&g, pmg_cuda_live_check, live->use.n, live->use.n, live->parts.copies[i].from, type,
				    is_top, live->state);
	}
	return g.status == PMG_OK && pmg_cuda_to_host(plan, &state, live->state, sizeof state) == PMG_OK &&
	       !state.is_infinite;
}

static inline void pmg_cuda_live_start_keep(pmg_plan *plan, const pmg_cuda_live *live, const pmg_cuda_loop *loop)
{
	const int64_t n = live->parts.n < PMG_CUDA_MOVING ? live->parts.n : (int64_t) PMG_CUDA_MOVING;

	pmg_cuda_launch(plan, "pmg_cuda_live_keep", pmg_cuda_live_keep, n, PMG_CUDA_WARP, { }, live->parts,
			live->marks, live->state, live->ends, loop);
}

/* The copy holds all points. */
static inline void pmg_cuda_live_begin(pmg_plan *plan, const pmg_cuda_live *live)
{
	pmg_cuda_live_state state = pmg_cuda_live_state();

	state.rule = pmg_live_begin(live->use.n);
	state.step = PMG_CUDA_RESTORE;
	(void) pmg_cuda_to_device(plan, live->state, &state, sizeof state);
	(void) pmg_cuda_check(plan, cudaStreamSynchronize(pmg_cuda_of(plan)->stream), "points of zero weight");
	pmg_cuda_live_start_keep(plan, live, NULL);
}

static inline void pmg_cuda_live_open(pmg_plan *plan, pmg_cuda_live *live)
{
	if (live->use.desc->n_copies > PMG_CUDA_MOST_COPIES)
		return;
	pmg_cuda_live_find(plan, live);
	if (pmg_cuda_live_allocate(plan, live) && pmg_cuda_live_measure(plan, live))
		pmg_cuda_live_begin(plan, live);
	else
		pmg_cuda_live_free(plan, live);
}

static inline void pmg_cuda_live_close(pmg_plan *plan)
{
	pmg_cuda_plan *cuda = pmg_cuda_of(plan);

	for (int32_t i = 0; i < pmg_plan_restructurings(plan); i++)
		pmg_cuda_live_free(plan, &cuda->live[i]);
	free(cuda->live);
}

/* In place of pmg_cuda_fill. */
static inline pmg_status pmg_cuda_fill_live(pmg_plan *plan)
{
	const int32_t n = pmg_plan_restructurings(plan);
	pmg_cuda_plan *cuda = pmg_cuda_of(plan);
	pmg_status status = pmg_cuda_fill(plan);

	if (status != PMG_OK)
		return status;
	cuda->status = PMG_OK;
	cuda->live = (pmg_cuda_live *) calloc((size_t) n, sizeof *cuda->live);
	if (!cuda->live)
		return pmg_plan_fail(plan, PMG_NO_RESOURCES, "no memory for a plan of '%s'", pmg_plan_name(plan));
	cuda->close_live = pmg_cuda_live_close;
	for (int32_t i = 0; i < n && cuda->status == PMG_OK; i++) {
		cuda->live[i].use = pmg_plan_live(plan, i);
		if (cuda->live[i].use.desc)
			pmg_cuda_live_open(plan, &cuda->live[i]);
	}
	return cuda->status;
}

/* Kernels that are started from here on see the copy, or all points. */
static inline void pmg_cuda_show_points(pmg_plan *plan, const pmg_cuda_live *live, bool is_copy)
{
	const pmg_restructure_desc *desc = live->use.desc;
	pmg_cuda_plan *cuda = pmg_cuda_of(plan);

	if (!live->pool.memory)
		return;
	for (int32_t i = 0; i < desc->n_copies; i++) {
		const int32_t to = desc->copies[i].to;

		cuda->data[to] = is_copy ? live->parts.copies[i].to : cuda->own[to];
	}
	cuda->data[desc->parts->ends] = is_copy ? live->ends : cuda->own[desc->parts->ends];
}

template <class T>
static inline void pmg_cuda_live_start_look(pmg_plan *plan, const pmg_cuda_live *live, const T *weights,
					    const pmg_cuda_loop *loop)
{
	const int64_t n = live->use.n_weights, threads = (n + PMG_CUDA_LOOKS - 1)/PMG_CUDA_LOOKS;

	pmg_cuda_launch(plan, "pmg_cuda_live_look", pmg_cuda_live_look<T>,
			threads < PMG_CUDA_LOOKING ? threads : (int64_t) PMG_CUDA_LOOKING, 1, { }, n,
			weights, live->degree, live->marks, live->state, loop);
}

/* As pmg_live_points and pmg_all_points on the host. `loop` NULL: these calls are in none. */
static inline void pmg_cuda_live_points(pmg_plan *plan, int32_t restructuring, int32_t weights, bool is_finite,
					const pmg_cuda_loop *loop)
{
	const pmg_cuda_live *live = &pmg_cuda_of(plan)->live[restructuring];
	const void *data = pmg_cuda_data(plan, weights);

	pmg_cuda_show_points(plan, live, is_finite);
	if (!is_finite || !live->pool.memory)
		return;
	if (pmg_plan_array(plan, weights).type == PMG_F32)
		pmg_cuda_live_start_look(plan, live, (const float *) data, loop);
	else
		pmg_cuda_live_start_look(plan, live, (const double *) data, loop);
	pmg_cuda_live_start_keep(plan, live, loop);
}

static inline void pmg_cuda_all_points(pmg_plan *plan, int32_t restructuring)
{
	pmg_cuda_show_points(plan, &pmg_cuda_of(plan)->live[restructuring], false);
}

#endif
