/* SPDX-License-Identifier: MIT
 *
 * The LiFE phantom's problem: that it is a function of its options alone, that PHI, D and y are what they are
 * said to be, and that its statistics are those of a connectome. With sanitizers only for --long. */
#include "phantom/anatomy.h"
#include "harness.h"

#include <stdlib.h>
#include <string.h>

/* ---- Function of the options ----------------------------------------------------- */

static bool problems_equal(const struct life_problem *a, const struct life_problem *b)
{
	int64_t n = a->n_coeffs;
	return n == b->n_coeffs && a->n_atoms == b->n_atoms && a->n_voxels == b->n_voxels &&
	       a->n_fibers == b->n_fibers && a->n_theta == b->n_theta &&
	       phantom_same(a->atom, b->atom, n, 4) && phantom_same(a->voxel, b->voxel, n, 4) &&
	       phantom_same(a->fiber, b->fiber, n, 4) && phantom_same(a->value, b->value, n, 8) &&
	       phantom_same(a->D, b->D, a->n_atoms * a->n_theta, 8) &&
	       phantom_same(a->y, b->y, a->n_voxels * a->n_theta, 8) &&
	       phantom_same(a->w_true, b->w_true, a->n_fibers, 8) &&
	       phantom_same(a->w, b->w, a->n_fibers, 8) && phantom_same(a->S0, b->S0, a->n_voxels, 8) &&
	       phantom_same(a->directions, b->directions, 3 * a->n_theta, 8) &&
	       phantom_same(a->voxel_coords, b->voxel_coords, 3 * a->n_voxels, 4);
}

static void test_determinism(struct phantom_tally *tally)
{
	static const char *const others[] = {
		"--scale 0.01 --threads 1",
		"--scale 0.01 --threads 2",
		"--scale 0.01 --threads 5",
		"--fibers 5000",
		"--seed 1 --fibers=5000 --scale=0.01",
	};
	struct life_phantom_options options;
	struct life_problem first = phantom_make("--scale 0.01 --threads 1", &options);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		struct life_problem other = phantom_make(others[i], &options);
		CHECK(tally, problems_equal(&first, &other));
		life_problem_free(&other);
	}
	struct life_problem reseeded = phantom_make("--scale 0.01 --seed 2", &options);
	CHECK(tally, !problems_equal(&first, &reseeded));
	life_problem_free(&reseeded);
	life_problem_free(&first);
}

/* ---- What a problem promises ------------------------------------------------------ */

static int compare_entries(const struct life_problem *p, int64_t a, int64_t b)
{
	if (p->atom[a] != p->atom[b])
		return p->atom[a] < p->atom[b] ? -1 : 1;
	if (p->voxel[a] != p->voxel[b])
		return p->voxel[a] < p->voxel[b] ? -1 : 1;
	return (p->fiber[a] > p->fiber[b]) - (p->fiber[a] < p->fiber[b]);
}

static bool is_strictly_sorted(const struct life_problem *p)
{
	for (int64_t k = 1; k < p->n_coeffs; k++)
		if (compare_entries(p, k - 1, k) >= 0)
			return false;
	return true;
}

static bool is_in_range(const struct life_problem *p)
{
	for (int64_t k = 0; k < p->n_coeffs; k++)
		if (p->atom[k] < 0 || p->atom[k] >= p->n_atoms || p->voxel[k] < 0 ||
		    p->voxel[k] >= p->n_voxels || p->fiber[k] < 0 || p->fiber[k] >= p->n_fibers)
			return false;
	return true;
}

/* Whether all of 0 .. n-1 occur in "index". */
static bool covers(const int32_t *index, int64_t n_coeffs, int64_t n)
{
	bool *seen = calloc((size_t) n, sizeof(*seen));
	int64_t distinct = 0;
	for (int64_t k = 0; k < n_coeffs; k++) {
		distinct += !seen[index[k]];
		seen[index[k]] = true;
	}
	free(seen);
	return distinct == n;
}

