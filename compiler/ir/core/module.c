/* SPDX-License-Identifier: MIT
 *
 * Building a module and freeing what isl holds of it.
 *
 * Numbers equal positions: a param, array, group or stage is numbered when it is added. Each array gets a C name of
 * its own: the name as the user knows it with `_` for dots, made different from what C reserves, from the params and
 * from the arrays before it. The long-lived isl values are rows of the tables below; module_free alone releases
 * them, everything else belongs to the arena. */
#include "ir/ir.h"

#include <string.h>

#define MODULE_FIELDS(FIELD) \
	FIELD(isl_set, context)
#define STAGE_FIELDS(FIELD) \
	FIELD(isl_set, domain)
#define REGION_FIELDS(FIELD) \
	FIELD(isl_union_map, strict) \
	FIELD(isl_union_map, reduction) \
	FIELD(isl_schedule, schedule) \
	FIELD(isl_ast_node, loops)

struct module *module_new(struct arena *arena, struct diags *diags, isl_ctx *ctx, const char *name, struct span span)
{
	struct module *module = arena_new(arena, struct module);

	module->name = arena_string(arena, name);
	module->span = span;
	module->arena = arena;
	module->diags = diags;
	module->ctx = ctx;
	return module;
}

void module_free(struct module *module)
{
#define FREE_OF_MODULE(type, field) module->field = type##_free(module->field);
#define FREE_OF_STAGE(type, field) module->stages.items[i]->field = type##_free(module->stages.items[i]->field);
#define FREE_OF_REGION(type, field) module->regions[i].field = type##_free(module->regions[i].field);
	MODULE_FIELDS(FREE_OF_MODULE)
	for (int i = 0; i < module->stages.n; i++) {
		STAGE_FIELDS(FREE_OF_STAGE)
	}
	for (int i = 0; i < REGION_N; i++) {
		REGION_FIELDS(FREE_OF_REGION)
	}
#undef FREE_OF_MODULE
#undef FREE_OF_STAGE
#undef FREE_OF_REGION
}

int module_add_param(struct module *module, const char *name, struct span span)
{
	const struct param param = { .name = arena_string(module->arena, name), .span = span, .type = TYPE_I64 };

	vec_push(module->arena, &module->params, param);
	return module->params.n - 1;
}

/* ---- C names ---- */

bool name_is_reserved_in_c(const char *name)
{
	static const char *const reserved[] = {
#define RESERVED(word) #word,
#define RESERVED_FAMILY(beginning)
#include "ir/core/reserved.def"
#include "ir/core/reserved_macros.def"
#undef RESERVED
#undef RESERVED_FAMILY
#define TYPE(id, text, c_name, abi_name, size, is_float, is_signed) c_name,
#include "support/types.def"
#undef TYPE
#define OP(id, text, c_text, arity, precedence) c_text, c_text "f", text,
#include "ir/core/ops.def"
#undef OP
	};

	for (size_t i = 0; i < sizeof reserved / sizeof reserved[0]; i++)
		if (strcmp(name, reserved[i]) == 0)
			return true;
	return false;
}

/* What may not begin an identifier, or begins those of the runtime or a family of macros. */
static bool has_reserved_beginning(const char *name)
{
	static const char *const beginnings[] = {
		"_", "pmg_", "PMG_", "PMGRT_",
#define RESERVED(word)
#define RESERVED_FAMILY(beginning) #beginning,
#include "ir/core/reserved_macros.def"
#undef RESERVED
#undef RESERVED_FAMILY
	};

	for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0]; i++)
		if (strncmp(name, beginnings[i], strlen(beginnings[i])) == 0)
			return true;
	return name[0] >= '0' && name[0] <= '9';
}

const char *name_not_reserved_in_c(struct arena *arena, const char *name)
{
	if (has_reserved_beginning(name))
		name = arena_printf(arena, "a_%s", name);
	return name_is_reserved_in_c(name) ? arena_printf(arena, "%s_", name) : name;
}

static bool is_there(const struct module *module, const struct array *array)
{
	return array->number < module->arrays.n && module->arrays.items[array->number] == array;
}

