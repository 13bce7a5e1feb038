/* SPDX-License-Identifier: MIT
 *
 * `pmg life STEP`: which steps there are. */
#include "life/connectome.h"

static const struct command *const steps[] = {
	&life_encode_command,
	&life_fit_command,
	&life_predict_command,
	&life_evaluate_command,
	&life_export_command,
	&life_import_command,
};

const struct command life_command = {
	.name = "life",
	.operands = "STEP …",
	.sentence = "weights of streamlines from a diffusion scan",
	.details = "",
	.has_threads = true,
	.steps = steps,
	.n_steps = sizeof(steps) / sizeof(steps[0]),
	.run = command_step,
};