struct visit {
	int32_t voxel, fiber;
	double value;
};

static int compare_visits(const void *left, const void *right)
{
	const struct visit *a = left, *b = right;
	if (a->voxel != b->voxel)
		return a->voxel < b->voxel ? -1 : 1;
	return (a->fiber > b->fiber) - (a->fiber < b->fiber);
}

/* The values of a fiber in a voxel sum to the voxel's S0. */
static bool sums_to_S0(const struct life_problem *p)
{
	struct visit *visits = calloc((size_t) p->n_coeffs, sizeof(*visits));
	bool holds = true;
	for (int64_t k = 0; k < p->n_coeffs; k++)
		visits[k] = (struct visit){ p->voxel[k], p->fiber[k], p->value[k] };
	qsort(visits, (size_t) p->n_coeffs, sizeof(*visits), compare_visits);
	for (int64_t k = 0, next; k < p->n_coeffs; k = next) {
		double sum = 0, S0 = p->S0[visits[k].voxel];
		for (next = k; next < p->n_coeffs && compare_visits(&visits[k], &visits[next]) == 0; next++)
			sum += visits[next].value;
		holds = holds && fabs(sum - S0) <= 1e-12 * S0;
	}
	free(visits);
	return holds;
}

static bool is_demeaned(const double *rows, int64_t n_rows, int64_t n_columns, double scale)
{
	for (int64_t i = 0; i < n_rows; i++) {
		double sum = 0;
		for (int64_t t = 0; t < n_columns; t++)
			sum += rows[i * n_columns + t];
		if (!(fabs(sum) <= 1e-13 * scale * (double) n_columns))
			return false;
	}
	return true;
}

static bool voxels_ascend(const struct life_problem *p)
{
	for (int64_t v = 1; v < p->n_voxels; v++) {
		const int32_t *a = p->voxel_coords + 3 * (v - 1), *b = a + 3;
		bool ascends = a[0] != b[0] ? a[0] < b[0] : a[1] != b[1] ? a[1] < b[1] : a[2] < b[2];
		if (!ascends || a[0] < 0 || a[1] < 0 || a[2] < 0)
			return false;
	}
	return true;
}

static bool has_zero(const double *values, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		if (!(values[i] > 0))
			return true;
	return false;
}

static void test_structure(struct phantom_tally *tally)
{
	static const char *const lines[] = {
		"--fibers 1",
		"--fibers 1 --active 0 --snr 0",
		"--fibers 2 --grid 2 --ntheta 1",
		"--fibers 300 --voxel-size 10",
		"--fibers 257 --grid 360 --ntheta 7 --tail 1",
		"--fibers 1000 --voxel-size 0.5 --step 0.1",
		"--scale 0.02 --coherence 0 --tail 0",
		"--scale 0.02 --coherence 45 --length 1 --radial 0.3",
		"--scale 0.03 --active 1 --bvalue 0",
	};
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct life_phantom_options options;
		struct life_problem p = phantom_make(lines[i], &options);
		CHECK(tally, p.n_atoms == (options.grid - 1) * options.grid + 1);
		CHECK(tally, p.n_fibers == options.fibers && p.n_theta == options.ntheta);
		CHECK(tally, is_in_range(&p));
		CHECK(tally, is_strictly_sorted(&p));
		CHECK(tally, covers(p.fiber, p.n_coeffs, p.n_fibers));
		CHECK(tally, covers(p.voxel, p.n_coeffs, p.n_voxels));
		CHECK(tally, sums_to_S0(&p));
		CHECK(tally, is_demeaned(p.D, p.n_atoms, p.n_theta, 1));
		CHECK(tally, is_demeaned(p.y, p.n_voxels, p.n_theta, 1e4));
		CHECK(tally, voxels_ascend(&p));
		CHECK(tally, !has_zero(p.w, p.n_fibers) && !has_zero(p.S0, p.n_voxels));
		life_problem_free(&p);
	}
}

