/* SPDX-License-Identifier: MIT
 *
 * Memory that runs out in the compiler: allocations of the arena fail while examples and test programs are compiled.
 * Each time the compilation says so, nothing crashes, and isl, which tells on the standard error when its objects
 * outlive it, stays silent. Where an allocation is to fail a process forks, whose compilation goes on without memory,
 * so that one compilation has all of them; what it does not give back is told when it ends. Every twelfth program is
 * taken, and its first and last allocation; with PMG_TEST_LONG each program, or those that are named, and every
 * allocation that no chain of callers before has asked for. Only with sanitizers: what is not given back is theirs to
 * find. */
#include <execinfo.h>
#include <isl/options.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "driver/pipeline.h"
#include "hines/tree_file.h"
#include "support/folder.h"

enum { CALLERS = 16, PROCESSES = 2, SLOTS = 1 << 20, EVERY = 12 };

static struct {
	bool takes_all;
	size_t all, tried, n_seen;
	int passed, failed, n_running;
} tally;

/* Of the program that is compiled: the arena has no room for it. */
static struct {
	const char *path;
	size_t at, last;                /* allocations until now; all of them, 0: not known yet */
	bool is_child;                  /* one has failed */
	int standard_error;             /* of the parent */
} now;

/* ---- chains of callers, the innermost ones ---- */

static uint64_t hash_of_callers(void)
{
	void *callers[CALLERS];
	int n = backtrace(callers, CALLERS);
	uint64_t hash = 14695981039346656037U;

	for (int i = 0; i < n; i++)
		hash = (hash ^ (uint64_t) (uintptr_t) callers[i])*1099511628211U;
	return hash ? hash : 1;
}

/* Where processes that look for leaks do not look. */
static uint64_t *new_slots(void)
{
	void *slots = mmap(NULL, SLOTS*sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (slots == MAP_FAILED)
		abort();
	return slots;
}

/* Is this chain of callers another one than those before? */
static bool is_new(void)
{
	static uint64_t *seen;
	uint64_t hash = hash_of_callers();
	size_t slot = hash % SLOTS;

	if (!seen)
		seen = new_slots();
	while (seen[slot] && seen[slot] != hash)
		slot = (slot + 1) % SLOTS;
	if (seen[slot])
		return false;
	seen[slot] = hash;
	if (++tally.n_seen == SLOTS)
		abort();
	return true;
}

/* ---- processes ---- */

/* What isl says goes to a file of this process alone. */
static void hide_messages(void)
{
	FILE *messages = tmpfile();

	now.standard_error = dup(STDERR_FILENO);
	if (!messages || dup2(fileno(messages), STDERR_FILENO) < 0)
		abort();
	fclose(messages);
}

static void await_one(void)
{
	int status = -1;

	wait(&status);
	tally.n_running--;
	if (status == 0) {
		tally.passed++;
		return;
	}
	tally.failed++;
	printf("%s: at or before allocation %zu: a process ended with %s %d\n", now.path, now.at,
	       WIFSIGNALED(status) ? "signal" : "status", WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

static bool fails(void)
{
	bool is_wanted;

	now.at++;
	is_wanted = tally.takes_all ? is_new() : now.last && (now.at == 1 || now.at == now.last);
	if (!is_wanted)
		return false;
	tally.tried++;
	if (tally.n_running == PROCESSES)
		await_one();
	fflush(stdout);
	now.is_child = fork() == 0;
	tally.n_running += !now.is_child;
	if (now.is_child)
		hide_messages();
	return now.is_child;
}

/* ---- one program ---- */

static bool compile(struct compilation *c, const char *path)
{
	const char *c_text, *h_text;

	c->options.overrides = false;
	c->options.candidates = 1;
	c->arena.fails = fails;
	return compilation_read(c, path) && compilation_run_passes(c) &&
	       compilation_generate(c, "out", &c_text, &h_text);
}

static bool check(bool ok, const char *what)
{
	if (!ok)
		printf("%s: allocation %zu: %s\n", now.path, now.at, what);
	return ok;
}

/* The process whose allocation has failed. What it has not given back is told, and makes an exit status of its own. */
static _Noreturn void end_child(struct compilation *c, bool compiles)
{
	bool ok = check(!compiles && c->is_out_of_memory, "compiles without memory");

	ok &= check(strstr(compilation_messages(c, true), "out of memory"), "says something else");
	isl_options_set_on_error(c->ctx, ISL_ON_ERROR_WARN);
	compilation_free(c);
	ok &= check(lseek(STDERR_FILENO, 0, SEEK_END) == 0, "isl objects outlive the compilation");
	dup2(now.standard_error, STDERR_FILENO);
	exit(ok ? EXIT_SUCCESS : EXIT_FAILURE);
}

static void compile_once(const char *path, size_t last)
{
	struct compilation *c = compilation_new();
	bool compiles;

	c->read_tree = tree_file_read;
	now.path = path;
	now.at = 0;
	now.last = last;
	compiles = compile(c, path);
	if (now.is_child)
		end_child(c, compiles);
	compilation_free(c);
	while (tally.n_running)
		await_one();
	if (!check(compiles, "does not compile"))
		tally.failed++;
}

static void check_program(const char *path, void *user)
{
	size_t before = tally.tried;

	(void) user;
	compile_once(path, 0);
	if (!tally.takes_all)
		compile_once(path, now.at);
	tally.all += now.at;
	if (tally.takes_all)
		printf("%s: %zu of %zu allocations\n", path, tally.tried - before, now.at);
}

int main(int argc, char **argv)
{
	tally.takes_all = argc > 1 || getenv("PMG_TEST_LONG");
	for (int i = 1; i < argc; i++)
		check_program(argv[i], NULL);
	if (argc == 1) {
		folder_each_nth("dsl_examples", EVERY, 0, check_program, NULL);
		folder_each_nth("tests/programs", EVERY, EVERY/2, check_program, NULL);
		check_program("tests/decide/known_tree.pmg", NULL);
	}
	printf("%zu of %zu allocations\n", tally.tried, tally.all);
	printf("%d passed, %d failed\n", tally.passed, tally.failed);
	return tally.failed || !tally.passed;
}
