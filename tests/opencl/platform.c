/* SPDX-License-Identifier: MIT
 *
 * The loader is opened by name, so that tests are built where there is none. */
#include "opencl/platform.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

bool opencl_is_here(void)
{
	void *loader = dlopen("libOpenCL.so", RTLD_NOW | RTLD_LOCAL);
	int32_t (*platforms)(uint32_t most, void **list, uint32_t *n) = NULL;
	uint32_t n = 0;

	if (loader)
		*(void **) (void *) &platforms = dlsym(loader, "clGetPlatformIDs");
	return platforms && platforms(0, NULL, &n) == 0 && n > 0;
}
