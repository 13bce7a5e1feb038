/* SPDX-License-Identifier: MIT
 *
 * Names of a kernel function: each is a declaration's that is visible, the runtime's or a function of the program; no
 * declaration hides another one; a call is one that the runtime has, with as many arguments; nothing sets a constant,
 * the variable of a loop, or what lies behind a pointer to constants; and no variable is read that certainly has no
 * value yet. */
#include <string.h>

#include "kernel/kernel_private.h"

static void check_expr(const struct k_expr *expr, void *user);
static void check_set(struct k_check *check, const struct k_expr *target);

/* ---- what may be set -------------------------------------------------------------------------------- */

static void check_set_variable(struct k_check *check, const char *name)
{
	const struct k_declared *declared = k_declared_find(check->place, name);

	if (!declared)
		return;
	if (declared->rank > 0)
		K_FAULT(check, "'%s' is an array, not an element", name);
	else if (declared->stmt && declared->stmt->kind == KS_LOOP)
		K_FAULT(check, "'%s' is the variable of a loop", name);
	else if (declared->stmt && declared->stmt->kind == KS_LET && !declared->stmt->let.is_variable)
		K_FAULT(check, "'%s' is a constant", name);
	else if (declared->type.is_const && !declared->type.is_pointer)
		K_FAULT(check, "'%s' is a constant", name);
}

static void check_set_behind(struct k_check *check, const struct k_expr *pointer)
{
	if (pointer->kind == KE_UNARY && pointer->op == K_ADDRESS)
		check_set(check, pointer->args.items[0]);
	else if (pointer->type.name && pointer->type.is_pointer && pointer->type.is_const)
		K_FAULT(check, "elements of '%s' are constants", k_expr_text(check->place->arena, pointer));
}

static void check_set(struct k_check *check, const struct k_expr *target)
{
	if (target->kind == KE_NAME && k_runtime_name_find(target->text))
		K_FAULT(check, "'%s' is the runtime's", target->text);
	else if (target->kind == KE_NAME)
		check_set_variable(check, target->text);
	else if (target->kind == KE_LOAD || (target->kind == KE_MEMBER && target->is_arrow) ||
		 (target->kind == KE_UNARY && target->op == K_CONTENT))
		check_set_behind(check, target->args.items[0]);
	else if (target->kind == KE_CALL && k_effects(target) & K_CALL_IS_TARGET && target->args.n == 1)
		check_set(check, target->args.items[0]);
	else if (target->kind == KE_CALL)
		K_FAULT(check, "'%s' is nothing that can be set", k_expr_text(check->place->arena, target));
}

/* ---- calls --------------------------------------------------------------------------------------------- */

static void check_letter(struct k_check *check, const struct k_expr *arg, char letter)
{
	if (letter == 'f' && arg->kind == KE_NAME && k_callee_find(arg->text))
		return;
	if (letter == 'x')
		return;
	if (letter == 'w' || letter == 'b')
		check_set_behind(check, arg);
	else if (strchr("sSu", letter))
		check_set(check, arg);
	check_expr(arg, check);
}

static void check_count(struct k_check *check, const struct k_expr *call, bool is_right)
{
	if (!is_right)
		K_FAULT(check, "'%s' takes another number of arguments than %d", call->text, call->args.n);
}

static bool is_of_runtime(const char *name)
{
	return strncmp(name, "pmg_", strlen("pmg_")) == 0 || strncmp(name, "PMG_", strlen("PMG_")) == 0;
}

static void check_call(struct k_check *check, const struct k_expr *call)
{
	int first = 0;
	const struct k_function *own = k_called_function(check->place->program, call, &first);
	const struct k_callee *callee = k_function_find(check->place->program, call->text) ? NULL
				      : k_callee_find(call->text);

	if (own)
		check_count(check, call, call->args.n - first == own->params.n);
	else if (callee)
		check_count(check, call, k_callee_takes(callee, call->args.n));
	else if (is_of_runtime(call->text))
		K_FAULT(check, "the runtime has no '%s'", call->text);
	else
		K_FAULT(check, "'%s' is no function of the program or of libm", call->text);
	for (int i = 0; i < call->args.n && !check->fault; i++)
		check_letter(check, call->args.items[i], callee ? k_callee_argument(callee, i) : 'v');
}

/* ---- names ------------------------------------------------------------------------------------------------ */

