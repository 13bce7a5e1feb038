/* SPDX-License-Identifier: MIT
 *
 * Kernels of a device. What is below a GRID mark becomes the body of a function, whose parameters are what it reads;
 * the function is launched at the mark's place. Teams of lanes (thread groups) share the PARALLEL loop: each has one
 * iteration, or several if they sum something up; the lanes of a team share a VECTOR loop. Everything else is computed
 * by each lane of a team, which has all of its variables, but written to memory by one. Before and after such a write,
 * and a loop that lanes share, they wait for one another, so that each sees what the others wrote, and nobody writes
 * what another has yet to read. */
#include <string.h>

#include "codegen/codegen_private.h"

/* ---- loops and lanes ---- */

const char *runtime_name(const struct emit *e, const char *name)
{
	return arena_printf(e->arena, "%s_%s", e->target->device ? e->target->device->prefix : "pmg", name);
}

bool loop_is_shared(const struct emit *e, const struct loop_use *use)
{
	return e->grid && e->grid->has_shared && use->is_parallel;
}

bool loop_is_of_lanes(const struct emit *e, const struct loop_use *use)
{
	return e->grid && !e->grid->in_lanes && use->is_vector && !use->is_parallel;
}

void enter_divided(struct emit *e, bool is_shared, bool is_of_lanes, bool enters)
{
	if (is_shared)
		e->grid->has_shared = !enters;
	if (is_of_lanes)
		e->grid->in_lanes = enters;
}

bool is_above_teams(const struct emit *e)
{
	return e->grid && e->grid->has_shared;
}

bool is_in_loop_of_teams(const struct emit *e)
{
	return e->grid && depth_here(e) == e->grid->depth + 1;
}

bool lanes_compute_alike(const struct emit *e)
{
	return e->grid && e->grid->team.lanes > 1 && !e->grid->in_lanes;
}

/* Each team, or lane, begins at its number, and lanes go on by how many there are. */
void open_divided(struct emit *e, const struct range *range, const char *name, const struct loop_use *use)
{
	struct arena *a = e->arena;
	const bool is_shared = loop_is_shared(e, use);
	const char *number = is_shared ? "pmg_index" : e->warp_loop ? "pmg_member" : "pmg_lane";
	struct range divided = *range;
	struct k_loop *loop;

	if (!is_shared && e->grid->block) {
		open_block_lanes(e, range, name);
		return;
	}
	if (range->is_single)
		divided.end = affine_scale(a, &range->first, 1, use->mark->direction);
	loop = &open_for(e, &divided, name, use->mark->direction)->loop;
	loop->kind = is_shared ? K_LOOP_GRID : K_LOOP_LANES;
	loop->number = k_name(a, number);
	loop->row = row_known(e, range, use);
	if (loop->row.length)
		warp_loop_breaks_beside(e);
	loop->count = is_shared ? NULL : k_name(a, e->warp_loop ? "pmg_group" : "pmg_team");
}

void emit_team_sync(struct emit *e)
{
	if (lanes_compute_alike(e) && !e->warp_loop)
		k_macro(e->b, e->grid->block ? "PMG_BLOCK_SYNC" : "PMG_TEAM_SYNC");
}

int one_lane_open(struct emit *e)
{
	if (e->warp_loop && !e->warp_loop->in_vectors)
		return warp_loop_open(e);
	if (e->warp_loop && !e->grid->in_lanes)
		e->grid->is_broken = true;
	if (!lanes_compute_alike(e))
		return -1;
	emit_team_sync(e);
	return block_of(e, k_begin_if(e->b, k_binary(e->arena, K_EQ, k_name(e->arena, "pmg_lane"),
						     k_int(e->arena, 0))));
}

void one_lane_close(struct emit *e, int names)
{
	if (names < 0)
		return;
	block_close(e, names);
	emit_team_sync(e);
}

struct k_expr *of_team(struct arena *arena, struct k_expr *call)
{
	return k_with_constant(arena, call, k_name(arena, "pmg_team"));
}

