/* SPDX-License-Identifier: MIT
 *
 * The name under which a library is kept: a sum of all that it, or what is told while it is compiled, depends on. These
 * are the texts of the program and of files that it names, the pipeline, options of the passes, sizes that are compiled
 * in, this build of the tool, the runtime and its headers, the compilers, what they read of the environment, and the
 * processor. Files of programs are known by their place, size and time, as a compiler takes long to read. The name is
 * there before any pass has run. */
#include "run/run.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct sum {
	struct arena *arena;
	uint64_t value;
	bool is_whole;  /* nothing is unknown that it depends on */
};

uint64_t cache_sum(uint64_t sum, const void *bytes, size_t n)
{
	const unsigned char *next = bytes;
	for (size_t i = 0; i < n; i++)
		sum = (sum ^ next[i]) * 0x100000001b3u;
	return sum;
}

static void add_text(struct sum *sum, const char *text)
{
	sum->value = text ? cache_sum(sum->value, text, strlen(text) + 1) : cache_sum(sum->value, "\xff", 1);
}

static void add_number(struct sum *sum, int64_t value)
{
	sum->value = cache_sum(sum->value, &value, sizeof(value));
}

/* ---- Files ---------------------------------------------------------------------------------- */

static bool add_file(struct sum *sum, const char *path)
{
	struct stat status;
	if (stat(path, &status) != 0)
		return false;
	add_text(sum, path);
	add_number(sum, status.st_size);
	add_number(sum, status.st_mtim.tv_sec);
	add_number(sum, status.st_mtim.tv_nsec);
	add_number(sum, (int64_t) status.st_ino);
	return true;
}

static void add_tool(struct sum *sum)
{
	char path[4096] = "";
	if (readlink("/proc/self/exe", path, sizeof(path) - 1) <= 0 || !add_file(sum, path))
		sum->is_whole = false;
}

/* Of files whose names begin so, in any order of the folder. */
static void add_headers(struct sum *sum, const char *folder, const char *beginning)
{
	uint64_t all = 0;
	DIR *names = opendir(folder);
	for (struct dirent *entry = names ? readdir(names) : NULL; entry; entry = readdir(names)) {
		struct sum one = { .arena = sum->arena };
		if (strncmp(entry->d_name, beginning, strlen(beginning)) == 0 &&
		    add_file(&one, arena_printf(sum->arena, "%s/%s", folder, entry->d_name)))
			all += one.value;
	}
	if (names)
		closedir(names);
	add_number(sum, (int64_t) all);
}

static void add_runtime(struct session *s, struct sum *sum)
{
	struct failure failure = { 0 };
	const char *include, *lib;
	if (!build_find_runtime(s, &include, &lib, &failure)) {
		sum->is_whole = false;
		return;
	}
	add_headers(sum, include, "pmgrt");
	add_headers(sum, arena_printf(s->arena, "%s/tune", include), "memory_policy.h");
	if (!add_file(sum, arena_printf(s->arena, "%s/libpmgrt.so", lib)))
		sum->is_whole = false;
}

/* Where PATH has it; NULL: nowhere. */
static const char *find_program(struct arena *arena, const char *name)
{
	const char *path = getenv("PATH");
	if (strchr(name, '/'))
		return name;
	char *folders = arena_string(arena, path ? path : "/bin:/usr/bin");
	for (char *folder = strsep(&folders, ":"); folder; folder = strsep(&folders, ":")) {
		const char *file = arena_printf(arena, "%s/%s", *folder ? folder : ".", name);
		if (access(file, X_OK) == 0)
			return file;
	}
	return NULL;
}

/* The program that its first word names. */
static void add_compiler(struct sum *sum, const char *command)
{
	char *rest = arena_string(sum->arena, command + strspn(command, " "));
	const char *program = find_program(sum->arena, strsep(&rest, " "));
	add_text(sum, command);
	if (program)
		add_file(sum, program);
	add_number(sum, (int64_t) compiler_version(sum->arena, command, program));
}

/* ---- The machine ------------------------------------------------------------------------------ */

/* -arch=native is code for the GPUs of this machine. */
static void add_host(struct sum *sum)
{
	char name[256] = "";
	if (gethostname(name, sizeof(name) - 1) != 0)
		sum->is_whole = false;
	add_text(sum, name);
}

/* Code for one processor may not run on another that shares the folder. */
static void add_processor(struct sum *sum)
{
	char line[8192];
	bool is_known = false;
	FILE *file = fopen("/proc/cpuinfo", "re");
	while (file && !is_known && fgets(line, sizeof(line), file))
		if (strncmp(line, "flags", 5) == 0 || strncmp(line, "Features", 8) == 0 ||
		    strncmp(line, "model name", 10) == 0) {
			add_text(sum, line);
			is_known = line[0] != 'm';
		}
	if (!file || ferror(file))
		sum->is_whole = false;
	if (file)
		fclose(file);
}

/* What compilers and linkers read. */
static void add_environment(struct sum *sum)
{
	static const char *const names[] = {
		"CPATH", "C_INCLUDE_PATH", "LIBRARY_PATH", "COMPILER_PATH", "GCC_EXEC_PREFIX", "LD_RUN_PATH",
		"CCC_OVERRIDE_OPTIONS", "PMG_HOME", "CUDA_HOME", "NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS",
		"NVCC_CCBIN", "CUDA_VISIBLE_DEVICES"
	};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		add_text(sum, getenv(names[i]));
}

/* ---- The program ------------------------------------------------------------------------------- */

static void add_sources(struct session *s, struct sum *sum)
{
	const struct sources *sources = &s->c->sources;
	for (int i = 0; i < sources->files.n; i++) {
		add_text(sum, sources->files.items[i]->name);
		sum->value = cache_sum(sum->value, sources->files.items[i]->text, sources->files.items[i]->size);
	}
	add_text(sum, s->module->name);
}

static void add_options(struct session *s, struct sum *sum)
{
	add_text(sum, compilation_options_text(s->c));
	add_number(sum, s->values.remarks);
	add_number(sum, s->messages);
	for (int i = 0; i < s->sizes.n; i++)
		add_number(sum, size_is_compiled_in(s, i) ? s->sizes.items[i].value : -1);
}

const char *cache_name(struct session *s)
{
	struct sum sum = { s->arena, 0xcbf29ce484222325u, true };
	add_sources(s, &sum);
	add_options(s, &sum);
	add_tool(&sum);
	add_runtime(s, &sum);
	add_compiler(&sum, build_cc(&s->values));
	add_text(&sum, s->values.target);
	if (compilation_device_ending(s->c)) {
		struct failure failure = { 0 };
		const char *nvcc = build_nvcc(s->arena, &s->values, &failure);
		add_compiler(&sum, nvcc ? nvcc : "nvcc");
		add_host(&sum);
	}
	add_environment(&sum);
	add_processor(&sum);
	return sum.is_whole ? arena_printf(s->arena, "%s-%016" PRIx64 ".so", s->module->name, sum.value) : NULL;
}
