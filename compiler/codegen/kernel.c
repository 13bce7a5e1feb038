/* SPDX-License-Identifier: MIT
 *
 * The functions that compute: the prologue, the loop around the body, the epilogue. A short kernel is one function;
 * of a long one each region, and of a long region each statement, is a function of its own. A function is printed
 * into a scratch text first, from which one sees which parameters and arrays it reads: it declares these and no other.
 *
 * Parameters with a known value are constants in a second copy of the kernel, which runs when they have it. */
#include <string.h>

#include "codegen/abi.h"

enum { LONG_KERNEL = 90, LONG_REGION = 80 };

/* Consecutive nests, printed in the kernel or as a function that the kernel calls. */
struct part {
	int first, last;                /* nests first..last-1 */
	bool is_function, is_whole_region;
	const char *call;               /* of a function */
};

struct kernel {
	struct emit emit;
	const struct layout *layout;
	struct writer *w;
	struct names names;             /* visible in every function */
	nest_list nests;
	VEC(struct part) parts;
	const char *suffix;             /* of a copy */
	bool is_specialized;
	bool is_calling;                /* what is printed calls functions that have arrays, too */
	const char **shared;            /* by part: the call, if all copies have the same function */
};

typedef void print_body(struct kernel *kernel, const struct part *part);

/* ---- parts ---- */

static bool is_of_device(const struct kernel *kernel)
{
	return kernel->emit.target->device_ending;
}

static int count_lines(const struct kernel *kernel, int first, int last)
{
	int n = 0;

	for (int i = first; i < last; i++)
		n += kernel->nests.items[i].n_lines + 1;
	return n;
}

static const char *part_name(struct kernel *kernel, const struct part *part, const char *suffix)
{
	static const char *const names[] = { "prologue", "body", "epilogue" };
	const struct nest *begin = &kernel->nests.items[part->first], *end = &kernel->nests.items[part->last - 1];
	const char *what = begin->is_commit ? "commit" : names[begin->region];
	char *name;

	if (!part->is_whole_region && end->groups.n)
		what = arena_printf(kernel->emit.arena, "%s%s", begin->is_commit ? "commit_" : "",
				    end->groups.items[0]->name);
	name = arena_printf(kernel->emit.arena, "%s%s_compute_%s", kernel->layout->prefix, suffix, what);
	for (char *dot = strchr(name, '.'); dot; dot = strchr(dot, '.'))
		*dot = '_';
	return names_declare(&kernel->names, name);
}

static void add_part(struct kernel *kernel, int first, int last, bool is_function, bool is_whole_region)
{
	struct part part = { first, last, is_function, is_whole_region, NULL };

	vec_push(kernel->emit.arena, &kernel->parts, part);
}

static bool stay_together(const struct kernel *kernel, int first, int next)
{
	const struct nest *nests = kernel->nests.items;

	for (int i = first; i < next; i++)
		if (nest_waits_for(kernel->emit.module, &nests[next], &nests[i]))
			return false;
	return nests_are_of_one_statement(&nests[first], &nests[next]);
}

/* What a function takes from the plan is as it is when it is called: statements that change it are functions. Of a
 * device, all that is started stands in a loop or a pass, not ahead of it. */
static bool needs_functions(const struct kernel *kernel)
{
	return module_has_live_points(kernel->emit.module) && kernel->nests.n > (is_of_device(kernel) ? 0 : 1);
}

/* The nests first..last-1 belong together: of one region, commits apart. */
static void add_parts(struct kernel *kernel, int first, int last, bool is_long_kernel)
{
	bool is_long_region = count_lines(kernel, first, last) > LONG_REGION || needs_functions(kernel);

	if (!is_long_kernel || !is_long_region) {
		add_part(kernel, first, last, is_long_kernel, true);
		return;
	}
	while (first < last) {
		int next = first + 1;

		while (next < last && stay_together(kernel, first, next))
			next++;
		add_part(kernel, first, next, true, false);
		first = next;
	}
}

