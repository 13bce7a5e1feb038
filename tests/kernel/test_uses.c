/* SPDX-License-Identifier: MIT
 *
 * Which nodes a walk visits and in which order; who reads and writes a name; what the table of calls says. In all
 * generated functions, a name is mentioned if and only if it is a word of their text. */
#include <ctype.h>
#include <glob.h>
#include <string.h>

#include "codegen/c_print.h"
#include "kernel/quoted.h"

struct tally {
	int passed, failed;
	struct arena arena;
};

static void check(struct tally *tally, bool holds, const char *what)
{
	if (holds)
		tally->passed++;
	else
		tally->failed++;
	if (!holds)
		printf("%s\n", what);
}

static void check_text(struct tally *tally, const char *what, const char *got, const char *expected)
{
	bool same = strcmp(got, expected) == 0;

	check(tally, same, what);
	if (!same)
		printf("expected '%s', got '%s'\n", expected, got);
}

/* ---- trees ------------------------------------------------------------------------------- */

static struct k_expr *name(struct tally *tally, const char *text)
{
	return k_name(&tally->arena, text);
}

static struct k_expr *element(struct tally *tally, const char *buffer, const char *index)
{
	return k_load(&tally->arena, name(tally, buffer), name(tally, index));
}

static struct k_expr *address(struct tally *tally, struct k_expr *of)
{
	return k_unary(&tally->arena, K_ADDRESS, of);
}

static struct k_expr *number(struct tally *tally, int64_t value)
{
	return k_int(&tally->arena, value);
}

static struct k_stmt *store(struct tally *tally, struct k_expr *target, enum k_op op, struct k_expr *value)
{
	struct k_stmt *stmt = k_stmt(&tally->arena, KS_STORE);

	vec_push(&tally->arena, &stmt->store.targets, target);
	stmt->store.op = op;
	stmt->store.value = value;
	return stmt;
}

static struct k_stmt *call_stmt(struct tally *tally, struct k_expr *call)
{
	struct k_stmt *stmt = k_stmt(&tally->arena, KS_CALL);

	stmt->value = call;
	return stmt;
}

static struct k_stmt *let(struct tally *tally, const char *text, struct k_expr *value)
{
	struct k_stmt *stmt = k_stmt(&tally->arena, KS_LET);

	stmt->let.type = k_scalar("int64_t");
	stmt->let.name = text;
	stmt->let.value = value;
	return stmt;
}

static struct k_stmt *loop(struct tally *tally, const char *variable, struct k_expr *first, struct k_expr *bound)
{
	struct k_stmt *stmt = k_stmt(&tally->arena, KS_LOOP);

	stmt->loop.type = k_scalar("int64_t");
	stmt->loop.name = variable;
	stmt->loop.first = first;
	stmt->loop.bound = bound;
	return stmt;
}

/* ---- checks ------------------------------------------------------------------------------- */

/* "reads writes addresses" of a name in one statement. */
static const char *uses_in_stmt(struct tally *tally, struct k_stmt *stmt, const char *text)
{
	struct k_block block = { 0 };
	struct k_uses uses;

	vec_push(&tally->arena, &block.stmts, stmt);
	uses = k_uses_in_block(&block, text);
	return arena_printf(&tally->arena, "%d %d %d", uses.reads, uses.writes, uses.addresses);
}

static const char *uses_of(struct tally *tally, const struct k_expr *expr, const char *text)
{
	const struct k_uses uses = k_uses_in_expr(expr, text);

	return arena_printf(&tally->arena, "%d %d %d", uses.reads, uses.writes, uses.addresses);
}

