/* SPDX-License-Identifier: MIT
 *
 * Each rule of the verifier has a function that breaks it, and the message; functions that are right where a rule is
 * near have none; and all generated kernels verify clean. */
#include <glob.h>
#include <string.h>

#include "kernel/quoted.h"

struct tally {
	int passed, failed;
	struct arena arena;
};

static void check_text(struct tally *tally, const char *what, const char *got, const char *expected)
{
	const bool same = strcmp(got, expected) == 0;

	tally->passed += same;
	tally->failed += !same;
	if (!same)
		printf("%s\n     got: %s\nexpected: %s\n", what, got, expected);
}

/* What the verifier says of functions; "": nothing. */
static const char *fault_of(struct tally *tally, const char *text)
{
	const char *error;
	struct k_program *program = quoted_text(&tally->arena, text, &error);
	const char *fault;

	if (!program)
		return error;
	k_resolve_types(&tally->arena, program);
	fault = k_verify(&tally->arena, program);
	return fault ? fault : "";
}

/* The same of a dump. */
static const char *fault_of_dump(struct tally *tally, const char *text)
{
	const char *error;
	struct k_program *program = k_read_program(&tally->arena, text, &error);
	const char *fault;

	if (!program)
		return error;
	k_resolve_types(&tally->arena, program);
	fault = k_verify(&tally->arena, program);
	return fault ? fault : "";
}

/* Lines of a body, which a brace at the beginning of a line would end. */
static const char *indented(struct tally *tally, const char *body)
{
	struct str text = str_new(&tally->arena);

	for (; *body; body += strcspn(body, "\n"), body += *body == '\n')
		str_add(&text, "\t%.*s\n", (int) strcspn(body, "\n"), body);
	return str_text(&text);
}

/* A body in a function that has a bit of everything. */
static const char *in_function(struct tally *tally, const char *body)
{
	return arena_printf(&tally->arena, "static void f(pmg_plan *plan, int64_t n, const double *restrict x, "
			    "double *restrict y, const int64_t *restrict at, double t)\n{\n%s}\n",
			    indented(tally, body));
}

static const char *in_kernel(struct tally *tally, const char *body)
{
	return arena_printf(&tally->arena, "static __global__ void PMG_BOUNDS(32, 0) k(int64_t n, "
			    "double *__restrict__ y, pmg_cuda_parts *pmg_parts)\n{\n\tPMG_TEAM(32, 32, 1);\n%s}\n",
			    indented(tally, body));
}

struct row {
	const char *body, *fault;       /* "": nothing is wrong */
};

static void test_bodies(struct tally *tally, const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++)
		check_text(tally, rows[i].body, fault_of(tally, in_function(tally, rows[i].body)), rows[i].fault);
}

static void test_kernels(struct tally *tally, const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++)
		check_text(tally, rows[i].body, fault_of(tally, in_kernel(tally, rows[i].body)), rows[i].fault);
}

#define ROWS(rows) rows, sizeof rows / sizeof *rows

/* ---- names ------------------------------------------------------------------------------------- */

