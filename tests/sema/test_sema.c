/* SPDX-License-Identifier: MIT
 *
 * Tests of sema: every program of tests/programs becomes modules that verify; every err/NAME.pmg gives
 * exactly the messages of err/NAME.expected; a construct and its written form give the same stages; dumps of
 * single statements show what they are lowered to. With UPDATE=1 in the environment, the files of
 * expectations are written.
 *     test_sema [FILE.pmg...]         these files of a folder instead of all */
#include "sema/harness.h"
#include "support/folder.h"

#include <stdlib.h>
#include <string.h>

struct counts {
	int passed, failed;
};

static void check(struct counts *counts, bool ok, const char *what, const char *detail)
{
	counts->passed += ok;
	counts->failed += !ok;
	if (!ok)
		printf("failed: %s\n%s", what, detail ? detail : "");
}

/* ---- programs ---- */

/* Each module verifies, its accesses are proved and its recurrences have an order. */
static void check_modules(struct counts *counts, struct lowered *l)
{
	for (int i = 0; i < l->modules.n; i++) {
		struct module *module = l->modules.items[i];

		check(counts, module_verify(module, "sema"), module->name, diags_text(&l->diags, 20, false));
		module_analyse(module);
		check(counts, module_check_accesses(module) && module_order_recurrences(module), module->name,
		      diags_text(&l->diags, 20, false));
	}
}

static void test_program(const char *path, void *user)
{
	struct counts *counts = user;
	struct lowered l;

	if (!lowered_open(&l, path, folder_name_of(path))) {
		check(counts, false, path, "cannot be read\n");
		return;
	}
	check(counts, l.ok && l.diags.list.n == 0, path, diags_text(&l.diags, 20, false));
	check_modules(counts, &l);
	lowered_close(&l);
}

/* ---- messages ---- */

static void write_text(const char *path, const char *text)
{
	FILE *file = fopen(path, "wb");

	if (!file)
		return;
	fputs(text, file);
	fclose(file);
}

static void compare(struct counts *counts, const char *path, const char *text)
{
	struct arena arena = { 0 };
	const char *stem = arena_copy(&arena, path, strlen(path) - 4);
	const char *expected_path = arena_printf(&arena, "%s.expected", stem);
	const char *expected;

	if (getenv("UPDATE"))
		write_text(expected_path, text);
	expected = lowered_file_text(&arena, expected_path);
	check(counts, expected && strcmp(expected, text) == 0, path,
	      arena_printf(&arena, "---- expected\n%s---- got\n%s", expected ? expected : "(no file)\n",
			   text));
	arena_release(&arena);
}

/* What lowering finds, and, when that is nothing, what the proofs on its modules find. */
static void test_messages(const char *path, void *user)
{
	struct counts *counts = user;
	struct lowered l;

	if (!lowered_open(&l, path, folder_name_of(path))) {
		check(counts, false, path, "cannot be read\n");
		return;
	}
	for (int i = 0; i < l.modules.n; i++) {
		module_analyse(l.modules.items[i]);
		module_check_ranges(l.modules.items[i]);
		if (module_check_assumptions(l.modules.items[i]) && module_check_accesses(l.modules.items[i]))
			module_check_outputs(l.modules.items[i]);
		module_order_recurrences(l.modules.items[i]);
	}
	compare(counts, path, diags_text(&l.diags, 20, true));
	lowered_close(&l);
}

/* ---- dumps ---- */

static void test_dump(const char *path, void *user)
{
	struct counts *counts = user;
	struct lowered l;
	struct str text;

	if (!lowered_open(&l, path, folder_name_of(path))) {
		check(counts, false, path, "cannot be read\n");
		return;
	}
	text = str_new(&l.arena);
	check(counts, l.ok, path, diags_text(&l.diags, 20, false));
	for (int i = 0; i < l.modules.n; i++)
		str_add(&text, "%s%s", i ? "\n" : "", module_text(l.modules.items[i], &l.arena));
	compare(counts, path, str_text(&text));
	check_modules(counts, &l);
	lowered_close(&l);
}

/* ---- a construct is what one could have written ---- */

/* The dump from the first group on: names of pipelines and the order of arguments may differ. */
static const char *stages_text(struct arena *arena, struct module *module)
{
	const char *text = module_text(module, arena);
	const char *stages = strstr(text, "\nprologue");

	return stages ? stages : text;
}

static void test_same(struct counts *counts, const char *construct, const char *written)
{
	struct lowered a, b;

	lowered_text(&a, construct, "construct");
	lowered_text(&b, written, "written");
	check(counts, a.ok && b.ok && a.modules.n == 1 && b.modules.n == 1, construct,
	      a.ok ? diags_text(&b.diags, 20, false) : diags_text(&a.diags, 20, false));
	if (a.modules.n == 1 && b.modules.n == 1) {
		const char *x = stages_text(&a.arena, a.modules.items[0]);
		const char *y = stages_text(&b.arena, b.modules.items[0]);

		check(counts, strcmp(x, y) == 0, "construct and written form",
		      arena_printf(&a.arena, "---- construct\n%s\n---- written\n%s\n", x, y));
	}
	lowered_close(&a);
	lowered_close(&b);
}

