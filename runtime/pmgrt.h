/* SPDX-License-Identifier: MIT
 *
 * libpmgrt: the fixed library behind every generated pipeline, and the one header that generated code,
 * loaders and hand-written callers include.
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

#define PMG_ABI_VERSION 1
#define PMG_MAX_RANK 8
#define PMG_MAX_EXTENTS 4096    /* values that one description may write with `extents` */

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

/* ---- Description of a pipeline --------------------------------------------- */

typedef enum pmg_role {
	PMG_IN, PMG_OUT, PMG_INOUT,     /* arrays of the caller */
	PMG_STATE, PMG_TEMP,            /* arrays of the plan, zero when it is made */
	PMG_INSPECTED                   /* arrays of the plan that a restructuring fills, in the described type; of
					 * the rest of the description only name, place, factors and offset = SIZE_MAX
					 * count */
} pmg_role;

/* Facts that are checked when an index array is bound (docs/language.md, "Facts"). UNIQUE comes with one of
 * INDEX, OFFSETS and TREE, since its check needs a range of values. */
enum {
	PMG_FACT_INDEX = 1,     /* 0 <= v[i] < limit; with TREE also -1 */
	PMG_FACT_OFFSETS = 2,   /* v[0] = 0, non-decreasing, v[last] = limit; at least one value */
	PMG_FACT_SORTED = 4,    /* non-decreasing, in row-major order */
	PMG_FACT_UNIQUE = 8,    /* no value twice, -1 of a tree excepted */
	PMG_FACT_TREE = 16      /* v[i] = -1 or 0 <= v[i] < i; with segments: local to each, then rebased */
};

/* Integer parameters are 0 or more and below 2^40, and the same in each execution of a plan. */
typedef struct pmg_param_desc {
	const char *name;
	pmg_type type;          /* PMG_I64: size of the plan; PMG_F64, PMG_F32: scalar of each execution */
	size_t offset;          /* in the args struct: int64_t, double or float */
	const char *place;      /* "life.pmg:4" */
} pmg_param_desc;

/* The number of threads that a library which kernels call would use by itself. It is one while such a kernel
 * runs, whose own threads share the work, and what it was afterwards. NULL: the library has no such number. */
typedef struct pmg_blas {
	int (*get_threads)(void);
	void (*set_threads)(int threads);
} pmg_blas;

/* An extent that is `param + constant` (param < 0: `constant`), 0 if that is negative, or anything else affine
 * (`is_general`), whose value comes from `extents`. Loaders infer parameters from the first form. */
typedef struct pmg_extent {
	int32_t param;
	bool is_general;
	int64_t constant;
	const char *text;       /* "nSystems + 1" */
} pmg_extent;

/* How a plan keeps the values of an f64 input: as they are, rounded to PMG_F32, or rounded to the upper half of their
 * bits, as PMG_U32. And those of an inspected array of indices: as PMG_U16 where its limit is at most PMG_NARROW_LIMIT
 * (pmgrt_storage.h). */
typedef enum pmg_storage { PMG_AS_IT_IS, PMG_AS_F32, PMG_AS_F64TOP, PMG_AS_NARROW } pmg_storage;

