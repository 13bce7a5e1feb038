/* SPDX-License-Identifier: MIT
 *
 * Lines of a dump as statements, without places and bodies. A line begins with a word that a blank or the end follows,
 * or it is a store: what is stored to goes on right behind its first name, or a sign of assignment comes. So no name of
 * a program is taken for a word. */
#include "kernel/read.h"

#include <string.h>

static struct k_stmt *wrong(struct k_reader *r, const char *what)
{
	k_fail(r, what);
	return NULL;
}

/* ---- stores ---- */

/* K_OP_N: no update is spelled so. */
static enum k_op update_of(const struct k_reader *r)
{
	static const struct { const char *text; enum k_op op; } updates[] = {
		{ "+=", K_ADD }, { "-=", K_SUB }, { "*=", K_MUL }, { "/=", K_DIV }, { "%=", K_REM },
		{ "|=", K_BIT_OR }, { "&=", K_BIT_AND }, { ">>=", K_SHIFT }
	};

	for (size_t i = 0; i < sizeof updates / sizeof *updates; i++)
		if (k_is(r, updates[i].text))
			return updates[i].op;
	return K_OP_N;
}

static bool is_assignment(const struct k_reader *r)
{
	return k_is(r, "=") || update_of(r) != K_OP_N;
}

static bool begins_store(const struct k_reader *r)
{
	struct k_reader ahead = *r;

	if (r->token.kind == K_TOKEN_END)
		return false;
	if (r->token.kind != K_TOKEN_NAME)
		return true;
	k_next(&ahead);
	return is_assignment(&ahead) || (ahead.token.kind == K_TOKEN_MARK && !ahead.token.is_spaced);
}

static struct k_stmt *read_step(struct k_reader *r, struct k_stmt *stmt)
{
	stmt->store.is_step = true;
	stmt->store.op = k_is(r, "--") ? K_SUB : K_ADD;
	stmt->store.value = k_int(r->arena, 1);
	k_next(r);
	return stmt;
}

/* What a sign of assignment follows is stored to, the last of them is the value. */
static struct k_stmt *read_store(struct k_reader *r, enum k_store_mode mode)
{
	struct k_stmt *stmt = k_stmt(r->arena, KS_STORE);
	struct k_store *store = &stmt->store;

	store->mode = mode;
	store->value = k_read_unary(r);
	if (store->value && !is_assignment(r) && !k_is(r, "++") && !k_is(r, "--"))
		return wrong(r, "this is no statement: '=' is missing");
	store->op = update_of(r);
	while (store->value && !r->error) {
		if (!is_assignment(r) && store->targets.n)
			return stmt;
		vec_push(r->arena, &store->targets, store->value);
		if (!is_assignment(r))
			return read_step(r, stmt);
		if (update_of(r) != store->op)
			return wrong(r, "one store has one sign of assignment");
		k_next(r);
		store->value = k_read_value(r);
	}
	return NULL;
}

/* ---- declarations ---- */

static bool read_space(struct k_reader *r, enum k_space *space)
{
	for (int i = K_SPACE_MEMORY; i <= K_SPACE_THREAD; i++)
		if (k_accept(r, k_space_word((enum k_space) i))) {
			*space = (enum k_space) i;
			return true;
		}
	return wrong(r, "where it is is missing: memory, registers, stack, shared or thread");
}

static bool read_extents(struct k_reader *r, struct k_let *let)
{
	while (k_accept(r, "[")) {
		struct k_expr *extent = k_read_whole(r);

		if (!extent || !k_expect(r, "]"))
			return false;
		vec_push(r->arena, &let->extents, extent);
	}
	return !k_accept(r, "in") || read_space(r, &let->space);
}

const char *k_read_typed_name(struct k_reader *r, struct k_type *type)
{
	const char *name = k_expect_name(r);

	if (!name || !k_expect(r, ":"))
		return NULL;
	if (!k_read_type(r, type))
		k_fail(r, "a type is missing");
	return r->error ? NULL : name;
}

/* Behind the word. */
static struct k_stmt *read_let(struct k_reader *r, struct k_stmt *stmt, bool is_variable, bool is_array)
{
	struct k_let *let = &stmt->let;

