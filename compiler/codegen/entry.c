/* SPDX-License-Identifier: MIT
 *
 * The function that the plan calls. Its body is built first; it then declares the parameters and arrays that it reads,
 * and no other. A part that is apart does so by itself. */
#include <string.h>

#include "codegen/entry_private.h"

/* ---- declarations ---- */

/* plan->data[number] */
static struct k_expr *data_of(struct arena *arena, int number)
{
	return k_load(arena, k_member(arena, k_name(arena, "plan"), "data", true), k_int(arena, number));
}

/* function(plan, number) */
static struct k_expr *asked_of_plan(struct arena *arena, const char *function, int number)
{
	return K_CALL(arena, function, k_name(arena, "plan"), k_int(arena, number));
}

/* As the host names it. */
static void add_array_of_device(struct kernel *kernel, struct k_builder *b, int number)
{
	const struct slot *slot = &kernel->layout->slots.items[number];
	const char *buffer = kernel->emit.target->device->buffer;
	const struct k_type type = buffer ? k_scalar(buffer) : k_pointer(type_c_name(slot_type(slot)), false);
	struct k_expr *data = asked_of_plan(b->arena, runtime_name(&kernel->emit, "data"), number);

	k_var(b, type, slot->c_name, buffer ? data : k_cast(b->arena, type, data));
}

/* An inspector's array has room behind its end, which prefetches may read. */
static void add_array(struct kernel *kernel, struct k_builder *b, int number)
{
	const struct slot *slot = &kernel->layout->slots.items[number];
	const char *element = slot_is_narrow(slot) ? "void" : type_c_name(slot_type(slot));
	const struct k_type type = k_buffer(element, !kernel->emit.function.is_written[number], true);
	struct k_let *let = &k_var(b, type, slot->c_name, data_of(b->arena, number))->let;

	let->is_padded = slot->array->role == ROLE_INSPECTED && slot->array->type == TYPE_I32;
	let->is_result = array_is_argument(slot->array) && slot->array->role != ROLE_IN &&
			 type_is_float(slot->array->type) && slot->array->rank > 0;
}

/* Of what only inspection reads, the plan has nothing for kernels. */
static bool can_ask_values(const struct kernel *kernel, const struct slot *slot)
{
	return slot->finite && !array_is_for_inspection(kernel->layout->module, slot->array);
}

static void add_slot(struct kernel *kernel, struct k_builder *b, int number)
{
	const struct slot *slot = &kernel->layout->slots.items[number];
	const char *known = kernel->is_specialized ? constant_table(kernel->layout, slot) : NULL;

	if (kernel_is_of_device(kernel))
		add_array_of_device(kernel, b, number);
	else if (known)
		k_var(b, k_buffer("int64_t", true, true), slot->c_name, k_name(b->arena, known));
	else if (!slot->array->stored.is_per_thread)
		add_array(kernel, b, number);
	if (can_ask_values(kernel, slot))
		k_const(b, k_scalar("bool"), slot->finite, asked_of_plan(b->arena, "pmg_is_finite", number));
}

static bool is_mentioned(const struct name_table *names, const struct slot *slot)
{
	return name_table_get(names, slot->c_name) || (slot->finite && name_table_get(names, slot->finite));
}

/* Of programs with many functions, each names few of many arrays. */
static void add_arrays(struct kernel *kernel, struct k_builder *b, const struct k_block *body)
{
	struct span outer = b->span;
	struct name_table names = { 0 };

	k_block_mentions(b->arena, body, &names);
	for (int i = 0; i < kernel->layout->slots.n; i++) {
		const struct slot *slot = &kernel->layout->slots.items[i];

		b->span = slot->array->span;
		if (is_mentioned(&names, slot))
			add_slot(kernel, b, i);
	}
	b->span = outer;
}

/* ---- what is built ---- */

struct k_block *entry_body_of(struct kernel *kernel, build_body *build, const struct part *part)
{
	struct emit *e = &kernel->emit;
	struct k_block *body = arena_new(e->arena, struct k_block);
	struct k_builder b = k_builder_new(e->arena, body), *outer = e->b;
	const struct names names = e->names;

	*body = (struct k_block) { 0 };
	memset(e->function.is_written, 0, (size_t) kernel->layout->slots.n * sizeof(bool));
	b.span = kernel->layout->module->span;
	e->b = &b;
	e->device.kernels = kernel->program;
	e->names = kernel->names;
	build(kernel, part);
	check_built(e, &b);
	e->b = outer;
	e->names = names;
	k_drop_unread(e->arena, body);
	return body;
}

