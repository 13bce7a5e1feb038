/* SPDX-License-Identifier: MIT
 *
 * Bodies of work-shared loops that several candidates have but for constants: blocks of 8, 16 and 32 systems. Such a
 * body becomes one function that is always inlined, so that each call is compiled for its constants. Only bodies: a C
 * compiler makes functions of parallel loops before it inlines any, and constants would not get there. How long an
 * array is must be a constant in C: it is the greatest of all.
 *
 * A constant that is a multiple of the loop's step is written so, or the step's quotient; others are parameters too. */
#include <string.h>

#include "kernel/kernel_private.h"
#include "kernel/make.h"

enum { LEAST_LINES = 12 };              /* of a body; shorter ones are clearer where they are */

typedef VEC(struct k_stmt *) comment_list;

struct member {                         /* a loop of a program */
	int program;
	struct k_function *function;
	struct k_stmt *loop;
	VEC(struct k_declared) visible; /* there */
	comment_list comments;          /* ahead of it: the lines of the program that it comes from */
	VEC(struct k_expr *) values;    /* of the constants of its family, in their order */
};

struct constant {
	const struct k_expr *node;      /* in the first member */
	struct k_expr *name;            /* what stands for it */
	int64_t greatest;
	bool is_param;
};

/* Loops with the same body but for constants. */
struct family {
	struct arena *arena;
	VEC(struct member) members;
	VEC(struct constant) constants;
	VEC(const struct k_declared *) names;   /* that the body reads and does not declare */
	int step;                       /* the constant that is a step of a loop inside; -1: none is */
	const char *width;              /* the name for what the loops' step is; NULL: it is no constant of theirs */
};

typedef VEC(struct family) family_list;

/* ---- constants ---- */

static int constant_number(const struct family *family, const struct k_expr *node)
{
	for (int c = 0; c < family->constants.n; c++)
		if (family->constants.items[c].node == node)
			return c;
	return -1;
}

static int64_t value_of(const struct family *family, int member, int constant)
{
	return family->members.items[member].values.items[constant]->integer;
}

/* A constant that the earlier members all have as the first. */
static void add_constant(struct family *family, struct member *member, const struct k_expr *node)
{
	for (int m = 0; m < family->members.n; m++)
		vec_push(family->arena, &family->members.items[m].values, k_int(family->arena, node->integer));
	vec_push(family->arena, &member->values, k_int(family->arena, node->integer));
	vec_push(family->arena, &family->constants, ((struct constant) { .node = node }));
}

/* Does a node that stands in several places have one value there? */
static bool are_values_of_nodes(const k_integers_list *integers)
{
	for (int i = 0; i < integers->n; i++) {
		const struct k_integers *pair = &integers->items[i];

		for (int j = 0; j < i; j++)
			if (pair->a == integers->items[j].a && pair->b != integers->items[j].b)
				return false;
	}
	return true;
}

static void take_values(struct family *family, struct member *member, const k_integers_list *integers)
{
	member->values.n = 0;
	for (int c = 0; c < family->constants.n; c++)
		vec_push(family->arena, &member->values,
			 k_int(family->arena, family->constants.items[c].node->integer));
	for (int i = 0; i < integers->n; i++) {
		const struct k_integers *pair = &integers->items[i];

		if (pair->a->integer == pair->b)
			continue;
		if (constant_number(family, pair->a) < 0)
			add_constant(family, member, pair->a);
		member->values.items[constant_number(family, pair->a)]->integer = pair->b;
	}
}

/* false: it is another body. */
static bool join_family(struct family *family, struct member *member)
{
	const struct member *first = &family->members.items[0];
	k_integers_list integers = { 0 };

	if (!k_block_is_similar(family->arena, &first->loop->loop.body, &member->loop->loop.body, &integers) ||
	    !are_values_of_nodes(&integers))
		return false;
	take_values(family, member, &integers);
	vec_push(family->arena, &family->members, *member);
	return true;
}

/* ---- finding them ---- */

struct search {
	struct arena *arena;
	family_list *families;
	struct k_program *programs;
	int program;
	struct k_function *function;
	comment_list comments;          /* the last ones */
	bool is_behind_comment;
};

