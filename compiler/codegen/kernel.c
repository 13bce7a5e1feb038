/* SPDX-License-Identifier: MIT
 *
 * The functions that compute: the prologue, the loop around the body, the epilogue. A short kernel is one function, and
 * so is one of a single part; of a long one each region, and of a long region each statement, is a function of its own.
 * A body is built first; a function then declares the parameters and arrays that it reads, and no other.
 *
 * Parameters with a known value are constants in a second copy of the kernel, which runs when they have it. */
#include <string.h>

#include "codegen/abi/abi.h"

enum { LONG_KERNEL = 90, LONG_REGION = 80 };

/* Consecutive nests, printed in the kernel or as a function that the kernel calls. */
struct part {
	int first, last;                /* nests first..last-1 */
	bool is_function, is_whole_region;
	struct k_expr *call;            /* of a function; NULL: there is none yet */
};

struct kernel {
	struct emit emit;
	const struct layout *layout;
	struct k_program *program;
	struct names names;             /* visible in every function */
	nest_list nests;
	VEC(struct part) parts;
	const char *suffix;             /* of a copy */
	bool is_specialized;
	bool is_calling;                /* what is printed calls functions that have arrays, too */
	struct k_expr **shared;         /* by part: the call, if all copies have the same function */
};

typedef void build_body(struct kernel *kernel, const struct part *part);

/* ---- parts ---- */

static bool is_of_device(const struct kernel *kernel)
{
	return kernel->emit.target->device;
}

