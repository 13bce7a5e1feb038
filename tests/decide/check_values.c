/* SPDX-License-Identifier: MIT
 *
 * Where values are: in memory, in a variable, in registers; and which routines of the runtime are called. */
#include "sentence_checks.h"

#include <string.h>

static const char *subject_c_name(const struct sentence *s)
{
	return c_name_of(s, s->decision->subject);
}

/* ---- arrays and variables ---- */

static const char *no_buffer(const struct sentence *s)
{
	const char *name = subject_c_name(s);

	return tree_has_buffer(s->tree, name) ? sentence_fail(s, "there is memory of the name '%s'", name) : NULL;
}

const char *check_array(const struct sentence *s)
{
	const char *name = subject_c_name(s);

	return tree_has_buffer(s->tree, name) ? NULL : sentence_fail(s, "there is no memory of the name '%s'", name);
}

/* Nothing of the name is declared at all. */
const char *check_inlined(const struct sentence *s)
{
	const char *name = subject_c_name(s);

	if (no_buffer(s))
		return no_buffer(s);
	return find_anywhere(s, is_store_to, name) >= 0 ? sentence_fail(s, "'%s' is stored", name) : NULL;
}

const char *check_in_register(const struct sentence *s)
{
	const char *name = subject_c_name(s);

	for (int i = 0; i < s->tree->nodes.n; i++) {
		const struct k_stmt *stmt = sentence_stmt(s, i);

		if (stmt->kind == KS_STORE && stmt->store.op != K_OP_N && span_equal(stmt->span, s->decision->span) &&
		    is_store_to(s, i, name) && tree_has_buffer(s->tree, stmt_target(stmt)) &&
		    find_around(s, i, is_loop_over, sentence_quoted(s, 0)) >= 0)
			return sentence_fail(s, "'%s' is updated in memory", name);
	}
	return NULL;
}

/* Of a thread: what it takes of the plan is at its own place. */
const char *check_of_thread(const struct sentence *s)
{
	const char *name = subject_c_name(s);

	for (int i = 0; i < s->tree->nodes.n; i++) {
		const struct k_stmt *stmt = sentence_stmt(s, i);

		if (stmt->kind == KS_LET && !strcmp(stmt->let.name, name) && stmt->let.type.is_pointer &&
		    !stmt_calls(stmt, "pmg_thread"))
			return sentence_fail(s, "'%s' is not of a thread", name);
	}
	return NULL;
}

/* ---- calls ---- */

const char *check_called(const struct sentence *s)
{
	const char *routine = s->decision->chosen, *quoted = strstr(s->decision->reason, "called");

	for (int i = 0; i < s->tree->nodes.n; i++) {
		const struct k_stmt *stmt = sentence_stmt(s, i);
		const char kinds[] = "sd";

		for (int k = 0; k < 2; k++)
			if (stmt_calls(stmt, sentence_fail(s, "pmg_cblas_%c%s", kinds[k], routine)))
				return quoted ? NULL : "how is it called?";
	}
	return sentence_fail(s, "no call of %s", routine);
}

static bool is_prefetch(const struct sentence *s, int node, const char *c_name)
{
	const struct k_stmt *stmt = sentence_stmt(s, node);

	return (stmt_effects(stmt) & K_CALL_IS_PREFETCH) && stmt_mentions(stmt, c_name);
}

const char *check_prefetch_of_cells(const struct sentence *s)
{
	return find_anywhere(s, is_prefetch, subject_c_name(s)) >= 0 ? NULL : "no prefetch of it";
}

static bool is_block_prefetch(const struct sentence *s, int node, const char *c_name)
{
	return stmt_calls(sentence_stmt(s, node), "pmg_prefetch") && mentions(s, node, c_name);
}

const char *check_prefetch_of_rows(const struct sentence *s)
{
	return find_anywhere(s, is_block_prefetch, subject_c_name(s)) >= 0 ? NULL : "no prefetch of it";
}

static bool is_nontemporal(const struct sentence *s, int node, const char *c_name)
{
	(void) c_name;
	return (stmt_effects(sentence_stmt(s, node)) & K_CALL_IS_NONTEMPORAL) != 0;
}

/* Whether the array is large, or where it is stored besides a block, if it is. */
static bool is_nontemporal_place(const struct sentence *s, int node, const char *c_name)
{
	const struct k_stmt *stmt = sentence_stmt(s, node);

	return stmt->kind == KS_LET && strstr(stmt->let.name, "nontemporal") &&
	       !strncmp(stmt->let.name, c_name, strlen(c_name));
}