typedef struct pmg_array_desc {
	const char *name;       /* "PHI.voxel" */
	pmg_role role;
	pmg_type type;          /* as kernels see it, but for `storage`: an index array is PMG_I64 */
	pmg_storage storage;    /* only with PMG_IN and PMG_F64; PMG_AS_NARROW: with PMG_INSPECTED and PMG_I32 */
	bool is_fixed;          /* bound by the plan and constant as long as it lives; only with PMG_IN */
	bool is_index;
	bool is_for_inspection; /* fixed, and read by restructurings only: the plan refers to it no longer when it is
				 * made, and needs no converted copy of it; plan->data holds NULL */
	bool is_optional;       /* fixed, no index array: the caller may leave out its pmg_buffer (all of it is zero),
				 * which stands for an array of zeros */
	bool is_per_thread;     /* internal; its first extent is the number of threads of the plan, not what `extents`
				 * writes */
	int32_t rank;
	const pmg_extent *shape;
	int32_t first_extent;   /* its `rank` values in what `extents` writes; then any limit */
	uint32_t facts;
	pmg_extent limit;       /* of FACT_INDEX, FACT_OFFSETS and PMG_AS_NARROW; others have none */
	int32_t segments;       /* number of the offsets array a tree is local to, or -1. Of an argument of floats, of
				 * rank 1: of the fixed offsets whose segments its elements are. Of an internal array,
				 * of fixed offsets: has a row for each of the longest segment, added to its second
				 * extent, if `is_per_thread`; else PMG_I64, a list of all segments in the order of
				 * their blocks, and behind it, for each block of `lanes` of them, the rows of all
				 * blocks before, and how many blocks a thread takes in its turn */
	int32_t lanes;          /* of an argument of floats: the kernel takes so many of its first dimension, or of its
				 * segments, at a time, by plan->places, whatever strides it has, and blocks of as many
				 * as they lie; 0: it must be row-major, as must one with segments that is flat */
	int32_t n_factors, first_factor;        /* of PMG_INSPECTED, copies of integers, values of places and orders of
				 * new numbers: kept multiplied by these of what `extents` writes, the extents of a
				 * row; 0: as they are */
	int32_t next;           /* of PMG_STATE and PMG_INOUT: the internal array with which the kernel lets it change
				 * places, one of the same type and shape; 0: none */
	size_t offset;          /* of its pmg_buffer in the args struct; SIZE_MAX: internal to the plan */
	const char *place;
} pmg_array_desc;

/* Lists of children of a tree, by counting sort, children ascending: those of i are
 * list[offsets[i]..offsets[i+1]]. `offsets` has n+1 and `list` n values, both internal PMG_I64. Built by the
 * plan if the parent array is fixed, else by each execution.
 *
 * With `lanes`, a power of two up to 64: for blocks of so many trees, the segments of a fixed tree, as `order` lists
 * them (runtime/forests.c). offsets[block] says where the pmg_kin of the block's rows are in the same array; one more
 * of them than the longest tree has rows. `list`, of PMG_I32, holds cells, lanes*row + lane. Both have no extent before
 * the plan has looked at the tree. */
typedef struct pmg_children_desc {
	int32_t parent, offsets, list;  /* array numbers */
	int32_t order, lanes;
} pmg_children_desc;

/* An elimination whose pivots are checked: what it computes, the type of its pivots, the offsets that say which rows
 * belong to which system; -1: rows are counted in each. */
typedef struct pmg_pivot_desc {
	const char *name;
	pmg_type type;
	int32_t segments;               /* array number */
	const char *place;
} pmg_pivot_desc;

/* The branches of a tree of n nodes, runs of nodes each of which is the parent of the next one, by levels: those on
 * which none hangs, those on which only these hang, and so on. depth[0] is the number of levels; level l has the
 * branches levels[l]..levels[l + 1], n + 1 values of which the last ones are equal; branch b the nodes
 * begins[b]..ends[b], n values, as many set as there are branches. All internal PMG_I64; built like lists of
 * children. */
typedef struct pmg_branches_desc {
	int32_t parent, depth, levels, begins, ends;    /* array numbers */
} pmg_branches_desc;

/* A row of a block of trees: the lanes in which the parent is the row before, and in which it is a root, as bits. Where
 * the list begins of its children that are not the next row, and of its parents that are not the row before: it ends
 * where that of the next row begins. Kernels read PMG_LISTED cells at a time, and so some behind a list: those of rows
 * behind, or, behind the last list of a block, its last cell again (cell 0, which nobody reads, if all are empty). A
 * child that is read at a row so has its parent there or further on. A parent may not have been computed yet: what
 * stands there is chosen away. */
enum { PMG_LISTED = 2 };
typedef struct pmg_kin {
	int64_t follows, roots, children, parents;
} pmg_kin;

/* to[k'] = from[k], k' being the place of the caller's k in the new order; of a run, its first point. `from` is a fixed
 * array of n elements, or -1: k itself. Integers go to any integer type that holds them, others keep their type. */
typedef struct pmg_copy_desc {
	int32_t from, to;
	bool is_per_run;
} pmg_copy_desc;

