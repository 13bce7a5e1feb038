/* SPDX-License-Identifier: MIT
 *
 * Definitions put in the place of their reads. Of an array with one definition, by cases or not, that has a value for
 * each point, each read is replaced by the value at the subscripts of the read, and what nobody reads any more is
 * dropped. What the value reads must be the same there: nothing that writes it may run in between.
 *
 * By itself the compiler does this where nothing is computed twice and there is one case: one stage reads the array, at
 * one subscript and once for each of its points; a value of few operations may be read there several times. `inline f`
 * asks for it everywhere, and is refused with the reason where it cannot be. Values that other items name stay. */
#include <string.h>

#include "passes/rewrite/inline_private.h"

enum { CHEAP = 3, LARGE = 400 };        /* operations: may be done twice; make a statement too long */

/* ---- the definition ---- */

/* Each dim of the stage is one subscript of what it writes. */
static bool is_point_wise(struct use *use, const struct stage *stage)
{
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

/* And all cases have the dims and subscripts of the first. */
static bool are_point_wise(struct use *use)
{
	const stage_list *cases = &use->definition->stages;
	const struct stage *first = cases->items[0];
	bool are = is_point_wise(use, first);

	for (int i = 1; i < cases->n && are; i++) {
		are = cases->items[i]->dims.n == first->dims.n &&
		      access_equal(&cases->items[i]->write, &first->write);
		for (int d = 0; d < first->dims.n && are; d++)
			are = dim_equal(&cases->items[i]->dims.items[d], &first->dims.items[d]);
	}
	return are;
}

static bool reads_local(const struct group *group)
{
	bool reads = false;

	for (int i = 0; i < group->stages.n; i++)
		reads = reads || stage_reads_local(group->stages.items[i]);
	return reads;
}

static bool reads_index(const struct group *group)
{
	bool does = false;

	for (int i = 0; i < group->stages.n; i++)
		for (int d = 0; d < group->stages.items[i]->dims.n; d++)
			does |= group->stages.items[i]->dims.items[d].kind == DIM_BIND;
	return does;
}

/* Why the array has no definition that could stand for its reads; NULL: it has, and `use` knows it. */
static const char *no_definition(struct use *use)
{
	const struct stage *last = NULL;
	bool is_one = true;
	int n = 0;

	if (use->array->role != ROLE_TEMP)
		return "it is not a 'func' or 'temp'";
	if (array_is_index(use->array) || use->array->storage != STORAGE_F64)
		return "it is an index array";
	for (int i = 0; i < use->module->stages.n; i++) {
		const struct stage *stage = use->module->stages.items[i];

		if (stage->write.array != use->array)
			continue;
		is_one = is_one && !stage->is_init && (!last || stage->group == last->group);
		last = stage;
		n++;
	}
	if (last && last->op != REDUCE_SET)
		return "it is a reduction";
	if (!last || !is_one)
		return "it has several definitions";
	use->definition = last->group;
	if (last->group->stages.n != n || reads_local(last->group))
		return "it is a reduction";
	if (group_reads(last->group, use->array))
		return "it is a recurrence";
	if (are_point_wise(use))
		return NULL;
	return reads_index(last->group) ? "its definition reads an index array"
					: "its subscripts are not the variables of its definition";
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

static void note_input(struct access *access, void *user)
{
	bool *is_read = user;

	is_read[access->array->number] = true;
}

/* By number of an array: does the definition read it? */
static const bool *reads_of_definition(const struct use *use)
{
	bool *is_read = arena_new_array(use->module->arena, bool, use->module->arrays.n);

	for (int i = 0; i < use->definition->stages.n; i++)
		stage_reads(use->definition->stages.items[i], note_input, is_read);
	return is_read;
}

/* What the definition reads and something changes before `reader` runs; NULL. */
static const struct array *changed_before(const struct use *use, const bool *is_read, const struct stage *reader)
{
	const struct module *module = use->module;
	struct place from = place_of(module, use->definition), to = place_of(module, reader->group);

	for (int i = 0; i < module->stages.n; i++) {
		const struct stage *writer = module->stages.items[i];

		if (is_read[writer->write.array->number] &&
		    runs_between(place_of(module, writer->group), from, to))
			return writer->write.array;
	}
	return NULL;
}

/* Is it computed in each iteration of the loop, other cells in each, and read behind it? */
static bool is_read_behind_loop(const struct use *use)
{
	bool is = false;

	for (int i = 0; i < use->readers->n; i++)
		is = is || place_of(use->module, use->readers->items[i]->group).region == REGION_EPILOGUE;
	return is && place_of(use->module, use->definition).region == REGION_BODY;
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
	struct stage *reader = use->readers->n == 1 ? use->readers->items[0] : NULL;
	struct reads reads = { use, NULL, 0, true };
	struct expr *value = use->definition->stages.items[0]->value;
	int price = cost(value);

	if (use->definition->stages.n != 1 || expr_has_choice(value))
		return false;
	if (!reader || place_of(use->module, reader->group).region !=
		       place_of(use->module, use->definition).region)
		return false;
	expr_reads(reader->value, note_read, &reads);
	return reads.n && reads.is_same && (reads.n == 1 || price <= CHEAP) && price + cost(reader->value) < LARGE &&
	       is_once_per_point(reader, reads.first);
}

/* ---- the pass ---- */

static const struct array *changed_for_some(const struct use *use)
{
	const struct array *changed = NULL;
	const bool *is_read = reads_of_definition(use);

	for (int i = 0; !changed && i < use->readers->n; i++)
		changed = changed_before(use, is_read, use->readers->items[i]);
	return changed;
}

static bool is_named(const struct module *module, const struct array *array, bool by_inline)
{
	for (int i = 0; i < module->overrides.n; i++) {
		const struct override *override = &module->overrides.items[i];

		for (int s = 0; s < override->subjects.n && (override->verb == VERB_INLINE) == by_inline; s++)
			if (!strcmp(override->subjects.items[s], array->name))
				return true;
	}
	return false;
}

static void inline_one(struct readers *readers, struct use *use, const char *reason)
{
	inline_reads(use);
	readers_replace(readers, use->array, use->definition);
	module_decide(use->module, DECISION_INLINE, use->array->name, use->definition->stages.items[0]->span, "%s",
		      reason);
}

static bool refuse(struct module *module, const struct override *override, enum diag_code code, const char *name,
		   const char *reason)
{
	diag_error(module->diags, code, override->span, "'%s' cannot be inlined: %s", name, reason);
	return false;
}

static struct use use_of(struct readers *readers, struct array *array)
{
	return (struct use) { .module = readers->module, .array = array,
			      .readers = array ? &readers->of[array->number] : NULL };
}

static bool inline_subject(struct readers *readers, const struct override *override, const char *name)
{
	struct module *module = readers->module;
	struct use use = use_of(readers, module_find_array(module, name));
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
	inline_one(readers, &use, "the schedule asks for it");
	return true;
}

static bool is_switch_off(const struct override *override)
{
	return override->choice == CHOICE_OFF && !override->subjects.n;
}

/* False when an item cannot be honoured. */
static bool inline_items(struct readers *readers, bool *is_automatic)
{
	struct module *module = readers->module;
	bool ok = true;

	for (int i = 0; i < module->overrides.n; i++) {
		struct override *override = &module->overrides.items[i];

		if (override->verb != VERB_INLINE)
			continue;
		if (is_switch_off(override))
			*is_automatic = false;
		else if (override->choice != CHOICE_ABSENT || override->words.n || override->numbers.n ||
			 override->is_used)
			continue;
		override->is_used = true;
		for (int s = 0; override->is_used && s < override->subjects.n; s++)
			override->is_used = inline_subject(readers, override, override->subjects.items[s]);
		ok = ok && override->is_used;
	}
	return ok;
}

static void inline_by_itself(struct readers *readers)
{
	for (int a = 0; a < readers->module->arrays.n; a++) {
		struct use use = use_of(readers, readers->module->arrays.items[a]);

		if (is_named(readers->module, use.array, false) || no_definition(&use) || changed_for_some(&use) ||
		    !pays(&use))
			continue;
		inline_one(readers, &use, "it is read once, where it is computed");
	}
}

bool pass_inline(struct module *module, const struct pass_options *options)
{
	bool is_automatic = options->inlining && options->schedule != ORDER_TEXTUAL;
	struct readers readers = readers_new(module);

	if (!inline_items(&readers, &is_automatic))
		return false;
	if (is_automatic)
		inline_by_itself(&readers);
	module_prune(module, false);
	return true;
}
