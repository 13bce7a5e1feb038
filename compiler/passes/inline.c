/* SPDX-License-Identifier: MIT
 *
 * Definitions put in the place of their reads. Of an array with one definition, a value for each point and no choice,
 * each read is replaced by the value at the subscripts of the read, and what nobody reads any more is dropped. What
 * the value reads must be the same there: nothing that writes it may run in between.
 *
 * By itself the compiler does this where nothing is computed twice: one stage reads the array, at one subscript and
 * once for each of its points; a value of few operations may be read there several times. `inline f` asks for it
 * everywhere, and is refused with the reason where it cannot be. Values that other items name stay. */
#include <string.h>

#include "passes/pass_private.h"

enum { CHEAP = 3, LARGE = 400 };        /* operations: may be done twice; make a statement too long */

struct use {
	struct module *module;
	struct array *array;
	struct stage *definition;
	int dim_of[8];                  /* by subscript: the dim of the definition that it is, plus `offset` */
	int64_t offset[8];
};

/* ---- the definition ---- */

/* Each dim of the stage is one subscript of what it writes. */
static bool is_point_wise(struct use *use)
{
	const struct stage *stage = use->definition;
	unsigned seen = 0;

	if (stage->dims.n != use->array->rank)
		return false;
	for (int i = 0; i < stage->dims.n; i++) {
		if (stage->dims.items[i].kind != DIM_RANGE ||
		    !expr_is_shifted_dim(stage->write.subs[i], &use->dim_of[i], &use->offset[i]))
			return false;
		seen |= 1U << use->dim_of[i];
	}
	return seen == (1U << stage->dims.n) - 1;
}

static void find_local(struct access *access, void *user)
{
	bool *found = user;

	*found = *found || access->array->role == ROLE_LOCAL;
}

static bool reads_local(struct stage *stage)
{
	bool found = false;

	expr_reads(stage->value, find_local, &found);
	return found;
}

/* Why the array has no definition that could stand for its reads; NULL: it has, and `use` knows it. */
static const char *no_definition(struct use *use)
{
	int n = 0;

	if (use->array->role != ROLE_TEMP)
		return "it is not a 'func' or 'temp'";
	if (array_is_index(use->array) || use->array->storage != STORAGE_F64)
		return "it is an index array";
	for (int i = 0; i < use->module->stages.n; i++)
		if (use->module->stages.items[i]->write.array == use->array) {
			use->definition = use->module->stages.items[i];
			n++;
		}
	if (n && use->definition->op != REDUCE_SET)
		return "it is a reduction";
	if (n != 1 || use->definition->is_init)
		return "it has several definitions";
	if (use->definition->group->stages.n != 1 || reads_local(use->definition))
		return "it is a reduction";
	if (stage_reads_array(use->definition, use->array))
		return "it is a recurrence";
	return is_point_wise(use) ? NULL : "its subscripts are not the variables of its definition";
}

/* ---- when things run ---- */

struct place {
	int region, position;
};

static struct place place_of(const struct module *module, const struct group *group)
{
	for (int r = 0; r < REGION_N; r++)
		for (int g = 0; g < module->regions[r].groups.n; g++)
			if (module->regions[r].groups.items[g] == group)
				return (struct place) { r, g };
	return (struct place) { 0, 0 };
}

static bool is_before(struct place a, struct place b)
{
	return a.region < b.region || (a.region == b.region && a.position < b.position);
}

/* May `writer` run behind `from` and not behind `to`? */
static bool runs_between(struct place writer, struct place from, struct place to)
{
	bool is_loop = to.region == REGION_BODY && from.region != REGION_BODY && writer.region == REGION_BODY;

	return is_loop || (is_before(from, writer) && !is_before(to, writer));
}

/* What the definition reads and something changes before `reader` runs; NULL. */
static const struct array *changed_before(const struct use *use, const struct stage *reader)
{
	const struct module *module = use->module;
	struct place from = place_of(module, use->definition->group), to = place_of(module, reader->group);

	for (int i = 0; i < module->stages.n; i++) {
		const struct stage *writer = module->stages.items[i];

		if (stage_reads_array(use->definition, writer->write.array) &&
		    runs_between(place_of(module, writer->group), from, to))
			return writer->write.array;
	}
	return NULL;
}