	let->is_variable = is_variable;
	let->name = k_read_typed_name(r, &let->type);
	if (!let->name || !read_extents(r, let))
		return NULL;
	if (is_array != (let->extents.n > 0))
		return wrong(r, is_array ? "extents are missing" : "what has extents is an array or a table");
	if (!k_accept(r, "="))
		return stmt;
	let->value = k_read_value(r);
	return let->value ? stmt : NULL;
}

static bool is_let(const struct k_reader *r)
{
	for (const struct k_property *property = k_let_properties; property->word; property++)
		if (k_is(r, property->word))
			return true;
	return k_is(r, "let") || k_is(r, "var") || k_is(r, "array") || k_is(r, "table");
}

static struct k_stmt *read_declaration(struct k_reader *r)
{
	struct k_stmt *stmt = k_stmt(r->arena, KS_LET);

	for (const struct k_property *property = k_let_properties; property->word; property++)
		*(bool *) ((char *) &stmt->let + property->offset) = k_accept(r, property->word);
	if (k_accept(r, "let"))
		return read_let(r, stmt, false, false);
	if (k_accept(r, "var"))
		return read_let(r, stmt, true, false);
	if (k_accept(r, "array"))
		return read_let(r, stmt, true, true);
	return k_expect(r, "table") ? read_let(r, stmt, false, true) : NULL;
}

/* ---- what may follow a head behind commas ---- */

static bool accept_kind(struct k_reader *r, enum k_loop_kind *kind)
{
	for (int i = K_LOOP_SERIAL + 1; i < K_LOOP_KIND_N; i++)
		if (k_accept(r, k_loop_word((enum k_loop_kind) i))) {
			*kind = (enum k_loop_kind) i;
			return true;
		}
	return false;
}

/* What is wrong behind its word is left in the reader. */
static bool accept_property(struct k_reader *r, struct k_loop *loop)
{
	const struct k_property *property = k_loop_properties;
	char *at;

	while (property->word && !k_accept(r, property->word))
		property++;
	at = (char *) loop + property->offset;
	if (property->word && property->is_flag)
		*(bool *) at = true;
	else if (property->word)
		*(struct k_expr **) at = k_read_whole(r);
	return property->word;
}

/* reduce OP NAME, behind the word */
static void read_reduction(struct k_reader *r, struct k_loop *loop)
{
	struct k_reduction reduction = { 0 };

	if (r->token.kind != K_TOKEN_NAME && r->token.kind != K_TOKEN_MARK)
		k_fail(r, "how to reduce is missing");
	reduction.op = arena_copy(r->arena, r->token.text, r->token.length);
	k_next(r);
	reduction.name = k_expect_name(r);
	vec_push(r->arena, &loop->reductions, reduction);
}

static void read_property_of_loop(struct k_reader *r, struct k_loop *loop)
{
	if (k_accept(r, "reduce"))
		read_reduction(r, loop);
	else if (!accept_kind(r, &loop->kind) && !accept_property(r, loop))
		k_fail(r, "this is said of no loop");
}

/* ---- loops ---- */

/* below BOUND, down to BOUND */
static bool read_bound(struct k_reader *r, struct k_loop *loop)
{
	loop->is_down = k_accept(r, "down");
	if (!k_expect(r, loop->is_down ? "to" : "below"))
		return false;
	loop->bound = k_read_whole(r);
	return loop->bound;
}

static struct k_stmt *read_loop(struct k_reader *r, struct k_stmt *stmt)
{
	struct k_loop *loop = &stmt->loop;

	loop->name = k_read_typed_name(r, &loop->type);
	if (!loop->name || !k_expect(r, "from"))
		return NULL;
	loop->first = k_read_whole(r);
	if (!loop->first || !read_bound(r, loop))
		return NULL;
	if (k_accept(r, "step"))
		loop->step = k_read_whole(r);
	while (k_accept(r, ","))
		read_property_of_loop(r, loop);
	return stmt;
}

static struct k_stmt *read_while(struct k_reader *r, struct k_stmt *stmt)
{
	struct k_while *repeat = &stmt->repeat;

	repeat->condition = k_read_whole(r);
	while (k_accept(r, ","))
		if (k_accept(r, "broken"))
			repeat->is_broken = true;
		else if (!accept_kind(r, &repeat->kind))
			k_fail(r, "this is said of no loop");
	return stmt;
}

