/* SPDX-License-Identifier: MIT
 *
 * Growth of the generic array: capacity doubles, the old storage stays in the arena. */
#include "support/support.h"

#include <limits.h>
#include <string.h>

/* Room for one item more than `n`: the storage to use from now on. An absurd length asks the arena for more
 * than there is, and so ends like any other exhaustion of memory. */
void *vec_reserve(struct arena *arena, void *items, int n, int *capacity, size_t size)
{
	void *grown;

	if (n < *capacity)
		return items;
	if (n > INT_MAX / 2)
		return arena_alloc(arena, SIZE_MAX);
	*capacity = n < 4 ? 4 : 2 * n;
	grown = arena_alloc_array(arena, (size_t) *capacity, size);
	if (n > 0)
		memcpy(grown, items, (size_t) n * size);
	return grown;
}
