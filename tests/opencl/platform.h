/* SPDX-License-Identifier: MIT */
#ifndef PMGC_TESTS_OPENCL_PLATFORM_H
#define PMGC_TESTS_OPENCL_PLATFORM_H

#include <stdbool.h>

/* Does the loader of OpenCL find a platform? */
bool opencl_is_here(void);

#endif