/* To it, or to where it is besides a block; if it is large. */
const char *check_nontemporal(const struct sentence *s)
{
	const char *name = subject_c_name(s);

	if (find_anywhere(s, is_nontemporal, name) < 0)
		return "no non-temporal store";
	return find_anywhere(s, is_nontemporal_place, name) >= 0 ? NULL : "nobody asks whether it is large";
}

static bool is_pivot_search(const struct sentence *s, int node, const char *variable)
{
	return stmt_calls(sentence_stmt(s, node), "pmg_first_bad") && mentions(s, node, variable);
}

const char *check_pivot_search(const struct sentence *s)
{
	return find_anywhere(s, is_pivot_search, s->decision->subject) >= 0 ? NULL : "no search for the first one";
}

/* Rows stand where a pointer to those at hand says. */
const char *check_rows_at_a_time(const struct sentence *s)
{
	const char *rows = sentence_fail(s, "%s_rows", subject_c_name(s));

	return tree_has_buffer(s->tree, rows) ? NULL : sentence_fail(s, "there is no '%s'", rows);
}

/* What the inspector makes is read: offsets of segments, copies of what was sorted. */
static bool has_inspected(const struct sentence *s)
{
	for (int i = 0; i < s->module->arrays.n; i++) {
		const struct array *array = s->module->arrays.items[i];

		if (array->role == ROLE_INSPECTED && tree_has_buffer(s->tree, array->c_name))
			return true;
	}
	return false;
}

const char *check_restructured(const struct sentence *s)
{
	return has_inspected(s) ? NULL : "nothing of an inspector is read";
}

const char *check_not_restructured(const struct sentence *s)
{
	return has_inspected(s) ? "something of an inspector is read" : NULL;
}

/* ---- rows, blocks, windows ---- */

const char *check_in_row(const struct sentence *s)
{
	const char *row = sentence_fail(s, "%s_row", subject_c_name(s));

	for (int i = 0; i < s->tree->nodes.n; i++) {
		const struct k_stmt *stmt = sentence_stmt(s, i);

		if (stmt->kind == KS_LET && name_has_stem(stmt->let.name, row) && stmt->let.extents.n)
			return NULL;
	}
	return "no row of it";
}

const char *check_variable(const struct sentence *s)
{
	return no_buffer(s);
}

const char *check_part(const struct sentence *s)
{
	return check_array(s);
}

static bool winds(const struct sentence *s, int node, const char *name)
{
	const struct k_stmt *stmt = sentence_stmt(s, node);

	return mentions(s, node, name) && stmt_has(stmt, K_REM, sentence_number(s));
}

/* Subscripts wind around after so many rows. */
const char *check_window(const struct sentence *s)
{
	return find_anywhere(s, winds, subject_c_name(s)) >= 0 ? NULL
		: sentence_fail(s, "no subscript winds around %d rows", sentence_number(s));
}

/* It has no memory of its own; its values are in the block of another. */
const char *check_in_block_of(const struct sentence *s)
{
	const char *block = sentence_fail(s, "%s_block", c_name_of(s, sentence_quoted(s, 0)));

	if (no_buffer(s))
		return no_buffer(s);
	return tree_has_buffer(s->tree, block) ? NULL : sentence_fail(s, "there is no '%s'", block);
}

/* A cell of the device that several kernels have. */
const char *check_cell(const struct sentence *s)
{
	const char *name = subject_c_name(s);
	int n = 0;

	for (int f = 0; f < s->tree->program->functions.n; f++) {
		const struct k_function *function = s->tree->program->functions.items[f];

		for (int p = 0; p < function->params.n; p++)
			n += function->kind == K_FUNCTION_DEVICE && !strcmp(function->params.items[p].name, name);
	}
	return n >= 2 ? NULL : sentence_fail(s, "%d kernels have it", n);
}

/* ---- states ---- */

/* What is nothing but the next value, or a part of it, is not there. */
const char *check_next_value(const struct sentence *s)
{
	const char *gone = s->decision->kind == DECISION_NEXT_VALUES_COPY ? sentence_quoted(s, 0)
									   : s->decision->subject;

	return tree_has_buffer(s->tree, c_name_of(s, gone)) ? sentence_fail(s, "there is memory of '%s'", gone) : NULL;
}