/* ---- Dictionary ----------------------------------------------------------------------- */

/* Orientations are unit vectors on the half sphere, and each, with either sign, is its own nearest atom. */
static bool grid_is_consistent(int64_t grid)
{
	for (int64_t atom = 0; atom < dictionary_atoms(grid); atom++) {
		double a[3], minus[3], squares = 0;
		dictionary_orientation(grid, atom, a);
		for (int i = 0; i < 3; i++) {
			minus[i] = -a[i];
			squares += a[i] * a[i];
		}
		if (fabs(squares - 1) > 1e-14 || a[1] < 0 || dictionary_nearest(grid, a) != atom ||
		    dictionary_nearest(grid, minus) != atom)
			return false;
	}
	return true;
}

static double angle_between(const double a[3], const double b[3])
{
	double dot = 0, squares = 0;
	for (int i = 0; i < 3; i++) {
		dot += a[i] * b[i];
		squares += a[i] * a[i];
	}
	return acos(fmin(1, fabs(dot) / sqrt(squares)));
}

/* No direction is further from its atom than half a cell's diagonal. */
static bool nearest_is_near(int64_t grid)
{
	struct random_stream random = random_stream_of(7, RANDOM_FIBER, 0);
	for (int i = 0; i < 20000; i++) {
		double direction[3], atom[3];
		for (int k = 0; k < 3; k++)
			direction[k] = random_normal(&random);
		dictionary_orientation(grid, dictionary_nearest(grid, direction), atom);
		if (angle_between(direction, atom) > 0.7072 * 3.14159266 / (double) grid)
			return false;
	}
	return true;
}

static void test_dictionary(struct phantom_tally *tally)
{
	static const int64_t grids[] = { 2, 3, 16, 72, 360 };
	static const double zero[3] = { 0, 0, 0 }, x_axis[3] = { -2, 0, 0 }, down[3] = { 0, 0, -3 };
	for (size_t i = 0; i < sizeof(grids) / sizeof(grids[0]); i++) {
		CHECK(tally, grid_is_consistent(grids[i]));
		CHECK(tally, nearest_is_near(grids[i]));
	}
	CHECK(tally, dictionary_atoms(72) == 5113);
	CHECK(tally, dictionary_atoms(360) == 129241);
	CHECK(tally, dictionary_nearest(72, zero) == 0 && dictionary_nearest(72, down) == 0);
	CHECK(tally, dictionary_nearest(72, x_axis) == 36);
}

/* A row of D is exp(-b cos^2) but for a constant; the directions are far apart and cover the half sphere. */
static void test_signal_of_atoms(struct phantom_tally *tally)
{
	struct life_phantom_options options;
	struct life_problem p = phantom_make("--fibers 1 --bvalue 3 --radial 0.2 --ntheta 96", &options);
	double worst = 0, nearest = 4;
	for (int64_t atom = 0; atom < p.n_atoms; atom += 97) {
		const double *row = p.D + atom * p.n_theta;
		double a[3];
		dictionary_orientation(options.grid, atom, a);
		double c0 = cos(angle_between(a, p.directions));
		for (int64_t t = 1; t < p.n_theta; t++) {
			double c = cos(angle_between(a, p.directions + 3 * t));
			double expected = exp(-3 * (0.2 + 0.8 * c * c)) - exp(-3 * (0.2 + 0.8 * c0 * c0));
			worst = fmax(worst, fabs(row[t] - row[0] - expected));
		}
	}
	for (int64_t s = 0; s < p.n_theta; s++)
		for (int64_t t = 0; t < s; t++)
			nearest = fmin(nearest, angle_between(p.directions + 3 * s, p.directions + 3 * t));
	CHECK(tally, worst < 1e-14);
	CHECK(tally, nearest > 0.1);
	life_problem_free(&p);
}

