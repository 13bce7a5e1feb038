/* SPDX-License-Identifier: MIT
 *
 * The context: the one seam to memory, the message of the last failure, and what its plans know of the machine's free
 * processors. The message has a fixed buffer inside the context, so that running out of memory can be reported. */
#include "plan/plan.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

struct pmg_context {
	pmg_allocator allocator;
	char message[MESSAGE_BYTES];
	struct team team;
};

void *pmg_memory(size_t size)
{
	const bool is_large = size > INT64_MAX || pmg_takes_large_pages((int64_t) size);
	const size_t alignment = is_large ? PMG_LARGE_PAGE : PMG_ALIGNMENT;
	void *memory;

	if (size > SIZE_MAX - alignment)
		return NULL;
	size = (size + alignment - 1) / alignment * alignment;
	memory = aligned_alloc(alignment, size);
#ifdef MADV_HUGEPAGE
	if (memory && is_large)
		madvise(memory, size, MADV_HUGEPAGE);
#endif
	return memory;
}

static void *default_allocate(void *user, size_t size)
{
	(void) user;
	return pmg_memory(size);
}

static void default_release(void *user, void *memory, size_t size)
{
	(void) user;
	(void) size;
	free(memory);
}

pmg_context *pmg_context_new(const pmg_allocator *allocator)
{
	const pmg_allocator standard = { default_allocate, default_release, NULL };
	const pmg_allocator chosen = allocator ? *allocator : standard;
	pmg_context *context = chosen.allocate(chosen.user, sizeof *context);

	if (!context)
		return NULL;
	context->allocator = chosen;
	context->message[0] = '\0';
	context->team = (struct team) { 0 };
	return context;
}

void pmg_context_free(pmg_context *context)
{
	if (context) {
		pmg_allocator allocator = context->allocator;

		allocator.release(allocator.user, context, sizeof *context);
	}
}

const char *pmg_message(const pmg_context *context)
{
	return context ? context->message : "";
}

struct team *context_team(pmg_context *context)
{
	return &context->team;
}

void context_forget(pmg_context *context)
{
	context->message[0] = '\0';
}

pmg_status pmg_fail(pmg_context *context, pmg_status status, const char *format, ...)
{
	va_list args;

	if (!context)
		return status;
	va_start(args, format);
	vsnprintf(context->message, sizeof context->message, format, args);
	va_end(args);
	return status;
}

void *context_allocate(pmg_context *context, size_t size)
{
	return context->allocator.allocate(context->allocator.user, size);
}

void context_release(pmg_context *context, void *memory, size_t size)
{
	if (memory)
		context->allocator.release(context->allocator.user, memory, size);
}