static void test_names(struct tally *tally)
{
	static const struct row rows[] = {
		{ "y[0] = z;", "f: y[0] = z: 'z' is not declared here" },
		{ "y[i] = 0.0;\nfor (int64_t i = 0; i < n; i++) {\ny[i] = 1.0;\n}",
		  "f: y[i] = 0.0: 'i' is not declared here" },
		{ "if (n > 0) {\nconst double a = 1.0;\ny[0] = a;\n}\n"
		  "y[1] = a;", "f: y[1] = a: 'a' is not declared here" },
		{ "if (n > 0) {\nconst double a = 1.0;\ny[0] = a;\n} else {\nconst double a = 2.0;\n"
		  "y[0] = a;\n}", "" },
		{ "const double n = 1.0;", "f: let n: const double = 1.0: 'n' is declared already" },
		{ "const double a = 1.0;\nif (n > 0) {\nconst double a = 2.0;\ny[0] = a;\n}",
		  "f: let a: const double = 2.0: 'a' is declared already" },
		{ "for (int64_t i = 0; i < n; i++) {\nfor (int64_t i = 0; i < n; i++) {\ny[i] = 0.0;\n}\n}",
		  "f: loop i: int64_t from 0 below n: 'i' is declared already" },
		{ "const double pmg_lane = 1.0;", "f: let pmg_lane: const double = 1.0: 'pmg_lane' is a name of the "
		  "runtime" },
		{ "x[0] = 1.0;", "f: x[0] = 1.0: elements of 'x' are constants" },
		{ "const double a = 1.0;\na = 2.0;", "f: a = 2.0: 'a' is a constant" },
		{ "double a = 1.0;\na += 2.0;\ny[0] = a;", "" },
		{ "for (int64_t i = 0; i < n; i++) {\ni += 1;\n}", "f: i += 1: 'i' is the variable of a loop" },
		{ "const int64_t it = 0;\nwhile (pmg_cuda_loop_next(plan, NULL, &it, n)) {\ny[it] = t;\n}",
		  "f: while pmg_cuda_loop_next(plan, NULL, &it, n): 'it' is a constant" },
		{ "double a[4];\na = 1.0;", "f: a = 1.0: 'a' is an array, not an element" },
		{ "pmg_mod(n, 2) = 1;", "f: pmg_mod(n, 2) = 1: 'pmg_mod(n, 2)' is nothing that can be set" },
		{ "PMG_WRITE_F64(x[0]) = PMG_FILL_F64(0.0);",
		  "f: PMG_WRITE_F64(x[0]) = PMG_FILL_F64(0.0): elements of 'x' are constants" },
		{ "pmg_cblas_daxpy(n, 2.0, y, 1, x, 1, 1);",
		  "f: call pmg_cblas_daxpy(n, 2.0, y, 1, x, 1, 1): elements of 'x' are constants" },
		{ "pmg_block_gone(y, n);", "f: call pmg_block_gone(y, n): the runtime has no 'pmg_block_gone'" },
		{ "y[0] = foo(t);", "f: y[0] = foo(t): 'foo' is no function of the program or of libm" },
		{ "y[0] = exp(t, t);", "f: y[0] = exp(t, t): 'exp' takes another number of arguments than 2" },
		{ "double a;\ny[0] = a;", "f: y[0] = a: 'a' has no value yet" },
		{ "double a;\na += 1.0;", "f: a += 1.0: 'a' has no value yet" },
		{ "int64_t a;\nfor (int64_t i = 0; i < a; i++) {\ny[i] = 0.0;\n}",
		  "f: loop i: int64_t from 0 below a: 'a' has no value yet" },
		{ "double a;\nif (n > 0) {\na = 1.0;\n}\ny[0] = a;", "" },
	};

	test_bodies(tally, ROWS(rows));
	check_text(tally, "a function of the program", fault_of(tally,
		   "static void g(int64_t n)\n{\n}\n\nstatic void h(int64_t n)\n{\n\tg(n, n);\n}\n"),
		   "h: call g(n, n): 'g' takes another number of arguments than 2");
	check_text(tally, "what is launched", fault_of(tally, arena_printf(&tally->arena,
		   "%s\nstatic void h(pmg_plan *plan, int64_t n)\n{\n\tPMG_LAUNCH(plan, k, n, 32, n);\n}\n",
		   in_kernel(tally, "y[0] = 0.0;"))),
		   "h: call PMG_LAUNCH(plan, k, n, 32, n): 'PMG_LAUNCH' takes another number of arguments than 5");
}

/* ---- types -------------------------------------------------------------------------------------- */

