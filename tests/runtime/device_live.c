/* SPDX-License-Identifier: MIT
 *
 * Points of zero weight left out on a device, against a naive filter of each part: weights that settle, shrink, come
 * back, alternate and are all zero; factors that are not finite; a device without room for the copy. */
#include "runtime/device.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N_WEIGHTS = 997, N_POINTS = 36000, PATIENCE = 3 };

struct scene {
	struct tests *tests;
	const struct device *device;
	struct points points;
	pmg_context *context;
	pmg_plan *plan;
	double weights[N_WEIGHTS];
	void *all[POINTS_ARRAYS], *shown[POINTS_ARRAYS];        /* by number; of what is stored by point or part */
};

static bool is_of_points(const struct scene *scene, int32_t number)
{
	const struct points *points = &scene->points;
	bool is = number == points->numbers[POINTS_PART_BEGINS] || number == points->numbers[POINTS_PART_ENDS];

	for (int i = 0; i < points->restructure.n_copies; i++)
		is = is || points->copies[i].to == number;
	return is;
}

static void fetch(struct scene *scene, void **arrays)
{
	for (int32_t i = 0; i < scene->points.desc.n_arrays; i++) {
		const int64_t bytes = pmg_plan_array(scene->plan, i).bytes;

		if (!is_of_points(scene, i))
			continue;
		arrays[i] = realloc(arrays[i], (size_t) bytes);
		CHECK(scene->tests, arrays[i] && scene->device->fetch(scene->plan, i, arrays[i], bytes));
	}
}

static void plan_again(struct scene *scene)
{
	const pmg_options options = { .threads = 2, .context = scene->context };

	pmg_plan_destroy(scene->plan);
	CHECK(scene->tests, pmg_plan_new(&scene->points.desc, &scene->points.args, &options, &scene->plan) == PMG_OK);
	fetch(scene, scene->all);
}

static void scene_begin(struct scene *scene, struct tests *tests, const struct device *device)
{
	static const struct points_choice choice = {
		.n = N_POINTS, .n_keys = 2, .limits = { 300, 70, N_WEIGHTS }, .offsets = PMG_I32, .copies = PMG_U16,
		.given = PMG_I32, .has_parts = true
	};
	const int64_t n = N_WEIGHTS;

	memset(scene, 0, sizeof *scene);
	scene->tests = tests;
	scene->device = device;
	scene->context = pmg_context_new(NULL);
	points_make(&scene->points, &choice);
	scene->points.desc.device = device->part;
	scene->points.desc.kernel = device->kernel;
	scene->points.args.live = pmg_dense(scene->weights, PMG_F64, 1, &n);
	plan_again(scene);
}

static void scene_end(struct scene *scene)
{
	pmg_plan_destroy(scene->plan);
	pmg_context_free(scene->context);
	points_free(&scene->points);
	for (int i = 0; i < POINTS_ARRAYS; i++) {
		free(scene->all[i]);
		free(scene->shown[i]);
	}
}

/* One weight in `step` is not zero, beginning with number `first`. */
static void weights_set(struct scene *scene, int first, int step)
{
	for (int i = 0; i < N_WEIGHTS; i++)
		scene->weights[i] = i % step == first ? 1.0 + i : i % 2 ? -0.0 : 0.0;
}

static int64_t part_at(const struct scene *scene, void *const *arrays, enum points_array which, int64_t part)
{
	return ((const int32_t *) arrays[scene->points.numbers[which]])[part];
}

static bool is_live(const struct scene *scene, const double *weights, int64_t k)
{
	return !weights || weights[((const uint16_t *) scene->all[scene->points.numbers[POINTS_KEYS + 2]])[k]] != 0;
}

/* Is point `to` of what is shown point k of all? */
static bool is_same(const struct scene *scene, int64_t to, int64_t k)
{
	for (int i = 0; i < scene->points.restructure.n_copies; i++) {
		const int32_t number = scene->points.copies[i].to;
		const size_t size = pmg_type_size(scene->points.arrays[number].type);

		if (memcmp((const char *) scene->shown[number] + (size_t) to * size,
			   (const char *) scene->all[number] + (size_t) k * size, size) != 0)
			return false;
	}
	return true;
}

