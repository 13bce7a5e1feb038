/* SPDX-License-Identifier: MIT
 *
 * What is known of a compiler by its command. The file of a program tells which one it is, but not that of a wrapper:
 * a script, `ccache gcc`, or `gcc` where that is a link to ccache. What it starts may be another compiler tomorrow, so
 * it is asked for its version. Others are not, since clang takes 30 ms to answer. */
#include "run/run.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Of all that the process prints. */
static uint64_t sum_of_output(int output)
{
	char bytes[4096];
	uint64_t sum = 0;
	ssize_t n;
	while ((n = read(output, bytes, sizeof(bytes))) > 0 || (n < 0 && errno == EINTR))
		if (n > 0)
			sum = cache_sum(sum, bytes, (size_t) n);
	return sum;
}

static int wait_for(pid_t process)
{
	int status;
	while (waitpid(process, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return status;
}

static bool start(const word_list *words, const int ends[2], pid_t *process)
{
	posix_spawn_file_actions_t actions;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	int error = posix_spawnp(process, words->items[0], &actions, NULL, (char *const *) (uintptr_t) words->items,
				 environ);
	posix_spawn_file_actions_destroy(&actions);
	return error == 0;
}

static word_list words_of(struct arena *arena, const char *command)
{
	word_list words = { 0 };
	char *rest = arena_string(arena, command);
	for (char *word = strsep(&rest, " "); word; word = strsep(&rest, " "))
		if (*word)
			vec_push(arena, &words, word);
	return words;
}

static bool is_script(const char *path)
{
	char begin[2] = "";
	int file = open(path, O_RDONLY | O_CLOEXEC);
	bool is = file >= 0 && pread(file, begin, 2, 0) == 2 && memcmp(begin, "#!", 2) == 0;
	if (file >= 0)
		close(file);
	return is;
}

/* Links lead to names that are longer or shorter, as gcc does to x86_64-linux-gnu-gcc-12 and clang-14 to clang. */
static bool is_wrapper(const word_list *words, const char *path)
{
	char *real = realpath(path, NULL);
	const char *name = file_name(path), *real_name = real ? file_name(real) : "";
	bool is = (words->n > 1 && words->items[1][0] != '-') || !real || is_script(path) ||
		  !(strstr(real_name, name) || strstr(name, real_name));
	free(real);
	return is;
}

static uint64_t version_of(struct arena *arena, word_list *words)
{
	uint64_t sum = 0;
	int ends[2];
	pid_t process;
	vec_push(arena, words, "--version");
	vec_push(arena, words, NULL);
	if (pipe2(ends, O_CLOEXEC) != 0)
		return 0;
	bool is_started = start(words, ends, &process);
	close(ends[1]);
	if (is_started) {
		sum = sum_of_output(ends[0]);
		sum = cache_sum(sum, &(int){ wait_for(process) }, sizeof(int));
	}
	close(ends[0]);
	return sum;
}

uint64_t compiler_version(struct arena *arena, const char *command, const char *path)
{
	word_list words = words_of(arena, command);
	return words.n > 0 && path && is_wrapper(&words, path) ? version_of(arena, &words) : 0;
}
