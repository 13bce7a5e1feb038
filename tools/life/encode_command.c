/* SPDX-License-Identifier: MIT
 *
 * `pmg life encode`: reads the options and files, encodes, writes the problem, and tells what was left out. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "life/connectome.h"

struct values {
	const char *tracks, *dwi, *bvals, *bvecs, *output, *sphere, *convention, *bvec_space, *tensor, *max_memory;
	const char *repeated, *b0, *shell_tolerance;
	int64_t grid, min_points;
	bool is_cornered, has_all_atoms;
};

/* ---- Options ------------------------------------------------------------------------------- */

static bool take_tensor(const char *text, double *eigenvalues, struct failure *failure)
{
	char axial[64];
	const char *comma = text ? strchr(text, ',') : NULL;
	if (!text)
		return true;
	snprintf(axial, sizeof(axial), "%.*s", comma ? (int) (comma - text) : 0, text);
	if (comma && parse_real(axial, &eigenvalues[0]) && parse_real(comma + 1, &eigenvalues[1]) &&
	    isfinite(eigenvalues[0]) && eigenvalues[1] >= 0 && eigenvalues[1] < eigenvalues[0])
		return true;
	fail(failure, OUTCOME_USAGE, "--tensor=%s: two numbers are needed, the second 0 or more, the first larger",
	     text);
	fail_help(failure, "--tensor=0.001,0");
	return false;
}

/* Where what a tensor leaves of a signal along its axis is no measurement, its eigenvalues are in another unit. Of
 * those that water can have, in mm^2/s, only what no real number holds is none: b-values are large. */
static const double least_exponent = 0.02, most_of_water = 0.01;

static double most_exponent(double eigenvalue, enum convention convention)
{
	return eigenvalue <= most_of_water * tensor_scale(convention) ? 700 : 100;
}

static bool tensor_has_unit(const struct values *v, const struct encode_options *options, const struct gradients *g,
			    struct failure *failure)
{
	const double *e = options->eigenvalues, b = g->largest_b / tensor_scale(options->convention);
	const double exponent = b * e[0], across = b * e[1];
	const char *unit = options->convention == CONVENTION_DIPY ? "mm^2/s" : "um^2/ms";
	const bool is_nothing = exponent > most_exponent(e[0], options->convention), is_all = exponent < least_exponent;
	const double factor = is_nothing ? 1e-3 : 1e3, other = factor * exponent;
	if (!is_nothing && !is_all)
		return exponent - across >= least_exponent ||
		       fail(failure, OUTCOME_USAGE,
			    "--tensor=%g,%g: at b = %g, exp(-%g) of the signal is left along a fiber and exp(-%g) "
			    "across, which is no difference",
			    e[0], e[1], g->largest_b, exponent, across);
	fail(failure, OUTCOME_USAGE,
	     "--tensor=%g,%g%s: at b = %g, exp(-%g) of the signal along a fiber is left, which is %s", e[0], e[1],
	     v->tensor ? "" : ", the default", g->largest_b, exponent, is_nothing ? "nothing" : "all");
	if (v->tensor && other >= least_exponent && other <= most_exponent(factor * e[0], options->convention))
		fail_help(failure, "with --convention=%s it is in %s, b-values in s/mm^2: --tensor=%g,%g?",
			  v->convention, unit, e[0] * factor, e[1] * factor);
	else
		fail_help(failure, "with --convention=%s it is in %s, b-values in s/mm^2: the largest of %s is %g",
			  v->convention, unit, v->bvals, g->largest_b);
	return false;
}

struct request {
	struct encode_options encode;
	enum bvec_space space;
	double threshold, tolerance;
};

static bool read_request(const struct values *v, struct request *r, struct failure *failure)
{
	static const char *const conventions[] = { "dipy", "encode", NULL };
	static const char *const spaces[] = { "voxel", "fsl", "scanner", NULL };
	static const char *const repeated[] = { "drop", "keep", NULL };
	int convention = take_word("convention", v->convention, conventions, failure);
	int space = convention < 0 ? -1 : take_word("bvec-space", v->bvec_space, spaces, failure);
	int keeps = space < 0 ? -1 : take_word("repeated", v->repeated, repeated, failure);
	if (keeps < 0)
		return false;
	bool is_dipy = convention == CONVENTION_DIPY;
	*r = (struct request){
		.encode = { .convention = (enum convention) convention,
			    .eigenvalues = { is_dipy ? 0.001 : 1, 0 },
			    .is_cornered = v->is_cornered,
			    .keeps_repeated = keeps == 1,
			    .has_all_atoms = v->has_all_atoms,
			    .min_points = v->min_points },
		.space = (enum bvec_space) space,
		.threshold = is_dipy ? 20 : 0,
		.tolerance = 50,
	};
	return take_real("b0", v->b0, &r->threshold, failure) &&
	       take_real("shell-tolerance", v->shell_tolerance, &r->tolerance, failure) &&
	       take_tensor(v->tensor, r->encode.eigenvalues, failure) &&
	       take_memory(v->max_memory, &r->encode.max_memory, failure);
}