/* Copies of the key or copied array `mode`, of which there is one at least, hold new numbers, by first use in the new
 * order (segments keep theirs); order[new] = old. Numbers that are not used come last, ascending. */
typedef struct pmg_renumber_desc {
	int32_t mode, order;
} pmg_renumber_desc;

/* Segments in the order of places in space: segment s holds the points at which keys[0] is values[s]. */
typedef struct pmg_places_desc {
	int32_t coordinates;            /* a fixed integer array [limit(keys[0]), 2 or 3]: see pmg_morton_order */
	int32_t values;                 /* limit(keys[0]) values of keys[0]; -1: not made */
} pmg_places_desc;

/* Segments in parts of at most PMG_PART_POINTS points, for targets with thousands of threads, where the longest segment
 * would decide: part p is of the segment of value values[p] of keys[0], and holds the points begins[p]..ends[p]. Fewer
 * points have shorter parts, so that each of plan->device_teams has PMG_PART_ROUNDS of them. Each value has a part, if
 * of no points; parts of a segment are next to one another, and hold multiples of PMG_DEAL points, the last one what is
 * left, which differ by one such at most. Segments that read the same rows stand near to each other: those near in
 * space, if there are places, else those with near values of a second key. */
enum { PMG_PART_POINTS = 512, PMG_PART_ROUNDS = 2, PMG_DEAL = 32 };
typedef struct pmg_parts_desc {
	int32_t values, begins, ends;   /* arrays of n_parts elements */
	int32_t n_parts;                /* where in plan->sizes this number goes */
	int32_t by;                     /* copy: numbers of weights, by which a device may leave out points; -1 */
} pmg_parts_desc;

/* A restructuring: the points 0..n of fixed index arrays in a stable order by the values of `keys`, the first key the
 * most significant. Points of one value of keys[0] form a segment, those that agree in all keys a run (thesis of
 * K. Aggarwal, IISc 2020, 4.1.2). Arrays made here have role PMG_INSPECTED, any integer type if nothing else is said,
 * and one maker: their extents are not among `extents`, the inspector allocates them in the size that it finds, with
 * PMG_BEHIND bytes behind the last element that may be read. If a type does not hold a value, the plan is refused with
 * PMG_BAD_DATA naming array and value. But for chunks by threads, the number of threads changes nothing. */
enum { PMG_BEHIND = 128 };
typedef struct pmg_restructure_desc {
	const char *name;               /* "PHI by hybrid(voxel, atom)" */
	int32_t n_keys;                 /* 1 to PMG_MAX_RANK */
	const int32_t *keys;            /* numbers of fixed arrays with PMG_FACT_INDEX, each of the same n points */
	const pmg_places_desc *places;  /* NULL: segment s holds value s of keys[0] */
	const pmg_parts_desc *parts;    /* NULL: none; else there are segments, and no runs */
	int32_t segments;               /* limit(keys[0]) + 1 offsets into the runs, or the points if runs < 0; -1 */
	int32_t runs;                   /* n_runs + 1 offsets into the points; -1: none */
	int32_t chunks;                 /* n_chunks + 1 offsets into the segments; -1: none. Chunks hold about equally
					 * many points: the c-th begins at the border of segments nearest to point
					 * c * n / n_chunks, of two at one distance at the first (thesis 4.2.1.2) */
	bool is_by_threads;             /* n_chunks = threads of the plan; else 1 to 256, one for each 2048 points */
	int32_t n_runs, n_chunks;       /* where in plan->sizes these numbers go; -1 */
	int32_t n_copies, n_renumberings;
	const pmg_copy_desc *copies;
	const pmg_renumber_desc *renumberings;
} pmg_restructure_desc;

/* A factor of how often something runs: a size plus a constant, or what divides. Lists of them end with PMG_OF_END
 * (PMG_PRODUCT of pmgrt_pipeline.h); without any the product is 1. */
typedef enum pmg_factor_of { PMG_OF_END, PMG_OF_NUMBER, PMG_OF_ARGUMENT, PMG_OF_SIZE, PMG_OF_THREADS } pmg_factor_of;

