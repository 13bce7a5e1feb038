/* SPDX-License-Identifier: MIT
 *
 * What the files share that print loops which threads share. Included by codegen_private.h. */
#ifndef PMGC_CODEGEN_SHARES_PRIVATE_H
#define PMGC_CODEGEN_SHARES_PRIVATE_H

/* ---- loops.c ------------------------------------------------------------------------------------------- */

/* The loop that isl made of a band, as its marks say. */
void emit_for(struct emit *e, __isl_keep isl_ast_node *node, struct loop_use use);
/* Opens a loop over all of it. */
struct k_stmt *open_for(struct emit *e, const struct range *range, const char *name, int direction);

/* ---- teams.c: loops that threads share, each running all of an outer one --------------------------------- */

struct team {
	struct cut cut;                 /* of all that is shared */
	const char *begin, *stop;       /* of the present block */
};

/* What is below a TEAM mark. */
void emit_team(struct emit *e, __isl_keep isl_ast_node *node, struct loop_use use);
/* Opens the loop that the team shares, in the present block. */
void open_of_team(struct emit *e, const struct range *range, const char *name, struct loop_use use);

/* ---- privates.c: updates that get private copies ------------------------------------------------------- */

void emit_private(struct emit *e, __isl_keep isl_ast_node *node, const struct mark *mark);
/* Of the loop, one for each copy; 1: as many copies as threads. */
int n_private_copies(const struct array *copies);

/* ---- nested_parallel.c: shared loops inside of serial ones ------------------------------------------------------- */

/* A shared loop that is to be one only where it has the least work for it. False: it is printed as others are. */
bool emit_shared_if_long(struct emit *e, __isl_keep isl_ast_node *node, struct loop_use use);
/* The iterations of a dim, at the most that the sizes allow, or the mean where data bound them: a double in C. */
struct k_expr *most_iterations(struct emit *e, const struct stage *stage, const struct dim *dim);
/* work.c: the mean; operations on floating-point numbers of one point, and bytes that it reads and writes. */
struct k_expr *mean_iterations(const struct emit *e, const struct stage *stage, const struct dim *dim);
int flops_of_stage(const struct stage *stage);
int bytes_of_stage(struct stage *stage);
/* A range that depends on data or on other dims has about so many iterations. */
enum { SHORT_RANGE = 8 };

/* ---- region_work.c: how much work a region has ----------------------------------------------------------- */

/* Sets e->threads.n for the region that is printed next, of all below `node`; `use`, or NULL, has the marks above of
 * the loop that threads share. */
void region_count(struct emit *e, __isl_keep isl_ast_node *node, const struct loop_use *use);
/* e->threads.n, which must be counted. */
struct k_expr *region_threads(struct emit *e);
/* A variable that has e->threads.n, declared here; the same of all below `node`. */
const char *region_declare(struct emit *e);
const char *region_declare_of(struct emit *e, __isl_keep isl_ast_node *node);

/* ---- partitions.c: loops that are cut into parts ------------------------------------------------------------ */

/* The PARALLEL loop below a PARTS mark. */
void emit_parts(struct emit *e, __isl_keep isl_ast_node *node, struct loop_use use);
/* Opens the loop over e->threads.n_parts parts, which threads may share: its variable. */
const char *open_parts(struct emit *e, bool is_shared);
/* Opens the share of a loop that belongs to e->threads.part. */
void open_part(struct emit *e, const struct range *range, const char *name, struct loop_use use);

#endif