static const struct array *next_of(const struct sentence *s)
{
	for (int i = 0; i < s->module->arrays.n; i++) {
		const struct array *array = s->module->arrays.items[i];

		if (array->role == ROLE_NEXT && !strcmp(array->owner->name, s->decision->subject))
			return array;
	}
	return NULL;
}

const char *check_in_place(const struct sentence *s)
{
	const char *next = sentence_fail(s, "%s_next", subject_c_name(s));

	return tree_has_buffer(s->tree, next) ? "there is another array" : NULL;
}

static bool sets(const struct sentence *s, int node, const char *from)
{
	const struct k_stmt *stmt = sentence_stmt(s, node);

	return stmt->kind == KS_STORE && is_store_to(s, node, subject_c_name(s)) && mentions(s, node, from);
}

const char *check_copied(const struct sentence *s)
{
	const struct array *next = next_of(s);

	if (!next)
		return "there are no next values";
	return find_anywhere(s, sets, next->c_name) >= 0 ? NULL : "nothing copies it";
}

const char *check_swapped(const struct sentence *s)
{
	const struct array *next = next_of(s);

	if (!next || !tree_has_buffer(s->tree, next->c_name))
		return "there is no other array";
	return find_anywhere(s, is_call_named, "pmg_swap") >= 0 ? NULL : "nothing swaps it";
}

/* ---- arithmetic ---- */

const char *check_divided(const struct sentence *s)
{
	const char *by = s->decision->chosen + strcspn(s->decision->chosen, "'") + 1;
	const char *name = arena_copy(s->tree->arena, by, strcspn(by, "'"));

	const char *kept = c_name_of(s, sentence_fail(s, "%s.%s", name, s->decision->subject));

	if (!strstr(s->decision->reason, "others read"))
		return NULL;
	return find_anywhere(s, is_store_to, kept) >= 0 ? NULL : sentence_fail(s, "nothing stores '%s'", kept);
}

const char *check_reciprocal(const struct sentence *s)
{
	const char *name = subject_c_name(s), *stem = stem_of_dim(s, s->decision->subject);

	for (int i = 0; i < s->tree->nodes.n; i++) {
		const struct k_stmt *stmt = sentence_stmt(s, i);

		if ((stmt->kind == KS_LET || stmt->kind == KS_STORE) &&
		    (is_of_group(s, i, s->decision->subject) || is_store_to(s, i, name) || is_store_to(s, i, stem) ||
		     name_has_stem(stmt->kind == KS_LET ? stmt->let.name : NULL, stem)) &&
		    (stmt_calls(stmt, "PMG_RECIPROCAL") || stmt_has(stmt, K_DIV, -1)))
			return NULL;
	}
	return "no reciprocal is stored";
}

/* Its variable, or a lane of it, gets terms one by one. */
const char *check_added(const struct sentence *s)
{
	const enum k_op op = s->decision->kind == DECISION_SUMS_TAKEN ? K_SUB : K_ADD;
	const char *name = stem_of_dim(s, s->decision->subject);

	for (int i = 0; i < s->tree->nodes.n; i++)
		if (is_store_to(s, i, name) && (sentence_stmt(s, i)->kind == KS_CALL ||
						sentence_stmt(s, i)->store.op == op))
			return NULL;
	return "nothing updates it so";
}

/* ---- points ---- */

const char *check_offsets(const struct sentence *s)
{
	return tree_has_buffer(s->tree, subject_c_name(s)) ? NULL : "it is not read";
}

const char *check_live(const struct sentence *s)
{
	const char *function = s->is_device ? "pmg_cuda_live_points" : "pmg_live_points";

	return find_anywhere(s, is_call_named, function) >= 0 ? NULL : "nothing looks for live points";
}

static bool asks(const struct sentence *s, int node, const char *name)
{
	const struct k_stmt *stmt = sentence_stmt(s, node);

	(void) name;
	return (stmt->kind == KS_IF || stmt->kind == KS_LET) && stmt_has(stmt, K_NE, -1);
}

const char *check_skipped(const struct sentence *s)
{
	for (int i = 0; i < s->tree->nodes.n; i++)
		if (is_of_group(s, i, s->decision->subject) &&
		    (find_around(s, i, asks, NULL) >= 0 || asks(s, i, NULL)))
			return NULL;
	return "nothing asks whether it is zero";
}
