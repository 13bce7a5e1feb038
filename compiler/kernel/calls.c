/* SPDX-License-Identifier: MIT
 *
 * The table of calls.def: which functions and macros the runtime has, what they read and write, and of which type their
 * values are. A family of functions that differ in their element type is one row. */
#include <ctype.h>
#include <string.h>

#include "kernel/kernel_private.h"

enum { DISTINCT = sizeof "pmg_" - 1 };  /* where most names begin to differ; wildcards stand there or behind it */

/* So that each name of the tables has a character there. */
#define PADDED(name) name "\0\0\0\0"

static const struct k_callee callees[] = {
#define K_CALL(name, result, arguments, effects) { PADDED(name), result, arguments, effects },
#define K_NAME(name, type, effects)
#define K_MEMBER(structure, name, type)
#include "kernel/calls.def"
#undef K_CALL
#undef K_NAME
#undef K_MEMBER
};

static const struct k_callee names[] = {
#define K_CALL(name, result, arguments, effects)
#define K_NAME(name, type, effects) { PADDED(name), type, "", effects },
#define K_MEMBER(structure, name, type)
#include "kernel/calls.def"
#undef K_CALL
#undef K_NAME
#undef K_MEMBER
};

static const struct { const char *structure, *name, *type; } members[] = {
#define K_CALL(name, result, arguments, effects)
#define K_NAME(name, type, effects)
#define K_MEMBER(structure, name, type) { structure, name, type },
#include "kernel/calls.def"
#undef K_CALL
#undef K_NAME
#undef K_MEMBER
};

#define N(table) (sizeof (table) / sizeof (table)[0])

/* ---- names --------------------------------------------------------------------------------- */

/* The element type that a suffix begins with, in letters of either case; what follows is another word. */
static bool read_suffix(const char *suffix, enum scalar_type *type)
{
	char word[8];
	size_t n = 0;

	for (; n + 1 < sizeof word && isalnum((unsigned char) suffix[n]); n++)
		word[n] = (char) tolower((unsigned char) suffix[n]);
	word[n] = '\0';
	return (suffix[n] == '\0' || suffix[n] == '_') && type_from_name(word, type);
}

/* Of the value: that which a suffix begins with, or which stands behind "_TO_". */
static enum scalar_type value_type(const char *suffix)
{
	const char *to = strstr(suffix, "_TO_");
	enum scalar_type type = TYPE_N;

	(void) read_suffix(to ? to + strlen("_TO_") : suffix, &type);
	return type;
}

/* Does a name of the table mean this one? Then *type is the element type that it names; TYPE_N: none. */
static bool is_meant(const char *pattern, const char *name, enum scalar_type *type)
{
	*type = TYPE_N;
	for (; *pattern; pattern++, name++) {
		if (*pattern == '*')
			return read_suffix(name, type) && (*type = value_type(name), true);
		if (*pattern == '?' && (*name == 'd' || *name == 's'))
			*type = *name == 'd' ? TYPE_F64 : TYPE_F32;
		else if (*pattern != *name)
			return false;
	}
	return *name == '\0';
}

/* May it be meant, by the characters that tell most names apart? */
static bool is_near(const char *pattern, char first, char distinct)
{
	return pattern[0] == first && (pattern[DISTINCT] == distinct || pattern[DISTINCT] == '*' ||
				       pattern[DISTINCT] == '?');
}

static const struct k_callee *find(const struct k_callee *table, size_t n, const char *name)
{
	const char distinct = strnlen(name, DISTINCT) == DISTINCT ? name[DISTINCT] : '\0';
	enum scalar_type type;

	for (size_t i = 0; i < n; i++)
		if (is_near(table[i].name, name[0], distinct) && is_meant(table[i].name, name, &type))
			return &table[i];
	return NULL;
}

const struct k_callee *k_callee_find(const char *name)
{
	return find(callees, N(callees), name);
}

const struct k_callee *k_runtime_name_find(const char *name)
{
	return find(names, N(names), name);
}

unsigned k_effects(const struct k_expr *expr)
{
	const struct k_callee *callee = expr->kind == KE_CALL ? k_callee_find(expr->text)
				      : expr->kind == KE_NAME ? k_runtime_name_find(expr->text) : NULL;

	return callee ? callee->effects : 0;
}

