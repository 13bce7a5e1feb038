/* SPDX-License-Identifier: MIT
 *
 * Statements of a running kernel program. */
#include "kernel/run_private.h"

#include <string.h>

/* ---- declarations ---- */

static struct run_value zero_of(struct run *run, int element)
{
	return run_is_vector(element) ? run_filled(run, element, run_int(0))
								       : run_of_element(element, 0, 0);
}

/* { a, b }: of a vector its first lanes; of anything else, its value. */
static struct run_value of_item(struct run *run, const struct k_expr *item, int element)
{
	struct run_value value = zero_of(run, element);

	if (item->kind != KE_LIST)
		return run_converted(run, run_expr(run, item), element);
	for (int i = 0; i < item->args.n && i < value.lanes; i++) {
		struct run_value lane = run_expr(run, item->args.items[i]);

		value.lane[i] = run_real(&lane);
	}
	return value;
}

static void fill_array(struct run *run, struct run_value at, const struct k_expr *list, int64_t n, int element)
{
	at.is_const = false;
	for (int64_t i = 0; i < n && !run->has_stopped; i++) {
		struct run_value to = run_at(run, at, i);

		run_store(run, &to, i < list->args.n ? of_item(run, list->args.items[i], element)
						     : zero_of(run, element), false);
	}
}

/* The extents behind the first one, a zero behind them; all elements in `n`. */
static int64_t *shape_of(struct run *run, const struct k_let *let, int64_t *n)
{
	int64_t *shape = let->extents.n > 1 ? arena_new_array(run->arena, int64_t, let->extents.n) : NULL;

	*n = 1;
	for (int i = 0; i < let->extents.n; i++) {
		struct run_value extent = run_expr(run, let->extents.items[i]);
		int64_t value = run_integer(run, &extent);

		if (value < 0 || value > INT32_MAX)
			run_fault(run, "an array of %lld elements", (long long) value);
		*n = run->has_stopped ? 0 : *n*value;
		if (i)
			shape[i - 1] = value;
	}
	return shape;
}

static struct run_buffer *take_shared(struct run *run, const struct k_let *let, int64_t bytes, int unit)
{
	struct run_team *team = run->fiber->team;
	struct run_buffer *buffer;

	for (int i = 0; i < team->shared.n; i++)
		if (team->shared.items[i].let == let)
			return team->shared.items[i].buffer;
	buffer = run_take_buffer(run, let->name, bytes, unit);
	buffer->owner = NULL;
	vec_push(run->arena, &team->shared, ((struct run_shared) { let, buffer }));
	return buffer;
}

/* Of an array: of the thread, or of its group. */
static struct run_buffer *take_array(struct run *run, const struct k_let *let, int64_t bytes, int unit)
{
	const bool is_shared = let->space == K_SPACE_SHARED && run->fiber->team;

	return is_shared ? take_shared(run, let, bytes, unit) : run_take_buffer(run, let->name, bytes, unit);
}

static void let_array(struct run *run, const struct k_let *let)
{
	const int element = run_element_of(run, let->type.name);
	const bool is_vector = run_is_vector(element);
	struct run_value at = { .kind = RUN_ADDRESS, .element = element, .is_const = let->type.is_const };
	int64_t n, bytes;

	if (element < 0 || let->type.is_pointer) {
		run_unknown(run, "arrays of '%s'", let->type.name);
		return;
	}
	at.shape = shape_of(run, let, &n);
	bytes = run_element_bytes(run, element);
	at.buffer = take_array(run, let, n*bytes, (int) (is_vector ? bytes/run_lanes(run, element) : bytes));
	run_bind(run, let->name, &let->type, at)->is_array = true;
	if (let->value)
		fill_array(run, at, let->value, n, element);
}

static void let_variable(struct run *run, const struct k_let *let)
{
	const int element = let->type.name ? run_element_of(run, let->type.name) : -1;
	struct run_value value = { .kind = RUN_NOTHING };

	if (let->value && let->value->kind == KE_LIST)
		value = of_item(run, let->value, element);
	else if (let->value)
		value = run_expr(run, let->value);
	else if (element >= 0 && element != RUN_VOID && !let->type.is_pointer)
		value = zero_of(run, element);
	run_bind(run, let->name, &let->type, (struct run_value) { 0 });
	run_name_write(run, let->name, value);
	run->fiber->names->cell.is_set = let->value;
}

/* ---- stores ---- */

static struct run_value updated(struct run *run, enum k_op op, struct run_value before, struct run_value value)
{
	return op == K_OP_N || run->has_stopped ? value : run_binary(run, op, before, value);
}

static struct run_value store_name(struct run *run, const struct k_store *store, const char *name,
				   struct run_value value)
{
	if (store->op != K_OP_N)
		value = updated(run, store->op, run_name_read(run, name), value);
	run_name_write(run, name, value);
	return value;
}

