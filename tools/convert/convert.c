/* SPDX-License-Identifier: MIT
 *
 * `pmg convert IN OUT`: reads one format, writes another. What is between is a dense array, a sparse tensor
 * or a group of arrays; the options say what a file cannot: from where coordinates count, shapes, the names
 * of modes. */
#include <inttypes.h>
#include <string.h>

#include "commands.h"
#include "formats/formats.h"

struct convert_values {
	bool zero_based, one_based, force;
	const char *shape, *modes;
};

struct conversion {
	struct convert_values values;
	struct location from, to;
	struct content content;
	int n_modes, rank; /* of --modes and --shape; 0 and -1: not given */
	const char *modes[PMG_MAX_RANK + 1];
	int64_t shape[PMG_MAX_RANK];
};

/* ---- Options ------------------------------------------------------------------------ */

static bool is_member_name(const char *name)
{
	return *name && !strchr(name, '/') && strcmp(name, ".") != 0 && strlen(name) < NAME_BYTES;
}

/* Members of a group, beside one of values, have a name each: of two of one name, the second takes the place of the
 * first. */
static bool add_mode(struct conversion *c, const char *name, struct failure *failure)
{
	if (!is_member_name(name) || c->n_modes == PMG_MAX_RANK)
		return fail(failure, OUTCOME_USAGE, "--modes: '%s' is not a list of names", c->values.modes);
	if (strcmp(name, "value") == 0)
		return fail(failure, OUTCOME_USAGE, "--modes: 'value' is the name of the values, not of a mode");
	for (int m = 0; m < c->n_modes; m++)
		if (strcmp(c->modes[m], name) == 0)
			return fail(failure, OUTCOME_USAGE, "--modes: '%s' is given twice", name);
	c->modes[c->n_modes++] = name;
	return true;
}

static bool parse_modes(struct conversion *c, struct arena *arena, struct failure *failure)
{
	char *rest = c->values.modes ? arena_string(arena, c->values.modes) : NULL;
	for (char *name = strsep(&rest, ","); name; name = strsep(&rest, ","))
		if (!add_mode(c, name, failure))
			return false;
	return true;
}

static bool parse_shape(struct conversion *c, struct arena *arena, struct failure *failure)
{
	char *rest = c->values.shape ? arena_string(arena, c->values.shape) : NULL;
	c->rank = rest ? 0 : -1;
	for (char *size = strsep(&rest, ","); size; size = strsep(&rest, ",")) {
		int64_t extent;
		if (c->rank == PMG_MAX_RANK || !parse_integer(size, &extent) || extent < 0)
			return fail(failure, OUTCOME_USAGE, "--shape: '%s' is not a list of sizes",
				    c->values.shape);
		c->shape[c->rank++] = extent;
	}
	return true;
}

static bool parse_places(struct conversion *c, struct arena *arena, const word_list *operands,
			 struct failure *failure)
{
	if (operands->n != 2)
		return fail(failure, OUTCOME_USAGE, "two files are needed: IN and OUT");
	if (c->values.zero_based && c->values.one_based)
		return fail(failure, OUTCOME_USAGE, "--zero-based and --one-based exclude each other");
	if (!location_parse(&c->from, arena, operands->items[0], failure) ||
	    !location_parse(&c->to, arena, operands->items[1], failure))
		return false;
	c->to.force = c->values.force ? FORCE_GIVEN : FORCE_OFFERED;
	if (c->values.zero_based || c->values.one_based)
		c->from.base = c->values.one_based;
	return true;
}

/* ---- Content -------------------------------------------------------------------------- */

static bool name_modes(struct conversion *c, struct failure *failure)
{
	struct content *tensor = &c->content;
	if (c->n_modes == 0)
		return true;
	if (c->n_modes != tensor->n_members - 1)
		return fail(failure, OUTCOME_USAGE, "--modes names %d modes, the tensor has %d", c->n_modes,
			    tensor->n_members - 1);
	for (int m = 0; m < c->n_modes; m++)
		snprintf(tensor->members[m].name, sizeof(tensor->members[m].name), "%s", c->modes[m]);
	return true;
}

