/* SPDX-License-Identifier: MIT
 *
 * Private to the runtime: what a plan is, and what its files offer each other. A section per file.
 *
 * Invariant of a plan: for each array that the kernel reads, `kernel.data` is what it reads: the caller's memory where
 * it is row-major, aligned and of the described type, else `own` of the binding. `own` is allocated once and
 * released by pmg_plan_destroy. `bytes` counts all memory of the plan and never exceeds max_memory. */
#ifndef PMGRT_PLAN_H
#define PMGRT_PLAN_H

#include "pmgrt_generated.h"
#include "pmgrt_live.h"

#define PMG_MAX_SIZE ((int64_t) 1 << 40)        /* parameters and extents are below it */
#define PMG_MAX_BYTES ((int64_t) 1 << 62)
#define PMG_ALIGNMENT PMG_CACHE_LINE

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

#define PMG_MAX_SHARES 256

/* Where share number `share` of n elements begins, and the one before it ends: floor(n * share / n_shares). */
static inline int64_t share_begin(int64_t n, int64_t n_shares, int64_t share)
{
	return n / n_shares * share + n % n_shares * share / n_shares;
}

#define INTEGER_TYPES(X) X(I8, int8_t) X(I16, int16_t) X(I32, int32_t) X(I64, int64_t) \
	X(U8, uint8_t) X(U16, uint16_t) X(U32, uint32_t)

/* How many blocks of so many have n of them; the last one may not be full. */
static inline int64_t blocks_of(int64_t n, int64_t width)
{
	return n / width + (n % width != 0);
}

static inline int64_t segment_length(const int64_t *offsets, int64_t segment)
{
	return offsets[segment + 1] - offsets[segment];
}

/* The segments of offsets, by length. */
struct segment_list {
	int64_t n, stretch;             /* how many neighbours are in one order of length */
	int64_t *offsets, *order;       /* n + 1 and n values; NULL: no list; the memory begins with them */
	int64_t *starts;                /* room for where each block begins, in rows */
	size_t bytes;
};

struct binding {
	pmg_buffer buffer;      /* of the caller; of a fixed array: as it was at the plan */
	bool is_borrowed;       /* the kernel works on the caller's memory */
	void *own;              /* converted or rebased values, scratch, internal array; NULL: none */
	int64_t own_bytes;
	int64_t device_bytes;   /* of an array that the device's inspector has made; 0: the host has it */
	bool is_finite, is_finite_known;        /* of a fixed array of floats */
	bool has_values, has_values_known;      /* of a fixed index array: those that a kernel is made for */
	struct segment_list list;               /* of fixed offsets, once an argument is in blocks of their segments */
};

enum { BAD_INDEX = -1, BAD_RESULT = -2 };

/* A computed index out of range, a pivot of an elimination, or a result that is not finite. */
struct fault {
	int is_claimed;         /* atomic; the thread that sets it writes the rest */
	int32_t elimination;    /* or BAD_INDEX, BAD_RESULT */
	int32_t array;
	int64_t position, value;
	int64_t row, system;
	double pivot;           /* or the result */
	bool is_last;           /* a result: found behind the last iteration, or where there is no loop */
	int64_t iteration;      /* else: behind this one */
};

/* The loop of the last execution. */
struct progress {
	bool has_state;         /* the states hold those before iteration `next` */
	bool is_cancelled, is_finished;
	bool is_elsewhere;      /* the loop begins at `begin`, but has been stopped as one that began at `first` */
	int64_t first;          /* of the range */
	int64_t begin;          /* first iteration of this execution */
	int64_t next;           /* iterations first..next are complete */
};

struct live_array {
	void *memory;
	int64_t bytes;
};

struct live_side {
	struct live_array *arrays;      /* by number among those that the restructuring makes */
	int64_t n_runs, n_chunks;
};

