/* SPDX-License-Identifier: MIT
 *
 * Kernels of a device. What is below a GRID mark becomes the body of a function, whose parameters are what it reads;
 * where the mark stood, the function is started. Teams of lanes share the
 * PARALLEL loop, of which each has one iteration, or, where they sum something up, several; the lanes of a team share a
 * VECTOR loop. Everything else is computed by each lane of a team, which has all of its variables, but written to
 * memory by one. Before and after such a write, and a loop that lanes share, they wait for one another, so that each
 * sees what the others wrote, and nobody writes what another has yet to read. */
#include <string.h>

#include "codegen/codegen_private.h"
#include "codegen/streams.h"

/* ---- loops and lanes ---- */

bool loop_is_shared(const struct emit *e, const struct loop_use *use)
{
	return e->grid && e->grid->has_shared && use->is_parallel;
}

bool loop_is_of_lanes(const struct emit *e, const struct loop_use *use)
{
	return e->grid && !e->grid->in_lanes && use->is_vector && !use->is_parallel;
}

void emit_team_sync(struct emit *e)
{
	if (e->grid && e->grid->team > 1 && !e->grid->in_lanes && !e->deal)
		quote(e->b, "PMG_TEAM_SYNC;");
}

int one_lane_open(struct emit *e)
{
	if (e->deal && !e->deal->in_vectors)
		return deal_open(e);
	if (e->deal && !e->grid->in_lanes)
		e->grid->is_broken = true;
	if (!e->grid || e->grid->team == 1 || e->grid->in_lanes)
		return -1;
	emit_team_sync(e);
	return block_open(e, "if (pmg_lane == 0) {");
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

/* ---- registers ---- */

void grid_holds(struct emit *e, int64_t bytes)
{
	if (e->grid)
		e->grid->held += bytes;
}

/* Bytes of a lane's vectors of a row, of which the last one may reach behind its end. */
static int64_t bytes_of_vectors(const struct grid *grid, int64_t length, int cell)
{
	const int64_t cells = (int64_t) grid->group*grid->width;

	return (length + cells - 1)/cells*grid->width*cell;
}

void grid_holds_row(struct emit *e, int64_t length, int cell)
{
	if (e->grid)
		grid_holds(e, bytes_of_vectors(e->grid, length, cell));
}

void grid_reads_row(struct emit *e, int64_t length, int cell, int term)
{
	struct grid *grid = e->grid;
	int64_t bytes;

	if (!e->deal)
		return;
	bytes = bytes_of_vectors(grid, length, cell);
	grid->read = grid->read < bytes ? bytes : grid->read;
	grid->cell = grid->cell < cell ? cell : grid->cell;
	grid->term = grid->term < term ? term : grid->term;
}

/* What bounds, describes and starts a kernel is named and begins so: it is another one for rows of long cells, and
 * where the number of warps is given. */
static const char *sized(const struct emit *e, const char *macro)
{
	const struct grid *grid = e->grid;

	if (grid->warps)
		return arena_printf(e->arena, "%s_OF(%d, ", macro, grid->warps);
	return arena_printf(e->arena, "%s%s(", macro, grid->read > 0 && grid->cell > SHORT_CELL ? "_LONG" : "");
}

/* By the bytes that each lane has of rows and sums; 0: no row of known length is read. */
static const char *bounds_text(const struct emit *e)
{
	const struct grid *grid = e->grid;
	const bool is_of_floats = grid->read > 0 && grid->cell <= SHORT_CELL && grid->term <= SHORT_CELL &&
				  !grid->folds;

	return arena_printf(e->arena, "%s%d, %s)", sized(e, is_of_floats ? "PMG_BOUNDS_F32" : "PMG_BOUNDS"), grid->team,
			    int_text(e->arena, grid->read > 0 ? grid->held + grid->read : 0));
}

/* ---- sums ---- */

bool accumulation_is_spread(const struct emit *e, __isl_keep isl_ast_node *node)
{
	return e->grid && !e->grid->in_lanes && (e->grid->has_shared || ast_has_mark(node, MARK_VECTOR, NULL));
}

const char *spread_operation(enum reduce_op op)
{
	static const char *const operations[] = {
		[REDUCE_SET] = "", [REDUCE_ADD] = "pmg_cuda_add", [REDUCE_MUL] = "pmg_cuda_prod",
		[REDUCE_MIN] = "pmg_cuda_min", [REDUCE_MAX] = "pmg_cuda_max"
	};

	return operations[op];
}

bool emit_spread_sum(struct emit *e, enum reduce_op op, const char *name, bool of_grid)
{
	if (!of_grid) {
		quote(e->b, "%s = pmg_cuda_team<pmg_team, %s, %s>(%s);", name, e->deal ? "pmg_group" : "pmg_team",
		     spread_operation(op), name);
		return false;
	}
	e->grid->sums_up = true;
	quote_open(e->b, "if (pmg_cuda_grid<%s>(&%s, pmg_parts)) {", spread_operation(op), name);
	return true;
}

/* ---- how many iterations are shared ---- */

struct counting {
	struct emit *e;
	const char *text;               /* the most of the loops; NULL: none yet */
	bool has_single;                /* there is an iteration beside them */
};

static void count_at_least(struct counting *counting, const char *text)
{
	const char *other = counting->text;

	counting->text = other ? arena_printf(counting->e->arena, "pmg_max_i64(%s, %s)", other, text) : text;
}

static void count_loop(struct counting *counting, __isl_keep isl_ast_node *node, int direction)
{
	struct emit *e = counting->e;
	struct range range = range_of(e, node, direction);
	struct affine count = affine_combine(e->arena, direction, &range.end, -direction, &range.first);
	const char *text;

	if (range.is_single)
		count = affine_constant(1);
	if (range.step > 1)
		count = affine_scale(e->arena, &count, 1, range.step - 1);
	text = affine_plain(e->arena, &count);
	if (range.step > 1)
		text = arena_printf(e->arena, "pmg_div(%s, %s)", text, int_text(e->arena, range.step));
	count_at_least(counting, text);
}

/* The outermost loops below; one that isl made none of, since it has one iteration, is counted as that, whatever is
 * inside. */
static void count_ranges(struct counting *counting, __isl_take isl_ast_node *node, const struct mark *loop)
{
	isl_ast_node_list *children = ast_children(node);
	const struct mark *mark = ast_mark(node);

	if (isl_ast_node_get_type(node) == isl_ast_node_for && loop)
		count_loop(counting, node, loop->direction);
	else if (loop && (mark || isl_ast_node_get_type(node) == isl_ast_node_user))
		counting->has_single = true;
	else
		for (int i = 0; i < isl_ast_node_list_n_ast_node(children); i++)
			count_ranges(counting, isl_ast_node_list_get_at(children, i),
				     mark && mark_is_loop(mark) ? mark : loop);
	isl_ast_node_list_free(children);
	isl_ast_node_free(node);
}

/* Does a PARALLEL mark stand at the node, but for those that may stand above it? */
static bool is_shared_at(__isl_take isl_ast_node *node)
{
	const struct mark *mark;

	do
		mark = ast_strip_mark(&node);
	while (mark && (mark->kind == MARK_ACCUMULATE || mark->kind == MARK_DYNAMIC));
	isl_ast_node_free(node);
	return mark && mark->kind == MARK_PARALLEL;
}

static const char *count_text(struct emit *e, __isl_keep isl_ast_node *node)
{
	struct counting counting = { .e = e };

	if (!is_shared_at(isl_ast_node_copy(node)))
		return "1";
	count_ranges(&counting, isl_ast_node_copy(node), NULL);
	if (counting.text && counting.has_single)
		count_at_least(&counting, "1");
	return counting.text ? counting.text : "1";
}

/* ---- parameters ---- */

struct parameters {
	struct emit *e;
	struct k_function *function;
	struct str arguments;
};

static void add_parameter(struct parameters *parameters, struct k_type type, const char *name, const char *argument)
{
	vec_push(parameters->e->arena, &parameters->function->params, ((struct k_param) { type, name }));
	str_add(&parameters->arguments, ", %s", argument);
}

static void add_if_mentioned(struct parameters *parameters, struct k_type type, const char *name)
{
	if (k_mentions(&parameters->function->body, name))
		add_parameter(parameters, type, name, name);
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

		if (!param->is_loop && (!parameters->e->is_specialized || !param->is_specialized))
			add_if_mentioned(parameters, k_scalar(type_c_name(param->type)), name);
	}
}

