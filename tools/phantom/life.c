/* SPDX-License-Identifier: MIT
 *
 * `pmg phantom life`: the parts of the generator in their order, and the command around it. Only the command
 * prints and gives an exit status; what it runs returns values. */
#include "anatomy.h"

#include <errno.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int phantom_threads(const struct life_phantom_options *options)
{
	return options->threads > 0 ? (int) options->threads : omp_get_max_threads();
}

pmg_status phantom_no_memory(char *error, size_t size)
{
	snprintf(error, size, "not enough memory; take a smaller --scale, --ntheta or --grid");
	return PMG_NO_RESOURCES;
}

/* ---- Memory ------------------------------------------------------------------------- */

/* About one coefficient a node, each held once by voxel and once by atom. */
static double expected_bytes(const struct life_phantom_options *options)
{
	double coeffs = (double) options->fibers * fmax(options->length / options->step, 1);
	double voxels = fmin(white_matter_volume(options) / pow(options->voxel_size, 3), coeffs);
	double rows = voxels + (double) dictionary_atoms(options->grid);
	return coeffs * (sizeof(struct crumb) + 3 * sizeof(int32_t) + sizeof(double)) +
	       rows * (double) options->ntheta * sizeof(double);
}

/* Systems promise more memory than they have; better to refuse than to be killed half way. */
static pmg_status check_memory(const struct life_phantom_options *options, char *error, size_t size)
{
	double needed = expected_bytes(options);
	double present = (double) sysconf(_SC_PHYS_PAGES) * (double) sysconf(_SC_PAGE_SIZE);
	if (needed <= present)
		return PMG_OK;
	snprintf(error, size,
		 "about %.1f GB of memory are needed, this machine has %.1f; take a smaller --scale, "
		 "--ntheta or --grid",
		 needed * 1e-9, present * 1e-9);
	return PMG_NO_RESOURCES;
}

/* ---- The problem ------------------------------------------------------------------ */

static bool allocate_arrays(struct life_problem *problem)
{
	size_t n_theta = (size_t) problem->n_theta, n_voxels = (size_t) problem->n_voxels;
	problem->D = calloc((size_t) problem->n_atoms, n_theta * sizeof(double));
	problem->y = calloc(n_voxels, n_theta * sizeof(double));
	problem->w_true = calloc((size_t) problem->n_fibers, sizeof(double));
	problem->w = calloc((size_t) problem->n_fibers, sizeof(double));
	problem->S0 = calloc(n_voxels, sizeof(double));
	problem->directions = calloc(n_theta, 3 * sizeof(double));
	problem->voxel_coords = calloc(n_voxels, 3 * sizeof(int32_t));
	return problem->D && problem->y && problem->w_true && problem->w && problem->S0 &&
	       problem->directions && problem->voxel_coords;
}

static void set_sizes(const struct life_phantom_options *options, const struct crumbs *crumbs,
		      struct life_problem *problem)
{
	problem->n_atoms = dictionary_atoms(options->grid);
	problem->n_voxels = crumbs->n_voxels;
	problem->n_fibers = options->fibers;
	problem->n_theta = options->ntheta;
	problem->n_coeffs = crumbs->n;
}

static void fill_voxels(const struct life_phantom_options *options, const struct white_matter *brain,
			const struct crumbs *crumbs, struct life_problem *problem)
{
	for (int64_t v = 0; v < problem->n_voxels; v++) {
		white_matter_coordinates(brain, crumbs->place[v], problem->voxel_coords + 3 * v);
		problem->S0[v] = white_matter_S0(brain, options->seed, crumbs->place[v]);
	}
}