/* That a kernel finds the points of these weights, NULL: all, and no other. */
static void shows(struct scene *scene, const double *weights)
{
	const int64_t n_parts = scene->plan->sizes[POINTS_N_PARTS];
	bool ok = n_parts > 0;

	fetch(scene, scene->shown);
	for (int64_t p = 0; p < n_parts; p++) {
		const int64_t begin = part_at(scene, scene->all, POINTS_PART_BEGINS, p);
		int64_t to = begin;

		for (int64_t k = begin; k < part_at(scene, scene->all, POINTS_PART_ENDS, p); k++)
			if (is_live(scene, weights, k))
				ok = ok && is_same(scene, to++, k);
		ok = ok && part_at(scene, scene->shown, POINTS_PART_BEGINS, p) == begin &&
		     part_at(scene, scene->shown, POINTS_PART_ENDS, p) == to;
	}
	CHECK(scene->tests, ok);
}

/* Runs with the present weights n times; each time these points are shown. */
static void runs(struct scene *scene, int n, const double *weights)
{
	for (int i = 0; i < n; i++) {
		CHECK(scene->tests, pmg_plan_execute(scene->plan, &scene->points.args, NULL) == PMG_OK);
		shows(scene, weights);
	}
}

static void test_shrink(struct scene *scene)
{
	double before[N_WEIGHTS];

	weights_set(scene, 0, 1);
	runs(scene, PATIENCE, NULL);
	weights_set(scene, 1, 5);
	runs(scene, PATIENCE - 1, NULL);
	runs(scene, 1, scene->weights);
	memcpy(before, scene->weights, sizeof before);
	weights_set(scene, 1, 25);
	runs(scene, PATIENCE - 1, before);
	runs(scene, 1, scene->weights);
	memcpy(before, scene->weights, sizeof before);
	weights_set(scene, N_WEIGHTS, N_WEIGHTS + 1);
	runs(scene, PATIENCE - 1, before);
	runs(scene, PATIENCE, scene->weights);
}

/* What comes back is there at once, and the next copy later; two that alternate are both in it. */
static void test_return(struct scene *scene)
{
	double both[N_WEIGHTS];

	weights_set(scene, 1, 5);
	runs(scene, 2 * PATIENCE - 1, NULL);
	runs(scene, 1, scene->weights);
	for (int i = 0; i < 4 * PATIENCE - 1; i++) {
		weights_set(scene, 2 + i % 2, 5);
		runs(scene, 1, NULL);
	}
	for (int i = 0; i < N_WEIGHTS; i++)
		both[i] = i % 5 == 2 || i % 5 == 3;
	runs(scene, 1, both);
}

/* Kernels that ask for all points, or whose other factors may be infinite, with the copy there. */
static void test_all(struct scene *scene)
{
	for (int32_t choice = 1; choice <= 2; choice++) {
		pmg_control control = { .budget = -1, .check_every = choice };

		CHECK(scene->tests, pmg_plan_execute(scene->plan, &scene->points.args, &control) == PMG_OK);
		shows(scene, NULL);
	}
}

static void test_infinite(struct scene *scene)
{
	((float *) scene->points.args.ratio.data)[77] = (float) INFINITY;
	plan_again(scene);
	weights_set(scene, 1, 5);
	runs(scene, PATIENCE, NULL);
	((float *) scene->points.args.ratio.data)[77] = 0;
}

/* Without memory all points stay, and the report says so. Of a real device, nobody knows how much that is. */
static void test_room(struct scene *scene, int64_t bytes)
{
	const pmg_report *report;
	char text[32];

	if (getenv("PMG_NVCC"))
		return;
	snprintf(text, sizeof text, "%zu", scene->device->held() + (size_t) N_POINTS);
	setenv("PMG_EMULATED_MEMORY", text, 1);
	plan_again(scene);
	runs(scene, PATIENCE, NULL);
	report = pmg_plan_report(scene->plan);
	CHECK(scene->tests, report->device_lacks > 0 && report->device_lacks + report->device_bytes == bytes);
	unsetenv("PMG_EMULATED_MEMORY");
}

void test_device_live(struct tests *tests, const struct device *device)
{
	struct scene scene;
	int64_t bytes;

	scene_begin(&scene, tests, device);
	bytes = pmg_plan_report(scene.plan)->device_bytes;
	CHECK(tests, pmg_plan_report(scene.plan)->device_lacks == 0);
	test_shrink(&scene);
	test_return(&scene);
	test_all(&scene);
	test_infinite(&scene);
	test_room(&scene, bytes);
	scene_end(&scene);
}
