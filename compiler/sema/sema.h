/* SPDX-License-Identifier: MIT
 *
 * From the syntax tree of a file to one module per pipeline: names, types, shapes, ranges, and the lowering
 * of every statement to stages. What is wrong is reported; a mistake is reported once. */
#ifndef PMGC_SEMA_SEMA_H
#define PMGC_SEMA_SEMA_H

#include "ir/module.h"
#include "syntax/tree.h"

typedef VEC(struct module *) module_list;

/* Appends the modules of `file`, in its order, to `out`; only those of pipelines without errors. False when
 * there was any error. The caller frees the modules (module_free). */
bool sema_lower_file(struct arena *arena, struct diags *diags, isl_ctx *ctx, const struct tree_file *file,
		     module_list *out);

/* "fuse a, b;" for the verb of an item of a schedule; NULL after a diagnostic that there is no such item. */
const char *schedule_item_example(struct diags *diags, const struct tree_name *verb);

#endif
