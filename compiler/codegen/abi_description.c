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

static bool has_children(const struct layout *layout)
{
	return layout->children.n > 0;
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

static bool always(const struct layout *layout)
{
	(void) layout;
	return true;
}

enum {
	TABLE_ARRAYS, TABLE_CHILDREN, TABLE_RESTRUCTURINGS, TABLE_BRANCHES, TABLE_PIVOTS, TABLE_EXTENTS, TABLE_SUITS,
	TABLE_N
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
	[TABLE_EXTENTS] = { "extents", always, emit_extents },
	[TABLE_SUITS] = { "suits", has_unfit_sizes, emit_suits },
};

static const char *table_text(const struct own_table *table, const struct layout *layout, const char *prefix,
			      const struct target *target)
{
	struct writer scratch = writer_new(layout->module->arena);
	struct layout renamed = *layout;

	renamed.prefix = prefix;
	table->emit(&scratch, &renamed, target);
	return str_text(&scratch.text);
}

/* Prints a table unless that of `first` (NULL: there is none before) is the same; its name, or NULL's where it is
 * empty. */
static const char *own_table(struct writer *w, const struct layout *layout, const struct layout *first,
			     const struct own_table *table, const struct target *target)
{
	const char *prefix = layout->prefix;

	if (!table->exists(layout))
		return "NULL";
	if (first && table->exists(first) &&
	    !strcmp(table_text(table, layout, first->prefix, target),
		    table_text(table, first, first->prefix, target)))
		prefix = first->prefix;
	else
		table->emit(w, layout, target);
	return arena_printf(layout->module->arena, "%s_%s", prefix, table->name);
}

/* ---- descriptions ---- */

static void emit_candidate_fields(struct writer *w, const struct layout *layout, int n_candidates)
{
	struct module *module = layout->module;

	if (n_candidates)
		line(w, ".n_candidates = %d, .candidates = %s_candidates,", n_candidates, module->name);
	if (module->choice)
		line(w, ".choice = %s,", c_string(module->arena, module->choice));
	if (layout->has_work)
		line(w, ".n_work = %d, .work = %s_work, .count = %s_count,", n_of_work(module), layout->prefix,
		     layout->prefix);
	if (!*layout->is_unordered)
		line(w, ".is_ordered = true,");
}

static void emit_fields(struct writer *w, const struct layout *layout, const char *const *tables,
			const struct target *target)
{
	struct module *module = layout->module;
	const char *p = module->name;

	line(w, ".abi_version = PMG_ABI_VERSION,");
	line(w, ".name = %s, .source = %s, .target = %s,", c_string(module->arena, p),
	     c_string(module->arena, source_file(module)), c_string(module->arena, target->name));
	line(w, ".args_size = sizeof(%s_args),", p);
	line(w, ".n_params = %d, .n_arrays = %d, .n_children = %d, .n_extents = %d,", layout->n_params,
	     layout->slots.n, layout->children.n, layout->n_extents);
	line(w, ".params = %s,", layout->n_params ? arena_printf(module->arena, "%s_params", p) : "NULL");
	line(w, ".arrays = %s,", tables[TABLE_ARRAYS]);
	line(w, ".children = %s,", tables[TABLE_CHILDREN]);
	if (module->restructurings.n)
		line(w, ".n_restructurings = %d, .n_sizes = %d, .restructurings = %s,",
		     module->restructurings.n, layout->n_sizes, tables[TABLE_RESTRUCTURINGS]);
	if (module->branchings.n)
		line(w, ".n_branches = %d, .branches = %s,", module->branchings.n, tables[TABLE_BRANCHES]);
	if (has_pivots(layout))
		line(w, ".n_pivots = %d, .pivots = %s,", layout_n_pivots(layout), tables[TABLE_PIVOTS]);
	line(w, ".has_loop = %s,", module->loop.var ? "true" : "false");
	line(w, ".extents = %s,", tables[TABLE_EXTENTS]);
	line(w, ".assumption = %s,", module->assumptions.n ? arena_printf(module->arena, "%s_assumption", p) : "NULL");
	if (has_unfit_sizes(layout))
		line(w, ".suits = %s,", tables[TABLE_SUITS]);
	line(w, ".kernel = %s_kernel,", layout->prefix);
	if (target->device_ending)
		line(w, ".device = &%s_device,", p);
	if (layout->all_isas)
		line(w, ".kernels = PMG_KERNELS(%s_kernel),", layout->prefix);
	if (target_calls_blas(layout->module))
		line(w, ".blas = &pmg_blas_library,");
}

static void emit_description(struct writer *w, const struct layout *layout, const char *const *tables,
			     int n_candidates, const struct target *target)
{
	const char *p = layout->module->name;

	open_block(w, "static const pmg_pipeline_desc %s_description = {", layout->prefix);
	emit_fields(w, layout, tables, target);
	emit_candidate_fields(w, layout, n_candidates);
	if (layout->module->choice)
		line(w, ".execute = pmg_plan_execute, .destroy = pmg_plan_destroy");
	else
		line(w, ".plan = %s_plan_any, .execute = pmg_plan_execute, .destroy = pmg_plan_destroy", p);
	close_block(w, "};");
	writer_blank(w);
}

static void emit_candidate_list(struct writer *w, struct layout *const *layouts, int n)
{
	const char *p = layouts[0]->module->name;

	line(w, "static const pmg_pipeline_desc %s_description;\n", p);
	open_block(w, "static const pmg_pipeline_desc *const %s_candidates[] = {", p);
	for (int i = 0; i < n; i++)
		line(w, "&%s_description,", layouts[i]->prefix);
	close_block(w, "};");
	writer_blank(w);
}

static void emit_own_tables(struct writer *w, const struct layout *layout, const struct layout *first,
			    const char **tables, const struct target *target)
{
	for (int i = 0; i < TABLE_N; i++)
		tables[i] = own_table(w, layout, first, &own_tables[i], target);
	if (layout->has_work)
		emit_work(w, layout, target);
}

static void emit_candidate(struct writer *w, const struct layout *layout, const struct layout *first,
			   const struct target *target)
{
	const char *tables[TABLE_N];

	emit_own_tables(w, layout, first, tables, target);
	emit_description(w, layout, tables, 0, target);
}

void emit_kernel_names(struct writer *w, const struct pipeline *pipeline)
{
	line(w, "/* In the file of kernels. */\nextern const pmg_device_part %s_device;",
	     pipeline->layouts[0]->module->name);
	for (int i = 0; i < pipeline->n; i++)
		line(w, "pmg_kernel %s_kernel;", pipeline->layouts[i]->prefix);
	writer_blank(w);
}

void emit_kernels(struct writer *w, const struct pipeline *pipeline, const struct target *target)
{
	for (int i = 0; i < pipeline->n; i++) {
		const struct module *module = pipeline->layouts[i]->module;
		const struct k_program *program = &pipeline->programs[i];

		w->span = module->span;
		line(w, "/* ---- %s%s%s ---- */\n", module->name, module->choice ? ": " : "",
		     module->choice ? module->choice : "");
		for (int f = 0; f < program->functions.n; f++) {
			c_print_function(w, program->functions.items[f], target->spelling);
			writer_blank(w);
		}
	}
}

void emit_pipeline(struct writer *w, const struct pipeline *pipeline, const struct target *target)
{
	struct layout *const *layouts = pipeline->layouts;
	const int n = pipeline->n;
	const struct layout *first = layouts[0];
	const char *p = first->module->name, *tables[TABLE_N];

	w->span = first->module->span;
	emit_param_table(w, first);
	emit_own_tables(w, first, NULL, tables, target);
	emit_assumption(w, first, target);
	for (int i = 1; i < n; i++)
		emit_candidate(w, layouts[i], first, target);
	if (n > 1)
		emit_candidate_list(w, layouts, n);
	line(w, "/* Loaders do not know the type of the arguments. */\n"
	     "static pmg_status %s_plan_any(const void *arguments, const pmg_options *options, pmg_plan **plan)\n"
	     "{\n\treturn %s_plan(arguments, options, plan);\n}\n", p, p);
	emit_description(w, first, tables, n > 1 ? n : 0, target);
	emit_functions(w, first);
}