static void test_stores(struct tally *tally)
{
	struct k_stmt *set = store(tally, element(tally, "x", "i"), K_OP_N, element(tally, "y", "x"));
	struct k_stmt *update = store(tally, element(tally, "x", "i"), K_ADD, number(tally, 1));
	struct k_stmt *chain = store(tally, name(tally, "a"), K_OP_N, name(tally, "c"));
	struct k_expr *inner = k_load(&tally->arena, element(tally, "x", "j"), name(tally, "i"));
	struct k_expr *vector = k_call(&tally->arena, "PMG_WRITE_F64", 1, element(tally, "x", "i"));

	vec_push(&tally->arena, &chain->store.targets, vector);
	check_text(tally, "a store writes its buffer", uses_in_stmt(tally, set, "x"), "1 1 0");
	check_text(tally, "a store reads its index", uses_in_stmt(tally, set, "i"), "1 0 0");
	check_text(tally, "a store reads its value", uses_in_stmt(tally, set, "y"), "1 0 0");
	check_text(tally, "an update reads and writes", uses_in_stmt(tally, update, "x"), "1 1 0");
	check_text(tally, "an update reads its index once", uses_in_stmt(tally, update, "i"), "1 0 0");
	check_text(tally, "a chain writes its first target", uses_in_stmt(tally, chain, "a"), "0 1 0");
	check_text(tally, "a chain writes the vector at an element", uses_in_stmt(tally, chain, "x"), "0 1 0");
	check_text(tally, "a chain reads an index", uses_in_stmt(tally, chain, "i"), "1 0 0");
	set = store(tally, inner, K_OP_N, number(tally, 0));
	check_text(tally, "a store into rows writes the array", uses_in_stmt(tally, set, "x"), "0 1 0");
	check_text(tally, "an index of a row is read", uses_in_stmt(tally, set, "j"), "1 0 0");
	set = store(tally, k_member(&tally->arena, name(tally, "loop"), "it", true), K_OP_N, name(tally, "it"));
	check_text(tally, "a store to a member writes what has it", uses_in_stmt(tally, set, "loop"), "0 1 0");
	check_text(tally, "a member is no name", uses_in_stmt(tally, set, "it"), "1 0 0");
}

static void test_pointers(struct tally *tally)
{
	struct k_expr *pointer = name(tally, "x");

	check_text(tally, "an address", uses_of(tally, address(tally, element(tally, "x", "i")), "x"), "0 0 1");
	check_text(tally, "the index of an address", uses_of(tally, address(tally, element(tally, "x", "i")), "i"),
		   "1 0 0");
	check_text(tally, "a name of which nothing is known", uses_of(tally, pointer, "x"), "1 0 0");
	pointer->type = (struct k_type) { .name = "double", .is_pointer = true };
	check_text(tally, "a pointer's name", uses_of(tally, pointer, "x"), "0 0 1");
	check_text(tally, "a pointer that is looked at", uses_of(tally, k_unary(&tally->arena, K_NOT, pointer), "x"),
		   "1 0 0");
	check_text(tally, "a pointer and a distance",
		   uses_of(tally, k_binary(&tally->arena, K_ADD, pointer, name(tally, "n")), "x"), "0 0 1");
	check_text(tally, "what a pointer leads to", uses_of(tally, k_unary(&tally->arena, K_CONTENT, pointer), "x"),
		   "1 0 0");
}

/* pmg_block_put_f64(block, 16, x + s, &plan->places[4], s, lanes, n) and others. */
static void test_calls(struct tally *tally)
{
	struct arena *arena = &tally->arena;
	struct k_expr *place = address(tally, k_load(arena, k_member(arena, name(tally, "plan"), "places", true),
						     number(tally, 4)));
	struct k_expr *put = k_call(arena, "pmg_block_put_f64", 7, name(tally, "block"), number(tally, 16),
				    k_binary(arena, K_ADD, name(tally, "x"), name(tally, "s")), place, name(tally, "s"),
				    name(tally, "lanes"), name(tally, "n"));
	struct k_expr *rows = k_call(arena, "pmg_block_rows_f32", 10, name(tally, "block"), number(tally, 16),
				     name(tally, "x"), place, number(tally, 0), name(tally, "lanes"), number(tally, 0),
				     name(tally, "n"), number(tally, 0), name(tally, "n"));
	struct k_expr *stream = k_call(arena, "PMG_STREAM_F64", 2, element(tally, "x", "i"),
				       k_call(arena, "PMG_READ_F64", 1, element(tally, "y", "i")));
	struct k_expr *cast = k_cast(arena, k_scalar("double"), name(tally, "x"));
	struct k_expr *own = k_call(arena, "heat_compute_p", 2, address(tally, name(tally, "x")), name(tally, "n"));
	struct k_expr *next = k_call(arena, "PMG_NEXT", 4, name(tally, "later"), name(tally, "order"),
				     name(tally, "first"), name(tally, "end"));
	struct k_expr *lanes = k_call(arena, "PMG_LANES", 1, k_type_arg(arena, k_scalar("double")));

	check_text(tally, "what is put reads the block", uses_of(tally, put, "block"), "1 0 0");
	check_text(tally, "and writes where it goes", uses_of(tally, put, "x"), "0 1 0");
	check_text(tally, "a distance is read", uses_of(tally, put, "s"), "2 0 0");
	check_text(tally, "a place in the plan is read", uses_of(tally, put, "plan"), "1 0 0");
	check_text(tally, "rows may be those of the array", uses_of(tally, rows, "x"), "1 0 1");
	check_text(tally, "rows are copied to a block", uses_of(tally, rows, "block"), "0 1 1");
	check_text(tally, "what goes past the caches", uses_of(tally, stream, "x"), "0 1 0");
	check_text(tally, "a vector that is read", uses_of(tally, stream, "y"), "1 0 0");
	check_text(tally, "a macro sets its argument, or keeps it", uses_of(tally, next, "later"), "1 1 0");
	check_text(tally, "an address for a function of the program", uses_of(tally, own, "x"), "0 0 1");
	check_text(tally, "an atomic call updates",
		   uses_of(tally, k_call(arena, "pmg_atomic_max_i8", 2, address(tally, element(tally, "x", "i")),
					 name(tally, "v")), "x"), "1 1 0");
	check_text(tally, "a cast is a value", uses_of(tally, cast, "x"), "1 0 0");
	check_text(tally, "a type is no name", uses_of(tally, lanes, "double"), "0 0 0");
}