static bool beyond_shape(const struct conversion *c, int mode, int64_t entry, int64_t at,
			 struct failure *failure)
{
	int64_t line = coordinates_line(&c->from, entry), base = line ? coordinates_base(&c->from) : 0;
	char place[64] = "";
	if (line)
		snprintf(place, sizeof(place), "%" PRId64, line);
	else
		snprintf(place, sizeof(place), " entry %" PRId64, entry);
	return fail(failure, OUTCOME_DATA,
		    "%s:%s: coordinate %" PRId64 " of mode %d is above %" PRId64 ", the last by --shape",
		    c->from.path, place, at + base, mode, c->shape[mode] - 1 + base);
}

static bool size_modes(struct conversion *c, struct failure *failure)
{
	struct content *tensor = &c->content;
	if (c->rank < 0)
		return true;
	if (c->rank != tensor->n_members - 1)
		return fail(failure, OUTCOME_USAGE, "--shape gives %d sizes, the tensor has %d modes",
			    c->rank, tensor->n_members - 1);
	for (int m = 0; m < c->rank; m++) {
		const struct ndarray *mode = &tensor->members[m].array;
		for (int64_t i = 0; i < ndarray_count(mode); i++)
			if (ndarray_integer(mode, i) >= c->shape[m])
				return beyond_shape(c, m, i, ndarray_integer(mode, i), failure);
	}
	memcpy(tensor->sizes, c->shape, sizeof(tensor->sizes));
	return true;
}

/* Coordinates as i32 where they fit: half the file. */
static bool narrow_modes(struct content *tensor, struct failure *failure)
{
	for (int m = 0; m < tensor->n_members - 1; m++)
		if (tensor_extent(tensor, m) <= INT32_MAX &&
		    !ndarray_convert(&tensor->members[m].array, PMG_I32, "a coordinate", failure))
			return false;
	return true;
}

static bool shape_array(struct conversion *c, struct failure *failure)
{
	size_t bytes;
	char text[200];
	struct ndarray *array = &c->content.members[0].array;
	if (c->rank < 0)
		return true;
	if (!shape_bytes(c->rank, c->shape, pmg_type_size(array->type), &bytes) ||
	    bytes != ndarray_bytes(array))
		return fail(failure, OUTCOME_DATA, "%s: %" PRId64 " values do not make the shape %s",
			    c->from.path, ndarray_count(array),
			    extents_text(c->rank, c->shape, text, sizeof(text)));
	array->rank = c->rank;
	memcpy(array->shape, c->shape, sizeof(array->shape));
	return true;
}

/* A group has its modes in no order. */
static bool modes_needed(const struct conversion *c, struct failure *failure)
{
	const char *separator = "";
	fail(failure, OUTCOME_USAGE, "%s:%s: the order of the modes is needed", c->from.path, c->content.inner);
	fail_help(failure, "--modes ");
	for (int i = 0; i < c->content.n_members; i++) {
		size_t used = strlen(failure->text);
		if (strcmp(c->content.members[i].name, "value") == 0)
			continue;
		snprintf(failure->text + used, sizeof(failure->text) - used, "%s%s", separator,
			 c->content.members[i].name);
		separator = ",";
	}
	size_t used = strlen(failure->text);
	snprintf(failure->text + used, sizeof(failure->text) - used, ", in the order that %s shall have",
		 c->to.path);
	return false;
}

