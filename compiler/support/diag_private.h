/* SPDX-License-Identifier: MIT
 *
 * The formats of diagnostics: how one is written, and how many more there are. */
#ifndef PMGC_SUPPORT_DIAG_PRIVATE_H
#define PMGC_SUPPORT_DIAG_PRIVATE_H

#include "support/support.h"

struct diag_writer {
	const char *name;
	void (*write)(struct diags *diags, struct str *out, const struct diag *diag);
	void (*write_more)(struct str *out, int n);
};

/* ---- diag_text.c ---- */
void diag_write_human(struct diags *diags, struct str *out, const struct diag *diag);
void diag_write_short(struct diags *diags, struct str *out, const struct diag *diag);
void diag_write_more(struct str *out, int n);

/* ---- diag_json.c ---- */
void diag_write_json(struct diags *diags, struct str *out, const struct diag *diag);
void diag_write_more_json(struct str *out, int n);

#endif
