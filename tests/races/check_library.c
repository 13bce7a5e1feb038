/* SPDX-License-Identifier: MIT
 *
 * A library that somebody else built of a .pmg file, against the interpreter on random draws:
 *     check_library FILE.pmg LIBRARY THREADS DRAWS
 * The last third of the draws has sizes behind the first tile. Exits with 1 at a difference. Built with the thread
 * sanitizer, it says where the library races. */
#include <stdlib.h>

#include "random/compare.h"

enum { ATTEMPTS = 20, WIDE = 3 /* one draw in so many, at the end */ };

int main(int argc, char **argv)
{
	struct variant variant = { .name = "library" };
	struct comparison comparison = { .variants = &variant, .n_variants = 1 };
	struct compilation *c = compilation_new();
	int draws = argc == 5 ? atoi(argv[4]) : 0;
	bool ready;

	if (!draws)
		return fprintf(stderr, "check_library FILE.pmg LIBRARY THREADS DRAWS\n"), 2;
	comparison.file = argv[1];
	comparison.threads = atoi(argv[3]);
	ready = compilation_read(c, argv[1]) && variant_load(&variant, argv[2]);
	for (int m = 0; ready && m < c->modules.n && !comparison.failed &&
			compilation_find_pivots(c, c->modules.items[m]); m++)
		for (int draw = 0, drawn = 0; draw < ATTEMPTS*draws && drawn < draws && !comparison.failed; draw++) {
			comparison.is_wide = WIDE*drawn >= (WIDE - 1)*draws;
			drawn += comparison_draw(&comparison, c->modules.items[m], (uint64_t) draw + 1, AGREE_CLOSELY);
		}
	compilation_free(c);
	printf("%d draws, %d differ\n", comparison.passed + comparison.failed, comparison.failed);
	return comparison.failed || !comparison.passed;
}
