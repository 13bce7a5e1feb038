/* SPDX-License-Identifier: MIT
 *
 * Threads of a team, one after the other: each runs until it waits at a barrier or ends, then the next one. When all
 * wait at the same barrier, they go on, as other nodes than before. Each has a stack of its own, so that a barrier may
 * stand anywhere; nothing here depends on the order of threads but the order of sums. */
#include "kernel/run_private.h"

enum { STACK_BYTES = 1 << 18 };

const struct run_node *run_node(struct run *run, const struct run_node *parent, int64_t instance, bool is_shared)
{
	struct run_node *node = arena_new(run->arena, struct run_node);

	*node = (struct run_node) { .parent = parent, .instance = instance, .depth = parent->depth + 1,
				    .is_shared = is_shared };
	return node;
}

int64_t run_concurrent_in(const struct run_node *a, bool a_owns, const struct run_node *b, bool b_owns)
{
	if (!a || !b || a == b)
		return 0;
	while (a->depth > b->depth)
		a = a->parent;
	while (b->depth > a->depth)
		b = b->parent;
	if (a == b)
		return 0;
	for (; a->parent != b->parent; b = b->parent)
		a = a->parent;
	return a->instance == b->instance && !(a->is_shared && a_owns && b_owns) ? a->instance : 0;
}

/* ---- stacks ---- */

static char *take_stack(struct run *run)
{
	return run->stacks.n ? run->stacks.items[--run->stacks.n] : arena_alloc(run->arena, STACK_BYTES);
}

/* makecontext hands on integers only. */
static void begin(unsigned high, unsigned low)
{
	struct run *run = (struct run *) (((uintptr_t) high << 16 << 16) + low);
	struct run_fiber *fiber = run->fiber;

	fiber->team->body(run, fiber->team);
	fiber->has_ended = true;
	swapcontext(&fiber->context, fiber->back);
}

static void begin_fiber(struct run *run, struct run_team *team, int number, ucontext_t *back)
{
	struct run_fiber *fiber = &team->fibers[number], *above = run->fiber;

	*fiber = (struct run_fiber) { .back = back, .stack = take_stack(run), .names = above->names, .team = team,
				      .function = above->function, .stmt = above->stmt, .number = number };
	fiber->node = run_node(run, team->above, team->instance, false);
	getcontext(&fiber->context);
	fiber->context.uc_stack.ss_sp = fiber->stack;
	fiber->context.uc_stack.ss_size = STACK_BYTES;
	makecontext(&fiber->context, (void (*)(void)) begin, 2, (unsigned) ((uintptr_t) run >> 16 >> 16),
		    (unsigned) (uintptr_t) run);
}

/* ---- rounds ---- */

/* Each thread that has not ended goes on to its next barrier; how many there are. */
static int run_round(struct run *run, struct run_team *team, ucontext_t *here)
{
	int n_waiting = 0;

	for (int i = 0; i < team->n; i++) {
		struct run_fiber *above = run->fiber;

		if (team->fibers[i].has_ended)
			continue;
		run->fiber = &team->fibers[i];
		swapcontext(here, &team->fibers[i].context);
		run->fiber = above;
		n_waiting += !team->fibers[i].has_ended;
	}
	return n_waiting;
}

static void check_barrier(struct run *run, const struct run_team *team)
{
	for (int i = 0; i < team->n && !run->has_stopped; i++)
		if (team->fibers[i].has_ended || team->fibers[i].waits_at != team->fibers[0].waits_at)
			run_fault(run, "not all threads reach the same barrier");
}

static void go_on(struct run *run, struct run_team *team)
{
	team->instance = ++run->instances;
	for (int i = 0; i < team->n; i++)
		team->fibers[i].node = run_node(run, team->above, team->instance, false);
}

struct run_value run_private(struct run *run, const struct run_args *args)
{
	const struct run_value buffer = run_expr(run, args->call->args.items[args->code]);

	if (run->fiber->team)
		run->fiber->team->reduced = buffer.buffer;
	return buffer;
}

/* After a fault, the barriers of those that wait let them through to their ends. */
void run_team(struct run *run, struct run_team *team)
{
	ucontext_t here;

	team->instance = ++run->instances;
	team->above = run->fiber->node;
	team->fibers = arena_new_array(run->arena, struct run_fiber, team->n);
	for (int i = 0; i < team->n; i++)
		begin_fiber(run, team, i, &here);
	while (run_round(run, team, &here) > 0) {
		check_barrier(run, team);
		go_on(run, team);
	}
	for (int i = 0; i < team->n; i++)
		vec_push(run->arena, &run->stacks, team->fibers[i].stack);
	for (int i = 0; i < team->shared.n; i++)
		run_drop_buffer(run, team->shared.items[i].buffer);
}

void run_barrier(struct run *run, const struct k_stmt *stmt)
{
	struct run_fiber *fiber = run->fiber;

	if (!fiber->team || run->has_stopped)
		return;
	if (fiber->node->parent != fiber->team->above)
		run_fault(run, "a barrier inside of a concurrent loop");
	fiber->waits_at = stmt;
	swapcontext(&fiber->context, fiber->back);
}
