/* SPDX-License-Identifier: MIT
 *
 * What the files of the interpreter of kernel programs share.
 *
 * Who touches an element is a node of a tree: the program, below it the threads of a team between two barriers, below
 * these the iterations of concurrent loops. Two nodes are concurrent if those below their nearest common ancestor are
 * of one instance: a team between two barriers, or one execution of a loop. Iterations that one thread has been given
 * follow each other. They may share what is the thread's own: what it declares, and what it reaches by its number. */
#ifndef PMGC_KERNEL_RUN_PRIVATE_H
#define PMGC_KERNEL_RUN_PRIVATE_H

#include "kernel/run.h"

#include <ucontext.h>

enum { RUN_MOST_LANES = 16, RUN_MOST_THREADS = 64, RUN_VECTORS = 4096, RUN_TYPES = 64 };

struct run;
struct run_team;
struct run_fiber;

/* ---- who ---- */

struct run_node {
	const struct run_node *parent;
	int64_t instance;
	int depth;
	bool is_shared;                 /* an iteration that a thread has been given among others */
};

/* ---- memory ---- */

struct run_cell {
	const struct run_node *writer, *reader, *other_reader;  /* the two last different ones that read */
	bool is_set, is_atomic;         /* its last write */
	bool writer_owns, reader_owns, other_owns;
};

enum run_element {
	RUN_VOID = TYPE_N, RUN_U64, RUN_VECTOR_F64, RUN_VECTOR_F32,
	RUN_VECTOR_WIDE,                /* of as many doubles as a vector has floats */
	RUN_KIN
};

struct run_buffer {
	const char *name;               /* NULL: of the plan */
	char *base;
	int64_t bytes;
	int unit;                       /* bytes of a cell */
	struct run_cell *cells;
	const struct run_fiber *owner;  /* NULL: everyone's, and there to the end */
	bool is_const, is_result, is_gone;
	struct run_buffer *next;
};

/* ---- values ---- */

enum run_kind {
	RUN_NOTHING,                    /* of a call that has no value; what only prefetches need */
	RUN_INT, RUN_FLOAT, RUN_VECTOR, RUN_MASK, RUN_ADDRESS, RUN_TYPE,
	RUN_FUNCTION, RUN_LOOP, RUN_PLAN, RUN_ARGUMENTS, RUN_DATA, RUN_SIZES, RUN_PLACES, RUN_PLACE
};

struct run_value {
	enum run_kind kind;
	int element;                    /* scalar_type or run_element: of the number, the lanes, or what is there */
	bool is_unset;                  /* comes from what nobody has written */
	bool is_own;                    /* made of the number of the thread */
	bool has_wrapped;               /* 64 bits were too few for it */
	bool is_const;                  /* RUN_ADDRESS: to be read only */
	uint32_t unset;                 /* RUN_VECTOR: lanes */
	int lanes;
	struct run_buffer *buffer;      /* RUN_ADDRESS; NULL: nowhere */
	const int64_t *shape;           /* of an array of arrays: the extents of one, a zero behind them */
	union {
		int64_t integer;        /* RUN_INT; of a place or function: its number; RUN_ADDRESS: its byte;
					 * RUN_MASK: bits */
		double real;
		double *lane;           /* RUN_VECTOR: changed only by who took them by run_lanes_taken */
	};
};

/* How sums and the like are made of two values. */
enum run_combining { RUN_ADD, RUN_PROD, RUN_MIN, RUN_MAX };

/* A name, its value if it is a variable, an address if it is an array. */
struct run_binding {
	struct run_binding *next;
	const char *name;
	uint32_t hash;
	struct k_type type;
	int element;                    /* of the type; -1: none that is known */
	struct run_value value;
	double *lanes;                  /* of the value, if it is a vector */
	struct run_cell cell;
	const struct run_fiber *owner;
	bool is_array;
	int64_t reduces;                /* a copy for a reduction: the loop whose iterations may all change it */
};

/* ---- threads ---- */

/* A kernel that a device runs. */
struct run_launch {
	const struct k_function *kernel;
	const struct run_value *args;
	int n_args, lanes;
	int64_t n_groups, n_left;       /* threads that have not added what they have to the sum */
	struct run_value sum;
	bool has_sum;
};

