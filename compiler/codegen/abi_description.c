/* SPDX-License-Identifier: MIT
 *
 * The descriptions of a pipeline and of its candidates: the same arguments, each with a kernel and internal arrays of
 * its own. A table of a candidate that would hold what the pipeline's holds is not printed again. */
#include <string.h>

#include "codegen/abi.h"

/* ---- tables ---- */

static bool has_slots(const struct layout *layout)
{
	return layout->slots.n > 0;
}

/* One row alone stands in the description. */
static bool has_children(const struct layout *layout)
{
	return layout->children.n > 1;
}

static bool has_restructurings(const struct layout *layout)
{
	return layout->module->restructurings.n > 0;
}

static bool has_branches(const struct layout *layout)
{
	return layout->module->branchings.n > 0;
}

static bool has_pivots(const struct layout *layout)
{
	return layout_n_pivots(layout) > 0;
}

static bool has_work(const struct layout *layout)
{
	return layout->has_work;
}

enum {
	TABLE_ARRAYS, TABLE_CHILDREN, TABLE_RESTRUCTURINGS, TABLE_BRANCHES, TABLE_PIVOTS, TABLE_EXTENTS, TABLE_SUITS,
	TABLE_WORK, TABLE_COUNT, TABLE_N
};

static const struct own_table {
	const char *name;
	bool (*exists)(const struct layout *layout);
	void (*emit)(struct writer *w, const struct layout *layout, const struct target *target);
} own_tables[TABLE_N] = {
	[TABLE_ARRAYS] = { "arrays", has_slots, emit_array_table },
	[TABLE_CHILDREN] = { "children", has_children, emit_children_table },
	[TABLE_RESTRUCTURINGS] = { "restructurings", has_restructurings, emit_restructuring_table },
	[TABLE_BRANCHES] = { "branches", has_branches, emit_branches_table },
	[TABLE_PIVOTS] = { "pivots", has_pivots, emit_pivot_table },
	[TABLE_EXTENTS] = { "extents", has_general_extents, emit_extents },
	[TABLE_SUITS] = { "suits", has_general_suits, emit_suits },
	[TABLE_WORK] = { "work", has_work, emit_work_table },
	[TABLE_COUNT] = { "count", has_general_counts, emit_count },
};

/* Without a prefix, so that tables of two candidates can be compared; NULL: there is none. */
static const char *table_text(const struct own_table *table, const struct layout *layout, const struct target *target)
{
	struct writer scratch = writer_new(layout->module->arena);
	struct layout renamed = *layout;

	if (!table->exists(layout))
		return NULL;
	renamed.prefix = "";
	table->emit(&scratch, &renamed, target);
	return str_text(&scratch.text);
}

/* A candidate: its tables as texts, and their names; NULL: it has none of the kind. */
struct described {
	const struct layout *layout;
	const char *texts[TABLE_N];
	const char *names[TABLE_N];
};

/* Prints a table unless that of a candidate before, one of the first n, is the same. */
static void emit_own_table(struct writer *w, struct described *all, int n, int number, const struct target *target)
{
	const struct own_table *table = &own_tables[number];
	struct described *own = &all[n];
	const char *text = own->texts[number] = table_text(table, own->layout, target);

	own->names[number] = text ? arena_printf(own->layout->module->arena, "%s_%s", own->layout->prefix, table->name)
				  : NULL;
	for (int i = 0; text && i < n; i++)
		if (all[i].texts[number] && !strcmp(text, all[i].texts[number])) {
			own->names[number] = all[i].names[number];
			return;
		}
	if (text)
		table->emit(w, own->layout, target);
}

static void emit_own_tables(struct writer *w, struct described *all, int n, const struct target *target)
{
	for (int i = 0; i < TABLE_N; i++)
		emit_own_table(w, all, n, i, target);
}

/* ---- descriptions ---- */

/* Of a function; "" where that is NULL. */
static const char *field(const struct layout *layout, const char *name, const char *function)
{
	return function ? arena_printf(layout->module->arena, " .%s = %s,", name, function) : "";
}

