/* SPDX-License-Identifier: MIT
 *
 * Libraries that sessions of one process share. Who measures or compares runs the same program with other data and
 * options of the plan, and mostly gets the same text of C, whose compilation takes far longer than to print it.
 *
 * A library stays in memory with its description, so that it may be attached to after its files are gone. The list also
 * has what could not be compiled: in a folder that --keep names, each text has a place of its own. */
#include "run/run.h"

#include <string.h>

static const char *folder_of(const struct session *s)
{
	return s->values.keep ? s->values.keep : "";
}

/* All that a library is made of, but for the runtime, which stays the same, and where it is kept. NULL after a
 * failure. */
static const char *key_of(struct session *s, const struct build *build, struct failure *failure)
{
	const char *device_text = s->c->device_text;
	const char *nvcc = device_text ? build_nvcc(s->arena, &s->values, failure) : "";
	return nvcc ? arena_printf(s->arena, "%s\n%s\n%s\n%s\n%s\n%s", folder_of(s), build_cc(&s->values), nvcc,
				   build->h_text, build->c_text, device_text ? device_text : "")
		    : NULL;
}

static const pmg_pipeline_desc *find_shared(const library_list *libraries, const char *key)
{
	for (int i = 0; i < libraries->n; i++)
		if (libraries->items[i].desc && strcmp(libraries->items[i].key, key) == 0)
			return libraries->items[i].desc;
	return NULL;
}

static int count_in_folder(const library_list *libraries, const char *folder)
{
	int n = 0;
	for (int i = 0; i < libraries->n; i++)
		n += strcmp(libraries->items[i].folder, folder) == 0;
	return n;
}

bool library_share(struct session *s, library_list *libraries, struct results *results, struct execution *e,
		   struct failure *failure)
{
	struct build build;
	*e = (struct execution){ 0 };
	const char *key = build_generate(s, &build, failure) ? key_of(s, &build, failure) : NULL;
	if (!key)
		return false;
	const pmg_pipeline_desc *desc = find_shared(libraries, key);
	if (desc)
		return library_attach(s, desc, results, e, failure);
	build.number = count_in_folder(libraries, folder_of(s));
	vec_push(s->arena, libraries, ((struct shared_library){ .key = key, .folder = folder_of(s) }));
	if (s->building && progress_is_overwritten())
		progress_tell("%s", s->building);
	bool ok = build_compile(s, &build, failure) && library_load(s, build.library, results, e, failure);
	if (s->building)
		progress_forget();
	build_remove(&build);
	libraries->items[libraries->n - 1].desc = e->desc;
	return ok;
}