/* ---- What comes out ---------------------------------------------------------------------------- */

static void print_count(int64_t n, const char *what)
{
	if (n)
		printf("%" PRId64 " %s\n", n, what);
}

static void print_summary(const struct problem *p, const struct gradients *g, const struct encode_counts *counts,
			  const char *path)
{
	printf("%s: %" PRId64 " fibers, %" PRId64 " voxels, %" PRId64 " directions, %" PRId64 " atoms, %" PRId64
	       " coefficients\n",
	       path, p->n_fibers, p->n_voxels, p->n_theta, p->n_atoms, p->n_coeffs);
	for (int32_t s = 0; s < g->n_shells; s++) {
		int64_t n = 0;
		for (int64_t t = 0; t < g->n; t++)
			n += g->shell[t] == s;
		printf("shell b = %.0f: %" PRId64 " directions\n", g->shell_b[s], n);
	}
	print_count(counts->short_streamlines, "streamlines are too short and have no coefficients");
	print_count(counts->empty_fibers, "fibers have no coefficients; their weight will be 0");
	print_count(counts->repeated_points, "points lie where the one before lies");
	print_count(counts->undirected_points, "nodes have no direction and take the first atom");
	print_count(counts->outside_points, "points lie outside of the image and are left out");
	print_count(counts->dark_voxels, "voxels have no positive signal at b = 0 and are left out");
}

static void tell_outside(const struct tracks *tracks, const struct image *image, int64_t n_outside)
{
	char place[400];
	if (n_outside > tracks->n_points / 2)
		fprintf(stderr, "pmg life encode: warning: %.0f %% of the points lie outside of the image: %s\n",
			100.0 * (double) n_outside / (double) tracks->n_points,
			tracks_place_text(tracks, image, place, sizeof(place)));
}

static bool read_sphere(struct arena *arena, const struct values *v, enum convention convention, struct sphere *sphere,
			struct failure *failure)
{
	if (v->sphere && v->grid)
		return fail(failure, OUTCOME_USAGE, "--sphere and --grid exclude each other");
	if (v->sphere)
		return sphere_read(sphere, arena, v->sphere, failure);
	return sphere_grid(sphere, v->grid ? v->grid : convention == CONVENTION_ENCODE ? 360 : 32, failure);
}

static bool check_files(struct arena *arena, const struct values *v, struct failure *failure)
{
	const struct step_file files[] = {
		{ READS_FILE, v->tracks, NULL },
		{ READS_FILE, v->dwi, NULL },
		{ READS_ARRAY, v->bvals, NULL },
		{ READS_ARRAY, v->bvecs, NULL },
		{ READS_ARRAY, v->sphere, NULL },
		{ WRITES_PROBLEM, v->output, NULL },
	};
	return files_check(arena, files, sizeof(files) / sizeof(files[0]), failure);
}

static bool run_encode(struct arena *arena, const struct values *v, struct failure *failure)
{
	struct request r;
	struct tracks tracks = { 0 };
	struct image image;
	struct gradients gradients = { 0 };
	struct sphere sphere = { 0 };
	struct problem problem = { 0 };
	struct encode_counts counts;
	if (!v->tracks || !v->dwi || !v->bvals || !v->bvecs || !v->output) {
		fail(failure, OUTCOME_USAGE, "--%s is needed",
		     !v->tracks ? "tracks" : !v->dwi ? "dwi" : !v->bvals ? "bvals" : !v->bvecs ? "bvecs" : "output");
		fail_help(failure, "pmg life encode --tracks=T.tck --dwi=D.nii.gz --bvals=B.bval --bvecs=B.bvec -o "
				   "problem.h5");
		return false;
	}
	bool ok = read_request(v, &r, failure) && check_files(arena, v, failure) &&
		  read_sphere(arena, v, r.encode.convention, &sphere, failure) &&
		  image_open(&image, v->dwi, failure) &&
		  gradients_read(&gradients, v->bvals, v->bvecs, &image, r.space, r.threshold, r.tolerance, failure) &&
		  tensor_has_unit(v, &r.encode, &gradients, failure) &&
		  tracks_read(&tracks, v->tracks, failure) &&
		  encode(&tracks, &image, v->dwi, &gradients, &sphere, &r.encode, &problem, &counts, failure) &&
		  problem_write(&problem, v->output, failure);
	if (ok) {
		print_summary(&problem, &gradients, &counts, v->output);
		tell_outside(&tracks, &image, counts.outside_points);
	}
	if (ok)
		print_count(tracks.n_left_over, "points of the file belong to no streamline");
	if (ok && tracks.stated >= 0 && tracks.stated != tracks.n)
		printf("the header of %s says %" PRId64 " streamlines\n", v->tracks, tracks.stated);
	problem_free(&problem);
	sphere_free(&sphere);
	gradients_free(&gradients);
	tracks_free(&tracks);
	return ok;
}

