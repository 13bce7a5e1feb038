/* SPDX-License-Identifier: MIT
 *
 * Many readers work in a child process, whose counts of edges libFuzzer would not see: they are put into memory that
 * both share. The first file of a program, so that nothing lies before the counts on their first page; behind them on
 * their last one are constants. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096 };

/* The section where clang puts its counts, and the linker's name for its end. */
static uint8_t counters[0] __attribute__((section("__sancov_cntrs"), aligned(PAGE), used));
extern uint8_t counters_end[] __asm__("__stop___sancov_cntrs") __attribute__((weak, visibility("hidden")));

int LLVMFuzzerInitialize(int *argc, char ***argv);

#ifdef __clang__
/* With counts of its own clang would take the name for another variable. */
__attribute__((no_sanitize("coverage")))
#endif
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const size_t size = ((uintptr_t) counters_end - (uintptr_t) counters + PAGE - 1) / PAGE * PAGE;
	void *old = malloc(size);

	(void) argc;
	(void) argv;
	if (!old)
		abort();
	memcpy(old, counters, size);
	if (mmap(counters, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != counters)
		abort();
	memcpy(counters, old, size);
	free(old);
	return 0;
}
