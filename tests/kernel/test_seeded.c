/* SPDX-License-Identifier: MIT
 *
 * Mistakes put into generated kernels, one at a time: how many does the verifier find? Of each kind at least so many in
 * a hundred as the table says. Those that it cannot find without values are for who runs the program; what it says of
 * all of them is printed.
 * With sanitizers only for --long: tests/decide lowers with them. */
#include <string.h>

#include "kernel/quoted.h"

enum mistake {
	UNDECLARED_NAME,                /* a name that is nowhere declared */
	OTHER_NAME,                     /* in the place of a name, the one declared after it */
	DROPPED_LET,
	EARLY_CONST,                    /* a variable that is set is a constant */
	CONST_BUFFER,                   /* so are elements that are set */
	WRONG_SPACE,
	WRONG_TYPE,                     /* an index is a floating number */
	SWAPPED_ARGUMENTS,              /* the first two of a call of the runtime */
	DROPPED_ARGUMENT,
	DROPPED_BARRIER,
	BARRIER_OF_LANE,                /* the `if` around a barrier asks for a lane */
	DROPPED_REDUCTION,
	DROPPED_ATOMIC,
	BOUND_MORE, BOUND_LESS,         /* a loop of one iteration more, or less */
	INDEX_MORE,                     /* the index of a function's own array */
	MISTAKE_N
};

static const struct { const char *name; int least; } kinds[MISTAKE_N] = {
	[UNDECLARED_NAME] = { "a name that is not declared", 100 },
	[OTHER_NAME] = { "another name", 30 },
	[DROPPED_LET] = { "a dropped declaration", 100 },
	[EARLY_CONST] = { "a constant that is set", 100 },
	[CONST_BUFFER] = { "a constant buffer that is set", 100 },
	[WRONG_SPACE] = { "another space", 100 },
	[WRONG_TYPE] = { "an index that is no integer", 100 },
	[SWAPPED_ARGUMENTS] = { "swapped arguments", 70 },
	[DROPPED_ARGUMENT] = { "a dropped argument", 100 },
	[DROPPED_BARRIER] = { "a dropped barrier", 0 },
	[BARRIER_OF_LANE] = { "a barrier that not all reach", 100 },
	[DROPPED_REDUCTION] = { "a dropped reduction", 100 },
	[DROPPED_ATOMIC] = { "a dropped atomic", 0 },
	[BOUND_MORE] = { "an iteration more", 25 },
	[BOUND_LESS] = { "an iteration less", 0 },
	[INDEX_MORE] = { "an index more", 75 },
};

/* Every kind of kernel once: blocks, rows, trees, segments, dots, reductions, states, for both targets. */
static const struct { const char *path, *function; } functions[] = {
	{ "tests/codegen/decided/block_put_behind.kernel", "block_put_behind_kernel" },
	{ "generated/tridiagonal.c", "tri_batch_flat_kernel" },
	{ "tests/codegen/decided/asks_names.kernel", "asks_names_kernel" },
	{ "tests/codegen/decided/asks_alone.kernel", "asks_alone_kernel" },
	{ "generated/life_dsc.c", "life_dsc_kernel" },
	{ "generated/life_wc.c", "life_wc_restructure_none_kernel" },
	{ "generated/histogram.c", "weighted_histogram_kernel" },
	{ "generated/conjugate_gradient.c", "conjugate_gradient_compute_body" },
	{ "generated/adjoint.c", "adjoint_kernel" },
	{ "generated/mttkrp.c", "mttkrp_kernel" },
	{ "tests/codegen/cases/row_long.kernel", "row_long_special_compute_Y" },
	{ "tests/codegen/cases/types.kernel", "types_compute_cnt" },
	{ "tests/codegen/cases/dots_kept.kernel", "dots_kept_kernel_special" },
	{ "generated/cuda/cable.cu", "cable_4_trace" },
	{ "generated/cuda/harris.cu", "harris_1_gi" },
	{ "generated/cuda/adjoint.cu", "adjoint_2_left" },
	{ "generated/cuda/spmv.cu", "csr_spmv_transposed_2_y" },
	{ "generated/cuda/life_wc.cu", "life_wc_2_w" },
	{ "generated/cuda/sbbnnls.cu", "sbbnnls_10_f" },
	{ "generated/cuda/sbbnnls.cu", "sbbnnls_kernel" },
	{ "tests/codegen/cases/device_rows.device", "device_rows_5_Z" },
	{ "tests/codegen/cases/device_rows.device", "device_rows_15_Z" },
	{ "tests/codegen/cases/storage.device", "storage_1_row" },
	{ "tests/codegen/cases/types.device", "types_17_cnt" },
};

