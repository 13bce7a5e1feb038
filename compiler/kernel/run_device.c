/* SPDX-License-Identifier: MIT
 *
 * Kernels of a device in a running kernel program: thread groups one after the other, the lanes of each as a team. Two
 * groups are concurrent; lanes are so between two barriers of their group. A loop of the host whose condition is found
 * out on the device asks after each iteration. Sums over a grid are added up in the order of its threads. */
#include "kernel/run_private.h"

#include <string.h>

/* ---- starts ---- */

enum { MOST_GROUPS = 3, GROUPS_OF_BLOCK = 2 };

static void run_lane(struct run *run, struct run_team *team)
{
	run_function(run, team->launch->kernel, team->launch->args, team->launch->n_args);
}

static void run_group(struct run *run, const struct run_launch *launch, int64_t instance, int64_t group)
{
	const struct run_node *above = run->fiber->node;
	struct run_team team = { .launch = launch, .group = group, .n = launch->lanes, .body = run_lane,
				 .stmt = run->fiber->stmt };

	run->fiber->node = run_node(run, above, instance, false);
	run_team(run, &team);
	run->fiber->node = above;
}

static bool find_strided(const struct k_stmt *stmt, void *user)
{
	*(bool *) user |= stmt->kind == KS_LOOP && stmt->loop.kind == K_LOOP_GRID && stmt->loop.is_strided;
	return true;
}

/* A device has no more groups than it can run where each of them may have several iterations. Else they fill blocks:
 * there are some behind the last iteration. */
static int64_t groups_of(const struct k_function *kernel, int64_t count)
{
	bool is_strided = false;

	k_walk_block(&kernel->body, &(struct k_visitor) { .stmt = find_strided, .user = &is_strided });
	if (is_strided)
		return count < MOST_GROUPS ? count : MOST_GROUPS;
	return count > 1 ? (count + GROUPS_OF_BLOCK - 1)/GROUPS_OF_BLOCK*GROUPS_OF_BLOCK : count;
}

enum { PLAIN, BLOCK };

/* (plan, kernel, count, lanes, …). Of a block, the bytes that it shares follow. */
static struct run_value call_launch(struct run *run, const struct run_args *args)
{
	const int64_t instance = ++run->instances, count = run_arg(run, args, 2), lanes = run_arg(run, args, 3);
	const int first = args->code == BLOCK ? 5 : 4;
	struct run_launch launch = { .args = args->value + first, .n_args = args->n - first, .lanes = (int) lanes };

	if (args->value[1].kind != RUN_FUNCTION || lanes < 1 || lanes > RUN_MOST_THREADS)
		run_unknown(run, "%s of what is no kernel, or of %lld lanes", args->name, (long long) lanes);
	if (run->has_stopped)
		return run_int(0);
	launch.kernel = run->program->functions.items[args->value[1].integer];
	launch.n_groups = groups_of(launch.kernel, count);
	launch.n_left = launch.n_groups*lanes;
	run->launch = &launch;
	for (int64_t group = 0; group < launch.n_groups && !run->has_stopped; group++)
		run_group(run, &launch, instance, group);
	run->launch = NULL;
	return run_int(0);
}

/* ---- teams ---- */

static void bind_number(struct run *run, const char *name, int64_t number, bool is_own)
{
	static const struct k_type type = { .name = "int64_t", .is_const = true };
	struct run_value value = run_int(number);

	value.is_own = is_own;
	run_bind(run, name, &type, value);
}

