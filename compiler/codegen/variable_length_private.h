/* SPDX-License-Identifier: MIT
 *
 * What the files share that print blocks of segments (variable_length.c) and of trees (lane_masks.c). Included by
 * codegen_private.h. */
#ifndef PMGC_CODEGEN_VARIABLE_LENGTH_PRIVATE_H
#define PMGC_CODEGEN_VARIABLE_LENGTH_PRIVATE_H

/* A block whose lanes have rows of their own, with what is known of them: where they begin and how many they are, of
 * the present lane; how many the longest has. What holds for some lanes only is no `if` but a condition of what is
 * written. */
struct lane_condition {
	struct k_expr *test;            /* of the present lane */
	struct k_expr *bits;            /* lanes in which it holds, or, `is_not`, does not; NULL: what the test says */
	bool is_not;
	bool is_row;                    /* it only says that the lane has the row that the loop is at */
	fact_list facts;                /* that say the same; none: it is not known to be said by facts */
};

typedef VEC(struct lane_condition) lane_condition_list;

/* What the block of trees says of parents and children: masks of each row, and the cells that are listed. */
struct lane_masks {
	const struct array *tree;
	const char *rows, *cells;       /* variables */
};

/* A parent of a row, each lane having its own. */
struct parent {
	const struct array *tree;
	struct k_expr *number;          /* of the present lane */
	struct affine row;              /* whose parent it is */
};

/* What lanes read of an array at the parents of their rows. */
struct above {
	const struct array *array;
	struct parent parent;
	const char *name;               /* of the variable; NULL: it is yet to be declared */
};

struct variable_length {
	struct k_expr *begin, *rows;    /* elements of these arrays: of the present lane */
	const char *begin_name, *rows_name;
	const char *longest;
	const char *start;              /* where the block begins in what the caller has blocked, in rows */
	const char *next, *later;       /* where the lanes of the thread's next block begin, and where the caller has
					 * it; NULL: nobody prefetches */
	fact_list row_facts;            /* of variables that are rows which the block has */
	struct k_block body;            /* of the block, as it is without what stands ahead of it */
	bool is_resolved;               /* the body is known */
	lane_condition_list conditions;
	lane_condition_list known;      /* those with bits */
	bool has_others;                /* there were conditions without */
	bool is_looking;                /* statements are printed to nowhere, to find whether */
	bool is_by_lane;                /* lanes are at rows of their own */
	int n_loops;                    /* over rows, around what is printed */
	struct k_expr *only;            /* the bits of the lanes that wrote last, if nothing else says so; NULL */
	bool adds_to_vectors;           /* lane by lane, where sums are vectors of lanes */
	struct k_expr *is_listed;       /* then: whether the lane has something to add */
	bool selects;                   /* sums take conditions, too: no row but those of the loop have values */
	VEC(struct lane_masks) masks;
	VEC(struct parent) parents;     /* that rows were bound to */
	bool takes_above;               /* what rows read at their parents is in variables of lanes */
	VEC(struct above) above;
};

/* ---- variable_length.c: blocks of segments ----------------------------------------------------------------------- */

/* Around what runs under a condition; `names` for the end. */
struct condition {
	int names, n_conditions;
};

/* Facts from number `first_fact` on say what the test says: none, where there are no more than so many. */
struct condition condition_open(struct emit *e, struct k_expr *test, int first_fact);
/* The other branch of the condition that was closed last, of blocks whose lanes have rows of their own never. */
struct condition condition_otherwise(struct emit *e);
void condition_close(struct emit *e, struct condition condition);
/* Before statements are printed to nowhere, and behind. */
void variable_length_look(struct emit *e, bool is_looking);
/* Notes whether the cell of a vector is in a row that is not the same for all lanes. */
void variable_length_note_cell(struct emit *e, const struct k_expr *cell);
/* Of what is written in lanes, to rows of the block if it `is_row`: the conditions that do not follow from each other;
 * NULL: there are none. Where lanes are vectors, what makes a vector of them. */
