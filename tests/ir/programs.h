/* SPDX-License-Identifier: MIT
 *
 * Modules for tests, as texts in the format of docs/ir.md. */
#ifndef TESTS_IR_PROGRAMS_H
#define TESTS_IR_PROGRAMS_H

struct ir_program {
	const char *name, *text;
};

extern const struct ir_program ir_programs[];
extern const int ir_n_programs;

const char *ir_program(const char *name);

#endif