static bool shift_mode(struct conversion *c, struct member *mode, int64_t base, struct failure *failure)
{
	struct ndarray *array = &mode->array;
	if (!ndarray_convert(array, PMG_I64, mode->name, failure))
		return false;
	int64_t *coordinates = array->data;
	for (int64_t i = 0; i < ndarray_count(array); i++) {
		if (coordinates[i] < base)
			return fail(failure, OUTCOME_DATA, "%s:%s/%s: entry %" PRId64 " is %" PRId64
				    ", but coordinates count from %" PRId64, c->from.path, c->content.inner, mode->name,
				    i, coordinates[i], base);
		coordinates[i] -= base;
	}
	return true;
}

/* Coordinates of a group count from where the user says, else its attribute. */
static bool group_from_zero(struct conversion *c, struct failure *failure)
{
	struct content *group = &c->content;
	bool is_told = c->values.one_based || c->values.zero_based;
	for (int i = 0; i < group->n_attributes; i++) {
		struct attribute *stated = &group->attributes[i];
		if (strcmp(stated->name, "index_base") != 0)
			continue;
		if (!is_told)
			c->from.base = stated->value == 1;
		if (is_told || stated->value == 1)
			stated->value = 0;
	}
	for (int i = 0; i < group->n_members && c->from.base == 1; i++) {
		struct member *member = &group->members[i];
		if (strcmp(member->name, "value") != 0 && !shift_mode(c, member, 1, failure))
			return false;
	}
	return true;
}

/* Where coordinates count from, of what has none. */
static bool has_coordinates(const struct conversion *c, struct failure *failure)
{
	bool is_group = c->content.kind == CONTENT_GROUP;
	if (!(c->values.one_based || c->values.zero_based) || c->content.kind == CONTENT_TENSOR ||
	    (is_group && (c->n_modes > 0 || group_looks_like_tensor(&c->content))))
		return true;
	return fail(failure, OUTCOME_USAGE, "--%s-based is for sparse tensors; %s holds %s",
		    c->values.one_based ? "one" : "zero", c->from.path, is_group ? "arrays" : "an array");
}

static bool group_to_tensor(struct conversion *c, struct failure *failure)
{
	if (c->content.kind != CONTENT_GROUP)
		return true;
	if ((c->n_modes > 0 || group_looks_like_tensor(&c->content)) && !group_from_zero(c, failure))
		return false;
	if (c->n_modes == 0)
		return !c->to.format || c->to.format->write == hdf5_write ||
		       !group_looks_like_tensor(&c->content) || modes_needed(c, failure);
	if (!content_as_tensor(&c->content, c->modes, c->n_modes))
		return fail(failure, OUTCOME_DATA, "%s: the group has not all of the members %s,value",
			    c->from.path, c->values.modes);
	return tensor_check(&c->content, c->from.path, failure);
}

static bool prepare(struct conversion *c, struct failure *failure)
{
	if (!has_coordinates(c, failure) || !group_to_tensor(c, failure))
		return false;
	if (c->content.kind == CONTENT_TENSOR)
		return name_modes(c, failure) && size_modes(c, failure) && narrow_modes(&c->content, failure);
	if (c->content.kind == CONTENT_GROUP)
		return true;
	if (c->n_modes > 0)
		return fail(failure, OUTCOME_USAGE, "--modes is for sparse tensors; %s holds an array",
			    c->from.path);
	return shape_array(c, failure);
}

static void tell(const struct conversion *c, const char *name)
{
	char text[200];
	const struct content *content = &c->content;
	if (content->kind == CONTENT_GROUP) {
		printf("%s: %d arrays\n", name, content->n_members);
	} else if (content->kind == CONTENT_TENSOR) {
		int64_t sizes[PMG_MAX_RANK],
			n = ndarray_count(&content->members[content->n_members - 1].array);
		for (int m = 0; m < content->n_members - 1; m++)
			sizes[m] = tensor_extent(content, m);
		printf("%s: sparse tensor %s, %" PRId64 " entries\n", name,
		       extents_text(content->n_members - 1, sizes, text, sizeof(text)), n);
	} else {
		const struct ndarray *array = &content->members[0].array;
		printf("%s: %s %s\n", name, pmg_type_name(array->type),
		       extents_text(array->rank, array->shape, text, sizeof(text)));
	}
}

