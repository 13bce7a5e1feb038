/* SPDX-License-Identifier: MIT
 *
 * Libraries that sessions of one process share. Who measures or compares runs the same program with other data and
 * options of the plan, and mostly gets the same text of C, whose compilation takes far longer than to print it. */
#include "run/run.h"

#include <string.h>

/* All that a library is made of, but for the runtime, which stays the same. NULL after a failure. */
static const char *key_of(struct session *s, const struct build *build, struct failure *failure)
{
	const char *cc = s->values.cc ? s->values.cc : "", *device_text = s->c->device_text, *nvcc = "";
	if (device_text && !(nvcc = build_nvcc(s->arena, &s->values, failure)))
		return NULL;
	return arena_printf(s->arena, "%s\n%s\n%s\n%s\n%s", cc, nvcc, build->h_text, build->c_text,
			    device_text ? device_text : "");
}

static const pmg_pipeline_desc *find_shared(const library_list *libraries, const char *key)
{
	for (int i = 0; i < libraries->n; i++)
		if (strcmp(libraries->items[i].key, key) == 0)
			return libraries->items[i].desc;
	return NULL;
}

bool library_share(struct session *s, library_list *libraries, struct results *results, struct execution *e,
		   struct failure *failure)
{
	struct build build;
	const char *key = build_generate(s, &build, failure) ? key_of(s, &build, failure) : NULL;
	if (!key)
		return false;
	const pmg_pipeline_desc *desc = find_shared(libraries, key);
	if (desc)
		return library_attach(s, desc, results, e, failure);
	build.number = libraries->n;
	bool ok = build_compile(s, &build, failure) && library_load(s, build.library, results, e, failure);
	build_remove(&build);
	if (ok)
		vec_push(s->arena, libraries, ((struct shared_library){ key, e->desc }));
	return ok;
}
