/* SPDX-License-Identifier: MIT
 *
 * The device of points.cu, emulated or real, for test_device.c and its parts. */
#ifndef TESTS_RUNTIME_DEVICE_H
#define TESTS_RUNTIME_DEVICE_H

#include "runtime/restructure.h"

struct device {
	const pmg_device_part *part;
	pmg_kernel *kernel;
	bool (*fetch)(pmg_plan *plan, int32_t array, void *to, int64_t bytes);
	size_t (*held)(void);
};

void test_device_live(struct tests *tests, const struct device *device);

#endif
