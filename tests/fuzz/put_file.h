/* SPDX-License-Identifier: MIT
 *
 * What an input becomes for readers that open files: one below /tmp, of this process alone. */
#ifndef PMGC_TESTS_FUZZ_PUT_FILE_H
#define PMGC_TESTS_FUZZ_PUT_FILE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static inline void put_file(const char *path, const uint8_t *data, size_t size)
{
	FILE *file = fopen(path, "wb");

	if (!file || fwrite(data, 1, size, file) != size || fclose(file) != 0)
		abort();
}

#endif
