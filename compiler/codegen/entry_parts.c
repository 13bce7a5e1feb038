/* SPDX-License-Identifier: MIT
 *
 * The parts of an entry, which may become functions (kernel/lower/outline.c): a region, and in it each statement. Each
 * is built as if nothing stood around it. Copies of the kernel for known parameters share the parts about which these
 * tell nothing.
 *
 * A part that takes from the plan what an earlier one has changed is apart: arrays that change places in an iteration,
 * and active points, which each statement selects for itself. */
#include <string.h>

#include "codegen/entry_private.h"

/* ---- finding them ---- */

bool kernel_has_swaps(const struct module *module)
{
	bool has = false;

	for (int i = 0; i < module->arrays.n; i++)
		has |= module->arrays.items[i]->is_swapped;
	return has;
}

/* Statements that change what the plan has are functions. Of a device, all that is started stands in a loop or a pass,
 * not ahead of it. */
bool parts_select_points(const struct kernel *kernel)
{
	return module_has_live_points(kernel->emit.module) &&
	       kernel->nests.n > (kernel_is_of_device(kernel) ? 0 : 1);
}

static bool are_of_one_region(const struct nest *a, const struct nest *b)
{
	return a->region == b->region && a->is_commit == b->is_commit;
}

static bool stay_together(struct kernel *kernel, int first, int next)
{
	struct nest *nests = kernel->nests.items;

	if (!are_of_one_region(&nests[first], &nests[next]))
		return false;
	for (int i = first; i < next; i++)
		if (nest_waits_for(kernel->emit.module, &nests[next], &nests[i]))
			return false;
	return nests_are_of_one_statement(&nests[first], &nests[next]) ||
	       nests_are_joined(&kernel->emit, &nests[next - 1], &nests[next]);
}

int parts_end_of_region(const struct kernel *kernel, int first)
{
	const struct nest *nests = kernel->nests.items;
	int last = first + 1;

	while (last < kernel->parts.n && are_of_one_region(&nests[kernel->parts.items[first].first],
							   &nests[kernel->parts.items[last].first]))
		last++;
	return last;
}

void parts_collect(struct kernel *kernel)
{
	for (int first = 0, next; first < kernel->nests.n; first = next) {
		for (next = first + 1; next < kernel->nests.n && stay_together(kernel, first, next); next++)
			;
		vec_push(kernel->emit.arena, &kernel->parts, ((struct part) { .first = first, .last = next }));
	}
}

/* ---- names ---- */

static const char *name_of(struct kernel *kernel, const char *what, bool is_of_copy)
{
	struct names names = kernel->names;
	char *name = arena_printf(kernel->emit.arena, "%s%s_compute_%s", kernel->layout->prefix,
				  is_of_copy ? kernel->suffix : "", what);

	for (char *dot = strchr(name, '.'); dot; dot = strchr(dot, '.'))
		*dot = '_';
	return kernel_function_name(kernel->layout, names_declare(&names, name));
}

static const char *name_of_part(struct kernel *kernel, const struct part *part)
{
	const struct nest *last = &kernel->nests.items[part->last - 1];
	const char *of = last->groups.n ? last->groups.items[0]->name : "statement";

	return name_of(kernel, arena_printf(kernel->emit.arena, "%s%s", last->is_commit ? "commit_" : "", of),
		       part->is_of_copy);
}

static const char *name_of_region(struct kernel *kernel, int first, int last)
{
	static const char *const names[] = { "prologue", "body", "epilogue" };
	const struct nest *nest = &kernel->nests.items[kernel->parts.items[first].first];
	bool is_of_copy = false;

	for (int p = first; p < last; p++)
		is_of_copy |= kernel->parts.items[p].is_of_copy;
	return name_of(kernel, nest->is_commit ? "commit" : names[nest->region], is_of_copy);
}

/* ---- what copies differ in ---- */

