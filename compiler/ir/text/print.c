/* SPDX-License-Identifier: MIT
 *
 * A module as text, line by line; docs/ir.md describes the format and ir/text/read.c reads it. What is computed from
 * the module (domains, dependences) is left out, schedules are included. */
#include "ir/text/print_private.h"

#include <inttypes.h>

const char *const role_names[] = {
	"in", "out", "inout", "state", "next", "temp", "private", "block", "inspected", "local"
};
const char *const region_names[] = { "prologue", "body", "epilogue" };

struct printer {
	struct module *module;
	struct str text;
	bool is_draft;
};

static void print_here(struct printer *p, const struct stage *stage, const struct expr *expr)
{
	const struct expr_printer exprs = { &p->text, p->module, stage, true };

	print_expr(&exprs, expr);
}

static void print_access_here(struct printer *p, const struct stage *stage, const struct access *access)
{
	const struct expr_printer exprs = { &p->text, p->module, stage, true };

	print_access(&exprs, access);
}

static void print_range(struct printer *p, const struct stage *stage, const struct expr *lo, const struct expr *hi)
{
	print_here(p, stage, lo);
	str_add(&p->text, "..");
	print_here(p, stage, hi);
}

/* ---- declarations ---- */

static void print_param_line(struct printer *p, const struct param *param)
{
	str_add(&p->text, param->is_scalar ? "scalar " : param->is_loop ? "counter " :
		param->is_inspected ? "inspected " : param->derivation ? "derived " : "param ");
	print_name(&p->text, param->name);
	if (param->derivation) {
		str_add(&p->text, " = %s(", derivation_names[param->derivation]);
		print_here(p, NULL, param->of);
		str_add(&p->text, ", %" PRId64 ")", param->limit);
	}
	if (param->is_inspected && param->of) {
		str_add(&p->text, " most ");
		print_here(p, NULL, param->of);
	}
	if (param->is_scalar)
		str_add(&p->text, " : %s", type_name(param->type));
	if (param->is_specialized)
		str_add(&p->text, " = %" PRId64, param->value);
	str_add(&p->text, "\n");
}

static void print_assumption(struct printer *p, const struct expr *condition)
{
	str_add(&p->text, "assume ");
	print_here(p, NULL, condition);
	str_add(&p->text, "\n");
}

static void print_limit(struct printer *p, const char *word, const struct expr *limit)
{
	str_add(&p->text, " %s(", word);
	print_here(p, NULL, limit);
	str_add(&p->text, ")");
}

static void print_facts(struct printer *p, const struct array *array)
{
	if (array->facts & FACT_OFFSETS)
		print_limit(p, "offsets", array->limit);
	if (array->facts & FACT_INDEX)
		print_limit(p, "index", array->limit);
	str_add(&p->text, "%s%s%s%s", array->facts & FACT_SORTED ? " sorted" : "",
		array->facts & FACT_UNIQUE ? " unique" : "", array->facts & FACT_TREE ? " tree" : "",
		array->is_proved ? " proved" : "");
	if (array->segments) {
		str_add(&p->text, " segments ");
		print_name(&p->text, array->segments->name);
	}
}

/* ` WORD NAME`, where there is such an array. */
static void print_array_name(struct printer *p, const char *word, const struct array *array)
{
	if (!array)
		return;
	str_add(&p->text, *word ? " " : "");
	str_add(&p->text, "%s ", word);
	print_name(&p->text, array->name);
}