#define TENSOR "pipeline p { param nA, nV, nF, nT, n;\n" \
	"fixed in PHI : PHI_Tensor<f64>(n; atom < nA, voxel < nV, fiber < nF);\n" \
	"fixed in D : f64[nA, nT];\n"

#define MATRIX "pipeline p { param n, m; fixed in A : PHI_Tensor<f64>(n; row < m, col < m);\n" \
	"in x : f64[m]; out y : f64[m];\n"

static void test_constructs(struct counts *counts)
{
	test_same(counts, TENSOR "in w : f64[nF]; out Y : f64[nV, nT]; Y = Sparse_matvec(PHI, D, w); }",
		  TENSOR
		  "in w : f64[nF]; out Y : f64[nV, nT]; reduce Y[PHI.voxel[k], t] += D[PHI.atom[k], t] * "
		  "w[PHI.fiber[k]] * PHI.value[k] for k in 0..n, t in 0..nT; }");
	test_same(counts,
		  TENSOR "in Y : f64[nV, nT]; out w : f64[nF]; w = Sparse_matvec(transpose(PHI), D, Y); }",
		  TENSOR "in Y : f64[nV, nT]; out w : f64[nF]; reduce w[PHI.fiber[k]] += PHI.value[k] * "
			 "D[PHI.atom[k], t] * Y[PHI.voxel[k], t] for k in 0..n, t in 0..nT; }");
}

static void test_matrix(struct counts *counts)
{
	test_same(counts, MATRIX "y = Sparse_matvec(A, x); }",
		  MATRIX "reduce y[A.row[k]] += A.value[k]*x[A.col[k]] for k in 0..n; }");
	test_same(counts, MATRIX "y = Sparse_matvec(transpose(A), x); }",
		  MATRIX "reduce y[A.col[k]] += A.value[k]*x[A.row[k]] for k in 0..n; }");
}

/* Names of the user's that the expansion uses for itself. */
static void test_names(struct counts *counts)
{
	struct lowered l;

	lowered_text(&l, "pipeline p { param s, i, q;\n"
		     "fixed in e : Tree(i); in r, c : f64[i]; in result, y : f64[s, i]; out x : f64[s, i];\n"
		     "x = HinesSystem(e, r, c, result, y); }", "names");
	check(counts, l.ok, "names of an expansion", diags_text(&l.diags, 20, false));
	lowered_close(&l);
	lowered_text(&l,
		     "pipeline p { param k, t, y, pivot, s0;\n"
		     "in a, i : f64[k, t]; in result : f64[k, t]; out x : f64[k, t];\n"
		     "x = TriBatch(a, 4.0 + 0*a, i, result + TriBatch(a, 3, a, i)); reduce z += y + pivot + "
		     "s0; out z : i64; }",
		     "names");
	check(counts, l.ok, "names of nested expansions", diags_text(&l.diags, 20, false));
	lowered_close(&l);
}

static const struct {
	const char *folder;
	void (*test)(const char *path, void *counts);
	int least;
} folders[] = {
	{ "tests/programs", test_program, 13 },
	{ "tests/sema/err", test_messages, 180 },
	{ "tests/sema/dumps", test_dump, 5 },
};

enum { N_FOLDERS = sizeof folders/sizeof folders[0] };

static void test_all(struct counts *counts)
{
	for (int i = 0; i < N_FOLDERS; i++)
		check(counts, folder_each_program(folders[i].folder, folders[i].test, counts) >= folders[i].least,
		      folders[i].folder, "has fewer programs than it should\n");
	test_constructs(counts);
	test_matrix(counts);
	test_names(counts);
}

static void test_file(struct counts *counts, const char *path)
{
	int i = 0;

	while (i < N_FOLDERS && strncmp(path, folders[i].folder, strlen(folders[i].folder)) != 0)
		i++;
	check(counts, i < N_FOLDERS, path, "is of no folder that is tested\n");
	if (i < N_FOLDERS)
		folders[i].test(path, counts);
}

int main(int argc, char **argv)
{
	struct counts counts = { 0 };

	if (argc > 1 && strcmp(argv[1], "--interp") == 0)
		return interp_tool(argc, argv);
	if (argc < 2)
		test_all(&counts);
	for (int i = 1; i < argc; i++)
		test_file(&counts, argv[i]);
	printf("%d passed, %d failed\n", counts.passed, counts.failed);
	return counts.failed > 0;
}