/* The live points of a restructuring (nonzero_points.c). */
struct live {
	bool is_begun, is_shown;                /* is_shown: the kernel sees the short side */
	pmg_live_rule rule;                     /* the copy is the short side */
	int64_t n_weights;
	void *memory;                           /* of all that follows; NULL: nothing is left out */
	int64_t bytes;
	struct live_side sides[2];              /* all points, the live ones */
	uint8_t *kept, *recent;                 /* by weight: live on the short side; in a call of this window */
};

/* Threads of regions: how many processors were left for them at the last look, and the most of a region since then. */
struct team {
	int64_t looked;         /* nanoseconds */
	int32_t left, most;     /* 0: not known yet; no region */
};

struct plan {
	pmg_plan kernel;        /* first: a pmg_plan is a plan */
	const pmg_pipeline_desc *desc;
	pmg_context *context;
	int64_t max_memory, bytes, peak;
	int64_t block_bytes;    /* of the plan itself and the arrays behind it */
	bool check_finite;
	bool is_deterministic;  /* regions have as many threads however busy the machine is */
	bool is_tried;          /* executions are trials, whose results nobody sees */
	int64_t *extents;       /* desc->n_extents */
	int64_t *params;        /* desc->n_params; integer ones */
	int64_t *sizes;         /* desc->n_sizes */
	struct binding *bindings;       /* desc->n_arrays */
	bool is_bound;                  /* they are of arguments that an execution has checked */
	bool is_at_rest;                /* of these, nothing is copied and no values are checked in each execution */
	pmg_place *places;              /* desc->n_arrays */
	struct live *live;              /* desc->n_restructurings */
	struct fault bad;
	int arguments_are;              /* finite? Atomic (faults.c) */
	const void *args;               /* of the present execution */
	bool has_message;       /* of a failure in the present execution, by the device part */
	struct progress progress;
	pmg_kernel *run;        /* the kernel for the instruction set of report.isa */
	pmg_report report;
	int64_t trials_bytes;   /* of report.trials, which is the plan's */
};

/* ---- team.c */

/* Of so many processors, where so many threads run, of which so many are the caller's own. */
int32_t threads_left(int64_t processors, int64_t running, int64_t own);

/* ---- faults.c: what ends an execution */

void fault_forget(struct plan *plan);
/* Of the first one. After a pivot there are no states to go on from: solutions may have been written in their place. */
pmg_status fault_report(struct plan *plan);
void fault_result(struct plan *plan, struct fault result);    /* of one thread */

/* ---- finite.c: results, with options.check_finite */

/* Before iteration `it` states and `inout`, PMG_AT_END all that is written; not of a device. */
void results_look(struct plan *plan, int64_t it);

/* ---- context.c */

void context_forget(pmg_context *context);      /* its message */
struct team *context_team(pmg_context *context);
enum { MESSAGE_BYTES = 1024 };                  /* of a failure */
void *context_allocate(pmg_context *context, size_t size);
void context_release(pmg_context *context, void *memory, size_t size);

/* ---- buffer.c: geometry of one or two buffers */

#define LIST_TEXT_SIZE (PMG_MAX_RANK * 22 + 3)

/* "[10, 64]" in `text` of LIST_TEXT_SIZE bytes, which is returned. */
const char *list_text(char *text, int32_t rank, const int64_t *values);

bool element_is_integer(pmg_type type);         /* bool is none */
bool type_holds(pmg_type type, int64_t value);  /* of an integer type */
bool buffer_is_empty(const pmg_buffer *buffer);
int64_t buffer_elements(const pmg_buffer *buffer);
/* Of a row-major array of no negative extent; false: 2^63 and more. */
bool shape_bytes(pmg_type type, int32_t rank, const int64_t *shape, int64_t *bytes);
bool buffer_lacks_data(const pmg_buffer *buffer);
bool shapes_are_equal(const pmg_buffer *a, const pmg_buffer *b);
bool buffer_is_row_major(const pmg_buffer *buffer);     /* and aligned */
bool buffer_is_addressable(const pmg_buffer *buffer);   /* spans less than PMG_MAX_BYTES */
bool buffer_is_injective(const pmg_buffer *buffer);     /* no two elements share or interlace memory */

