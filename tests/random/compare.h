/* SPDX-License-Identifier: MIT
 *
 * Generated code of one .pmg file, as built by several compilers and with several schedules, against the
 * interpreter. */
#ifndef PMGC_TESTS_RANDOM_COMPARE_H
#define PMGC_TESTS_RANDOM_COMPARE_H

#include "driver/pipeline.h"
#include "random/bind.h"

struct variant {
	const char *name, *pmgc, *compiler;     /* its flags of pmgc */
	const char *only_with;                  /* a text that C has which is worth building; NULL: any */
	bool is_plain;                          /* not optimised */
	void *library;
	const pmg_pipeline_desc *const *pipelines;
};

/* How the cells of two results are compared. */
enum agreement { AGREE_EXACTLY, AGREE_CLOSELY /* 1e-11 relative */, AGREE_SINGLY /* 1e-5 */ };

struct comparison {
	const char *build, *folder, *file;      /* programs, scratch, .pmg */
	struct variant *variants;
	int n_variants;
	int threads;                            /* 0: two */
	bool is_wide;                           /* draws of sizes behind the first tile */
	int n_built;                            /* so that each library has a path of its own */
	int passed, failed;
	void (*begin)(struct compilation *c, void *user);       /* before each attempt to compile; NULL */
	void *user;
	struct compilation **kept;              /* takes the one that has come to C, which is freed else; NULL */
};

__attribute__((format(printf, 1, 2))) bool run_command(const char *format, ...);
/* Runs a pipeline, or its candidate of this name ("": the first), on copies of the arrays; NULL, or what is wrong. */
const char *variant_run(const struct variant *v, const char *candidate, int threads, struct arena *arena,
			const struct binding_set *set, void **copies);
/* A library that is built already. */
bool variant_load(struct variant *variant, const char *path);
const pmg_pipeline_desc *variant_pipeline(const struct variant *variant, const char *name);
/* The C compiler on folder/vNUMBER.c, with warnings as errors; loads what it makes. */
bool variant_compile(const struct comparison *comparison, struct variant *variant, int number);
/* pmgc and the C compiler on the file, with warnings as errors; false after telling why. */
bool comparison_build(struct comparison *comparison);
void comparison_close(struct comparison *comparison);
/* One draw of sizes and data for a module: the interpreter, then every variant. False when these sizes allow no data.
 */
bool comparison_draw(struct comparison *comparison, struct module *module, uint64_t seed, enum agreement agreement);
/* The first output that differs, as text; NULL when all agree. */
const char *results_differ(const struct binding_set *set, struct arena *arena, void **expected, void **got,
			   enum agreement agreement);
/* Builds the file and makes so many draws of each of its modules; fewer are a failure. */
void comparison_file(struct comparison *comparison, int (*n_draws)(const struct module *module));
/* The same for each .pmg file of a folder; or for every nth from the first one, with PMG_TEST_LONG for all. */
void comparison_folder(struct comparison *comparison, const char *folder, int (*n_draws)(const struct module *module));
void comparison_folder_nth(struct comparison *comparison, const char *folder, int n, int first,
			   int (*n_draws)(const struct module *module));

#endif