/* Variables of loops of the host. */
static void add_iterators(struct parameters *parameters)
{
	const struct emit *e = parameters->e;

	for (int i = 0; i < e->iterators.n; i++)
		for (int t = 0; t < e->iterators.items[i].value.terms.n; t++) {
			const char *name = x_text(e, e->iterators.items[i].value.terms.items[t].atom);

			if (!is_param(e, name))
				add_if_mentioned(parameters, k_scalar("int64_t"), name);
		}
}

static void add_arrays(struct parameters *parameters)
{
	const struct emit *e = parameters->e;

	for (int i = 0; i < e->layout->slots.n; i++) {
		const struct slot *slot = &e->layout->slots.items[i];
		struct k_type type = k_pointer(type_c_name(slot_type(slot)), !e->is_written[i]);

		type.is_restrict = true;
		add_if_mentioned(parameters, type, slot->c_name);
		if (slot->finite)
			add_if_mentioned(parameters, k_scalar("bool"), slot->finite);
	}
}

/* Of a function with a body: its parameters, and what is handed to them. */
static struct parameters parameters_of(struct emit *e, struct k_function *function)
{
	struct parameters parameters = { e, function, str_new(e->arena) };

	add_params(&parameters);
	add_iterators(&parameters);
	add_arrays(&parameters);
	add_if_mentioned(&parameters, k_scalar("bool"), e->starts);
	if (e->in_loop)
		add_parameter(&parameters, k_pointer("pmg_cuda_loop", true), "pmg_loop",
			      "pmg_cuda_loop_of(plan)");
	if (e->grid->sums_up)
		add_parameter(&parameters, k_pointer("pmg_cuda_parts", false), "pmg_parts",
			      "pmg_cuda_parts_of(plan)");
	if (k_mentions(&function->body, "plan"))
		add_parameter(&parameters, k_pointer("pmg_cuda_bad_index", false), "plan",
			      "pmg_cuda_bad_index_of(plan)");
	return parameters;
}