void run_bind_team(struct run *run, const char *by, const struct k_team *team)
{
	const struct run_team *started = run->fiber->team;
	const int64_t lane = run->fiber->number;

	if (!started || !started->launch || team->group < 1 || team->lanes != started->n)
		run_fault(run, "%s: not as the kernel was started", by);
	if (run->has_stopped)
		return;
	run->fiber->group = team->group;
	run->fiber->width = team->width;
	bind_number(run, "PMG_SHARE_CELLS", team->width, false);
	bind_number(run, "pmg_team", team->lanes, false);
	bind_number(run, "pmg_group", team->group, false);
	bind_number(run, "pmg_groups", team->lanes/team->group, false);
	bind_number(run, "pmg_width", team->width, false);
	bind_number(run, "pmg_teams", started->launch->n_groups, false);
	bind_number(run, "pmg_index", started->group, false);
	bind_number(run, "pmg_lane", lane, true);
	bind_number(run, "pmg_member", lane % team->group, true);
	bind_number(run, "pmg_group_number", lane/team->group, true);
}

/* (lanes, group, width) */
static struct run_value call_team(struct run *run, const struct run_args *args)
{
	const struct k_team team = { .lanes = (int) run_arg(run, args, 0), .group = (int) run_arg(run, args, 1),
				     .width = (int) run_arg(run, args, 2) };

	run_bind_team(run, args->name, &team);
	return run_int(0);
}

/* (lanes) */
static struct run_value call_block_team(struct run *run, const struct run_args *args)
{
	const int64_t lanes = run_arg(run, args, 0);
	const struct run_team *team = run->fiber->team;

	if (!team || !team->launch || lanes != team->n)
		run_fault(run, "%s: not as the kernel was started", args->name);
	if (run->has_stopped)
		return run_int(0);
	bind_number(run, "pmg_team", lanes, false);
	bind_number(run, "pmg_index", team->group, false);
	bind_number(run, "pmg_lane", run->fiber->number, true);
	return run_int(0);
}

/* (n, most): lanes of a team for a loop of n iterations. */
static struct run_value call_lanes(struct run *run, const struct run_args *args)
{
	const int64_t n = run_arg(run, args, 0), most = run_arg(run, args, 1);
	int64_t lanes = 1;

	while (lanes < n && lanes < most && lanes < RUN_MOST_THREADS)
		lanes *= 2;
	return run_int(lanes);
}

/* (plan, lanes, bytes): can a block be of so many, which share so much? */
static struct run_value call_fits(struct run *run, const struct run_args *args)
{
	return run_of_element(TYPE_BOOL, 0, run_arg(run, args, 1) <= RUN_MOST_THREADS);
}

enum { TO, FROM };

/* (to, from, n, row): the elements of a lane, and of all others, each by its lane. In shared memory one is free behind
 * each row. */
static struct run_value call_copy(struct run *run, const struct run_args *args)
{
	const struct run_team *team = run->fiber->team;
	const int64_t n = run_arg(run, args, 2), row = run_arg(run, args, 3);

	for (int64_t i = run->fiber->number; i < n && !run->has_stopped; i += team->n) {
		const int64_t padded = i + i/row;

		run_store_at(run, args->value[TO], args->code == TO ? padded : i,
			     run_load_at(run, args->value[FROM], args->code == TO ? i : padded));
	}
	return run_int(0);
}

enum { MOST_LANES = 1024, SHARED_UNIT = 16 };

/* (bytes): lanes of a block that have registers for so many. */
static struct run_value call_block_lanes(struct run *run, const struct run_args *args)
{
	(void) run, (void) args;
	return run_int(MOST_LANES);
}

/* (type, n) */
static struct run_value call_room(struct run *run, const struct run_args *args)
{
	return run_int(run_arg(run, args, 1)*SHARED_UNIT);
}

/* A name alone as a statement. */
enum run_flow run_macro(struct run *run, const struct k_stmt *stmt)
{
	const char *name = stmt->value->text;

	if (!strcmp(name, "PMG_TEAM_SYNC") || !strcmp(name, "PMG_BLOCK_SYNC"))
		run_barrier(run, stmt);
	else if (!strcmp(name, "PMG_IN_LOOP"))
		return run->loop.is_over ? RUN_RETURN : RUN_ON;
	else if (strcmp(name, "PMG_READ_ONCE") != 0 && strcmp(name, "PMG_COPIED") != 0)
		run_unknown(run, "%s", name);
	return RUN_ON;
}

