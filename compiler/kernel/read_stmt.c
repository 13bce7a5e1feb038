/* SPDX-License-Identifier: MIT
 *
 * Lines of a dump as statements, without places and bodies. A line begins with a word that a blank or the end follows,
 * or it is a store: what is stored to goes on right behind its first name, or a sign of assignment comes. So no name of
 * a program is taken for a word. */
#include "kernel/read.h"

#include <string.h>

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

static void read_step(struct k_reader *r, struct k_store *store)
{
	store->is_step = true;
	store->op = k_is(r, "--") ? K_SUB : K_ADD;
	vec_push(r->arena, &store->targets, store->value);
	store->value = k_int(r->arena, 1);
	k_next(r);
}

/* What a sign of assignment follows is stored to, the last of them is the value. */
static void read_store(struct k_reader *r, struct k_store *store)
{
	store->value = k_read_unary(r);
	store->op = update_of(r);
	if (k_is(r, "++") || k_is(r, "--")) {
		read_step(r, store);
		return;
	}
	if (!is_assignment(r))
		k_fail(r, "this is no statement: '=' is missing");
	while (is_assignment(r)) {
		if (update_of(r) != store->op)
			k_fail(r, "one store has one sign of assignment");
		vec_push(r->arena, &store->targets, store->value);
		k_next(r);
		store->value = k_read_value(r);
	}
}

/* ---- declarations ---- */

const char *k_read_function_name(struct k_reader *r)
{
	const char *name = k_expect_name(r), *inner;
	struct k_reader ahead = *r;

	if (!name || !k_accept(&ahead, "(") || ahead.token.kind != K_TOKEN_NAME)
		return name;
	inner = k_expect_name(&ahead);
	if (!k_accept(&ahead, ")"))
		return name;
	*r = ahead;
	return arena_printf(r->arena, "%s(%s)", name, inner);
}

static void read_space(struct k_reader *r, enum k_space *space)
{
	for (int i = K_SPACE_MEMORY; i <= K_SPACE_THREAD; i++)
		if (k_accept(r, k_space_word((enum k_space) i))) {
			*space = (enum k_space) i;
			return;
		}
	k_fail(r, "where it is is missing: memory, registers, stack, shared or thread");
}