/* ---- the kernel ---- */

static const char *first_group_name(__isl_keep isl_ast_node *node)
{
	isl_ast_expr *instance = ast_first_instance(node, NULL, false);
	const char *name = instance ? ast_stage(instance)->group->name : "nothing";

	isl_ast_expr_free(instance);
	return name;
}

static const char *kernel_name(struct emit *e, __isl_keep isl_ast_node *node)
{
	char *name = arena_printf(e->arena, "%s_%d_%s", e->layout->prefix, ++e->n_kernels, first_group_name(node));

	for (char *c = name; *c; c++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", *c))
			*c = '_';
	return name;
}

static struct k_block build_body(struct emit *e, __isl_keep isl_ast_node *node, const struct mark *mark, bool has_deals)
{
	struct grid grid = { .team = has_deals ? mark->team_lanes : mark->row_lanes, .group = mark->row_lanes,
			     .width = mark->width, .warps = mark->warps, .is_rolled = mark->is_rolled,
			     .has_deals = has_deals, .depth = depth_here(e),
			     .sums_up = e->grid->sums_up,
			     .has_shared = is_shared_at(isl_ast_node_copy(node)) };
	struct k_block body = { 0 }, *outer = elsewhere_begin(e, &body);

	*e->grid = grid;
	emit_node(e, node, (struct loop_use) { 0 });
	elsewhere_end(e, outer);
	return body;
}

/* With deals as far as there can be. What is read ahead is known once a body has been built without. */
static struct k_block build_bodies(struct emit *e, __isl_keep isl_ast_node *node, const struct mark *mark)
{
	bool has_deals = mark->team_lanes > mark->row_lanes;

	(void) build_body(e, node, mark, has_deals);
	streams_settle(e);
	if (e->grid->is_broken) {
		has_deals = false;
		(void) build_body(e, node, mark, has_deals);
	}
	return build_body(e, node, mark, has_deals);
}

static void add_constants(struct emit *e, struct k_builder *b, const struct k_block *body)
{
	for (int i = 0; e->is_specialized && i < e->module->params.n; i++)
		if (e->module->params.items[i].is_specialized && k_mentions(body, e->layout->params[i]))
			quote(b, "constexpr int64_t %s = %s;", e->layout->params[i],
			      int_text(e->arena, e->module->params.items[i].value));
}

/* The number of the iteration is on the device, where the host does not wait for it. */
static void add_loop_head(struct emit *e, struct k_builder *b, const struct k_block *body)
{
	const char *it = e->in_loop ? e->layout->params[e->module->loop.param] : NULL;

	if (!it)
		return;
	quote(b, "PMG_IN_LOOP;");
	if (k_mentions(body, it))
		quote(b, "const int64_t %s = pmg_loop->it;", it);
}

static struct k_function *device_function(struct emit *e, const char *name, struct k_block body)
{
	struct k_function *function = arena_new(e->arena, struct k_function);

	*function = (struct k_function) { .kind = K_FUNCTION_DEVICE, .result = k_scalar("void"), .name = name,
					  .qualifiers = "static", .head.span = e->b->span,
					  .end.span = e->b->span, .body = body };
	return function;
}

/* What stands ahead of the body. */
static struct k_block head_of(struct emit *e, const char *team, const struct mark *mark, const struct k_block *body,
			      bool is_shared)
{
	struct k_block head = { 0 };
	struct k_builder b = k_builder_new(e->arena, &head);

	b.span = e->b->span;
	quote(&b, "%s%d, %d, %d);", team, e->grid->team, e->grid->group, mark->width);
	add_loop_head(e, &b, body);
	add_constants(e, &b, body);
	if (!is_shared)
		quote(&b, "if (pmg_index > 0)\n\treturn;");
	quote_blank(&b);
	return head;
}

static void prepend(struct emit *e, struct k_block *body, const struct k_block *head)
{
	struct k_block all = *head;

	for (int i = 0; i < body->stmts.n; i++)
		vec_push(e->arena, &all.stmts, body->stmts.items[i]);
	*body = all;
}

static void build_kernel_of_grid(struct emit *e, __isl_keep isl_ast_node *node, const struct mark *mark)
{
	const char *name = kernel_name(e, node);
	struct k_function *function = device_function(e, name, build_bodies(e, node, mark));
	struct parameters parameters;
	const char *team = sized(e, "PMG_TEAM");
	const char *launch = !e->grid->sums_up ? sized(e, "PMG_LAUNCH")
			     : e->grid->warps ? sized(e, "PMG_LAUNCH_SUM") : "PMG_LAUNCH_SUM(";
	struct k_block head;

	function->bounds = quote_expr(e->arena, bounds_text(e));
	parameters = parameters_of(e, function);
	head = head_of(e, team, mark, &function->body, is_shared_at(isl_ast_node_copy(node)));
	prepend(e, &function->body, &head);
	vec_push(e->arena, &e->kernels->functions, function);
	quote(e->b, "%splan, %s, %s, %d%s);", launch, name, count_text(e, node), e->grid->team,
	      str_text(&parameters.arguments));
	e->grid = NULL;
}

void emit_grid(struct emit *e, __isl_keep isl_ast_node *node, const struct mark *mark)
{
	size_t n = (size_t) e->layout->slots.n;
	bool *outer = arena_new_array(e->arena, bool, n);
	struct grid grid = { 0 };

	memcpy(outer, e->is_written, n*sizeof(bool));
	memset(e->is_written, 0, n*sizeof(bool));
	e->grid = &grid;
	build_kernel_of_grid(e, node, mark);
	e->grid = NULL;
	while (n--)
		e->is_written[n] |= outer[n];
}

/* ---- the condition of the loop ---- */

static struct k_function *until_function(struct emit *e, const char *name, const char *until)
{
	struct k_function *function = device_function(e, name, (struct k_block) { 0 });
	struct k_builder b = k_builder_new(e->arena, &function->body);

	b.span = e->b->span;
	quote(&b, "pmg_loop->is_over = %s;", until);
	return function;
}

static void add_until_head(struct emit *e, struct k_function *function)
{
	const char *it = e->layout->params[e->module->loop.param];
	struct k_block head = { 0 };
	struct k_builder b = k_builder_new(e->arena, &head);

	b.span = e->b->span;
	quote(&b, "if (!pmg_cuda_advance(pmg_loop, pmg_bad, pmg_advance))\n\treturn;");
	add_constants(e, &b, &function->body);
	if (k_mentions(&function->body, it))
		quote(&b, "const int64_t %s = pmg_loop->it;", it);
	prepend(e, &function->body, &head);
}

static void add_until_parameters(struct emit *e, struct k_function *function)
{
	const struct k_param params[] = { { k_pointer("pmg_cuda_loop", false), "pmg_loop" },
					  { k_pointer("pmg_cuda_bad_index", true), "pmg_bad" },
					  { k_scalar("int64_t"), "pmg_advance" } };

	function->broken_at = function->params.n + 2;
	for (size_t i = 0; i < sizeof params/sizeof params[0]; i++)
		vec_push(e->arena, &function->params, params[i]);
}

void emit_until(struct emit *e, const char *until, int advance)
{
	const char *name = arena_printf(e->arena, "%s_until", e->layout->prefix);
	struct k_function *function;
	struct grid grid = { .team = 1 };
	struct parameters parameters;
	bool *written = e->is_written;

	if (e->is_specialized)
		name = arena_printf(e->arena, "%s_special", name);
	e->is_written = arena_new_array(e->arena, bool, e->layout->slots.n);
	e->grid = &grid;
	function = until_function(e, name, until);
	parameters = parameters_of(e, function);
	e->grid = NULL;
	e->is_written = written;
	add_until_head(e, function);
	add_until_parameters(e, function);
	if (advance == 0)
		vec_push(e->arena, &e->kernels->functions, function);
	quote(e->b, "PMG_LAUNCH(plan, %s, 1, 1%s, pmg_cuda_loop_of(plan), pmg_cuda_bad_index_of(plan), %d);", name,
	      str_text(&parameters.arguments), advance);
}
