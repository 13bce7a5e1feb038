/* SPDX-License-Identifier: MIT
 *
 * Whether a temporary may be stored as its STORAGE mark says: schedules that passes do not make must be refused. */
#include "ir/fixture.h"
#include "ir/schedule.h"

#define MODULE "module m\nsource \"m.pmg\"\n" \
	"param n\nparam m\narray x : in f64[0..n, 0..m]\narray y : out f64[0..n, 0..m]\n"
#define WRITE "\nprologue\ngroup 0 \"g\" common 2 directions + +\n  stage 0\n    for i in 0..n\n    for j in 0..m\n"
#define READ "\ngroup 1 \"y\" common 2 directions + + fused 2\n  stage 1\n    for i in 0..n\n    for j in 0..m\n"
#define GUARDED READ "    where i >= 1 and j >= 1\n"
#define HERE "    g[i, j] = exp(x[i, j])"
#define POINTS(lo) "S0[i, j] : 0 <= i < n and 0 <= j < m; S1[i, j] : " lo " <= i < n and " lo " <= j < m"
#define BAND(e, d, spaces) spaces "schedule: \"[n, m] -> [{ S0[i, j] -> [(" e ")]; S1[i, j] -> [(" e ")] }]\"\n" \
	spaces "child:\n"
#define MARK(text, spaces) spaces "mark: \"" text "\"\n" spaces "child:\n"
#define BOTH(spaces) spaces "sequence:\n" \
	spaces "- filter: \"[n, m] -> { S0[i, j] }\"\n" \
	spaces "- filter: \"[n, m] -> { S1[i, j] }\"\n"
#define TREE(lo) "\nschedule prologue\n| domain: \"[n, m] -> { " POINTS(lo) " }\"\n| child:\n"
#define OUTER(e) MARK("loop(S0.0)", "|   ") BAND(e, "0", "|     ")
#define INNER(e) MARK("loop(S0.1)", "|       ") BAND(e, "1", "|         ")

static const struct {
	const char *text, *problem;             /* NULL: there is none */
} cases[] = {
	/* A variable for what is read where it was written. */
	{ MODULE "array g : temp f64[0..n, 0..m] folded 3\n" WRITE HERE READ "    y[i, j] = g[i, j]\n"
	  TREE("0") OUTER("(i)") INNER("(j)") MARK("storage(A2)", "|           ") BOTH("|             "), NULL },
	/* A row, of which the one before is read. */
	{ MODULE "array g : temp f64[0..n, 0..m] folded 1\n" WRITE HERE GUARDED "    y[i, j] = g[i - 1, j]\n"
	  TREE("1") OUTER("(i)") MARK("storage(A2)", "|       ") INNER("(j)") BOTH("|           "),
	  "read in another iteration" },
	/* The same, of which the value before is read: it is there. */
	{ MODULE "array g : temp f64[0..n, 0..m] folded 1\n" WRITE HERE GUARDED "    y[i, j] = g[i, j - 1]\n"
	  TREE("1") OUTER("(i)") MARK("storage(A2)", "|       ") INNER("(j)") BOTH("|           "), NULL },
	/* A column inside of rows of tiles. */
	{ MODULE "array g : temp f64[0..n, 0..m] folded 2\n" WRITE HERE GUARDED "    y[i, j] = g[i - 1, j]\n"
	  TREE("1") OUTER("(i - (i) mod 4)") INNER("(j)") MARK("storage(A2)", "|           ")
	  MARK("loop(S0.0)", "|           ") BAND("(i)", "0", "|             ") BOTH("|               "),
	  "read in another iteration" },
	/* Threads without rows of their own. */
	{ MODULE "array g : temp f64[0..n, 0..m] folded 1\n" WRITE HERE READ "    y[i, j] = g[i, j]\n"
	  TREE("0") MARK("parallel", "|   ") OUTER("(i)") MARK("storage(A2)", "|       ") INNER("(j)")
	  BOTH("|           "), "at once" },
	{ MODULE "array g : temp f64[0..n, 0..m] folded 1 threads\n" WRITE HERE READ "    y[i, j] = g[i, j]\n"
	  TREE("0") MARK("parallel", "|   ") OUTER("(i)") MARK("storage(A2)", "|       ") INNER("(j)")
	  BOTH("|           "), NULL },
	/* Two rows in one place. */
	{ MODULE "array g : temp f64[0..n, 0..m] folded 1\n" WRITE HERE READ "    y[i, j] = g[i, j]\n"
	  TREE("0") MARK("storage(A2)", "|   ") OUTER("(i)") INNER("(j)") BOTH("|           "), "values of two" },
	/* What reads it is elsewhere. */
	{ MODULE "array g : temp f64[0..n, 0..m] folded 3\n" WRITE HERE READ "    y[i, j] = g[i, j]\n"
	  TREE("0") OUTER("(i)") INNER("(j)")
	  "|           sequence:\n|           - filter: \"[n, m] -> { S0[i, j] }\"\n|             child:\n"
	  "|               mark: \"storage(A2)\"\n|           - filter: \"[n, m] -> { S1[i, j] }\"\n",
	  "outside the loops" },
	/* Threads of a team go on to the next row while others are at this one, one place further. */
	{ MODULE "array g : temp f64[0..n, 0..n + m] folded 1\n" WRITE "    g[i, i + j] = exp(x[i, j])" READ
	  "    y[i, j] = g[i, i + j]\n" TREE("0") MARK("team(S0)", "|   ") OUTER("(i)") MARK("storage(A2)", "|       ")
	  MARK("parallel", "|       ") INNER("(j)") BOTH("|           "), "threads of a team" },
	{ MODULE "array g : temp f64[0..n, 0..m] folded 1\n" WRITE HERE READ "    y[i, j] = g[i, j]\n"
	  TREE("0") MARK("team(S0)", "|   ") OUTER("(i)") MARK("storage(A2)", "|       ")
	  MARK("parallel", "|       ") INNER("(j)") BOTH("|           "), NULL },
	/* Two rows where three are of use. */
	{ MODULE "array g : temp f64[0..n, 0..m] window 0 of 2\n" WRITE HERE READ
	  "    where i >= 2\n    y[i, j] = g[i - 2, j]\n"
	  TREE("0") MARK("storage(A2)", "|   ") OUTER("(i)") INNER("(j)") BOTH("|           "), "holds less" },
};

static void test_case(struct ir_tests *tests, int number)
{
	struct ir_fixture f;
	const char *problem = "none was read";

	ir_open_text(&f, cases[number].text);
	if (f.module) {
		module_analyse(f.module);
		schedule_is_legal(f.module, &f.module->regions[REGION_PROLOGUE], &problem);
	}
	if (cases[number].problem)
		IR_CHECK_HAS(tests, problem ? problem : "", cases[number].problem);
	else
		IR_CHECK_SAME(tests, problem ? problem : "legal", "legal");
	ir_close(&f);
}

void ir_test_storage(struct ir_tests *tests)
{
	for (int i = 0; i < (int) (sizeof cases/sizeof cases[0]); i++)
		test_case(tests, i);
}
