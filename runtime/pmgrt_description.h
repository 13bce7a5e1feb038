/* SPDX-License-Identifier: MIT
 *
 * What a pipeline is, as its library tells loaders and the runtime: parameters, arrays, extents, what plans inspect,
 * kernels. The compiler writes these tables (compiler/codegen/abi/abi.c). A part of pmgrt.h, which includes it behind
 * the types that it needs. */
#ifndef PMGRT_DESCRIPTION_H
#define PMGRT_DESCRIPTION_H

#ifdef __cplusplus
extern "C" {
#endif

/* Of the structures that libraries and this runtime share: another number, whenever one of them changes. A library
 * compiled for another one is refused. */
#define PMG_ABI_VERSION 3
#define PMG_MAX_EXTENTS 4096    /* values that one description may write with `extents` */

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
	bool is_per_thread;     /* internal; its first extent is the number of threads of the plan, not that of its
				 * shape */
	int32_t rank;           /* of PMG_INSPECTED: 0, their extents are not among those of `shape` */
	const pmg_extent *shape;
	int32_t first_extent;   /* number of the first of its `rank` extents; then that of any limit */
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
				 * new numbers: kept multiplied by these extents, those of a row; 0: as they are */
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
 * them (runtime/inspect/forests.c). offsets[block] says where the pmg_lane_masks of the block's rows are in the same
 * array; one more of them than the longest tree has rows. `list`, of PMG_I32, holds cells, lanes*row + lane. Both
 * have no extent before the plan has looked at the tree. */
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

/* The nodes of a tree in chunks of at most `rows`, in their order: runs of nodes; each node but the last has one
 * child, the next one. A branch is cut into as few as can be, all about as long. Chunk c has the nodes
 * offsets[c]..offsets[c + 1] and hangs on the last node of chunk above[c]; what hangs on c is child[c], the sibling of
 * this one, and so on. turn[c] is the least number, from 1 on, that is larger than those of the child and of the
 * sibling of c. The chunk after the last one stands for none and has the turn 0. Chunks by their turns: those of turn
 * t are order[turns[t]..turns[t + 1]]; -1: not made. n_chunks and n_turns are numbers of sizes, the second one more
 * than the largest turn. All arrays are internal PMG_I64, built like lists of children. */
typedef struct pmg_chunks_desc {
	int32_t parent;                                 /* array number */
	int64_t rows;
	int32_t n_chunks, n_turns;
	int32_t offsets, above, child, sibling, turn, order, turns;     /* array numbers */
} pmg_chunks_desc;

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

/* Segments in parts of at most PMG_PART_POINTS points, for targets with thousands of threads, where the longest
 * segment would decide: part p is of the segment of value values[p] of keys[0], and holds the points
 * begins[p]..ends[p]. Fewer points have shorter parts, so that each of plan->device_teams has PMG_PART_ROUNDS of
 * them. Each value has a part, if of no points; parts of a segment are next to one another, and hold multiples of
 * PMG_WARP_LANES points, the last one what is left, which differ by one such at most. Segments that read the same
 * rows stand near to each other: those near in space, if there are places, else those with near values of a second
 * key. */
enum { PMG_PART_POINTS = 512, PMG_PART_ROUNDS = 2, PMG_WARP_LANES = 32 };
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

/* A size of the args struct that has to be at least so long, with a constant added. */
typedef struct pmg_least {
	size_t at;
	int64_t plus, least;
} pmg_least;

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

typedef pmg_status pmg_kernel(pmg_plan *plan, const void *args, pmg_control *control);

#define PMG_ISA_N 3     /* instruction sets for which one library may have kernels: PMG_KERNELS (pmgrt_generated.h) */

struct pmg_pipeline_desc {
	uint32_t abi_version;
	const char *name, *source, *target;     /* "life_dsc", "life.pmg", "openmp" */
	size_t args_size;
	int32_t n_params, n_arrays, n_children, n_branches, n_chunks, n_extents;
	const pmg_param_desc *params;
	const pmg_array_desc *arrays;           /* those of the caller first, then internal ones */
	const pmg_children_desc *children;
	const pmg_branches_desc *branches;
	const pmg_chunks_desc *chunks;
	int32_t n_restructurings, n_sizes;      /* n_sizes: numbers that inspectors find */
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
	/* The sizes that it is meant for: one of these is long enough (none: any), and `suits` (NULL: always). The
	 * parameters are checked before. */
	int32_t n_least;
	const pmg_least *least;
	bool (*suits)(const void *args);
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

#ifdef __cplusplus
}
#endif

#endif