/* Where arrays change places, each function takes them from the plan as they are when it is called. */
static bool has_swaps(const struct module *module)
{
	bool has = false;

	for (int i = 0; i < module->arrays.n; i++)
		has |= module->arrays.items[i]->is_swapped;
	return has;
}

static void find_parts(struct kernel *kernel)
{
	const nest_list *nests = &kernel->nests;
	bool is_long = count_lines(kernel, 0, nests->n) > LONG_KERNEL || has_swaps(kernel->layout->module) ||
		       needs_functions(kernel);
	int first = 0;

	kernel->parts.n = 0;
	for (int i = 1; i <= nests->n; i++)
		if (i == nests->n || nests->items[i].region != nests->items[first].region ||
		    nests->items[i].is_commit != nests->items[first].is_commit) {
			add_parts(kernel, first, i, is_long);
			first = i;
		}
}

/* ---- functions ---- */

static const char *function_name(const struct layout *layout, const char *name)
{
	return layout->all_isas ? arena_printf(layout->module->arena, "PMG_KERNEL(%s)", name) : name;
}

static void emit_arrays(struct kernel *kernel, const char *body)
{
	const struct layout *layout = kernel->layout;
	struct span outer = kernel->w->span;

	for (int i = 0; i < layout->slots.n; i++) {
		const struct slot *slot = &layout->slots.items[i];
		const char *known = kernel->is_specialized ? known_table(layout, slot) : NULL;

		kernel->w->span = slot->array->span;
		if (known && !is_of_device(kernel) && text_mentions(body, slot->c_name))
			line(kernel->w, "const int64_t *%s%s = %s;", kernel->is_calling ? "" : "restrict ",
			     slot->c_name, known);
		else if (is_of_device(kernel) && text_mentions(body, slot->c_name))
			line(kernel->w, "%s *%s = (%s *) pmg_cuda_data(plan, %d);", type_c_name(slot_type(slot)),
			     slot->c_name, type_c_name(slot_type(slot)), i);
		else if (!slot->array->is_per_thread && text_mentions(body, slot->c_name))
			line(kernel->w, "%s%s *%s%s = plan->data[%d];", kernel->emit.is_written[i] ? "" : "const ",
			     slot_is_narrow(slot) ? "void" : type_c_name(slot_type(slot)),
			     kernel->is_calling ? "" : "restrict ", slot->c_name, i);
		if (slot->finite && text_mentions(body, slot->finite))
			line(kernel->w, "const bool %s = pmg_is_finite(plan, %d);", slot->finite, i);
		if (slot->large && text_mentions(body, slot->large))
			line(kernel->w, "const bool %s = pmg_is_large(plan, %d);", slot->large, i);
	}
	kernel->w->span = outer;
}

static void print_to(struct kernel *kernel, struct writer *w, struct writer *kernels, print_body *print,
		     const struct part *part)
{
	struct emit *e = &kernel->emit;

	e->w = w;
	e->kernels = kernels;
	e->names = kernel->names;
	print(kernel, part);
}

/* What the body reads, as text: a first printing to nowhere, but for the kernels that it starts, which stand ahead. */
static const char *scratch_text(struct kernel *kernel, print_body *print, const struct part *part)
{
	struct writer scratch = writer_new(kernel->emit.arena), nowhere = writer_new(kernel->emit.arena);
	int n_kernels = kernel->emit.n_kernels;

	memset(kernel->emit.is_written, 0, (size_t) kernel->layout->slots.n * sizeof(bool));
	print_to(kernel, &scratch, is_of_device(kernel) ? kernel->w : &nowhere, print, part);
	kernel->emit.n_kernels = n_kernels;
	return str_text(&scratch.text);
}

/* Those of a part; of the kernel, those that are in no function of their own. */
static group_list groups_of(const struct kernel *kernel, const struct part *part)
{
	group_list groups = { 0 };

	for (int p = 0; p < kernel->parts.n; p++) {
		const struct part *other = &kernel->parts.items[p];

		for (int n = other->first; n < other->last && (part ? other == part : !other->call); n++)
			for (int g = 0; g < kernel->nests.items[n].groups.n; g++)
				vec_push(kernel->emit.arena, &groups, kernel->nests.items[n].groups.items[g]);
	}
	return groups;
}