/* Of the kernel: what it is of, and what it takes to choose it. */
static void emit_choice_fields(struct writer *w, const struct layout *layout, const char *const *tables,
			       const struct target *target)
{
	struct module *module = layout->module;
	struct str row = str_new(module->arena);

	str_add(&row, ".kernel = %s_kernel,", layout->prefix);
	if (target->device)
		str_add(&row, " .device = &%s_device,", module->name);
	if (layout->all_isas)
		str_add(&row, " .kernels = PMG_KERNELS(%s_kernel),", layout->prefix);
	if (target_calls_blas(module))
		str_add(&row, " .blas = &pmg_blas_library,");
	if (module->choice)
		str_add(&row, " .choice = %s,", c_string(module->arena, module->choice));
	str_add(&row, "%s%s", least_field(layout), field(layout, "suits", tables[TABLE_SUITS]));
	line(w, "%s", str_text(&row));
	if (layout->has_work)
		line(w, ".n_work = %d, .work = %s,%s", n_of_work(module), tables[TABLE_WORK],
		     field(layout, "count", tables[TABLE_COUNT]));
}

static void emit_own_fields(struct writer *w, const struct layout *layout, const char *const *tables)
{
	struct module *module = layout->module;

	line(w, ".n_arrays = %d, .arrays = %s, .n_extents = %d,%s", layout->slots.n, tables[TABLE_ARRAYS],
	     layout->n_extents, field(layout, "extents", tables[TABLE_EXTENTS]));
	if (layout->children.n == 1)
		line(w, ".n_children = 1, .children = (const pmg_children_desc[]) { %s },", children_row(layout, 0));
	else if (layout->children.n)
		line(w, ".n_children = %d, .children = %s,", layout->children.n, tables[TABLE_CHILDREN]);
	if (module->restructurings.n)
		line(w, ".n_restructurings = %d, .n_sizes = %d, .restructurings = %s,",
		     module->restructurings.n, layout->n_sizes, tables[TABLE_RESTRUCTURINGS]);
	if (module->branchings.n)
		line(w, ".n_branches = %d, .branches = %s,", module->branchings.n, tables[TABLE_BRANCHES]);
	if (has_pivots(layout))
		line(w, ".n_pivots = %d, .pivots = %s,", layout_n_pivots(layout), tables[TABLE_PIVOTS]);
}

static void emit_fields(struct writer *w, const struct layout *layout, const char *const *tables,
			const struct target *target)
{
	struct module *module = layout->module;
	const char *p = module->name;

	line(w, ".abi_version = PMG_ABI_VERSION, .name = %s, .source = %s, .target = %s,", c_string(module->arena, p),
	     c_string(module->arena, source_file(module)), c_string(module->arena, target->name));
	line(w, ".args_size = sizeof(%s_args), .n_params = %d, .params = %s,%s%s", p, layout->n_params,
	     layout->n_params ? arena_printf(module->arena, "%s_params", p) : "NULL",
	     module->assumptions.n ? arena_printf(module->arena, " .assumption = %s_assumption,", p) : "",
	     module->loop.var ? " .has_loop = true," : "");
	emit_own_fields(w, layout, tables);
	emit_choice_fields(w, layout, tables, target);
}

static void emit_description(struct writer *w, const struct layout *layout, const char *const *tables,
			     int n_candidates, const struct target *target)
{
	const char *p = layout->module->name;

	open_block(w, "static const pmg_pipeline_desc %s_description = {", layout->prefix);
	emit_fields(w, layout, tables, target);
	if (n_candidates)
		line(w, ".n_candidates = %d, .candidates = %s_candidates,", n_candidates, p);
	line(w, "%s%s.execute = pmg_plan_execute, .destroy = pmg_plan_destroy",
	     *layout->is_unordered ? "" : ".is_ordered = true, ",
	     layout->module->choice ? "" : arena_printf(layout->module->arena, ".plan = %s_plan_any, ", p));
	close_block(w, "};");
	writer_blank(w);
}

static void emit_candidate_list(struct writer *w, struct layout *const *layouts, int n)
{
	const char *p = layouts[0]->module->name;
	struct str list = str_new(layouts[0]->module->arena);

	for (int i = 0; i < n; i++)
		str_add(&list, "%s&%s_description", i ? ", " : "", layouts[i]->prefix);
	line(w, "static const pmg_pipeline_desc %s_description;\n", p);
	line(w, "static const pmg_pipeline_desc *const %s_candidates[] = { %s };\n", p, str_text(&list));
}