static void test_types(struct tally *tally)
{
	static const struct row rows[] = {
		{ "y[t] = 0.0;", "f: y[t] = 0.0: index 't' is of type 'double', no integer" },
		{ "y[at[x[0]]] = 0.0;", "f: y[at[x[0]]] = 0.0: index 'x[0]' is of type 'double', no integer" },
		{ "t[0] = 0.0;", "f: t[0] = 0.0: 't' is of type 'double', no buffer" },
		{ "if (t) {\ny[0] = 0.0;\n}", "f: if t: condition 't' is of type 'double'" },
		{ "y[0] = x[0] ? 1.0 : 2.0;", "f: y[0] = x[0] ? 1.0 : 2.0: condition 'x[0]' is of type 'double'" },
		{ "if (!t || x) {\ny[0] = 0.0;\n}", "f: if !t || x: condition 't' is of type 'double'" },
		{ "y[0] = x;", "f: y[0] = x: 'x' is of type 'const double *', not 'double'" },
		{ "double *z = x;", "f: var z: double * = x: 'x' is of type 'const double *', not 'double *'" },
		{ "const double *z = y;\nconst double a = z[n];\ny[0] = a;", "" },
		{ "const int64_t *z = x;", "f: var z: const int64_t * = x: 'x' is of type 'const double *', not "
		  "'const int64_t *'" },
		{ "const double *z = plan->data[1];\ny[0] = z[0];", "" },
		{ "const double z = plan->data[1];", "f: let z: const double = plan->data[1]: 'plan->data[1]' is of "
		  "type 'void *', "
		  "not 'const double'" },
		{ "pmg_vector_f64 v = PMG_READ_F64(x[0]);\ny[0] = v;",
		  "f: y[0] = v: 'v' is of type 'pmg_vector_f64', not 'double'" },
		{ "pmg_vector_f64 v = 0.0;", "f: var v: pmg_vector_f64 = 0.0: '0.0' is of type 'double', not "
		  "'pmg_vector_f64'" },
		{ "pmg_vector_f64 v = PMG_READ_F32(x[0]);", "f: var v: pmg_vector_f64 = PMG_READ_F32(x[0]): "
		  "'PMG_READ_F32(x[0])' "
		  "is of type 'pmg_vector_f32', not 'pmg_vector_f64'" },
		{ "pmg_vector_f64 v = PMG_READ_F64(x[0]);\nv += 2.0*PMG_READ_F64(x[8]);\nPMG_WRITE_F64(y[0]) = v;\n"
		  "y[1] = v[0];", "" },
		{ "for (int64_t i = 0; i < t; i++) {\ny[i] = 0.0;\n}",
		  "f: loop i: int64_t from 0 below t: bound 't' is of type 'double', no integer" },
		{ "y[0] = (double) (at[0] % t);", "f: y[0] = (double) (at[0] % t): operand 't' is of type "
		  "'double', no "
		  "integer" },
		{ "return 3;", "f: return 3: the function has no result" },
		{ "pmg_check_pivot(plan, y, 0, n, 0);",
		  "f: call pmg_check_pivot(plan, y, 0, n, 0): argument 'y' is a pointer" },
		{ "y[PMG_VECTORS(16, double)] = t;", "f: y[PMG_VECTORS(16, double)] = t: argument '16' is no type" },
		{ "pmg_cblas_dscal(n, t, n, 1, 1);",
		  "f: call pmg_cblas_dscal(n, t, n, 1, 1): argument 'n' is no pointer" },
		{ "double rows[4][8];\nrows[1][2] = t;\ndouble *row = rows[1];\nrow[0] = 1.0;", "" },
	};

	test_bodies(tally, ROWS(rows));
	check_text(tally, "an argument", fault_of(tally,
		   "static void g(double *y)\n{\n}\n\nstatic void h(const double *x)\n{\n\tg(x);\n}\n"),
		   "h: call g(x): 'x' is of type 'const double *', not 'double *'");
	check_text(tally, "an argument of a launch", fault_of(tally, arena_printf(&tally->arena, "%s\nstatic void h("
		   "pmg_plan *plan, const double *x)\n{\n\tPMG_LAUNCH(plan, k, 1, 32, 1, x, pmg_cuda_parts_of(plan));"
		   "\n}\n", in_kernel(tally, "y[0] = 0.0;"))),
		   "h: call PMG_LAUNCH(plan, k, 1, 32, 1, x, pmg_cuda_parts_of(plan)): 'x' is of type 'const double "
		  "*', not "
		   "'double *restrict'");
	check_text(tally, "a result", fault_of(tally, "static int64_t g(int64_t n)\n{\n\treturn;\n}\n"),
		   "g: return: the function has a result");
}

/* C text does not say where an array is. */
static void test_spaces(struct tally *tally)
{
	const char *error, *fault;
	struct k_program *program = quoted_text(&tally->arena, in_function(tally, "double a[4];\na[0] = t;"),
						&error);
	struct k_let *let = &program->functions.items[0]->body.stmts.items[0]->let;

	let->space = K_SPACE_SHARED;
	fault = k_verify(&tally->arena, program);
	check_text(tally, "a shared array", fault ? fault : "",
		   "f: array a: double [4] in shared: only lanes of a device share an array");
	let->space = K_SPACE_THREAD;
	fault = k_verify(&tally->arena, program);
	check_text(tally, "scratch", fault ? fault : "",
		   "f: array a: double [4] in thread: an array is in registers, on the stack or shared");
}

