/* SPDX-License-Identifier: MIT
 *
 * The candidates of a pipeline, as kernel programs. Other decisions may lead to the same kernels; such a candidate is
 * left out, and a function that one before has is not made again. Lines of the program that stand above a nest in full
 * are cut to the first one above the next ones. */
#include <string.h>

#include "codegen/abi/abi.h"

static bool is_known(const struct pipeline *pipeline, const struct layout *layout, const struct k_program *program)
{
	for (int i = 0; i < pipeline->n; i++)
		if (k_program_is_equal(&pipeline->programs[i], pipeline->layouts[i]->prefix, program, layout->prefix))
			return true;
	return false;
}

/* false: it cannot be built. */
static bool build(struct pipeline *pipeline, struct module *module, const char *prefix, const struct target *target,
		  const struct kernel_watch *watch)
{
	struct layout *layout = layout_new(module, prefix);
	struct k_program program = { 0 };

	layout->all_isas = pipeline->all_isas;
	if (!build_kernel(&program, layout, target, watch))
		return false;
	if (!is_known(pipeline, layout, &program)) {
		pipeline->programs[pipeline->n] = program;
		pipeline->layouts[pipeline->n++] = layout;
	}
	return true;
}

static void build_candidate(struct pipeline *pipeline, struct module *module, struct names *prefixes,
			    const struct target *target, const struct kernel_watch *watch)
{
	const int taken = prefixes->visible.n, n = pipeline->n;
	const char *name = pipeline->layouts[0]->module->name;

	(void) build(pipeline, module, names_declare(prefixes, arena_printf(module->arena, "%s_%s", name,
									    module->choice.name)), target, watch);
	if (pipeline->n == n)
		prefixes->visible.n = taken;
}

/* ---- functions ---- */

static const struct k_function *earlier_function(const struct pipeline *pipeline, int program,
						 const struct k_function *function)
{
	for (int i = 0; i < program; i++)
		for (int f = 0; f < pipeline->programs[i].functions.n; f++)
			if (function->kind == K_FUNCTION_HOST &&
			    k_function_is_equal(pipeline->programs[i].functions.items[f], function))
				return pipeline->programs[i].functions.items[f];
	return NULL;
}

struct renaming {
	const char *from, *to;
};

static bool rename_call(const struct k_stmt *stmt, void *user)
{
	const struct renaming *renaming = user;

	if (stmt->kind == KS_CALL && stmt->value->kind == KE_CALL && !strcmp(stmt->value->text, renaming->from))
		stmt->value->text = renaming->to;
	return true;
}

/* Of candidates, functions that one before has are its. */
static void share_functions(struct pipeline *pipeline, int program)
{
	const struct k_program *own = &pipeline->programs[program];

	for (int f = 0; f < own->functions.n; f++) {
		struct k_function *function = own->functions.items[f];
		const struct k_function *earlier = function->is_elsewhere ? NULL
			: earlier_function(pipeline, program, function);
		struct renaming renaming = { function->name, earlier ? earlier->name : NULL };

		if (!earlier)
			continue;
		function->is_elsewhere = true;
		function->name = earlier->name;
		for (int other = 0; other < own->functions.n; other++)
			k_walk_block(&own->functions.items[other]->body,
				     &(struct k_visitor) { .stmt = rename_call, .user = &renaming });
	}
}

/* ---- lines of the program ---- */

struct quoted {
	struct arena *arena;
	struct name_table texts;        /* of comments that stand before */
};

/* The first of the lines behind the place, which the comment begins with. */
static const char *cut_comment(struct arena *arena, const char *text)
{
	const char *place = text + strlen("/* "), *end = strchr(place, '\n'), *first = end + strlen("\n * ");
	size_t length;

	first += strspn(first, " ");
	length = strcspn(first, "\n");
	return arena_printf(arena, "/* %.*s%s    (%.*s) */", (int) length, first,
			    strstr(first + length, "\n * ") ? " ..." : "", (int) (end - place), place);
}

static bool cut_repeated(const struct k_stmt *stmt, void *user)
{
	struct quoted *quoted = user;

	if (stmt->kind != KS_COMMENT || !strchr(stmt->text, '\n'))
		return true;
	if (name_table_get(&quoted->texts, stmt->text))
		((struct k_stmt *) stmt)->text = cut_comment(quoted->arena, stmt->text);
	else
		name_table_set(quoted->arena, &quoted->texts, stmt->text, quoted);
	return true;
}

/* Statements may stand in two functions, or in two candidates. */
static void quote_once(struct arena *arena, struct pipeline *pipeline)
{
	struct quoted quoted = { .arena = arena };
	const struct k_visitor visitor = { .stmt = cut_repeated, .user = &quoted };

	for (int i = 0; i < pipeline->n; i++)
		for (int f = 0; f < pipeline->programs[i].functions.n; f++) {
			const struct k_function *function = pipeline->programs[i].functions.items[f];

			if (!function->is_elsewhere)
				k_walk_block(&function->body, &visitor);
		}
}

bool pipeline_open(struct pipeline *pipeline, struct module *module, bool all_isas, struct names *prefixes,
		   const struct target *target, const struct kernel_watch *watch)
{
	const int most = 1 + module->candidates.n;

	*pipeline = (struct pipeline) { .all_isas = all_isas,
					.layouts = arena_new_array(module->arena, struct layout *, most),
					.programs = arena_new_array(module->arena, struct k_program, most) };
	if (!build(pipeline, module, module->name, target, watch))
		return false;
	for (int i = 0; i < module->candidates.n; i++)
		build_candidate(pipeline, module->candidates.items[i], prefixes, target, watch);
	if (target->shares_bodies)
		k_share_bodies(module->arena, pipeline->programs, pipeline->n);
	for (int i = 1; i < pipeline->n && target->shares_bodies; i++)
		share_functions(pipeline, i);
	for (int i = 0; i < pipeline->n; i++)
		k_join_declarations(module->arena, &pipeline->programs[i]);
	quote_once(module->arena, pipeline);
	for (int i = 0; i < pipeline->n && module->stages.n; i++)
		pipeline->layouts[i]->has_work = pipeline->n > 1;
	return true;
}