void emit_kernel_names(struct writer *w, const struct pipeline *pipeline)
{
	line(w, "/* In the file of kernels. */\nextern const pmg_device_part %s_device;",
	     pipeline->layouts[0]->module->name);
	for (int i = 0; i < pipeline->n; i++)
		line(w, "pmg_kernel %s_kernel;", pipeline->layouts[i]->prefix);
	writer_blank(w);
}

/* Kernels of a device whose text is in the C file are not printed among the functions of the host. */
static void emit_functions_of(struct writer *w, const struct k_program *program, const struct target *target)
{
	const bool is_apart = target->device && !target->device->ending;

	for (int f = 0; f < program->functions.n; f++) {
		const struct k_function *function = program->functions.items[f];

		if (function->is_elsewhere || (is_apart && function->kind == K_FUNCTION_DEVICE))
			continue;
		c_print_function(w, function, is_apart ? C_SPELLING_OPENMP : target->spelling);
		writer_blank(w);
	}
}

void emit_kernels(struct writer *w, const struct pipeline *pipeline, const struct target *target)
{
	for (int i = 0; i < pipeline->n; i++) {
		const struct module *module = pipeline->layouts[i]->module;

		w->span = module->span;
		line(w, "/* ---- %s%s%s ---- */\n", module->name, module->choice ? ": " : "",
		     module->choice ? module->choice : "");
		emit_functions_of(w, &pipeline->programs[i], target);
	}
}

/* A line of text as a string with its end. */
static const char *line_string(struct arena *arena, const char *text, size_t length)
{
	struct str out = str_new(arena);

	for (size_t i = 0; i < length; i++)
		if (text[i] == '\t')
			str_add(&out, "\\t");
		else if (text[i] == '\n')
			str_add(&out, "\\n");
		else
			str_add(&out, "%s%c", strchr("\"\\", text[i]) ? "\\" : "", text[i]);
	return arena_printf(arena, "\"%s\"", str_text(&out));
}

static void emit_string_lines(struct writer *w, const struct writer *text)
{
	const char *all = str_text(&text->text);

	for (int i = 0; i < text->lines.n; i++) {
		const struct writer_line *from = &text->lines.items[i];
		const size_t end = i + 1 < text->lines.n ? text->lines.items[i + 1].start : text->text.length;

		w->span = from->span;
		writer_line_at(w, from->emitter, "%s",
			       line_string(w->text.arena, all + from->start, end - from->start));
	}
}

void emit_kernel_text(struct writer *w, const struct pipeline *pipeline, const struct target *target)
{
	const struct module *module = pipeline->layouts[0]->module;
	const struct k_program *program = &pipeline->programs[0];
	struct writer text = writer_new(w->text.arena);

	for (int f = 0; f < program->functions.n; f++)
		if (program->functions.items[f]->kind == K_FUNCTION_DEVICE) {
			c_print_function(&text, program->functions.items[f], target->spelling);
			writer_blank(&text);
		}
	w->span = module->span;
	open_block(w, "static const char %s_kernels[] =", module->name);
	emit_string_lines(w, &text);
	w->span = module->span;
	line(w, "\"\";");
	w->indent--;
	line(w, "\nPMG_DEVICE_PART(%s)\n", module->name);
}

void emit_pipeline(struct writer *w, const struct pipeline *pipeline, const struct target *target)
{
	struct layout *const *layouts = pipeline->layouts;
	const int n = pipeline->n;
	const struct layout *first = layouts[0];
	const char *p = first->module->name;
	struct described *all = arena_new_array(first->module->arena, struct described, n);

	w->span = first->module->span;
	emit_param_table(w, first);
	emit_shared_arguments(w, layouts, n, target);
	all[0].layout = first;
	emit_own_tables(w, all, 0, target);
	emit_assumption(w, first, target);
	for (int i = 1; i < n; i++) {
		all[i].layout = layouts[i];
		emit_own_tables(w, all, i, target);
		emit_description(w, layouts[i], all[i].names, 0, target);
	}
	if (n > 1)
		emit_candidate_list(w, layouts, n);
	line(w, "PMG_PLAN_ANY(%s)\n", p);
	emit_description(w, first, all[0].names, n > 1 ? n : 0, target);
	emit_functions(w, first);
}
