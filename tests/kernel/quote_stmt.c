/* SPDX-License-Identifier: MIT
 *
 * Statements in C text: declarations, stores, calls, heads of blocks. A declaration begins with a qualifier or with two
 * names, with a `*` between them or none; so no expression statement is taken for one. */
#include "kernel/quote.h"

#include <string.h>

/* ---- declarations ---- */

bool quote_is_declaration(const struct k_reader *r)
{
	struct k_reader ahead = *r;
	struct k_type type;

	if (k_is(r, "const") || k_is(r, "constexpr") || k_is(r, "auto"))
		return true;
	return k_read_type(&ahead, &type) && ahead.token.kind == K_TOKEN_NAME;
}

static bool is_of_registers(const struct k_type *type)
{
	return !strncmp(type->name, "pmg_vector_", 11) && !type->is_pointer;
}

/* [n][m] */
static bool read_extents(struct k_reader *r, struct k_let *let)
{
	while (k_accept(r, "[")) {
		struct k_expr *extent = k_read_whole(r);

		if (!extent || !k_expect(r, "]"))
			return false;
		vec_push(r->arena, &let->extents, extent);
	}
	if (let->extents.n)
		let->space = is_of_registers(&let->type) ? K_SPACE_REGISTERS : K_SPACE_STACK;
	return true;
}

/* Pointers may move unless they are the only way to what they point to. */
static bool may_change(const struct k_type *type)
{
	return type->is_pointer ? !type->is_restrict : !type->is_const;
}

static bool read_declarator(struct k_reader *r, struct k_let *let)
{
	let->name = k_expect_name(r);
	let->is_variable = may_change(&let->type);
	if (!let->name || !read_extents(r, let))
		return false;
	if (!k_accept(r, "="))
		return true;
	let->value = k_read_value(r);
	return let->value != NULL;
}

/* What each name of a line has for itself: as the first one. */
static bool accept_pointer(struct k_reader *r, const struct k_type *type)
{
	const bool is_pointer = k_accept(r, "*");

	return is_pointer == type->is_pointer &&
	       (!is_pointer || (k_accept(r, "restrict") || k_accept(r, "__restrict__")) == type->is_restrict);
}

bool quote_read_declaration(struct k_reader *r, struct k_block *out)
{
	bool is_known = k_accept(r, "constexpr"), is_joined = false;
	struct k_type type;

	if (!k_read_type(r, &type)) {
		k_fail(r, "a type is missing");
		return false;
	}
	type.is_const |= is_known;
	do {
		struct k_stmt *stmt = k_stmt(r->arena, KS_LET);

		if (is_joined && !accept_pointer(r, &type))
			k_fail(r, "pointers and others are declared apart");
		stmt->let.type = type;
		stmt->let.is_known = is_known;
		stmt->let.is_joined = is_joined;
		if (!read_declarator(r, &stmt->let))
			return false;
		vec_push(r->arena, &out->stmts, stmt);
		is_joined = true;
	} while (k_accept(r, ","));
	return k_expect(r, ";");
}

/* ---- stores and calls ---- */

static struct k_stmt *store_of(struct k_reader *r, struct k_expr *target, enum k_op op)
{
	struct k_stmt *stmt = k_stmt(r->arena, KS_STORE);

	stmt->store.op = op;
	vec_push(r->arena, &stmt->store.targets, target);
	return stmt;
}

/* What can be stored to; a call is one of a macro. */
static bool is_target(const struct k_expr *expr)
{
	return expr->kind == KE_NAME || expr->kind == KE_LOAD || expr->kind == KE_MEMBER || expr->kind == KE_CALL ||
	       (expr->kind == KE_UNARY && expr->op == K_CONTENT);
}