static void test_statements(struct tally *tally)
{
	struct k_stmt *outer = loop(tally, "i", name(tally, "lo"), name(tally, "n"));
	struct k_stmt *declared = let(tally, "a", NULL), *unused = k_stmt(&tally->arena, KS_UNUSED);
	const struct k_reduction sum = { "+", "sum" };

	vec_push(&tally->arena, &outer->loop.reductions, sum);
	vec_push(&tally->arena, &outer->loop.body.stmts,
		 store(tally, name(tally, "sum"), K_ADD, element(tally, "x", "i")));
	check_text(tally, "a reduction updates", uses_in_stmt(tally, outer, "sum"), "2 2 0");
	check_text(tally, "a loop writes its variable", uses_in_stmt(tally, outer, "i"), "1 1 0");
	check_text(tally, "a bound is read", uses_in_stmt(tally, outer, "n"), "1 0 0");
	check_text(tally, "a declaration alone", uses_in_stmt(tally, declared, "a"), "0 0 0");
	check_text(tally, "a declaration with a value", uses_in_stmt(tally, let(tally, "a", name(tally, "b")), "a"),
		   "0 1 0");
	vec_push(&tally->arena, &declared->let.extents, name(tally, "n"));
	check_text(tally, "an extent is read", uses_in_stmt(tally, declared, "n"), "1 0 0");
	unused->value = name(tally, "control");
	check_text(tally, "a name that need not be used", uses_in_stmt(tally, unused, "control"), "0 0 0");
	check(tally, k_mentions(&outer->loop.body, "x") && !k_mentions(&outer->loop.body, "y"), "mentions of a body");
}

static void test_mentions(struct tally *tally)
{
	struct k_block block = { 0 };
	struct k_expr *member = k_member(&tally->arena, name(tally, "args"), "n", true);

	vec_push(&tally->arena, &block.stmts, let(tally, "a", member));
	vec_push(&tally->arena, &block.stmts, call_stmt(tally, k_call(&tally->arena, "f", 0)));
	vec_push(&tally->arena, &block.stmts, call_stmt(tally, name(tally, "PMG_TEAM_SYNC")));
	check(tally, k_mentions(&block, "a"), "a declaration is a mention");
	check(tally, k_mentions(&block, "args"), "a value is a mention");
	check(tally, k_mentions(&block, "f"), "a function's name is a mention");
	check(tally, k_mentions(&block, "PMG_TEAM_SYNC"), "a macro's name is a mention");
	check(tally, !k_mentions(&block, "n"), "a member is no mention");
	check(tally, !k_mentions(&block, "int64_t"), "a type is no mention");
	check(tally, k_expr_mentions(member, "args") && !k_expr_mentions(member, "n"), "mentions of an expression");
}

/* ---- the walk ------------------------------------------------------------------------------ */

struct order {
	struct str text;
	enum k_stmt_kind closed;        /* what is in statements of this kind is left out */
};

static bool note_stmt(const struct k_stmt *stmt, void *user)
{
	struct order *order = user;

	str_add(&order->text, "#%d ", (int) stmt->kind);
	return stmt->kind != order->closed;
}