static bool is_in_cplusplus(const struct kernel *kernel)
{
	return is_of_device(kernel) && kernel->emit.target->device->ending;
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

/* The kernel has nothing but one part; with copies, they may share it. */
static bool is_kernel_alone(const struct kernel *kernel)
{
	return kernel->parts.n == 1 && !kernel->emit.module->loop.var && !*kernel->suffix;
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
	if (is_kernel_alone(kernel))
		kernel->parts.items[0].is_function = false;
}

/* ---- functions ---- */

static const char *function_name(const struct layout *layout, const char *name)
{
	return layout->all_isas ? arena_printf(layout->module->arena, "PMG_KERNEL(%s)", name) : name;
}

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
	const struct k_type type = k_buffer(element, !kernel->emit.function.is_written[number], !kernel->is_calling);
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

	if (is_of_device(kernel))
		add_array_of_device(kernel, b, number);
	else if (known)
		k_var(b, k_buffer("int64_t", true, !kernel->is_calling), slot->c_name, k_name(b->arena, known));
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

/* What the function computes, without what it declares. Kernels of a device that it starts join the program. */
static struct k_block *body_of(struct kernel *kernel, build_body *build, const struct part *part)
{
	struct emit *e = &kernel->emit;
	struct k_block *body = arena_new(e->arena, struct k_block);
	struct k_builder b = k_builder_new(e->arena, body);

	*body = (struct k_block) { 0 };
	memset(e->function.is_written, 0, (size_t) kernel->layout->slots.n * sizeof(bool));
	b.span = kernel->layout->module->span;
	e->b = &b;
	e->device.kernels = kernel->program;
	e->names = kernel->names;
	build(kernel, part);
	check_built(e, &b);
	e->b = NULL;
	k_drop_unread(e->arena, body);
	return body;
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

static struct k_function *function_new(struct kernel *kernel, enum k_function_kind kind, const char *qualifiers,
				       const char *result, const char *name)
{
	struct k_function *function = arena_new(kernel->emit.arena, struct k_function);

	*function = (struct k_function) { .kind = kind, .qualifiers = qualifiers, .result = k_scalar(result),
					  .name = name, .head = { kernel->layout->module->span, EMITTER },
					  .end = { kernel->layout->module->span, EMITTER } };
	return function;
}

static void add_parameter(struct kernel *kernel, struct k_function *function, struct k_type type, const char *name)
{
	vec_push(kernel->emit.arena, &function->params, ((struct k_param) { type, name }));
}

/* All that it may read is declared, and the body behind it. */
static void fill_function(struct kernel *kernel, struct k_builder *b, const struct k_block *body,
			  const struct part *part)
{
	const group_list groups = groups_of(kernel, part);

	emit_live_points(b, &kernel->emit, &groups);
	add_params(b, kernel->layout, kernel->is_specialized);
	add_arrays(kernel, b, body);
	if (b->open.items[0]->stmts.n)
		k_blank(b);
	for (int i = 0; i < body->stmts.n; i++)
		vec_push(b->arena, &b->open.items[0]->stmts, body->stmts.items[i]);
}

/* ---- a part as a function ---- */

static void build_part(struct kernel *kernel, const struct part *part)
{
	emit_nests(&kernel->emit, &kernel->nests, part->first, part->last);
}

/* What of the copy for known sizes and trees differs from the other. */
static bool mentions_known(const struct kernel *kernel, const struct k_block *body)
{
	const struct layout *layout = kernel->layout;
	bool depends = false;

	for (int i = 0; i < layout->module->params.n; i++)
		depends |= param_follows_from_known(layout->module, i) && k_mentions(body, layout->params[i]);
	for (int i = 0; i < layout->slots.n && !is_of_device(kernel); i++)
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

/* `first` is the first kernel of a device that the part starts. */
static bool depends_on_copy(const struct kernel *kernel, const struct part *part, const struct k_block *body,
			    int first)
{
	const group_list groups = groups_of(kernel, part);
	bool depends = mentions_known(kernel, body);

	for (int g = 0; g < groups.n; g++)
		for (int s = 0; s < groups.items[g]->stages.n; s++)
			depends |= has_known_loops(kernel, groups.items[g]->stages.items[s]);
	for (int i = first; i < kernel->program->functions.n; i++)
		depends |= mentions_known(kernel, &kernel->program->functions.items[i]->body);
	return depends;
}

static void add_own_parameter(struct kernel *kernel, struct k_function *function, struct k_expr *call,
			      struct k_type type, const char *name)
{
	add_parameter(kernel, function, type, name);
	vec_push(kernel->emit.arena, &call->args, k_name(kernel->emit.arena, name));
}

/* The parameters that a body may need, and the call. */
static struct k_expr *add_part_parameters(struct kernel *kernel, struct k_function *function, enum region_kind region)
{
	struct arena *arena = kernel->emit.arena;
	const struct module *module = kernel->layout->module;
	const char *it = module->loop.var ? kernel->layout->params[module->loop.param] : NULL;
	const char *args = arena_printf(arena, "%s_args", module->name);
	struct k_expr *call = k_call(arena, function->name, 0);

	add_own_parameter(kernel, function, call, k_pointer("pmg_plan", false), "plan");
	add_own_parameter(kernel, function, call, k_pointer(args, true), "args");
	if (it && region == REGION_BODY)
		add_own_parameter(kernel, function, call, k_scalar("int64_t"), it);
	add_own_parameter(kernel, function, call, k_scalar("bool"), kernel->emit.function.starts);
	return call;
}

static void build_part_function(struct kernel *kernel, struct part *part)
{
	const int first = kernel->program->functions.n;
	const struct k_block *body = body_of(kernel, build_part, part);
	const bool is_of_copy = depends_on_copy(kernel, part, body, first);
	const char *base = part_name(kernel, part, is_of_copy ? kernel->suffix : "");
	struct k_function *function = function_new(kernel, K_FUNCTION_HOST, "static", "void",
						   function_name(kernel->layout, base));
	struct k_builder b = k_builder_new(kernel->emit.arena, &function->body);

	b.span = function->head.span;
	part->call = add_part_parameters(kernel, function, kernel->nests.items[part->first].region);
	if (!is_of_copy)
		kernel->shared[part - kernel->parts.items] = part->call;
	fill_function(kernel, &b, body, part);
	check_built(&kernel->emit, &b);
	vec_push(kernel->emit.arena, &kernel->program->functions, function);
}

/* ---- the kernel ---- */

static const char *failed_name(const struct kernel *kernel)
{
	return runtime_name(&kernel->emit, "failed");
}

static bool build_failure_check(struct kernel *kernel)
{
	struct k_builder *b = kernel->emit.b;
	struct k_expr *plan = k_name(b->arena, "plan");

	if (!kernel->layout->has_checks)
		return false;
	if (kernel->emit.function.in_loop && is_of_device(kernel)) {
		k_do(b, K_CALL(b->arena, "PMG_STOP_IF_BAD", plan));
	} else {
		k_only_if(b, K_CALL(b->arena, failed_name(kernel), plan));
		k_return(b, k_name(b->arena, "PMG_NUMERICAL"));
	}
	return true;
}

static void build_region(struct kernel *kernel, enum region_kind region)
{
	struct emit *e = &kernel->emit;
	bool is_first = true;

	for (int i = 0; i < kernel->parts.n; i++) {
		const struct part *part = &kernel->parts.items[i];
		const struct nest *nest = &kernel->nests.items[part->first];

		if (nest->region != region)
			continue;
		if (!is_first && !part->call)
			k_blank(e->b);
		is_first = false;
		e->function.in_loop = e->module->loop.var;
		if (nest->is_commit && region == REGION_BODY && build_failure_check(kernel) && !part->call)
			k_blank(e->b);
		e->function.in_loop = false;
		if (part->call)
			k_do(e->b, part->call);
		else
			build_part(kernel, part);
	}
}

/* Calls FUNCTION(plan, X, X.next) for the arrays that change places. */
static void build_swaps(struct kernel *kernel, const char *function, bool only_kept)
{
	const struct layout *layout = kernel->layout;
	struct arena *arena = kernel->emit.arena;

	for (int i = 0; i < layout->slots.n; i++) {
		const struct array *next = layout->slots.items[i].array;

		if (next->is_swapped && (next->is_kept || !only_kept) && layout->slot_of[next->number] == i)
			k_do(kernel->emit.b, K_CALL(arena, function, k_name(arena, "plan"),
						    k_int(arena, layout->slot_of[next->owner->number]),
						    k_int(arena, i)));
	}
}

static bool has_commits(const struct module *module)
{
	bool has = false;

	for (int i = 0; i < module->stages.n; i++)
		has |= module->stages.items[i]->is_commit;
	return has;
}

/* Of the `iterate`: its variable, and what the head of its loop reads. */
struct head {
	const char *it;
	struct k_expr *lo, *hi, *until;
};

/* function(plan, control, …) */
static struct k_expr *asked_of_control(struct arena *arena, const char *function)
{
	return K_CALL(arena, function, k_name(arena, "plan"), k_name(arena, "control"));
}

/* The host does not know whether `until` holds: a kernel finds out, for those of later iterations. */
static void build_device_loop(struct kernel *kernel, const struct head *head)
{
	struct emit *e = &kernel->emit;
	struct k_expr *begin = asked_of_control(e->arena, runtime_name(e, "loop_begin"));
	struct k_expr *next = asked_of_control(e->arena, runtime_name(e, "loop_next"));

	k_var(e->b, k_scalar("int64_t"), head->it, K_WITH(e->arena, begin, head->lo));
	emit_until(e, head->until, 0);
	k_begin_while(e->b, K_WITH(e->arena, next, k_address(e->arena, k_name(e->arena, head->it)), head->hi));
	build_region(kernel, REGION_BODY);
	emit_until(e, head->until, 1);
	k_end(e->b);
}

/* for (T name = first; condition; name++) {: what is asked whether to go on is no bound. */
static struct k_stmt *begin_counting(struct k_builder *b, const char *type, const char *name, struct k_expr *first,
				     struct k_expr *condition)
{
	struct k_stmt *loop = k_begin_while(b, condition);

	vec_push(b->arena, &loop->repeat.before.stmts, k_let_of(b->arena, k_scalar(type), name, first));
	loop->repeat.after = k_step_of(b->arena, K_ADD, k_name(b->arena, name));
	return loop;
}

static void build_host_loop(struct kernel *kernel, const struct head *head)
{
	struct emit *e = &kernel->emit;
	struct k_expr *begin = asked_of_control(e->arena, "pmg_loop_begin");
	struct k_expr *next = asked_of_control(e->arena, "pmg_loop_next");

	build_swaps(kernel, "pmg_keep", true);
	begin_counting(e->b, "int64_t", head->it, K_WITH(e->arena, begin, head->lo),
		       K_WITH(e->arena, next, k_name(e->arena, head->it), head->hi, head->until))->repeat.is_broken =
		true;
	build_region(kernel, REGION_BODY);
	if (has_swaps(e->module) && !has_commits(e->module))
		build_failure_check(kernel);
	build_swaps(kernel, "pmg_swap", false);
	k_end(e->b);
}

static void find_subscript(struct access *access, void *user)
{
	bool *is_found = user;

	*is_found = *is_found || access->array->rank > 0;
}

/* Subscripts are proved for iterations that there are; behind the last one nothing is read. */
static struct k_expr *until_of(struct kernel *kernel, const char *it, struct k_expr *hi)
{
	struct emit *e = &kernel->emit;
	const struct loop *loop = &e->module->loop;
	bool has_subscripts = false;

	if (!loop->until)
		return k_bool(e->arena, false);
	expr_reads(loop->until, find_subscript, &has_subscripts);
	if (!has_subscripts)
		return c_expr(e, NULL, loop->until);
	return k_binary(e->arena, K_AND, k_operate(e->arena, k_name(e->arena, it), K_LT, hi),
			k_at_least(e->arena, c_expr(e, NULL, loop->until), K_LEVEL_EQUAL));
}

static void build_loop(struct kernel *kernel)
{
	struct emit *e = &kernel->emit;
	const struct loop *loop = &e->module->loop;
	struct head head = { .it = kernel->layout->params[loop->param], .lo = c_expr(e, NULL, loop->lo),
			     .hi = c_expr(e, NULL, loop->hi) };

	head.until = until_of(kernel, head.it, head.hi);
	e->b->span = loop->span;
	k_blank(e->b);
	if (is_of_device(kernel))
		build_device_loop(kernel, &head);
	else
		build_host_loop(kernel, &head);
	build_failure_check(kernel);
	if (e->module->regions[REGION_EPILOGUE].groups.n)
		k_blank(e->b);
}

static void build_kernel_body(struct kernel *kernel, const struct part *unused)
{
	struct emit *e = &kernel->emit;
	const bool is_pass = is_of_device(kernel) && e->target->device->records && !e->module->loop.var &&
			     kernel->nests.n > 0;

	(void) unused;
	if (is_pass)
		begin_counting(e->b, "int", "pmg_number", k_int(e->arena, 0),
			       K_CALL(e->arena, runtime_name(e, "pass"), k_name(e->arena, "plan"),
				      k_name(e->arena, "pmg_number")));
	build_region(kernel, REGION_PROLOGUE);
	if (e->module->loop.var)
		build_loop(kernel);
	build_region(kernel, REGION_EPILOGUE);
	if (is_pass)
		k_end(e->b);
}

/* C++ converts no pointer by itself. */
static void add_args(struct kernel *kernel, struct k_builder *b)
{
	const struct k_type type = k_pointer(arena_printf(b->arena, "%s_args", kernel->layout->module->name), true);
	struct k_expr *arguments = k_name(b->arena, "arguments");

	k_var(b, type, "args", is_in_cplusplus(kernel) ? k_cast(b->arena, type, arguments) : arguments);
}

static bool has_calls(const struct kernel *kernel)
{
	bool has = false;

	for (int i = 0; i < kernel->parts.n; i++)
		has |= kernel->parts.items[i].call != NULL;
	return has;
}

static struct k_function *entry_new(struct kernel *kernel, const char *base, bool is_extern)
{
	struct k_function *function = function_new(kernel, K_FUNCTION_ENTRY, is_extern ? "extern \"C\"" : "static",
						   "pmg_status", function_name(kernel->layout, base));

	add_parameter(kernel, function, k_pointer("pmg_plan", false), "plan");
	add_parameter(kernel, function, k_pointer("void", true), "arguments");
	add_parameter(kernel, function, k_pointer("pmg_control", false), "control");
	return function;
}

static void build_entry(struct kernel *kernel)
{
	const struct k_block *body = body_of(kernel, build_kernel_body, NULL);
	const char *base = arena_printf(kernel->emit.arena, "%s_kernel%s", kernel->layout->prefix, kernel->suffix);
	struct k_function *function = entry_new(kernel, base, is_in_cplusplus(kernel) && !*kernel->suffix);
	struct k_builder b = k_builder_new(kernel->emit.arena, &function->body);

	kernel->is_calling = has_calls(kernel);
	b.span = function->head.span;
	add_args(kernel, &b);
	k_const(&b, k_scalar("bool"), kernel->emit.function.starts, asked_of_control(b.arena, "pmg_loop_starts"));
	fill_function(kernel, &b, body, NULL);
	k_unused(&b, "arguments");
	k_unused(&b, "control");
	k_unused(&b, "plan");
	k_return(&b, k_name(b.arena, "PMG_OK"));
	check_built(&kernel->emit, &b);
	vec_push(kernel->emit.arena, &kernel->program->functions, function);
}

static void build_copy(struct kernel *kernel, const char *suffix, bool is_specialized)
{
	kernel->suffix = suffix;
	kernel->is_calling = false;
	kernel->is_specialized = kernel->emit.function.is_specialized = is_specialized;
	find_parts(kernel);
	if (!kernel->shared)
		kernel->shared = arena_new_array(kernel->emit.arena, struct k_expr *, kernel->parts.n);
	for (int i = 0; i < kernel->parts.n; i++) {
		struct part *part = &kernel->parts.items[i];

		part->call = kernel->shared[i];
		if (part->is_function && !part->call)
			build_part_function(kernel, part);
	}
	build_entry(kernel);
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
	return is_of_device(kernel) ? condition : with_constant_conditions(layout, condition);
}

static void return_copy(struct kernel *kernel, struct k_builder *b, const char *copy)
{
	struct k_expr *call = k_call(b->arena, function_name(kernel->layout, copy), 3, k_name(b->arena, "plan"),
				     k_name(b->arena, "arguments"), k_name(b->arena, "control"));

	k_return(b, call);
}

static void build_choice(struct kernel *kernel, struct k_expr *condition)
{
	const struct layout *layout = kernel->layout;
	const char *name = arena_printf(kernel->emit.arena, "%s_kernel", layout->prefix);
	const char *special = arena_printf(kernel->emit.arena, "%s_special", name),
		   *generic = arena_printf(kernel->emit.arena, "%s_generic", name);
	struct k_function *function = entry_new(kernel, name, is_in_cplusplus(kernel));
	struct k_builder b = k_builder_new(kernel->emit.arena, &function->body);

	b.span = function->head.span;
	add_args(kernel, &b);
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

/* How long a nest is in a function of its own, which is lowered; kernels of a device that it starts are built again. */
static int measured(struct kernel *kernel, int number)
{
	const struct part part = { .first = number, .last = number + 1 };
	const struct k_target_facts facts = target_facts(kernel->emit.target);
	struct k_function *function = function_new(kernel, K_FUNCTION_HOST, "static", "void", "");
	struct k_stmt *nest = k_stmt(kernel->emit.arena, KS_BLOCK);
	struct k_builder b = k_builder_new(kernel->emit.arena, &function->body);
	struct k_block all = { 0 };

	nest->body = *body_of(kernel, build_part, &part);
	vec_push(b.arena, &all.stmts, nest);
	fill_function(kernel, &b, &all, &part);
	vec_push(b.arena, &kernel->program->functions, function);
	return k_lowered_length(b.arena, kernel->program, &nest->body, &facts);
}

static bool find_nests(struct kernel *kernel)
{
	struct emit *e = &kernel->emit;
	struct k_program *program = kernel->program;

	for (int i = 0; i < REGION_N && !e->failed; i++)
		nests_of_region(e, (enum region_kind) i, &kernel->nests);
	for (int i = 0; i < kernel->nests.n && !e->failed; i++) {
		kernel->program = &(struct k_program) { 0 };
		kernel->nests.items[i].n_lines = measured(kernel, i);
	}
	kernel->program = program;
	e->device.n_kernels = 0;
	return !e->failed;
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
	if (find_nests(&kernel))
		build_copies(&kernel);
	tell_not_followed(e, watch);
	if (!e->failed)
		lower(&kernel, watch);
	return !e->failed;
}
