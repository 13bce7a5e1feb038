/* SPDX-License-Identifier: MIT
 *
 * What an entry runs: the parts of the prologue, of the body in the loop around it, and of the epilogue. */
#include "codegen/entry_private.h"

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
	if (kernel->emit.function.in_loop && kernel_is_of_device(kernel)) {
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

	for (int p = 0, next; p < kernel->parts.n; p = next) {
		const struct nest *nest = &kernel->nests.items[kernel->parts.items[p].first];

		next = parts_end_of_region(kernel, p);
		if (nest->region != region)
			continue;
		if (!is_first)
			k_blank(e->b);
		is_first = false;
		e->function.in_loop = e->module->loop.var;
		if (nest->is_commit && region == REGION_BODY && build_failure_check(kernel))
			k_blank(e->b);
		e->function.in_loop = false;
		parts_add_region(kernel, p, next);
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

struct k_expr *asked_of_control(struct arena *arena, const char *function)
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
	if (kernel_has_swaps(e->module) && !has_commits(e->module))
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
	if (kernel_is_of_device(kernel))
		build_device_loop(kernel, &head);
	else
		build_host_loop(kernel, &head);
	build_failure_check(kernel);
	if (e->module->regions[REGION_EPILOGUE].groups.n)
		k_blank(e->b);
}

void entry_build_body(struct kernel *kernel, const struct part *unused)
{
	struct emit *e = &kernel->emit;
	const bool is_pass = kernel_is_of_device(kernel) && e->target->device->records && !e->module->loop.var &&
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