/* ---- teams ---------------------------------------------------------------------------------------- */

#define NOT_ALL(what, where, how) "not all lanes reach '" what "', which stands in " where " that " how

static void test_barriers(struct tally *tally)
{
	static const struct row rows[] = {
		{ "PMG_TEAM_SYNC;\nif (pmg_lane == 0) {\ny[0] = 0.0;\n}\nPMG_TEAM_SYNC;", "" },
		{ "if (pmg_lane == 0) {\nPMG_TEAM_SYNC;\n}",
		  "k: call PMG_TEAM_SYNC: " NOT_ALL("PMG_TEAM_SYNC", "an if", "depends on which it is") },
		{ "const int64_t i = pmg_lane + n;\nconst bool is_in = i < n;\nif (is_in) {\nPMG_TEAM_SYNC;\n}",
		  "k: call PMG_TEAM_SYNC: " NOT_ALL("PMG_TEAM_SYNC", "an if", "depends on which it is") },
		{ "int64_t at = 0;\nfor (int64_t i = 0; i < n; i++) {\nif (at > 0) {\nPMG_TEAM_SYNC;\n}\n"
		  "at += pmg_lane;\n}",
		  "k: call PMG_TEAM_SYNC: " NOT_ALL("PMG_TEAM_SYNC", "an if", "depends on which it is") },
		{ "int64_t at = 0;\nif (pmg_lane > 3) {\nat = 1;\n}\nif (at > 0) {\nPMG_TEAM_SYNC;\n}",
		  "k: call PMG_TEAM_SYNC: " NOT_ALL("PMG_TEAM_SYNC", "an if", "depends on which it is") },
		{ "for (int64_t i = pmg_lane; i < n; i += pmg_team) {\nPMG_TEAM_SYNC;\n}",
		  "k: call PMG_TEAM_SYNC: " NOT_ALL("PMG_TEAM_SYNC", "a loop", "divides its iterations") },
		{ "for (int64_t i = 0; i < pmg_lane; i++) {\nPMG_TEAM_SYNC;\n}",
		  "k: call PMG_TEAM_SYNC: " NOT_ALL("PMG_TEAM_SYNC", "a loop", "depends on which it is") },
		{ "for (int64_t i = pmg_index; i < n; i += pmg_teams) {\nPMG_TEAM_SYNC;\n}", "" },
		{ "const unsigned lanes = pmg_cuda_ballot<pmg_team>(pmg_lane < n);\n"
		  "for (int j = 0; j < pmg_cuda_count(lanes); "
		  "j++) {\nPMG_TEAM_SYNC;\n}", "" },
		{ "const int64_t i = pmg_cuda_take<pmg_team>(n, pmg_lane);\nif (i > 0) {\nPMG_TEAM_SYNC;\n}",
		  "k: call PMG_TEAM_SYNC: " NOT_ALL("PMG_TEAM_SYNC", "an if", "depends on which it is") },
		{ "double sum = 0.0;\nif (pmg_lane < 16) {\nsum = pmg_cuda_team<pmg_team, 16, pmg_cuda_add>(sum);\n}",
		  "k: sum = pmg_cuda_team<pmg_team, 16, pmg_cuda_add>(sum): not all lanes reach "
		  "'pmg_cuda_team', which "
		  "stands in an if that depends on which it is" },
		{ "double sum = 0.0;\nif (pmg_cuda_grid<pmg_cuda_add>(&sum, pmg_parts)) {\ny[0] = sum;\n}", "" },
		{ "double sum = 0.0;\nif (const int64_t i = pmg_index; i < n) {\n"
		  "if (pmg_cuda_grid<pmg_cuda_add>(&sum, "
		  "pmg_parts)) {\ny[0] = sum;\n}\n}", "k: if pmg_cuda_grid<pmg_cuda_add>(&sum, pmg_parts): "
		  "not all teams "
		  "reach 'pmg_cuda_grid', which stands in a loop that depends on which it is" },
	};

	test_kernels(tally, ROWS(rows));
}