static void print_array(struct printer *p, const struct array *array)
{
	str_add(&p->text, "array ");
	print_name(&p->text, array->name);
	str_add(&p->text, " : %s%s %s", array->is_fixed ? "fixed " : "", role_names[array->role],
		type_name(array->type));
	if (array->storage != STORAGE_F64)
		str_add(&p->text, " as %s ", storage_name(array->storage));
	if (array->sums != array->type)
		str_add(&p->text, " sums %s ", type_name(array->sums));
	str_add(&p->text, "[");
	for (int i = 0; i < array->rank; i++) {
		str_add(&p->text, i ? ", " : "");
		print_range(p, NULL, array->lo[i], array->hi[i]);
	}
	str_add(&p->text, "]");
	print_facts(p, array);
	for (int64_t i = 0; i < array->known.n; i++)
		str_add(&p->text, "%s%" PRId64, i ? ", " : " known ", array->known.parents[i]);
	print_array_name(p, "of", array->owner);
	print_array_name(p, "for", array->stands_for);
	print_array_name(p, "rows", array->row_of);
	str_add(&p->text, "%s%s", array->is_swapped ? " swapped" : "", array->is_kept ? " kept" : "");
	if (array->group)
		str_add(&p->text, " group %d", array->group->number);
	if (array->stored.folded)
		str_add(&p->text, " folded %u%s", array->stored.folded, array->stored.is_per_thread ? " threads" : "");
	if (array->stored.window)
		str_add(&p->text, " window %d of %lld", array->stored.windowed, (long long) array->stored.window);
	if (array->in_team)
		str_add(&p->text, " team %s %u %lld %d %lld %d", array->in_team->is_shared ? "shared" : "registers",
			array->in_team->folded, (long long) array->in_team->row, array->in_team->windowed,
			(long long) array->in_team->window, array->in_team->room);
	if (array->stored.is_prefetched)
		str_add(&p->text, " prefetched");
	if (array->stored.lanes)
		str_add(&p->text, " lanes %d", array->stored.lanes);
	print_array_name(p, "in", array->stored.stands_in);
	str_add(&p->text, "\n");
}

static void print_count(struct printer *p, int param)
{
	if (param < 0)
		return;
	str_add(&p->text, " count ");
	print_name(&p->text, p->module->params.items[param].name);
}

static void print_restructuring(struct printer *p, const struct restructuring *r)
{
	str_add(&p->text, "restructuring ");
	print_string(&p->text, r->name);
	str_add(&p->text, " of ");
	print_here(p, NULL, r->n);
	str_add(&p->text, " keys");
	for (int i = 0; i < r->keys.n; i++)
		print_array_name(p, "", r->keys.items[i]);
	print_array_name(p, "segments", r->segments);
	print_array_name(p, "runs", r->runs);
	print_count(p, r->n_runs);
	print_array_name(p, "chunks", r->chunks);
	print_count(p, r->n_chunks);
	str_add(&p->text, r->is_by_threads ? " threads" : "");
	print_array_name(p, "parts", r->part_values);
	print_array_name(p, "begins", r->part_begins);
	print_array_name(p, "ends", r->part_ends);
	print_count(p, r->n_parts);
	print_array_name(p, "along", r->coordinates);
	print_array_name(p, "values", r->order);
	for (int i = 0; i < r->copies.n; i++) {
		print_array_name(p, "copy", r->copies.items[i].to);
		print_array_name(p, "from", r->copies.items[i].from);
		str_add(&p->text, r->copies.items[i].is_per_run ? " run" : "");
	}
	for (int i = 0; i < r->renumberings.n; i++) {
		print_array_name(p, "renumber", r->renumberings.items[i].mode);
		print_array_name(p, "order", r->renumberings.items[i].order);
	}
	str_add(&p->text, "\n");
}

static void print_branching(struct printer *p, const struct branching *branching)
{
	str_add(&p->text, "branches");
	print_array_name(p, "of", branching->tree);
	print_array_name(p, "depth", branching->depth);
	print_array_name(p, "levels", branching->levels);
	print_array_name(p, "begins", branching->begins);
	print_array_name(p, "ends", branching->ends);
	str_add(&p->text, "\n");
}

static void print_param_name(struct printer *p, const char *word, int param)
{
	str_add(&p->text, " %s ", word);
	print_name(&p->text, p->module->params.items[param].name);
}

