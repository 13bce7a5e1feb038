/* SPDX-License-Identifier: MIT
 *
 * `pmg run` in parts: what the user gives is bound to the arguments of the pipeline (bind.c), the sizes follow
 * from it (sizes.c), numbers are made up where asked (random.c), then the pipeline runs as a library compiled
 * from generated C (build.c, library.c), or shared or kept from another run (share.c, cache.c), in the way that
 * tune.c chooses, or by the interpreter (interpret.c), and what comes out is compared (compare.c, rounding.c),
 * told and saved (report.c, outputs.c, state.c). What goes wrong is told by messages.c and suggest.c. All parts
 * work on the module, which is there before anything is generated. */
#ifndef TOOLS_RUN_RUN_H
#define TOOLS_RUN_RUN_H

#include "driver/pipeline.h"
#include "formats/formats.h"

struct run_values {
	const char *with, *specialize;
	const char *pipeline, *target, *cc, *nvcc, *arch, *keep;
	bool interp, compare, time, explain, remarks, force, deterministic;
	const char *tune, *wisdom, *candidate;
	const char *state, *resume; /* files */
	const char *max_memory;     /* "4G" */
	const char *state_words;    /* of the command, which it has to have again to go on; NULL: none */
	const char *message_format;
	int64_t repeat, turns, threads, iterations, check_every;
	word_list outputs; /* "NAME=FILE" */
	struct pass_options passes;
	const char *given_for_passes; /* the last flag of pmgc for its passes; NULL: there is none */
};

/* A parameter of the pipeline: a size, or a scalar that each execution takes. */
struct size {
	const struct param *param;
	bool is_known, is_guess, is_given; /* is_given: by NAME=NUMBER */
	int64_t value;
	double real;
	const char *source; /* what says so: "D (dict.npy, dimension 1)" */
};

enum filling { FILL_NONE, FILL_FILE, FILL_NUMBER, FILL_RANDOM };

struct argument {
	const struct array *array;
	enum filling filling;
	bool is_borrowed;   /* `value` is somebody else's memory */
	const char *source; /* the text after "NAME=" */
	struct location place; /* of a file: where the array is */
	bool is_flat;       /* the file does not tell the shape */
	double number;
	bool is_integer;    /* the number is written so: it is `integer`, which `number` may only be near */
	int64_t integer;
	uint64_t seed;
	struct ndarray value; /* of an input; of an output: none until it has run */
	const char *save;     /* file of -o; NULL: only told */
	struct location target; /* the same, parsed */
};

/* expr == value, because of `source`. */
struct equation {
	const struct expr *expr;
	int64_t value;
	const char *source;
	bool is_guess; /* not used where something certain says otherwise */
};

struct session {
	struct run_values values;
	struct arena *arena;
	const char *text; /* the program, whose name is no file; NULL: read it */
	const char *building; /* told on the standard error while it is compiled; NULL: nothing is */
	struct compilation *c;
	struct module *module;
	const char *library, *library_path; /* what became of it: "found in"; NULL: it is kept nowhere */
	pmg_tune tune;
	enum diag_format messages;
	int64_t max_memory;         /* 0: no limit */
	VEC(struct size) sizes; /* by number of module->params */
	VEC(struct argument) arguments;
	VEC(struct equation) equations;
};

/* What one way of running gives: an array for each argument that is written, none for the others. */
struct results {
	struct ndarray *arrays; /* by number of argument */
	bool is_stopped;        /* before the loop was done */
};

struct timing {
	double plan, median, least; /* seconds */
	double interpreter;
	int64_t n;
	int64_t device_bytes, to_device, from_device; /* of a target with a device */
	double inspection;                            /* of restructurings there */
	int64_t device_lacks;                         /* bytes to leave out points of zero weight */
	double kernels;                               /* seconds there, of the last execution */
};

/* ---- run.c: the steps of the command, for others that run pipelines -------------- */
struct run_values run_values_default(void);
/* Reads a program and chooses values.pipeline, or the only one. The caller frees the session in any case. */
bool session_open(struct session *s, const char *path, struct failure *failure);
/* A failure where flags about what compiles for a device, or runs there, are given for a target that has none. */
bool session_device_flags_fit(const struct session *s, struct failure *failure);
/* Binds values.outputs and the words from the `first` on; then everything is known, or told as missing. */
bool session_bind(struct session *s, const word_list *words, int first, struct failure *failure);
void session_free(struct session *s);

/* ---- messages.c: in the format of values.message_format -------------------------- */
bool messages_open(struct session *s, struct failure *failure);
/* As failure_report() does. */
int messages_report(struct session *s, const struct failure *failure, const char *command);
void messages_note(struct session *s, const char *format, ...) PRINTF_LIKE(2, 3);

