/* SPDX-License-Identifier: MIT
 *
 * Restructurings that a device makes: what its part is given, and what becomes of it in the plan. The device has to
 * have all points in words of 64 bits, the arrays densely, and multiplies no values; where it cannot, the host makes
 * everything. */
#include "inspect/restructure.h"

static bool source_set(const struct plan *plan, int32_t number, pmg_device_source *source)
{
	const struct elements values = array_values(plan, number);

	source->data = values.data;
	source->type = values.type;
	return values.data && values.stride == (int64_t) pmg_type_size(values.type);
}

/* False: this is for the host. */
static bool sources_set(const struct inspection *in, pmg_device_inspection *device)
{
	const struct plan *plan = in->plan;
	int bits = bits_of(in->order.n);

	device->index_bits = bits;
	for (int32_t k = 0; k < in->desc->n_keys; k++) {
		device->keys[k].bits = bits_of(array_limit(&plan->desc->arrays[in->desc->keys[k]], plan->extents));
		bits += device->keys[k].bits;
		if (!source_set(plan, in->desc->keys[k], &device->keys[k]))
			return false;
	}
	for (int32_t i = 0; i < in->desc->n_copies; i++) {
		device->from[i] = (pmg_device_source) { .type = PMG_I64 };
		if (in->desc->copies[i].from >= 0 && !source_set(plan, in->desc->copies[i].from, &device->from[i]))
			return false;
	}
	return bits < 64;
}

static bool has_factors(const struct plan *plan, const pmg_restructure_desc *desc)
{
	bool has = false;

	for (int32_t i = 0; i < n_made(desc); i++) {
		const int32_t number = made_array(desc, i).number;

		has = has || (number >= 0 && plan->desc->arrays[number].n_factors > 0);
	}
	return has;
}

/* Of begins and quartiles together. */
static int64_t samples_bytes(const struct inspection *in)
{
	return (3 * in->n_values + 1) * (int64_t) sizeof(int64_t);
}

void device_release(struct inspection *in)
{
	plan_release(in->plan, in->begins, samples_bytes(in));
	in->begins = NULL;
}

/* What the host needs of segments to cut them into parts. */
static bool samples_new(struct inspection *in, pmg_device_inspection *device)
{
	if (!in->desc->parts)
		return true;
	in->begins = plan_allocate(in->plan, samples_bytes(in));
	in->quartiles = in->begins ? in->begins + in->n_values + 1 : NULL;
	device->begins = in->begins;
	device->quartiles = in->quartiles;
	return in->begins;
}

pmg_status device_inspect(struct inspection *in, bool *is_made)
{
	struct plan *plan = in->plan;
	const pmg_restructure_desc *desc = in->desc;
	const int64_t bytes = (desc->n_copies + 1) * (int64_t) sizeof(pmg_device_source);
	pmg_device_inspection device = {
		.desc = desc, .n = in->order.n, .n_values = in->n_values, .rank = in->rank,
		.n_chunks = chunks_of(desc, in->order.n, plan->kernel.threads)
	};
	pmg_status status = PMG_OK;

	if (!plan->desc->device || !plan->desc->device->inspect || desc->n_renumberings > 0)
		return PMG_OK;
	if (has_runs(in) || has_factors(plan, desc) || in->order.n == 0 || in->order.n >= INT32_MAX)
		return PMG_OK;
	device.from = plan_allocate(plan, bytes);
	if (!device.from)
		return PMG_NO_RESOURCES;
	if (!samples_new(in, &device))
		status = PMG_NO_RESOURCES;
	else if (sources_set(in, &device))
		status = plan->desc->device->inspect(&plan->kernel, &device, is_made);
	plan_release(plan, device.from, bytes);
	if (!*is_made) {
		device_release(in);
		return status;
	}
	plan->report.device_inspection += device.seconds;
	if (desc->n_runs >= 0)
		plan->sizes[desc->n_runs] = device.n_runs;
	if (desc->n_chunks >= 0)
		plan->sizes[desc->n_chunks] = device.n_chunks;
	return status;
}

int64_t pmg_plan_inspected(pmg_plan *handle, int32_t array, int64_t n)
{
	struct plan *plan = plan_of(handle);

	plan->bindings[array].device_bytes = inspected_bytes(plan->desc->arrays[array].type, n);
	return plan->bindings[array].device_bytes;
}
