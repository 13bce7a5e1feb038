/* SPDX-License-Identifier: MIT
 *
 * What all commands of `pmg` share: how a failure is told, how options are read from one table, and how
 * files that must not survive an interruption are kept track of.
 *
 * A function that can fail returns false after fail() has said why; the command prints it and gives the
 * outcome as its exit status. */
#ifndef TOOLS_CLI_CLI_H
#define TOOLS_CLI_CLI_H

#include "support/support.h"

/* ---- failure.c ------------------------------------------------------------- */

/* The values are the exit codes. */
enum outcome {
	OUTCOME_OK = 0,
	OUTCOME_PROGRAM = 1, /* errors in the .pmg program */
	OUTCOME_USAGE = 2,
	OUTCOME_DATA = 3,
	OUTCOME_IO = 4,
	OUTCOME_RESOURCES = 5,
	OUTCOME_NUMERICAL = 6,
	OUTCOME_C_COMPILER = 7,
	OUTCOME_INTERRUPTED = 8, /* with a state from which the run can go on */
	OUTCOME_INTERNAL = 70
};

struct failure {
	enum outcome outcome;
	char text[2048];
};

/* Sets the failure; always false, so that `return fail(…)` ends a function. */
bool fail(struct failure *failure, enum outcome outcome, const char *format, ...) PRINTF_LIKE(3, 4);
/* The same with "PATH: " before and, if the text ends in ':', the words of errno after it. */
bool fail_file(struct failure *failure, const char *path, const char *format, ...) PRINTF_LIKE(3, 4);
bool fail_memory(struct failure *failure, const char *what);
/* After errors in a program, whose messages are printed. */
struct compilation;
bool fail_program(struct failure *failure, struct compilation *c, const char *path);
/* Adds a line "  help: …" or "  note: …". */
void fail_help(struct failure *failure, const char *format, ...) PRINTF_LIKE(2, 3);
/* The name that the word may stand for, or, where none is near, all of them. */
void fail_help_choose(struct failure *failure, const char *word, const char *const *names, int n);
void fail_note(struct failure *failure, const char *format, ...) PRINTF_LIKE(2, 3);
/* False after fail() where `path` is a folder or cannot be opened for reading. */
bool file_is_readable(const char *path, struct failure *failure);
/* The text with every byte that is not printable ASCII as \xNN, at most `size` bytes with the NUL; returns
 * `to`. */
const char *printable(const char *text, char *to, size_t size);
/* Prints "pmg COMMAND: TEXT" to the standard error; returns the exit status. */
int failure_report(const struct failure *failure, const char *command);
/* Flushes the standard output: the last thing a command does. */
bool output_is_written(struct failure *failure);

/* ---- command.c ------------------------------------------------------------- */

enum option_kind {
	OPTION_FLAG,    /* bool */
	OPTION_INTEGER, /* int64_t, from `low` to `high` */
	OPTION_TEXT,    /* const char * */
	OPTION_LIST     /* word_list: may be given several times */
};

typedef VEC(const char *) word_list;

struct option_row {
	const char *name; /* "repeat" */
	char letter;      /* 'o' for -o; '\0': none */
	enum option_kind kind;
	size_t offset; /* in the values of the command */
	int64_t low, high;
	const char *operand, *text;
	bool is_once;   /* one takes all there is to say */
};

struct command {
	const char *name;     /* "phantom life" */
	const char *operands; /* of the line of usage */
	const char *sentence; /* in the list of commands */
	const char *details;  /* after the table of options; "" if there are none */
	const struct option_row *options;
	int n_options;
	/* Takes an argument that the table does not know, and perhaps the next one; how many, 0 for none,
	 * -1 after fail(). NULL: none. Its help follows the table's. */
	int (*more)(void *values, char **arguments, int n, struct failure *failure);
	void (*more_help)(FILE *stream);
	bool has_threads;     /* it runs code of OpenMP: threads that wait sleep unless the user says otherwise */
	/* Of a command that is only the first word of others, "life" of "life fit"; run: command_step. */
	const struct command *const *steps;
	int n_steps;
	/* argv[0] is the name of the command. */
	int (*run)(const struct command *command, struct arena *arena, int argc, char **argv);
};

/* Reads argv[1..]; what is not an option goes to `operands`. `--` ends the options. With --help or -h,
 * `*help` is set and nothing else counts. */
bool command_parse(const struct command *command, struct arena *arena, int argc, char **argv, void *values,
		   word_list *operands, bool *help, struct failure *failure);
void command_help(const struct command *command, FILE *stream);
/* What a command is for, with values that it knows the type of. */
typedef bool command_body(void *values, const word_list *operands, struct arena *arena, struct failure *failure);
/* Reads argv[1..] into `values`, prints the help if it is asked for, else does what the body does; the exit status. */
int command_do(const struct command *command, struct arena *arena, int argc, char **argv, void *values,
	       command_body *body);
const char *s_of(int64_t n);                          /* behind the name of what there are n of: "s", but "" of one */
bool parse_integer(const char *text, int64_t *value); /* all of the text, decimal */
bool words_have(const word_list *words, const char *word);
bool is_beyond_integers(const char *text);            /* such a text, of a number that int64_t does not hold */
bool parse_real(const char *text, double *value);     /* all of the text, finite unless it says inf or nan */

/* ---- steps.c ---------------------------------------------------------------- */

/* The step that has this name, "fit"; NULL. */
const struct command *step_find(const struct command *command, const char *name);
/* Finds the step that argv[1] names, and runs it. */
int command_step(const struct command *command, struct arena *arena, int argc, char **argv);

/* ---- memory.c --------------------------------------------------------------- */

/* The value of --max-mem: "4G", "4GiB", "4GB"; NULL leaves `*bytes` as it is. */
bool take_memory(const char *text, int64_t *bytes, struct failure *failure);
const char *bytes_text(int64_t bytes, char *text, size_t size); /* "1.5 GB" */
/* False after fail() where more than `most` bytes are needed, which --max-mem allows as `max_mem` says; 0: no limit. */
bool memory_suffices(int64_t bytes, int64_t most, const char *max_mem, struct failure *failure);

/* ---- progress.c ------------------------------------------------------------- */

double clock_now(void); /* seconds, of a clock that nobody sets */
/* A line on the standard error, which the next one overwrites on a terminal; and nothing in its place. */
void progress_tell(const char *format, ...) PRINTF_LIKE(1, 2);
bool progress_is_overwritten(void);
void progress_forget(void);

/* ---- scratch.c -------------------------------------------------------------- */

/* Remembers a file (or an empty folder) that is to go when a signal ends the process. Returns false when
 * there are too many or the path is too long. */
bool scratch_add(const char *path);
void scratch_forget(const char *path);
void scratch_remove(const char *path); /* forgets and deletes it */
void scratch_remove_all(void);         /* newest first */
/* The next of these signals sets `*flag` and does not end the process; NULL: it does. */
void scratch_hold_signals(volatile int *flag);
void scratch_catch_signals(void);      /* SIGINT, SIGTERM, SIGHUP: delete, then end as the signal does. A
				       * file that gets too large is an error of write() alone. */

#endif
