/* SPDX-License-Identifier: MIT
 *
 * What the lanes of a deal read once (streams.c). */
#ifndef PMGC_CODEGEN_STREAMS_H
#define PMGC_CODEGEN_STREAMS_H

#include "codegen/codegen_private.h"

/* A read, of which `text` is the element: in a deal, what a lane reads is read once. */
const char *deal_read(struct emit *e, const struct access *access, const char *text);
/* After the kernel has been printed first: which of its streams are read ahead. */
void streams_settle(struct emit *e);
/* Above the loop of a deal: what its first iterations read. */
void streams_begin(struct emit *e, const struct mark *deal, const char *first, const char *end);
/* At its head: what these iterations have, and the next ones will. */
void streams_go_on(struct emit *e, const char *first, const char *end);

#endif