/* Behind the `=`: what is followed by another one is a target, too. */
static struct k_stmt *read_set(struct k_reader *r, struct k_stmt *stmt)
{
	while ((stmt->store.value = k_read_value(r)) != NULL && k_accept(r, "=")) {
		if (!is_target(stmt->store.value))
			k_fail(r, "this cannot be stored to");
		vec_push(r->arena, &stmt->store.targets, stmt->store.value);
	}
	return stmt->store.value ? stmt : NULL;
}

static struct k_stmt *step_of(struct k_reader *r, struct k_expr *target, enum k_op op)
{
	struct k_stmt *stmt = store_of(r, target, op);

	stmt->store.is_step = true;
	stmt->store.value = k_int(r->arena, 1);
	return stmt;
}

/* K_OP_N: no update is spelled so. */
static enum k_op update_of(const struct k_reader *r)
{
	static const enum k_op ops[] = { K_ADD, K_SUB, K_MUL, K_DIV, K_REM, K_BIT_OR, K_BIT_AND, K_SHIFT };

	for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
		if (k_is(r, arena_printf(r->arena, "%s=", k_op_text(ops[i]))))
			return ops[i];
	return K_OP_N;
}

static struct k_stmt *read_update(struct k_reader *r, struct k_expr *target, enum k_op op)
{
	struct k_stmt *stmt = store_of(r, target, op);

	k_next(r);
	stmt->store.value = k_read_whole(r);
	return stmt->store.value ? stmt : NULL;
}

static struct k_stmt *call_of(struct k_reader *r, struct k_expr *value)
{
	struct k_stmt *stmt = k_stmt(r->arena, KS_CALL);

	if (value->is_grouped || (value->kind != KE_CALL && value->kind != KE_NAME)) {
		k_fail(r, "this has no effect");
		return NULL;
	}
	stmt->value = value;
	return stmt;
}

struct k_stmt *quote_read_effect(struct k_reader *r)
{
	struct k_expr *target = k_read_unary(r);
	enum k_op op;

	if (!target || !is_target(target)) {
		k_fail(r, "a statement is missing");
		return NULL;
	}
	if (k_accept(r, "="))
		return read_set(r, store_of(r, target, K_OP_N));
	if (k_accept(r, "++"))
		return step_of(r, target, K_ADD);
	if (k_accept(r, "--"))
		return step_of(r, target, K_SUB);
	op = update_of(r);
	return op != K_OP_N ? read_update(r, target, op) : call_of(r, target);
}

/* ---- heads of blocks ---- */

/* `{`, which opens it, or one statement, or nothing yet. */
static bool read_body_of_if(struct k_reader *r, struct k_stmt *stmt, struct quoted *out)
{
	struct quoted body = { 0 };

	out->opens = k_accept(r, "{");
	stmt->branch.is_bare = !out->opens;
	if (out->opens || r->token.kind == K_TOKEN_END)
		return !r->error;
	if (!quote_read(r, &body))
		return false;
	if (body.opens || body.stmts.stmts.n != 1)
		k_fail(r, "one statement is expected behind an if");
	stmt->branch.then = body.stmts;
	return !r->error;
}

static bool read_if(struct k_reader *r, struct quoted *out)
{
	struct k_stmt *stmt;

	if (!k_expect(r, "("))
		return false;
	if (quote_is_declaration(r)) {
		stmt = quote_read_single(r);
		out->opens = stmt && k_accept(r, "{");
		out->guards = stmt && !out->opens;
	} else {
		stmt = k_stmt(r->arena, KS_IF);
		stmt->branch.condition = k_read_whole(r);
		if (!stmt->branch.condition || !k_expect(r, ")") || !read_body_of_if(r, stmt, out))
			return false;
	}
	if (stmt)
		vec_push(r->arena, &out->stmts.stmts, stmt);
	return !r->error;
}

/* struct alignas(8) name */
static struct k_stmt *read_record(struct k_reader *r)
{
	struct k_stmt *stmt = k_stmt(r->arena, KS_RECORD);

