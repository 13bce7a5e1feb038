/* SPDX-License-Identifier: MIT
 *
 * Recorded decisions as text, for --explain. */
#include "driver/pipeline.h"

const char *explain_text(struct compilation *c, const struct module *module)
{
	struct str text = str_new(&c->arena);

	str_add(&text, "%s\n", module->name);
	for (int i = 0; i < module->decisions.n; i++) {
		const struct decision *d = &module->decisions.items[i];
		const char *place = span_is_known(d->span) ? span_place(&c->sources, &c->arena, d->span) : "";

		str_add(&text, "  %-10s %-16s %-10s %s", d->pass, d->subject, d->chosen, d->reason);
		if (d->alternatives && *d->alternatives)
			str_add(&text, " (not %s)", d->alternatives);
		str_add(&text, "%s%s%s\n", *place ? "  [" : "", place, *place ? "]" : "");
	}
	return str_text(&text);
}
