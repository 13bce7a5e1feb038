/* SPDX-License-Identifier: MIT
 *
 * The functions that compute: an entry, in parts that lowering may make functions of. Parameters with a known value are
 * constants in a second copy of the kernel, which runs when they have it. */
#include "codegen/entry_private.h"

bool kernel_is_of_device(const struct kernel *kernel)
{
	return kernel->emit.target->device;
}

bool kernel_is_in_cplusplus(const struct kernel *kernel)
{
	return kernel_is_of_device(kernel) && kernel->emit.target->device->ending;
}

const char *kernel_function_name(const struct layout *layout, const char *name)
{
	return layout->all_isas ? arena_printf(layout->module->arena, "PMG_KERNEL(%s)", name) : name;
}

static void build_copy(struct kernel *kernel, const char *suffix, bool is_specialized)
{
	kernel->suffix = suffix;
	kernel->is_specialized = kernel->emit.function.is_specialized = is_specialized;
	entry_build(kernel);
}

/* ---- parameters with known values ---- */

/* NULL: there are none. */
static struct k_expr *specialization(const struct kernel *kernel)
{
	const struct layout *layout = kernel->layout;
	struct arena *arena = layout->module->arena;
	struct k_expr *condition = NULL;

	for (int i = 0; i < layout->module->params.n; i++)
		if (layout->module->params.items[i].is_specialized)
			condition = k_join(arena, K_AND, condition,
					   k_binary(arena, K_EQ,
						    k_member(arena, k_name(arena, "args"), layout->params[i], true),
						    k_int(arena, layout->module->params.items[i].value)));
	return kernel_is_of_device(kernel) ? condition : with_constant_conditions(layout, condition);
}

static void return_copy(struct kernel *kernel, struct k_builder *b, const char *copy)
{
	struct k_expr *call = k_call(b->arena, kernel_function_name(kernel->layout, copy), 3, k_name(b->arena, "plan"),
				     k_name(b->arena, "arguments"), k_name(b->arena, "control"));

	k_return(b, call);
}

static void build_choice(struct kernel *kernel, struct k_expr *condition)
{
	const struct layout *layout = kernel->layout;
	const char *name = arena_printf(kernel->emit.arena, "%s_kernel", layout->prefix);
	const char *special = arena_printf(kernel->emit.arena, "%s_special", name),
		   *generic = arena_printf(kernel->emit.arena, "%s_generic", name);
	struct k_function *function = entry_new(kernel, name, kernel_is_in_cplusplus(kernel));
	struct k_builder b = k_builder_new(kernel->emit.arena, &function->body);

	b.span = function->head.span;
	entry_add_args(kernel, &b);
	k_blank(&b);
	k_only_if(&b, condition);
	return_copy(kernel, &b, special);
	return_copy(kernel, &b, generic);
	vec_push(kernel->emit.arena, &kernel->program->functions, function);
}

static void build_copies(struct kernel *kernel)
{
	struct k_expr *condition = specialization(kernel);

	if (!condition) {
		build_copy(kernel, "", false);
		return;
	}
	build_copy(kernel, "_special", true);
	build_copy(kernel, "_generic", false);
	build_choice(kernel, condition);
}

static bool find_nests(struct kernel *kernel)
{
	for (int i = 0; i < REGION_N && !kernel->emit.failed; i++)
		nests_of_region(&kernel->emit, (enum region_kind) i, &kernel->nests);
	return !kernel->emit.failed;
}

struct watching {
	const struct kernel_watch *watch;
	struct module *module;
};

static void see(const struct k_program *program, int lowering, void *user)
{
	const struct watching *watching = user;

	if (watching->watch && watching->watch->see)
		watching->watch->see(watching->module, program, lowering, watching->watch->user);
}

static void tell_decisions(const struct watching *watching, const struct k_lowered *lowered)
{
	for (int i = 0; watching->watch && watching->watch->decide && i < lowered->decisions.n; i++)
		watching->watch->decide(watching->module, &lowered->decisions.items[i], watching->watch->user);
}

static void lower(struct kernel *kernel, const struct kernel_watch *watch)
{
	const struct k_target_facts facts = target_facts(kernel->emit.target);
	struct k_lowered lowered = { .arena = kernel->emit.arena, .program = kernel->program, .target = &facts };
	struct watching watching = { watch, kernel->layout->module };
	const char *fault;

	declare_constant_tables(kernel->program, kernel->layout);
	fault = k_lower(&lowered, &(struct k_watch) { see, &watching });
	if (fault)
		emit_fail(&kernel->emit, "a kernel is not well-formed: %s", fault);
	tell_decisions(&watching, &lowered);
}

bool build_kernel(struct k_program *program, const struct layout *layout, const struct target *target,
		  const struct kernel_watch *watch)
{
	struct module *module = layout->module;
	struct kernel kernel = { .layout = layout, .program = program, .suffix = "", .names = layout->names };
	struct emit *e = &kernel.emit;

	*e = (struct emit) { .module = module, .arena = module->arena, .layout = layout, .target = target };
	e->function.is_written = arena_new_array(module->arena, bool, layout->slots.n);
	e->function.starts = names_declare(&kernel.names, "starts");
	e->names = kernel.names;
	if (find_nests(&kernel)) {
		parts_collect(&kernel);
		build_copies(&kernel);
	}
	tell_not_followed(e, watch);
	if (!e->failed)
		lower(&kernel, watch);
	return !e->failed;
}