/* ---- functions ---- */

static void add_parameter(struct kernel *kernel, struct k_function *function, struct k_type type, const char *name)
{
	vec_push(kernel->emit.arena, &function->params, ((struct k_param) { type, name }));
}

/* C++ converts no pointer by itself. */
void entry_add_args(struct kernel *kernel, struct k_builder *b)
{
	const struct k_type type = k_pointer(arena_printf(b->arena, "%s_args", kernel->layout->module->name), true);
	struct k_expr *arguments = k_name(b->arena, "arguments");

	k_var(b, type, "args", kernel_is_in_cplusplus(kernel) ? k_cast(b->arena, type, arguments) : arguments);
}

struct k_function *entry_new(struct kernel *kernel, const char *base, bool is_extern)
{
	struct k_function *function = arena_new(kernel->emit.arena, struct k_function);

	*function = (struct k_function) { .kind = K_FUNCTION_ENTRY, .result = k_scalar("pmg_status"),
					  .qualifiers = is_extern ? "extern \"C\"" : "static",
					  .name = kernel_function_name(kernel->layout, base),
					  .head = { kernel->layout->module->span, EMITTER },
					  .end = { kernel->layout->module->span, EMITTER } };
	add_parameter(kernel, function, k_pointer("pmg_plan", false), "plan");
	add_parameter(kernel, function, k_pointer("void", true), "arguments");
	add_parameter(kernel, function, k_pointer("pmg_control", false), "control");
	return function;
}

/* ---- the entry ---- */

/* By slot: what parts first..last-1 write is written. */
static void note_written(struct kernel *kernel, int first, int last)
{
	memset(kernel->emit.function.is_written, 0, (size_t) kernel->layout->slots.n * sizeof(bool));
	for (int p = first; p < last; p++)
		for (int i = 0; i < kernel->layout->slots.n; i++)
			kernel->emit.function.is_written[i] |= kernel->parts.items[p].is_written[i];
}

static void select_points(struct kernel *kernel, struct k_builder *b, int first, int last)
{
	const group_list groups = parts_groups(kernel, first, last);

	emit_live_points(b, &kernel->emit, &groups);
}

static void fill_apart(struct kernel *kernel, const struct apart *apart)
{
	struct k_builder b = k_builder_new(kernel->emit.arena, &apart->stmt->body);

	b.span = kernel->layout->module->span;
	note_written(kernel, apart->first, apart->last);
	if (parts_select_points(kernel))
		select_points(kernel, &b, apart->first, apart->last);
	add_params(&b, kernel->layout, kernel->is_specialized);
	add_arrays(kernel, &b, &apart->body);
	k_blank(&b);
	k_add_from(&b, &apart->body, 0);
}

static struct k_block head_of(struct kernel *kernel, const struct k_block *body)
{
	struct k_block head = { 0 };
	struct k_builder b = k_builder_new(kernel->emit.arena, &head);

	b.span = kernel->layout->module->span;
	note_written(kernel, 0, kernel->parts.n);
	if (!parts_select_points(kernel) || kernel->apart.n == 0)
		select_points(kernel, &b, 0, kernel->parts.n);
	add_params(&b, kernel->layout, kernel->is_specialized);
	add_arrays(kernel, &b, body);
	for (int i = 0; i < kernel->apart.n; i++)
		fill_apart(kernel, &kernel->apart.items[i]);
	return head;
}

void entry_build(struct kernel *kernel)
{
	const char *base = arena_printf(kernel->emit.arena, "%s_kernel%s", kernel->layout->prefix, kernel->suffix);
	struct k_function *function = entry_new(kernel, base, kernel_is_in_cplusplus(kernel) && !*kernel->suffix);
	struct k_builder b = k_builder_new(kernel->emit.arena, &function->body);
	const struct k_block *body;
	struct k_block head;

	kernel->apart.n = 0;
	body = entry_body_of(kernel, entry_build_body, NULL);
	head = head_of(kernel, body);
	b.span = function->head.span;
	entry_add_args(kernel, &b);
	k_const(&b, k_scalar("bool"), kernel->emit.function.starts, asked_of_control(b.arena, "pmg_loop_starts"));
	k_add_from(&b, &head, 0);
	k_blank(&b);
	k_add_from(&b, body, 0);
	k_unused(&b, "arguments");
	k_unused(&b, "control");
	k_unused(&b, "plan");
	k_return(&b, k_name(b.arena, "PMG_OK"));
	check_built(&kernel->emit, &b);
	vec_push(kernel->emit.arena, &kernel->program->functions, function);
}