const struct k_expr *k_private_call(const struct k_stmt *region)
{
	const struct k_stmt *first = region->kind == KS_PARALLEL && region->body.stmts.n ? region->body.stmts.items[0]
									 : NULL;

	return first && first->kind == KS_CALL && k_effects(first->value) & K_CALL_IS_PRIVATE ? first->value : NULL;
}

const char *k_private_target(const struct k_stmt *region)
{
	const struct k_expr *call = k_private_call(region);

	return call ? call->args.items[strchr(k_callee_find(call->text)->arguments, 'b') -
				       k_callee_find(call->text)->arguments]->text : NULL;
}

/* ---- arguments ------------------------------------------------------------------------------- */

static bool has_any_number(const struct k_callee *callee)
{
	return strchr(callee->arguments, '+') != NULL;
}

char k_callee_argument(const struct k_callee *callee, int i)
{
	const int n = (int) strlen(callee->arguments) - has_any_number(callee);

	if (i < n)
		return callee->arguments[i];
	return has_any_number(callee) ? callee->arguments[n - 1] : '\0';
}

bool k_callee_takes(const struct k_callee *callee, int n)
{
	const int letters = (int) strlen(callee->arguments);

	return has_any_number(callee) ? n >= letters - 2 : n == letters;
}

/* ---- results ----------------------------------------------------------------------------------- */

/* The C type that a row says, "const double *", in parts; what is left of "void **" is a pointer by its name. */
static struct k_type type_of_text(struct arena *arena, const char *text)
{
	struct k_type type = { .name = text };
	const size_t n = strlen(text);

	if (strncmp(text, "const ", strlen("const ")) == 0) {
		type.is_const = true;
		type.name += strlen("const ");
	}
	if (text[n - 1] == '*') {
		type.is_pointer = true;
		type.name = arena_copy(arena, type.name, strlen(type.name) - (text[n - 2] == ' ' ? 2 : 1));
	}
	return type;
}

struct k_type k_type_behind(struct arena *arena, const struct k_type *type)
{
	if (!type->name || !type->is_pointer)
		return (struct k_type) { 0 };
	if (type->name[strlen(type->name) - 1] == '*')
		return type_of_text(arena, type->name);
	return k_scalar(type->name);
}

/* With the element type in the place of `@`. */
static struct k_type type_of_element(struct arena *arena, const char *text, enum scalar_type element)
{
	const char *at = strchr(text, '@');
	const bool is_vector = at[1] == 'v';

	if (element == TYPE_N)
		return (struct k_type) { 0 };
	return type_of_text(arena, arena_printf(arena, "%.*s%s%s", (int) (at - text), text,
						is_vector ? arena_printf(arena, "pmg_vector_%s", type_name(element))
							  : type_c_name(element), at + 1 + is_vector));
}

static struct k_type type_of_argument(const struct k_expr *call, int i)
{
	return i < call->args.n ? call->args.items[i]->type : (struct k_type) { 0 };
}

struct k_type k_callee_result(struct arena *arena, const struct k_callee *callee, const struct k_expr *call)
{
	enum scalar_type element = TYPE_N;

	if (!callee->result)
		return (struct k_type) { 0 };
	(void) is_meant(callee->name, call->text, &element);
	if (callee->result[0] == '#')
		return type_of_argument(call, callee->result[1] - '0');
	if (callee->result[0] == '*') {
		const struct k_type pointer = type_of_argument(call, callee->result[1] - '0');

		return k_type_behind(arena, &pointer);
	}
	if (strchr(callee->result, '@'))
		return type_of_element(arena, callee->result, element);
	return type_of_text(arena, callee->result);
}

struct k_type k_runtime_name_type(struct arena *arena, const char *name)
{
	const struct k_callee *found = k_runtime_name_find(name);

	return found && found->result ? type_of_text(arena, found->result) : (struct k_type) { 0 };
}

struct k_type k_member_type(struct arena *arena, const char *structure, const char *name)
{
	for (size_t i = 0; i < N(members); i++)
		if (strcmp(members[i].structure, structure) == 0 && strcmp(members[i].name, name) == 0)
			return type_of_text(arena, members[i].type);
	return (struct k_type) { 0 };
}