static void take_comment(struct search *search, const struct k_stmt *stmt)
{
	if (stmt->kind == KS_COMMENT && !search->is_behind_comment)
		memset(&search->comments, 0, sizeof search->comments);
	if (stmt->kind == KS_COMMENT)
		vec_push(search->arena, &search->comments, (struct k_stmt *) stmt);
	search->is_behind_comment = stmt->kind == KS_COMMENT;
}

static void take_loop(struct k_scope *place, const struct k_stmt *stmt, void *user)
{
	struct search *search = user;
	struct member member = { .program = search->program, .function = search->function,
				 .loop = (struct k_stmt *) stmt };
	struct family family = { .arena = search->arena, .step = -1 };

	take_comment(search, stmt);
	member.comments = search->comments;
	if (stmt->kind != KS_LOOP || stmt->loop.kind != K_LOOP_WORKSHARE || stmt->loop.reductions.n ||
	    k_length(&stmt->loop.body) < LEAST_LINES)
		return;
	for (int i = 0; i < place->visible.n; i++)
		vec_push(search->arena, &member.visible, place->visible.items[i]);
	vec_push(search->arena, &member.visible,
		 ((struct k_declared) { .name = stmt->loop.name, .type = stmt->loop.type, .stmt = stmt }));
	for (int i = 0; i < search->families->n; i++)
		if (join_family(&search->families->items[i], &member))
			return;
	vec_push(search->arena, &family.members, member);
	vec_push(search->arena, search->families, family);
}

static void find_families(struct arena *arena, struct k_program *programs, int n, family_list *families)
{
	struct search search = { .arena = arena, .families = families, .programs = programs };
	const struct k_scope_visitor visitor = { .stmt = take_loop, .user = &search };

	for (search.program = 0; search.program < n; search.program++) {
		struct k_program *program = &programs[search.program];

		for (int f = 0; f < program->functions.n; f++) {
			search.function = program->functions.items[f];
			k_walk_function(arena, program, search.function, &visitor);
		}
	}
}

/* ---- names that the body reads ---- */

static const struct k_declared *declared_in(const struct member *member, const char *name)
{
	for (int i = member->visible.n - 1; i >= 0; i--)
		if (!strcmp(member->visible.items[i].name, name))
			return &member->visible.items[i];
	return NULL;
}

/* A name that can be handed on: it is no array of the function, and keeps its value; nothing asks where it is. */
static bool is_handed_on(const struct family *family, const struct k_declared *declared)
{
	const struct k_uses uses = k_uses_in_block(&family->members.items[0].loop->loop.body, declared->name);

	if (declared->rank || !declared->type.name || !strcmp(declared->type.name, "auto"))
		return false;
	return declared->type.is_pointer || (!uses.writes && !uses.addresses);
}

/* false: one cannot be handed on, or is of another type in another member. */
static bool find_names(struct family *family)
{
	const struct member *first = &family->members.items[0];

	for (int i = 0; i < first->visible.n; i++) {
		const struct k_declared *declared = &first->visible.items[i];

		if (!k_mentions(&first->loop->loop.body, declared->name))
			continue;
		if (!is_handed_on(family, declared))
			return false;
		for (int m = 1; m < family->members.n; m++) {
			const struct k_declared *other = declared_in(&family->members.items[m], declared->name);

			if (!other || !k_type_is_equal(&other->type, &declared->type))
				return false;
		}
		vec_push(family->arena, &family->names, declared);
	}
	return true;
}

/* ---- what stands for constants ---- */

static bool has_values(const struct family *family, int constant, const struct family *others, int other)
{
	for (int m = 0; m < family->members.n; m++)
		if (value_of(family, m, constant) != value_of(others, m, other))
			return false;
	return true;
}

static bool find_step(const struct k_stmt *stmt, void *user)
{
	struct family *family = user;

	if (stmt->kind == KS_LOOP && stmt->loop.step && family->step < 0)
		family->step = constant_number(family, stmt->loop.step);
	return true;
}