/* ---- bind.c ------------------------------------------------------------------ */
void session_list_arguments(struct session *s);
bool bind_word(struct session *s, const char *word, struct failure *failure);
/* Binds memory that stays the caller's and outlives the session; its type is one that needs no conversion. */
bool bind_memory(struct session *s, const char *name, const struct ndarray *value, struct failure *failure);
bool bind_output(struct session *s, const char *word, struct failure *failure);
bool bind_is_complete(struct session *s, struct failure *failure);
bool argument_is_read(const struct argument *argument);    /* in, inout */
bool argument_is_written(const struct argument *argument); /* out, inout */
pmg_type argument_type(const struct argument *argument);

/* ---- suggest.c ------------------------------------------------------------------ */
/* Adds a help after a failure: of the group that was read from `source` the first array or, for an object,
 * the group of the file that has its `member`. Nothing for other formats. */
void suggest_object(struct session *s, const char *name, const char *member, const struct content *content,
		    const char *source, struct failure *failure);
/* The same where a table of systems is expected, and the file holds systems that lie one after the other. */
void suggest_forest(struct session *s, const char *source, struct failure *failure);

/* ---- sizes.c ------------------------------------------------------------------ */
void equation_add(struct session *s, const struct expr *expr, int64_t value, bool is_guess,
		  const char *source);
bool sizes_infer(struct session *s, struct failure *failure);
void sizes_print(const struct session *s); /* those that are only suggested, and what speaks against one */
/* The value of an affine expression; false while a parameter in it is unknown. */
bool sizes_evaluate(const struct session *s, const struct expr *expr, int64_t *value);
bool sizes_shape(const struct session *s, const struct array *array, int64_t *shape);
const char *array_text(struct session *s, const struct array *array); /* "f64[nAtoms, nTheta]" */

/* ---- random.c ------------------------------------------------------------------ */
/* Makes the arguments that are numbers or random; offsets before the trees in them. */
bool fill_arguments(struct session *s, struct failure *failure);

/* ---- build.c -------------------------------------------------------------------- */
struct build {
	char *folder, *c_file, *h_file, *library, *log;
	char *device_file, *object; /* of a target with a device; else NULL */
	const char *c_text, *h_text, *messages;
	int number;                 /* before build_compile; from 1 on: of a folder in the one that is kept */
	bool is_kept;
};
bool build_library(struct session *s, struct build *build, struct failure *failure);
/* Its two halves: the texts, then files and compilers, in a folder that goes away or the one that values.keep names. */
bool build_generate(struct session *s, struct build *build, struct failure *failure);
bool build_compile(struct session *s, struct build *build, struct failure *failure);
/* False: prints the messages of the compiler about the program. */
bool program_failed(struct session *s, struct failure *failure);
const char *build_cc(const struct run_values *values);
/* CUDA's compiler and its flags for the GPUs that are asked for, in words; NULL: these are no GPUs. */
const char *build_nvcc(struct arena *arena, const struct run_values *values, struct failure *failure);
void build_remove(struct build *build);
/* The folders of pmgrt.h and libpmgrt.so. */
bool build_find_runtime(struct session *s, const char **include, const char **lib, struct failure *failure);
void build_specialize(struct session *s); /* gives the module the sizes that are compiled in */
/* Whether code is generated for this value of the parameter number p. */
bool size_is_compiled_in(const struct session *s, int p);

/* ---- memory.c: what --max-mem allows ------------------------------------------------ */
/* Bytes of all arguments whose shapes are known, and of what is computed for them. */
int64_t session_bytes(const struct session *s);
bool session_fits(struct session *s, struct failure *failure);

/* ---- library.c, interpret.c -------------------------------------------------------- */

/* A pipeline of a library with its plan. */
struct execution {
	struct session *session;
	struct results *results;
	const pmg_pipeline_desc *desc;
	pmg_context *context;
	pmg_plan *plan;
	char *args;
	double plan_seconds;
	bool in_blocks;         /* set before planning: executions will hold arguments in the plan's blocks */
	bool is_remembered;     /* the candidate is one that wisdom knew */
	uint64_t inputs_sum;    /* state.c: of the inputs; 0: not known yet */
};

/* ---- state.c: runs that are stopped and go on -------------------------------------------------- */
/* For pmg_control.cancel: from now on the first signal asks for the end of the run. */
const volatile int *state_catch_signals(void);
bool state_was_interrupted(void);       /* signals end the process again */
const char *state_path(struct session *s);
bool state_save(struct execution *e, struct failure *failure);
/* From values.resume, into the plan and the arrays of the results. */
bool state_load(struct execution *e, struct failure *failure);

/* ---- tune.c: candidates and wisdom --------------------------------------------------- */
/* Reads --tune, and says how many candidates are to be compiled. */
bool tune_open(struct session *s, struct failure *failure);
/* Makes e->plan with `options`. */
pmg_status tune_plan(struct execution *e, pmg_options *options);
void tune_print(const struct execution *e);

/* Loads, and the arguments are set; closed by the caller in any case. The library stays in memory. */
bool library_load(struct session *s, const char *path, struct results *results, struct execution *e,
		  struct failure *failure);
/* The same of a pipeline of a library that is loaded. */
bool library_attach(struct session *s, const pmg_pipeline_desc *desc, struct results *results, struct execution *e,
		    struct failure *failure);