/* The bytes of an addressable buffer lie from `begin` to `end`; of one without elements there are none. */
struct reach {
	uintptr_t begin, end;
};
struct reach buffer_reach(const pmg_buffer *buffer);
static inline bool reaches_meet(struct reach one, struct reach other)
{
	return one.begin < one.end && other.begin < other.end && one.end > other.begin && other.end > one.begin;
}
bool buffers_overlap(const pmg_buffer *one, const pmg_buffer *other);
bool buffers_are_equal(const pmg_buffer *one, const pmg_buffer *other); /* the same elements in the same places */

/* ---- segments.c */

/* Of offsets that are not as declared, as many as there may be. */
int64_t segments_longest(const pmg_pipeline_desc *desc, int32_t offsets, const void *args, const int64_t *extents);
/* Adds the longest segments to the extents of parts that have their rows, and what lists of blocks of trees need. */
void segments_measure(const pmg_pipeline_desc *desc, const void *args, int64_t *extents);
/* STATUS_TOO_NARROW where a tree is too long for its blocks. */
pmg_status segments_check(pmg_context *context, const pmg_pipeline_desc *desc, const void *args,
			  const int64_t *extents);
/* Bytes that are needed for a while to list them. */
int64_t segments_spare(const pmg_pipeline_desc *desc, const int64_t *extents);
/* Lists segments by length, after the fixed arrays were inspected. */
pmg_status segments_inspect(struct plan *plan);

/* ---- segment_arguments.c: arguments in blocks of segments */

/* Is the argument an array over fixed offsets, and this buffer one in blocks of their segments? */
bool is_in_segments(const pmg_pipeline_desc *desc, const pmg_array_desc *array, const pmg_buffer *buffer);
/* Of such an argument: lists the segments, if no list is there yet, and checks the number of rows. The offsets are
 * those of `args` if it is fixed, which nobody has checked yet, else the plan's. */
pmg_status argument_segments(struct plan *plan, int32_t number, const void *args);
/* What the lists take that fixed arguments need. */
int64_t segments_forecast(const pmg_pipeline_desc *desc, const void *args, const int64_t *extents);
/* Copies between an argument as it is bound and as the plan keeps it. */
void argument_copy(struct plan *plan, int32_t number, const pmg_buffer *to, const pmg_buffer *from);
/* Where element `i` is in blocks of so many segments; the first one that is not finite in an array that lies in them,
 * as many as there are if all are. */
int64_t segments_place(const struct segment_list *list, int64_t lanes, int64_t i);
int64_t segments_first_infinite(const struct segment_list *list, int64_t lanes, const void *data, pmg_type type);

/* ---- segment_order.c: which segments are in which block, and which block is which thread's */

/* A stretch has so many segments, a power of four times as many, or all. It has as many as make, in blocks of
 * SEGMENTS_MEASURED, at most one row in SEGMENTS_PADDING more than an order of all would. */
enum { SEGMENTS_STRETCH = 256, SEGMENTS_MEASURED = 16, SEGMENTS_PADDING = 32 };

static inline bool is_segment_width(int64_t width)
{
	return width >= 1 && SEGMENTS_STRETCH % width == 0;
}

/* order[0..n]: stretch by stretch, the longest first, those of one length as they are numbered. `spare` has n values,
 * too. Returns how many segments a stretch has, all counted as the next multiple of SEGMENTS_STRETCH. */
int64_t segments_sort(const int64_t *offsets, int64_t n, int64_t *order, int64_t *spare);
/* Of all blocks of `width` segments, which divides SEGMENTS_STRETCH; and how many they may be, where neither order nor
 * lengths are known but the longest. */
