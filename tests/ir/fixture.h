/* SPDX-License-Identifier: MIT
 *
 * A module for a test: opened empty or read from text, bound to arrays by name, interpreted. Failed checks are
 * reported with their place and counted. */
#ifndef TESTS_IR_FIXTURE_H
#define TESTS_IR_FIXTURE_H

#include "ir/ir.h"

struct ir_tests {
	int passed, failed;
};

struct ir_fixture {
	struct arena arena;
	struct sources sources;
	struct diags diags;
	isl_ctx *ctx;
	struct module *module;          /* NULL when the text was wrong */
	struct interp_input input;
	int64_t sizes[16];
	double scalars[16];
};

#define IR_CHECK(tests, condition) ir_check((tests), (condition), __FILE__, __LINE__, #condition)
/* The text is there and contains `part`. */
#define IR_CHECK_HAS(tests, text, part) ir_check_has((tests), (text), (part), __FILE__, __LINE__)
#define IR_CHECK_SAME(tests, text, wanted) ir_check_same((tests), (text), (wanted), __FILE__, __LINE__)
/* `n` doubles are bit for bit those wanted; NaN equals NaN. */
#define IR_CHECK_REALS(tests, got, n, ...) \
	ir_check_reals((tests), (got), (const double[]) { __VA_ARGS__ }, (n), __FILE__, __LINE__)
#define IR_CHECK_INTEGERS(tests, got, n, ...) \
	ir_check_integers((tests), (got), (const int64_t[]) { __VA_ARGS__ }, (n), __FILE__, __LINE__)

void ir_check(struct ir_tests *tests, bool ok, const char *file, int line, const char *text);
void ir_check_has(struct ir_tests *tests, const char *text, const char *part, const char *file, int line);
void ir_check_same(struct ir_tests *tests, const char *text, const char *wanted, const char *file, int line);
void ir_check_reals(struct ir_tests *tests, const double *got, const double *wanted, int n, const char *file, int line);
void ir_check_integers(struct ir_tests *tests, const int64_t *got, const int64_t *wanted, int n, const char *file,
		       int line);

void ir_open(struct ir_fixture *f);
void ir_read(struct ir_fixture *f, const char *text);           /* after ir_open */
void ir_open_text(struct ir_fixture *f, const char *text);
void ir_close(struct ir_fixture *f);                            /* aborts if isl values were leaked */

void ir_size(struct ir_fixture *f, const char *param, int64_t value);
void ir_scalar(struct ir_fixture *f, const char *param, double value);
/* Shape: the first `rank` of d0, d1. */
void ir_bind(struct ir_fixture *f, const char *array, enum scalar_type type, void *data, int64_t d0, int64_t d1);
const char *ir_run(struct ir_fixture *f);                       /* NULL, or the message */
const char *ir_messages(struct ir_fixture *f);

void ir_test_expr(struct ir_tests *tests);
void ir_test_module(struct ir_tests *tests);
void ir_test_programs(struct ir_tests *tests);
void ir_test_values(struct ir_tests *tests);
void ir_test_recurrences(struct ir_tests *tests);
void ir_test_errors(struct ir_tests *tests);
void ir_test_text(struct ir_tests *tests);
void ir_test_verify(struct ir_tests *tests);
void ir_test_storage(struct ir_tests *tests);

#endif
