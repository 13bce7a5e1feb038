/* SPDX-License-Identifier: MIT
 *
 * What the lanes of a warp-cooperative loop read once (streams.c). */
#ifndef PMGC_CODEGEN_STREAMS_H
#define PMGC_CODEGEN_STREAMS_H

#include "codegen/codegen_private.h"

/* Is it one of the loop, in the kernel that is built? */
bool is_stream_of(const struct emit *e, const struct stream *stream, const struct mark *warp_loop);
/* A read of an element: in a warp-cooperative loop, what a lane reads is read once. */
struct k_expr *stream_read(struct emit *e, const struct access *access, struct k_expr *element);
/* After the kernel has been built once: which of its streams are read ahead. */
void streams_resolve(struct emit *e);
/* Above the loop: what its first iterations read. */
void streams_begin(struct emit *e, const struct mark *warp_loop, struct k_expr *first, struct k_expr *end);
/* At its head: what these iterations have, and the next ones will. */
void streams_go_on(struct emit *e, const char *first, struct k_expr *end);
/* At its end, `start` being the number of its body's first statement: marks the elements that the body does not mention
 * after all as unused. Their readers got the value without them. */
void streams_end(struct emit *e, int start);

/* grids.c. The call, with the number of lanes of a team. */
struct k_expr *of_team(struct arena *arena, struct k_expr *call);

/* sparse_weights.c. Does the stream wait for the weights of its lanes, most of which are zero? */
bool sparse_waits(const struct emit *e, const struct stream *stream);
/* What lanes do if one of them has a weight: `names` for sparse_close, or -1: the body is done always. */
int sparse_open(struct emit *e, __isl_keep isl_ast_node *body);
void sparse_close(struct emit *e, int names);

#endif
