/* SPDX-License-Identifier: MIT
 *
 * The tables of a pipeline's restructurings and of the branches of its trees (pmg_restructure_desc, pmg_branches_desc
 * of runtime/pmgrt_description.h): what the inspectors of the runtime are to make when index arrays are bound. */
#include "codegen/abi.h"

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

/* The lists that the row of a restructuring points to. */
static void emit_restructuring_lists(struct writer *w, const struct layout *layout, int number)
{
	const struct restructuring *r = &layout->module->restructurings.items[number];
	const char *p = layout->prefix;
	struct str keys = str_new(layout->module->arena);

	for (int i = 0; i < r->keys.n; i++)
		str_add(&keys, "%s%d", i ? ", " : "", number_of_array(layout, r->keys.items[i]));
	line(w, "static const int32_t %s_keys_%d[] = { %s };", p, number, str_text(&keys));
	if (r->copies.n)
		open_block(w, "static const pmg_copy_desc %s_copies_%d[] = {", p, number);
	for (int i = 0; i < r->copies.n; i++)
		line(w, "{ %d, %d, %s },", number_of_array(layout, r->copies.items[i].from),
		     number_of_array(layout, r->copies.items[i].to), r->copies.items[i].is_per_run ? "true" : "false");
	if (r->copies.n)
		close_block(w, "};");
	if (r->part_values)
		line(w, "static const pmg_parts_desc %s_parts_%d = { %d, %d, %d, %d, %d };", p, number,
		     number_of_array(layout, r->part_values), number_of_array(layout, r->part_begins),
		     number_of_array(layout, r->part_ends), number_of_count(layout, r->n_parts),
		     number_of_array(layout, restructuring_live_by(layout->module, r)));
	if (r->coordinates)
		line(w, "static const pmg_places_desc %s_places_%d = { %d, %d };", p, number,
		     number_of_array(layout, r->coordinates), number_of_array(layout, r->order));
	if (r->renumberings.n)
		open_block(w, "static const pmg_renumber_desc %s_renumberings_%d[] = {", p, number);
	for (int i = 0; i < r->renumberings.n; i++)
		line(w, "{ %d, %d },", number_of_array(layout, r->renumberings.items[i].mode),
		     number_of_array(layout, r->renumberings.items[i].order));
	if (r->renumberings.n)
		close_block(w, "};");
}

static void emit_restructuring_row(struct writer *w, const struct layout *layout, int number)
{
	const struct restructuring *r = &layout->module->restructurings.items[number];
	const char *p = layout->prefix;

	w->span = r->span;
	open_block(w, "{");
	line(w, ".name = %s, .n_keys = %d, .keys = %s_keys_%d,", c_string(layout->module->arena, r->name), r->keys.n, p,
	     number);
	line(w, ".segments = %d, .runs = %d, .chunks = %d, .is_by_threads = %s,",
	     number_of_array(layout, r->segments), number_of_array(layout, r->runs),
	     number_of_array(layout, r->chunks), r->is_by_threads ? "true" : "false");
	line(w, ".n_runs = %d, .n_chunks = %d,", number_of_count(layout, r->n_runs),
	     number_of_count(layout, r->n_chunks));
	if (r->part_values)
		line(w, ".parts = &%s_parts_%d,", p, number);
	if (r->coordinates)
		line(w, ".places = &%s_places_%d,", p, number);
	if (r->copies.n)
		line(w, ".n_copies = %d, .copies = %s_copies_%d,", r->copies.n, p, number);
	if (r->renumberings.n)
		line(w, ".n_renumberings = %d, .renumberings = %s_renumberings_%d,", r->renumberings.n, p, number);
	close_block(w, "},");
	w->span = layout->module->span;
}

void emit_restructuring_table(struct writer *w, const struct layout *layout, const struct target *target)
{
	int n = layout->module->restructurings.n;

	(void) target;
	for (int i = 0; i < n; i++)
		emit_restructuring_lists(w, layout, i);
	open_block(w, "static const pmg_restructure_desc %s_restructurings[] = {", layout->prefix);
	for (int i = 0; i < n; i++)
		emit_restructuring_row(w, layout, i);
	close_block(w, "};");
	writer_blank(w);
}

void emit_branches_table(struct writer *w, const struct layout *layout, const struct target *target)
{
	const struct module *module = layout->module;

	(void) target;
	open_block(w, "static const pmg_branches_desc %s_branches[] = {", layout->prefix);
	for (int i = 0; i < module->branchings.n; i++) {
		const struct branching *branching = &module->branchings.items[i];

		line(w, "{ %d, %d, %d, %d, %d },", number_of_array(layout, branching->tree),
		     number_of_array(layout, branching->depth), number_of_array(layout, branching->levels),
		     number_of_array(layout, branching->begins), number_of_array(layout, branching->ends));
	}
	close_block(w, "};");
	writer_blank(w);
}
