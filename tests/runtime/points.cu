/* SPDX-License-Identifier: MIT
 *
 * A device for test_device.c: the inspector of restructurings, and how what it has made is fetched. */
#include <pmgrt_cuda.h>
#include <pmgrt_cuda_inspect.h>

PMG_DEVICE_PART(points_device, pmg_cuda_inspect)

extern "C" bool points_fetch(pmg_plan *plan, int32_t array, void *to, int64_t bytes)
{
	return pmg_cuda_to_host(plan, to, pmg_cuda_data(plan, array), bytes) == PMG_OK;
}

extern "C" size_t points_held()
{
	size_t available = 0, all = 0;

	(void) cudaMemGetInfo(&available, &all);
	return all - available;
}
