/* SPDX-License-Identifier: MIT
 *
 * The kernels of all cases of a folder: their text, as kept in NAME.kernel beside NAME.pmg and for a device in
 * NAME.device (PMG_UPDATE=1 writes both anew), and no warning from either compiler. Of some, the kernel tree is kept,
 * too: in NAME.openmp.dump and NAME.cuda.dump. What stands around kernels is seen in generated/. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/codegen_tests.h"
#include "codegen/target.h"
#include "driver/options.h"
#include "driver/pipeline.h"
#include "support/folder.h"

/* From the title of each pipeline to its tables. */
static const char *kernels_of(struct arena *arena, const char *text)
{
	struct str kernels = str_new(arena);
	const char *end;

	while ((text = strstr(text, "/* ---- ")) && (end = strstr(text, "static const pmg_"))) {
		str_add_text(&kernels, text, (size_t) (end - text));
		text = end;
	}
	while (kernels.length > 1 && kernels.text[kernels.length - 2] == '\n')
		kernels.text[--kernels.length] = '\0';
	return str_text(&kernels);
}

static const char *read_text(struct arena *arena, const char *path)
{
	FILE *file = fopen(path, "rb");
	struct str text = str_new(arena);
	char buffer[4096];
	size_t n;

	if (!file)
		return NULL;
	while ((n = fread(buffer, 1, sizeof buffer, file)) > 0)
		str_add_text(&text, buffer, n);
	fclose(file);
	return str_text(&text);
}

static bool write_text(const char *path, const char *text)
{
	FILE *file = fopen(path, "wb");
	bool ok = file && fputs(text, file) >= 0;

	return (!file || fclose(file) == 0) && ok;
}

static void check_warnings(struct tests *tests, const char *folder)
{
	static const char *const compilers[] = {
		"gcc -O1 -c -o /dev/null", "clang -fsyntax-only", "gcc -fsyntax-only -xc++ -std=c++17"
	};

	for (int i = 0; i < 2; i++)
		CHECK(tests, codegen_command("%s -std=c11 -fopenmp -Wall -Wextra -Wconversion -Wshadow -Werror "
					     "-Iruntime %s/case.c", compilers[i], folder));
	CHECK(tests, codegen_command("echo '#include \"case.h\"' | %s -Wall -Wextra -Werror -Iruntime -I%s -",
				     compilers[2], folder));
}

/* Beside the program, with another ending. */
static const char *golden_of(struct arena *arena, const char *path, const char *ending)
{
	return arena_printf(arena, "%.*s.%s", (int) strlen(path) - 4, path, ending);
}

void codegen_check_golden(struct tests *tests, struct arena *arena, const char *text, const char *golden)
{
	if (getenv("PMG_UPDATE"))
		CHECK(tests, text && write_text(golden, text));
	CHECK_TEXT(tests, text, read_text(arena, golden));
}

static void check_kept(struct tests *tests, struct arena *arena, const char *text, const char *path, const char *ending)
{
	codegen_check_golden(tests, arena, text, golden_of(arena, path, ending));
}

static void check_device(struct tests *tests, const char *path)
{
	struct compilation *c = compilation_new();
	const char *c_text, *h_text, *kernels;
	bool ok = compilation_choose_target(c, "cuda") && options_pass_flag(&c->options, "--candidates=1") &&
		  compilation_read(c, path) && compilation_run_passes(c) &&
		  compilation_generate(c, "case", &c_text, &h_text);

	CHECK(tests, ok);
	kernels = ok ? strstr(c->device_text, "/* ---- ") : NULL;
	if (kernels)
		check_kept(tests, &c->arena, kernels, path, "device");
	compilation_free(c);
}

static const char *dump_of(struct compilation *c, const char *path, const char *target)
{
	const char *text = NULL;

	if (compilation_choose_target(c, target) && compilation_read(c, path) && compilation_run_passes(c))
		text = target_kernel_text(c->modules.items[0], target_find(target), false, &c->arena, NULL);
	return text ? text : compilation_messages(c, false);
}

static void check_dump(struct tests *tests, const char *path, const char *target)
{
	struct compilation *c = compilation_new();
	const char *ending = arena_printf(&c->arena, "%s.dump", target);

	if (read_text(&c->arena, golden_of(&c->arena, path, ending)))
		check_kept(tests, &c->arena, dump_of(c, path, target), path, ending);
	compilation_free(c);
}

static void check_case(struct tests *tests, const char *path, const char *folder)
{
	struct compilation *c = compilation_new();
	const char *c_text, *h_text;

	c->verify_each = true;
	if (!compilation_read(c, path) || !compilation_run_passes(c) ||
	    !compilation_generate(c, "case", &c_text, &h_text)) {
		fprintf(stderr, "%s: %s\n", path, compilation_messages(c, false));
		tests->failed++;
		compilation_free(c);
		return;
	}
	check_kept(tests, &c->arena, kernels_of(&c->arena, c_text), path, "kernel");
	CHECK(tests, write_text(arena_printf(&c->arena, "%s/case.c", folder), c_text));
	CHECK(tests, write_text(arena_printf(&c->arena, "%s/case.h", folder), h_text));
	check_warnings(tests, folder);
	compilation_free(c);
}

struct case_files {
	struct tests *tests;
	const char *folder;             /* scratch */
};

static void check_case_of_folder(const char *path, void *user)
{
	const struct case_files *files = user;

	check_case(files->tests, path, files->folder);
	check_device(files->tests, path);
	check_dump(files->tests, path, "openmp");
	check_dump(files->tests, path, "cuda");
}

void codegen_test_goldens(struct tests *tests, const char *cases)
{
	char folder[] = "/tmp/pmg-codegen-XXXXXX";
	struct case_files files = { tests, mkdtemp(folder) };

	CHECK(tests, files.folder && folder_each_program(cases, check_case_of_folder, &files) > 0);
	codegen_command("rm -rf %s", folder);
}

void codegen_test_golden(struct tests *tests, const char *path)
{
	char folder[] = "/tmp/pmg-codegen-XXXXXX";
	struct case_files files = { tests, mkdtemp(folder) };

	CHECK(tests, files.folder);
	if (files.folder)
		check_case_of_folder(path, &files);
	codegen_command("rm -rf %s", folder);
}