static void emit_function_body(struct kernel *kernel, const char *text, print_body *print, const struct part *part)
{
	struct writer nowhere = writer_new(kernel->emit.arena);
	const group_list groups = groups_of(kernel, part);

	emit_live_points(kernel->w, &kernel->emit, &groups);
	emit_params(kernel->w, kernel->layout, text, kernel->is_specialized);
	emit_arrays(kernel, text);
	if (kernel->w->text.text[kernel->w->text.length - 2] != '{')
		writer_blank(kernel->w);
	print_to(kernel, kernel->w, &nowhere, print, part);
}

/* ---- a part as a function ---- */

static void print_part(struct kernel *kernel, const struct part *part)
{
	emit_nests(&kernel->emit, &kernel->nests, part->first, part->last);
}

/* What of the copy for known sizes and trees differs from the other. */
static bool mentions_known(const struct kernel *kernel, const char *text)
{
	const struct layout *layout = kernel->layout;
	bool depends = false;

	for (int i = 0; i < layout->module->params.n; i++)
		depends |= layout->module->params.items[i].is_specialized && text_mentions(text, layout->params[i]);
	for (int i = 0; i < layout->slots.n && !is_of_device(kernel); i++)
		depends |= known_table(layout, &layout->slots.items[i]) &&
			   text_mentions(text, layout->slots.items[i].c_name);
	return depends;
}

static bool is_known_size(const struct kernel *kernel, const struct expr *expr)
{
	return expr->kind == EXPR_PARAM && kernel->layout->module->params.items[expr->index].is_specialized;
}

/* Loops over such a size are written otherwise where it is known, and then need not mention it. */
static bool has_known_loops(const struct kernel *kernel, const struct stage *stage)
{
	bool has = false;

	for (int d = 0; d < stage->dims.n; d++) {
		const struct dim *dim = &stage->dims.items[d];

		has |= dim->kind == DIM_RANGE && (is_known_size(kernel, dim->lo) || is_known_size(kernel, dim->hi));
	}
	return has;
}

static bool depends_on_copy(const struct kernel *kernel, const struct part *part, const char *text)
{
	const group_list groups = groups_of(kernel, part);
	bool depends = mentions_known(kernel, text);

	for (int g = 0; g < groups.n; g++)
		for (int s = 0; s < groups.items[g]->stages.n; s++)
			depends |= has_known_loops(kernel, groups.items[g]->stages.items[s]);
	return depends;
}

/* `static void …(` and the call, with the arguments that the text needs. */
static const char *part_head(struct kernel *kernel, struct part *part, const char *text, bool is_of_copy)
{
	const char *base = part_name(kernel, part, is_of_copy ? kernel->suffix : "");
	const char *name = function_name(kernel->layout, base);
	const struct module *module = kernel->layout->module;
	const char *it = module->loop.var ? kernel->layout->params[module->loop.param] : NULL;
	struct str head = str_new(kernel->emit.arena), call = str_new(kernel->emit.arena);

	str_add(&head, "static void %s(pmg_plan *plan", name);
	str_add(&call, "%s(plan", name);
	if (needs_args(kernel->layout, text, kernel->is_specialized)) {
		str_add(&head, ", const %s_args *args", module->name);
		str_add(&call, ", args");
	}
	if (it && text_mentions(text, it)) {
		str_add(&head, ", int64_t %s", it);
		str_add(&call, ", %s", it);
	}
	if (text_mentions(text, kernel->emit.starts)) {
		str_add(&head, ", bool %s", kernel->emit.starts);
		str_add(&call, ", %s", kernel->emit.starts);
	}
	part->call = arena_printf(kernel->emit.arena, "%s);", str_text(&call));
	return arena_printf(kernel->emit.arena, "%s)", str_text(&head));
}