/* ---- The command ----------------------------------------------------------------------------------- */

#define TEXT_ROW(option, member, what, help)                                                                           \
	{ .name = option, .kind = OPTION_TEXT, .offset = offsetof(struct values, member), .operand = what,             \
	  .text = help }

static const struct option_row rows[] = {
	TEXT_ROW("tracks", tracks, "FILE", "streamlines: .tck, .trk or .trx"),
	TEXT_ROW("dwi", dwi, "FILE", "the scan: NIfTI, plain or .gz"),
	TEXT_ROW("bvals", bvals, "FILE", "b-values, one for each volume"),
	TEXT_ROW("bvecs", bvecs, "FILE", "directions, 3 rows or 3 columns"),
	{ .name = "output", .letter = 'o', .kind = OPTION_TEXT, .offset = offsetof(struct values, output),
	  .operand = "FILE", .text = "the problem, HDF5, in the place of a file of that name" },
	TEXT_ROW("convention", convention, "dipy|encode", "how coefficients and signal are scaled (default: dipy)"),
	TEXT_ROW("sphere", sphere, "FILE", "directions of atoms: a list [N, 3], .npy or text"),
	{ .name = "grid", .kind = OPTION_INTEGER, .offset = offsetof(struct values, grid), .low = 2, .high = 2000,
	  .operand = "N", .text = "atoms on a grid of N azimuths (default: 32; encode: 360)" },
	{ .name = "all-atoms", .offset = offsetof(struct values, has_all_atoms),
	  .text = "keep atoms that no coefficient has" },
	TEXT_ROW("tensor", tensor, "AXIAL,RADIAL",
		 "eigenvalues: mm^2/s (default: 0.001,0); encode: um^2/ms (default: 1,0)"),
	TEXT_ROW("bvec-space", bvec_space, "voxel|fsl|scanner",
		 "axes of directions: voxels as they stand (default), FSL's rule, scanner"),
	TEXT_ROW("b0", b0, "B", "volumes up to this b-value are b = 0 (default: 20; encode: 0)"),
	TEXT_ROW("shell-tolerance", shell_tolerance, "B", "b-values nearer than this are one shell (default: 50)"),
	{ .name = "corner", .offset = offsetof(struct values, is_cornered),
	  .text = "points are half a voxel off: a voxel begins at its integer" },
	TEXT_ROW("repeated", repeated, "drop|keep",
		 "points at the place of the one before (default: keep, as dipy)"),
	{ .name = "min-points", .kind = OPTION_INTEGER, .offset = offsetof(struct values, min_points), .low = 2,
	  .high = INT32_MAX, .operand = "N", .text = "streamlines of fewer points have no coefficients (default: 2)" },
	TEXT_ROW("max-mem", max_memory, "BYTES", "refuse what may need more memory: 500M, 4G"),
};

static bool encode_scan(void *values, const word_list *operands, struct arena *arena, struct failure *failure)
{
	return operands->n == 0 ? run_encode(arena, values, failure)
				: fail(failure, OUTCOME_USAGE, "'%s' is no option", operands->items[0]);
}

static int encode_main(const struct command *command, struct arena *arena, int argc, char **argv)
{
	struct values values = { .convention = "dipy", .bvec_space = "voxel", .repeated = "keep", .min_points = 2 };
	return command_do(command, arena, argc, argv, &values, encode_scan);
}

const struct command life_encode_command = {
	.name = "life encode",
	.operands = "--tracks=… --dwi=… --bvals=… --bvecs=… -o FILE.h5",
	.sentence = "make a problem of streamlines and a scan",
	.details = "",
	.options = rows,
	.n_options = sizeof(rows) / sizeof(rows[0]),
	.run = encode_main,
};