int64_t segments_rows(const int64_t *offsets, const int64_t *order, int64_t n, int64_t width);
int64_t segments_most_rows(int64_t n_elements, int64_t n_segments, int64_t longest, int64_t width);
/* Where each block of so many segments begins, in rows. */
void segment_starts(const int64_t *offsets, const int64_t *order, int64_t n, int64_t width, int64_t *starts);

struct segment_shares {
	const int64_t *offsets, *order;
	int64_t n, stretch, width, threads;
};

/* How many blocks a thread takes before the next one takes as many: those of a stretch, or half as many, and so on,
 * until threads have about as many rows each; at least 1. */
int64_t segments_turn(const struct segment_shares *shares);

/* ---- segment_blocks.c: arrays over offsets in blocks of segments */

/* Reads offsets that nobody has checked; PMG_BAD_CALL, PMG_BAD_DATA, PMG_NO_RESOURCES leave nothing allocated. */
pmg_status segment_list_open(pmg_context *context, const pmg_buffer *offsets, struct segment_list *list);
void segment_list_close(pmg_context *context, struct segment_list *list);
/* Of all blocks of so many segments. */
int64_t segment_list_rows(const struct segment_list *list, int64_t width);
/* Bytes of the list of n segments. */
int64_t segment_list_bytes(int64_t n);
/* Between buffers of rank 1 and in blocks, or of rank 1 both, `n` pairs: those behind each other in blocks of one width
 * in one loop, MOST_PAIRS at most. */
void segments_copy(const struct segment_list *list, int32_t n, const pmg_buffer *const *to,
		   const pmg_buffer *const *from, int32_t threads);

/* ---- forests.c: trees in blocks */

void forest_measure(const pmg_pipeline_desc *desc, const pmg_children_desc *children, const void *args,
		    int64_t *extents, int64_t longest);
pmg_status forest_check(pmg_context *context, const pmg_pipeline_desc *desc, const pmg_children_desc *children,
			int64_t longest);
/* After the segments were listed by length. */
void forest_inspect(struct plan *plan, const pmg_children_desc *children);

/* ---- branches.c */

/* Of a tree that is bound and checked. */
void branches_build(struct plan *plan, const pmg_branches_desc *branches);

/* ---- chunks.c */

/* Of a tree that is bound and checked. */
void chunks_build(struct plan *plan, const pmg_chunks_desc *chunks);

/* ---- place.c: arrays in blocks, and with strides */

/* Is it the buffer of an array of this rank in blocks (pmg_buffer)? */
bool buffer_is_in_blocks(const pmg_buffer *buffer, int32_t rank);
bool argument_has_lanes(const pmg_array_desc *array);           /* false for other arrays */
int64_t bytes_with_lanes(const pmg_pipeline_desc *desc, const int64_t *extents);
bool lanes_are_whole(const void *data, int64_t lane_bytes);     /* lines of the caches */
/* The buffer of an argument that lies in blocks; NULL: it does not, or is not there. */
const pmg_buffer *argument_in_blocks(const pmg_array_desc *array, const void *args);
/* Where the parts of an array with lanes are in this buffer; false: not where a kernel finds them. */
bool parts_find(const pmg_array_desc *array, const pmg_buffer *buffer, pmg_place *place);
bool parts_are_found(const pmg_array_desc *array, const pmg_buffer *buffer);

/* ---- relayout.c: copies between buffers in blocks and flat ones */

bool copies_are_nontemporal(int32_t n, const pmg_buffer *const *to);
/* Copies between a buffer of rank r and one of rank r + 1, in blocks. */
void blocks_copy(const pmg_buffer *to, const pmg_buffer *from, int32_t threads);
/* Pairs of buffers that change their layout: so many in one loop. */
enum { MOST_PAIRS = 16 };
/* Fails if the call is wrong, whatever the buffers are. */
pmg_status relayout_call_check(pmg_context *context, int32_t n, const pmg_buffer *const *to,
			       const pmg_buffer *const *from, int32_t threads);
