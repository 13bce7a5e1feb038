/* SPDX-License-Identifier: MIT
 *
 * `pmg life import`: a problem from its parts, as other software exports them: the coefficients as a sparse tensor
 * (atom, voxel, fiber) in any format of one, dictionary and signal as arrays. */
#include <inttypes.h>
#include <stdlib.h>

#include "life/connectome.h"

struct values {
	const char *output, *dictionary, *y;
	int64_t fibers;
};

static const char *const modes[] = { "atom", "voxel", "fiber" };

static bool read_phi(struct arena *arena, const struct values *v, const char *text, struct content *phi,
		     struct failure *failure)
{
	const char *names[] = { "atom", "voxel", "fiber", "value" };
	const struct wish wish = { .name = "PHI", .names = names, .n_names = 4 };
	struct location location;
	if (!location_parse(&location, arena, text, failure) || !content_read(&location, &wish, phi, failure))
		return false;
	if (phi->kind == CONTENT_GROUP && !content_as_tensor(phi, modes, 3))
		return fail_file(failure, text, "the group lacks one of atom, voxel, fiber, value");
	if (phi->kind != CONTENT_TENSOR || phi->n_members != 4)
		return fail_file(failure, text, "a sparse tensor of three modes is needed: atom, voxel, fiber");
	for (int m = 0; m < 4; m++)
		snprintf(phi->members[m].name, sizeof(phi->members[m].name), "%s", names[m]);
	return v->fibers == 0 || content_add_attribute(phi, "nFibers", v->fibers, failure);
}

static bool read_matrix(struct arena *arena, const char *text, const char *name, struct content *group,
			struct failure *failure)
{
	const struct wish wish = { .name = name };
	struct location location;
	struct content content = { 0 };
	bool ok = location_parse(&location, arena, text, failure) && content_read(&location, &wish, &content, failure);
	if (ok && (content.kind != CONTENT_ARRAY || content.members[0].array.rank != 2)) {
		ok = fail_file(failure, text, "a matrix is needed, a row for each %s", *name == 'D' ? "atom" : "voxel");
		fail_help(failure, "bare numbers need their shape: FILE.f64[ROWS,COLUMNS]");
	}
	struct member *member = ok ? content_add(group, name, failure) : NULL;
	if (member) {
		member->array = content.members[0].array;
		content.members[0].array.data = NULL;
	}
	content_free(&content);
	return member != NULL;
}

static bool run_import(struct arena *arena, const struct values *v, const char *text, struct failure *failure)
{
	struct content group = { .kind = CONTENT_GROUP }, phi = { 0 };
	struct problem problem = { 0 };
	bool ok = read_phi(arena, v, text, &phi, failure) && read_matrix(arena, v->dictionary, "D", &group, failure) &&
		  read_matrix(arena, v->y, "y", &group, failure) &&
		  problem_assemble(&problem, &group, &phi, text, failure) && problem_check(&problem, text, failure) &&
		  problem_write(&problem, v->output, failure);
	if (ok)
		printf("%s: %" PRId64 " fibers, %" PRId64 " voxels, %" PRId64 " directions, %" PRId64 " atoms, %" PRId64
		       " coefficients\n",
		       v->output, problem.n_fibers, problem.n_voxels, problem.n_theta, problem.n_atoms,
		       problem.n_coeffs);
	problem_free(&problem);
	content_free(&group);
	content_free(&phi);
	return ok;
}

/* ---- The command ----------------------------------------------------------------------------- */

static const struct option_row rows[] = {
	{ .name = "output", .letter = 'o', .kind = OPTION_TEXT, .offset = offsetof(struct values, output),
	  .operand = "FILE.h5", .text = "the problem" },
	{ .name = "dictionary", .kind = OPTION_TEXT, .offset = offsetof(struct values, dictionary), .operand = "FILE",
	  .text = "D, [atoms, directions], without its mean" },
	{ .name = "y", .kind = OPTION_TEXT, .offset = offsetof(struct values, y), .operand = "FILE",
	  .text = "the signal, [voxels, directions], without its mean" },
	{ .name = "fibers", .kind = OPTION_INTEGER, .offset = offsetof(struct values, fibers), .low = 1,
	  .high = INT32_MAX, .operand = "N", .text = "how many there are, if the last have no coefficients" },
};

static bool import(void *values, const word_list *operands, struct arena *arena, struct failure *failure)
{
	const struct values *v = values;
	if (operands->n == 1 && v->output && v->dictionary && v->y)
		return run_import(arena, v, operands->items[0], failure);
	fail(failure, OUTCOME_USAGE, "a sparse tensor, --dictionary, --y and --output are needed");
	fail_help(failure, "pmg life import phi.tns --dictionary=D.npy --y=y.npy -o problem.h5");
	return false;
}

static int import_main(const struct command *command, struct arena *arena, int argc, char **argv)
{
	struct values values = { 0 };
	return command_do(command, arena, argc, argv, &values, import);
}

const struct command life_import_command = {
	.name = "life import",
	.operands = "PHI --dictionary=FILE --y=FILE -o FILE.h5",
	.sentence = "make a problem of a sparse tensor, a dictionary and a signal",
	.details = "",
	.options = rows,
	.n_options = sizeof(rows) / sizeof(rows[0]),
	.run = import_main,
};