/* IN stays what it is. */
static bool spares_input(struct conversion *c, struct failure *failure)
{
	bool is_array = c->content.kind == CONTENT_ARRAY || c->content.kind == CONTENT_FLAT;
	struct location from = c->from, to = c->to;
	char data[] = "/data", root[] = "/";
	from.inner = *c->content.inner ? c->content.inner : NULL;
	if (!to.inner)
		to.inner = is_array ? data : root;
	return !location_covers(&to, &from) ||
	       fail(failure, OUTCOME_USAGE, "%s%s%s: OUT is IN or holds it", to.path, c->to.inner ? ":" : "",
		    c->to.inner ? c->to.inner : "");
}

static bool convert(struct conversion *c, struct failure *failure)
{
	struct wish wish = { .names = c->modes, .n_names = c->n_modes };
	if (c->n_modes > 0)
		c->modes[wish.n_names++] = "value";
	bool ok = content_read(&c->from, c->n_modes ? &wish : NULL, &c->content, failure) &&
		  spares_input(c, failure) && prepare(c, failure) && content_write(&c->to, &c->content, failure);
	return ok;
}

/* ---- The command ------------------------------------------------------------------------- */

/* Values are the first member of a conversion. */
static bool convert_files(void *values, const word_list *operands, struct arena *arena, struct failure *failure)
{
	struct conversion *c = values;
	bool ok = parse_places(c, arena, operands, failure) && parse_modes(c, arena, failure) &&
		  parse_shape(c, arena, failure) && convert(c, failure);
	if (ok)
		tell(c, operands->items[1]);
	content_free(&c->content);
	return ok;
}

static int run_convert(const struct command *command, struct arena *arena, int argc, char **argv)
{
	struct conversion c = { 0 };
	return command_do(command, arena, argc, argv, &c, convert_files);
}

static const struct option_row rows[] = {
	{ .name = "zero-based",
	  .offset = offsetof(struct convert_values, zero_based),
	  .text = "coordinates of IN count from 0 (what .tsv does)" },
	{ .name = "one-based",
	  .offset = offsetof(struct convert_values, one_based),
	  .text = "coordinates of IN count from 1 (what .tns does)" },
	{ .name = "shape",
	  .kind = OPTION_TEXT,
	  .offset = offsetof(struct convert_values, shape),
	  .operand = "A,B,C",
	  .text = "shape of an array, or sizes of the modes of a tensor" },
	{ .name = "modes",
	  .kind = OPTION_TEXT,
	  .offset = offsetof(struct convert_values, modes),
	  .operand = "A,B,C",
	  .text = "names of the modes of a tensor, in order" },
	{ .name = "force",
	  .offset = offsetof(struct convert_values, force),
	  .text = "OUT may replace a group of an HDF5 file by a dataset, and the other way round" },
};

static const char details[] =
	"The suffix of a file is its format; 'pmg inspect --help' lists them. FILE.h5:/NAME is an object in "
	"an HDF5\n"
	"file, which keeps what else it holds; FILE.f64[3,4] gives a shape.\n"
	"\n"
	"A sparse tensor is one text file, or an HDF5 group with one dataset for each mode and one named "
	"value:\n"
	"  pmg convert phi.tsv.gz phi.h5:/PHI --modes atom,voxel,fiber --shape 362,983,3000\n"
	"  pmg convert phi.h5:/PHI phi.tns --modes atom,voxel,fiber\n"
	"  pmg convert dict.f64 dict.npy --shape 362,64\n";

const struct command convert_command = {
	.name = "convert",
	.operands = "IN OUT",
	.sentence = "convert files of numbers from one format to another",
	.details = details,
	.options = rows,
	.n_options = sizeof(rows) / sizeof(rows[0]),
	.run = run_convert,
};