/* C text with another count is a loop with a step, so dumps have these. */
static void test_division(struct tally *tally)
{
	static const struct row rows[] = {
		{ "number pmg_lane, count pmg_team", "" },
		{ "number pmg_lane", "" },
		{ "number pmg_lane, count pmg_group",
		  "k: loop i: int64_t from 0 below n, lanes, number pmg_lane, count pmg_group: "
		  "'pmg_lane' is one of 'pmg_team', not of 'pmg_group'" },
		{ "number pmg_lane, count pmg_team + 1",
		  "k: loop i: int64_t from 0 below n, lanes, number pmg_lane, count pmg_team + 1: "
		  "'pmg_lane' is one of 'pmg_team', not of 'pmg_team + 1'" },
		{ "number pmg_lane + 1, count pmg_team",
		  "k: loop i: int64_t from 0 below n, lanes, number pmg_lane + 1, count pmg_team: "
		  "'pmg_lane + 1' is no number of a group or lane" },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const char *error, *fault = NULL;
		struct k_program *program = k_read_program(&tally->arena, arena_printf(&tally->arena, "function device "
			"static void k(n: int64_t, y: double *restrict)\n\tcall PMG_TEAM(32, 32, 1)\n\tloop i: int64_t "
			"from 0 below n, lanes, %s\n\t\ty[i] = 0.0\n", rows[i].body), &error);

		if (program)
			fault = k_verify(&tally->arena, program);
		check_text(tally, rows[i].body, !program ? error : fault ? fault : "", rows[i].fault);
	}
}

static void test_teams(struct tally *tally)
{
	static const struct row rows[] = {
		{ "#pragma omp for schedule(static)\nfor (int64_t i = 0; i < n; i++) {\ny[i] = 0.0;\n}",
		  "f: loop i: int64_t from 0 below n, workshare: there is no team that shares this loop" },
		{ "#pragma omp parallel num_threads(4)\n{\n#pragma omp for schedule(static)\n"
		  "for (int64_t i = 0; i < n; i++) "
		  "{\ny[i] = 0.0;\n}\n}", "" },
		{ "#pragma omp parallel num_threads(4)\n{\nif (pmg_thread() == 0) {\n"
		  "#pragma omp for schedule(static)\n"
		  "for (int64_t i = 0; i < n; i++) {\ny[i] = 0.0;\n}\n}\n}",
		  "f: loop i: int64_t from 0 below n, workshare: not all threads reach the loop that they share" },
		{ "#pragma omp parallel num_threads(4)\n{\n#pragma omp parallel for schedule(static) num_threads(2)\n"
		  "for (int64_t i = 0; i < n; i++) {\ny[i] = 0.0;\n}\n}",
		  "f: loop i: int64_t from 0 below n, workshare, team, threads 2: starts a team where one is" },
		{ "#pragma omp parallel num_threads(4)\n{\nif (n < 3) {\nreturn;\n}\n}",
		  "f: return: nothing returns from what threads or lanes share" },
		{ "#pragma omp parallel for schedule(static) num_threads(4)\n"
		  "for (int64_t i = 0; i < n; i++) {\nif (i > 3) {\n"
		  "break;\n}\n}", "f: break: nothing leaves a loop whose iterations are concurrent" },
		{ "#pragma omp parallel for schedule(static) num_threads(4)\nfor (int64_t i = 0; i < n; i++) {\n"
		  "for (int64_t j = 0; j < n; j++) {\nif (j > i) {\nbreak;\n}\n}\n}", "" },
		{ "if (n > 0) {\nbreak;\n}", "f: break: there is no loop to leave" },
	};

	test_bodies(tally, ROWS(rows));
	check_text(tally, "a function that a team calls", fault_of(tally,
		   "static void g(int64_t n, double *y)\n{\n\t#pragma omp for schedule(static)\n"
		  "\tfor (int64_t i = 0; i < n;"
		   " i++) {\n\t\ty[i] = 0.0;\n\t}\n}\n\nstatic void m(int64_t n, double *y)\n{\n"
		  "\tg(n, y);\n}\n\nstatic void "
		   "h(int64_t n, double *y)\n{\n\t#pragma omp parallel num_threads(4)\n\t{\n\t\tm(n, y);\n"
		  "\t}\n}\n"), "");
}

/* ---- races ------------------------------------------------------------------------------------------ */