static void check_name(struct k_check *check, const char *name)
{
	if (!k_declared_find(check->place, name) && !k_runtime_name_find(name) &&
	    !k_function_find(check->place->program, name))
		K_FAULT(check, "'%s' is not declared here", name);
}

static void check_expr(const struct k_expr *expr, void *user)
{
	struct k_check *check = user;

	if (expr->kind == KE_NAME)
		check_name(check, expr->text);
	for (int i = 0; i < expr->constants.n; i++)
		check_expr(expr->constants.items[i], check);
	if (expr->kind == KE_CALL)
		check_call(check, expr);
	for (int i = 0; i < expr->args.n && expr->kind != KE_CALL; i++)
		check_expr(expr->args.items[i], check);
}

static void check_reductions(struct k_check *check, const struct k_loop *loop)
{
	for (int i = 0; i < loop->reductions.n; i++) {
		check_name(check, loop->reductions.items[i].name);
		check_set_variable(check, loop->reductions.items[i].name);
	}
}

/* ---- variables without a value -------------------------------------------------------------------------- */

struct reading {
	const char *name;
	int reads;
};

static void count_reads(const struct k_expr *expr, void *user)
{
	struct reading *reading = user;

	reading->reads += k_uses_in_expr(expr, reading->name).reads;
}

/* The statement reads the name, before it can set it. */
static bool reads_first(const struct k_stmt *stmt, const char *name)
{
	struct reading reading = { name, 0 };
	struct k_block alone = { 0 };
	struct k_stmt *items[] = { (struct k_stmt *) stmt };

	alone.stmts.items = items;
	alone.stmts.n = 1;
	if (stmt->kind == KS_LET || stmt->kind == KS_STORE || stmt->kind == KS_RETURN)
		return k_uses_in_block(&alone, name).reads > 0;
	if (stmt->kind == KS_LOOP || stmt->kind == KS_IF)
		k_each_expr(stmt, count_reads, &reading);
	return reading.reads > 0;
}

static void check_first_use(struct k_check *check, const struct k_block *block, int at)
{
	const char *name = block->stmts.items[at]->let.name;

	for (int i = at + 1; i < block->stmts.n; i++) {
		struct k_block alone = { .stmts = { &block->stmts.items[i], 1, 1 } };

		if (!k_mentions(&alone, name))
			continue;
		check->stmt = block->stmts.items[i];
		if (reads_first(check->stmt, name))
			K_FAULT(check, "'%s' has no value yet", name);
		return;
	}
}

static void check_first_uses(struct k_check *check, const struct k_block *block)
{
	for (int i = 0; i < block->stmts.n && !check->fault; i++) {
		const struct k_stmt *stmt = block->stmts.items[i];

		if (stmt->kind == KS_LET && !stmt->let.value && stmt->let.extents.n == 0)
			check_first_use(check, block, i);
	}
}

static void check_blocks(struct k_check *check, const struct k_stmt *stmt)
{
	for (const struct k_part *part = k_parts(stmt); part->sort != K_PART_END; part++)
		if (part->sort == K_PART_BLOCK)
			check_first_uses(check, k_part_at(stmt, part));
}

/* ---- statements ---------------------------------------------------------------------------------------------- */

/* What a part that is apart takes from the plan may be what its entry took before. */
static bool may_hide(const struct k_scope *place)
{
	return place->inside.n > 0 && place->inside.items[place->inside.n - 1]->is_apart;
}

static void check_declare(struct k_check *check, const struct k_declared *declared)
{
	if (k_declared_find(check->place, declared->name) && !may_hide(check->place))
		K_FAULT(check, "'%s' is declared already", declared->name);
	else if (k_runtime_name_find(declared->name))
		K_FAULT(check, "'%s' is a name of the runtime", declared->name);
}

static void check_stmt(struct k_check *check, const struct k_stmt *stmt)
{
	k_each_expr(stmt, check_expr, check);
	for (int i = 0; stmt->kind == KS_STORE && i < stmt->store.targets.n; i++)
		check_set(check, stmt->store.targets.items[i]);
	if (stmt->kind == KS_LOOP)
		check_reductions(check, &stmt->loop);
	check_blocks(check, stmt);
}

static void check_function(struct k_check *check)
{
	check_first_uses(check, &check->place->function->body);
}

const struct k_rule k_rule_names = { .function = check_function, .declare = check_declare, .stmt = check_stmt };