/* ---- sums ---- */

bool accumulation_is_spread(const struct emit *e, __isl_keep isl_ast_node *node)
{
	return e->grid && !e->grid->in_lanes && (e->grid->has_shared || ast_has_mark(node, MARK_VECTOR, NULL));
}

const char *device_operation(enum reduce_op op)
{
	static const char *const operations[] = {
		[REDUCE_SET] = "", [REDUCE_ADD] = "add", [REDUCE_MUL] = "prod", [REDUCE_MIN] = "min",
		[REDUCE_MAX] = "max"
	};

	return operations[op];
}

struct k_expr *spread_operation(const struct emit *e, enum reduce_op op)
{
	return k_name(e->arena, runtime_name(e, device_operation(op)));
}

bool emit_spread_sum(struct emit *e, const struct cell *cell, bool of_grid)
{
	struct arena *a = e->arena;
	struct k_expr *sum = k_name(a, cell->name), *call;

	if (!of_grid) {
		call = of_team(a, K_CALL(a, runtime_name(e, "team"), sum));
		k_with_constant(a, call, k_name(a, e->warp_loop ? "pmg_group" : "pmg_team"));
		k_set(e->b, sum, k_with_constant(a, call, spread_operation(e, cell->op)));
		return false;
	}
	e->grid->sums_up = true;
	k_begin_if(e->b, e->target->device->grid_sum(e, cell));
	return true;
}

/* ---- how many iterations are shared ---- */

struct counting {
	struct emit *e;
	struct k_expr *most;            /* of the loops; NULL: none yet */
	bool has_single;                /* there is an iteration beside them */
};

static void count_at_least(struct counting *counting, struct k_expr *n)
{
	struct k_expr *other = counting->most;

	counting->most = other ? K_CALL(counting->e->arena, "pmg_max_i64", other, n) : n;
}

static void count_loop(struct counting *counting, __isl_keep isl_ast_node *node, int direction)
{
	struct emit *e = counting->e;
	struct range range = range_of(e, node, direction);
	struct affine count = affine_combine(e->arena, direction, &range.end, -direction, &range.first);
	struct k_expr *n;

	if (range.is_single)
		count = affine_constant(1);
	if (range.step > 1)
		count = affine_scale(e->arena, &count, 1, range.step - 1);
	n = affine_expr(e->arena, &count);
	count_at_least(counting, range.step > 1 ? K_CALL(e->arena, "pmg_div", n, k_int(e->arena, range.step)) : n);
}

/* The outermost loops below; one that isl made none of, since it has one iteration, is counted as that, whatever is
 * inside. */
static void count_ranges(struct counting *counting, __isl_keep isl_ast_node *node, const struct mark *loop)
{
	const struct mark *mark = ast_mark(node);

	if (isl_ast_node_get_type(node) == isl_ast_node_for && loop)
		count_loop(counting, node, loop->direction);
	else if (loop && (mark || isl_ast_node_get_type(node) == isl_ast_node_user))
		counting->has_single = true;
	else
		for (int i = 0; i < ast_n_children(node); i++)
			count_ranges(counting, ast_child(node, i), mark && mark_is_loop(mark) ? mark : loop);
}

/* Does a PARALLEL mark stand at the node, but for those that may stand above it? */
static bool is_shared_at(__isl_keep isl_ast_node *node)
{
	const struct mark *mark;

	do
		mark = ast_next_mark(&node);
	while (mark && (mark->kind == MARK_ACCUMULATE || mark->kind == MARK_DYNAMIC));
	return mark && mark->kind == MARK_PARALLEL;
}

static struct k_expr *count_of(struct emit *e, __isl_keep isl_ast_node *node)
{
	struct counting counting = { .e = e };
	struct k_expr *one = k_int(e->arena, 1);

	if (!is_shared_at(node))
		return one;
	count_ranges(&counting, node, NULL);
	if (counting.most && counting.has_single)
		count_at_least(&counting, one);
	return counting.most ? counting.most : one;
}