/* The first array called so by `name_of`. Names that were never given are in no table; what a table has may have been
 * dropped, or have got another name. */
static struct array *find_array(const struct module *module, const struct name_table *table,
				const char *(*name_of)(const struct array *array), const char *name)
{
	struct array *array = name_table_get(table, name);

	if (!array || (is_there(module, array) && !strcmp(name_of(array), name)))
		return array;
	for (int i = 0; i < module->arrays.n; i++)
		if (!strcmp(name_of(module->arrays.items[i]), name))
			return module->arrays.items[i];
	return NULL;
}

static const char *array_c_name(const struct array *array)
{
	return array->c_name;
}

static const char *array_name(const struct array *array)
{
	return array->name;
}

static bool name_is_taken(const struct module *module, const char *name)
{
	for (int i = 0; i < module->params.n; i++)
		if (strcmp(module->params.items[i].name, name) == 0)
			return true;
	return find_array(module, &module->taken.c_names, array_c_name, name);
}

static bool is_c_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static const char *c_name_of(struct module *module, const char *name)
{
	char *letters = arena_string(module->arena, name);
	const char *base, *unique;

	for (char *c = letters; *c; c++)
		if (!is_c_letter(*c))
			*c = '_';
	unique = base = name_not_reserved_in_c(module->arena, letters);
	for (int i = 2; name_is_reserved_in_c(unique) || name_is_taken(module, unique); i++)
		unique = arena_printf(module->arena, "%s_%d", base, i);
	return unique;
}

/* ---- arrays, groups, stages ---- */

struct array *module_add_array(struct module *module, const char *name, enum array_role role, enum scalar_type type,
			       int rank, struct span span)
{
	struct array *array = arena_new(module->arena, struct array);

	array->name = arena_string(module->arena, name);
	array->c_name = c_name_of(module, name);
	array->span = span;
	array->role = role;
	array->type = array->sums = type;
	array->number = module->arrays.n;
	array->rank = rank;
	array->lo = arena_new_array(module->arena, struct expr *, rank);
	array->hi = arena_new_array(module->arena, struct expr *, rank);
	for (int i = 0; i < rank; i++)
		array->lo[i] = expr_int(module->arena, 0, span);
	if (!module_find_array(module, name))
		name_table_set(module->arena, &module->taken.names, array->name, array);
	name_table_set(module->arena, &module->taken.c_names, array->c_name, array);
	vec_push(module->arena, &module->arrays, array);
	return array;
}

struct array *module_find_array(const struct module *module, const char *name)
{
	return find_array(module, &module->taken.names, array_name, name);
}

struct group *module_add_group(struct module *module, enum region_kind region, const char *name, struct span span)
{
	struct group *group = arena_new(module->arena, struct group);

	group->number = module->groups.n;
	group->name = arena_string(module->arena, name);
	group->span = span;
	vec_push(module->arena, &module->groups, group);
	vec_push(module->arena, &module->regions[region].groups, group);
	return group;
}

void region_move_last(struct region *region, int to)
{
	struct group **at = region->groups.items + to, *last = region->groups.items[region->groups.n - 1];

	memmove(at + 1, at, (size_t) (region->groups.n - 1 - to)*sizeof(struct group *));
	*at = last;
}

int region_place_of(const struct region *region, const struct group *group)
{
	int place = 0;

	while (place < region->groups.n && region->groups.items[place] != group)
		place++;
	return place;
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
	if (group->stages.n == 0)
		group->n_common = common->n;
	vec_push(module->arena, &group->stages, stage);
	vec_push(module->arena, &module->stages, stage);
	return stage;
}

/* ---- questions ---- */

bool param_is_argument(const struct param *param)
{
	return !param->is_loop && !param->is_inspected && !param->derivation;
}

bool array_is_index(const struct array *array)
{
	return array->facts != 0;
}

bool array_is_checked(const struct array *array)
{
	return array->role == ROLE_TEMP && (array->facts & FACT_INDEX) && !array->is_proved;
}

bool dim_is_checked(const struct dim *dim)
{
	return dim->kind == DIM_BIND && array_is_checked(dim->source.array);
}