static void print_chunking(struct printer *p, const struct chunking *chunking)
{
	str_add(&p->text, "chunks");
	print_array_name(p, "of", chunking->tree);
	str_add(&p->text, " rows %" PRId64, chunking->rows);
	print_param_name(p, "count", chunking->n_chunks);
	print_param_name(p, "count", chunking->n_turns);
	print_array_name(p, "offsets", chunking->offsets);
	print_array_name(p, "above", chunking->above);
	print_array_name(p, "child", chunking->child);
	print_array_name(p, "sibling", chunking->sibling);
	print_array_name(p, "turn", chunking->turn);
	if (chunking->order) {
		print_array_name(p, "order", chunking->order);
		print_array_name(p, "turns", chunking->turns);
	}
	str_add(&p->text, "\n");
}

static void print_loop(struct printer *p, const struct loop *loop)
{
	str_add(&p->text, "loop ");
	print_name(&p->text, loop->var);
	str_add(&p->text, " in ");
	print_range(p, NULL, loop->lo, loop->hi);
	if (loop->until) {
		str_add(&p->text, " until ");
		print_here(p, NULL, loop->until);
	}
	str_add(&p->text, "\n");
}

/* ---- stages ---- */

static void print_dim_line(struct printer *p, const struct stage *stage, const struct dim *dim)
{
	str_add(&p->text, dim->kind == DIM_BIND ? "    let " : "    for ");
	print_name(&p->text, dim->name);
	switch (dim->kind) {
	case DIM_RANGE:
		str_add(&p->text, " in ");
		print_range(p, stage, dim->lo, dim->hi);
		str_add(&p->text, dim->is_short ? " short" : "");
		break;
	case DIM_BIND:
		str_add(&p->text, " = ");
		print_access_here(p, stage, &dim->source);
		break;
	case DIM_CHILDREN:
		str_add(&p->text, " in children ");
		print_access_here(p, stage, &dim->source);
		break;
	}
	str_add(&p->text, "\n");
}

static void print_stage(struct printer *p, const struct stage *stage)
{
	str_add(&p->text, "  stage %d%s%s%s\n", stage->number, stage->is_init ? " init" : "",
		stage->is_commit ? " commit" : "", stage->is_next ? " next" : "");
	for (int i = 0; i < stage->dims.n; i++)
		print_dim_line(p, stage, &stage->dims.items[i]);
	if (stage->guard) {
		str_add(&p->text, "    where ");
		print_here(p, stage, stage->guard);
		str_add(&p->text, "\n");
	}
	str_add(&p->text, "    ");
	print_access_here(p, stage, &stage->write);
	str_add(&p->text, " %s ", reduce_names[stage->op]);
	print_here(p, stage, stage->value);
	str_add(&p->text, "\n");
}

static void print_group(struct printer *p, const struct group *group)
{
	str_add(&p->text, "group %d ", group->number);
	print_string(&p->text, group->name);
	str_add(&p->text, " common %d%s", group->n_common, group->is_recurrence ? " recurrence" : "");
	if (group->direction)
		str_add(&p->text, " directions");
	for (int i = 0; group->direction && i < group->n_common; i++)
		str_add(&p->text, group->direction[i] < 0 ? " -" : " +");
	str_add(&p->text, "%s%s", group->is_live ? " live" : "", group->has_sparse_weights ? " few" : "");
	str_add(&p->text, "%s%s", group->is_apart ? " apart" : "", group->is_in_memory ? " memory" : "");
	str_add(&p->text, "%s", group->is_by_rows ? " rows" : "");
	if (group->n_fused)
		str_add(&p->text, " fused %d", group->n_fused);
	if (group->shift)
		str_add(&p->text, " shifts");
	for (int i = 0; group->shift && i < group->n_common; i++)
		str_add(&p->text, " %lld", (long long) group->shift[i]);
	str_add(&p->text, "\n");
	for (int i = 0; i < group->stages.n; i++)
		print_stage(p, group->stages.items[i]);
}

