/* SPDX-License-Identifier: MIT
 *
 * `pmg life predict`: the signal that weights explain, as an array [voxels, directions]. */
#include <stdlib.h>

#include "life/model.h"

struct values {
	const char *output;
	int64_t signal;
	bool is_measured;
};

/* In place: what a scanner would measure. */
static bool as_measured(const struct problem *p, const char *path, double *prediction, struct failure *failure)
{
	for (int64_t v = 0; v < p->n_voxels; v++) {
		double mean, scale;
		if (!model_scale(p, v, &mean, &scale))
			return fail_file(failure, path, "--measured needs /signal, which the problem does not have");
		for (int64_t t = v * p->n_theta; t < (v + 1) * p->n_theta; t++)
			prediction[t] = mean + scale * prediction[t];
	}
	return true;
}

static bool write_prediction(struct arena *arena, const struct problem *p, double *prediction, const char *text,
			     struct failure *failure)
{
	struct location target;
	struct member member = { .array = { .type = PMG_F64, .rank = 2, .shape = { p->n_voxels, p->n_theta },
					    .data = prediction } };
	struct content content = { .kind = CONTENT_ARRAY, .n_members = 1, .members = &member };
	return output_target(arena, text, "/prediction", &target, failure) &&
	       content_write(&target, &content, failure);
}

static bool check_files(struct arena *arena, const struct values *v, const char *path, const char *weights,
			struct failure *failure)
{
	const struct step_file files[] = {
		{ READS_PROBLEM, path, NULL },
		{ READS_ARRAY, weights, "/w" },
		{ WRITES_ARRAY, v->output, "/prediction" },
	};
	return files_check(arena, files, sizeof(files) / sizeof(files[0]), failure);
}

static bool run_predict(struct arena *arena, const struct values *v, const char *path, const char *weights,
			struct failure *failure)
{
	struct problem problem = { 0 };
	double *prediction = NULL, *w = NULL;
	bool ok = check_files(arena, v, path, weights, failure) &&
		  problem_open(&problem, path, weights, failure) &&
		  (w = weights_read(arena, weights, v->signal, &problem.n_fibers, failure)) &&
		  model_predict(&problem, w, &prediction, failure) &&
		  (!v->is_measured || as_measured(&problem, path, prediction, failure)) &&
		  write_prediction(arena, &problem, prediction, v->output, failure);
	problem_free(&problem);
	free(prediction);
	free(w);
	return ok;
}

/* ---- The command ----------------------------------------------------------------------------- */

static const struct option_row rows[] = {
	{ .name = "output", .letter = 'o', .kind = OPTION_TEXT, .offset = offsetof(struct values, output),
	  .operand = "FILE", .text = "the prediction: .npy, .txt or .h5:/NAME" },
	{ .name = "measured", .offset = offsetof(struct values, is_measured),
	  .text = "as a scanner measures it: with mean and scale of each voxel" },
	{ .name = "signal", .kind = OPTION_INTEGER, .offset = offsetof(struct values, signal), .low = 0,
	  .high = INT32_MAX, .operand = "N", .text = "of weights of several signals, those of this one, from 0" },
};

static bool predict(void *values, const word_list *operands, struct arena *arena, struct failure *failure)
{
	const struct values *v = values;
	if (operands->n == 2 && v->output)
		return run_predict(arena, v, operands->items[0], operands->items[1], failure);
	fail(failure, OUTCOME_USAGE, "a problem, its weights and --output are needed");
	fail_help(failure, "pmg life predict problem.h5 weights.txt -o prediction.npy");
	return false;
}

static int predict_main(const struct command *command, struct arena *arena, int argc, char **argv)
{
	struct values values = { .signal = SIGNAL_UNSAID };
	return command_do(command, arena, argc, argv, &values, predict);
}

const struct command life_predict_command = {
	.name = "life predict",
	.operands = "PROBLEM.h5 WEIGHTS -o FILE",
	.sentence = "write the signal that weights explain",
	.details = "",
	.options = rows,
	.n_options = sizeof(rows) / sizeof(rows[0]),
	.run = predict_main,
};
