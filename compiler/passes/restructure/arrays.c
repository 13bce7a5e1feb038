/* SPDX-License-Identifier: MIT
 *
 * A restructuring in the module, and the arrays that its inspector makes. Accumulations over the same points by the
 * same keys share one. Indices are stored in 32 bits, those that are read once for a run in 16 if that is enough:
 * where the points or a mode have more values, the plan is refused by the runtime. */
#include <string.h>

#include "passes/restructure/restructure_private.h"

static struct array *key_array(const struct accumulation *accumulation, const struct choice *choice, int number)
{
	return accumulation->stage->dims.items[choice->keys.items[number]].source.array;
}

static bool is_of_choice(const struct restructuring *r, const struct accumulation *accumulation,
			 const struct choice *choice)
{
	bool is = r->keys.n == choice->keys.n && !r->runs == !choice->has_runs &&
		  !r->chunks == (choice->partition == PARTITION_COEFF || choice->partition == PARTITION_MODE ||
				 choice->partition == PARTITION_PARTS) &&
		  !r->part_values == (choice->partition != PARTITION_PARTS) &&
		  r->is_by_threads == (choice->partition == PARTITION_EXCLUSIVE) &&
		  r->coordinates == choice->coordinates;

	for (int i = 0; is && i < r->keys.n; i++)
		is = r->keys.items[i] == key_array(accumulation, choice, i);
	if (!choice->renumbered)
		return is && !r->renumberings.n;
	return is && r->renumberings.n &&
	       r->renumberings.items[0].mode == accumulation->stage->dims.items[choice->renumbered].source.array;
}

/* ---- arrays ---- */

static struct array *add_array(struct module *module, const struct restructuring *r, const char *what,
			       enum scalar_type type, struct expr *extent)
{
	char *name = arena_printf(module->arena, "%s.%s", r->name, what);
	struct array *array;

	for (int i = 2; module_find_array(module, name); i++)
		name = arena_printf(module->arena, "%s.%s_%d", r->name, what, i);
	array = module_add_array(module, name, ROLE_INSPECTED, type, 1, r->span);
	array->hi[0] = extent;
	return array;
}

static struct expr *plus_one(struct module *module, struct expr *expr)
{
	return expr_binary(module->arena, OP_ADD, TYPE_I64, expr, expr_int(module->arena, 1, expr->span));
}

/* Offsets of `n` pieces of something of which there are `limit`. */
static struct array *add_offsets(struct module *module, const struct restructuring *r, const char *what,
				 struct expr *n, struct expr *limit)
{
	struct array *array = add_array(module, r, what, TYPE_I32, plus_one(module, n));

	array->facts = FACT_OFFSETS;
	array->limit = limit;
	return array;
}

/* A number that the inspector finds. */
static struct expr *add_count(struct module *module, const struct restructuring *r, const char *what, int *number)
{
	const char *base = arena_printf(module->arena, "%s_%s", r->name, what), *name = base;

	for (int i = 2; module_has_param(module, name); i++)
		name = arena_printf(module->arena, "%s_%d", base, i);
	*number = module_add_param(module, name, r->span);
	module->params.items[*number].is_inspected = true;
	return expr_param(module->arena, module, *number, r->span);
}

/* ---- the restructuring ---- */

/* "PHI", then "PHI_2", … */
static const char *name_of(const struct accumulation *accumulation)
{
	struct module *module = accumulation->module;
	const char *name = accumulation->object;
	int n = 1;

	for (int i = 0; i < module->restructurings.n; i++)
		n += !strncmp(module->restructurings.items[i].name, name, strlen(name));
	return n > 1 ? arena_printf(module->arena, "%s_%d", name, n) : name;
}

static struct array *add_index(struct module *module, const struct restructuring *r, const char *what, struct expr *n,
			       struct expr *limit)
{
	struct array *array = add_array(module, r, what, TYPE_I32, n);

	array->facts = FACT_INDEX;
	array->limit = limit;
	return array;
}

/* A permutation of the values of a mode. */
static struct array *add_order(struct module *module, const struct restructuring *r, const struct array *mode)
{
	struct array *order = add_index(module, r, arena_printf(module->arena, "%s_order", array_member_name(mode)),
					mode->limit, mode->limit);