/* One thread, or lane of a device's group. */
struct run_fiber {
	ucontext_t context, *back;      /* of itself; of who goes on when it waits or ends */
	char *stack;
	const struct run_node *node;
	struct run_binding *names;      /* those that are seen, innermost first */
	struct run_team *team;
	const struct k_function *function;
	const struct k_stmt *stmt;      /* where it is */
	const struct k_stmt *waits_at;
	struct run_value exchanged;     /* what other lanes see of it */
	int number;
	int group, width;               /* of a device: lanes that share a row, cells of a vector; else 0 */
	bool has_ended;
};

/* An array that the lanes of a group have between them. */
struct run_shared {
	const struct k_let *let;
	struct run_buffer *buffer;
};

struct run_team {
	int64_t instance;               /* anew behind each barrier */
	const struct run_node *above;
	int n;
	struct run_fiber *fibers;
	void (*body)(struct run *run, struct run_team *team);
	const struct k_stmt *stmt;
	const struct run_launch *launch;        /* of a device: its kernel; NULL */
	const struct run_buffer *reduced;       /* what threads do to it is brought together; NULL */
	int64_t group;                  /* of a launch: which one this is */
	VEC(struct run_shared) shared;
};

/* ---- calls ---- */

struct run;

enum { RUN_MOST_ARGS = 48 };

struct run_args {
	const struct k_expr *call;
	const char *name;               /* of the function */
	int element;                    /* the type that its name ends with; -1: none */
	int code;
	int n;
	struct run_value value[RUN_MOST_ARGS];
};

enum run_takes {
	RUN_VALUES,                     /* of all arguments */
	RUN_CELL,                       /* the same, but the first one stands for the memory that it names */
	RUN_NODES                       /* none: the call's own nodes */
};

struct run_call {
	const char *name;               /* without what says a type or a device: pmg_min_, PMG_READ_ */
	/* NULL: it is `code`, whatever the arguments are. */
	struct run_value (*call)(struct run *run, const struct run_args *args);
	int code;                       /* tells functions of one kind apart */
	enum run_takes takes;
};

#define RUN_CALL(name, call, code) { (name), (call), (code), RUN_VALUES }
#define RUN_CALL_OF_CELL(name, call, code) { (name), (call), (code), RUN_CELL }
#define RUN_CALL_OF_NODES(name, call, code) { (name), (call), (code), RUN_NODES }
#define RUN_CALLS_END { NULL, NULL, 0, RUN_VALUES }

enum { RUN_CALLS_KNOWN = 512 };

struct run_known {
	const char *text;
	const struct run_call *call;
	int element;
};

/* ---- the run ---- */

struct run {
	struct arena *arena;
	const struct k_program *program;
	const struct k_run_host *host;
	struct k_run_result result;
	bool has_stopped;
	struct run_fiber *fiber;        /* that runs */
	struct run_fiber first;
	struct run_buffer *buffers;     /* of the plan */
	struct run_buffer *gone;        /* of threads, to be used again */
	struct run_binding *unused;     /* bindings */
	VEC(char *) stacks;             /* unused */
	struct run_known known[RUN_CALLS_KNOWN];
	struct {
		const char *name;
		int element;
	} types[RUN_TYPES];             /* found before */
	double *vectors;                /* lanes of RUN_VECTORS values, used in turn: an expression has fewer */
	int n_vectors;
	int64_t instances;
	struct run_value returned;
	struct run_launch *launch;      /* under way; NULL */
	struct {
		int64_t it;
		bool is_over;
	} loop;                         /* of the host, whose condition the device finds out */
};

/* run.c */
void run_fault(struct run *run, const char *format, ...) PRINTF_LIKE(2, 3);
void run_unknown(struct run *run, const char *format, ...) PRINTF_LIKE(2, 3);
struct run_value run_function(struct run *run, const struct k_function *function, const struct run_value *args, int n);
const struct k_function *run_find_function(const struct run *run, const char *name);

/* run_stmt.c */
enum run_flow { RUN_ON, RUN_BREAK, RUN_CONTINUE, RUN_RETURN };
enum run_flow run_block(struct run *run, const struct k_block *block);
enum run_flow run_stmt(struct run *run, const struct k_stmt *stmt);
enum run_flow run_body(struct run *run, const struct k_block *block);   /* in a scope of its own */

/* run_loop.c */
enum run_flow run_loop(struct run *run, const struct k_stmt *stmt);
void run_parallel(struct run *run, const struct k_stmt *stmt);