/* ---- where a mistake fits --------------------------------------------------------------------------- */

struct site {
	enum mistake mistake;
	struct k_stmt *stmt;            /* NULL: an expression, or a parameter */
	struct k_expr *expr;
	struct k_param *param;
	const char *other;              /* a name */
};

struct sites {
	struct arena *arena;
	struct k_function *function;
	VEC(struct site) items;
	VEC(const char *) names, arrays;        /* declared, in their order */
};

static void add_site(struct sites *sites, struct site site)
{
	vec_push(sites->arena, &sites->items, site);
}

static bool collect_name(const struct k_stmt *stmt, void *user)
{
	struct sites *sites = user;

	if (stmt->kind == KS_LET)
		vec_push(sites->arena, &sites->names, stmt->let.name);
	if (stmt->kind == KS_LET && stmt->let.extents.n > 0)
		vec_push(sites->arena, &sites->arrays, stmt->let.name);
	if (stmt->kind == KS_LOOP)
		vec_push(sites->arena, &sites->names, stmt->loop.name);
	return true;
}

/* Sibling blocks may each have one of this name. */
static bool is_declared_once(const struct sites *sites, const char *name)
{
	int n = 0;

	for (int i = 0; i < sites->names.n; i++)
		n += strcmp(sites->names.items[i], name) == 0;
	return n == 1;
}

/* The name that is declared after this one, or the first; NULL: it is not declared here. */
static const char *next_name(const struct sites *sites, const char *name)
{
	for (int i = 0; i < sites->names.n; i++)
		if (strcmp(sites->names.items[i], name) == 0) {
			const char *next = sites->names.items[(i + 1) % sites->names.n];

			return strcmp(next, name) != 0 ? next : NULL;
		}
	return NULL;
}

static bool is_own_array(const struct sites *sites, const struct k_expr *load)
{
	const struct k_expr *buffer = load->args.items[0];

	for (int i = 0; buffer->kind == KE_NAME && i < sites->arrays.n; i++)
		if (strcmp(sites->arrays.items[i], buffer->text) == 0)
			return true;
	return false;
}

static void visit_call(struct sites *sites, struct k_expr *call)
{
	if (!k_callee_find(call->text) || call->args.n == 0)
		return;
	if (!strchr(k_callee_find(call->text)->arguments, '+'))
		add_site(sites, (struct site) { .mistake = DROPPED_ARGUMENT, .expr = call });
	if (call->args.n > 1 && strcmp(k_expr_text(sites->arena, call->args.items[0]),
				       k_expr_text(sites->arena, call->args.items[1])) != 0)
		add_site(sites, (struct site) { .mistake = SWAPPED_ARGUMENTS, .expr = call });
}

static bool visit_expr(const struct k_expr *expr, void *user)
{
	struct sites *sites = user;
	struct k_expr *changed = (struct k_expr *) expr;
	const char *other = expr->kind == KE_NAME ? next_name(sites, expr->text) : NULL;

	if (expr->kind == KE_NAME)
		add_site(sites, (struct site) { .mistake = UNDECLARED_NAME, .expr = changed, .other = "nowhere" });
	if (other)
		add_site(sites, (struct site) { .mistake = OTHER_NAME, .expr = changed, .other = other });
	if (expr->kind == KE_LOAD)
		add_site(sites, (struct site) { .mistake = WRONG_TYPE, .expr = changed });
	if (expr->kind == KE_LOAD && is_own_array(sites, expr))
		add_site(sites, (struct site) { .mistake = INDEX_MORE, .expr = changed });
	if (expr->kind == KE_CALL)
		visit_call(sites, changed);
	return true;
}

static void visit_let(struct sites *sites, struct k_stmt *stmt)
{
	const struct k_uses uses = k_uses_in_block(&sites->function->body, stmt->let.name);
	const bool is_pointer = stmt->let.type.is_pointer || stmt->let.extents.n > 0;

	if (uses.reads + uses.addresses + uses.writes > (stmt->let.value != NULL))
		add_site(sites, (struct site) { .mistake = DROPPED_LET, .stmt = stmt });
	if (stmt->let.extents.n > 0)
		add_site(sites, (struct site) { .mistake = WRONG_SPACE, .stmt = stmt });
	if (!is_pointer && stmt->let.is_variable && is_declared_once(sites, stmt->let.name) &&
	    uses.writes > (stmt->let.value != NULL))
		add_site(sites, (struct site) { .mistake = EARLY_CONST, .stmt = stmt });
}

