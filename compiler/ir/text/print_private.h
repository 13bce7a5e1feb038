/* SPDX-License-Identifier: MIT
 *
 * What the printer and the reader of modules share: the words of the format, and expressions written exactly. */
#ifndef PMGC_IR_PRINT_PRIVATE_H
#define PMGC_IR_PRINT_PRIVATE_H

#include "ir/ir.h"

/* `is_exact`: for the reader; literals carry their type, scalars their brackets, bound dims their own names. Else for
 * people: as it stands in the .pmg file. */
struct expr_printer {
	struct str *text;
	const struct module *module;
	const struct stage *stage;      /* whose dims are meant; NULL: none */
	bool is_exact;
};

void print_expr(const struct expr_printer *printer, const struct expr *expr);
void print_access(const struct expr_printer *printer, const struct access *access);
/* The name, between backquotes unless it is plain and no word of the format. */
void print_name(struct str *text, const char *name);
void print_string(struct str *text, const char *string);
/* Lines that begin with |; in a draft as isl has them. */
void print_schedule(struct str *text, struct module *module, __isl_keep isl_schedule *schedule, bool is_draft);

extern const char *const role_names[];          /* by enum array_role */
extern const char *const region_names[];        /* by enum region_kind */
extern const char *const reduce_names[];        /* by enum reduce_op */
extern const char *const op_names[];            /* by enum expr_op */
int op_precedence(enum expr_op op);             /* 0: a function */

#endif
