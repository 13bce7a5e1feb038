/* SPDX-License-Identifier: MIT
 *
 * What is kept for later runs, in pmg/ of XDG_CACHE_HOME or ~/.cache: wisdom, and libraries of programs that the tool
 * carries. The name of a library is made of all that it depends on: the program, the options, this build of the tool,
 * the C compiler and the processor. */
#include "run/run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *cache_path(struct arena *arena, const char *name)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	if (cache && *cache)
		return arena_printf(arena, "%s/pmg/%s", cache, name);
	return home && *home ? arena_printf(arena, "%s/.cache/pmg/%s", home, name) : NULL;
}

void cache_make_folders(struct arena *arena, const char *path)
{
	char *copy = arena_string(arena, path);
	for (char *slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(copy, 0777);
		*slash = '/';
	}
}

/* ---- Names ------------------------------------------------------------------------------ */

static void add_text(uint64_t *sum, const char *text)
{
	for (; *text; text++)
		*sum = (*sum ^ (unsigned char) *text) * 0x100000001b3u;
	*sum = (*sum ^ 0xffu) * 0x100000001b3u;
}

/* Code for one processor may not run on another that shares the folder. False: the system does not say which it is. */
static bool add_processor(uint64_t *sum)
{
	char line[8192];
	bool is_known = false;
	FILE *file = fopen("/proc/cpuinfo", "re");
	while (file && !is_known && fgets(line, sizeof(line), file))
		if (strncmp(line, "flags", 5) == 0 || strncmp(line, "model name", 10) == 0) {
			add_text(sum, line);
			is_known = line[0] == 'f';
		}
	bool is_told = file && !ferror(file);
	if (file)
		fclose(file);
	return is_told;
}

static void add_number(struct arena *arena, uint64_t *sum, int64_t value)
{
	add_text(sum, arena_printf(arena, "%" PRId64, value));
}

/* False: it is not known which build this is. */
static bool add_tool(struct arena *arena, uint64_t *sum)
{
	char path[4096] = "";
	struct stat status;
	if (readlink("/proc/self/exe", path, sizeof(path) - 1) <= 0 || stat(path, &status) != 0)
		return false;
	add_text(sum, path);
	add_number(arena, sum, status.st_size);
	add_number(arena, sum, status.st_mtim.tv_sec);
	add_number(arena, sum, status.st_mtim.tv_nsec);
	return true;
}

/* NULL: nothing can be kept. */
static const char *library_path(struct session *s)
{
	const struct run_values *values = &s->values;
	uint64_t sum = 0xcbf29ce484222325u;
	const char *home = getenv("PMG_HOME");
	add_text(&sum, s->text);
	add_text(&sum, values->with ? values->with : "");
	add_text(&sum, build_cc(values));
	add_text(&sum, values->target);
	add_text(&sum, values->nvcc ? values->nvcc : "");
	add_text(&sum, values->arch ? values->arch : "");
	add_text(&sum, home ? home : "");
	add_number(s->arena, &sum, values->deterministic);
	if (!add_tool(s->arena, &sum) || !add_processor(&sum))
		return NULL;
	for (int i = 0; i < s->sizes.n; i++)
		add_number(s->arena, &sum, size_is_compiled_in(s, i) ? s->sizes.items[i].value : -1);
	return cache_path(s->arena, arena_printf(s->arena, "%s-%016" PRIx64 ".so", s->module->name, sum));
}

/* ---- Libraries -------------------------------------------------------------------------------- */

/* Only when it is whole, under its name; what cannot be kept is compiled the next time, too. */
static void keep(struct session *s, const char *library, const char *path)
{
	char buffer[1 << 16];
	const char *part = arena_printf(s->arena, "%s.part-%ld", path, (long) getpid());
	cache_make_folders(s->arena, path);
	FILE *from = fopen(library, "rbe"), *to = from ? fopen(part, "wbe") : NULL;
	bool ok = from && to;
	for (size_t n = ok ? fread(buffer, 1, sizeof(buffer), from) : 0; n > 0;
	     n = fread(buffer, 1, sizeof(buffer), from))
		ok = ok && fwrite(buffer, 1, n, to) == n;
	ok = ok && !ferror(from);
	if (from)
		fclose(from);
	if (to && fclose(to) != 0)
		ok = false;
	if (to && (!ok || rename(part, path) != 0))
		remove(part);
}

bool cache_load(struct session *s, struct results *results, struct execution *e, struct failure *failure)
{
	struct build build;
	const char *path = library_path(s);
	if (path && access(path, R_OK) == 0 && library_load(s, path, results, e, failure))
		return true;
	library_close(e);
	if (s->building)
		progress_tell("%s", s->building);
	bool ok = build_library(s, &build, failure);
	if (s->building)
		progress_forget();
	if (ok && path)
		keep(s, build.library, path);
	ok = ok && library_load(s, build.library, results, e, failure);
	build_remove(&build);
	return ok;
}
