/* SPDX-License-Identifier: MIT
 *
 * What severities and codes of messages are called. */
#include "support/diag_private.h"

static const char *const severity_names[] = {
	[SEVERITY_REMARK] = "remark",
	[SEVERITY_WARNING] = "warning",
	[SEVERITY_ERROR] = "error",
};

static const char *const code_texts[DIAG_N] = {
#define DIAG(code, name) [DIAG_##name] = code,
#include "support/diag.def"
#undef DIAG
};

const char *diag_code_text(enum diag_code code)
{
	return code_texts[code];
}

const char *severity_name(enum severity severity)
{
	return severity_names[severity];
}
