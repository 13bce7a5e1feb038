/* SPDX-License-Identifier: MIT
 *
 * The descriptions of a pipeline and of its candidates: the same arguments, each with a kernel and internal arrays of
 * its own. A table of a candidate that would hold what the pipeline's holds is not printed again. */
#include <string.h>

#include "codegen/abi/abi.h"

/* ---- tables ---- */

enum {
	TABLE_ARRAYS, TABLE_CHILDREN, TABLE_RESTRUCTURINGS, TABLE_BRANCHES, TABLE_CHUNKS, TABLE_PIVOTS, TABLE_EXTENTS,
	TABLE_SUITS, TABLE_WORK, TABLE_COUNT, TABLE_N
};

/* A function prints nothing if there is no such table. */
static const struct own_table {
	const char *name;
	void (*emit)(struct writer *w, const struct layout *layout, const struct target *target);
} own_tables[TABLE_N] = {
	[TABLE_ARRAYS] = { "arrays", emit_array_table },
	[TABLE_CHILDREN] = { "children", emit_children_table },
	[TABLE_RESTRUCTURINGS] = { "restructurings", emit_restructuring_table },
	[TABLE_BRANCHES] = { "branches", emit_branches_table },
	[TABLE_CHUNKS] = { "chunks", emit_chunks_table },
	[TABLE_PIVOTS] = { "pivots", emit_pivot_table },
	[TABLE_EXTENTS] = { "extents", emit_extents },
	[TABLE_SUITS] = { "suits", emit_suits },
	[TABLE_WORK] = { "work", emit_work_table },
	[TABLE_COUNT] = { "count", emit_count },
};

/* Without a prefix, so that tables of two candidates can be compared; NULL: there is none. */
static const char *table_text(const struct own_table *table, const struct layout *layout, const struct target *target)
{
	struct writer scratch = writer_new(layout->module->arena);
	struct layout renamed = *layout;

	renamed.prefix = "";
	table->emit(&scratch, &renamed, target);
	return scratch.text.length ? str_text(&scratch.text) : NULL;
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

/* ".n_WHAT = n, .WHAT = table"; nothing: there is no such table. */
static void add_table(struct arena *arena, field_list *fields, const char *what, int n, const char *table)
{
	if (n)
		add_field(arena, fields, ".n_%s = %d, .%s = %s", what, n, what, table);
}

static void add_function(struct arena *arena, field_list *fields, const char *name, const char *function)
{
	if (function)
		add_field(arena, fields, ".%s = %s", name, function);
}

/* Of the kernel: what it is of, and what it takes to choose it. */
static void add_choice(struct arena *arena, field_list *fields, const struct layout *layout,
		       const char *const *tables, const struct target *target)
{
	const struct module *module = layout->module;

	add_field(arena, fields, ".kernel = %s_kernel", layout->prefix);
	if (target->device)
		add_field(arena, fields, ".device = &%s_device", module->name);
	if (layout->all_isas)
		add_field(arena, fields, ".kernels = PMG_KERNELS(%s_kernel)", layout->prefix);
	if (target_calls_blas(module))
		add_field(arena, fields, ".blas = &pmg_blas_library");
	if (module->choice.items)
		add_field(arena, fields, ".choice = %s", c_string(arena, module->choice.items));
	if (*least_field(layout))
		add_field(arena, fields, "%s", least_field(layout));
	add_function(arena, fields, "suits", tables[TABLE_SUITS]);
	if (layout->has_work) {
		add_table(arena, fields, "work", n_of_work(module), tables[TABLE_WORK]);
		add_function(arena, fields, "count", tables[TABLE_COUNT]);
	}
}

static void add_own(struct arena *arena, field_list *fields, const struct layout *layout, const char *const *tables)
{
	const struct module *module = layout->module;
	const char *children = layout->children.n != 1 ? tables[TABLE_CHILDREN]
		: arena_printf(arena, "(const pmg_children_desc[]) { %s }", children_row(layout, 0));

	if (layout->slots.n)
		add_field(arena, fields, ".n_arrays = %d, .arrays = %s, .n_extents = %d", layout->slots.n,
			  tables[TABLE_ARRAYS], layout->n_extents);
	add_function(arena, fields, "extents", tables[TABLE_EXTENTS]);
	add_table(arena, fields, "children", layout->children.n, children);
	add_table(arena, fields, "restructurings", module->restructurings.n, tables[TABLE_RESTRUCTURINGS]);
	if (layout->n_sizes)
		add_field(arena, fields, ".n_sizes = %d", layout->n_sizes);
	add_table(arena, fields, "branches", module->branchings.n, tables[TABLE_BRANCHES]);
	add_table(arena, fields, "chunks", module->chunkings.n, tables[TABLE_CHUNKS]);
	add_table(arena, fields, "pivots", layout_n_pivots(layout), tables[TABLE_PIVOTS]);
}

static void add_shared(struct arena *arena, field_list *fields, const struct layout *layout,
		       const struct target *target)
{
	const struct module *module = layout->module;
	const char *p = module->name;

	add_field(arena, fields, "PMG_DESCRIBES(%s, %s, %s)", p, c_string(arena, source_file(module)),
		  c_string(arena, target->name));
	add_table(arena, fields, "params", layout->n_params, arena_printf(arena, "%s_params", p));
	if (module->assumptions.n)
		add_field(arena, fields, ".assumption = %s_assumption", p);
	if (module->loop.var)
		add_field(arena, fields, ".has_loop = true");
	if (!*layout->is_unordered)
		add_field(arena, fields, ".is_ordered = true");
}

/* Of the pipeline itself, which other ways there are to compile it. */
static void add_candidates(struct arena *arena, field_list *fields, struct layout *const *layouts, int n)
{
	struct str list = str_new(arena);

	add_field(arena, fields, ".plan = %s_plan_any", layouts[0]->module->name);
	for (int i = 0; i < n; i++)
		str_add(&list, "%s&%s_description", i ? ", " : "", layouts[i]->prefix);
	if (n > 1)
		add_field(arena, fields, ".n_candidates = %d, .candidates = (const pmg_pipeline_desc *const[]) { %s }",
			  n, str_text(&list));
}

/* That of the i-th of the layouts. */
static void emit_description(struct writer *w, struct layout *const *layouts, int n, int i,
			     const char *const *tables, const struct target *target)
{
	struct arena *arena = layouts[i]->module->arena;
	field_list fields = { 0 };

	add_shared(arena, &fields, layouts[i], target);
	add_own(arena, &fields, layouts[i], tables);
	add_choice(arena, &fields, layouts[i], tables, target);
	if (!i)
		add_candidates(arena, &fields, layouts, n);
	open_block(w, "static const pmg_pipeline_desc %s_description = {", layouts[i]->prefix);
	emit_fields(w, &fields);
	close_block(w, "};");
	writer_blank(w);
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
		line(w, "/* ---- %s%s%s ---- */\n", module->name, module->choice.items ? ": " : "",
		     module->choice.items ? module->choice.items : "");
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
		emit_description(w, layouts, n, i, all[i].names, target);
	}
	line(w, "PMG_PLAN_ANY(%s)", p);
	emit_description(w, layouts, n, 0, all[0].names, target);
	emit_functions(w, first);
}
