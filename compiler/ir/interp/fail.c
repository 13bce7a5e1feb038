/* SPDX-License-Identifier: MIT
 *
 * How a run of the interpreter ends at an error: the first one counts, and says where it is. */
#include "ir/interp/interp_private.h"

void run_fail(struct run *run, struct span span, const char *format, ...)
{
	struct diags *diags = run->module->diags;
	va_list args;

	if (run->stop == RUN_FAILED)
		return;
	run->stop = RUN_FAILED;
	va_start(args, format);
	run->error = arena_vprintf(run->arena, format, args);
	va_end(args);
	if (diags && diags->sources && span_is_known(span))
		run->error = arena_printf(run->arena, "%s: %s", span_place(diags->sources, run->arena, span),
					  run->error);
}