bool stage_checks_index(const struct stage *stage)
{
	bool does = false;

	for (int d = 0; d < stage->dims.n; d++)
		does = does || dim_is_checked(&stage->dims.items[d]);
	return does;
}

bool stage_is_checked(const struct stage *stage)
{
	return expr_find_pivot(stage->value) || stage_checks_index(stage);
}

const struct array *stage_segments(const struct stage *stage)
{
	for (int s = 0; s < stage->group->stages.n; s++)
		for (int d = 0; d < stage->group->stages.items[s]->dims.n; d++) {
			const struct dim *dim = &stage->group->stages.items[s]->dims.items[d];

			if (dim->kind != DIM_RANGE && (dim->source.array->facts & FACT_TREE) &&
			    dim->source.array->segments)
				return dim->source.array->segments;
			if (dim->kind == DIM_BIND && (dim->source.array->facts & FACT_OFFSETS))
				return dim->source.array;
		}
	return NULL;
}

const char *array_item_name(const struct array *array)
{
	return array->stands_for ? array->stands_for->name : array->name;
}

bool array_is_argument(const struct array *array)
{
	return array->role == ROLE_IN || array->role == ROLE_OUT || array->role == ROLE_INOUT;
}

bool module_reads_array(const struct module *module, const struct array *array)
{
	bool reads = module->loop.until && expr_reads_array(module->loop.until, array);

	for (int i = 0; !reads && i < module->stages.n; i++)
		reads = stage_reads_array(module->stages.items[i], array);
	return reads;
}

bool restructuring_reads(const struct restructuring *r, const struct array *array)
{
	for (int i = 0; i < r->keys.n; i++)
		if (r->keys.items[i] == array)
			return true;
	for (int i = 0; i < r->copies.n; i++)
		if (r->copies.items[i].from == array)
			return true;
	return false;
}

bool array_is_optional(const struct module *module, const struct array *array)
{
	bool is = array->role == ROLE_IN && array->is_fixed && !array->facts && !module_reads_array(module, array);

	for (int i = 0; is && i < module->restructurings.n; i++)
		is = !restructuring_reads(&module->restructurings.items[i], array);
	return is;
}

bool group_writes(const struct group *group, const struct array *array)
{
	bool writes = false;

	for (int s = 0; !writes && s < group->stages.n; s++)
		writes = group->stages.items[s]->write.array == array;
	return writes;
}

bool group_reads(const struct group *group, const struct array *array)
{
	bool reads = false;

	for (int s = 0; !reads && s < group->stages.n; s++)
		reads = stage_reads_array(group->stages.items[s], array);
	return reads;
}

bool group_touches(const struct group *group, const struct array *array)
{
	return group_writes(group, array) || group_reads(group, array);
}

enum region_kind group_region(const struct module *module, const struct group *group)
{
	for (int r = 0; r < REGION_N; r++)
		for (int g = 0; g < module->regions[r].groups.n; g++)
			if (module->regions[r].groups.items[g] == group)
				return (enum region_kind) r;
	return REGION_N;
}

void group_run_forwards(struct module *module, struct group *group)
{
	group->direction = arena_new_array(module->arena, int, group->n_common + 1);
	for (int d = 0; d < group->n_common; d++)
		group->direction[d] = 1;
}

int64_t group_shift(const struct group *group, int dim)
{
	return group->shift && dim < group->n_common ? group->shift[dim] : 0;
}

bool groups_bind_alike(const struct group *a, const struct group *b, const struct dim *bound)
{
	bool alike = true;

	for (int d = 0; alike && d < a->n_common; d++)
		alike = group_shift(a, d) == group_shift(b, d) || !access_uses_dim(&bound->source, d);
	return alike;
}

enum reduce_op module_op_of_updates(const struct module *module, const struct array *array)
{
	for (int s = 0; s < module->stages.n; s++)
		if (module->stages.items[s]->write.array == array && module->stages.items[s]->op != REDUCE_SET)
			return module->stages.items[s]->op;
	return REDUCE_SET;
}

bool group_accumulates(const struct group *group)
{
	return group->stages.n > 0 && group->stages.items[group->stages.n - 1]->op != REDUCE_SET;
}