#define SHARED "#pragma omp parallel for schedule(static) num_threads(4)\nfor (int64_t i = 0; i < n; i++) {\n"

static void test_races(struct tally *tally)
{
	static const struct row rows[] = {
		{ SHARED "y[i] = 0.0;\n}", "" },
		{ SHARED "y[0] = t;\n}", "f: y[0] = t: all iterations of the loop over 'i' set 'y[0]'" },
		{ SHARED "if (i == 0) {\ny[0] = t;\n}\n}", "" },
		{ SHARED "for (int64_t j = 0; j < n; j++) {\ny[j] += x[i];\n}\n}",
		  "f: y[j] += x[i]: all iterations of the loop over 'i' set 'y[j]'" },
		{ SHARED "for (int64_t j = at[i]; j < at[i + 1]; j++) {\ny[j] += x[i];\n}\n}", "" },
		{ SHARED "#pragma omp atomic\ny[0] += x[i];\n}", "" },
		{ SHARED "PMG_STREAM_F64(y[0], PMG_READ_F64(x[i]));\n}",
		  "f: call PMG_STREAM_F64(y[0], PMG_READ_F64(x[i])): all iterations of the loop over 'i' set 'y[0]'" },
		{ SHARED "double sum = 0.0;\nfor (int64_t j = 0; j < n; j++) {\nsum += x[j];\n}\ny[i] = sum;\n}", "" },
		{ "double sum = 0.0;\n" SHARED "sum += x[i];\n}",
		  "f: sum += x[i]: all iterations of the loop over 'i' set 'sum'" },
		{ "double sum = 0.0;\n#pragma omp simd\nfor (int64_t i = 0; i < n; i++) {\nsum += x[i];\n}",
		  "f: sum += x[i]: all iterations of the loop over 'i' set 'sum'" },
		{ "double sum = 0.0;\n#pragma omp simd reduction(+:sum)\nfor (int64_t i = 0; i < n; i++) {\n"
		  "sum += x[i];\n}", "" },
		{ "double sum = 0.0;\n#pragma omp parallel for schedule(static) reduction(+:sum) num_threads(4)\n"
		  "for (int64_t i = 0; i < n; i++) {\n#pragma omp simd\nfor (int64_t j = 0; j < n; j++) {\n"
		  "sum += x[i + j];\n}\n}", "f: sum += x[i + j]: all iterations of the loop over 'j' set 'sum'" },
		{ "#pragma omp parallel num_threads(4)\n{\ndouble sum = 0.0;\n#pragma omp for schedule(static)\n"
		  "for (int64_t i = 0; i < n; i++) {\nsum += x[i];\n}\n}", "" },
		{ "double sum = 0.0;\n#pragma omp parallel num_threads(4)\n{\n#pragma omp for schedule(static)\n"
		  "for (int64_t i = 0; i < n; i++) {\nsum += x[i];\n}\n}",
		  "f: sum += x[i]: all iterations of the loop over 'i' set 'sum'" },
		{ SHARED "double *mine = y + pmg_thread()*n;\nmine[0] = t;\n}", "" },
		{ "#pragma omp parallel num_threads(4)\n{\nPMG_PRIVATE_ADD(y, y, n, 0.0, 1);\n"
		  "#pragma omp for schedule(static)\nfor (int64_t i = 0; i < n; i++) {\ny[0] += x[i];\n}\n}", "" },
	};
	static const struct row of_device[] = {
		{ "if (const int64_t i = pmg_index; i < n) {\ny[0] = 1.0;\n}",
		  "k: y[0] = 1.0: all iterations of the loop over 'i' set 'y[0]'" },
		{ "double sum = 0.0;\nfor (int64_t i = pmg_lane; i < n; i += pmg_team) {\nsum += y[i];\n}\n"
		  "sum = pmg_cuda_team<pmg_team, pmg_team, pmg_cuda_add>(sum);", "" },
		{ "if (const int64_t i = pmg_index; i < n) {\nfor (int64_t j = pmg_lane; j < n; j += pmg_team) {\n"
		  "y[i] = 0.0;\n}\n}", "k: y[i] = 0.0: all iterations of the loop over 'j' set 'y[i]'" },
	};

	test_bodies(tally, ROWS(rows));
	test_kernels(tally, ROWS(of_device));
}