static bool note_expr(const struct k_expr *expr, void *user)
{
	struct order *order = user;

	if (expr->text)
		str_add(&order->text, "%s ", expr->text);
	return true;
}

static const char *order_of(struct tally *tally, struct k_stmt *stmt, enum k_stmt_kind closed)
{
	struct order order = { str_new(&tally->arena), closed };

	k_walk_stmt(stmt, &(struct k_visitor) { note_stmt, note_expr, &order });
	return str_text(&order.text);
}

static void test_walk(struct tally *tally)
{
	struct k_stmt *outer = loop(tally, "i", name(tally, "a"), name(tally, "b"));
	struct k_stmt *branch = k_stmt(&tally->arena, KS_IF), *repeat = k_stmt(&tally->arena, KS_WHILE);
	struct k_expr *call = k_call(&tally->arena, "f", 1, name(tally, "g"));

	vec_push(&tally->arena, &call->constants, name(tally, "k"));
	outer->loop.step = name(tally, "c");
	outer->loop.share.threads = name(tally, "t");
	branch->branch.condition = name(tally, "d");
	vec_push(&tally->arena, &branch->branch.then.stmts, call_stmt(tally, call));
	vec_push(&tally->arena, &branch->branch.otherwise.stmts,
		 store(tally, element(tally, "x", "i"), K_OP_N, name(tally, "y")));
	vec_push(&tally->arena, &outer->loop.body.stmts, branch);
	vec_push(&tally->arena, &repeat->repeat.before.stmts, let(tally, "p", name(tally, "q")));
	repeat->repeat.condition = name(tally, "r");
	repeat->repeat.after = store(tally, name(tally, "p"), K_OP_N, name(tally, "s"));
	vec_push(&tally->arena, &repeat->repeat.body.stmts, k_stmt(&tally->arena, KS_BREAK));
	check_text(tally, "the order of a loop", order_of(tally, outer, KS_N),
		   "#3 a b c t #5 d #6 f k g #2 x i y ");
	check_text(tally, "what a visitor leaves out", order_of(tally, outer, KS_IF), "#3 a b c t #5 ");
	check_text(tally, "the order of a while", order_of(tally, repeat, KS_N), "#4 #1 q r #2 p s #9 ");
}

/* ---- the table -------------------------------------------------------------------------------- */

static const char *result_of(struct tally *tally, struct k_expr *call)
{
	const struct k_callee *callee = k_callee_find(call->text);
	const struct k_type type = callee ? k_callee_result(&tally->arena, callee, call) : (struct k_type) { 0 };

	return arena_printf(&tally->arena, "%s%s%s", type.is_const ? "const " : "", type.name ? type.name : "?",
			    type.is_pointer ? " *" : "");
}

