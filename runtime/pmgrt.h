/* SPDX-License-Identifier: MIT
 *
 * libpmgrt: the fixed library behind every generated pipeline, and the one header that loaders and hand-written
 * callers include. What describes a pipeline is in pmgrt_description.h, which this includes; what kernels call is in
 * pmgrt_generated.h, which generated code includes.
 *
 * A pipeline p compiled from p.pmg offers
 *     const pmg_pipeline_desc *p_describe(void);
 *     pmg_status p_plan(const p_args *, const pmg_options *, p_plan_t **);
 *     pmg_status p_execute(p_plan_t *, const p_args *, pmg_control *);
 *     pmg_status p_state_save(p_plan_t *, pmg_writer *), p_state_load(p_plan_t *, pmg_reader *);
 *     void       p_destroy(p_plan_t *); The plan checks, converts and inspects what is `fixed`, and
 * allocates everything; execution is what is repeated (FFTW, Frigo and Johnson 2005). Kernels do not
 * allocate. Nothing here prints, exits or has global state; two plans with a context each may be used by two
 * threads at once, one plan or context by one thread at a time.
 *
 * Every function that returns pmg_status leaves a message in the context (pmg_message) when it fails. A NULL
 * plan, description, args or stream is PMG_BAD_CALL, never a crash. Memory is counted in bytes. */
#ifndef PMGRT_H
#define PMGRT_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PMG_MAX_RANK 8

#define PMG_API __attribute__((visibility("default")))

/* ---- Status and context -------------------------------------------------- */

/* The values are the exit codes of the command-line tools. */
typedef enum pmg_status {
	PMG_OK = 0,
	PMG_BAD_CALL = 2,       /* the caller broke the contract of a function */
	PMG_BAD_DATA = 3,       /* an array, a fact or a size does not hold what the pipeline declares */
	PMG_IO = 4,
	PMG_NO_RESOURCES = 5,   /* memory, or the limit set in pmg_options */
	PMG_NUMERICAL = 6,      /* bad pivot, computed index out of range */
	PMG_CANCELLED = 8,      /* pmg_control.cancel was set; state is that of the last whole iteration */
	PMG_INTERNAL = 70       /* the description contradicts itself: an error of the compiler */
} pmg_status;

/* Every allocation of the runtime goes through here; both functions are called from the thread of the caller
 * only. */
typedef struct pmg_allocator {
	void *(*allocate)(void *user, size_t size);             /* 64-byte aligned, or NULL; size > 0 */
	void (*release)(void *user, void *memory, size_t size); /* `size` as it was asked for; never NULL */
	void *user;
} pmg_allocator;

/* Holds the allocator and the message of the last failure. One per thread of the caller. */
typedef struct pmg_context pmg_context;

/* Memory as plans take it where no allocator is given: aligned, and in large pages if it fills one. NULL: there is
 * none. To be given to free(). */
PMG_API void *pmg_memory(size_t size);

/* A context, to be freed by the caller after all its plans. The allocator is copied; NULL: pmg_memory and free. NULL
 * when there is no memory. */
PMG_API pmg_context *pmg_context_new(const pmg_allocator *allocator);
PMG_API void pmg_context_free(pmg_context *context);

/* The message of the last failure, "" if there was none since the last plan was made; owned by the context, valid until
 * the next failure or plan. One line, no final full stop, at most 1023 bytes. "" for NULL. */
PMG_API const char *pmg_message(const pmg_context *context);