/* Of the loop, or of the first one inside that has a constant of the family for its step; 0: none has. */
static int64_t step_of(const struct family *family, int member)
{
	const struct k_expr *step = family->members.items[member].loop->loop.step;

	if (step && step->kind == KE_INT)
		return step->integer;
	return family->step < 0 ? 0 : value_of(family, member, family->step);
}

/* The factor with which it is a multiple of the step in all; 0: there is none. */
static int64_t factor_of(const struct family *family, int constant)
{
	const int64_t factor = step_of(family, 0) > 0 ? value_of(family, 0, constant)/step_of(family, 0) : 0;

	for (int m = 0; m < family->members.n; m++)
		if (value_of(family, m, constant) != factor*step_of(family, m))
			return 0;
	return factor;
}

/* The number of which it is the quotient by the step; 0. */
static int64_t dividend_of(const struct family *family, int constant)
{
	const int64_t dividend = value_of(family, 0, constant)*step_of(family, 0);

	for (int m = 0; m < family->members.n; m++)
		if (value_of(family, m, constant)*step_of(family, m) != dividend)
			return 0;
	return dividend;
}

static bool is_taken(const struct family *family, const char *name)
{
	bool is = k_mentions(&family->members.items[0].loop->loop.body, name);

	for (int i = 0; i < family->names.n; i++)
		is |= !strcmp(family->names.items[i]->name, name);
	for (int c = 0; c < family->constants.n; c++) {
		const struct constant *constant = &family->constants.items[c];

		is |= constant->is_param && !strcmp(constant->name->text, name);
	}
	return is;
}

static const char *free_name(const struct family *family, const char *base)
{
	const char *name = base;

	for (int i = 2; is_taken(family, name); i++)
		name = arena_printf(family->arena, "%s_%d", base, i);
	return name;
}

static void name_constant(struct family *family, int number)
{
	struct constant *constant = &family->constants.items[number];
	struct arena *arena = family->arena;
	const int64_t factor = factor_of(family, number), dividend = dividend_of(family, number);

	for (int m = 0; m < family->members.n; m++)
		if (value_of(family, m, number) > constant->greatest)
			constant->greatest = value_of(family, m, number);
	for (int c = 0; c < number; c++)
		if (has_values(family, number, family, c)) {
			constant->name = family->constants.items[c].name;
			return;
		}
	if (factor > 1 && family->width) {
		constant->name = k_binary(arena, K_MUL, k_int(arena, factor), k_name(arena, family->width));
	} else if (factor != 1 && dividend && family->width) {
		constant->name = k_binary(arena, K_DIV, k_int(arena, dividend), k_name(arena, family->width));
	} else {
		constant->name = k_name(arena, free_name(family, factor == 1 ? "width" : "extent"));
		constant->is_param = true;
	}
}

/* The step first, for others are told by it. */
static void name_constants(struct family *family)
{
	const struct k_visitor visitor = { .stmt = find_step, .user = family };

	k_walk_block(&family->members.items[0].loop->loop.body, &visitor);
	for (int c = 0; c < family->constants.n && !family->width; c++)
		if (factor_of(family, c) == 1) {
			name_constant(family, c);
			family->width = family->constants.items[c].name->text;
		}
	for (int c = 0; c < family->constants.n; c++)
		if (!family->constants.items[c].name)
			name_constant(family, c);
}

/* ---- the function ---- */

static struct k_expr *name_of_constant(const struct k_expr *expr, void *user)
{
	const struct family *family = user;
	const int c = constant_number(family, expr);

	return c < 0 ? NULL : family->constants.items[c].name;
}

static struct k_expr *greatest_of_constant(const struct k_expr *expr, void *user)
{
	const struct family *family = user;
	const int c = constant_number(family, expr);

	return c < 0 ? NULL : k_int(family->arena, family->constants.items[c].greatest);
}

static const char *function_name(const struct family *family, int number)
{
	const char *of = family->members.items[0].function->name, *end = strchr(of, ')');
	const char *suffix = number ? arena_printf(family->arena, "_block_%d", number + 1) : "_block";

	return end ? arena_printf(family->arena, "%.*s%s)", (int) (end - of), of, suffix)
		   : arena_printf(family->arena, "%s%s", of, suffix);
}

