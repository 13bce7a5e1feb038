/* SPDX-License-Identifier: MIT
 *
 * Random programs with a schedule block of several items, as test_programs, whose arguments it takes: 40 programs, with
 * PMG_TEST_LONG 5000. Items that the compiler refuses are left out. */
#include "random/volume.h"

int main(int argc, char **argv)
{
	const struct volume volume = { .kind = "items", .program = "tests/random/test_items", .count = 40,
				       .long_count = 5000, .draws = 8, .batch = 20,
				       .n_rows = n_variants_of_processors(), .rows = 1, .long_rows = 1 };

	return volume_main(&volume, argc, argv);
}