/* Behind that: fails if a buffer is wrong by itself, if `check_shapes` says so of a pair, or if memory that is written
 * is shared. Messages name the pair, if there are several; `user` is for `check_shapes` alone. */
typedef pmg_status pair_checker(pmg_context *context, const pmg_buffer *to, const pmg_buffer *from, const void *user);
pmg_status relayout_pairs_check(pmg_context *context, int32_t n, const pmg_buffer *const *to,
				const pmg_buffer *const *from, pair_checker *check_shapes, const void *user);
#define BLOCKS_INTO_BLOCKS "blocks become blocks of another width by way of a flat buffer"

/* ---- block_copy.c */

/* A block of `width` lanes, of which the first exist, and the rows of these, one lane behind the other; `into` the
 * block, perhaps non-temporally, or out of it. Elements of 4 or 8 bytes. A row that goes into the block past the
 * caches has whole lines, and at most PMG_MOST_NONTEMPORAL bytes. Of segments, lane i is at begin[i] and has lengths[i]
 * rows; there are at most MOST_LANES, and of the segments that the thread copies into a block next, which are of the
 * same size, lane i is at next_begin[i] of `next`; NULL: none are known. */
enum { MOST_LANES = 64 };

struct block_copy {
	void *block, *lanes;
	int64_t width, n_lanes, rows, size;
	bool into, is_nontemporal;
	const int64_t *begin, *lengths; /* NULL: lanes are next to each other and have all rows */
	const void *next;
	const int64_t *next_begin;
};

typedef void block_copier(const struct block_copy *copy);
block_copier block_copy_baseline, block_copy_avx2, block_copy_avx512;
/* The one with the widest vectors that the processor has. */
block_copier *block_copy_choose(void);
/* Behind a loop of copies, or an execution: what was stored non-temporally is there before what the caller writes next.
 * The barrier of a loop that threads share has seen to the other threads. */
void nontemporal_stores_end(void);

/* ---- convert.c */

/* Copies all elements; shapes agree, or one is in blocks; types agree or both are integers of which one is PMG_I64. */
void buffer_copy(const pmg_buffer *to, const pmg_buffer *from, int32_t threads);

/* ---- elements.c: one-dimensional arrays of any type and stride */

#define BLOCK PMG_NEAREST_CACHE_ELEMENTS

static inline int64_t block_size(int64_t first, int64_t end)
{
	return end - first < BLOCK ? end - first : BLOCK;
}

struct elements {
	char *data;
	int64_t stride;
	pmg_type type;
};

struct elements elements_dense(void *data, pmg_type type);
struct elements elements_of(const pmg_buffer *buffer);  /* of rank 1 */

/* values[i] = element first + i, or at[i], of an array of integers. */
void elements_read(const struct elements *from, int64_t first, int64_t n, int64_t *values);
void elements_gather(const struct elements *from, const int64_t *at, int64_t n, int64_t *values);

/* Element first + i = values[i]; false if the type, one of integers, does not hold one of them. */
bool elements_write(const struct elements *to, int64_t first, int64_t n, const int64_t *values);

/* Element first + i of dense `to` = element at[i] of `from`, which has the same type. */
void elements_move(const struct elements *to, int64_t first, const struct elements *from, const int64_t *at,
		   int64_t n);

/* ---- sort.c */

/* A key of a sort: the elements of an array, or `rank` of them, in 0..2^bits. */
struct sort_key {
	struct elements values;
	const int64_t *rank;            /* NULL: the elements themselves */
	int bits;
};

/* Points in a new order: number k of the point that is now at i in the low `index_bits` bits of points[i]; above it,
 * the most significant bits of its keys, those from bit `low` of the keys written one behind the other. */
struct order {
	int64_t n;
	uint64_t *points, *spare;       /* of the caller, n values each, aligned; spare: undefined after the sort */
	int index_bits, low;
	int n_keys;
	const struct sort_key *keys;    /* the first is the most significant */
};