/* ---- Products ---------------------------------------------------------------------------- */

static void product(const struct life_problem *p, const double *w, double *Y)
{
	memset(Y, 0, (size_t) (p->n_voxels * p->n_theta) * sizeof(*Y));
	for (int64_t k = 0; k < p->n_coeffs; k++)
		for (int64_t t = 0; t < p->n_theta; t++)
			Y[p->voxel[k] * p->n_theta + t] +=
				p->D[p->atom[k] * p->n_theta + t] * w[p->fiber[k]] * p->value[k];
}

static void adjoint(const struct life_problem *p, const double *Y, double *w)
{
	memset(w, 0, (size_t) p->n_fibers * sizeof(*w));
	for (int64_t k = 0; k < p->n_coeffs; k++)
		for (int64_t t = 0; t < p->n_theta; t++)
			w[p->fiber[k]] += p->value[k] * p->D[p->atom[k] * p->n_theta + t] *
					  Y[p->voxel[k] * p->n_theta + t];
}

static double dot(const double *a, const double *b, int64_t n)
{
	double sum = 0;
	for (int64_t i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}

static void test_adjoint(struct phantom_tally *tally)
{
	struct life_phantom_options options;
	struct life_problem p = phantom_make("--scale 0.01", &options);
	int64_t n = p.n_voxels * p.n_theta;
	double *Mw = calloc((size_t) n, sizeof(*Mw)), *Mty = calloc((size_t) p.n_fibers, sizeof(*Mty));
	product(&p, p.w, Mw);
	adjoint(&p, p.y, Mty);
	double left = dot(Mw, p.y, n), right = dot(p.w, Mty, p.n_fibers);
	CHECK(tally, fabs(left - right) <= 1e-12 * sqrt(dot(Mw, Mw, n) * dot(p.y, p.y, n)));
	CHECK(tally, fabs(left) > 0.01 * sqrt(dot(Mw, Mw, n) * dot(p.y, p.y, n)));
	free(Mw);
	free(Mty);
	life_problem_free(&p);
}

/* Norm of y - M w_true over the norm of M w_true. */
static double misfit(const struct life_problem *p)
{
	int64_t n = p->n_voxels * p->n_theta;
	double *Y = calloc((size_t) n, sizeof(*Y)), squares = 0;
	product(p, p->w_true, Y);
	for (int64_t i = 0; i < n; i++)
		squares += (p->y[i] - Y[i]) * (p->y[i] - Y[i]);
	double relative = sqrt(squares / dot(Y, Y, n));
	free(Y);
	return relative;
}

static double active_share(const struct life_problem *p)
{
	int64_t active = 0;
	for (int64_t f = 0; f < p->n_fibers; f++)
		active += p->w_true[f] > 0;
	return (double) active / (double) p->n_fibers;
}

static void test_signal(struct phantom_tally *tally)
{
	struct life_phantom_options options;
	struct life_problem pure = phantom_make("--scale 0.01 --snr 0 --active 0.5", &options);
	struct life_problem noisy = phantom_make("--scale 0.01 --snr 4 --active 0.1", &options);
	struct life_problem silent = phantom_make("--scale 0.01 --active 0", &options);
	CHECK(tally, misfit(&pure) < 1e-13);
	CHECK(tally, fabs(misfit(&noisy) - 0.25) < 0.01);
	CHECK(tally, fabs(active_share(&pure) - 0.5) < 0.03 && fabs(active_share(&noisy) - 0.1) < 0.02);
	CHECK(tally, dot(silent.y, silent.y, silent.n_voxels * silent.n_theta) <= 0);
	CHECK(tally, active_share(&silent) <= 0);
	life_problem_free(&pure);
	life_problem_free(&noisy);
	life_problem_free(&silent);
}

/* ---- Statistics ------------------------------------------------------------------------------ */

static struct life_statistics statistics_of(const struct life_problem *problem)
{
	struct life_statistics statistics = { 0 };
	char error[256];
	life_statistics_compute(problem, &statistics, error, sizeof(error));
	return statistics;
}

static struct life_statistics statistics_with(const char *line)
{
	struct life_phantom_options options;
	struct life_problem problem = phantom_make(line, &options);
	struct life_statistics statistics = statistics_of(&problem);
	life_problem_free(&problem);
	return statistics;
}

static bool is_between(double low, double value, double high)
{
	return low <= value && value <= high;
}

/* The bands are those of the reference phantom's tenth and full sizes, with room for other seeds. */
static void test_bands(struct phantom_tally *tally)
{
	struct life_phantom_options options;
	struct life_problem tenth = phantom_make("--scale 0.1", &options);
	CHECK(tally, is_between(1.5e6, (double) tenth.n_coeffs, 2.8e6));
	CHECK(tally, is_between(18500, (double) tenth.n_voxels, 21000));
	struct life_statistics s = statistics_of(&tenth);
	CHECK(tally, is_between(1.35, s.coeffs_per_pair, 1.65));
	CHECK(tally, is_between(5, s.coeffs_q10, 25));
	CHECK(tally, is_between(60, s.coeffs_q50, 110));
	CHECK(tally, is_between(130, s.coeffs_q90, 280));
	CHECK(tally, is_between(400, s.coeffs_q99, 900));
	CHECK(tally, is_between(2000, s.coeffs_max, 10000));
	CHECK(tally, is_between(0.15, s.half_in_voxels, 0.25));
	life_problem_free(&tenth);
}

static void test_knobs(struct phantom_tally *tally)
{
	struct life_statistics straight = statistics_with("--scale 0.03 --coherence 3");
	struct life_statistics usual = statistics_with("--scale 0.03");
	struct life_statistics jittery = statistics_with("--scale 0.03 --coherence 14");
	struct life_statistics even = statistics_with("--scale 0.03 --tail 0");
	struct life_statistics uneven = statistics_with("--scale 0.03 --tail 0.8");
	CHECK(tally, straight.coeffs_per_pair > 1.3 * usual.coeffs_per_pair);
	CHECK(tally, usual.coeffs_per_pair > 1.1 * jittery.coeffs_per_pair);
	CHECK(tally, uneven.coeffs_max > usual.coeffs_max && usual.coeffs_max > 3 * even.coeffs_max);
	CHECK(tally,
	      uneven.half_in_voxels < usual.half_in_voxels && usual.half_in_voxels < even.half_in_voxels);
}

static void test_statistics_by_hand(struct phantom_tally *tally)
{
	int32_t atom[] = { 0, 0, 0, 1, 1, 1 }, voxel[] = { 0, 1, 1, 1, 1, 2 };
	struct life_problem problem = { .n_coeffs = 6, .n_voxels = 3, .atom = atom, .voxel = voxel };
	struct life_statistics s;
	char error[64];
	CHECK(tally, life_statistics_compute(&problem, &s, error, sizeof(error)) == PMG_OK);
	CHECK(tally, s.n_pairs == 4 && is_between(1.5, s.coeffs_per_pair, 1.5));
	CHECK(tally, s.coeffs_q10 == 1 && s.coeffs_q50 == 1 && s.coeffs_max == 4);
	CHECK(tally, s.pairs_q50 == 1 && s.pairs_max == 2);
	CHECK(tally, fabs(s.half_in_voxels - 1.0 / 3) < 1e-15);
}

int main(void)
{
	struct phantom_tally tally = { 0, 0 };
	test_determinism(&tally);
	test_structure(&tally);
	test_dictionary(&tally);
	test_signal_of_atoms(&tally);
	test_adjoint(&tally);
	test_signal(&tally);
	test_bands(&tally);
	test_knobs(&tally);
	test_statistics_by_hand(&tally);
	return phantom_tally_close(&tally);
}
