/* SPDX-License-Identifier: MIT
 *
 * Random programs as kernels for CUDA, which run on the processor (emulated/cuda_runtime.h), against the interpreter:
 * 20 programs, with PMG_TEST_LONG 2000. Arguments are those of tests/random/test_programs. */
#include "random/volume.h"

int main(int argc, char **argv)
{
	const struct volume volume = { .kind = "cuda", .program = "tests/cuda/test_random", .count = 20,
				       .long_count = 2000, .draws = 3, .batch = 10,
				       .first_row = n_variants_of_processors(), .n_rows = 1,
				       .rows = 1, .long_rows = 1 };

	return volume_main(&volume, argc, argv);
}