int bits_of(int64_t limit);             /* that values 0..limit need */
int32_t shares_of(int64_t n, int32_t threads);          /* parts of n elements that threads get: 1 if there are few */
int64_t sort_counts(int64_t n, int32_t threads);        /* numbers that order_sort needs in `counts` */

/* Sets the order of points 0..n by their keys, stably; `points` and `spare` may change places. */
void order_sort(struct order *order, int64_t *counts, int32_t threads);

/* Numbers of the points at i = first..first + n. */
void order_points(const struct order *order, int64_t first, int64_t n, int64_t *at);

/* Whether `points` tell key number `key`: then it is these bits. */
bool order_tells(const struct order *order, int key, int *shift, uint64_t *mask);

/* ---- sizes.c: parameters, extents, memory */

const pmg_buffer *array_argument(const pmg_array_desc *array, const void *args);
int64_t param_integer(const pmg_param_desc *param, const void *args);
pmg_type array_kept_type(const pmg_array_desc *array);  /* in which the plan keeps its values */
bool array_is_internal(const pmg_array_desc *array);
/* Is it the number of a size that inspectors find? */
bool is_size_number(const pmg_pipeline_desc *desc, int32_t number);
bool array_has_limit(const pmg_array_desc *array);
bool array_is_rebased(const pmg_array_desc *array);
bool array_is_written(const pmg_array_desc *array);
int64_t array_elements(const pmg_array_desc *array, const int64_t *extents);
int64_t memory_bytes(int64_t n, pmg_type type);         /* of so many elements: a multiple of 64, not 0 */
int64_t array_bytes(const pmg_array_desc *array, const int64_t *extents);
pmg_buffer array_dense(const pmg_array_desc *array, const int64_t *extents, void *data);
/* The same for what the plan keeps. */
int64_t array_kept_bytes(const pmg_array_desc *array, const int64_t *extents);
pmg_buffer array_kept(const pmg_array_desc *array, const int64_t *extents, void *data);

pmg_status description_check(pmg_context *context, const pmg_pipeline_desc *desc);

/* Checks the description, the integer parameters and all sizes of `args` for a plan with so many threads (0: OpenMP's
 * default); writes `extents` (PMG_MAX_EXTENTS). */
pmg_status sizes_check(pmg_context *context, const pmg_pipeline_desc *desc, const void *args, int32_t threads,
		       int64_t *extents);

/* Bytes of the plan itself; of all that a plan will hold and, in `peak`, holds at a moment while it is made; if
 * `certain`, at least; -1 where that is too much. */
int64_t plan_block_bytes(const pmg_pipeline_desc *desc);
int64_t plan_forecast(const pmg_pipeline_desc *desc, const void *args, const int64_t *extents, bool certain,
		      int64_t *peak);
int64_t args_forecast(const pmg_pipeline_desc *desc, const void *args, int64_t *peak);  /* not `certain` */

/* ---- bind.c: what can be said of an argument without reading its elements */

/* Whether the kernel can work on the buffer of array number `number` as it lies. */
bool argument_is_direct(const pmg_array_desc *array, const pmg_buffer *buffer);

/* Has the caller left out an argument that is optional? It is an array of zeros then. */
bool argument_is_left_out(const pmg_array_desc *array, const pmg_buffer *buffer);

/* Whether inspectors read it as it lies, in another type or with strides: no kernel will. */
bool argument_is_inspectable(const pmg_array_desc *array);
pmg_status argument_check(pmg_context *context, const pmg_pipeline_desc *desc, int32_t number,
			  const void *args, const int64_t *extents);
pmg_status aliasing_check(const struct plan *plan);

/* ---- facts.c: what must be read for it; values are those of `kernel.data` */

