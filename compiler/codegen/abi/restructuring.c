/* SPDX-License-Identifier: MIT
 *
 * The tables of a pipeline's restructurings and of the branches and chunks of its trees (pmg_restructure_desc,
 * pmg_branches_desc, pmg_chunks_desc of runtime/pmgrt_description.h): what the inspectors of the runtime are to make
 * when index arrays are bound. */
#include "codegen/abi/abi.h"

/* -1: none */
static int number_of_array(const struct layout *layout, const struct array *array)
{
	return array ? layout->slot_of[array->number] : -1;
}

static int number_of_count(const struct layout *layout, int param)
{
	return param < 0 ? -1 : layout->param_number[param];
}

/* ---- what only the inspectors read ---- */

/* Other arrays' checks and lists of children are made from trees and offsets. */
bool array_is_for_inspection(const struct module *module, const struct array *array)
{
	bool is_inspected = false;

	for (int i = 0; i < module->restructurings.n; i++)
		is_inspected |= restructuring_reads(&module->restructurings.items[i], array) ||
				module->restructurings.items[i].coordinates == array;
	return is_inspected && array->is_fixed && array->role == ROLE_IN &&
	       !(array->facts & (FACT_TREE | FACT_OFFSETS)) && !module_reads_array(module, array);
}

/* ---- tables ---- */

static const char *keys_text(struct arena *arena, const struct layout *layout, const struct restructuring *r)
{
	struct str text = str_new(arena);

	for (int i = 0; i < r->keys.n; i++)
		str_add(&text, "%s%d", i ? ", " : "", number_of_array(layout, r->keys.items[i]));
	return str_text(&text);
}

static const char *copies_text(struct arena *arena, const struct layout *layout, const struct restructuring *r)
{
	struct str text = str_new(arena);

	for (int i = 0; i < r->copies.n; i++)
		str_add(&text, "%s{ %d, %d, %s }", i ? ", " : "", number_of_array(layout, r->copies.items[i].from),
			number_of_array(layout, r->copies.items[i].to),
			r->copies.items[i].is_per_run ? "true" : "false");
	return str_text(&text);
}

static const char *renumberings_text(struct arena *arena, const struct layout *layout, const struct restructuring *r)
{
	struct str text = str_new(arena);

	for (int i = 0; i < r->renumberings.n; i++)
		str_add(&text, "%s{ %d, %d }", i ? ", " : "", number_of_array(layout, r->renumberings.items[i].mode),
			number_of_array(layout, r->renumberings.items[i].order));
	return str_text(&text);
}

static void add_made(struct arena *arena, field_list *fields, const struct layout *layout,
		     const struct restructuring *r)
{
	add_field(arena, fields, ".segments = %d, .runs = %d, .chunks = %d", number_of_array(layout, r->segments),
		  number_of_array(layout, r->runs), number_of_array(layout, r->chunks));
	if (r->is_by_threads)
		add_field(arena, fields, ".is_by_threads = true");
	add_field(arena, fields, ".n_runs = %d, .n_chunks = %d", number_of_count(layout, r->n_runs),
		  number_of_count(layout, r->n_chunks));
	if (r->part_values)
		add_field(arena, fields, ".parts = &(const pmg_parts_desc) { %d, %d, %d, %d, %d }",
			  number_of_array(layout, r->part_values), number_of_array(layout, r->part_begins),
			  number_of_array(layout, r->part_ends), number_of_count(layout, r->n_parts),
			  number_of_array(layout, restructuring_live_by(layout->module, r)));
	if (r->coordinates)
		add_field(arena, fields, ".places = &(const pmg_places_desc) { %d, %d }",
			  number_of_array(layout, r->coordinates), number_of_array(layout, r->order));
}

static void emit_restructuring_row(struct writer *w, const struct layout *layout, int number)
{
	const struct restructuring *r = &layout->module->restructurings.items[number];
	struct arena *arena = layout->module->arena;
	field_list fields = { 0 };

	w->span = r->span;
	add_field(arena, &fields, "{ .name = %s", c_string(arena, r->name));
	add_field(arena, &fields, ".n_keys = %d, .keys = (const int32_t[]) { %s }", r->keys.n,
		  keys_text(arena, layout, r));
	add_made(arena, &fields, layout, r);
	if (r->copies.n)
		add_field(arena, &fields, ".n_copies = %d, .copies = (const pmg_copy_desc[]) { %s }", r->copies.n,
			  copies_text(arena, layout, r));
	if (r->renumberings.n)
		add_field(arena, &fields, ".n_renumberings = %d, .renumberings = (const pmg_renumber_desc[]) { %s }",
			  r->renumberings.n, renumberings_text(arena, layout, r));
	fields.items[fields.n - 1] = arena_printf(arena, "%s }", fields.items[fields.n - 1]);
	emit_fields(w, &fields);
	w->span = layout->module->span;
}

void emit_restructuring_table(struct writer *w, const struct layout *layout, const struct target *target)
{
	int n = layout->module->restructurings.n;

	(void) target;
	if (!n)
		return;
	open_block(w, "static const pmg_restructure_desc %s_restructurings[] = {", layout->prefix);
	for (int i = 0; i < n; i++)
		emit_restructuring_row(w, layout, i);
	close_block(w, "};");
}

void emit_branches_table(struct writer *w, const struct layout *layout, const struct target *target)
{
	const struct module *module = layout->module;

	(void) target;
	if (!module->branchings.n)
		return;
	open_block(w, "static const pmg_branches_desc %s_branches[] = {", layout->prefix);
	for (int i = 0; i < module->branchings.n; i++) {
		const struct branching *branching = &module->branchings.items[i];

		line(w, "{ %d, %d, %d, %d, %d },", number_of_array(layout, branching->tree),
		     number_of_array(layout, branching->depth), number_of_array(layout, branching->levels),
		     number_of_array(layout, branching->begins), number_of_array(layout, branching->ends));
	}
	close_block(w, "};");
}

void emit_chunks_table(struct writer *w, const struct layout *layout, const struct target *target)
{
	const struct module *module = layout->module;

	(void) target;
	if (!module->chunkings.n)
		return;
	open_block(w, "static const pmg_chunks_desc %s_chunks[] = {", layout->prefix);
	for (int i = 0; i < module->chunkings.n; i++) {
		const struct chunking *chunking = &module->chunkings.items[i];

		line(w, "{ %d, %lld, %d, %d, %d, %d, %d, %d, %d, %d, %d },", number_of_array(layout, chunking->tree),
		     (long long) chunking->rows, number_of_count(layout, chunking->n_chunks),
		     number_of_count(layout, chunking->n_turns), number_of_array(layout, chunking->offsets),
		     number_of_array(layout, chunking->above), number_of_array(layout, chunking->child),
		     number_of_array(layout, chunking->sibling), number_of_array(layout, chunking->turn),
		     number_of_array(layout, chunking->order), number_of_array(layout, chunking->turns));
	}
	close_block(w, "};");
}
