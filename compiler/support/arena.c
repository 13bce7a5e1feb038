/* SPDX-License-Identifier: MIT
 *
 * The arena: blocks from calloc, chained, handed out from the front and freed together.
 * Invariant: the first block of the chain is the one allocations come from; what lies behind its `used`
 * mark is still zero. A request that fills more than a quarter of a block gets a block of its own, put
 * second in the chain, so that the rest of the first one stays in use. Once memory has run out, the reserve is the
 * first block and all that is left. */
#include "support/support.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK_SIZE = 1 << 16, ALIGNMENT = _Alignof(max_align_t) };

struct arena_block {
	struct arena_block *next;
	size_t used, size;
	max_align_t data[];
};

static _Noreturn void arena_fail(struct arena *arena)
{
	if (arena->on_failure == NULL)
		abort();
	longjmp(*arena->on_failure, 1);
}

/* NULL: no memory. */
static struct arena_block *block_new(size_t size)
{
	struct arena_block *block = size <= SIZE_MAX - sizeof *block ? calloc(1, sizeof *block + size) : NULL;

	if (block != NULL)
		block->size = size;
	return block;
}

static size_t block_room(const struct arena_block *block)
{
	return block != NULL ? block->size - block->used : 0;
}

static void *block_take(struct arena_block *block, size_t size)
{
	void *memory = (char *) block->data + block->used;

	block->used += size;
	return memory;
}

void arena_exhaust(struct arena *arena)
{
	if (arena->reserve == NULL)
		return;
	arena->reserve->next = arena->blocks;
	arena->blocks = arena->reserve;
	arena->reserve = NULL;
	arena->is_exhausted = true;
}

static void *arena_alloc_exhausted(struct arena *arena, size_t size)
{
	arena_exhaust(arena);
	if (!arena->is_exhausted || block_room(arena->blocks) < size)
		arena_fail(arena);
	return block_take(arena->blocks, size);
}

static void *arena_alloc_alone(struct arena *arena, size_t size)
{
	struct arena_block *block = block_new(size);

	if (block == NULL)
		return arena_alloc_exhausted(arena, size);
	if (arena->blocks != NULL) {
		block->next = arena->blocks->next;
		arena->blocks->next = block;
	} else {
		arena->blocks = block;
	}
	return block_take(block, size);
}

bool arena_reserve(struct arena *arena, size_t size)
{
	arena->reserve = block_new(size);
	return arena->reserve != NULL;
}

static size_t round_up(struct arena *arena, size_t size)
{
	if (size > SIZE_MAX - ALIGNMENT)
		arena_fail(arena);
	return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

void *arena_alloc(struct arena *arena, size_t size)
{
	size_t rounded = round_up(arena, size == 0 ? 1 : size);
	struct arena_block *block;

	arena->allocated += rounded;
	if (arena->is_exhausted || (arena->fails != NULL && arena->fails()))
		return arena_alloc_exhausted(arena, rounded);
	if (rounded > BLOCK_SIZE / 4)
		return arena_alloc_alone(arena, rounded);
	if (block_room(arena->blocks) < rounded) {
		block = block_new(BLOCK_SIZE);
		if (block == NULL)
			return arena_alloc_exhausted(arena, rounded);
		block->next = arena->blocks;
		arena->blocks = block;
	}
	return block_take(arena->blocks, rounded);
}

void *arena_alloc_array(struct arena *arena, size_t n, size_t size)
{
	if (size != 0 && n > SIZE_MAX / size)
		arena_fail(arena);
	return arena_alloc(arena, n * size);
}

char *arena_copy(struct arena *arena, const char *text, size_t length)
{
	char *copy;

	if (length == SIZE_MAX)
		arena_fail(arena);
	copy = arena_alloc(arena, length + 1);
	if (length > 0)
		memcpy(copy, text, length);
	return copy;
}

char *arena_string(struct arena *arena, const char *text)
{
	return arena_copy(arena, text, strlen(text));
}

char *arena_vprintf(struct arena *arena, const char *format, va_list args)
{
	va_list again;
	char *text;
	int length;

	va_copy(again, args);
	length = vsnprintf(NULL, 0, format, args);
	if (length < 0) {
		va_end(again);
		arena_fail(arena);
	}
	text = arena_alloc(arena, (size_t) length + 1);
	vsnprintf(text, (size_t) length + 1, format, again);
	va_end(again);
	return text;
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	text = arena_vprintf(arena, format, args);
	va_end(args);
	return text;
}

void arena_release(struct arena *arena)
{
	struct arena_block *block = arena->blocks;

	while (block != NULL) {
		struct arena_block *next = block->next;

		free(block);
		block = next;
	}
	free(arena->reserve);
	arena->blocks = arena->reserve = NULL;
	arena->allocated = 0;
	arena->is_exhausted = false;
}