static void visit_loop(struct sites *sites, struct k_stmt *stmt)
{
	add_site(sites, (struct site) { .mistake = BOUND_MORE, .stmt = stmt });
	add_site(sites, (struct site) { .mistake = BOUND_LESS, .stmt = stmt });
	if (stmt->loop.reductions.n > 0)
		add_site(sites, (struct site) { .mistake = DROPPED_REDUCTION, .stmt = stmt });
}

static bool find_barrier(const struct k_expr *expr, void *user)
{
	*(bool *) user |= (k_effects(expr) & (K_CALL_IS_BARRIER | K_CALL_IS_GRID_BARRIER)) != 0;
	return true;
}

static void visit_if(struct sites *sites, struct k_stmt *stmt)
{
	bool has_barrier = false;

	k_walk_block(&stmt->branch.then, &(struct k_visitor) { .expr = find_barrier, .user = &has_barrier });
	if (has_barrier)
		add_site(sites, (struct site) { .mistake = BARRIER_OF_LANE, .stmt = stmt });
}

static void visit_effect(struct sites *sites, struct k_stmt *stmt)
{
	const unsigned effects = k_effects(stmt->value);

	if (stmt->value->kind == KE_NAME && effects & K_CALL_IS_BARRIER)
		add_site(sites, (struct site) { .mistake = DROPPED_BARRIER, .stmt = stmt });
	if (effects & K_CALL_IS_ATOMIC && stmt->value->args.n == 2)
		add_site(sites, (struct site) { .mistake = DROPPED_ATOMIC, .stmt = stmt });
}

static bool visit_stmt(const struct k_stmt *stmt, void *user)
{
	struct sites *sites = user;
	struct k_stmt *changed = (struct k_stmt *) stmt;

	if (stmt->kind == KS_LET)
		visit_let(sites, changed);
	else if (stmt->kind == KS_LOOP)
		visit_loop(sites, changed);
	else if (stmt->kind == KS_IF)
		visit_if(sites, changed);
	else if (stmt->kind == KS_CALL)
		visit_effect(sites, changed);
	else if (stmt->kind == KS_STORE && stmt->store.mode == K_STORE_ATOMIC)
		add_site(sites, (struct site) { .mistake = DROPPED_ATOMIC, .stmt = changed });
	return true;
}

static void find_sites(struct sites *sites)
{
	struct k_function *function = sites->function;

	for (int i = 0; i < function->params.n; i++) {
		struct k_param *param = &function->params.items[i];

		vec_push(sites->arena, &sites->names, param->name);
		if (param->type.is_pointer && !param->type.is_const &&
		    k_uses_in_block(&function->body, param->name).writes > 0)
			add_site(sites, (struct site) { .mistake = CONST_BUFFER, .param = param });
	}
	k_walk_block(&function->body, &(struct k_visitor) { .stmt = collect_name, .user = sites });
	k_walk_block(&function->body, &(struct k_visitor) { visit_stmt, visit_expr, sites });
}

/* ---- making it ------------------------------------------------------------------------------------------ */

static void add_to(struct arena *arena, struct k_expr **expr, int64_t more)
{
	*expr = k_binary(arena, K_ADD, *expr, k_int(arena, more));
}

static void change_expr(struct arena *arena, const struct site *site)
{
	struct k_expr *expr = site->expr, *first = expr->args.n > 0 ? expr->args.items[0] : NULL;
	struct k_expr **args = arena_new_array(arena, struct k_expr *, expr->args.n);

	for (int i = 0; i < expr->args.n; i++)
		args[i] = expr->args.items[i];
	expr->args.items = args;
	if (site->other)
		expr->text = site->other;
	else if (site->mistake == DROPPED_ARGUMENT)
		expr->args.n--;
	else if (site->mistake == WRONG_TYPE)
		args[1] = k_binary(arena, K_MUL, k_float(arena, "1.0"), args[1]);
	else if (site->mistake == INDEX_MORE)
		add_to(arena, &args[1], 1);
	else if (site->mistake == SWAPPED_ARGUMENTS) {
		args[0] = args[1];
		args[1] = first;
	}
}