pmg_status values_check(struct plan *plan, int32_t number);     /* facts, bools, finite */
/* Of an array of floats whose values are at `data`; else the first that is not, and where. */
bool values_are_finite(struct plan *plan, int32_t number, const void *data, int64_t *position, double *value);
/* `when`: "", or " after iteration 3". */
pmg_status finite_fail(const struct plan *plan, pmg_status status, int32_t number, int64_t position, double value,
		       const char *when);
bool values_are_checked(const struct plan *plan, int32_t number);       /* is there anything to check? */
pmg_status index_fail(const struct plan *plan, pmg_status status, int32_t number, int64_t position,
		      int64_t value);

/* ---- blas.c: around a kernel that calls a BLAS; NULL: it calls none */

void blas_enter(const pmg_blas *blas);
void blas_leave(const pmg_blas *blas);

/* ---- device.c */

/* Whether the array lives on the device only. */
bool array_is_of_device(const pmg_pipeline_desc *desc, int32_t number);

/* ---- inspect.c */

/* Reads the arrays of the caller that are fixed, or those that are not, after arrays_place: converts, checks
 * values, rebases trees, builds lists of children. `resume`: outputs start at what they hold. */
pmg_status arrays_inspect(struct plan *plan, bool fixed, bool resume);

/* ---- loop.c */

/* After the kernel: states that have changed places with their next values are where they were before it. */
void states_settle(struct plan *plan);

/* ---- curves.c */

/* Coordinates, integers [n, 2 or 3]. */
enum { GRID_AXES = 3 };
struct grid {
	struct elements axes[GRID_AXES];
	int32_t n_axes;
	int64_t least[GRID_AXES];
	int bits, dropped;              /* of a coordinate: how many count, and low ones that do not */
};

struct grid grid_of(const pmg_buffer *places);
/* Where place i is on Hilbert's curve. */
int64_t grid_hilbert(const struct grid *grid, int64_t i);
/* The same of a point of a cube of 2^bits, which is overwritten. */
int64_t hilbert_place(uint32_t *point, int32_t n_axes, int bits);

/* As pmg_morton_order, in `memory` of morton_bytes(n, threads) bytes. `rank`, unless NULL, is made the inverse of
 * `order`. */
int64_t morton_bytes(int64_t n, int32_t threads);
void morton_order(const pmg_buffer *places, int32_t threads, void *memory, int64_t *order, int64_t *rank);

/* ---- restructure_sizes.c */

bool restructurings_are_consistent(const pmg_pipeline_desc *desc);
bool restructurings_fit(const pmg_pipeline_desc *desc, const int64_t *extents);

/* ---- restructure_forecast.c */

/* Bytes of all arrays that restructurings make, and the most that is held at a moment while they are made; `certain`:
 * with as few runs as possible, else with as many as there seem to be. -1 if that is too much. */
int64_t restructurings_forecast(const pmg_pipeline_desc *desc, const void *args, const int64_t *extents,
				bool certain, int64_t *peak);

/* ---- restructure.c */

/* Makes the inspected arrays and sizes, after the fixed arrays were inspected; then drops the arrays that are for
 * inspection only. */
pmg_status restructurings_inspect(struct plan *plan);

/* ---- nonzero_points.c */

void nonzero_points_release(struct plan *plan);
/* Are there enough points for so many weights that leaving some out can pay? */
bool nonzero_points_pay(int64_t n, int64_t n_weights);

/* ---- isa.c */

/* Has this processor the instruction set with number PMG_ISA? */
bool isa_is_there(int32_t isa);
/* The kernel to run, and the name of its instruction set. PMG_BAD_CALL if that of PMG_ISA is not to be had. */
pmg_status isa_choose(pmg_context *context, const pmg_pipeline_desc *desc, pmg_kernel **kernel, const char **name);

/* ---- estimate.c */

/* The runs of the last keys that were counted; begins as zero. */
struct known_runs {
	int32_t n_keys;
	size_t offsets[PMG_MAX_RANK];   /* of the keys, in the arguments */
	int64_t n_runs;
};