	if (k_accept(r, "alignas")) {
		if (!k_expect(r, "("))
			return NULL;
		stmt->record.alignment = k_read_whole(r);
		if (!stmt->record.alignment || !k_expect(r, ")"))
			return NULL;
	}
	stmt->record.name = k_expect_name(r);
	return stmt->record.name ? stmt : NULL;
}

static bool read_opening(struct k_reader *r, struct k_stmt *stmt, struct quoted *out)
{
	if (!stmt || !k_expect(r, "{"))
		return false;
	out->opens = true;
	vec_push(r->arena, &out->stmts.stmts, stmt);
	return true;
}

/* One without braces has one statement, in the next line. */
static bool read_loop(struct k_reader *r, struct k_stmt *stmt, struct quoted *out)
{
	if (stmt && r->token.kind != K_TOKEN_END)
		return read_opening(r, stmt, out);
	out->guards = stmt;
	if (stmt)
		vec_push(r->arena, &out->stmts.stmts, stmt);
	return stmt;
}

/* ---- one statement ---- */

static bool read_plain(struct k_reader *r, struct k_stmt *stmt, struct quoted *out)
{
	if (!stmt || !k_expect(r, ";"))
		return false;
	vec_push(r->arena, &out->stmts.stmts, stmt);
	return true;
}

static struct k_stmt *read_return(struct k_reader *r)
{
	struct k_stmt *stmt = k_stmt(r->arena, KS_RETURN);

	if (k_is(r, ";"))
		return stmt;
	stmt->value = k_read_whole(r);
	return stmt->value ? stmt : NULL;
}

/* (void) x */
static bool is_unused(const struct k_reader *r)
{
	struct k_reader ahead = *r;

	return k_accept(&ahead, "(") && k_accept(&ahead, "void") && k_is(&ahead, ")");
}

static struct k_stmt *read_unused(struct k_reader *r)
{
	struct k_stmt *stmt = k_stmt(r->arena, KS_UNUSED);

	k_next(r);
	k_next(r);
	k_next(r);
	stmt->value = k_read_unary(r);
	return stmt->value ? stmt : NULL;
}

static bool read_one(struct k_reader *r, struct quoted *out)
{
	if (k_is(r, "{"))
		return read_opening(r, k_stmt(r->arena, KS_BLOCK), out);
	if (k_accept(r, "if"))
		return read_if(r, out);
	if (k_accept(r, "for"))
		return read_loop(r, quote_read_for(r), out);
	if (k_accept(r, "while"))
		return read_loop(r, quote_read_while(r), out);
	if (k_accept(r, "struct"))
		return read_opening(r, read_record(r), out);
	if (k_accept(r, "return"))
		return read_plain(r, read_return(r), out);
	if (k_accept(r, "break"))
		return read_plain(r, k_stmt(r->arena, KS_BREAK), out);
	if (k_accept(r, "continue"))
		return read_plain(r, k_stmt(r->arena, KS_CONTINUE), out);
	if (is_unused(r))
		return read_plain(r, read_unused(r), out);
	if (quote_is_declaration(r))
		return quote_read_declaration(r, &out->stmts);
	return read_plain(r, quote_read_effect(r), out);
}

bool quote_read(struct k_reader *r, struct quoted *out)
{
	bool is_read;

	if (++r->depth > 100)
		k_fail(r, "this is nested too deep");
	is_read = read_one(r, out);
	r->depth--;
	return is_read && !r->error;
}

struct k_stmt *quote_stmt(struct arena *arena, const char *text, const char **error)
{
	struct k_reader r = k_reader_new(arena, text);
	struct quoted quoted = { 0 };

	quote_read(&r, &quoted);
	if (!r.error && (r.token.kind != K_TOKEN_END || quoted.stmts.stmts.n != 1))
		k_fail(&r, "there is more than one statement");
	*error = r.error;
	return r.error ? NULL : quoted.stmts.stmts.items[0];
}