/* x[i] += v, where an atomic call did it. */
static void change_atomic(struct arena *arena, struct k_stmt *stmt)
{
	const struct k_expr *call = stmt->value;

	if (stmt->kind == KS_CALL) {
		stmt->kind = KS_STORE;
		memset(&stmt->store, 0, sizeof stmt->store);
		stmt->store.op = K_ADD;
		stmt->store.value = call->args.items[1];
		vec_push(arena, &stmt->store.targets, call->args.items[0]->args.items[0]);
	}
	stmt->store.mode = K_STORE_PLAIN;
}

static void change_stmt(struct arena *arena, const struct site *site)
{
	struct k_stmt *stmt = site->stmt;

	if (site->mistake == DROPPED_LET || site->mistake == DROPPED_BARRIER)
		stmt->kind = KS_BLANK;
	else if (site->mistake == WRONG_SPACE)
		stmt->let.space = K_SPACE_THREAD;
	else if (site->mistake == EARLY_CONST)
		stmt->let.is_variable = false;
	else if (site->mistake == BARRIER_OF_LANE)
		stmt->branch.condition = k_binary(arena, K_EQ, k_name(arena, "pmg_lane"), k_int(arena, 0));
	else if (site->mistake == DROPPED_REDUCTION)
		stmt->loop.reductions.n--;
	else if (site->mistake == DROPPED_ATOMIC)
		change_atomic(arena, stmt);
	else if (site->mistake == BOUND_MORE || site->mistake == BOUND_LESS)
		add_to(arena, &stmt->loop.bound, (site->mistake == BOUND_MORE) != stmt->loop.is_down ? 1 : -1);
}

/* What the verifier says with the mistake, which is taken back; NULL: nothing. */
static const char *fault_with(struct arena *arena, struct k_program *program, const struct site *site)
{
	const struct k_stmt stmt = site->stmt ? *site->stmt : (struct k_stmt) { .kind = KS_BLANK };
	const struct k_expr expr = site->expr ? *site->expr : (struct k_expr) { .kind = KE_INT };
	const char *fault;

	if (site->param)
		site->param->type.is_const = true;
	else if (site->expr)
		change_expr(arena, site);
	else
		change_stmt(arena, site);
	k_resolve_types(arena, program);
	fault = k_verify(arena, program);
	if (site->param)
		site->param->type.is_const = false;
	else if (site->expr)
		*site->expr = expr;
	else
		*site->stmt = stmt;
	return fault;
}

/* ---- counting ---------------------------------------------------------------------------------------------- */

struct count {
	int seeded[MISTAKE_N], found[MISTAKE_N];
	int failed;
};

/* The others of its program have no body. */
static struct k_function *only(struct k_program *program, const char *name)
{
	struct k_function *kept = NULL;

	for (int i = 0; i < program->functions.n; i++)
		if (strcmp(program->functions.items[i]->name, name) == 0)
			kept = program->functions.items[i];
		else
			program->functions.items[i]->body.stmts.n = 0;
	return kept;
}

static void seed(struct count *count, const char *path, const char *name)
{
	struct arena arena = { 0 };
	const char *error, *fault;
	struct k_program *program = quoted_file(&arena, path, &error);
	struct sites sites = { .arena = &arena, .function = program ? only(program, name) : NULL };

	if (!sites.function) {
		count->failed++;
		printf("%s: %s: %s\n", path, name, program ? "there is no such function" : error);
		arena_release(&arena);
		return;
	}
	k_resolve_types(&arena, program);
	find_sites(&sites);
	for (int i = 0; i < sites.items.n; i++) {
		const struct site *site = &sites.items.items[i];

		fault = fault_with(&arena, program, site);
		count->seeded[site->mistake]++;
		count->found[site->mistake] += fault != NULL;
	}
	k_resolve_types(&arena, program);
	fault = k_verify(&arena, program);
	count->failed += fault != NULL;
	if (fault)
		printf("without a mistake: %s\n", fault);
	arena_release(&arena);
}

static bool is_enough(const struct count *count, int kind)
{
	return count->seeded[kind] > 0 && 100*count->found[kind] >= kinds[kind].least*count->seeded[kind];
}

int main(void)
{
	struct count count = { 0 };
	int passed = 0;

	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
		seed(&count, functions[i].path, functions[i].function);
	for (int kind = 0; kind < MISTAKE_N; kind++) {
		printf("%-32s %5d of %5d found\n", kinds[kind].name, count.found[kind], count.seeded[kind]);
		passed += is_enough(&count, kind);
		count.failed += !is_enough(&count, kind);
	}
	printf("%d passed, %d failed\n", passed, count.failed);
	return count.failed != 0;
}