/* ---- parameters ---- */

struct parameters {
	struct emit *e;
	struct k_function *function;
	expr_list arguments;
};

/* What the runtime has in the plan of this kind. */
static struct k_expr *of_plan(struct arena *arena, const char *what)
{
	return K_CALL(arena, what, k_name(arena, "plan"));
}

static void add_parameter(struct parameters *parameters, struct k_type type, const char *name, struct k_expr *argument)
{
	const char *around = parameters->e->target->device->argument;

	vec_push(parameters->e->arena, &parameters->function->params, ((struct k_param) { type, name }));
	vec_push(parameters->e->arena, &parameters->arguments,
		 around ? K_CALL(parameters->e->arena, around, argument) : argument);
}

/* Of the runtime: what the host has by a function of the plan. */
static void add_own_parameter(struct parameters *parameters, const char *type, bool is_const, const char *name,
			      const char *function)
{
	const struct emit *e = parameters->e;

	vec_push(e->arena, &parameters->function->params,
		 ((struct k_param) { k_pointer(runtime_name(e, type), is_const), name }));
	vec_push(e->arena, &parameters->arguments, of_plan(e->arena, runtime_name(e, function)));
}

static void add_if_mentioned(struct parameters *parameters, struct k_type type, const char *name)
{
	if (k_mentions(&parameters->function->body, name))
		add_parameter(parameters, type, name, k_name(parameters->e->arena, name));
}

static bool is_param(const struct emit *e, const char *name)
{
	for (int i = 0; i < e->module->params.n; i++)
		if (!strcmp(e->layout->params[i], name))
			return true;
	return false;
}

static void add_params(struct parameters *parameters)
{
	const struct module *module = parameters->e->module;

	for (int i = 0; i < module->params.n; i++) {
		const struct param *param = &module->params.items[i];
		const char *name = parameters->e->layout->params[i];

		if (!param->is_loop && (!parameters->e->function.is_specialized || !param->is_specialized))
			add_if_mentioned(parameters, k_scalar(type_c_name(param->type)), name);
	}
}

/* Variables of loops of the host. */
static void add_iterators(struct parameters *parameters)
{
	const struct emit *e = parameters->e;

	for (int i = 0; i < e->iterators.n; i++)
		for (int t = 0; t < e->iterators.items[i].value.terms.n; t++) {
			const struct k_expr *atom = e->iterators.items[i].value.terms.items[t].atom;

			if (atom->kind == KE_NAME && !is_param(e, atom->text))
				add_if_mentioned(parameters, k_scalar("int64_t"), atom->text);
		}
}

static void add_arrays(struct parameters *parameters)
{
	const struct emit *e = parameters->e;

	for (int i = 0; i < e->layout->slots.n; i++) {
		const struct slot *slot = &e->layout->slots.items[i];
		struct k_type type = k_pointer(type_c_name(slot_type(slot)), !e->function.is_written[i]);

		type.is_restrict = true;
		add_if_mentioned(parameters, type, slot->c_name);
		if (slot->finite)
			add_if_mentioned(parameters, k_scalar("bool"), slot->finite);
	}
}

/* Of a function with a body: its parameters, and the arguments for them. */
static struct parameters parameters_of(struct emit *e, struct k_function *function)
{
	struct parameters parameters = { .e = e, .function = function };

	if (e->grid->block)
		add_parameter(&parameters, k_scalar("int"), "pmg_lanes", block_kernel_lanes(e->arena, e->grid->block));
	add_params(&parameters);
	add_iterators(&parameters);
	add_arrays(&parameters);
	add_if_mentioned(&parameters, k_scalar("bool"), e->function.starts);
	if (e->function.in_loop)
		add_own_parameter(&parameters, "loop", true, "pmg_loop", "loop_of");
	if (e->grid->sums_up)
		add_own_parameter(&parameters, "parts", false, "pmg_parts", "parts_of");
	if (k_mentions(&function->body, "plan"))
		add_own_parameter(&parameters, "bad_index", false, "plan", "bad_index_of");
	return parameters;
}

