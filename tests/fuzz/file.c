/* SPDX-License-Identifier: MIT
 *
 * libFuzzer: any bytes as a file of numbers, of the format that SUFFIX names. What is read must be whole: its values
 * are summed up, which touches each of them. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "formats/formats.h"
#include "fuzz/put_file.h"

#ifndef SUFFIX
#define SUFFIX ".npy"
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena arena = { 0 };
	struct failure failure = { 0 };
	struct location location;
	struct content content = { 0 };
	char path[64];

	snprintf(path, sizeof path, "/tmp/pmg-fuzz-%ld%s", (long) getpid(), SUFFIX);
	put_file(path, data, size);
	if (location_parse(&location, &arena, path, &failure) &&
	    content_read(&location, &(struct wish) { 0 }, &content, &failure)) {
		for (int i = 0; i < content.n_members; i++)
			(void) ndarray_summary(&content.members[i].array);
		content_free(&content);
	}
	unlink(path);
	arena_release(&arena);
	return 0;
}