/* Is it computed in each iteration of the loop, other cells in each, and read behind it? */
static bool is_read_behind_loop(const struct use *use)
{
	bool is = false;

	for (int i = 0; i < use->module->stages.n; i++) {
		struct stage *stage = use->module->stages.items[i];

		is = is || (stage_reads_array(stage, use->array) &&
			    place_of(use->module, stage->group).region == REGION_EPILOGUE);
	}
	return is && place_of(use->module, use->definition->group).region == REGION_BODY;
}

/* ---- reads ---- */

static struct expr *shifted(struct arena *arena, struct expr *expr, int64_t by)
{
	return by ? expr_binary(arena, OP_ADD, TYPE_I64, expr, expr_int(arena, by, expr->span)) : expr;
}

static struct expr *value_at(const struct use *use, const struct access *access)
{
	struct arena *arena = use->module->arena;
	struct expr *dims[8], *value;

	for (int i = 0; i < use->array->rank; i++)
		dims[use->dim_of[i]] = shifted(arena, access->subs[i], -use->offset[i]);
	value = expr_substitute(arena, use->definition->value, dims);
	return expr_as(arena, use->array->type, value);
}

static struct expr *with_values(const struct use *use, struct expr *expr)
{
	struct expr *copy;
	int n = expr_n_args(expr);

	if (expr->kind == EXPR_READ && expr->access.array == use->array)
		return value_at(use, &expr->access);
	if (!n)
		return expr;
	copy = arena_new(use->module->arena, struct expr);
	*copy = *expr;
	copy->args = arena_new_array(use->module->arena, struct expr *, n);
	for (int i = 0; i < n; i++)
		copy->args[i] = with_values(use, expr->args[i]);
	return copy;
}

static void inline_reads(const struct use *use)
{
	for (int i = 0; i < use->module->stages.n; i++) {
		struct stage *stage = use->module->stages.items[i];

		if (stage_reads_array(stage, use->array))
			stage->value = with_values(use, stage->value);
	}
}

/* ---- what pays ---- */

/* Division and functions count more than a sum. */
static int cost(const struct expr *expr)
{
	bool is_cheap = op_is_comparison(expr->op) || expr->op == OP_ADD || expr->op == OP_SUB || expr->op == OP_MUL ||
			expr->op == OP_NEG || expr->op == OP_MIN || expr->op == OP_MAX || expr->op == OP_SELECT;
	int n = expr->kind != EXPR_OP ? 0 : is_cheap ? 1 : 8;

	for (int i = 0; i < expr_n_args(expr); i++)
		n += cost(expr->args[i]);
	return n;
}

struct reads {
	const struct use *use;
	const struct access *first;
	int n;
	bool is_same;
};

static void note_read(struct access *access, void *user)
{
	struct reads *reads = user;

	if (access->array != reads->use->array)
		return;
	for (int i = 0; reads->first && i < access->array->rank; i++)
		reads->is_same = reads->is_same && expr_equal(reads->first->subs[i], access->subs[i]);
	reads->first = access;
	reads->n++;
}

/* Each loop of the stage leads to other cells: nothing is computed again. */
static bool is_once_per_point(const struct stage *stage, const struct access *access)
{
	unsigned loops = 0, seen = 0;
	int dim;
	int64_t offset;

	for (int d = 0; d < stage->dims.n; d++)
		if (stage->dims.items[d].kind != DIM_BIND)
			loops |= 1U << d;
	for (int i = 0; i < access->array->rank; i++)
		if (expr_is_shifted_dim(access->subs[i], &dim, &offset))
			seen |= 1U << dim;
	return stage->dims.n < 32 && (loops & ~seen) == 0;
}