static void test_results(struct tally *tally)
{
	static const struct { const char *function, *result; } rows[] = {
		{ "pmg_min_i64", "int64_t" }, { "pmg_to_u8", "uint8_t" }, { "PMG_READ_F64", "pmg_vector_f64" },
		{ "PMG_READ_F64_AS_F32", "pmg_vector_f64" }, { "PMG_READ_F64_AS_TOP_TO_F32", "pmg_vector_f32" },
		{ "pmg_block_rows_f32", "const float *" }, { "pmg_block_keep_f64", "double *" },
		{ "pmg_cblas_sdot", "float" }, { "pmg_cblas_ddot", "double" }, { "PMG_SUM_F64", "double" },
		{ "PMG_SUM_DOTS_F64", "void" }, { "pmg_cuda_data", "void *" }, { "PMG_READ_AT", "?" },
		{ "pmg_block_lane_masks", "const pmg_lane_masks *" }, { "pmg_min_f80", "?" }, { "my_function", "?" },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		check_text(tally, rows[i].function, result_of(tally, k_call(&tally->arena, rows[i].function, 0)),
			   rows[i].result);
}

static void test_table(struct tally *tally)
{
	const struct k_callee *launch = k_callee_find("PMG_LAUNCH"), *min = k_callee_find("pmg_min_f64");

	check(tally, k_callee_find("pmg_min_") == NULL && k_callee_find("PMG_SUM_DOTS") == NULL, "a suffix is a type");
	check(tally, k_callee_takes(min, 2) && !k_callee_takes(min, 3), "two arguments");
	check(tally, k_callee_takes(launch, 4) && k_callee_takes(launch, 9) && !k_callee_takes(launch, 3),
	      "four arguments and more");
	check(tally, k_callee_argument(launch, 1) == 'f' && k_callee_argument(launch, 7) == 'o', "the last one again");
	check(tally, k_callee_argument(min, 2) == '\0', "no third argument");
	check(tally, k_effects(name(tally, "PMG_TEAM_SYNC")) & K_CALL_IS_BARRIER, "a barrier");
	check(tally, k_effects(name(tally, "pmg_lane")) & K_CALL_IS_OF_LANE, "a lane's number");
	check(tally, k_effects(k_call(&tally->arena, "pmg_prefetch_row", 0)) & K_CALL_IS_PREFETCH, "a prefetch");
	check(tally, k_effects(number(tally, 1)) == 0, "a number does nothing");
}

/* ---- generated functions ------------------------------------------------------------------------ */

static bool is_letter(char c)
{
	return isalnum((unsigned char) c) || c == '_';
}

/* As a word of its own, which is no member. */
static bool has_word(const char *text, const char *word)
{
	const size_t n = strlen(word);

	for (const char *at = strstr(text, word); at; at = strstr(at + 1, word)) {
		const char before = at == text ? ' ' : at[-1];

		if (!is_letter(before) && !is_letter(at[n]) && before != '.' && !(before == '>' && at[-2] == '-'))
			return true;
	}
	return false;
}

static const char *text_of(struct arena *arena, const struct k_block *block)
{
	struct writer w = writer_new(arena);
	char *text, *comment;

	c_print_block(&w, block, C_SPELLING_OPENMP);
	text = arena_string(arena, str_text(&w.text));
	while ((comment = strstr(text, "/*")) != NULL)
		memset(comment, ' ', (size_t) (strstr(comment, "*/") + 2 - comment));
	return text;
}

struct names {
	struct arena *arena;
	VEC(const char *) items;
};

static bool take_name(const struct k_stmt *stmt, void *user)
{
	struct names *names = user;

	if (stmt->kind == KS_LET)
		vec_push(names->arena, &names->items, stmt->let.name);
	if (stmt->kind == KS_LOOP)
		vec_push(names->arena, &names->items, stmt->loop.name);
	return true;
}

/* Of a function and of the one before it, most of which are not in this one. */
static void test_function(struct tally *tally, const struct k_function *function, const struct names *names)
{
	const char *text = text_of(names->arena, &function->body), *wrong = NULL;

	for (int i = 0; i < names->items.n; i++) {
		const char *word = names->items.items[i];
		const struct k_uses uses = k_uses_in_block(&function->body, word);
		const bool is_used = uses.reads + uses.writes + uses.addresses > 0;

		if (k_mentions(&function->body, word) != has_word(text, word) || (is_used && !has_word(text, word)))
			wrong = word;
	}
	check(tally, !wrong, arena_printf(&tally->arena, "'%s' in %s", wrong ? wrong : "", function->name));
}

static void test_file(struct tally *tally, const char *path)
{
	struct arena arena = { 0 };
	struct names names = { .arena = &arena };
	const char *error;
	const struct k_program *program = quoted_file(&arena, path, &error);

	check(tally, program != NULL, path);
	for (int i = 0; program && i < program->functions.n; i++) {
		const struct k_function *function = program->functions.items[i];

		for (int p = 0; p < function->params.n; p++)
			vec_push(&arena, &names.items, function->params.items[p].name);
		k_walk_block(&function->body, &(struct k_visitor) { .stmt = take_name, .user = &names });
		test_function(tally, function, &names);
		names.items.n = names.items.n > 40 ? 0 : names.items.n;
	}
	arena_release(&arena);
}

static void test_files(struct tally *tally)
{
	static const char *const patterns[] = { QUOTED_PATTERNS };
	glob_t found;

	for (size_t p = 0; p < sizeof patterns / sizeof *patterns; p++) {
		check(tally, glob(patterns[p], 0, NULL, &found) == 0, patterns[p]);
		for (size_t i = 0; i < found.gl_pathc; i++)
			test_file(tally, found.gl_pathv[i]);
		globfree(&found);
	}
}

int main(void)
{
	struct tally tally = { 0 };

	test_walk(&tally);
	test_stores(&tally);
	test_pointers(&tally);
	test_calls(&tally);
	test_statements(&tally);
	test_mentions(&tally);
	test_results(&tally);
	test_table(&tally);
	test_files(&tally);
	arena_release(&tally.arena);
	printf("%d passed, %d failed\n", tally.passed, tally.failed);
	return tally.failed != 0;
}