/* ---- bounds ----------------------------------------------------------------------------------------- */

static void test_bounds(struct tally *tally)
{
	static const struct row rows[] = {
		{ "double a[4];\na[3] = t;\ny[0] = a[3];", "" },
		{ "double a[4];\na[4] = t;", "f: a[4] = t: 'a[4]' is behind the array of 4: its index may be 4" },
		{ "double a[4];\na[-1] = t;", "f: a[-1] = t: 'a[-1]' is before the array: its index may be -1" },
		{ "double a[4];\nfor (int64_t i = 0; i < 5; i++) {\na[i] = t;\n}",
		  "f: a[i] = t: 'a[i]' is behind the array of 4: its index may be 4" },
		{ "double a[4];\nfor (int64_t i = 0; i < 5; i++) {\nif (i < 4) {\na[i] = t;\n}\n}", "" },
		{ "double a[4];\nfor (int64_t i = 0; i < 4; i++) {\na[i + 1] = t;\n}",
		  "f: a[i + 1] = t: 'a[i + 1]' is behind the array of 4: its index may be 4" },
		{ "double a[4];\nfor (int64_t i = 3; i >= 0; i--) {\na[i] = a[3 - i];\n}", "" },
		{ "double a[4];\nfor (int64_t i = 3; i >= -1; i--) {\na[i] = t;\n}",
		  "f: a[i] = t: 'a[i]' is before the array: its index may be -1" },
		{ "double a[16];\nfor (int64_t i = 0; i < 18; i += 3) {\na[i] = t;\n}", "" },
		{ "double a[3][8];\nfor (int64_t i = 0; i < 8; i++) {\na[i][2] = t;\n}",
		  "f: a[i][2] = t: 'a[i]' is behind the array of 3: its index may be 7" },
		{ "double a[2];\nfor (int64_t i = 0; i < n; i++) {\na[i % 2] = a[(i + 1) % 2];\n}", "" },
		{ "double a[2];\nfor (int64_t i = 0; i < n; i++) {\na[i % 3] = t;\n}",
		  "f: a[i % 3] = t: 'a[i % 3]' is behind the array of 2: its index may be 2" },
		{ "double a[8];\nconst int64_t lanes = pmg_min_i64(16, n);\n"
		  "for (int64_t i = 0; i < lanes; i++) {\na[i] = t;\n}",
		  "f: a[i] = t: 'a[i]' is behind the array of 8: its index may be 15" },
		{ "pmg_vector_f64 v[PMG_VECTORS(double, 16)];\n"
		  "for (int64_t lane = 0; lane < 16; lane += PMG_LANES(double)) {\n"
		  "v[lane/PMG_LANES(double)] = PMG_READ_F64(x[lane]);\n}", "" },
		{ "pmg_vector_f64 v[PMG_VECTORS(double, 16)];\n"
		  "for (int64_t lane = 0; lane < 17; lane += PMG_LANES(double)) {\n"
		  "v[lane/PMG_LANES(double)] = PMG_READ_F64(x[lane]);\n}",
		  "f: v[lane/PMG_LANES(double)] = PMG_READ_F64(x[lane]): 'v[lane/PMG_LANES(double)]' is behind "
		  "the array of "
		  "16: its index may be 16" },
		{ "pmg_vector_f64 v[PMG_VECTORS(double, 16)];\n"
		  "for (int64_t lane = 0; lane < 16; lane += PMG_LANES(double)) {\n"
		  "v[lane/PMG_LANES(double) + 1] = PMG_READ_F64(x[lane]);\n}",
		  "f: v[lane/PMG_LANES(double) + 1] = PMG_READ_F64(x[lane]): 'v[lane/PMG_LANES(double) + 1]' leaves "
		  "the array" },
		{ "double a[PMG_DOTS];\nfor (int64_t i = 0; i < PMG_DOTS; i++) {\na[i] = t;\n}", "" },
		{ "double a[PMG_DOTS];\nfor (int64_t i = 0; i < PMG_DOTS + 1; i++) {\na[i] = t;\n}",
		  "f: a[i] = t: 'a[i]' leaves the array" },
		{ "double a[PMG_DOTS];\nfor (int64_t i = 0; i < PMG_DOTS - 1; i++) {\na[i + 1] = t;\n}",
		  "" },
		{ "double a[PMG_DOTS];\nfor (int64_t i = 0; i < PMG_DOTS; i++) {\na[i + 1] = t;\n}",
		  "f: a[i + 1] = t: 'a[i + 1]' leaves the array" },
		{ "double a[4];\nconst double *end = &a[4];\nconst double *last = &a[5];\ny[0] = end[-1] + last[-2];",
		  "f: var last: const double * = &a[5]: 'a[5]' is behind the array of 4: its index may be 5" },
	};

	test_bodies(tally, ROWS(rows));
}