typedef struct pmg_factor {
	pmg_factor_of of;
	size_t at;                      /* of the argument in the args struct; of the size in plan->sizes */
	int64_t plus;
	bool divides;
} pmg_factor;

/* The work of one statement, for estimates. A row is what the innermost loop runs over. */
typedef struct pmg_work_desc {
	const char *name;               /* what is computed: "Y" */
	const pmg_factor *points, *rows;        /* how many there are: products; NULL: 1, or what `count` writes */
	float flops, bytes;             /* per point: operations; bytes read and written one after the other */
	float row_bytes, fetches;       /* per row: other bytes, and addresses that are data */
	float far;                      /* per point: values that are not next to those of the point before */
	float atomics, row_atomics;     /* per point and per row */
	bool is_shared, is_vector;      /* among threads; in vector registers */
} pmg_work_desc;

typedef struct pmg_plan pmg_plan;
typedef struct pmg_control pmg_control;

/* An array of the host that an inspector of a device reads, as long as there are points, one behind the other. */
typedef struct pmg_device_source {
	const void *data;               /* NULL: the number of the point */
	pmg_type type;
	int bits;                       /* of a key, which is below 2^bits */
} pmg_device_source;

/* A restructuring for the inspector of a device: n points below 2^index_bits, which with the bits of all keys are fewer
 * than 64. It makes all arrays but those of runs, places and renumberings, on the device. */
typedef struct pmg_device_inspection {
	const pmg_restructure_desc *desc;
	int64_t n, n_values, n_chunks;
	int index_bits;
	pmg_device_source keys[PMG_MAX_RANK];
	pmg_device_source *from;        /* by copy */
	const int64_t *rank;            /* of the n_values values of keys[0]; NULL: themselves */
	int64_t n_runs;                 /* out: how many there are, if desc->n_runs asks for it */
	/* Out, where segments are to be cut into parts, which is for the host: where each of n_values + 1 segments
	 * begins, and the second key of the points at one and three quarters of each (0 of an empty one); else NULL. */
	int64_t *begins, *quartiles;
	double seconds;                 /* out: from when the data is on the device */
} pmg_device_inspection;

/* What belongs to the device of a target that has one, in generated libraries: libpmgrt itself needs no toolkit. `open`
 * is called before restructurings are made, `fill` when a plan has everything else, `close` when it ends, also after a
 * failure of these; `inspect`, NULL if the program has no restructurings, makes one on the device or leaves it to the
 * host, `is_made` being false;
 * `begin` and `end` around a kernel, `begin` with the caller's control or NULL, `end` with the status so far, but not
 * after a `begin` that failed; `load` brings an array of the plan to the host, `store` back. Failures have a message by
 * pmg_plan_fail. */
typedef struct pmg_device_part {
	pmg_status (*open)(pmg_plan *plan);
	pmg_status (*inspect)(pmg_plan *plan, pmg_device_inspection *inspection, bool *is_made);
	pmg_status (*fill)(pmg_plan *plan);
	void (*close)(pmg_plan *plan);
	pmg_status (*begin)(pmg_plan *plan, const pmg_control *control);
	pmg_status (*end)(pmg_plan *plan, pmg_status status);
	pmg_status (*load)(pmg_plan *plan, int32_t array);
	pmg_status (*store)(pmg_plan *plan, int32_t array);
} pmg_device_part;

typedef struct pmg_options pmg_options;
typedef struct pmg_pipeline_desc pmg_pipeline_desc;

typedef pmg_status pmg_kernel(pmg_plan *plan, const void *args, pmg_control *control);

/* Instruction sets for which one library may have kernels: that of the compiler's command line, AVX2 with FMA, AVX-512
 * (F, BW, CD, DQ, VL). PMG_KERNELS in a description lists those of a function; clang 14 forgets the instruction set in
 * parallel loops, so that only gcc makes more than one. */
#define PMG_ISA_N 3
#if defined __x86_64__ && defined __GNUC__ && !defined __clang__ && !defined __cplusplus
#define PMG_HAS_ISAS 1
#define PMG_KERNELS(name) { name, name##_avx2, name##_avx512 }
#else
#define PMG_HAS_ISAS 0
#define PMG_KERNELS(name) { name }
#endif

