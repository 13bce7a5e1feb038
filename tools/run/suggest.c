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

static bool find_group(const char *path, const char *member, struct search *search)
{
	struct failure ignored;
	*search = (struct search){ .member = member };
	return hdf5_list(path, search_entry, search, &ignored) && *search->path;
}

static bool is_hdf5(struct session *s, const char *source, struct location *location)
{
	struct failure ignored;
	return location_parse(location, s->arena, source, &ignored) && location->format &&
	       location->format->read == hdf5_read;
}

void suggest_forest(struct session *s, const char *source, struct failure *failure)
{
	struct location location;
	struct search search;
	if (is_hdf5(s, source, &location) && find_group(location.path, "offset", &search))
		fail_help(failure, "%s:%s is a Forest, for a pipeline such as hines_forest of dsl_examples/hines.pmg; "
			  "'pmg import swc FILE --systems=1' makes a Tree", location.path, search.path);
}

void suggest_object(struct session *s, const char *name, const char *member,
			   const struct content *content, const char *source, struct failure *failure)
{
	struct location location;
	struct search search;
	if (!is_hdf5(s, source, &location))
		return;
	if (!member && content->n_members > 0)
		fail_help(failure, "name one of them: %s=%s:%s/%s", name, location.path,
			  strcmp(content->inner, "/") == 0 ? "" : content->inner, content->members[0].name);
	else if (member && find_group(location.path, member, &search))
		fail_help(failure, "did you mean %s=%s:%s?", name, location.path, search.path);
	else if (member && strcmp(member, "offset") == 0 && find_group(location.path, "parent", &search))
		fail_help(failure, "%s:%s is a Tree, for a pipeline such as hines of dsl_examples/hines.pmg; "
			  "'pmg import' without --systems makes a Forest", location.path, search.path);
	else
		fail_help(failure, "'pmg inspect %s' lists what there is", location.path);
}