static void add_params(const struct family *family, struct k_function *function)
{
	for (int i = 0; i < family->names.n; i++) {
		struct k_type type = family->names.items[i]->type;

		type.is_const = type.is_const && type.is_pointer;
		vec_push(family->arena, &function->params, ((struct k_param) { type, family->names.items[i]->name }));
	}
	for (int c = 0; c < family->constants.n; c++)
		if (family->constants.items[c].is_param)
			vec_push(family->arena, &function->params,
				 ((struct k_param) { k_scalar("int64_t"), family->constants.items[c].name->text }));
}

static void add_body(const struct family *family, struct k_block *body)
{
	const struct member *first = &family->members.items[0];
	const struct k_replacing replacing = { name_of_constant, greatest_of_constant, (void *) family };
	const struct k_block copy = k_copy_block(family->arena, &first->loop->loop.body, &replacing);

	for (int i = 0; i < first->comments.n; i++)
		vec_push(family->arena, &body->stmts, k_copy_stmt(family->arena, first->comments.items[i], &replacing));
	for (int i = 0; i < copy.stmts.n; i++)
		vec_push(family->arena, &body->stmts, copy.stmts.items[i]);
}

static struct k_function *make_function(const struct family *family, int number)
{
	const struct member *first = &family->members.items[0];
	struct k_function *function = arena_new(family->arena, struct k_function);

	*function = (struct k_function) {
		.kind = K_FUNCTION_HOST, .result = k_scalar("void"), .name = function_name(family, number),
		.qualifiers = "PMG_ALWAYS_INLINE",
		.head = { first->loop->span, EMITTER }, .end = { first->loop->span, EMITTER }
	};
	add_body(family, &function->body);
	add_params(family, function);
	return function;
}

static void call_function(const struct family *family, struct member *member, const struct k_function *function)
{
	struct k_expr *call = k_call(family->arena, function->name, 0);
	struct k_block body = { 0 };
	struct k_builder b = k_builder_new(family->arena, &body);

	for (int i = 0; i < family->names.n; i++)
		vec_push(family->arena, &call->args, k_name(family->arena, family->names.items[i]->name));
	for (int c = 0; c < family->constants.n; c++)
		if (family->constants.items[c].is_param)
			vec_push(family->arena, &call->args, member->values.items[c]);
	b.span = member->loop->span;
	k_do(&b, call);
	member->loop->loop.body = body;
}

/* ---- where it stands ---- */

static int function_number(const struct k_program *program, const struct k_function *function)
{
	int i = 0;

	while (program->functions.items[i] != function)
		i++;
	return i;
}

static void insert(struct arena *arena, struct k_program *program, int at, struct k_function *function)
{
	vec_push(arena, &program->functions, function);
	for (int i = program->functions.n - 1; i > at; i--)
		program->functions.items[i] = program->functions.items[i - 1];
	program->functions.items[at] = function;
}

static bool is_of_earlier(const struct family *family, int member)
{
	for (int m = 0; m < member; m++)
		if (family->members.items[m].program == family->members.items[member].program)
			return true;
	return false;
}

static void declare_function(const struct family *family, struct k_program *programs, struct k_function *function)
{
	struct k_function *elsewhere = arena_new(family->arena, struct k_function);
	const struct member *first = &family->members.items[0];

	*elsewhere = *function;
	elsewhere->is_elsewhere = true;
	insert(family->arena, &programs[first->program],
	       function_number(&programs[first->program], first->function), function);
	for (int m = 1; m < family->members.n; m++)
		if (!is_of_earlier(family, m))
			insert(family->arena, &programs[family->members.items[m].program], 0, elsewhere);
}

void k_share_bodies(struct arena *arena, struct k_program *programs, int n)
{
	family_list families = { 0 };
	int number = 0;

	find_families(arena, programs, n, &families);
	for (int i = 0; i < families.n; i++) {
		struct family *family = &families.items[i];
		struct k_function *function;

		if (family->members.n < 2 || !find_names(family))
			continue;
		name_constants(family);
		function = make_function(family, number++);
		declare_function(family, programs, function);
		for (int m = 0; m < family->members.n; m++)
			call_function(family, &family->members.items[m], function);
	}
}