static void emit_part_function(struct kernel *kernel, struct part *part)
{
	const size_t before = kernel->w->text.length;
	const char *text = scratch_text(kernel, print_part, part);
	/* Of a device, the kernels stand there now. */
	const bool is_of_copy = depends_on_copy(kernel, part, text) ||
				mentions_known(kernel, str_text(&kernel->w->text) + before);

	line(kernel->w, "%s\n{", part_head(kernel, part, text, is_of_copy));
	if (!is_of_copy)
		kernel->shared[part - kernel->parts.items] = part->call;
	kernel->w->indent++;
	emit_function_body(kernel, text, print_part, part);
	close_block(kernel->w, "}");
	writer_blank(kernel->w);
}

/* ---- the kernel ---- */

static const char *failed_name(const struct kernel *kernel)
{
	return is_of_device(kernel) ? "pmg_cuda_failed" : "pmg_failed";
}

static bool print_failure_check(struct kernel *kernel)
{
	struct writer *w = kernel->emit.w;

	if (!kernel->layout->has_checks)
		return false;
	if (kernel->emit.in_loop && is_of_device(kernel))
		line(w, "PMG_STOP_IF_BAD(plan);");
	else
		line(w, "if (%s(plan))\n\treturn PMG_NUMERICAL;", failed_name(kernel));
	return true;
}

static void print_region(struct kernel *kernel, enum region_kind region)
{
	struct emit *e = &kernel->emit;
	bool is_first = true;

	for (int i = 0; i < kernel->parts.n; i++) {
		const struct part *part = &kernel->parts.items[i];
		const struct nest *nest = &kernel->nests.items[part->first];

		if (nest->region != region)
			continue;
		if (!is_first && !part->call)
			writer_blank(e->w);
		is_first = false;
		e->in_loop = e->module->loop.var;
		if (nest->is_commit && region == REGION_BODY && print_failure_check(kernel) && !part->call)
			writer_blank(e->w);
		e->in_loop = false;
		if (part->call)
			line(e->w, "%s", part->call);
		else
			print_part(kernel, part);
	}
}

/* Calls FUNCTION(plan, X, X.next) for the arrays that change places. */
static void print_swaps(struct kernel *kernel, const char *function, bool only_kept)
{
	const struct layout *layout = kernel->layout;

	for (int i = 0; i < layout->slots.n; i++) {
		const struct array *next = layout->slots.items[i].array;

		if (next->is_swapped && (next->is_kept || !only_kept) && layout->slot_of[next->number] == i)
			line(kernel->emit.w, "%s(plan, %d, %d);", function, layout->slot_of[next->owner->number], i);
	}
}

static bool has_commits(const struct module *module)
{
	bool has = false;

	for (int i = 0; i < module->stages.n; i++)
		has |= module->stages.items[i]->is_commit;
	return has;
}

/* The host does not know whether `until` holds: a kernel finds out, for those of later iterations. */
static void print_device_loop(struct kernel *kernel, const char *it, const char *lo, const char *hi,
			      const char *until)
{
	struct emit *e = &kernel->emit;

	line(e->w, "int64_t %s = pmg_cuda_loop_begin(plan, control, %s);", it, lo);
	emit_until(e, until, 0);
	open_block(e->w, "while (pmg_cuda_loop_next(plan, control, &%s, %s)) {", it, hi);
	print_region(kernel, REGION_BODY);
	emit_until(e, until, 1);
	close_block(e->w, "}");
}

static void print_host_loop(struct kernel *kernel, const char *it, const char *lo, const char *hi, const char *until)
{
	struct emit *e = &kernel->emit;

	print_swaps(kernel, "pmg_keep", true);
	open_block(e->w, "for (int64_t %s = pmg_loop_begin(plan, control, %s);\n"
		   "     pmg_loop_next(plan, control, %s, %s, %s); %s++) {", it, lo, it, hi, until, it);
	print_region(kernel, REGION_BODY);
	if (has_swaps(e->module) && !has_commits(e->module))
		print_failure_check(kernel);
	print_swaps(kernel, "pmg_swap", false);
	close_block(e->w, "}");
}