/* run_team.c */
/* Of a team it is told `n`, `body`, and what that needs. */
void run_team(struct run *run, struct run_team *team);
void run_barrier(struct run *run, const struct k_stmt *stmt);
/* PMG_PRIVATE_…: the buffer that the team updates as a whole stands behind `code` arguments. */
struct run_value run_private(struct run *run, const struct run_args *args);
const struct run_node *run_node(struct run *run, const struct run_node *parent, int64_t instance, bool is_shared);
/* The instance of which they are concurrent; 0: they are not. */
int64_t run_concurrent_in(const struct run_node *a, bool a_owns, const struct run_node *b, bool b_owns);

/* run_names.c */
struct run_binding *run_bind(struct run *run, const char *name, const struct k_type *type, struct run_value value);
struct run_binding *run_find(const struct run *run, const char *name);
void run_leave(struct run *run, struct run_binding *outer);
struct run_value run_name_read(struct run *run, const char *name);
void run_name_write(struct run *run, const char *name, struct run_value value);

/* run_types.c */
int run_element_of(struct run *run, const char *type);  /* -1: there is no such type */
int64_t run_element_bytes(const struct run *run, int element);
bool run_is_vector(int element);
int run_lanes(const struct run *run, int element);

/* run_memory.c */
enum run_access { RUN_READ, RUN_WRITE, RUN_WRITE_ATOMIC };
struct run_buffer *run_take_buffer(struct run *run, const char *name, int64_t bytes, int unit); /* of the thread */
void run_drop_buffer(struct run *run, struct run_buffer *buffer);
struct run_value run_plan_data(struct run *run, int64_t number);
/* What another one does there, concurrently, but as another iteration of the loop `but`; NULL: nothing that matters. */
const char *run_touch(const struct run *run, struct run_cell *cell, enum run_access access, bool owns, int64_t but);
/* RUN_WRITE_ATOMIC: as a part of an atomic update, which the store that follows tells. */
struct run_value run_load(struct run *run, const struct run_value *at, enum run_access access);
void run_store(struct run *run, const struct run_value *at, struct run_value value, bool is_atomic);
/* Element i of an array. */
struct run_value run_load_at(struct run *run, struct run_value array, int64_t i);
int64_t run_number_at(struct run *run, const struct run_value *numbers, int64_t i);
void run_store_at(struct run *run, struct run_value array, int64_t i, struct run_value value);
/* An atomic one; the value that is there then. */
struct run_value run_update(struct run *run, const struct run_value *at, enum run_combining how,
			    struct run_value value);
/* All of an array of the plan; with what has no value. */
void run_copy(const struct run_value *to, const struct run_value *from);
/* The address `n` elements further on. */
struct run_value run_moved(struct run *run, struct run_value at, const struct run_value *n);
struct run_value run_at(struct run *run, struct run_value at, int64_t n);

/* run_value.c */
struct run_value run_int(int64_t value);
struct run_value run_of_element(int element, double real, int64_t integer);
double run_real(const struct run_value *value);
int64_t run_integer(struct run *run, const struct run_value *value);    /* as an index, a bound or a number of things */
bool run_truth(struct run *run, const struct run_value *value);
struct run_value run_converted(struct run *run, struct run_value value, int element);
struct run_value run_binary(struct run *run, enum k_op op, struct run_value a, struct run_value b);
struct run_value run_unary(struct run *run, enum k_op op, struct run_value a);
/* Of minima and maxima: b if neither is the smaller one, and NaN if one of them is. */
struct run_value run_combined(struct run *run, enum run_combining how, struct run_value a, struct run_value b);
struct run_value run_marked(struct run_value to, const struct run_value *a, const struct run_value *b);
struct run_value run_flag(bool value);                                  /* an int, 0 or 1 */
void run_lanes_taken(struct run *run, struct run_value *vector);         /* a copy of them, to be changed */
struct run_value run_filled(struct run *run, int element, struct run_value value);

/* run_expr.c */
struct run_value run_expr(struct run *run, const struct k_expr *expr);
struct run_value run_address(struct run *run, const struct k_expr *expr);       /* of what it stands for */

/* run_calls.c */
struct run_value run_call(struct run *run, const struct k_expr *call);
int64_t run_arg(struct run *run, const struct run_args *args, int i);          /* a number */
struct run_value run_first_arg(struct run *run, const struct run_args *args);  /* the call is its first argument */
extern const struct run_call run_math_calls[], run_vector_calls[], run_block_calls[], run_blas_calls[];
extern const struct run_call run_device_calls[], run_row_calls[];

/* run_device.c */
enum run_flow run_macro(struct run *run, const struct k_stmt *stmt);
/* The numbers of the lane, in such a team; `by` is what says it: a macro, or the kernel. */
void run_bind_team(struct run *run, const char *by, const struct k_team *team);

#endif