/* ---- generated kernels -------------------------------------------------------------------------------- */

static void test_file(struct tally *tally, const char *path)
{
	struct arena arena = { 0 };
	const char *error, *fault = NULL;
	struct k_program *program = quoted_file(&arena, path, &error);

	if (program) {
		k_resolve_types(&arena, program);
		fault = k_verify(&arena, program);
	}
	check_text(tally, path, !program ? error : fault ? fault : "", "");
	arena_release(&arena);
}

static void test_files(struct tally *tally)
{
	static const char *const patterns[] = { QUOTED_PATTERNS };
	glob_t found;

	for (size_t p = 0; p < sizeof patterns / sizeof *patterns; p++) {
		check_text(tally, patterns[p], glob(patterns[p], 0, NULL, &found) == 0 ? "" : "none", "");
		for (size_t i = 0; i < found.gl_pathc; i++)
			test_file(tally, found.gl_pathv[i]);
		globfree(&found);
	}
}

/* Where a part may stand, how it is left, and what it may hide. */
static void test_parts(struct tally *tally)
{
	static const struct { const char *body, *fault; } cases[] = {
		{ "\tblock part a\n\t\tblock part b\n\t\t\ty[0] = 1.0\n\twhile f(plan)\n\t\tblock part c\n"
		  "\t\t\tloop i: int64_t from 0 below 3\n\t\t\t\tbreak\n", "" },
		{ "\tblock part a\n\t\treturn PMG_OK\n",
		  "k: return PMG_OK: this leaves a part before its end" },
		{ "\twhile f(plan)\n\t\tblock part a\n\t\t\tbreak\n", "k: break: this leaves a part before its end" },
		{ "\tif f(plan)\n\t\tblock part a\n",
		  "k: block part a: a part stands in a statement that no function is called from" },
		{ "\tparallel 2\n\t\tblock part a\n",
		  "k: block part a: a part stands in a statement that no function is called from" },
		{ "\tblock part a\n\t\tlet n: const int64_t = 3\n\ty[n] = 1.0\n",
		  "k: y[n] = 1.0: 'n' is not declared here" },
		{ "\tblock part a\n\t\tlet y: double *restrict = plan->data[0]\n",
		  "k: let y: double *restrict = plan->data[0]: 'y' is declared already" },
		{ "\tblock part a, apart\n\t\tlet y: double *restrict = plan->data[0]\n\t\tblank\n\t\ty[0] = 1.0\n",
		  "" },
		{ "\tblock part a, apart\n\t\tblank\n\t\tblock\n"
		  "\t\t\tlet y: double *restrict = plan->data[0]\n",
		  "k: let y: double *restrict = plan->data[0]: 'y' is declared already" },
	};

	static const char head[] = "function static bool f(plan: pmg_plan *)\n\treturn true\n\n"
				   "function entry static pmg_status k(plan: pmg_plan *)\n"
				   "\tlet y: double *restrict = plan->data[0]\n";

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const char *entry = arena_printf(&tally->arena, "%s%s\treturn PMG_OK\n", head, cases[i].body);

		check_text(tally, cases[i].body, fault_of_dump(tally, entry), cases[i].fault);
	}
	check_text(tally, "a part of a part", fault_of_dump(tally, "function static void f()\n\tblock part a\n"),
	       "f: block part a: a part stands in no entry");
}

int main(void)
{
	struct tally tally = { 0 };

	test_names(&tally);
	test_parts(&tally);
	test_types(&tally);
	test_spaces(&tally);
	test_barriers(&tally);
	test_division(&tally);
	test_teams(&tally);
	test_races(&tally);
	test_bounds(&tally);
	test_files(&tally);
	arena_release(&tally.arena);
	printf("%d passed, %d failed\n", tally.passed, tally.failed);
	return tally.failed != 0;
}