/* ---- the kernel ---- */

static const char *first_group_name(__isl_keep isl_ast_node *node)
{
	isl_ast_expr *instance = ast_instance_below(node, NULL, false);

	return instance ? ast_stage(instance)->group->name : "nothing";
}

struct emit_device kernels_begin(struct emit *e, struct k_program *others)
{
	const struct emit_device outer = e->device;

	e->device.kernels = others;
	return outer;
}

void kernels_end(struct emit *e, struct emit_device outer)
{
	e->device = outer;
}

static const char *kernel_name(struct emit *e, __isl_keep isl_ast_node *node)
{
	char *name = arena_printf(e->arena, "%s_%d_%s", e->layout->prefix, ++e->device.n_kernels,
				  first_group_name(node));

	for (char *c = name; *c; c++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", *c))
			*c = '_';
	return name;
}

static struct k_block build_body(struct emit *e, __isl_keep isl_ast_node *node, const struct mark *mark,
				 bool has_warp_loops)
{
	struct block_kernel *block = e->grid->block;
	struct k_block body = { 0 }, *outer = elsewhere_begin(e, &body);
	const int visible = e->names.visible.n;

	*e->grid = (struct grid) {
		.team = { has_warp_loops ? mark->team_lanes : mark->row_lanes, mark->row_lanes, mark->width,
			  mark->warps, mark->is_rolled },
		.has_warp_loops = has_warp_loops, .depth = depth_here(e), .has_shared = is_shared_at(node),
		.block = block
	};
	if (block)
		*block = block_kernel_of(node, block->is_direct);
	emit_node(e, node, (struct loop_use) { 0 });
	e->names.visible.n = visible;
	elsewhere_end(e, outer);
	return body;
}

/* A team has every n-th iteration. */
static bool stride(const struct k_stmt *stmt, void *user)
{
	struct k_loop *loop = &((struct k_stmt *) stmt)->loop;

	if (stmt->kind == KS_LOOP && loop->kind == K_LOOP_GRID) {
		loop->is_strided = true;
		loop->count = k_name(user, "pmg_teams");
	}
	return true;
}

/* With warp-cooperative loops if there can be any. There are fewer teams where they add something up. */
static struct k_block build_bodies(struct emit *e, __isl_keep isl_ast_node *node, const struct mark *mark)
{
	const int n_followed = e->followed.n;
	struct k_block body = build_body(e, node, mark, mark->team_lanes > mark->row_lanes);

	if (e->grid->is_broken) {
		e->followed.n = n_followed;
		body = build_body(e, node, mark, false);
	}
	if (e->grid->sums_up || e->target->device->has_few_teams)
		k_walk_block(&body, &(struct k_visitor) { .stmt = stride, .user = e->arena });
	return body;
}

static void add_constants(struct emit *e, struct k_builder *b, const struct k_block *body)
{
	for (int i = 0; e->function.is_specialized && i < e->module->params.n; i++)
		if (e->module->params.items[i].is_specialized && k_mentions(body, e->layout->params[i]))
			k_const(b, k_scalar("int64_t"), e->layout->params[i],
				k_int(e->arena, e->module->params.items[i].value))->let.is_known = true;
}

/* The number of the iteration, if the body reads it. */
static void add_iteration(struct emit *e, struct k_builder *b, const struct k_block *body)
{
	const char *it = e->layout->params[e->module->loop.param];

	if (k_mentions(body, it))
		k_const(b, k_scalar("int64_t"), it, k_member(e->arena, k_name(e->arena, "pmg_loop"), "it", true));
}

/* The number of the iteration is on the device, and the host does not wait for it. */
static void add_loop_head(struct emit *e, struct k_builder *b, const struct k_block *body)
{
	if (!e->function.in_loop)
		return;
	k_macro(b, "PMG_IN_LOOP");
	add_iteration(e, b, body);
}

static struct k_function *device_function(struct emit *e, const char *name, struct k_block body)
{
	struct k_function *function = arena_new(e->arena, struct k_function);

	*function = (struct k_function) { .kind = K_FUNCTION_DEVICE, .result = k_scalar("void"), .name = name,
					  .qualifiers = "static", .head.span = e->b->span,
					  .end.span = e->b->span, .body = body };
	return function;
}

/* Ends the function if a condition holds. */
static void add_return_if(struct k_builder *b, struct k_expr *condition)
{
	k_only_if(b, condition);
	k_return(b, NULL);
}

/* What stands ahead of the body. */
static struct k_block head_of(struct emit *e, const struct k_block *body, bool is_shared)
{
	struct k_block head = { 0 };
	struct k_builder b = k_builder_new(e->arena, &head);

	b.span = e->b->span;
	if (e->grid->block)
		k_do(&b, K_CALL(e->arena, "PMG_TEAM_BLOCK", k_name(e->arena, "pmg_lanes")));
	add_loop_head(e, &b, body);
	add_constants(e, &b, body);
	if (!is_shared)
		add_return_if(&b, k_binary(e->arena, K_GT, k_name(e->arena, "pmg_index"), k_int(e->arena, 0)));
	k_blank(&b);
	return head;
}

static void prepend(struct emit *e, struct k_block *body, const struct k_block *head)
{
	struct k_block all = *head;

	for (int i = 0; i < body->stmts.n; i++)
		vec_push(e->arena, &all.stmts, body->stmts.items[i]);
	*body = all;
}

/* launch(plan, kernel, n, team, arguments) */
static struct k_expr *launch_of(struct emit *e, const char *launch, const char *kernel, struct k_expr *n, int lanes,
				const expr_list *arguments)
{
	struct arena *a = e->arena;

	return k_with_args(a, K_CALL(a, launch, k_name(a, "plan"), k_name(a, kernel), n, k_int(a, lanes)),
			   arguments->items, arguments->n);
}

/* Builds a kernel; what starts it. */
static struct k_expr *build_kernel_of_grid(struct emit *e, __isl_keep isl_ast_node *node, const struct mark *mark)
{
	const char *name = kernel_name(e, node);
	struct k_function *function = device_function(e, name, build_bodies(e, node, mark));
	struct parameters parameters = parameters_of(e, function);
	struct k_block head = head_of(e, &function->body, is_shared_at(node));
	const char *launch = e->grid->sums_up ? "PMG_LAUNCH_SUM" : "PMG_LAUNCH";

	function->team = e->grid->team;
	prepend(e, &function->body, &head);
	vec_push(e->arena, &e->device.kernels->functions, function);
	if (e->grid->block) {
		function->team = (struct k_team) { 0 };
		function->bounds = block_kernel_bounds(e);
		return block_kernel_launch(e, name, count_of(e, node), &parameters.arguments);
	}
	return launch_of(e, launch, name, count_of(e, node), function->team.lanes, &parameters.arguments);
}

/* One way to run the nest. A block that it needs is described there. */
static struct k_expr *build_grid(struct emit *e, __isl_keep isl_ast_node *node, const struct mark *mark,
				 struct block_kernel *block)
{
	const size_t n = (size_t) e->layout->slots.n;
	bool *outer = arena_new_array(e->arena, bool, n);
	struct grid grid = { .block = block };
	struct k_expr *launch;

	memcpy(outer, e->function.is_written, n*sizeof(bool));
	memset(e->function.is_written, 0, n*sizeof(bool));
	e->grid = &grid;
	launch = build_kernel_of_grid(e, node, mark);
	e->grid = NULL;
	for (size_t i = 0; i < n; i++)
		e->function.is_written[i] |= outer[i];
	return launch;
}

/* Of blocks where the device has room for them, else of such without copies of arguments, else of warps. */
static void emit_block_grid(struct emit *e, __isl_keep isl_ast_node *node, const struct mark *mark, bool is_direct)
{
	struct block_kernel block = { .is_direct = is_direct };
	struct k_expr *of_blocks = build_grid(e, node, mark, &block);

	block_kernel_begin(e, &block);
	k_do(e->b, of_blocks);
	k_begin_else(e->b);
	if (block.has_copies)
		emit_block_grid(e, node, mark, true);
	else
		k_do(e->b, build_grid(e, node, mark, NULL));
	k_end(e->b);
	k_end(e->b);
}

void emit_grid(struct emit *e, __isl_keep isl_ast_node *node, const struct mark *mark)
{
	if (mark->is_block)
		emit_block_grid(e, node, mark, false);
	else
		k_do(e->b, build_grid(e, node, mark, NULL));
}

/* ---- the condition of the loop ---- */

static struct k_function *until_function(struct emit *e, const char *name, struct k_expr *until)
{
	struct k_function *function = device_function(e, name, (struct k_block) { 0 });
	struct k_builder b = k_builder_new(e->arena, &function->body);

	b.span = e->b->span;
	k_set(&b, k_member(e->arena, k_name(e->arena, "pmg_loop"), "is_over", true), until);
	return function;
}

static void add_until_head(struct emit *e, struct k_function *function)
{
	struct arena *a = e->arena;
	struct k_block head = { 0 };
	struct k_builder b = k_builder_new(a, &head);
	struct k_expr *advance = K_CALL(a, runtime_name(e, "advance"), k_name(a, "pmg_loop"), k_name(a, "pmg_bad"),
					k_name(a, "pmg_advance"));

	b.span = e->b->span;
	add_return_if(&b, k_unary(a, K_NOT, advance));
	add_constants(e, &b, &function->body);
	add_iteration(e, &b, &function->body);
	prepend(e, &function->body, &head);
}

static void add_until_parameters(struct emit *e, struct k_function *function)
{
	const struct k_param params[] = { { k_pointer(runtime_name(e, "loop"), false), "pmg_loop" },
					  { k_pointer(runtime_name(e, "bad_index"), true), "pmg_bad" },
					  { k_scalar("int64_t"), "pmg_advance" } };

	function->broken_at = function->params.n + 2;
	for (size_t i = 0; i < sizeof params/sizeof params[0]; i++)
		vec_push(e->arena, &function->params, params[i]);
}

/* Of the type of the parameter, where the host's compiler does not convert it. */
static struct k_expr *advance_of(const struct emit *e, int advance)
{
	const char *around = e->target->device->argument;
	struct k_expr *number = k_int(e->arena, advance);

	return around ? K_CALL(e->arena, around, k_cast(e->arena, k_scalar("int64_t"), number)) : number;
}

static void launch_until(struct emit *e, const char *name, const expr_list *arguments, int advance)
{
	struct arena *a = e->arena;
	struct k_expr *launch = launch_of(e, "PMG_LAUNCH", name, k_int(a, 1), 1, arguments);

	k_do(e->b, K_WITH(a, launch, of_plan(a, runtime_name(e, "loop_of")),
			  of_plan(a, runtime_name(e, "bad_index_of")), advance_of(e, advance)));
}

void emit_until(struct emit *e, struct k_expr *until, int advance)
{
	const char *name = arena_printf(e->arena, "%s_until", e->layout->prefix);
	struct k_function *function;
	struct grid grid = { .team = { .lanes = 1 } };
	struct parameters parameters;
	bool *written = e->function.is_written;

	if (e->function.is_specialized)
		name = arena_printf(e->arena, "%s_special", name);
	e->function.is_written = arena_new_array(e->arena, bool, e->layout->slots.n);
	e->grid = &grid;
	function = until_function(e, name, until);
	parameters = parameters_of(e, function);
	e->grid = NULL;
	e->function.is_written = written;
	add_until_head(e, function);
	add_until_parameters(e, function);
	if (advance == 0)
		vec_push(e->arena, &e->device.kernels->functions, function);
	launch_until(e, name, &parameters.arguments, advance);
}
