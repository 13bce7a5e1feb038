/* SPDX-License-Identifier: MIT
 *
 * `pmg inspect FILE…`: what is in a file of numbers, in a program, or in what a step reads. One line for each array, a
 * table of modes for a sparse tensor, the tree of an HDF5 file.
 * A bad file does not keep the others from being told. */
#include "inspect/inspect.h"

#include <inttypes.h>
#include <string.h>

#include "commands.h"

/* ---- Arrays --------------------------------------------------------------------------- */

static void print_header(void)
{
	printf("  %-16s %-5s %-18s %13s %13s %13s  %s\n", "name", "type", "shape", "min", "max", "sum",
	       "stored");
}

static void print_array(const char *name, const struct member *member)
{
	char shape[200];
	const struct ndarray *array = &member->array;
	struct summary s = ndarray_summary(array);
	printf("  %-16s %-5s %-18s ", *name ? name : "-", pmg_type_name(array->type),
	       extents_text(array->rank, array->shape, shape, sizeof(shape)));
	if (s.min <= s.max)
		printf("%13.6g %13.6g %13.6g  ", s.min, s.max, s.sum);
	else
		printf("%13s %13s %13s  ", "-", "-", "-");
	printf("%s", *member->storage ? member->storage : "text");
	if (s.n_zero)
		printf("; %" PRId64 " zero", s.n_zero);
	if (s.n_nan || s.n_infinite)
		printf("; %" PRId64 " NaN, %" PRId64 " infinite", s.n_nan, s.n_infinite);
	putchar('\n');
}

static void print_arrays(const struct content *content)
{
	print_header();
	for (int i = 0; i < content->n_members; i++)
		print_array(content->members[i].name, &content->members[i]);
	for (int i = 0; i < content->n_attributes; i++)
		printf("  attribute %s = %" PRId64 "\n", content->attributes[i].name,
		       content->attributes[i].value);
}

static bool group_as_tensor(struct content *group)
{
	const char *modes[PMG_MAX_RANK];
	char names[PMG_MAX_RANK][NAME_BYTES];
	int n = 0;
	if (!group_looks_like_tensor(group))
		return false;
	for (int i = 0; i < group->n_members; i++) {
		if (strcmp(group->members[i].name, "value") == 0)
			continue;
		memcpy(names[n], group->members[i].name, NAME_BYTES);
		modes[n] = names[n];
		n++;
	}
	bool ok = content_as_tensor(group, modes, n);
	for (int m = 0; m < n; m++)
		group->sizes[m] = -1;
	return ok;
}

/* ---- Files with a tree --------------------------------------------------------------------------- */

static void print_entry(const struct tree_entry *entry, void *user)
{
	char shape[200];
	(void) user;
	if (entry->is_array)
		printf("  %-32s %-5s %-18s %s\n", entry->path, pmg_type_name(entry->type),
		       extents_text(entry->rank, entry->shape, shape, sizeof(shape)), entry->note);
	else
		printf("  %-32s %s\n", entry->path, entry->note);
}

static bool inspect_tree(const struct location *location, struct failure *failure)
{
	if (!file_is_readable(location->path, failure))
		return false;
	bool is_hdf5 = location->format->read == hdf5_read;
	printf("%s: %s\n", location->path, is_hdf5 ? "HDF5" : "MATLAB");
	return (is_hdf5 ? hdf5_list : mat_list)(location->path, print_entry, NULL, failure);
}

/* ---- One file --------------------------------------------------------------------------------- */

static bool inspect_numbers(const struct location *location, const char *name, struct failure *failure)
{
	struct content content;
	bool ok = true;
	if (!content_read(location, NULL, &content, failure))
		return false;
	printf("%s: %s\n", name, location->format->sentence);
	if (content.kind == CONTENT_GROUP)
		print_arrays(&content);
	if (content.kind == CONTENT_TENSOR || group_as_tensor(&content))
		ok = tensor_check(&content, name, failure) && inspect_tensor(&content, failure);
	else if (content.kind != CONTENT_GROUP)
		print_arrays(&content);
	content_free(&content);
	return ok;
}

static bool is_program(const char *path)
{
	size_t length = strlen(path);
	return length > 4 && strcmp(path + length - 4, ".pmg") == 0;
}

static bool inspect(struct arena *arena, const char *name, struct failure *failure)
{
	struct location location;
	bool is_step, ok = step_file_inspect(arena, name, &is_step, failure);
	if (is_step)
		return ok;
	if (is_program(name))
		return inspect_program(name, failure);
	if (!location_parse(&location, arena, name, failure))
		return false;
	if (location.format && (location.format->read == hdf5_read || location.format->read == mat_read) &&
	    !location.inner)
		return inspect_tree(&location, failure);
	return inspect_numbers(&location, name, failure);
}

/* ---- The command --------------------------------------------------------------------------------- */

static void list_formats(FILE *stream)
{
	const struct format *format;
	fputs("\nFiles, by their suffix:\n  .pmg                        a program: its pipelines and their "
	      "arguments\n",
	      stream);
	for (int i = 0; (format = format_numbered(i)); i++)
		fprintf(stream, "  %-26s  %s\n", format->suffixes, format->sentence);
	step_files_list(stream);
}

static int run_inspect(const struct command *command, struct arena *arena, int argc, char **argv)
{
	struct failure failure = { 0 };
	word_list operands = { 0 };
	bool help;
	if (!command_parse(command, arena, argc, argv, NULL, &operands, &help, &failure))
		return failure_report(&failure, command->name);
	if (help) {
		command_help(command, stdout);
		return OUTCOME_OK;
	}
	int worst = OUTCOME_OK;
	if (operands.n == 0) {
		fail(&failure, OUTCOME_USAGE, "a file is needed");
		return failure_report(&failure, command->name);
	}
	for (int i = 0; i < operands.n; i++) {
		bool ok = inspect(arena, operands.items[i], &failure);
		int status = ok ? OUTCOME_OK : failure_report(&failure, command->name);
		worst = status > worst ? status : worst;
	}
	return output_is_written(&failure) ? worst : failure_report(&failure, command->name);
}

const struct command inspect_command = {
	.name = "inspect",
	.operands = "FILE…",
	.sentence = "tell what is in files of numbers, of streamlines, scans and neurons, and in programs",
	.details = "",
	.more_help = list_formats,
	.run = run_inspect,
};