/* Seconds of an execution of this candidate, by its sizes and runs; 0: not known. */
double execution_estimate(const pmg_pipeline_desc *desc, const void *args, const int64_t *extents, int32_t threads,
			  struct known_runs *known);

/* ---- scratch.c: arguments for trials */

struct scratch {
	const pmg_pipeline_desc *desc;
	pmg_context *context;
	const int64_t *extents;
	const void *caller;     /* the arguments given */
	bool in_blocks;         /* what the kernels of `desc` take in blocks lies so */
	char *args;             /* a copy of them, with buffers of scratch where they are missing, written, or put into
				 * blocks */
	int64_t bytes;          /* held, block and buffers */
	struct segment_list list;       /* of the segments of fixed offsets number `listed`; no `offsets`: none */
	int32_t listed;
};

/* What it will hold. */
int64_t scratch_forecast(const struct scratch *scratch);
/* False: no memory; then nothing is held. */
bool scratch_open(struct scratch *scratch);
/* Fills what a run has written: `inout` as the caller has it, the rest with numbers that are not zero. */
void scratch_fill(struct scratch *scratch);
void scratch_close(struct scratch *scratch);

/* ---- trial.c */

/* What trials hold besides plans. */
int64_t trials_forecast(const pmg_pipeline_desc *desc, const void *args, const pmg_options *options,
			const int64_t *extents);
/* Plans and runs the candidates, each beside the best so far, as far as the limit allows. The fastest plan goes to
 * `*best`, NULL where none could be run; then the status is that of the last failure if no candidate can do better,
 * else PMG_OK. */
pmg_status trials_run(const pmg_pipeline_desc *desc, const void *args, const pmg_options *options,
		      const int64_t *extents, pmg_trial *trials, struct plan **best, int32_t *chosen);

/* ---- widths.c */

/* How many lanes the blocks of this candidate's arguments have; 0: it takes none. */
int32_t widths_lanes(const pmg_pipeline_desc *desc);
/* What the second caches of so many threads hold, each on a core of its own. */
int64_t widths_near(int32_t threads);
/* Which number of lanes, among those of all candidates, suits so many threads best, where nothing else is known; their
 * second caches hold `near` bytes. */
int32_t widths_best(const pmg_pipeline_desc *desc, const pmg_options *options, const int64_t *extents, int32_t threads,
		    int64_t near);

/* ---- plan.c */

double seconds_now(void);
/* Threads of a plan: `threads`, or OpenMP's default for 0. */
int32_t threads_of(int32_t threads);
pmg_status threads_check(pmg_context *context, int32_t threads);
/* What can be said of a call without sizes. */
pmg_status call_check(const pmg_pipeline_desc *desc, const void *args, const pmg_options *options);
pmg_status limit_fail(pmg_context *context, const char *name, int64_t bytes, int64_t max_memory);
/* Inside of the runtime: the caller's data is right, but arrays that this candidate makes of it are of a type that
 * cannot hold its values. Outside, it is PMG_BAD_DATA: there is no other candidate. */
#define STATUS_TOO_NARROW ((pmg_status) 100)

/* A plan of this description, whatever candidates it has; checks all that belongs to it. */
pmg_status plan_make(const pmg_pipeline_desc *desc, const void *args, const pmg_options *options,
		     struct plan **plan);

struct plan *plan_of(pmg_plan *plan);
const struct plan *plan_of_const(const pmg_plan *plan);

/* Memory of the plan, within max_memory; NULL with a message, the status of which is PMG_NO_RESOURCES. */
void *plan_allocate(struct plan *plan, int64_t bytes);
void plan_release(struct plan *plan, void *memory, int64_t bytes);

/* Binds all arrays of the caller that are fixed, or all that are not, to the buffers in `args`, which were
 * checked: borrows them or allocates their `own`. Reads no element. */
pmg_status arrays_place(struct plan *plan, const void *args, bool fixed);

#endif