static bool pays(const struct use *use)
{
	struct stage *reader = NULL;
	struct reads reads = { use, NULL, 0, true };
	int price = cost(use->definition->value);

	for (int i = 0; i < use->module->stages.n; i++) {
		struct stage *stage = use->module->stages.items[i];

		if (!stage_reads_array(stage, use->array))
			continue;
		if (reader)
			return false;
		reader = stage;
	}
	if (!reader || place_of(use->module, reader->group).region !=
		       place_of(use->module, use->definition->group).region)
		return false;
	expr_reads(reader->value, note_read, &reads);
	return reads.n && reads.is_same && (reads.n == 1 || price <= CHEAP) && price + cost(reader->value) < LARGE &&
	       is_once_per_point(reader, reads.first);
}

/* ---- the pass ---- */

static const struct array *changed_for_some(const struct use *use)
{
	const struct array *changed = NULL;

	for (int i = 0; !changed && i < use->module->stages.n; i++)
		if (stage_reads_array(use->module->stages.items[i], use->array))
			changed = changed_before(use, use->module->stages.items[i]);
	return changed;
}

static bool is_named(const struct module *module, const struct array *array, bool by_inline)
{
	for (int i = 0; i < module->overrides.n; i++) {
		const struct override *override = &module->overrides.items[i];

		for (int s = 0; s < override->subjects.n && !strcmp(override->verb, "inline") == by_inline; s++)
			if (!strcmp(override->subjects.items[s], array->name))
				return true;
	}
	return false;
}

static void inline_one(struct use *use, const char *reason)
{
	inline_reads(use);
	module_decide(use->module, "inline", use->array->name, "inlined", "stored", use->definition->span,
		      "%s", reason);
}

static bool refuse(struct module *module, const struct override *override, enum diag_code code, const char *name,
		   const char *reason)
{
	diag_error(module->diags, code, override->span, "'%s' cannot be inlined: %s", name, reason);
	return false;
}

static bool inline_subject(struct module *module, const struct override *override, const char *name)
{
	struct use use = { .module = module, .array = module_find_array(module, name) };
	const char *reason = use.array ? no_definition(&use) : "it is not an array";
	const struct array *changed = reason ? NULL : changed_for_some(&use);

	if (!reason && is_read_behind_loop(&use))
		reason = "each iteration defines other values, and it is read behind the loop";
	if (reason)
		return refuse(module, override, DIAG_BAD_ITEM, name, reason);
	if (changed)
		return refuse(module, override, DIAG_BREAKS_DEPENDENCE, name,
			      arena_printf(module->arena, "'%s', which it reads, changes before it is used",
					   changed->name));
	inline_one(&use, "the schedule asks for it");
	return true;
}

static bool is_switch_off(const struct override *override)
{
	return !strcmp(override->choice, "off") && !override->subjects.n;
}

/* False when an item cannot be honoured. */
static bool inline_items(struct module *module, bool *is_automatic)
{
	bool ok = true;

	for (int i = 0; i < module->overrides.n; i++) {
		struct override *override = &module->overrides.items[i];

		if (strcmp(override->verb, "inline") != 0)
			continue;
		if (is_switch_off(override))
			*is_automatic = false;
		else if (*override->choice || override->words.n || override->numbers.n)
			continue;
		override->is_used = true;
		for (int s = 0; override->is_used && s < override->subjects.n; s++)
			override->is_used = inline_subject(module, override, override->subjects.items[s]);
		ok = ok && override->is_used;
	}
	return ok;
}

static void inline_by_itself(struct module *module, bool overrides)
{
	for (int a = 0; a < module->arrays.n; a++) {
		struct use use = { .module = module, .array = module->arrays.items[a] };

		if ((overrides && is_named(module, use.array, false)) || no_definition(&use) ||
		    changed_for_some(&use) || !pays(&use))
			continue;
		inline_one(&use, "it is read once, where it is computed");
	}
}

bool pass_inline(struct module *module, const struct pass_options *options)
{
	bool is_automatic = options->inlining && !strcmp(options->schedule, "auto");

	if (options->overrides && !inline_items(module, &is_automatic))
		return false;
	if (is_automatic)
		inline_by_itself(module, options->overrides);
	module_prune(module, false);
	return true;
}
