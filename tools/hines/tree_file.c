/* SPDX-License-Identifier: MIT */
#include "hines/tree_file.h"

#include "hines/cells.h"

/* Memory that ends is the arena's matter; all else is what the file is told to be wrong with. */
static const char *problem_of(struct arena *arena, const struct failure *failure)
{
	if (failure->outcome == OUTCOME_RESOURCES)
		arena_exhaust(arena);
	return arena_string(arena, failure->text);
}

const char *tree_file_read(struct arena *arena, const char *path, const int64_t **parents, int64_t *n)
{
	const struct conventions conventions = { 0 };
	struct notes notes = { .arena = arena };
	struct failure failure;
	struct morphology m;
	int64_t *values;

	if (!swc_read(&m, path, &notes, &failure))
		return problem_of(arena, &failure);
	if (!morphology_apply(&m, &conventions, &notes, &failure)) {
		morphology_free(&m);
		return problem_of(arena, &failure);
	}
	values = arena_new_array(arena, int64_t, m.n);
	for (int64_t i = 0; i < m.n; i++)
		values[i] = m.points[i].parent;
	*parents = values;
	*n = m.n;
	morphology_free(&m);
	return NULL;
}