static void print_region(struct printer *p, enum region_kind kind)
{
	const struct region *region = &p->module->regions[kind];

	if (region->groups.n)
		str_add(&p->text, "\n%s\n", region_names[kind]);
	for (int i = 0; i < region->groups.n; i++)
		print_group(p, region->groups.items[i]);
}

/* ---- decisions and schedules ---- */

static void print_strings(struct printer *p, const char *word, const char *const *strings, int n)
{
	if (n)
		str_add(&p->text, " %s", word);
	for (int i = 0; i < n; i++) {
		str_add(&p->text, " ");
		print_string(&p->text, strings[i]);
	}
}

static void print_override(struct printer *p, const struct override *override)
{
	const char *const verb = verb_name(override->verb), *const choice = override_choice(override);

	str_add(&p->text, "override");
	print_strings(p, "of", &verb, 1);
	print_strings(p, "subjects", override->subjects.items, override->subjects.n);
	print_strings(p, "choice", &choice, 1);
	print_strings(p, "words", override->words.items, override->words.n);
	if (override->numbers.n)
		str_add(&p->text, " numbers");
	for (int i = 0; i < override->numbers.n; i++)
		str_add(&p->text, " %" PRId64, override->numbers.items[i]);
	str_add(&p->text, override->is_used ? " used\n" : "\n");
}

static void print_decision(struct printer *p, const struct decision *decision)
{
	const char *const texts[] = { decision->pass, decision->subject, decision->chosen, decision->alternatives,
				      decision->reason };

	print_strings(p, "decision", texts, 5);
	str_add(&p->text, "\n");
}

static void print_region_schedule(struct printer *p, enum region_kind kind)
{
	isl_schedule *schedule = p->module->regions[kind].schedule;

	if (!schedule)
		return;
	str_add(&p->text, "\nschedule %s\n", region_names[kind]);
	print_schedule(&p->text, p->module, schedule, p->is_draft);
}

static const char *text_of(struct module *module, struct arena *arena, bool is_draft)
{
	struct printer p = { module, str_new(arena), is_draft };

	str_add(&p.text, "module ");
	print_name(&p.text, module->name);
	str_add(&p.text, "\nsource ");
	print_string(&p.text, module->source_name);
	str_add(&p.text, "\n");
	for (int i = 0; i < module->params.n; i++)
		print_param_line(&p, &module->params.items[i]);
	for (int i = 0; i < module->assumptions.n; i++)
		print_assumption(&p, module->assumptions.items[i]);
	for (int i = 0; i < module->arrays.n; i++)
		print_array(&p, module->arrays.items[i]);
	for (int i = 0; i < module->restructurings.n; i++)
		print_restructuring(&p, &module->restructurings.items[i]);
	for (int i = 0; i < module->branchings.n; i++)
		print_branching(&p, &module->branchings.items[i]);
	for (int i = 0; i < module->chunkings.n; i++)
		print_chunking(&p, &module->chunkings.items[i]);
	if (module->loop.var)
		print_loop(&p, &module->loop);
	for (int i = 0; i < REGION_N; i++)
		print_region(&p, (enum region_kind) i);
	str_add(&p.text, module->overrides.n + module->decisions.n ? "\n" : "");
	for (int i = 0; i < module->overrides.n; i++)
		print_override(&p, &module->overrides.items[i]);
	for (int i = 0; i < module->decisions.n; i++)
		print_decision(&p, &module->decisions.items[i]);
	for (int i = 0; i < REGION_N; i++)
		print_region_schedule(&p, (enum region_kind) i);
	return str_text(&p.text);
}

const char *module_text(struct module *module, struct arena *arena)
{
	return text_of(module, arena, false);
}

const char *module_draft(struct module *module, struct arena *arena)
{
	int n_decisions = module->decisions.n, n_overrides = module->overrides.n;
	const char *draft;

	module->decisions.n = module->overrides.n = 0;
	draft = text_of(module, arena, true);
	module->decisions.n = n_decisions;
	module->overrides.n = n_overrides;
	return draft;
}
