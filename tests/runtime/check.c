/* SPDX-License-Identifier: MIT
 *
 * See check.h. The allocator puts the size of a block before it, 64 bytes apart, so that a release with
 * another size is found, and fills what it hands out, so that nothing can rely on zeros. */
#include "runtime/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD = 64 };

void check(struct tests *tests, bool ok, const char *file, int line, const char *text)
{
	if (ok) {
		tests->passed++;
		return;
	}
	tests->failed++;
	fprintf(stderr, "%s:%d: %s\n", file, line, text);
}

void check_fails(struct tests *tests, pmg_status status, const pmg_context *context, pmg_status wanted,
		 const char *message, const char *file, int line)
{
	char text[1600];

	snprintf(text, sizeof text, "status %d, wanted %d\n\tgot:    %s\n\twanted: %s", (int) status,
		 (int) wanted, pmg_message(context), message);
	check(tests, status == wanted && strcmp(pmg_message(context), message) == 0, file, line, text);
}

static void *counter_allocate(void *user, size_t size)
{
	struct counter *counter = user;
	char *block;

	counter->n_allocated++;
	if (counter->n_allocated == counter->fail_at)
		return NULL;
	block = aligned_alloc(64, HEAD + (size + 63) / 64 * 64);
	if (!block)
		return NULL;
	memset(block + HEAD, 0xa5, size);
	memcpy(block, &size, sizeof size);
	counter->n_live++;
	counter->live_bytes += size;
	if (counter->live_bytes > counter->most_bytes)
		counter->most_bytes = counter->live_bytes;
	return block + HEAD;
}

static void counter_release(void *user, void *memory, size_t size)
{
	struct counter *counter = user;
	char *block = (char *) memory - HEAD;

	if (memcmp(block, &size, sizeof size) != 0)
		abort();
	counter->n_live--;
	counter->live_bytes -= size;
	free(block);
}

pmg_allocator counter_allocator(struct counter *counter)
{
	const pmg_allocator allocator = { counter_allocate, counter_release, counter };

	return allocator;
}

bool suits_none(const void *args)
{
	(void) args;
	return false;
}
