/* SPDX-License-Identifier: MIT
 *
 * What a user may have meant who names an HDF5 file, or a group in it, where something else in it fits. */
#include "run/run.h"

#include <string.h>

/* The last group in a file that has an array called `member`. */
struct search {
	const char *member;
	char path[NAME_BYTES];
};

static void search_entry(const struct tree_entry *entry, void *user)
{
	struct search *search = user;
	const char *slash = strrchr(entry->path, '/');
	if (entry->is_array && slash && strcmp(slash + 1, search->member) == 0)
		snprintf(search->path, sizeof(search->path), "%.*s", (int) (slash - entry->path),
			 entry->path);
}

void suggest_object(struct session *s, const char *name, const char *member,
			   const struct content *content, const char *source, struct failure *failure)
{
	struct location location;
	struct failure ignored;
	struct search search = { .member = member };
	if (!location_parse(&location, s->arena, source, &ignored) || !location.format ||
	    location.format->read != hdf5_read)
		return;
	if (!member && content->n_members > 0)
		fail_help(failure, "name one of them: %s=%s:%s/%s", name, location.path,
			  strcmp(content->inner, "/") == 0 ? "" : content->inner, content->members[0].name);
	else if (member && hdf5_list(location.path, search_entry, &search, &ignored) && *search.path)
		fail_help(failure, "did you mean %s=%s:%s?", name, location.path, search.path);
	else
		fail_help(failure, "'pmg inspect %s' lists what there is", location.path);
}
