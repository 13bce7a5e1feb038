/* SPDX-License-Identifier: MIT
 *
 * Random programs: the reference interpreter against generated code, for each C compiler and several schedules, on
 * several draws of sizes and data. Programs x_… must give the same bits, t_… the same values to 1e-11, s_… to 1e-5.
 *     test_programs [SEED [COUNT [DRAWS]]]     COUNT programs, 80 or, with PMG_TEST_LONG, 20000
 *     test_programs SEED FIRST-LAST [DRAWS]    of a seed's programs these: a long run in parts
 *     test_programs FILE.pmg FIRST-LAST VARIANT
 * The last form checks a file at given draws by one row of the table of variants; its exit status is an outcome. */
#include "random/volume.h"

int main(int argc, char **argv)
{
	const struct volume volume = { .kind = "plain", .program = "tests/random/test_programs", .count = 80,
				       .long_count = 20000, .draws = 8, .batch = 20,
				       .n_rows = n_variants_of_processors(), .rows = 1, .long_rows = 1 };

	return volume_main(&volume, argc, argv);
}
