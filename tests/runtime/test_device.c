/* SPDX-License-Identifier: MIT
 *
 * Restructurings on a device (points.cu), emulated or, with PMG_NVCC="nvcc -arch=…", real, against the naive sort of
 * restructure_model.c: what it makes itself, what it leaves to the host, and what it says where memory is short;
 * device_live.c: points of zero weight.
 * Not with sanitizers, which do not follow the emulation's threads. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/device.h"

static bool device_open(struct device *device)
{
	const char *nvcc = getenv("PMG_NVCC"), *build = getenv("BUILD");
	char folder[] = "/tmp/pmg-device-XXXXXX", command[1024], path[64];
	void *library;

	if (!mkdtemp(folder))
		return false;
	snprintf(path, sizeof path, "%s/points.so", folder);
	snprintf(command, sizeof command, "%s -std=c++17 -Iruntime -shared -Xcompiler -fPIC tests/runtime/points.cu "
		 "-o %s -L%s -lpmgrt", nvcc ? nvcc : "tests/cuda/emulated/nvcc", path, build ? build : "build");
	library = system(command) == 0 ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
	remove(path);
	rmdir(folder);
	if (!library)
		return fprintf(stderr, "%s\n", dlerror()), false;
	device->part = dlsym(library, "points_device");
	*(void **) (void *) &device->kernel = dlsym(library, "points_kernel");
	*(void **) (void *) &device->fetch = dlsym(library, "points_fetch");
	*(void **) (void *) &device->held = dlsym(library, "points_held");
	return device->part && device->kernel && device->fetch && device->held;
}

static pmg_status points_plan(struct points *points, const struct device *device, pmg_context *context, pmg_plan **plan)
{
	points->desc.device = device->part;
	return pmg_plan_new(&points->desc, &points->args, &(pmg_options) { .context = context, .threads = 2 }, plan);
}

/* What the device has made comes to the host while it is looked at. */
static void check_arrays(struct tests *tests, const struct device *device, const struct points *points, pmg_plan *plan)
{
	void *fetched[POINTS_ARRAYS] = { NULL };

	for (int32_t i = 0; i < points->desc.n_arrays; i++) {
		const int64_t bytes = pmg_plan_array(plan, i).bytes;

		if (points->arrays[i].role != PMG_INSPECTED || plan->data[i])
			continue;
		fetched[i] = malloc((size_t) bytes + 1);
		CHECK(tests, fetched[i] && device->fetch(plan, i, fetched[i], bytes));
		plan->data[i] = fetched[i];
	}
	points_check(tests, points, plan, 2);
	for (int32_t i = 0; i < points->desc.n_arrays; i++)
		if (fetched[i]) {
			plan->data[i] = NULL;
			free(fetched[i]);
		}
}

static void test_choice(struct tests *tests, const struct device *device, const struct points_choice *choice,
			bool there)
{
	pmg_context *context = pmg_context_new(NULL);
	struct points points;
	pmg_plan *plan;
	size_t before;

	points_make(&points, choice);
	before = device->held();
	CHECK(tests, points_plan(&points, device, context, &plan) == PMG_OK);
	if (plan) {
		CHECK(tests, (pmg_plan_report(plan)->device_inspection > 0) == there);
		check_arrays(tests, device, &points, plan);
	}
	pmg_plan_destroy(plan);
	/* A real one also loads code, and gives memory in large pieces. */
	CHECK(tests, device->held() == before || getenv("PMG_NVCC"));
	pmg_context_free(context);
	points_free(&points);
}

static void test_choices(struct tests *tests, const struct device *device)
{
	static const int64_t sizes[] = { 0, 1, 2, 1000, 4099, 70000 };
	static const struct {
		struct points_choice choice;
		bool is_for_host;
	} rows[] = {
		{ { .n_keys = 1, .limits = { 1, 1, 1 }, .offsets = PMG_I64, .copies = PMG_U8, .given = PMG_I64 },
		  false },
		{ { .n_keys = 1, .limits = { 300, 7, 250 }, .offsets = PMG_I32, .copies = PMG_I32, .given = PMG_I32,
		    .is_by_threads = true, .is_for_inspection = true }, false },
		{ { .n_keys = 2, .limits = { 5000, 60, 999 }, .offsets = PMG_I32, .copies = PMG_U16, .given = PMG_I32,
		    .is_for_inspection = true }, false },
		{ { .n_keys = 3, .limits = { 30, 1, 70000 }, .offsets = PMG_I64, .copies = PMG_I32, .given = PMG_I32,
		    .has_places = true, .is_for_inspection = true }, false },
		{ { .n_keys = 1, .limits = { 40, 5, 300 }, .offsets = PMG_I32, .copies = PMG_I32, .given = PMG_I32,
		    .has_parts = true, .is_for_inspection = true }, false },
		{ { .n_keys = 2, .limits = { 5000, 60, 999 }, .offsets = PMG_I32, .copies = PMG_U16, .given = PMG_I32,
		    .has_parts = true, .is_for_inspection = true }, false },
		{ { .n_keys = 2, .limits = { 60, 5000, 9000 }, .offsets = PMG_I32, .copies = PMG_I64, .given = PMG_I32,
		    .has_runs = true, .is_for_inspection = true }, true },
		{ { .n_keys = 2, .limits = { 60, 5000, 9000 }, .offsets = PMG_I32, .copies = PMG_I64, .given = PMG_I32,
		    .is_renumbered = true, .is_for_inspection = true }, true },
		{ { .n_keys = 3, .limits = { 1000, (int64_t) 1 << 39, (int64_t) 3 << 20 }, .offsets = PMG_I32,
		    .copies = PMG_I64, .given = PMG_I64, .is_for_inspection = true }, true },
	};

	/* The largest, which takes most of the time, for every third choice, or all of them in the long form. */
	for (size_t c = 0; c < sizeof rows / sizeof rows[0]; c++)
		for (size_t s = 0; s < sizeof sizes / sizeof sizes[0] - (c % 3 && !getenv("PMG_TEST_LONG")); s++) {
			struct points_choice choice = rows[c].choice;

			choice.n = sizes[s];
			choice.seed = (unsigned) (17 * c + s);
			test_choice(tests, device, &choice, sizes[s] > 0 && !rows[c].is_for_host);
		}
}

/* What a type cannot hold is told as by the host. */
static void test_narrow(struct tests *tests, const struct device *device)
{
	const struct points_choice choice = {
		.n = 3000, .n_keys = 2, .limits = { 70, 300, 500 }, .offsets = PMG_I32, .copies = PMG_I32,
		.given = PMG_I32, .is_for_inspection = true
	};
	pmg_context *context = pmg_context_new(NULL);
	struct points points;
	pmg_plan *plan;

	points_make(&points, &choice);
	points.arrays[points.numbers[POINTS_ORDER]].type = PMG_U8;
	CHECK_FAILS(tests, points_plan(&points, device, context, &plan), context, PMG_BAD_DATA,
		    "array 'order' is u8, which cannot hold 2999 (points.pmg:1)");
	pmg_plan_destroy(plan);
	pmg_context_free(context);
	points_free(&points);
}

int main(void)
{
	struct device device;
	struct tests tests = { 0 };

	if (!device_open(&device))
		return 1;
	test_choices(&tests, &device);
	test_narrow(&tests, &device);
	test_device_live(&tests, &device);
	printf("%d passed, %d failed\n", tests.passed, tests.failed);
	return tests.failed != 0;
}