	order->facts |= FACT_UNIQUE;
	return order;
}

static void add_renumbering(const struct accumulation *accumulation, const struct choice *choice,
			    struct restructuring *r)
{
	struct module *module = accumulation->module;
	struct renumbering renumbering = { .mode = accumulation->stage->dims.items[choice->renumbered].source.array };

	renumbering.order = add_order(module, r, renumbering.mode);
	vec_push(module->arena, &r->renumberings, renumbering);
}

static void add_parts(struct module *module, struct restructuring *r)
{
	struct expr *n = add_count(module, r, "parts", &r->n_parts);

	r->part_values = add_index(module, r, "part_values", n, r->keys.items[0]->limit);
	r->part_begins = add_index(module, r, "part_begins", n, plus_one(module, r->n));
	r->part_ends = add_index(module, r, "part_ends", n, plus_one(module, r->n));
}

static struct restructuring *add_restructuring(const struct accumulation *accumulation, const struct choice *choice)
{
	struct module *module = accumulation->module;
	struct restructuring r = { .name = name_of(accumulation), .span = accumulation->stage->span,
				   .n = accumulation->stage->dims.items[0].hi, .n_runs = -1, .n_chunks = -1,
				   .n_parts = -1 };
	bool has_segments = choice->partition != PARTITION_COEFF && choice->partition != PARTITION_PARTS;
	struct expr *n_segments, *n = r.n;

	for (int i = 0; i < choice->keys.n; i++)
		vec_push(module->arena, &r.keys, key_array(accumulation, choice, i));
	n_segments = r.keys.items[0]->limit;
	if (choice->has_runs) {
		n = add_count(module, &r, "runs", &r.n_runs);
		r.runs = add_offsets(module, &r, "run_offsets", n, r.n);
	}
	r.segments = add_offsets(module, &r, "offsets", n_segments, n);
	r.is_by_threads = choice->partition == PARTITION_EXCLUSIVE;
	if (r.is_by_threads || choice->partition == PARTITION_CHUNKS)
		r.chunks = add_offsets(module, &r, "chunk_offsets", add_count(module, &r, "chunks", &r.n_chunks),
				       n_segments);
	if (choice->partition == PARTITION_PARTS)
		add_parts(module, &r);
	r.coordinates = choice->coordinates;
	if (r.coordinates && has_segments)
		r.order = add_order(module, &r, r.keys.items[0]);
	if (choice->renumbered)
		add_renumbering(accumulation, choice, &r);
	vec_push(module->arena, &module->restructurings, r);
	return &module->restructurings.items[module->restructurings.n - 1];
}

struct restructuring *restructuring_of(const struct accumulation *accumulation, const struct choice *choice)
{
	struct module *module = accumulation->module;

	for (int i = 0; i < module->restructurings.n; i++)
		if (is_of_choice(&module->restructurings.items[i], accumulation, choice))
			return &module->restructurings.items[i];
	return add_restructuring(accumulation, choice);
}

/* ---- copies ---- */

struct array *restructuring_copy(struct module *module, struct restructuring *r, struct array *from, bool is_per_run)
{
	struct inspected_copy copy = { .from = from, .is_per_run = is_per_run };
	bool is_index = !from || array_is_index(from);
	struct expr *n = is_per_run ? expr_param(module->arena, module, r->n_runs, r->span) : r->n;

	for (int i = 0; i < r->copies.n; i++)
		if (r->copies.items[i].from == from && r->copies.items[i].is_per_run == is_per_run)
			return r->copies.items[i].to;
	copy.to = add_array(module, r, arena_printf(module->arena, "%s_%s", is_per_run ? "run" : "sorted",
						    from ? array_member_name(from) : "order"),
			    is_index ? TYPE_I32 : from->type, n);
	copy.to->storage = is_index ? STORAGE_F64 : from->storage;
	if (is_index) {
		copy.to->facts = from ? from->facts & FACT_INDEX : FACT_INDEX | FACT_UNIQUE;
		copy.to->limit = from ? from->limit : r->n;
	}
	vec_push(module->arena, &r->copies, copy);
	return copy.to;
}
