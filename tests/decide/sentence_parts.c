/* SPDX-License-Identifier: MIT
 *
 * What a sentence names, found in the module and in the tree. Loops and statements of a group are those with a span of
 * one of its stages. */
#include "sentence_parts.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- of the sentence ---- */

const char *sentence_quoted(const struct sentence *s, int n)
{
	const char *at = sentence_fail(s, "%s %s", s->decision->chosen, s->decision->reason);

	for (; (at = strchr(at, '\'')); n--) {
		const size_t length = strcspn(at + 1, "'");

		if (at[length + 1] == '\0')
			return NULL;
		if (n == 0)
			return arena_copy(s->tree->arena, at + 1, length);
		at += length + 2;
	}
	return NULL;
}

int sentence_number(const struct sentence *s)
{
	const char *digit = s->decision->chosen + strcspn(s->decision->chosen, "0123456789");

	return *digit ? (int) strtol(digit, NULL, 10) : -1;
}

const struct k_stmt *sentence_stmt(const struct sentence *s, int node)
{
	return s->tree->nodes.items[node].stmt;
}

const char *sentence_fail(const struct sentence *s, const char *format, ...)
{
	const char *text;
	va_list args;

	va_start(args, format);
	text = arena_vprintf(s->tree->arena, format, args);
	va_end(args);
	return text;
}

/* ---- of the module ---- */

bool group_has_span(const struct module *module, const char *group, struct span span)
{
	for (int i = 0; group && i < module->stages.n; i++) {
		const struct stage *stage = module->stages.items[i];

		if ((!strcmp(stage->group->name, group) || !strcmp(stage->write.array->name, group)) &&
		    (span_equal(stage->span, span) || span_equal(stage->group->span, span)))
			return true;
	}
	return false;
}

const char *stem_of_dim(const struct sentence *s, const char *dim)
{
	const char *dot = strrchr(dim = dim ? dim : "?", '.');
	char *stem = arena_copy(s->tree->arena, dot ? dot + 1 : dim, strlen(dot ? dot + 1 : dim));

	for (char *c = stem; *c; c++)
		if (!isalnum((unsigned char) *c))
			*c = '_';
	return stem;
}

const char *c_name_of(const struct sentence *s, const char *name)
{
	const struct array *array = name ? module_find_array(s->module, name) : NULL;

	return array ? array->c_name : stem_of_dim(s, name);
}

/* ---- of the tree ---- */

static bool is_buffer(const struct k_stmt *stmt, const char *c_name)
{
	return stmt->kind == KS_LET && !strcmp(stmt->let.name, c_name) && stmt->let.type.is_pointer;
}

bool tree_has_buffer(const struct tree *tree, const char *c_name)
{
	for (int i = 0; i < tree->nodes.n; i++)
		if (is_buffer(tree->nodes.items[i].stmt, c_name))
			return true;
	for (int f = 0; f < tree->program->functions.n; f++) {
		const struct k_function *function = tree->program->functions.items[f];

		for (int p = 0; p < function->params.n; p++)
			if (!strcmp(function->params.items[p].name, c_name))
				return true;
	}
	return false;
}

int find_node(const struct sentence *s, int first, int end, node_test *test, const char *name)
{
	for (int i = first; i < end; i++)
		if (test(s, i, name))
			return i;
	return -1;
}

int find_anywhere(const struct sentence *s, node_test *test, const char *name)
{
	return find_node(s, 0, s->tree->nodes.n, test, name);
}

int find_inside(const struct sentence *s, int node, node_test *test, const char *name)
{
	return find_node(s, node + 1, s->tree->nodes.items[node].end, test, name);
}

int find_around(const struct sentence *s, int node, node_test *test, const char *name)
{
	for (int i = s->tree->nodes.items[node].parent; i >= 0; i = s->tree->nodes.items[i].parent)
		if (test(s, i, name))
			return i;
	return -1;
}

/* ---- tests ---- */

bool is_loop_over(const struct sentence *s, int node, const char *dim)
{
	return name_has_stem(loop_name(sentence_stmt(s, node)), stem_of_dim(s, dim));
}

bool is_of_group(const struct sentence *s, int node, const char *group)
{
	return group_has_span(s->module, group, sentence_stmt(s, node)->span);
}

bool is_loop_of_subject(const struct sentence *s, int node, const char *dim)
{
	return is_loop_over(s, node, dim) && is_of_group(s, node, s->decision->subject);
}

bool is_shared(const struct sentence *s, int node, const char *name)
{
	(void) name;
	return stmt_is_shared(sentence_stmt(s, node));
}

bool is_shared_loop(const struct sentence *s, int node, const char *dim)
{
	const int around = find_around(s, node, is_shared, NULL);

	if (!is_loop_of_subject(s, node, dim))
		return false;
	return stmt_is_shared(sentence_stmt(s, node)) ||
	       (around >= 0 && name_has_stem(loop_name(sentence_stmt(s, around)), "part"));
}

bool is_of_lanes(const struct sentence *s, int node, const char *dim)
{
	return is_loop_of_subject(s, node, dim) &&
	       (stmt_is_of_lanes(sentence_stmt(s, node)) || sentence_stmt(s, node)->loop.kind == K_LOOP_GRID);
}

bool is_atomic_on(const struct sentence *s, int node, const char *c_name)
{
	const char *target = stmt_target(sentence_stmt(s, node));

	return stmt_is_atomic(sentence_stmt(s, node)) && target && !strcmp(target, c_name);
}

bool is_store_to(const struct sentence *s, int node, const char *c_name)
{
	return name_has_stem(stmt_target(sentence_stmt(s, node)), c_name);
}

bool is_call_named(const struct sentence *s, int node, const char *prefix)
{
	return stmt_calls(sentence_stmt(s, node), prefix);
}

bool mentions(const struct sentence *s, int node, const char *c_name)
{
	return stmt_mentions(sentence_stmt(s, node), c_name);
}
