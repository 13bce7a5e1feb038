/* SPDX-License-Identifier: MIT
 *
 * Files that must not outlive the process: parts of outputs that are not yet renamed, and the folder of a
 * compilation.
 *
 * A signal handler can reach nothing but static storage, so this table is the one piece of global state of
 * the tools. A row is in use when its first byte is set, which is written last; the handler calls only
 * functions that are safe in a handler. */
#include "cli/cli.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#define N_PATHS 64
#define PATH_BYTES 1024

static char paths[N_PATHS][PATH_BYTES];

static void remove_path(const char *path)
{
	if (unlink(path) != 0)
		rmdir(path);
}

static int find_path(const char *path)
{
	for (int i = 0; i < N_PATHS; i++)
		if (paths[i][0] && strcmp(paths[i], path) == 0)
			return i;
	return -1;
}

/* The newest file has the highest row, so that a folder is empty when its turn comes. */
bool scratch_add(const char *path)
{
	size_t length = strlen(path);
	int row = N_PATHS;
	while (row > 0 && !paths[row - 1][0])
		row--;
	if (length == 0 || length >= PATH_BYTES || row == N_PATHS)
		return false;
	memcpy(paths[row] + 1, path + 1, length);
	*(volatile char *) &paths[row][0] = path[0];
	return true;
}

void scratch_forget(const char *path)
{
	int row = find_path(path);
	if (row >= 0)
		*(volatile char *) &paths[row][0] = '\0';
}

void scratch_remove(const char *path)
{
	remove_path(path);
	scratch_forget(path);
}

void scratch_remove_all(void)
{
	for (int i = N_PATHS - 1; i >= 0; i--) {
		if (paths[i][0])
			remove_path(paths[i]);
		paths[i][0] = '\0';
	}
}

static volatile int *volatile held;

void scratch_hold_signals(volatile int *flag)
{
	held = flag;
}

static void end_by_signal(int number)
{
	if (held) {
		*held = number;
		held = NULL;
		return;
	}
	scratch_remove_all();
	signal(number, SIG_DFL);
	raise(number);
}

void scratch_catch_signals(void)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction action = { .sa_handler = end_by_signal, .sa_flags = SA_NODEFER };
	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		struct sigaction old;
		if (sigaction(numbers[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			sigaction(numbers[i], &action, NULL);
	}
	signal(SIGXFSZ, SIG_IGN);
}
