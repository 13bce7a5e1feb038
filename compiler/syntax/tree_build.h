/* SPDX-License-Identifier: MIT
 *
 * Constructors of the syntax tree, one call for each action of the grammar. Each takes the span of what it
 * makes. Words that are no keywords (types, facts, `children`, `sum`) are told apart here, so that a wrong one
 * gets a message of its own. None fails: what is wrong is reported and something harmless returned. */
#ifndef PMGC_SYNTAX_TREE_BUILD_H
#define PMGC_SYNTAX_TREE_BUILD_H

#include "syntax/parser_state.h"

/* ---- tree.c ---- */
struct tree_name tree_name_new(struct span span, const char *name, const char *member);
struct tree_mode tree_mode_new(struct span span, const char *name, struct tree_expr *size);
struct tree_branch tree_branch_new(struct span span, struct tree_expr *condition, struct tree_expr *value);
/* `i in lo..hi`; without `hi`, `lo` has to be children(parent, i). */
struct tree_range *tree_range_new(struct parser *parser, struct span span, struct tree_name var,
				  struct tree_expr *lo, struct tree_expr *hi);
void tree_file_add_const(struct parser *parser, struct span span, struct tree_name name,
			 struct tree_expr *value);
void tree_file_add_pipeline(struct parser *parser, struct span span, struct tree_name name, tree_stmts body);

/* ---- tree_expr.c ---- */
struct tree_expr *tree_expr_int(struct parser *parser, struct span span, const char *spelling);
struct tree_expr *tree_expr_float(struct parser *parser, struct span span, const char *spelling);
struct tree_expr *tree_expr_bool(struct parser *parser, struct span span, bool value);
struct tree_expr *tree_expr_list(struct parser *parser, struct span span, tree_exprs items);
struct tree_expr *tree_expr_name(struct parser *parser, struct span span, struct tree_name name);
struct tree_expr *tree_expr_index(struct parser *parser, struct span span, struct tree_name name,
				  tree_exprs subscripts);
struct tree_expr *tree_expr_call(struct parser *parser, struct span span, struct tree_name name,
				 tree_exprs args);
struct tree_expr *tree_expr_cast(struct parser *parser, struct span span, struct tree_name type,
				 struct tree_expr *arg);
struct tree_expr *tree_expr_unary(struct parser *parser, struct span span, enum tree_op op,
				  struct tree_expr *arg);
struct tree_expr *tree_expr_binary(struct parser *parser, struct span span, enum tree_op op,
				   struct tree_expr *left, struct tree_expr *right);
struct tree_expr *tree_expr_reduce(struct parser *parser, struct span span, struct tree_name name,
				   tree_ranges ranges, struct tree_expr *body);
struct tree_expr *tree_expr_case(struct parser *parser, struct span span, tree_branches branches);

/* ---- tree_type.c ---- */
struct tree_type_args {         /* `(nnz; atom < nAtoms, …)` */
	bool is_given;
	tree_exprs exprs;
	tree_modes modes;
};

struct tree_fact {              /* `sorted`, `tree(F.offset)` */
	struct tree_name word;
	struct tree_name segments;  /* no name: none */
};
typedef VEC(struct tree_fact) tree_facts;

struct tree_type_args *tree_type_args_new(struct parser *parser, tree_exprs exprs, tree_modes modes);
struct tree_fact tree_fact_new(struct tree_name word, struct tree_name segments);
/* `word <element> (args) [shape] facts`, of which all but the word may be absent. */
struct tree_type *tree_type_new(struct parser *parser, struct span span, struct tree_name word,
				struct tree_name element, const struct tree_type_args *args,
				tree_exprs shape, tree_facts facts);
/* A word that has to be a scalar type; f64 after an error. */
enum scalar_type tree_type_scalar(struct parser *parser, struct tree_name word);
/* Is it, here or in another language, the word for a type; for one of integers? */
bool tree_type_is_known(const char *name);
bool tree_type_is_integer(struct tree_name word);

/* ---- tree_stmt.c ---- */
struct tree_stmt *tree_stmt_param(struct parser *parser, struct span span, tree_names names);
struct tree_stmt *tree_stmt_param_scalar(struct parser *parser, struct span span, struct tree_name type,
					 tree_names names);
struct tree_stmt *tree_stmt_assume(struct parser *parser, struct span span, struct tree_expr *condition);
struct tree_stmt *tree_stmt_specialize(struct parser *parser, struct span span, struct tree_name name,
				       struct tree_expr *value, const char *text);
struct tree_stmt *tree_stmt_decl(struct parser *parser, struct span span, bool is_fixed, enum tree_role role,
				 tree_names names, struct tree_type *type, struct tree_expr *value);
struct tree_stmt *tree_stmt_func(struct parser *parser, struct span span, struct tree_name name,
				 tree_ranges ranges, struct tree_type *type, struct tree_expr *value);
struct tree_stmt *tree_stmt_define(struct parser *parser, struct span span, bool is_next,
				   struct tree_expr *target, struct tree_expr *value, tree_ranges ranges);
struct tree_stmt *tree_stmt_accumulate(struct parser *parser, struct span span, bool is_next,
				       struct tree_expr *target, enum tree_reduce_op op,
				       struct tree_expr *value, tree_ranges ranges);
struct tree_stmt *tree_stmt_iterate(struct parser *parser, struct span span, struct tree_range *range,
				    struct tree_expr *until, tree_stmts body);
struct tree_stmt *tree_stmt_schedule(struct parser *parser, struct span span, tree_schedule_items items);
/* `link` stands between subjects and value: `by`, or no name where the grammar has a `:` or parentheses. */
struct tree_schedule_item *tree_schedule_item_new(struct parser *parser, struct span span,
						  struct tree_name verb, tree_names subjects,
						  struct tree_name link, struct tree_expr *value);

#endif
