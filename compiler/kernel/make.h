/* SPDX-License-Identifier: MIT
 *
 * Statements, each added to a builder where the next one goes. The line that calls is kept as what emitted it. Names,
 * types and expressions are taken as they are, and may be shared by several statements. What opens a block is closed by
 * k_end. Each returns the statement, for what few of them have besides. */
#ifndef PMGC_KERNEL_MAKE_H
#define PMGC_KERNEL_MAKE_H

#include "kernel/kernel.h"

/* ---- declarations: the type is that of C, with `const` where it belongs to what a pointer leads to ----------- */

/* const T name = value; */
#define k_const(b, type, name, value) k_const_at((b), EMITTER, (type), (name), (value))
/* T name = value; T name; where the value is NULL. */
#define k_var(b, type, name, value) k_var_at((b), EMITTER, (type), (name), (value))
/* T name[extent] = value; NULL: no value. Vectors are registers, all else is on the stack. */
#define k_array(b, type, name, extent, value) k_array_at((b), EMITTER, (type), (name), (extent), (value))
/* struct alignas(alignment) name {: what follows are its fields. */
#define k_record(b, name, alignment) k_record_at((b), EMITTER, (name), (alignment))

struct k_stmt *k_const_at(struct k_builder *b, const char *emitter, struct k_type type, const char *name,
			  struct k_expr *value);
struct k_stmt *k_var_at(struct k_builder *b, const char *emitter, struct k_type type, const char *name,
			struct k_expr *value);
struct k_stmt *k_array_at(struct k_builder *b, const char *emitter, struct k_type type, const char *name,
			  struct k_expr *extent, struct k_expr *value);
struct k_stmt *k_record_at(struct k_builder *b, const char *emitter, const char *name, int alignment);

/* ---- effects --------------------------------------------------------------------------------------------------- */

/* target = value; target op= value; */
#define k_set(b, target, value) k_update_at((b), EMITTER, K_OP_N, (target), (value))
#define k_update(b, op, target, value) k_update_at((b), EMITTER, (op), (target), (value))
/* A call for what it does; a name alone is a macro of the runtime. */
#define k_do(b, value) k_value_at((b), EMITTER, KS_CALL, (value))
#define k_macro(b, name) k_value_at((b), EMITTER, KS_CALL, k_name((b)->arena, (name)))
#define k_return(b, value) k_value_at((b), EMITTER, KS_RETURN, (value))
/* (void) name; */
#define k_unused(b, name) k_value_at((b), EMITTER, KS_UNUSED, k_name((b)->arena, (name)))
#define k_blank(b) k_value_at((b), EMITTER, KS_BLANK, NULL)

struct k_stmt *k_update_at(struct k_builder *b, const char *emitter, enum k_op op, struct k_expr *target,
			   struct k_expr *value);
struct k_stmt *k_value_at(struct k_builder *b, const char *emitter, enum k_stmt_kind kind, struct k_expr *value);

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

/* { */
#define k_begin(b) k_open((b), k_stmt((b)->arena, KS_BLOCK), EMITTER)
/* if (condition) { */
#define k_begin_if(b, condition) k_if_at((b), EMITTER, (condition), false)
/* if (condition), of the next statement alone, without braces: nothing to end. */
#define k_only_if(b, condition) k_if_at((b), EMITTER, (condition), true)
/* for (T name = first; name < bound; name += step) {: step NULL is 1. */
#define k_begin_for(b, type, name, first, bound, step) \
	k_for_at((b), EMITTER, (type), (name), (first), (bound), (step), false)
/* for (T name = first; name >= last; name -= step) { */
#define k_begin_down(b, type, name, first, last, step) \
	k_for_at((b), EMITTER, (type), (name), (first), (last), (step), true)
/* while (condition) {; for (before; condition; after) { with the statements that stmt->repeat is given. */
#define k_begin_while(b, condition) k_while_at((b), EMITTER, (condition))
/* In each thread of a team of so many. */
#define k_begin_parallel(b, threads) k_parallel_at((b), EMITTER, (threads))
#define k_end(b) k_close((b), EMITTER)
/* } else { */
#define k_begin_else(b) k_otherwise((b), EMITTER)

struct k_stmt *k_if_at(struct k_builder *b, const char *emitter, struct k_expr *condition, bool is_bare);
struct k_stmt *k_for_at(struct k_builder *b, const char *emitter, const char *type, const char *name,
			struct k_expr *first, struct k_expr *bound, struct k_expr *step, bool is_down);
struct k_stmt *k_while_at(struct k_builder *b, const char *emitter, struct k_expr *condition);
struct k_stmt *k_parallel_at(struct k_builder *b, const char *emitter, struct k_expr *threads);

/* A statement that stands alone, for `before` and `after` of a while. */
struct k_stmt *k_store_of(struct arena *arena, enum k_op op, struct k_expr *target, struct k_expr *value);
struct k_stmt *k_let_of(struct arena *arena, struct k_type type, const char *name, struct k_expr *value);
/* target++, target--; of K_ADD, K_SUB. */
struct k_stmt *k_step_of(struct arena *arena, enum k_op op, struct k_expr *target);

/* ---- expressions ---------------------------------------------------------------------------------------------- */

/* K_CALL(arena, "pmg_min_i64", a, b): arguments are expressions. */
#define K_CALL(arena, function, ...) k_call_of((arena), (function), K_ARGS(__VA_ARGS__))
/* K_LIST(arena, a, b): { a, b } */
#define K_LIST(arena, ...) k_list_of((arena), K_ARGS(__VA_ARGS__))

struct k_expr *k_call_of(struct arena *arena, const char *function, struct k_expr *const *args, int n);
struct k_expr *k_list_of(struct arena *arena, struct k_expr *const *items, int n);
/* f<constant>(…): an argument that the target's compiler must know. Returns the call. */
struct k_expr *k_with_constant(struct arena *arena, struct k_expr *call, struct k_expr *constant);
/* a op b, with parentheses around what binds looser. */
struct k_expr *k_operate(struct arena *arena, struct k_expr *a, enum k_op op, struct k_expr *b);
struct k_expr *k_address(struct arena *arena, struct k_expr *of);      /* &of */
/* left*right, where right may be a chain of products and quotients: read from the left. NULL*right is right. */
struct k_expr *k_times(struct arena *arena, struct k_expr *left, struct k_expr *right);
struct k_expr *k_string(struct arena *arena, const char *quoted);      /* text with its quotes */
/* name[index] */
struct k_expr *k_at(struct arena *arena, const char *name, struct k_expr *index);
/* Another call with more arguments, those that follow or the items of a list; more items of a list. */
#define K_WITH(arena, call, ...) k_with_args((arena), (call), K_ARGS(__VA_ARGS__))
struct k_expr *k_with_args(struct arena *arena, const struct k_expr *call, struct k_expr *const *args, int n);
struct k_expr *k_with_list(struct arena *arena, const struct k_expr *call, const struct k_expr *list);
/* "const T *restrict" of a buffer */
struct k_type k_buffer(const char *c_name, bool is_const, bool is_restrict);

#endif