/* What of the copy for known sizes and trees differs from the other. */
static bool mentions_known(const struct kernel *kernel, const struct k_block *body)
{
	const struct layout *layout = kernel->layout;
	bool depends = false;

	for (int i = 0; i < layout->module->params.n; i++)
		depends |= param_follows_from_known(layout->module, i) && k_mentions(body, layout->params[i]);
	for (int i = 0; i < layout->slots.n && !kernel_is_of_device(kernel); i++)
		depends |= constant_table(layout, &layout->slots.items[i]) &&
			   k_mentions(body, layout->slots.items[i].c_name);
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

group_list parts_groups(const struct kernel *kernel, int first, int last)
{
	group_list groups = { 0 };

	for (int p = first; p < last; p++)
		for (int n = kernel->parts.items[p].first; n < kernel->parts.items[p].last; n++)
			for (int g = 0; g < kernel->nests.items[n].groups.n; g++)
				vec_push(kernel->emit.arena, &groups, kernel->nests.items[n].groups.items[g]);
	return groups;
}

/* `first` is the first kernel of a device that the part starts. */
static bool depends_on_copy(const struct kernel *kernel, const struct part *part, int first)
{
	const int number = (int) (part - kernel->parts.items);
	const group_list groups = parts_groups(kernel, number, number + 1);
	bool depends = mentions_known(kernel, part->body);

	for (int g = 0; g < groups.n; g++)
		for (int s = 0; s < groups.items[g]->stages.n; s++)
			depends |= has_known_loops(kernel, groups.items[g]->stages.items[s]);
	for (int i = first; i < kernel->program->functions.n; i++)
		depends |= mentions_known(kernel, &kernel->program->functions.items[i]->body);
	return depends;
}

/* ---- building them ---- */

static void build_part(struct kernel *kernel, const struct part *part)
{
	emit_nests(&kernel->emit, &kernel->nests, part->first, part->last);
}

static void copy_part(struct kernel *kernel, struct part *part)
{
	struct k_block *copy = arena_new(kernel->emit.arena, struct k_block);

	*copy = k_copy_block(kernel->emit.arena, part->body, &(struct k_replacing) { 0 });
	part->body = copy;
}

/* In the copy of the kernel that is built. */
static void make_part(struct kernel *kernel, struct part *part)
{
	const int first = kernel->program->functions.n, n_slots = kernel->layout->slots.n;

	if (part->body && !part->is_of_copy) {
		copy_part(kernel, part);
		return;
	}
	part->body = entry_body_of(kernel, build_part, part);
	part->is_of_copy = depends_on_copy(kernel, part, first);
	part->name = name_of_part(kernel, part);
	part->is_written = arena_new_array(kernel->emit.arena, bool, n_slots);
	memcpy(part->is_written, kernel->emit.function.is_written, (size_t) n_slots * sizeof(bool));
}

/* ---- where they stand ---- */

static struct k_stmt *begin_part(struct kernel *kernel, const char *name)
{
	struct k_stmt *stmt = k_begin(kernel->emit.b);

	stmt->part = name;
	return stmt;
}

/* What it declares is added when the entry's declarations are known. */
static void set_apart(struct kernel *kernel, struct k_stmt *stmt, int first, int last)
{
	vec_push(kernel->emit.arena, &kernel->apart, ((struct apart) { stmt, stmt->body, first, last }));
	stmt->is_apart = true;
	stmt->body = (struct k_block) { 0 };
}

static void add_part(struct kernel *kernel, int p)
{
	struct k_stmt *stmt = begin_part(kernel, kernel->parts.items[p].name);

	k_add_from(kernel->emit.b, kernel->parts.items[p].body, 0);
	k_end(kernel->emit.b);
	if (parts_select_points(kernel))
		set_apart(kernel, stmt, p, p + 1);
}

static void add_parts(struct kernel *kernel, int first, int last)
{
	for (int p = first; p < last; p++) {
		if (p > first)
			k_blank(kernel->emit.b);
		add_part(kernel, p);
	}
}

static void add_region(struct kernel *kernel, int first, int last)
{
	struct k_stmt *stmt = begin_part(kernel, name_of_region(kernel, first, last));

	add_parts(kernel, first, last);
	k_end(kernel->emit.b);
	if (kernel_has_swaps(kernel->emit.module))
		set_apart(kernel, stmt, first, last);
}

/* The kernel has nothing but these; with copies, they may share it. */
static bool are_alone(const struct kernel *kernel, int first, int last)
{
	return first == 0 && last == kernel->parts.n && !kernel->emit.module->loop.var && !*kernel->suffix;
}

void parts_add_region(struct kernel *kernel, int first, int last)
{
	const bool is_alone = are_alone(kernel, first, last);

	for (int p = first; p < last; p++)
		make_part(kernel, &kernel->parts.items[p]);
	if (is_alone && last == first + 1)
		k_add_from(kernel->emit.b, kernel->parts.items[first].body, 0);
	else if (is_alone || parts_select_points(kernel))
		add_parts(kernel, first, last);
	else
		add_region(kernel, first, last);
}