struct pmg_pipeline_desc {
	uint32_t abi_version;
	const char *name, *source, *target;     /* "life_dsc", "life.pmg", "openmp" */
	size_t args_size;
	int32_t n_params, n_arrays, n_children, n_branches, n_extents;
	const pmg_param_desc *params;
	const pmg_array_desc *arrays;           /* those of the caller first, then internal ones */
	const pmg_children_desc *children;
	const pmg_branches_desc *branches;
	int32_t n_restructurings, n_sizes;      /* n_sizes: numbers that restructurings find */
	const pmg_restructure_desc *restructurings;
	bool has_loop;                          /* has an `iterate` */
	/* Writes those of the `n_extents` extents and limits that are general; the integer parameters are checked
	 * before. NULL if none is. */
	void (*extents)(const void *args, int64_t *values);
	/* NULL, or text and place, "n >= 1 (blur.pmg:4)", of the first `assume` (on integer parameters) that does not
	 * hold. May be NULL itself. */
	const char *(*assumption)(const void *args);
	/* The kernel: everything is bound and checked. It leaves `inout` and state as after the last whole
	 * iteration, but where a pivot is bad. */
	pmg_kernel *kernel;
	const pmg_blas *blas;                   /* that the kernel calls; NULL: none */
	const pmg_device_part *device;          /* NULL: the kernel runs on the host */
	pmg_status (*plan)(const void *args, const pmg_options *options, pmg_plan **plan);
	pmg_status (*execute)(pmg_plan *plan, const void *args, pmg_control *control);
	void (*destroy)(pmg_plan *plan);
	/* The same pipeline compiled in several ways, the first of which is this description; 0: in this way only. All
	 * have the same arguments, in the same places of the tables; internal arrays, restructurings and kernel are
	 * their own, `plan` and `candidates` they have not. */
	int32_t n_candidates;
	const pmg_pipeline_desc *const *candidates;
	const char *choice;                     /* what tells it from the first one, which has NULL */
	pmg_kernel *kernels[PMG_ISA_N];         /* the kernel for each instruction set, in their order; or NULL */
	bool (*suits)(const void *args);        /* are these the sizes that it is meant for? NULL: any; parameters are
						 * checked before */
	bool is_ordered;                        /* no sum depends on the order in which threads come */
	/* The work of each statement. `count` writes those numbers of points and rows that are no products, of the i-th
	 * to counts[2*i] and counts[2*i + 1]; NULL: all are. Sizes that restructurings find are those of the plan. */
	int32_t n_work;
	const pmg_work_desc *work;
	void (*count)(const pmg_plan *plan, const void *args, double *counts);
	int32_t n_pivots;
	const pmg_pivot_desc *pivots;
};

/* Each generated library exports, for loaders: all its pipelines, ended by NULL. */
typedef const pmg_pipeline_desc *const *(*pmg_pipelines_function)(void);
#define PMG_PIPELINES_SYMBOL "pmg_pipelines"

/* ---- Plan and execution ----------------------------------------------------- */

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

/* ---- For generated kernels ---------------------------------------------------- */

/* Where the parts of an array with `lanes` are, in elements: from a block of so many of its first dimension to the
 * next, from one of what follows (in row-major order) to the next, and from lane to lane. Of an array with `segments`
 * that lies in blocks of them: block 0; else all distances are 0. */
typedef struct pmg_place {
	int64_t block, row, lane;
	bool is_padded;         /* all lanes of the last block have memory */
	bool is_nontemporal;    /* results are stored non-temporally: whole lines, too many for the caches */
	bool is_memory_resident;        /* and rows or lanes are next to each other, so that kernels prefetch them */
} pmg_place;            /* of an array that `is_per_thread`: `block` elements from thread to thread */

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
	int64_t device_teams;   /* of PMG_DEAL lanes that work side by side; 0: not known */
};

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

/* For device parts. Where an array of the plan is (pmg_plan.data has its address), how many bytes it has, 0 where no
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

#ifdef __cplusplus
}
#endif

#include "pmgrt_math.h"
#include "pmgrt_pivot.h"
#include "pmgrt_pipeline.h"

#endif
