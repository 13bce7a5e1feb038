/* SPDX-License-Identifier: MIT
 *
 * What a file holds. A sparse tensor is a list of members like a group is, in a fixed order: one coordinate
 * array for each mode, then the values; coordinates count from 0 whatever the file does. */
#include "formats/formats.h"

#include <stdlib.h>
#include <string.h>

#include "formats/streams.h"

bool wish_names(const struct wish *wish, const char *name)
{
	for (int i = 0; wish && i < wish->n_names; i++)
		if (strcmp(wish->names[i], name) == 0)
			return true;
	return false;
}

bool wish_takes(const struct wish *wish, const char *name)
{
	return !wish || wish->n_names == 0 || wish_names(wish, name) ||
	       (wish->besides && strcmp(wish->besides, name) == 0);
}

struct member *content_add(struct content *content, const char *name, struct failure *failure)
{
	size_t n = (size_t) content->n_members;
	struct member *members = realloc(content->members, (n + 1) * sizeof(*members));
	if (!members) {
		fail_memory(failure, "a list of arrays");
		return NULL;
	}
	content->members = members;
	content->n_members++;
	members[n] = (struct member){ 0 };
	snprintf(members[n].name, sizeof(members[n].name), "%s", name);
	return &members[n];
}

bool content_borrow(struct content *content, const char *name, pmg_type type, int rank, int64_t rows, int64_t columns,
		    void *data, struct failure *failure)
{
	struct member *member = data ? content_add(content, name, failure) : NULL;
	if (member)
		member->array = (struct ndarray){
			.type = type, .rank = rank, .shape = { rows, columns }, .data = data
		};
	return member || !data;
}

bool hdf5_write_borrowed(struct content *content, const char *path, const char *inner, bool ok,
			 struct failure *failure)
{
	struct location location = { .path = (char *) (uintptr_t) path,
				     .inner = (char *) (uintptr_t) inner,
				     .rank = -1,
				     .base = -1 };
	ok = ok && hdf5_write(&location, content, failure);
	for (int i = 0; i < content->n_members; i++)
		content->members[i].array.data = NULL;
	content_free(content);
	return ok;
}

/* A message about the part is one about the file. */
static void name_whole(const struct output *out, struct failure *failure)
{
	const size_t size = strlen(failure->text), n = strlen(out->part), n_whole = strlen(out->path);
	if (size < n || memcmp(failure->text, out->part, n) != 0)
		return;
	memmove(failure->text + n_whole, failure->text + n, size - n + 1);
}

bool hdf5_write_whole(const char *path, bool (*fill)(void *user, const char *path, struct failure *failure),
		      void *user, struct failure *failure)
{
	struct output out;
	if (!output_open(&out, path, failure))
		return false;
	remove(out.part);
	bool ok = fill(user, out.part, failure);
	if (!ok)
		name_whole(&out, failure);
	return output_close(&out, ok, failure) && ok;
}

bool content_add_attribute(struct content *content, const char *name, int64_t value, struct failure *failure)
{
	size_t n = (size_t) content->n_attributes;
	struct attribute *attributes = realloc(content->attributes, (n + 1) * sizeof(*attributes));
	if (!attributes)
		return fail_memory(failure, "a list of attributes");
	content->attributes = attributes;
	content->n_attributes++;
	attributes[n].value = value;
	snprintf(attributes[n].name, sizeof(attributes[n].name), "%s", name);
	return true;
}

const struct attribute *content_attribute(const struct content *content, const char *name)
{
	for (int i = 0; i < content->n_attributes; i++)
		if (strcmp(content->attributes[i].name, name) == 0)
			return &content->attributes[i];
	return NULL;
}

struct member *content_find(const struct content *content, const char *name)
{
	for (int i = 0; i < content->n_members; i++)
		if (strcmp(content->members[i].name, name) == 0)
			return &content->members[i];
	return NULL;
}

bool content_is_array(const struct content *content)
{
	return content->kind == CONTENT_ARRAY || content->kind == CONTENT_FLAT;
}

void content_free(struct content *content)
{
	for (int i = 0; i < content->n_members; i++)
		ndarray_free(&content->members[i].array);
	free(content->members);
	free(content->attributes);
	memset(content, 0, sizeof(*content));
}

/* ---- Tensors ----------------------------------------------------------------------- */

static void swap_members(struct member *a, struct member *b)
{
	struct member old = *a;
	*a = *b;
	*b = old;
}

