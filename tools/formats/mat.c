/* SPDX-License-Identifier: MIT
 *
 * MATLAB's .mat. From version 7.3 on they are HDF5, with dimensions in reverse order and a header of MATLAB's own
 * before; of version 5 to 7, elements of its own. Shapes are those that MATLAB shows. */
#include <string.h>

#include "formats/mat_private.h"

/* HDF5 begins behind a header of 512 bytes, which has the number of the version. */
static bool is_hdf5(const char *path)
{
	unsigned char bytes[520];
	FILE *file = fopen(path, "rbe");
	size_t n = file ? fread(bytes, 1, sizeof(bytes), file) : 0;
	if (file)
		fclose(file);
	return (n == sizeof(bytes) && memcmp(bytes + 512, "\x89HDF\r\n\x1a\n", 8) == 0) ||
	       (n >= 8 && memcmp(bytes, "\x89HDF\r\n\x1a\n", 8) == 0);
}

static bool reverse_dimensions(struct ndarray *array, struct failure *failure)
{
	for (int d = 0; d < array->rank / 2; d++) {
		int64_t other = array->shape[d];
		array->shape[d] = array->shape[array->rank - 1 - d];
		array->shape[array->rank - 1 - d] = other;
	}
	return ndarray_from_columns(array, failure);
}

bool mat_read(const struct location *location, const struct wish *wish, struct content *content,
	      struct failure *failure)
{
	bool is_new = is_hdf5(location->path);
	if (!(is_new ? hdf5_read : mat5_read)(location, wish, content, failure))
		return false;
	for (int i = 0; i < content->n_members && is_new; i++)
		if (!reverse_dimensions(&content->members[i].array, failure))
			return false;
	if (!location->inner && content->kind == CONTENT_GROUP && !(wish && wish->n_names > 0))
		content_pick(content, wish ? wish->name : NULL);
	return true;
}

bool mat_list(const char *path, void (*visit)(const struct tree_entry *entry, void *user), void *user,
	      struct failure *failure)
{
	return (is_hdf5(path) ? hdf5_list : mat5_list)(path, visit, user, failure);
}
