/* SPDX-License-Identifier: MIT
 *
 * What generated code includes: what kernels read of a plan, the functions that they call, the arithmetic of the
 * language, and what defines the functions of a pipeline. */
#ifndef PMGRT_GENERATED_H
#define PMGRT_GENERATED_H

#include <math.h>

#include "pmgrt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Plans and their arrays ---- */

/* Where the parts of an array with `lanes` are, in elements: from a block of so many of its first dimension to the
 * next, from one of what follows (in row-major order) to the next, and from lane to lane. Of an array with `segments`
 * that lies in blocks of them: block 0; else all distances are 0. */
typedef struct pmg_place {
	int64_t block, row, lane;
	bool is_padded;         /* all lanes of the last block have memory */
	bool is_nontemporal;    /* results are stored non-temporally: whole lines, too many for the caches */
	bool is_memory_resident;        /* and rows or lanes are next to each other, so that kernels prefetch them */
} pmg_place;            /* of an array that `is_per_thread`: `block` elements from thread to thread */

/* A row of a block of trees: the lanes in which the parent is the row before, and in which it is a root, as bits. Where
 * the list begins of its children that are not the next row, and of its parents that are not the row before: it ends
 * where that of the next row begins. Kernels read PMG_LISTED cells at a time, and so some behind a list: those of rows
 * behind, or, behind the last list of a block, its last cell again (cell 0, which nobody reads, if all are empty). A
 * child that is read at a row so has its parent there or further on. A parent may not have been computed yet: what
 * stands there is chosen away. */
enum { PMG_LISTED = 2 };
typedef struct pmg_lane_masks {
	int64_t follows, roots, children, parents;
} pmg_lane_masks;

/* The part of a plan that kernels read; the runtime's own part follows it. */
struct pmg_plan {
	void **data;            /* for each array, row-major, of the described type; NULL only if is_for_inspection */
	const int64_t *sizes;   /* that restructurings found */
	const pmg_place *places;        /* for each array */
	int32_t threads;        /* at least 1; also the default of the library's OpenMP for the thread that calls the
				 * kernel, whose own may be another one */
	void *device;           /* of the device part; NULL: there is none */
	int64_t device_bytes, to_device, from_device;
	double device_seconds;  /* of the kernels of an execution */
	int64_t device_lacks;   /* bytes for copies of points without those of zero weight */
	int64_t device_teams;   /* of PMG_WARP_LANES lanes that work side by side; 0: not known */
};

/* ---- Threads ---- */

/* Of so many threads, those that a region of this work gets: operations, as the kernel's sizes count them, and
 * iterations of the loop that is shared. Each thread has at least PMG_THREAD_WORK of the one, which takes some ten
 * times as long as to start and to end a region, and one of the other. */
#define PMG_THREAD_WORK 524288.0
static inline int pmg_team_size(int threads, double work, double iterations)
{
	const double by_work = floor(work/PMG_THREAD_WORK), all = ceil(iterations);
	const double most = by_work < all ? by_work : all;

	return most >= threads ? threads : most > 1 ? (int) most : 1;
}

/* The same of a plan's; where regions are short, no more than processors that are free. With PMG_ALL_THREADS, which is
 * for tests, all of them in any case. */
PMG_API int32_t pmg_plan_team(pmg_plan *plan, int32_t threads, double work);
static inline int pmg_team(pmg_plan *plan, double work, double iterations)
{
#ifdef PMG_ALL_THREADS
	(void) work, (void) iterations;
	return plan->threads;
#else
	const int threads = pmg_team_size(plan->threads, work, iterations);

	return threads > 1 ? pmg_plan_team(plan, threads, work) : 1;
#endif
}

/* ---- Device parts ---- */

/* Where an array of the plan is (pmg_plan.data has its address), how many bytes it has, 0 where no
 * kernel reads it; sets the message of the plan's context and returns `status`. */
typedef struct pmg_array_use {
	int64_t bytes;
	pmg_type type;          /* in which its values are kept */
	pmg_storage storage;    /* and how */
	pmg_device place;       /* PMG_CUDA: the caller's memory of the device */
	bool is_internal, is_input, is_output;
	bool is_fixed;
	bool is_made;           /* on the host, when the plan was made, or, `is_remade`, by each execution */
	bool is_remade;
} pmg_array_use;
PMG_API int32_t pmg_plan_arrays(const pmg_plan *plan);
PMG_API pmg_array_use pmg_plan_array(const pmg_plan *plan, int32_t array);
PMG_API const char *pmg_plan_name(const pmg_plan *plan);
/* An array that the device's inspector makes will have n elements; its bytes, with what may be read behind them. */
PMG_API int64_t pmg_plan_inspected(pmg_plan *plan, int32_t array, int64_t n);