/* ---- what lanes and threads add up ---- */

enum { BY_CONSTANT = -1 };              /* of the call, its last one */

static enum run_combining operation_of(struct run *run, const struct run_args *args)
{
	static const char *const names[] = { [RUN_ADD] = "pmg_cuda_add", [RUN_PROD] = "pmg_cuda_prod",
					     [RUN_MIN] = "pmg_cuda_min", [RUN_MAX] = "pmg_cuda_max" };
	const struct k_expr *call = args->call;
	const char *name = call->constants.n ? call->constants.items[call->constants.n - 1]->text : "";

	if (args->code != BY_CONSTANT)
		return (enum run_combining) args->code;
	for (int i = RUN_ADD; i <= RUN_MAX; i++)
		if (!strcmp(name, names[i]))
			return (enum run_combining) i;
	run_unknown(run, "%s of '%s'", args->name, name);
	return RUN_ADD;
}

/* <team, group, operation>(value): of the lanes of each group, in pairs of halves. All of them know the result. */
static struct run_value call_over_lanes(struct run *run, const struct run_args *args)
{
	const struct k_expr *call = args->call;
	struct run_team *team = run->fiber->team;
	const enum run_combining operation = operation_of(run, args);
	const struct run_value group = call->constants.n == 3 ? run_expr(run, call->constants.items[1]) : run_int(1);
	struct run_value value = args->value[0];

	for (int64_t half = run_integer(run, &group)/2; half > 0 && !run->has_stopped; half /= 2) {
		team->fibers[run->fiber->number].exchanged = value;
		run_barrier(run, run->fiber->stmt);
		value = run_combined(run, operation, value, team->fibers[run->fiber->number ^ half].exchanged);
		run_barrier(run, run->fiber->stmt);
	}
	return value;
}

/* (&name, parts): true in the last thread to come, which then has the sum of all. */
static struct run_value call_over_grid(struct run *run, const struct run_args *args)
{
	const struct k_expr *call = args->call, *target = call->args.items[0]->args.items[0];
	struct run_launch *launch = run->launch;
	struct run_value value;

	if (!launch || target->kind != KE_NAME) {
		run_unknown(run, "%s", args->name);
		return run_int(0);
	}
	value = run_name_read(run, target->text);
	if (launch->has_sum)
		value = run_combined(run, operation_of(run, args), launch->sum, value);
	launch->sum = value;
	launch->has_sum = true;
	if (--launch->n_left > 0)
		return run_of_element(TYPE_BOOL, 0, false);
	run_name_write(run, target->text, value);
	return run_of_element(TYPE_BOOL, 0, true);
}

/* ---- loops of the host ---- */

static struct run_value call_loop_of(struct run *run, const struct run_args *args)
{
	(void) run, (void) args;
	return (struct run_value) { .kind = RUN_LOOP };
}

static int64_t ask_host(struct run *run, const char *function, int64_t a, int64_t b, bool until)
{
	const struct k_run_number args[] = { { 0 }, { 0 }, { .integer = a }, { .integer = b }, { .integer = until } };
	struct k_run_number result = { 0 };

	if (!run->has_stopped && !run->host->call(run->host->user, function, args, 5, &result))
		run_unknown(run, "%s", function);
	return result.integer;
}

/* (plan, control, lo) */
static struct run_value call_loop_begin(struct run *run, const struct run_args *args)
{
	run->loop.is_over = false;
	run->loop.it = ask_host(run, "pmg_loop_begin", run_arg(run, args, 2), 0, false);
	return run_int(run->loop.it);
}

/* (plan, control, &it, hi) */
static struct run_value call_loop_next(struct run *run, const struct run_args *args)
{
	const struct run_value hi = run_expr(run, args->call->args.items[3]);
	const bool goes_on = ask_host(run, "pmg_loop_next", run->loop.it, run_integer(run, &hi), run->loop.is_over);