/* Sets the message (unless `context` is NULL) and returns `status`. */
PMG_API pmg_status pmg_fail(pmg_context *context, pmg_status status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* ---- Buffers -------------------------------------------------------------- */

/* In the order of compiler/support/types.def; a unit test compares the two. */
typedef enum pmg_type {
	PMG_F32, PMG_F64, PMG_I8, PMG_I16, PMG_I32, PMG_I64, PMG_U8, PMG_U16, PMG_U32, PMG_BOOL
} pmg_type;

typedef enum pmg_device { PMG_HOST, PMG_CUDA } pmg_device;

/* A caller's array; the caller owns `data`, which may be NULL if a dimension is 0. Strides are in bytes,
 * need not be multiples of the element, and may be negative or, for inputs, 0. A row-major aligned buffer of
 * the declared type is used where it lies; others are converted by the plan (fixed) or by each execution
 * (written ones in scratch, which is copied back). An index array may have any integer type; the type of
 * others must be the declared one. A buffer on the device of the pipeline is used where it lies: it must be row-major,
 * and no index array. A written buffer may overlap no other buffer of the same call, nor a
 * fixed array that the plan has borrowed.
 *
 * An array of floats may also be held in blocks along its first dimension: b of them interleaved, so that a buffer for
 * [m, n] has the shape [ceil(m/b), n, b], one dimension more, and x[i, j] is at [i/b, j, i % b]. What stands in the
 * last block behind m may be anything, and may be written. If the description says of which offsets its elements are
 * the segments (pmg_array_desc.segments), blocks are of segments: see pmg_in_segments. */
typedef struct pmg_buffer {
	void *data;
	pmg_type type;
	pmg_device device;
	int32_t rank;                   /* 0: a scalar */
	int64_t shape[PMG_MAX_RANK];    /* in elements */
	int64_t strides[PMG_MAX_RANK];  /* in bytes */
} pmg_buffer;

PMG_API size_t pmg_type_size(pmg_type type);            /* bytes of an element; 0 for no type */
PMG_API const char *pmg_type_name(pmg_type type);       /* as in .pmg: "f64"; "?" for no type */

/* A row-major host buffer around `data`, which stays the caller's. `shape` has `rank` values, or is NULL for
 * 0. */
PMG_API pmg_buffer pmg_dense(void *data, pmg_type type, int32_t rank, const int64_t *shape);

/* ---- Plan and execution ----------------------------------------------------- */

typedef struct pmg_pipeline_desc pmg_pipeline_desc;     /* pmgrt_description.h */
typedef struct pmg_plan pmg_plan;
typedef struct pmg_control pmg_control;
typedef struct pmg_options pmg_options;

/* How a plan chooses among the candidates of its pipeline; a struct set to zero estimates. */
typedef enum pmg_tune {
	PMG_TUNE_ESTIMATE,      /* that which needs least time by its sizes; of several, narrow blocks from memory, or
				 * if wide ones would leave threads without any */
	PMG_TUNE_OFF,           /* the first of those that take most arguments in blocks as they lie and, of these, suit
				 * the sizes */
	PMG_TUNE_MEASURE        /* those that may be are planned and run a few times; one clearly faster is kept */
} pmg_tune;

enum { PMG_MAX_THREADS = 4096 };
#define PMG_FIRST_CANDIDATE "first"

struct pmg_options {
	pmg_context *context;   /* required; must outlive the plan */
	int32_t threads;        /* 0: OpenMP's default; at most PMG_MAX_THREADS */
	int64_t max_memory;     /* bytes the plan may hold, also while it is made; 0: no limit */
	bool check_finite;      /* NaN or infinity in an input is an error, and one in a state or `inout` behind an
				 * iteration, or in what has been computed */
	pmg_tune tune;
	const char *candidate;  /* the `choice` of the one to take, whatever `tune` says; PMG_FIRST_CANDIDATE or "": the
				 * first; NULL: any */
	bool deterministic;     /* the same bits whenever the same arguments are executed: only candidates that are
				 * `is_ordered`, chosen without measuring */
	bool in_blocks;         /* executions will hold what the kernel takes in blocks so: trials do, whatever `args`
				 * do, in copies of inputs that are there in strides, and pmg_plan_lanes tells which
				 * blocks the fastest one takes. Without room for two copies of the arguments within
				 * max_memory nothing is measured. Fixed arrays are taken as they are given */
};

#define PMG_CHECK_EVERY 16

/* Of an execution; NULL: run to the end. */
struct pmg_control {
	int64_t budget;                 /* iterations of this call; negative: no limit */
	const volatile int *cancel;     /* non-zero: stop after the current iteration; NULL: never */
	/* After each iteration, on a device after check_every: how many are complete since the start, and how many
	 * there are at most. */
	void (*progress)(void *user, int64_t iteration, int64_t last);
	void *user;
	bool resume;                    /* go on from the plan's state instead of starting at INIT */
	bool same_buffers;              /* buffers of the caller that lie where they lay in the execution before hold
					 * what they held when it ended: a device does not take them again */
	int64_t check_every;            /* iterations that a device is given before the host waits for it, to see
					 * whether `until` holds, to report progress and to be cancelled; 0:
					 * PMG_CHECK_EVERY. The results do not depend on it */
	int64_t done;                   /* out: iterations completed since the start */
	bool finished;                  /* out: `until` holds, the range is exhausted, or there is no loop */
};

/* Opaque streams for state: return PMG_OK or PMG_IO, and transfer all n bytes or fail. */
typedef struct pmg_writer {
	pmg_status (*write)(void *user, const void *bytes, size_t n);
	void *user;
} pmg_writer;
typedef struct pmg_reader {
	pmg_status (*read)(void *user, void *bytes, size_t n);
	void *user;
} pmg_reader;

/* What the generated functions call. */

/* Makes a plan: checks the integer parameters, sizes and fixed arrays of `args`. Other buffers in it may be all zero;
 * where they have data, candidates that take their blocks as they lie come first, and trials read inputs. Compares the
 * forecast with max_memory, then allocates and inspects. Trials never write to a buffer of the caller: what they write
 * is scratch, laid out as the caller's, and what is not there is made up. `fixed` arrays are borrowed where they can be
 * used as they lie, so they must outlive the plan unchanged; converted ones are copied. `desc` is kept, `args` and
 * `options` are not. The caller owns `*plan` (pmg_plan_destroy). On failure `*plan` is NULL and nothing is left
 * allocated. PMG_BAD_CALL, PMG_BAD_DATA, PMG_NO_RESOURCES, PMG_INTERNAL. */
PMG_API pmg_status pmg_plan_new(const pmg_pipeline_desc *desc, const void *args, const pmg_options *options,
				pmg_plan **plan);

/* Binds the arrays of `args` that are not fixed (fixed ones are ignored), checks them, runs the kernel. Where the
 * buffers are those of the execution before, only what has to be read for it is checked again.
 * `control` may be NULL. Scratch that other types or strides need is allocated at first need and kept by the
 * plan. Before the kernel starts, a failure leaves every buffer untouched. After it, `inout` buffers hold
 * the last whole iteration whatever the status, but after a bad pivot (PMG_NUMERICAL), which leaves them undefined, and
 * no states; `out` buffers are undefined unless PMG_OK or PMG_CANCELLED.
 * A stopped run goes on with control->resume and the same `inout` and `out` buffers. PMG_BAD_CALL,
 * PMG_BAD_DATA, PMG_NO_RESOURCES, PMG_NUMERICAL, PMG_CANCELLED. */
PMG_API pmg_status pmg_plan_execute(pmg_plan *plan, const void *args, pmg_control *control);

/* What a plan knows of a candidate. Seconds; 0: not known. */
#define PMG_TRIAL_RUNS 3
#define PMG_TRIAL_MOST 64               /* beside others, in turns */
#define PMG_PROBLEM_SIZE 160

typedef struct pmg_trial {
	const char *choice;             /* of the candidate, "" of the first */
	double estimate;                /* of an execution, by the sizes and the number of runs */
	double inspection;              /* of making its plan */
	int32_t n_runs;
	double runs[PMG_TRIAL_MOST];    /* means of executions; of a pipeline with `iterate`, of some iterations */
	char problem[PMG_PROBLEM_SIZE]; /* why it was left out; "" */
} pmg_trial;

typedef struct pmg_report {
	const char *choice;             /* of the candidate that was taken, "" of the first */
	const char *reason;             /* "measured", "asked for", … */
	const char *isa;                /* "baseline", "avx2", "avx512"; "native": the library has one for all */
	int32_t n_trials;               /* one for each candidate; 0 where nothing was to choose */
	const pmg_trial *trials;
	double inspection;              /* of making the plan that was kept */
	double tuning;                  /* of everything else: trials and their data */
	int64_t device_bytes;           /* that the plan holds on its device */
	int64_t to_device, from_device; /* bytes moved since the plan was begun */
	double device_inspection;       /* of restructurings on the device, whose data is there; 0: on the host */
	double device_seconds;          /* of the last execution, from its first kernel to the end of the last one */
	int64_t device_lacks;           /* bytes that its device has no room for, to leave out points of zero weight */
} pmg_report;

/* How the candidate of a plan was chosen; owned by the plan. NULL for NULL. */
PMG_API const pmg_report *pmg_plan_report(const pmg_plan *plan);

/* In blocks of how many (pmg_in_blocks, pmg_in_segments) executions take this argument as it lies; 0: in none, or it is
 * fixed, and what the plan needs of it is made; -1: there is no such argument. */
PMG_API int32_t pmg_plan_lanes(const pmg_plan *plan, const char *argument);

/* ---- Wisdom: what trials have found ----
 *
 * Functions on text, which the caller keeps where he likes. With the choice that is found for a signature, a plan is
 * made by `options.candidate`, without trials. */

/* What the fastest candidate may depend on, in one line: pipeline, processor, threads, sizes and the spread of fixed
 * index arrays, all of them rounded, so that similar problems have the same; and blocks that arguments lie in, or will.
 * PMG_NO_RESOURCES also where `size` bytes do not suffice; PMG_SIGNATURE_SIZE always do but for pipelines of very many
 * arguments. */
#define PMG_SIGNATURE_SIZE 4096
PMG_API pmg_status pmg_signature(const pmg_pipeline_desc *desc, const void *args, const pmg_options *options,
				 char *text, size_t size);

/* Whether this text is wisdom, and of this version. What is not, holds nothing to be found. */
PMG_API bool pmg_wisdom_is_valid(const char *text);

/* Whether something is known for `signature`; if so, its choice, which fits into `size` bytes. */
PMG_API bool pmg_wisdom_find(const char *text, const char *signature, char *choice, size_t size);

/* `text` (NULL: nothing yet) with this choice for this signature, and without an older one: written to `out`, if its
 * `size` is at least the number of bytes that is returned. 0: signature or choice hold a tab or an end of line. */
PMG_API size_t pmg_wisdom_add(const char *text, const char *signature, const char *choice, double seconds, char *out,
			      size_t size);

/* Writes the states of the plan and the iteration it stopped at, in this machine's byte order. `inout`
 * arrays are the caller's to save. PMG_BAD_CALL if nothing has run yet or a pivot was bad, or the status of the
 * writer. */
PMG_API pmg_status pmg_plan_state_save(pmg_plan *plan, const pmg_writer *writer);

/* Reads what pmg_plan_state_save wrote for the same pipeline and sizes; the next execution may resume. On
 * failure the plan is as before. Needs memory for a second copy of the states while it reads.
 * PMG_BAD_CALL, PMG_BAD_DATA, PMG_NO_RESOURCES, or the status of the reader. */
PMG_API pmg_status pmg_plan_state_load(pmg_plan *plan, const pmg_reader *reader);

/* Releases all that the plan holds; NULL is allowed. */
PMG_API void pmg_plan_destroy(pmg_plan *plan);

/* Bytes that a plan for `args` will hold when it is made; < 0 where the sizes are not valid or too large. Exact but
 * for the runs of restructurings: how many there are is estimated from the keys in `args`, to about 1 % (5 % in the
 * worst case), or, where those cannot be read, is the most that is possible. Chunks count as for OpenMP's default
 * number of threads. Of a description with candidates, a plan of the first. What planning needs for a while is not in
 * it, but in the peak of pmg_plan_forecast_with. */
PMG_API int64_t pmg_plan_forecast(const pmg_pipeline_desc *desc, const void *args);

/* The same for a plan that is made with `options`: the most that any of its candidates will hold, and in `peak`, unless
 * it is NULL, the most that is held at a moment while it is made. */
PMG_API int64_t pmg_plan_forecast_with(const pmg_pipeline_desc *desc, const void *args, const pmg_options *options,
				       int64_t *peak);

/* Bytes it holds now, scratch of executions included; the most it has held so far. 0 for NULL. While a restructuring
 * of n points is made, the plan holds 16 n bytes more than before, then 8 n more than what is finished (nothing more
 * where the last copy per point is of an 8-byte type), and tables as large as the limits. max_memory is a limit of the
 * peak. */
PMG_API int64_t pmg_plan_bytes(const pmg_plan *plan);
PMG_API int64_t pmg_plan_peak(const pmg_plan *plan);

/* Copies all elements of `from` to `to`, float buffers of one type, either of which may be held in blocks (see
 * pmg_buffer): to other strides, into blocks, out of them. The buffers may not overlap. What is behind the end of the
 * last block may be written. `threads` as in pmg_options. PMG_BAD_CALL. */
PMG_API pmg_status pmg_relayout(pmg_context *context, const pmg_buffer *to, const pmg_buffer *from, int32_t threads);

/* The same for `n` pairs, of which none is copied if one is refused: no buffer that is written may share memory with
 * another one. Of all of them, a thread copies the same blocks, in one loop: small ones do not wait for several. */
PMG_API pmg_status pmg_relayout_all(pmg_context *context, int32_t n, const pmg_buffer *const *to,
				    const pmg_buffer *const *from, int32_t threads);

/* The buffer, in blocks of `block`, for the values of a flat one of at most 7 dimensions; `data` has
 * pmg_blocks_bytes(flat, block) bytes. 0 or less, as pmg_plan_lanes may say: in none, but row-major. Where there can be
 * no such buffer (NULL, no dimension or 8 of them, 2^63 bytes and more), its rank or these bytes are -1. */
PMG_API pmg_buffer pmg_in_blocks(void *data, const pmg_buffer *flat, int64_t block);
PMG_API int64_t pmg_blocks_bytes(const pmg_buffer *flat, int64_t block);

/* The same for an array of rank 1 whose elements are the segments of `offsets`, integers of any type, as the plans of
 * ragged pipelines take them (docs/layouts.md). Blocks hold `block` segments each, 1, 2, 4, ... 256, the longest first,
 * those of one length as they are numbered, and have as many rows as their longest: a buffer of [rows of all blocks,
 * block]. They begin with the segments of a stretch of 256 neighbours before those of the next one, or of 1024 and so
 * on, where blocks of 16 of fewer had more than a row in 32 more than by an order of all. What is behind the end of a
 * segment, and in lanes without one, may be anything where it is read, and is made zero by pmg_relayout_segments. A
 * `block` of 0 or less, as above: in none, as `flat`. Of `flat`, pmg_in_segments and pmg_segments_bytes look at type
 * and shape only. PMG_BAD_CALL, PMG_BAD_DATA where `offsets` hold none, PMG_NO_RESOURCES (24 bytes a segment, for a
 * while); as bytes: -1. */
PMG_API pmg_status pmg_relayout_segments(pmg_context *context, const pmg_buffer *to, const pmg_buffer *from,
					 const pmg_buffer *offsets, int32_t threads);
PMG_API pmg_status pmg_in_segments(pmg_context *context, void *data, const pmg_buffer *flat, const pmg_buffer *offsets,
				   int64_t block, pmg_buffer *blocks);
PMG_API int64_t pmg_segments_bytes(pmg_context *context, const pmg_buffer *flat, const pmg_buffer *offsets,
				   int64_t block);

/* The same as pmg_relayout_segments for `n` pairs over the same offsets, in one loop where blocks have one width: the
 * segments are sorted once, and none is copied if one is refused. */
PMG_API pmg_status pmg_relayout_segments_all(pmg_context *context, int32_t n, const pmg_buffer *const *to,
					     const pmg_buffer *const *from, const pmg_buffer *offsets,
					     int32_t threads);

/* Order in space of the points 0..n whose integer coordinates are the rows of `places`, [n, 2] or [n, 3] of any
 * integer type and strides: along the Morton curve (Morton 1966), by the number that the interleaved bits of the
 * coordinates make, of which the first one's count most; points at one place keep their order.
 * order[place] = point. `threads` as in pmg_options. PMG_BAD_CALL, PMG_NO_RESOURCES (it allocates 24 bytes a point
 * while it works). */
PMG_API pmg_status pmg_morton_order(pmg_context *context, const pmg_buffer *places, int32_t threads, int64_t *order);

#ifdef __cplusplus
}
#endif

#include "pmgrt_description.h"

#endif
