/* SPDX-License-Identifier: MIT
 *
 * Random programs as kernels in OpenCL C against the interpreter: 20 programs, with PMG_TEST_LONG 1000; skipped where
 * there is no platform of OpenCL. Arguments are those of tests/random/test_programs. */
#include "opencl/platform.h"
#include "random/volume.h"

enum { COUNT = 20 };

int main(int argc, char **argv)
{
	const struct volume volume = { .kind = "cuda", .program = "tests/opencl/test_random", .count = COUNT,
				       .long_count = 1000, .draws = 2, .batch = 20,
				       .first_row = n_variants_of_processors() + 1, .n_rows = 1,
				       .rows = 1, .long_rows = 1 };

	if (opencl_is_here())
		return volume_main(&volume, argc, argv);
	printf("0 passed, 0 failed, %d skipped\n", COUNT);
	return 0;
}
