/* SPDX-License-Identifier: MIT
 *
 * Kernels by hand for a GPU: a .cu file of bench/handtuned is compiled by nvcc when it is first asked for, and loaded.
 * The library also has what is needed of CUDA, so that nothing else knows of it. */
#include "program.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool compile(struct arena *arena, const struct run_values *run, const char *name, const char *library,
		    struct failure *failure)
{
	const char *nvcc = build_nvcc(arena, run, failure);
	const char *source = nvcc ? bench_find_file(arena, arena_printf(arena, "bench/handtuned/%s.cu", name), failure)
				  : NULL;
	if (!source)
		return false;
	const char *command = arena_printf(arena,
					   "%s -std=c++17 -O3 -shared -Xcompiler -fPIC,-fopenmp "
					   "'%s' -o '%s' -lcusparse >&2",
					   nvcc, source, library);
	if (system(command) == 0)
		return true;
	fail(failure, OUTCOME_C_COMPILER, "the CUDA compiler fails on %s", source);
	fail_help(failure, "--nvcc COMMAND takes another one");
	return false;
}

static void *load(const char *library, const char *symbol, struct failure *failure)
{
	void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	void *found = handle ? dlsym(handle, symbol) : NULL;
	if (!found)
		fail(failure, OUTCOME_RESOURCES, "cannot load the kernels by hand: %s", dlerror());
	return found;
}

void *device_library(struct arena *arena, const struct run_values *run, const char *name, const char *symbol,
		     struct failure *failure)
{
	char folder[] = "/tmp/pmg-gpu-XXXXXX";
	if (!mkdtemp(folder)) {
		fail_file(failure, "/tmp", "cannot make a folder in it:");
		return NULL;
	}
	const char *library = arena_printf(arena, "%s/%s.so", folder, name);
	scratch_add(folder);
	scratch_add(library);
	void *found = compile(arena, run, name, library, failure) ? load(library, symbol, failure) : NULL;
	scratch_remove(library);
	scratch_remove(folder);
	return found;
}