static void find_subscript(struct access *access, void *user)
{
	bool *is_found = user;

	*is_found = *is_found || access->array->rank > 0;
}

/* Subscripts are proved for iterations that there are; behind the last one nothing is read. */
static const char *until_text(struct kernel *kernel, const char *it, const char *hi)
{
	struct emit *e = &kernel->emit;
	const struct loop *loop = &e->module->loop;
	bool has_subscripts = false;

	if (!loop->until)
		return "false";
	expr_reads(loop->until, find_subscript, &has_subscripts);
	if (!has_subscripts)
		return c_expr(e, NULL, loop->until).text;
	return arena_printf(e->arena, "%s < %s && %s", it, hi,
			    text_at_least(e->arena, c_expr(e, NULL, loop->until), LEVEL_EQUAL));
}

static void print_loop(struct kernel *kernel)
{
	struct emit *e = &kernel->emit;
	const struct loop *loop = &e->module->loop;
	const char *it = kernel->layout->params[loop->param];
	const char *lo = c_expr(e, NULL, loop->lo).text, *hi = c_expr(e, NULL, loop->hi).text;
	const char *until = until_text(kernel, it, hi);

	e->w->span = loop->span;
	writer_blank(e->w);
	if (is_of_device(kernel))
		print_device_loop(kernel, it, lo, hi, until);
	else
		print_host_loop(kernel, it, lo, hi, until);
	print_failure_check(kernel);
	if (e->module->regions[REGION_EPILOGUE].groups.n)
		writer_blank(e->w);
}

static void print_kernel(struct kernel *kernel, const struct part *unused)
{
	struct emit *e = &kernel->emit;
	const bool is_pass = is_of_device(kernel) && !e->module->loop.var && kernel->nests.n > 0;

	(void) unused;
	if (is_pass)
		open_block(e->w, "for (int pmg_number = 0; pmg_cuda_pass(plan, pmg_number); pmg_number++) {");
	print_region(kernel, REGION_PROLOGUE);
	if (e->module->loop.var)
		print_loop(kernel);
	print_region(kernel, REGION_EPILOGUE);
	if (is_pass)
		close_block(e->w, "}");
}

/* C++ converts no pointer by itself. */
static const char *args_cast(const struct kernel *kernel)
{
	if (!is_of_device(kernel))
		return "";
	return arena_printf(kernel->emit.arena, "(const %s_args *) ", kernel->layout->module->name);
}

static bool has_calls(const struct kernel *kernel)
{
	bool has = false;

	for (int i = 0; i < kernel->parts.n; i++)
		has |= kernel->parts.items[i].call != NULL;
	return has;
}

static void emit_kernel_function(struct kernel *kernel)
{
	const char *text = scratch_text(kernel, print_kernel, NULL);
	const char *base = arena_printf(kernel->emit.arena, "%s_kernel%s", kernel->layout->prefix, kernel->suffix);
	struct writer *w = kernel->w;

	kernel->is_calling = has_calls(kernel);
	w->span = kernel->layout->module->span;
	line(w, "%spmg_status %s(pmg_plan *plan, const void *arguments, pmg_control *control)\n{",
	     is_of_device(kernel) && !*kernel->suffix ? "extern \"C\" " : "static ",
	     function_name(kernel->layout, base));
	w->indent++;
	if (needs_args(kernel->layout, text, kernel->is_specialized))
		line(w, "const %s_args *args = %sarguments;", kernel->layout->module->name, args_cast(kernel));
	if (text_mentions(text, kernel->emit.starts))
		line(w, "const bool %s = pmg_loop_starts(plan, control);", kernel->emit.starts);
	emit_function_body(kernel, text, print_kernel, NULL);
	w->span = kernel->layout->module->span;
	writer_blank(w);
	if (!needs_args(kernel->layout, text, kernel->is_specialized))
		line(w, "(void) arguments;");
	if (!kernel->layout->module->loop.var)
		line(w, "(void) control;");
	if (!kernel->layout->module->groups.n || !*text)
		line(w, "(void) plan;");
	line(w, "return PMG_OK;");
	close_block(w, "}");
	writer_blank(w);
}