bool library_plan(struct execution *e, struct failure *failure);
/* Gives a scalar of type f64 another value than the session has, for the next executions. */
void library_set_scalar(struct execution *e, const char *name, double value);
/* Executes once; `seconds` does not hold the time in which `inout` arrays get their first values back. */
bool library_execute(struct execution *e, double *seconds, struct failure *failure);
/* Executes as `control` says, from what the outputs hold where it resumes. */
bool library_step(struct execution *e, pmg_control *control, struct failure *failure);
void library_close(struct execution *e);
/* Executes as often as is asked for. */
bool library_time(struct execution *e, struct timing *timing, struct failure *failure);

/* ---- turns.c ------------------------------------------------------------------------------ */
/* Measures all candidates of a library that is loaded, and prints what they take. */
bool turns_run(const struct execution *any, struct failure *failure);

/* ---- share.c: libraries that sessions of this process share -------------------------------------- */
struct shared_library {
	const char *key, *folder;       /* folder, compilers and texts; the folder of --keep or "" */
	const pmg_pipeline_desc *desc;  /* NULL: it could not be compiled */
};
typedef VEC(struct shared_library) library_list;

/* As library_load of a build, or of one in the list that the same compilers made of the same texts. Sessions with one
 * list have one arena. */
bool library_share(struct session *s, library_list *libraries, struct results *results, struct execution *e,
		   struct failure *failure);

/* ---- cache.c: what is kept for later runs ---------------------------------------------- */
const char *cache_path(struct arena *arena, const char *name); /* NULL: there is no place */
void cache_make_folders(struct arena *arena, const char *path);
const char *cache_library_path(struct arena *arena, const char *name); /* NULL: libraries are not kept */
/* As library_load of a build, or of one that is kept from a run of the same program. */
bool cache_load(struct session *s, struct results *results, struct execution *e, struct failure *failure);
void cache_print(const struct session *s);

/* ---- cache_key.c ---- */
uint64_t cache_sum(uint64_t sum, const void *bytes, size_t n);
/* "blur-0123456789abcdef.so"; NULL: not all is known that the library depends on. */
const char *cache_name(struct session *s);

/* ---- version.c ---- */
/* A sum of what `command --version` prints, if the program at `path` that it begins with is a wrapper; else 0. */
uint64_t compiler_version(struct arena *arena, const char *command, const char *path);

/* ---- environment.c ---- */
/* Is PMG_CHECK_FINITE=1 in the environment? */
bool session_checks_finite(void);
/* A failure where a variable of the environment is none of the words that it takes. */
bool environment_is_known(struct failure *failure);

/* ---- cache_bound.c ---- */
struct kept_library {
	const char *path;
	int64_t bytes;
	double used;  /* seconds since 1970 */
	bool is_part; /* not yet whole */
};
typedef VEC(struct kept_library) kept_list;

enum { CACHE_BYTES = 256 << 20 }; /* of all that is kept */

void cache_list(struct arena *arena, const char *folder, kept_list *list); /* those used last come last */
/* Removes from the folder of `path` what is too much, but not that. */
void cache_bound(struct arena *arena, const char *path);

/* ---- interpret.c ---- */
/* `weights`: by number of the module's arrays, of each cell, or NULL. */
bool interpreter_run(struct session *s, struct results *results, struct interp_weight **weights,
		     struct timing *timing, struct failure *failure);
/* Of another module of the pipeline, in the arithmetic of `how`, which says what else the interpreter is to do. NULL,
 * or what is wrong. */
const char *interpreter_run_again(struct session *s, struct module *module, struct results *results,
				  struct interp_input *how);

/* ---- outputs.c: where outputs go --------------------------------------------------- */
/* `save` becomes `target`; false when one would destroy an input of this run or another output. */
bool outputs_place(struct session *s, struct failure *failure);
/* Could they be written, as far as their formats, shapes and folders tell? */
bool outputs_fit(const struct session *s, const struct results *results, struct failure *failure);
bool results_save(const struct session *s, const struct results *results, struct failure *failure);

/* ---- report.c, compare.c ------------------------------------------------------------- */
bool results_new(struct session *s, struct results *results, struct failure *failure);
void results_free(const struct session *s, struct results *results);
/* Adds a note to what the runtime says of an array: the file that holds it, and what gave its sizes. */
void failure_explain(const struct session *s, struct failure *failure);
void results_print(const struct session *s, const struct results *results);
void timing_print(const struct timing *timing);
/* Which of its two kernels a pipeline ran that is specialized; nothing for one that is not. */
void kernel_print(const struct session *s);
/* Does the expression, or a subscript of a read in it, name the parameter of this number? */
bool depends_on(const struct expr *expr, int param);
bool access_depends_on(const struct access *access, int param);
/* Prints a line for each output; false with outcome NUMERICAL when a difference exceeds the bound. `weights` are by
 * argument. */
bool results_compare(struct session *s, const struct results *results, const struct results *reference,
		     struct interp_weight *const *weights, struct failure *failure);

#endif
