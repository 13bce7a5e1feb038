/* SPDX-License-Identifier: MIT
 *
 * Types as written: a scalar or index type with a shape, or an object with arguments. Which words are scalar
 * types, and which facts there are, is decided here; which objects there are is not known in this folder. */
#include "syntax/tree_build.h"

#include <string.h>

static bool is_word(struct tree_name name, const char *word)
{
	return name.name != NULL && name.member == NULL && strcmp(name.name, word) == 0;
}

/* What a type is called in other languages; NULL: in none that is known. */
static const char *foreign_type(const char *name)
{
	static const struct word_pair words[] = {
		{ "double", "f64" }, { "float64", "f64" }, { "real", "f64" }, { "float", "f32" }, { "float32", "f32" },
		{ "single", "f32" }, { "int", "i64" }, { "integer", "i64" }, { "long", "i64" }, { "int64", "i64" },
		{ "int32", "i32" }, { "size_t", "i64" }, { "boolean", "bool" }, { "logical", "bool" },
	};

	return WORD_PAIR_FIND(words, name);
}

/* The type of this name, here or in another language. */
static const char *our_type(const char *name)
{
	const char *ours = foreign_type(name);

	return ours ? ours : name;
}

bool tree_type_is_known(const char *name)
{
	enum scalar_type type;

	return type_from_name(our_type(name), &type);
}

bool tree_type_is_integer(struct tree_name word)
{
	enum scalar_type type = TYPE_F64;

	return type_from_name(our_type(word.name), &type) && type_is_integer(type);
}

/* A type that there is in other languages and none is near to here: u64 is neither f64 nor u8. */
static bool is_size_of_none(const char *name)
{
	static const char *const names[] = { "u64", "uint64", "u128", "i128", "f16", "f80", "f128", "bf16" };
	bool is = false;

	for (size_t i = 0; i < sizeof names / sizeof names[0] && !is; i++)
		is = strcmp(name, names[i]) == 0;
	return is;
}

static void type_error_help(struct parser *parser, struct diag *diag, struct tree_name word, const char *more)
{
	const char *names[TYPE_N + 2] = { "index", "offsets" };
	struct str list = str_new(parser->arena);
	const char *near = foreign_type(word.name);

	for (int i = 0; i < TYPE_N; i++) {
		names[i + 2] = type_name((enum scalar_type) i);
		str_add(&list, "%s%s", i == 0 ? "" : i == TYPE_N - 1 ? " and " : ", ", names[i + 2]);
	}
	if (near == NULL && !is_size_of_none(word.name))
		near = suggest_nearest(word.name, names, TYPE_N + 2);
	if (near != NULL)
		diag_did_you_mean(parser->diags, diag, word.span, word.name, near);
	else
		diag_help(parser->diags, diag, word.span, "there are %s%s", str_text(&list), more);
}

enum scalar_type tree_type_scalar(struct parser *parser, struct tree_name word)
{
	enum scalar_type type = TYPE_F64;

	if (!type_from_name(word.name, &type)) {
		struct diag *diag = parser_error(parser, DIAG_BAD_TYPE, word.span,
						 "'%s' is no scalar type", word.name);

		type_error_help(parser, diag, word, "");
	}
	return type;
}

struct tree_type_args *tree_type_args_new(struct parser *parser, tree_exprs exprs, tree_modes modes)
{
	struct tree_type_args *args = arena_new(parser->arena, struct tree_type_args);

	args->is_given = true;
	args->exprs = exprs;
	args->modes = modes;
	return args;
}

struct tree_fact tree_fact_new(struct tree_name word, struct tree_name segments)
{
	return (struct tree_fact) { word, segments };
}

static void fact_unknown(struct parser *parser, struct tree_name word)
{
	static const char *const words[] = { "sorted", "unique", "tree" };
	const char *near = suggest_nearest(word.name, words, 3);
	struct diag *diag = parser_error(parser, DIAG_UNKNOWN_FACT, word.span, "'%s' is not a fact", word.name);

	if (near != NULL)
		diag_did_you_mean(parser->diags, diag, word.span, word.name, near);
	else if (!parser->is_expansion && parser_begins_line(parser, word.span.start))
		diag_help(parser->diags, diag, word.span, "is the ';' of the line above missing?");
	else
		diag_help(parser->diags, diag, word.span, "an index array may be sorted, unique, or a tree");
}