static void emit_copy(struct kernel *kernel, const char *suffix, bool is_specialized)
{
	kernel->suffix = suffix;
	kernel->is_calling = false;
	kernel->is_specialized = kernel->emit.is_specialized = is_specialized;
	find_parts(kernel);
	if (!kernel->shared)
		kernel->shared = arena_new_array(kernel->emit.arena, const char *, kernel->parts.n);
	for (int i = 0; i < kernel->parts.n; i++) {
		struct part *part = &kernel->parts.items[i];

		part->call = kernel->shared[i];
		if (part->is_function && !part->call)
			emit_part_function(kernel, part);
	}
	emit_kernel_function(kernel);
}

/* ---- parameters with known values ---- */

static const char *specialization(const struct kernel *kernel)
{
	const struct layout *layout = kernel->layout;
	struct str text = str_new(layout->module->arena);

	for (int i = 0; i < layout->module->params.n; i++)
		if (layout->module->params.items[i].is_specialized)
			str_add(&text, "%sargs->%s == %s", text.length ? " && " : "", layout->params[i],
				int_text(layout->module->arena, layout->module->params.items[i].value));
	if (!is_of_device(kernel))
		add_known_conditions(layout, &text);
	return text.length ? str_text(&text) : NULL;
}

static void emit_choice(struct kernel *kernel, const char *condition)
{
	const struct layout *layout = kernel->layout;
	struct writer *w = kernel->w;
	struct arena *arena = layout->module->arena;
	const char *name = arena_printf(arena, "%s_kernel", layout->prefix);
	const char *special = arena_printf(arena, "%s_special", name),
		   *generic = arena_printf(arena, "%s_generic", name);

	line(w, "%spmg_status %s(pmg_plan *plan, const void *arguments, pmg_control *control)\n{\n"
	     "\tconst %s_args *args = %sarguments;\n\n"
	     "\tif (%s)\n"
	     "\t\treturn %s(plan, arguments, control);\n"
	     "\treturn %s(plan, arguments, control);\n"
	     "}\n", is_of_device(kernel) ? "extern \"C\" " : "static ", function_name(layout, name),
	     layout->module->name, args_cast(kernel), condition, function_name(layout, special),
	     function_name(layout, generic));
}

static void emit_copies(struct kernel *kernel)
{
	const char *condition = specialization(kernel);

	if (!condition) {
		emit_copy(kernel, "", false);
		return;
	}
	emit_copy(kernel, "_special", true);
	emit_copy(kernel, "_generic", false);
	emit_choice(kernel, condition);
}

/* Names of kernels begin anew, since what was printed so far went nowhere. */
static void print_copies(struct kernel *kernel)
{
	kernel->emit.n_kernels = 0;
	emit_copies(kernel);
}

bool emit_kernel(struct writer *w, const struct layout *layout, const struct target *target)
{
	struct module *module = layout->module;
	struct kernel kernel = { .layout = layout, .w = w, .suffix = "", .names = layout->names };
	struct writer nowhere = writer_new(module->arena);
	struct emit *e = &kernel.emit;

	*e = (struct emit) { .module = module, .arena = module->arena, .layout = layout, .target = target };
	e->is_written = arena_new_array(module->arena, bool, layout->slots.n);
	e->starts = names_declare(&kernel.names, "starts");
	e->names = kernel.names;
	e->kernels = &nowhere;
	for (int i = 0; i < REGION_N && !e->failed; i++)
		nests_of_region(e, (enum region_kind) i, &kernel.nests);
	if (!e->failed)
		print_copies(&kernel);
	nests_free(&kernel.nests);
	return !e->failed;
}