/* What a device needs to know to leave out points of a restructuring. */
typedef struct pmg_live_use {
	const pmg_restructure_desc *desc;       /* NULL: all points stay, or there are too few */
	int64_t n, n_weights;
} pmg_live_use;
PMG_API int32_t pmg_plan_restructurings(const pmg_plan *plan);
PMG_API pmg_live_use pmg_plan_live(const pmg_plan *plan, int32_t restructuring);
PMG_API pmg_status pmg_plan_fail(pmg_plan *plan, pmg_status status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* What stands ahead of kernels in OpenCL C: pmgrt_opencl.cl and the arithmetic that it shares with C. */
PMG_API extern const char pmg_opencl_text[];

/* ---- Loops ---- */

/* `for (it = pmg_loop_begin(plan, control, lo); pmg_loop_next(plan, control, it, hi, until); it++)`: counts,
 * asks for cancellation and budget, reports progress. `until` is the value of the condition before iteration
 * `it`. After a bad index the loop ends; an iteration commits its `next` values only while pmg_failed is
 * false. Called by one thread. */
PMG_API int64_t pmg_loop_begin(pmg_plan *plan, pmg_control *control, int64_t lo);
PMG_API bool pmg_loop_next(pmg_plan *plan, pmg_control *control, int64_t it, int64_t hi, bool until);

/* With options.check_finite: is the array to be looked at before iteration `it`, or PMG_AT_END? And the look, at its
 * values on the host. What is found ends the execution as a bad index does. */
#define PMG_AT_END INT64_MIN
PMG_API bool pmg_looks_at(const pmg_plan *plan, int32_t array, int64_t it);
PMG_API void pmg_look_at(pmg_plan *plan, int32_t array, const void *values, int64_t it);

/* Iterations that control->budget, which is not negative, allows from `it` on. */
PMG_API int64_t pmg_loop_budget(const pmg_plan *plan, const pmg_control *control, int64_t it);

/* True when the states are to be set to INIT, and accumulated outputs to their start; false when a stopped
 * run goes on. Asked before pmg_loop_begin. */
PMG_API bool pmg_loop_starts(const pmg_plan *plan, const pmg_control *control);

/* Arrays that change places, a state and its next values: before the loop, `next` is made a copy of it; at the end of
 * an iteration, plan->data is changed. When the kernel has returned the state is where the caller has it. */
PMG_API void pmg_keep(pmg_plan *plan, int32_t state, int32_t next);
PMG_API void pmg_swap(pmg_plan *plan, int32_t state, int32_t next);

/* ---- What ends an execution ---- */

/* A computed index out of range: remembered (the first one wins, from any thread), reported when the kernel
 * returns. `array` is the description of the index array, `position` the row-major number of the element,
 * `value` its value. */
PMG_API void pmg_bad_index(pmg_plan *plan, int32_t array, int64_t position, int64_t value);
PMG_API bool pmg_failed(const pmg_plan *plan);

/* A pivot of an elimination that is zero, or is not finite although all floats of the caller are: remembered like a bad
 * index. `elimination` is its number in the description, `row` the value of the subscript that counts rows; `system` is
 * -1 where rows tell it, or there is one. Of n lanes: systems are `stride` apart, or each lane has its own rows. */
PMG_API void pmg_bad_pivot(pmg_plan *plan, int32_t elimination, int64_t row, int64_t system, double pivot);
PMG_API void pmg_bad_pivots(pmg_plan *plan, const void *pivots, int64_t n, int32_t elimination, int64_t row,
			    int64_t system, int64_t stride);
PMG_API void pmg_bad_ragged_pivots(pmg_plan *plan, const void *pivots, int64_t n, int32_t elimination, int64_t row,
				   const int64_t *begin, const int64_t *rows);

/* ---- What the values of arrays allow ---- */

/* Are all values of a fixed array of floats finite? Looked at when first asked, then remembered. Called by one
 * thread. */
PMG_API bool pmg_is_finite(pmg_plan *plan, int32_t array);

/* Does a fixed index array hold these n values? Looked at when first asked, then remembered: it is always asked about
 * the same values. Called by one thread. */
PMG_API bool pmg_has_values(pmg_plan *plan, int32_t array, const int64_t *values, int64_t n);

/* Is an array, which begins with a cache line, too large for the caches to keep what is written to it? */
PMG_API bool pmg_is_nontemporal(const pmg_plan *plan, int32_t array);

/* Sets arrays and sizes of a restructuring to its live points: those at which weights[by[k]] is not zero, in the same
 * order, without the runs that then are empty; as copies, once the zeros have stayed for some calls and if there is
 * memory; else to all points. `by` is a copy that the restructuring makes, `is_finite` says whether all other factors
 * but copies are. Called by one thread, outside of loops. */
PMG_API void pmg_live_points(pmg_plan *plan, int32_t restructuring, int32_t weights, int32_t by, bool is_finite);
PMG_API void pmg_all_points(pmg_plan *plan, int32_t restructuring);

/* ---- Instruction sets ---- */

/* Instruction sets for which one library may have kernels: that of the compiler's command line, AVX2 with FMA, AVX-512
 * (F, BW, CD, DQ, VL). PMG_KERNELS in a description lists those of a function; clang 14 forgets the instruction set in
 * parallel loops, so that only gcc makes more than one. */
#if defined __x86_64__ && defined __GNUC__ && !defined __clang__ && !defined __cplusplus
#define PMG_HAS_ISAS 1
#define PMG_KERNELS(name) { name, name##_avx2, name##_avx512 }
#else
#define PMG_HAS_ISAS 0
#define PMG_KERNELS(name) { name }
#endif

#ifdef __cplusplus
}
#endif

#include "pmgrt_math.h"
#include "pmgrt_pivot.h"
#include "pmgrt_pipeline.h"

#endif