static void type_add_fact(struct parser *parser, struct tree_type *type, struct tree_fact fact)
{
	bool is_tree = is_word(fact.word, "tree");

	if (is_tree) {
		type->is_tree = true;
		type->segments = fact.segments;
	} else if (is_word(fact.word, "sorted")) {
		type->is_sorted = true;
	} else if (is_word(fact.word, "unique")) {
		type->is_unique = true;
	} else {
		fact_unknown(parser, fact.word);
		return;
	}
	if (type->kind != TREE_TYPE_INDEX)
		parser_error(parser, DIAG_UNKNOWN_FACT, fact.word.span, "only an index array can be %s%s",
			     is_tree ? "a " : "", fact.word.name);
	else if (fact.segments.name != NULL && !is_tree)
		parser_error(parser, DIAG_UNKNOWN_FACT, fact.segments.span, "'%s' takes nothing in parentheses",
			     fact.word.name);
}

/* index(n) and offsets(n); there is a limit, 0 after an error. */
static void type_read_limit(struct parser *parser, struct tree_type *type, struct tree_name word,
			    struct tree_name element, const struct tree_type_args *args)
{
	if (args != NULL)
		type->args = args->exprs;
	else
		vec_push(parser->arena, &type->args, tree_expr_int(parser, word.span, "0"));
	if (args == NULL || args->exprs.n != 1 || args->modes.n > 0 || element.name != NULL)
		parser_error(parser, DIAG_BAD_TYPE, word.span, "%s takes its limit, and nothing else: %s(n)",
			     word.name, word.name);
}

/* `f64(n)`. */
static bool type_has_sizes_as_arguments(struct parser *parser, struct tree_type *type, struct tree_name word)
{
	const char *text = span_text(parser->diags->sources, parser->arena, type->span);
	int behind = (int) strlen(word.name), end = (int) strlen(text);
	const char *name = our_type(word.name);
	bool is_alone = !parser->is_expansion && type->shape.n == 0 && type->modes.n == 0;
	struct diag *diag;

	if (!type_from_name(name, &type->scalar))
		return false;
	diag = parser_error(parser, DIAG_BAD_TYPE, type->span, "the sizes of an array stand in brackets");
	if (is_alone && text[behind] == '(' && text[end - 1] == ')')
		diag_fix(parser->diags, diag, type->span,
			 arena_printf(parser->arena, "%s[%.*s]", name, end - behind - 2, text + behind + 1),
			 "as in %s[n]", name);
	else
		diag_help(parser->diags, diag, type->span, "as in %s[n]", name);
	type->kind = TREE_TYPE_SCALAR;
	return true;
}

static void type_read_object(struct parser *parser, struct tree_type *type, struct tree_name word,
			     struct tree_name element, const struct tree_type_args *args)
{
	static const char *const arrays[] = { "index", "offsets" };
	const char *near = suggest_nearest(word.name, arrays, 2);
	struct diag *diag;

	type->object = word.name;
	type->args = args->exprs;
	type->modes = args->modes;
	if (element.name != NULL) {
		type->has_scalar = true;
		type->scalar = tree_type_scalar(parser, element);
	}
	if (type_has_sizes_as_arguments(parser, type, word) || type->shape.n == 0)
		return;
	diag = parser_error(parser, DIAG_BAD_TYPE, type->shape.items[0]->span,
			    "'%s' is an object, of which there are no arrays", word.name);
	if (near)
		diag_did_you_mean(parser->diags, diag, word.span, word.name, near);
}

static void type_read_scalar(struct parser *parser, struct tree_type *type, struct tree_name word,
			     struct tree_name element)
{
	struct diag *diag;

	type->scalar = TYPE_F64;
	if (!type_from_name(word.name, &type->scalar)) {
		diag = parser_error(parser, DIAG_BAD_TYPE, word.span, "unknown type '%s'", word.name);
		type_error_help(parser, diag, word, "; objects have arguments, as in Tree(n)");
	} else if (element.name != NULL) {
		parser_error(parser, DIAG_BAD_TYPE, element.span, "'%s' has no elements of another type",
			     word.name);
	}
}

struct tree_type *tree_type_new(struct parser *parser, struct span span, struct tree_name word,
				struct tree_name element, const struct tree_type_args *args,
				tree_exprs shape, tree_facts facts)
{
	struct tree_type *type = arena_new(parser->arena, struct tree_type);

	type->span = span;
	type->shape = shape;
	if (is_word(word, "index") || is_word(word, "offsets")) {
		type->kind = is_word(word, "index") ? TREE_TYPE_INDEX : TREE_TYPE_OFFSETS;
		type_read_limit(parser, type, word, element, args);
	} else if (args != NULL) {
		type->kind = TREE_TYPE_OBJECT;
		type_read_object(parser, type, word, element, args);
	} else {
		type->kind = TREE_TYPE_SCALAR;
		type_read_scalar(parser, type, word, element);
	}
	for (int i = 0; i < facts.n; i++)
		type_add_fact(parser, type, facts.items[i]);
	return type;
}