static struct run_value store_there(struct run *run, const struct k_store *store, const struct k_expr *target,
				    struct run_value value)
{
	const bool is_atomic = store->mode == K_STORE_ATOMIC;
	struct run_value at;

	if (target->kind == KE_MEMBER && run_expr(run, target->args.items[0]).kind == RUN_LOOP) {
		run->loop.is_over = run_truth(run, &value);
		return value;
	}
	at = run_address(run, target);
	if (store->op != K_OP_N)
		value = updated(run, store->op, run_load(run, &at, is_atomic ? RUN_WRITE_ATOMIC : RUN_READ), value);
	run_store(run, &at, value, is_atomic);
	return value;
}

/* Has the name of an array as its own target: its value is elsewhere. */
static void run_store_stmt(struct run *run, const struct k_store *store)
{
	struct run_value value = run_expr(run, store->value);

	for (int i = store->targets.n - 1; i >= 0 && !run->has_stopped; i--) {
		const struct k_expr *target = store->targets.items[i];

		value = target->kind == KE_NAME ? store_name(run, store, target->text, value)
						: store_there(run, store, target, value);
	}
}

/* ---- the others ---- */

static enum run_flow run_if(struct run *run, const struct k_if *branch)
{
	struct run_value condition = run_expr(run, branch->condition);
	bool is_true = run_truth(run, &condition);

	if (run->has_stopped)
		return RUN_RETURN;
	return run_body(run, is_true ? &branch->then : &branch->otherwise);
}

static bool goes_on(struct run *run, const struct k_while *repeat)
{
	struct run_value condition = run_expr(run, repeat->condition);

	return run_truth(run, &condition) && !run->has_stopped;
}

static enum run_flow run_while(struct run *run, const struct k_while *repeat)
{
	struct run_binding *outer = run->fiber->names;
	enum run_flow flow = run_block(run, &repeat->before);

	while (flow == RUN_ON && goes_on(run, repeat)) {
		flow = run_body(run, &repeat->body);
		if (flow == RUN_CONTINUE)
			flow = RUN_ON;
		if (flow == RUN_ON && repeat->after)
			flow = run_stmt(run, repeat->after);
	}
	run_leave(run, outer);
	return flow == RUN_BREAK ? RUN_ON : flow;
}

static enum run_flow run_return(struct run *run, const struct k_stmt *stmt)
{
	if (stmt->value)
		run->returned = run_expr(run, stmt->value);
	return RUN_RETURN;
}

static enum run_flow run_what(struct run *run, const struct k_stmt *stmt)
{
	switch (stmt->kind) {
	case KS_BLOCK: return run_body(run, &stmt->body);
	case KS_LET:
		if (stmt->let.extents.n)
			let_array(run, &stmt->let);
		else
			let_variable(run, &stmt->let);
		break;
	case KS_STORE: run_store_stmt(run, &stmt->store); break;
	case KS_LOOP: return run_loop(run, stmt);
	case KS_WHILE: return run_while(run, &stmt->repeat);
	case KS_IF: return run_if(run, &stmt->branch);
	case KS_CALL:
		if (stmt->value->kind == KE_NAME)
			return run_macro(run, stmt);
		run_expr(run, stmt->value);
		break;
	case KS_PARALLEL: run_parallel(run, stmt); break;
	case KS_RETURN: return run_return(run, stmt);
	case KS_BREAK: return RUN_BREAK;
	case KS_CONTINUE: return RUN_CONTINUE;
	case KS_RECORD: run_unknown(run, "structures"); break;
	case KS_UNUSED:
	case KS_COMMENT:
	case KS_BLANK:
	case KS_N: break;
	}
	return RUN_ON;
}

enum run_flow run_stmt(struct run *run, const struct k_stmt *stmt)
{
	const struct k_stmt *above = run->fiber->stmt;
	enum run_flow flow;

	run->fiber->stmt = stmt;
	if (++run->result.statements > run->host->most_statements && run->host->most_statements)
		run_fault(run, "no end after %lld statements", (long long) run->host->most_statements);
	if (run->host->visit)
		run->host->visit(run->host->user, stmt);
	flow = run->has_stopped ? RUN_RETURN : run_what(run, stmt);
	run->fiber->stmt = above;
	return run->has_stopped ? RUN_RETURN : flow;
}

enum run_flow run_block(struct run *run, const struct k_block *block)
{
	enum run_flow flow = RUN_ON;

	for (int i = 0; i < block->stmts.n && flow == RUN_ON; i++)
		flow = run_stmt(run, block->stmts.items[i]);
	return flow;
}

enum run_flow run_body(struct run *run, const struct k_block *block)
{
	struct run_binding *outer = run->fiber->names;
	enum run_flow flow = run_block(run, block);

	run_leave(run, outer);
	return flow;
}
