/* SPDX-License-Identifier: MIT
 *
 * Systems of eliminations/ solved by the algorithms that their schedules ask for, against elimination in the reference
 * interpreter, which runs the program as written: sizes 0, 1, 2 among them, ragged systems, several right-hand sides,
 * both precisions. With PMG_TEST_LONG 2000 draws instead of 30. */
#include <stdlib.h>
#include <unistd.h>

#include "random/compare.h"

static struct variant variants[] = { { .name = "gcc", .pmgc = "--candidates=1", .compiler = "gcc" } };

static void check_file(struct comparison *comparison)
{
	const int wanted = getenv("PMG_TEST_LONG") ? 2000 : 30;
	struct compilation *c = compilation_new();
	bool ready = compilation_read(c, comparison->file) && comparison_build(comparison);

	if (!ready)
		fprintf(stderr, "%s: does not build\n%s", comparison->file, compilation_messages(c, false));
	comparison->failed += !ready;
	for (int m = 0; ready && m < c->modules.n; m++)
		for (int draw = 0, n = 0; draw < 20*wanted && n < wanted; draw++)
			n += comparison_draw(comparison, c->modules.items[m], (uint64_t) draw + 1, AGREE_CLOSELY);
	comparison_close(comparison);
	compilation_free(c);
}

int main(void)
{
	char folder[] = "/tmp/pmg-eliminations-XXXXXX";
	struct comparison comparison = { .build = getenv("BUILD") ? getenv("BUILD") : "build",
					 .folder = mkdtemp(folder), .variants = variants, .n_variants = 1,
					 .file = "tests/random/eliminations/chains.pmg" };

	check_file(&comparison);
	run_command("rm -rf %s", comparison.folder);
	printf("%d passed, %d failed\n", comparison.passed, comparison.failed);
	return comparison.failed || !comparison.passed;
}