static void drop_members_after(struct content *content, int n)
{
	for (int i = n; i < content->n_members; i++)
		ndarray_free(&content->members[i].array);
	content->n_members = n;
}

void content_pick(struct content *group, const char *name)
{
	struct member *member = name ? content_find(group, name) : NULL;
	if (group->n_members == 1)
		member = &group->members[0];
	if (!member)
		return;
	swap_members(&group->members[0], member);
	drop_members_after(group, 1);
	group->kind = CONTENT_ARRAY;
}

bool group_looks_like_tensor(const struct content *group)
{
	const struct member *value = content_find(group, "value");
	for (int i = 0; value && i < group->n_members; i++) {
		const struct member *member = &group->members[i];
		if (member->array.rank != 1 || member->array.shape[0] != value->array.shape[0] ||
		    (member != value && !type_holds_integers(member->array.type)))
			return false;
	}
	return value && group->n_members >= 2 && group->n_members <= PMG_MAX_RANK;
}

bool content_as_tensor(struct content *content, const char *const *modes, int n_modes)
{
	if (content->kind != CONTENT_GROUP || n_modes > PMG_MAX_RANK || !content_find(content, "value"))
		return false;
	for (int m = 0; m < n_modes; m++)
		if (!content_find(content, modes[m]))
			return false;
	for (int m = 0; m <= n_modes; m++) {
		const char *name = m < n_modes ? modes[m] : "value";
		swap_members(&content->members[m], content_find(content, name));
	}
	drop_members_after(content, n_modes + 1);
	content->kind = CONTENT_TENSOR;
	for (int m = 0; m < n_modes; m++) {
		char name[32];
		snprintf(name, sizeof(name), "shape.%d", m);
		const struct attribute *stated = content_attribute(content, name);
		content->sizes[m] = stated ? stated->value : -1;
	}
	return true;
}

/* Coordinates that are floats are whole numbers. */
static bool mode_as_integers(struct member *mode, const char *what, struct failure *failure)
{
	char name[3 * NAME_BYTES];
	snprintf(name, sizeof(name), "%.500s%s%s", what, *mode->name ? ": " : "", mode->name);
	return type_holds_integers(mode->array.type) || ndarray_convert(&mode->array, PMG_I64, name, failure);
}

static bool check_mode(const struct content *tensor, int mode, const char *what, struct failure *failure)
{
	const struct ndarray *array = &tensor->members[mode].array;
	int64_t n = ndarray_count(array), size = tensor->sizes[mode];
	for (int64_t i = 0; i < n; i++) {
		int64_t at = ndarray_integer(array, i);
		if (at < 0)
			return fail(failure, OUTCOME_DATA,
				    "%s: entry %lld has coordinate %lld in mode %d, which is negative", what,
				    (long long) i, (long long) at, mode);
		if (size >= 0 && at >= size)
			return fail(failure, OUTCOME_DATA,
				    "%s: entry %lld has coordinate %lld in mode %d, whose size is %lld by the file "
				    "(coordinates count from 0)", what, (long long) i, (long long) at, mode,
				    (long long) size);
	}
	return true;
}

bool tensor_check(struct content *tensor, const char *what, struct failure *failure)
{
	int n_modes = tensor->n_members - 1;
	const struct ndarray *value = &tensor->members[n_modes].array;
	const struct attribute *base = content_attribute(tensor, "index_base");
	if (base && base->value != 0)
		return fail(failure, OUTCOME_DATA,
			    "%s: its attribute index_base is %lld; coordinates must count from 0", what,
			    (long long) base->value);
	for (int m = 0; m <= n_modes; m++) {
		struct ndarray *array = &tensor->members[m].array;
		if (array->rank != 1 || array->shape[0] != value->shape[0])
			return fail(failure, OUTCOME_DATA, "%s: '%s' is not a list as long as the values",
				    what, tensor->members[m].name);
		if (m < n_modes && !(mode_as_integers(&tensor->members[m], what, failure) &&
				     check_mode(tensor, m, what, failure)))
			return false;
	}
	return true;
}

int64_t tensor_extent(const struct content *tensor, int mode)
{
	const struct ndarray *array = &tensor->members[mode].array;
	int64_t extent = 0, n = ndarray_count(array);
	if (tensor->sizes[mode] >= 0)
		return tensor->sizes[mode];
	for (int64_t i = 0; i < n; i++) {
		int64_t at = ndarray_integer(array, i);
		extent = at >= extent ? at + 1 : extent;
	}
	return extent;
}
