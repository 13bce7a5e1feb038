/* SPDX-License-Identifier: MIT
 *
 * A device for test_device.c: the inspector of restructurings, kernels that work on the live points of the first one or
 * on all, and how what a kernel would find is fetched. */
#include <pmgrt_cuda.h>
#include <pmgrt_cuda_inspect.h>
#include <pmgrt_cuda_live.h>

PMG_DEVICE_PART(points_device, pmg_cuda_inspect, pmg_cuda_fill_live)

/* The weights are the one argument that is not fixed. */
static int32_t weights_of(pmg_plan *plan)
{
	int32_t i = 0;

	while (!pmg_plan_array(plan, i).is_input || pmg_plan_array(plan, i).is_fixed)
		i++;
	return i;
}

/* A caller chooses by check_every: 1 says that other factors may be infinite, 2 asks for all points behind. */
extern "C" pmg_status points_kernel(pmg_plan *plan, const void *, pmg_control *control)
{
	const int choice = control ? control->check_every : 0;

	for (int pass = 0; pmg_cuda_pass(plan, pass); pass++)
		pmg_cuda_live_points(plan, 0, weights_of(plan), choice != 1, NULL);
	if (choice == 2)
		pmg_cuda_all_points(plan, 0);
	return PMG_OK;
}

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