/* ---- other statements ---- */

static struct k_stmt *read_if(struct k_reader *r, struct k_stmt *stmt)
{
	stmt->branch.condition = k_read_whole(r);
	stmt->branch.is_bare = k_accept(r, ",") && k_expect(r, "bare");
	return stmt;
}

static struct k_stmt *read_record(struct k_reader *r, struct k_stmt *stmt)
{
	stmt->record.name = k_expect_name(r);
	if (k_accept(r, ",") && k_expect(r, "alignment"))
		stmt->record.alignment = k_read_whole(r);
	return stmt;
}

static char unescaped(char c)
{
	return c == 'n' ? '\n' : c == 't' ? '\t' : c;
}

/* Of a token with its quotes. */
static const char *text_of_string(struct arena *arena, const struct k_token *token)
{
	char *text = arena_copy(arena, token->text, token->length);
	size_t n = 0;

	for (size_t i = 1; i + 1 < token->length; i++) {
		const bool is_escape = token->text[i] == '\\';

		i += is_escape;
		text[n++] = is_escape ? unescaped(token->text[i]) : token->text[i];
	}
	text[n] = '\0';
	return text;
}

static struct k_stmt *read_comment(struct k_reader *r, struct k_stmt *stmt)
{
	if (r->token.kind != K_TOKEN_STRING)
		return wrong(r, "the text in quotes is missing");
	stmt->text = text_of_string(r->arena, &r->token);
	k_next(r);
	return stmt;
}

static struct k_stmt *read_return(struct k_reader *r, struct k_stmt *stmt)
{
	if (r->token.kind != K_TOKEN_END && !k_is(r, "@"))
		stmt->value = k_read_whole(r);
	return stmt;
}

static struct k_stmt *read_call(struct k_reader *r, struct k_stmt *stmt)
{
	stmt->value = k_read_whole(r);
	if (stmt->value && stmt->value->kind != KE_CALL && stmt->value->kind != KE_NAME)
		return wrong(r, "this calls nothing");
	return stmt;
}

/* ---- by the word ---- */

/* Behind the word of its kind. */
static struct k_stmt *read_kind(struct k_reader *r, struct k_stmt *stmt)
{
	switch (stmt->kind) {
	case KS_LOOP: return read_loop(r, stmt);
	case KS_WHILE: return read_while(r, stmt);
	case KS_IF: return read_if(r, stmt);
	case KS_CALL: return read_call(r, stmt);
	case KS_PARALLEL:
	case KS_UNUSED: stmt->value = k_read_whole(r); break;
	case KS_RETURN: return read_return(r, stmt);
	case KS_RECORD: return read_record(r, stmt);
	case KS_COMMENT: return read_comment(r, stmt);
	case KS_BLOCK:
	case KS_BREAK:
	case KS_CONTINUE:
	case KS_BLANK:
	case KS_LET:
	case KS_STORE:
	case KS_N: break;
	}
	return stmt;
}

/* Behind `interim`. */
static struct k_stmt *read_interim(struct k_reader *r)
{
	struct k_stmt *stmt = read_store(r, K_STORE_PLAIN);

	if (stmt)
		stmt->store.is_interim = true;
	return stmt;
}

static struct k_stmt *read_word(struct k_reader *r)
{
	if (k_accept(r, "interim"))
		return read_interim(r);
	for (int mode = K_STORE_PLAIN + 1; mode <= K_STORE_NONTEMPORAL; mode++)
		if (k_accept(r, k_mode_word((enum k_store_mode) mode)))
			return read_store(r, (enum k_store_mode) mode);
	if (is_let(r))
		return read_declaration(r);
	for (int kind = 0; kind < KS_N; kind++)
		if (k_stmt_word((enum k_stmt_kind) kind) && k_accept(r, k_stmt_word((enum k_stmt_kind) kind)))
			return read_kind(r, k_stmt(r->arena, (enum k_stmt_kind) kind));
	return wrong(r, "no statement begins so");
}

struct k_stmt *k_read_stmt(struct k_reader *r)
{
	struct k_stmt *stmt = begins_store(r) ? read_store(r, K_STORE_PLAIN) : read_word(r);

	return r->error ? NULL : stmt;
}