struct k_expr *lane_conditions(struct emit *e, bool is_row);
/* The value of a dim that each lane has one of: where its segment begins or ends, the parent of its row. */
bool variable_length_bind(struct emit *e, const struct dim *dim, const struct point *point, struct affine *value);
bool variable_length_loop(struct emit *e, __isl_keep isl_ast_node *node, struct loop_use use);
/* There is one value more than segments. */
struct affine segments_count(struct emit *e, const struct array *offsets);
/* The list of the segments in the order of their blocks. */
struct k_expr *order_of_block(const struct emit *e, const struct array *segments);
/* How many blocks of segments a thread takes in its turn; NULL: it is no block of segments. */
struct k_expr *variable_length_turn(struct emit *e);
/* The block's begin: its segments, if it has some. */
void variable_length_open(struct emit *e, __isl_keep isl_ast_node *body, struct k_expr *first);
/* Builds the body of the block, for what stands ahead of it. If it has conditions for which there are no vectors, lanes
 * are none. */
void variable_length_resolve(struct emit *e, __isl_keep isl_ast_node *body);

/* ---- variable_length_arrays.c: what blocks of segments have of arrays -------------------------------------------- */

/* Is the array used in the caller's memory, if it is blocked? */
bool is_blocked_by_caller(const struct emit *e, const struct array *copy);
void start_declare(struct emit *e, const struct array *segments, struct k_expr *first);
void variable_length_fill(struct emit *e, const struct array *copy, const struct finding *found, bool is_read);
void variable_length_rows(struct emit *e, struct block_rows *rows);       /* what fills a window of rows of segments */
void variable_length_note_prefetch(struct emit *e,
				   const struct array *copy);          /* rows of blocks (prefetch_note) */
void variable_length_empty(struct emit *e, const struct array *copy);
/* `row`, a variable, is from `first` to `last`. */
void row_is_inside(struct emit *e, const struct affine *row, const struct affine *first, const struct affine *last);
/* The row, or the nearest one that the block has, where that may be another. */
struct affine row_inside(struct emit *e, const struct array *copy, const struct affine *row);

/* ---- lane_masks.c: parents and children in blocks of trees ------------------------------------------------------ */

/* The block's begin, behind variable_length_open, `first` being its first tree. */
void masks_open(struct emit *e, struct k_expr *first);
/* Is the node one of a tree that each lane has of its own? */
bool lane_has_node(const struct emit *e, const struct dim *dim);

/* A loop over cells that are listed for a row. */
struct listed_cells {
	const char *cell;               /* a variable; NULL: there is no such loop */
	struct k_expr *is_listed;       /* whether it is one of the list, where cells are read in groups */
	bool is_grouped;
};

/* Is all that is done for the children below the node to add to vectors, so that their order is one of rounding? */
bool children_only_add(const struct emit *e, __isl_keep isl_ast_node *node);

/* Around what is done for a child of that node: the next row, in the lanes in which it is one; all others, each in its
 * lane. */
struct child_scope {
	lane_condition_list conditions;
	bool selects, in_lanes, are_vectors;
	int names, n_facts;
	struct listed_cells list;
};

struct child_scope child_open_next(struct emit *e, const struct mark *mark, const struct affine *node,
				   struct affine *child);
struct child_scope child_open_others(struct emit *e, __isl_keep isl_ast_node *body, const struct mark *mark,
				     const struct affine *node, struct affine *child);
void child_close(struct emit *e, const struct child_scope *scope);
/* Is the sum of this name in vectors of lanes? Then children_add adds to the present one. */
bool sum_is_in_vectors(const struct k_expr *sum);
void children_add(struct emit *e, const struct update *update);
/* Notes that `value` is the parent of the node. */
void parent_bind(struct emit *e, const struct dim *dim, const struct point *point, struct k_expr *number);
/* The condition that a row, whose parent is `value`, has none, or has one; NULL: it is no parent. */
struct k_expr *parent_is_none(struct emit *e, const struct affine *value);
struct k_expr *parent_is_there(struct emit *e, const struct affine *value);
/* What stands for an element at a parent in statements for all lanes, between these two; NULL: it is read as others.
 * `declare` goes ahead of the loop that was printed to nowhere after `look`. */
void parents_look(struct emit *e);
void parents_declare(struct emit *e);
void parents_end(struct emit *e);
struct k_expr *parents_read(struct emit *e, const struct point *point, const struct access *access);

#endif
