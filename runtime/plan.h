/* SPDX-License-Identifier: MIT
 *
 * Private to the runtime: what a plan is, and what its files offer each other. A section per file.
 *
 * Invariant of a plan: for each array, `kernel.data` is what the kernel reads: the caller's memory where it
 * is row-major, aligned and of the described type, else `own` of the binding. `own` is allocated once and
 * released by pmg_plan_destroy. `bytes` counts all memory of the plan and never exceeds max_memory. */
#ifndef PMGRT_PLAN_H
#define PMGRT_PLAN_H

#include "pmgrt.h"

#define PMG_MAX_SIZE ((int64_t) 1 << 40)        /* parameters and extents are below it */
#define PMG_MAX_BYTES ((int64_t) 1 << 62)
#define PMG_ALIGNMENT 64

/* Loops over at least so many elements are shared among the threads of the plan. */
#define PMG_PARALLEL_SIZE ((int64_t) 1 << 17)

/* Before a loop over `n` elements; the rest are clauses. */
#ifdef _OPENMP
#define PRAGMA(text) _Pragma(#text)
#define PARALLEL(threads, n, ...) \
	PRAGMA(omp parallel for num_threads(threads) if((n) >= PMG_PARALLEL_SIZE) __VA_ARGS__)
#else
#define PARALLEL(threads, n, ...) (void) (threads), (void) (n);
#endif

struct binding {
	pmg_buffer buffer;      /* of the caller; of a fixed array: as it was at the plan */
	bool is_borrowed;       /* the kernel works on the caller's memory */
	void *own;              /* converted or rebased values, scratch, internal array; NULL: none */
	int64_t own_bytes;
};

struct bad_index {
	int is_claimed;         /* atomic; the thread that sets it writes the rest */
	int32_t array;
	int64_t position, value;
};

/* The loop of the last execution. */
struct progress {
	bool has_state;         /* the states hold those before iteration `next` */
	bool is_cancelled, is_finished;
	int64_t first;          /* of the range */
	int64_t begin;          /* first iteration of this execution */
	int64_t next;           /* iterations first..next are complete */
};

struct plan {
	pmg_plan kernel;        /* first: a pmg_plan is a plan */
	const pmg_pipeline_desc *desc;
	pmg_context *context;
	int64_t max_memory, bytes;
	int64_t block_bytes;    /* of the plan itself and the four arrays behind it */
	bool check_finite;
	int64_t *extents;       /* desc->n_extents */
	int64_t *params;        /* desc->n_params; integer ones */
	struct binding *bindings;       /* desc->n_arrays */
	struct bad_index bad_index;
	struct progress progress;
};

/* ---- context.c */

void *context_allocate(pmg_context *context, size_t size);
void context_release(pmg_context *context, void *memory, size_t size);

/* ---- buffer.c: geometry of one or two buffers */

#define LIST_TEXT_SIZE (PMG_MAX_RANK * 22 + 3)

/* "[10, 64]" in `text` of LIST_TEXT_SIZE bytes, which is returned. */
const char *list_text(char *text, int32_t rank, const int64_t *values);

bool type_is_integer(pmg_type type);            /* bool is none */
bool type_holds(pmg_type type, int64_t value);  /* of an integer type */
bool buffer_is_empty(const pmg_buffer *buffer);
bool buffer_is_row_major(const pmg_buffer *buffer);     /* and aligned */
bool buffer_is_addressable(const pmg_buffer *buffer);   /* spans less than PMG_MAX_BYTES */
bool buffer_is_injective(const pmg_buffer *buffer);     /* no two elements share or interlace memory */
bool buffers_overlap(const pmg_buffer *one, const pmg_buffer *other);

/* ---- convert.c */

/* Copies all elements; shapes agree, types agree or both are integers of which one is PMG_I64. */
void buffer_copy(const pmg_buffer *to, const pmg_buffer *from, int32_t threads);

/* ---- sizes.c: parameters, extents, memory */

const pmg_buffer *array_argument(const pmg_array_desc *array, const void *args);
int64_t param_integer(const pmg_param_desc *param, const void *args);
bool array_is_internal(const pmg_array_desc *array);
bool array_has_limit(const pmg_array_desc *array);
bool array_is_rebased(const pmg_array_desc *array);
bool array_is_written(const pmg_array_desc *array);
int64_t array_elements(const pmg_array_desc *array, const int64_t *extents);
int64_t array_bytes(const pmg_array_desc *array, const int64_t *extents);       /* a multiple of 64, not 0 */
pmg_buffer array_dense(const pmg_array_desc *array, const int64_t *extents, void *data);

/* Checks the description, the integer parameters and all sizes of `args`; writes `extents`
 * (PMG_MAX_EXTENTS). */
pmg_status sizes_check(pmg_context *context, const pmg_pipeline_desc *desc, const void *args,
		       int64_t *extents);

/* Bytes of the plan itself; of all that a plan will hold, or -1 where that is too much. */
int64_t plan_block_bytes(const pmg_pipeline_desc *desc);
int64_t plan_forecast(const pmg_pipeline_desc *desc, const void *args, const int64_t *extents);

/* ---- bind.c: what can be said of an argument without reading its elements */

/* Whether the kernel can work on the buffer of array number `number` as it lies. */
bool argument_is_direct(const pmg_array_desc *array, const pmg_buffer *buffer);
pmg_status argument_check(pmg_context *context, const pmg_pipeline_desc *desc, int32_t number,
			  const void *args, const int64_t *extents);
pmg_status aliasing_check(const struct plan *plan);

/* ---- facts.c: what must be read for it; values are those of `kernel.data` */

pmg_status values_check(struct plan *plan, int32_t number);     /* facts, bools, finite */
pmg_status index_fail(const struct plan *plan, pmg_status status, int32_t number, int64_t position,
		      int64_t value);

/* ---- inspect.c */

/* Reads the arrays of the caller that are fixed, or those that are not, after arrays_place: converts, checks
 * values, rebases trees, builds lists of children. `resume`: outputs start at what they hold. */
pmg_status arrays_inspect(struct plan *plan, bool fixed, bool resume);

/* ---- plan.c */

struct plan *plan_of(pmg_plan *plan);
const struct plan *plan_of_const(const pmg_plan *plan);

/* Memory of the plan, within max_memory; NULL with a message, the status of which is PMG_NO_RESOURCES. */
void *plan_allocate(struct plan *plan, int64_t bytes);
void plan_release(struct plan *plan, void *memory, int64_t bytes);

/* Binds all arrays of the caller that are fixed, or all that are not, to the buffers in `args`, which were
 * checked: borrows them or allocates their `own`. Reads no element. */
pmg_status arrays_place(struct plan *plan, const void *args, bool fixed);

#endif