static void read_extents(struct k_reader *r, struct k_let *let)
{
	while (k_accept(r, "[")) {
		vec_push(r->arena, &let->extents, k_read_whole(r));
		k_expect(r, "]");
	}
	if (k_accept(r, "in"))
		read_space(r, &let->space);
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
static void read_let(struct k_reader *r, struct k_let *let, bool is_variable, bool is_array)
{
	let->is_variable = is_variable;
	let->name = k_read_typed_name(r, &let->type);
	read_extents(r, let);
	if (is_array != (let->extents.n > 0))
		k_fail(r, is_array ? "extents are missing" : "what has extents is an array or a table");
	if (k_accept(r, "="))
		let->value = k_read_value(r);
}

static bool is_let(const struct k_reader *r)
{
	for (const struct k_property *property = k_let_properties; property->word; property++)
		if (k_is(r, property->word))
			return true;
	return k_is(r, "let") || k_is(r, "var") || k_is(r, "array") || k_is(r, "table");
}

static void read_declaration(struct k_reader *r, struct k_let *let)
{
	for (const struct k_property *property = k_let_properties; property->word; property++)
		*(bool *) ((char *) let + property->offset) = k_accept(r, property->word);
	if (k_accept(r, "let"))
		read_let(r, let, false, false);
	else if (k_accept(r, "var"))
		read_let(r, let, true, false);
	else if (k_accept(r, "array"))
		read_let(r, let, true, true);
	else if (k_expect(r, "table"))
		read_let(r, let, false, true);
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
static void read_loop(struct k_reader *r, struct k_loop *loop)
{
	loop->name = k_read_typed_name(r, &loop->type);
	k_expect(r, "from");
	loop->first = k_read_whole(r);
	loop->is_down = k_accept(r, "down");
	k_expect(r, loop->is_down ? "to" : "below");
	loop->bound = k_read_whole(r);
	if (k_accept(r, "step"))
		loop->step = k_read_whole(r);
	while (k_accept(r, ","))
		read_property_of_loop(r, loop);
}

static void read_while(struct k_reader *r, struct k_while *repeat)
{
	repeat->condition = k_read_whole(r);
	while (k_accept(r, ","))
		if (k_accept(r, "broken"))
			repeat->is_broken = true;
		else if (!accept_kind(r, &repeat->kind))
			k_fail(r, "this is said of no loop");
}

/* ---- other statements ---- */

static void read_if(struct k_reader *r, struct k_if *branch)
{
	branch->condition = k_read_whole(r);
	branch->is_bare = k_accept(r, ",") && k_expect(r, "bare");
}

/* [part NAME [, apart]] */
static void read_block(struct k_reader *r, struct k_stmt *stmt)
{
	if (!k_accept(r, "part"))
		return;
	stmt->part = k_read_function_name(r);
	stmt->is_apart = k_accept(r, ",") && k_expect(r, "apart");
}

static void read_record(struct k_reader *r, struct k_record *record)
{
	record->name = k_expect_name(r);
	if (k_accept(r, ",") && k_expect(r, "alignment"))
		record->alignment = k_read_whole(r);
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

static const char *read_comment(struct k_reader *r)
{
	const struct k_token token = r->token;

	if (token.kind != K_TOKEN_STRING)
		k_fail(r, "the text in quotes is missing");
	k_next(r);
	return token.kind == K_TOKEN_STRING ? text_of_string(r->arena, &token) : NULL;
}

static struct k_expr *read_called(struct k_reader *r)
{
	struct k_expr *call = k_read_whole(r);

	if (call && call->kind != KE_CALL && call->kind != KE_NAME)
		k_fail(r, "this calls nothing");
	return call;
}

/* ---- by the word ---- */

/* Behind the word of its kind. */
static void read_kind(struct k_reader *r, struct k_stmt *stmt)
{
	switch (stmt->kind) {
	case KS_LET: read_declaration(r, &stmt->let); break;
	case KS_STORE: read_store(r, &stmt->store); break;
	case KS_LOOP: read_loop(r, &stmt->loop); break;
	case KS_WHILE: read_while(r, &stmt->repeat); break;
	case KS_IF: read_if(r, &stmt->branch); break;
	case KS_CALL: stmt->value = read_called(r); break;
	case KS_RETURN: stmt->value = r->token.kind == K_TOKEN_END || k_is(r, "@") ? NULL : k_read_whole(r); break;
	case KS_PARALLEL:
	case KS_UNUSED: stmt->value = k_read_whole(r); break;
	case KS_RECORD: read_record(r, &stmt->record); break;
	case KS_COMMENT: stmt->text = read_comment(r); break;
	case KS_BLOCK: read_block(r, stmt); break;
	case KS_BREAK:
	case KS_CONTINUE:
	case KS_BLANK:
	case KS_N: break;
	}
}

/* Takes the words that a store has ahead of it; false: there are none. */
static bool accept_words_of_store(struct k_reader *r, struct k_store *store)
{
	store->is_interim = k_accept(r, "interim");
	for (int mode = K_STORE_PLAIN + 1; mode <= K_STORE_NONTEMPORAL && !store->is_interim; mode++)
		if (k_accept(r, k_mode_word((enum k_store_mode) mode))) {
			store->mode = (enum k_store_mode) mode;
			return true;
		}
	return store->is_interim;
}

/* KS_N: no statement begins so. */
static enum k_stmt_kind accept_kind_of_stmt(struct k_reader *r)
{
	for (int kind = 0; kind < KS_N; kind++)
		if (k_stmt_word((enum k_stmt_kind) kind) && k_accept(r, k_stmt_word((enum k_stmt_kind) kind)))
			return (enum k_stmt_kind) kind;
	return KS_N;
}

struct k_stmt *k_read_stmt(struct k_reader *r)
{
	struct k_stmt *stmt = k_stmt(r->arena, KS_STORE);

	if (!begins_store(r) && !accept_words_of_store(r, &stmt->store))
		stmt = k_stmt(r->arena, is_let(r) ? KS_LET : accept_kind_of_stmt(r));
	if (stmt->kind == KS_N)
		k_fail(r, "no statement begins so");
	read_kind(r, stmt);
	return r->error ? NULL : stmt;
}
