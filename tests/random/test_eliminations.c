/* SPDX-License-Identifier: MIT
 *
 * Systems of eliminations/ solved by the algorithms that their schedules ask for, against elimination in the reference
 * interpreter, which runs the program as written: sizes 0, 1, 2 among them, ragged systems, several right-hand sides,
 * both precisions. With PMG_TEST_LONG 2000 draws instead of 30. */
#include <stdlib.h>
#include <unistd.h>

#include "random/compare.h"

static struct variant variants[] = { { .name = "gcc", .pmgc = "--candidates=1", .compiler = "gcc" } };

static int n_draws(const struct module *module)
{
	(void) module;
	return getenv("PMG_TEST_LONG") ? 2000 : 30;
}

int main(void)
{
	char folder[] = "/tmp/pmg-eliminations-XXXXXX";
	struct comparison comparison = { .build = getenv("BUILD") ? getenv("BUILD") : "build",
					 .folder = mkdtemp(folder), .variants = variants, .n_variants = 1,
					 .file = "tests/random/eliminations/chains.pmg" };

	comparison_file(&comparison, n_draws);
	run_command("rm -rf %s", comparison.folder);
	printf("%d passed, %d failed\n", comparison.passed, comparison.failed);
	return comparison.failed || !comparison.passed;
}
