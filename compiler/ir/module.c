/* SPDX-License-Identifier: MIT
 *
 * Building and freeing modules. Nodes live in the arena; the few isl values are listed in one place. */
#include <isl/schedule.h>
#include <isl/set.h>
#include <string.h>

#include "ir/module.h"

struct module *module_new(struct arena *arena, struct diags *diags, isl_ctx *ctx, const char *name, struct span span)
{
	struct module *module = arena_new(arena, struct module);

	module->arena = arena;
	module->diags = diags;
	module->ctx = ctx;
	module->name = name;
	module->span = span;
	return module;
}

void module_free(struct module *module)
{
	for (int i = 0; i < module->stages.n; i++)
		module->stages.items[i]->domain = isl_set_free(module->stages.items[i]->domain);
	for (int i = 0; i < REGION_N; i++) {
		struct region *region = &module->regions[i];

		region->strict = isl_union_map_free(region->strict);
		region->reduction = isl_union_map_free(region->reduction);
		region->schedule = isl_schedule_free(region->schedule);
	}
	module->context = isl_set_free(module->context);
}

int module_add_param(struct module *module, const char *name, struct span span)
{
	struct param param = { .name = name, .span = span, .type = TYPE_I64 };

	vec_push(module->arena, &module->params, param);
	return module->params.n - 1;
}

/* ---- names in C ---- */

bool name_is_reserved_in_c(const char *name)
{
	static const char *const words[] = {
#define WORD(word) #word,
#include "ir/c_words.def"
#undef WORD
	};

	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (!strcmp(words[i], name))
			return true;
	return !strncmp(name, "pmg_", 4) || !strncmp(name, "PMG_", 4) || !strncmp(name, "isl_", 4) || name[0] == '_';
}

static bool is_taken(const struct module *module, const char *name)
{
	for (int i = 0; i < module->arrays.n; i++)
		if (!strcmp(module->arrays.items[i]->c_name, name))
			return true;
	for (int i = 0; i < module->params.n; i++)
		if (!strcmp(module->params.items[i].name, name))
			return true;
	return name_is_reserved_in_c(name);
}

static const char *c_name_of(const struct module *module, const char *name)
{
	char *c_name = arena_string(module->arena, name);

	for (char *at = c_name; *at; at++)
		if (*at == '.')
			*at = '_';
	while (is_taken(module, c_name))
		c_name = arena_printf(module->arena, "%s_", c_name);
	return c_name;
}

struct array *module_add_array(struct module *module, const char *name, enum array_role role, enum scalar_type type,
			       int rank, struct span span)
{
	struct array *array = arena_new(module->arena, struct array);

	array->name = name;
	array->c_name = c_name_of(module, name);
	array->span = span;
	array->role = role;
	array->type = type;
	array->number = module->arrays.n;
	array->rank = rank;
	array->lo = arena_new_array(module->arena, struct expr *, rank + 1);
	array->hi = arena_new_array(module->arena, struct expr *, rank + 1);
	for (int i = 0; i < rank; i++)
		array->lo[i] = expr_int(module->arena, 0, span);
	vec_push(module->arena, &module->arrays, array);
	return array;
}

struct group *module_add_group(struct module *module, enum region_kind region, const char *name, struct span span)
{
	struct group *group = arena_new(module->arena, struct group);

	group->number = module->groups.n;
	group->name = name;
	group->span = span;
	vec_push(module->arena, &module->groups, group);
	vec_push(module->arena, &module->regions[region].groups, group);
	return group;
}

struct stage *module_add_stage(struct module *module, struct group *group, const dim_list *common, struct span span)
{
	struct stage *stage = arena_new(module->arena, struct stage);

	stage->number = module->stages.n;
	stage->name = arena_printf(module->arena, "S%d", stage->number);
	stage->span = span;
	stage->group = group;
	for (int i = 0; i < common->n; i++)
		vec_push(module->arena, &stage->dims, common->items[i]);
	if (!group->stages.n)
		group->n_common = common->n;
	vec_push(module->arena, &module->stages, stage);
	vec_push(module->arena, &group->stages, stage);
	return stage;
}

void module_decide(struct module *module, const char *pass, const char *subject, const char *chosen,
		   const char *alternatives, struct span span, const char *reason, ...)
{
	struct decision decision = { pass, subject, chosen, alternatives, NULL, span };
	va_list args;

	va_start(args, reason);
	decision.reason = arena_vprintf(module->arena, reason, args);
	va_end(args);
	vec_push(module->arena, &module->decisions, decision);
}

struct array *module_find_array(const struct module *module, const char *name)
{
	for (int i = 0; i < module->arrays.n; i++)
		if (!strcmp(module->arrays.items[i]->name, name))
			return module->arrays.items[i];
	return NULL;
}

bool array_is_index(const struct array *array)
{
	return array->facts != 0;
}

bool array_is_argument(const struct array *array)
{
	return array->role == ROLE_IN || array->role == ROLE_OUT || array->role == ROLE_INOUT;
}

bool group_accumulates(const struct group *group)
{
	return group->stages.n && group->stages.items[group->stages.n - 1]->op != REDUCE_SET;
}