static pmg_status fill_problem(const struct life_phantom_options *options, const struct white_matter *brain,
			       const struct crumbs *crumbs, struct life_problem *problem, char *error,
			       size_t size)
{
	set_sizes(options, crumbs, problem);
	if (!allocate_arrays(problem))
		return phantom_no_memory(error, size);
	fill_voxels(options, brain, crumbs, problem);
	dictionary_fill(options, problem);
	pmg_status status = signal_fill(options, crumbs, problem, error, size);
	return status == PMG_OK ? crumbs_encode(crumbs, problem, error, size) : status;
}

pmg_status life_phantom_generate(const struct life_phantom_options *options, struct life_problem *problem,
				 char *error, size_t size)
{
	struct white_matter brain;
	struct crumbs crumbs;
	memset(problem, 0, sizeof(*problem));
	pmg_status status = check_memory(options, error, size);
	if (status == PMG_OK)
		status = white_matter_new(options, &brain, error, size);
	if (status != PMG_OK)
		return status;
	status = crumbs_collect(options, &brain, &crumbs, error, size);
	if (status == PMG_OK) {
		status = fill_problem(options, &brain, &crumbs, problem, error, size);
		crumbs_free(&crumbs);
	}
	white_matter_free(&brain);
	if (status != PMG_OK)
		life_problem_free(problem);
	return status;
}

void life_problem_free(struct life_problem *problem)
{
	free(problem->atom);
	free(problem->voxel);
	free(problem->fiber);
	free(problem->value);
	free(problem->D);
	free(problem->y);
	free(problem->w_true);
	free(problem->w);
	free(problem->S0);
	free(problem->directions);
	free(problem->voxel_coords);
	memset(problem, 0, sizeof(*problem));
}

/* ---- The command --------------------------------------------------------------------- */

static bool is_hdf5(const char *path)
{
	const char *dot = strrchr(path, '.');
	return dot && (strcmp(dot, ".h5") == 0 || strcmp(dot, ".hdf5") == 0);
}

static pmg_status check_output(const struct life_phantom_options *options, char *error, size_t size)
{
	if (options->output && !is_hdf5(options->output)) {
		snprintf(error, size, "%s: a phantom is an HDF5 file: -o FILE.h5", options->output);
		return PMG_BAD_CALL;
	}
	if (options->output)
		return life_problem_can_write(options->output, error, size);
	if (options->stats)
		return PMG_OK;
	snprintf(error, size, "nothing to do: give -o FILE.h5, --stats or both");
	return PMG_BAD_CALL;
}

static pmg_status report(const struct life_phantom_options *options, const struct life_problem *problem,
			 char *error, size_t size)
{
	struct life_statistics statistics;
	pmg_status status = PMG_OK;
	if (options->stats) {
		status = life_statistics_compute(problem, &statistics, error, size);
		if (status == PMG_OK)
			life_statistics_print(stdout, problem, &statistics);
	}
	if (status == PMG_OK && options->output)
		status = life_problem_write(problem, options, options->output, error, size);
	if (status == PMG_OK && (fflush(stdout) != 0 || ferror(stdout))) {
		snprintf(error, size, "cannot write to standard output: %s", strerror(errno));
		status = PMG_IO;
	}
	return status;
}

static pmg_status run(const struct life_phantom_options *options, char *error, size_t size)
{
	struct life_problem problem;
	pmg_status status = check_output(options, error, size);
	if (status == PMG_OK)
		status = life_phantom_generate(options, &problem, error, size);
	if (status != PMG_OK)
		return status;
	status = report(options, &problem, error, size);
	life_problem_free(&problem);
	return status;
}

int phantom_life_command(int argc, char **argv)
{
	struct life_phantom_options options;
	char error[1024] = "";
	pmg_status status = life_phantom_options_parse(&options, argc, argv, error, sizeof(error));
	if (status == PMG_OK && options.help) {
		life_phantom_options_help(stdout);
		return PMG_OK;
	}
	if (status == PMG_OK)
		status = run(&options, error, sizeof(error));
	if (status != PMG_OK)
		fprintf(stderr, "pmg phantom life: %s\n", error);
	return (int) status;
}