	if (goes_on)
		run_name_write(run, args->call->args.items[2]->args.items[0]->text, run_int(run->loop.it));
	return run_of_element(TYPE_BOOL, 0, goes_on);
}

/* (loop, bad, advance): goes so many iterations on; false: it is over. */
static struct run_value call_advance(struct run *run, const struct run_args *args)
{
	run->loop.is_over |= ask_host(run, "pmg_failed", 0, 0, false) != 0;
	run->loop.it += run->loop.is_over ? 0 : run_arg(run, args, 2);
	return run_of_element(TYPE_BOOL, 0, !run->loop.is_over);
}

static struct run_value call_failed(struct run *run, const struct run_args *args)
{
	(void) args;
	return run_of_element(TYPE_BOOL, 0, ask_host(run, "pmg_failed", 0, 0, false));
}

/* The device's own end of the loop. */
static struct run_value call_stop_if_bad(struct run *run, const struct run_args *args)
{
	(void) args;
	run->loop.is_over |= ask_host(run, "pmg_failed", 0, 0, false) != 0;
	return run_int(0);
}

/* (plan, pass): once. */
static struct run_value call_pass(struct run *run, const struct run_args *args)
{
	return run_of_element(TYPE_BOOL, 0, run_arg(run, args, 1) == 0);
}

static struct run_value call_data(struct run *run, const struct run_args *args)
{
	return run_plan_data(run, run_arg(run, args, 1));
}

const struct run_call run_device_calls[] = {
	RUN_CALL("PMG_LAUNCH", call_launch, PLAIN), RUN_CALL("PMG_LAUNCH_LONG", call_launch, PLAIN),
	RUN_CALL("PMG_LAUNCH_SUM", call_launch, PLAIN), RUN_CALL("PMG_TEAM", call_team, 0),
	RUN_CALL("PMG_LAUNCH_BLOCK", call_launch, BLOCK), RUN_CALL("PMG_TEAM_BLOCK", call_block_team, 0),
	RUN_CALL("pmg_*_lanes", call_lanes, 0), RUN_CALL("pmg_*_fits", call_fits, 0),
	RUN_CALL("PMG_COPY_IN", call_copy, TO), RUN_CALL("PMG_COPY_OUT", call_copy, FROM),
	RUN_CALL("PMG_BLOCK_LANES", call_block_lanes, 0), RUN_CALL("PMG_ROOM", call_room, 0),
	RUN_CALL("PMG_TEAM_LONG", call_team, 0), RUN_CALL("pmg_*_team", call_over_lanes, BY_CONSTANT),
	RUN_CALL_OF_NODES("pmg_*_grid", call_over_grid, BY_CONSTANT),
	RUN_CALL_OF_NODES("pmg_*_grid_add_", call_over_grid, RUN_ADD),
	RUN_CALL_OF_NODES("pmg_*_grid_prod_", call_over_grid, RUN_PROD),
	RUN_CALL_OF_NODES("pmg_*_grid_min_", call_over_grid, RUN_MIN),
	RUN_CALL_OF_NODES("pmg_*_grid_max_", call_over_grid, RUN_MAX),
	RUN_CALL("pmg_*_loop_of", call_loop_of, 0), RUN_CALL("pmg_*_loop_begin", call_loop_begin, 0),
	RUN_CALL_OF_NODES("pmg_*_loop_next", call_loop_next, 0), RUN_CALL("pmg_*_advance", call_advance, 0),
	RUN_CALL("pmg_*_pass", call_pass, 0), RUN_CALL("pmg_*_data", call_data, 0),
	RUN_CALL_OF_NODES("pmg_*_bad_index_of", NULL, 0), RUN_CALL_OF_NODES("pmg_*_parts_of", NULL, 0),
	RUN_CALL("PMG_STOP_IF_BAD", call_stop_if_bad, 0), RUN_CALL("pmg_*_failed", call_failed, 0),
	RUN_CALL("PMG_OPENCL_ARGUMENT", run_first_arg, 0),
	RUN_CALLS_END
};
