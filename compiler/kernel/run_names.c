/* SPDX-License-Identifier: MIT
 *
 * Names of a running kernel program. Each thread sees a list, innermost first, that goes on with what was seen where
 * its team began. A variable is one element: who reads and writes it is checked as in memory. */
#include "kernel/run_private.h"

#include <string.h>

static uint32_t hash_of(const char *name)
{
	uint32_t hash = 2166136261u;

	for (; *name; name++)
		hash = (hash ^ (unsigned char) *name)*16777619u;
	return hash;
}

struct run_binding *run_bind(struct run *run, const char *name, const struct k_type *type, struct run_value value)
{
	struct run_binding *binding = run->unused;
	double *lanes = binding ? binding->lanes : NULL;

	if (binding)
		run->unused = binding->next;
	else
		binding = arena_new(run->arena, struct run_binding);
	*binding = (struct run_binding) { .next = run->fiber->names, .name = name, .hash = hash_of(name), .type = *type,
					  .element = type->name ? run_element_of(run, type->name) : -1,
					  .value = value, .lanes = lanes, .owner = run->fiber };
	binding->cell.is_set = true;
	run->fiber->names = binding;
	return binding;
}

struct run_binding *run_find(const struct run *run, const char *name)
{
	const uint32_t hash = hash_of(name);

	for (struct run_binding *binding = run->fiber->names; binding; binding = binding->next)
		if (binding->hash == hash && !strcmp(binding->name, name))
			return binding;
	return NULL;
}

/* Names declared since `outer` are seen no more; their arrays are no more. */
void run_leave(struct run *run, struct run_binding *outer)
{
	while (run->fiber->names != outer) {
		struct run_binding *binding = run->fiber->names;

		if (binding->is_array && binding->value.buffer->owner)
			run_drop_buffer(run, binding->value.buffer);
		run->fiber->names = binding->next;
		binding->next = run->unused;
		run->unused = binding;
	}
}

static void touch(struct run *run, struct run_binding *binding, enum run_access access)
{
	const char *beside = run_touch(run, &binding->cell, access, binding->owner == run->fiber, binding->reduces);

	if (beside)
		run_fault(run, "%s '%s', which another iteration or thread %s with nothing between them",
			  access == RUN_READ ? "reads" : "writes", binding->name, beside);
}

struct run_value run_name_read(struct run *run, const char *name)
{
	struct run_binding *binding = run_find(run, name);
	struct run_value value;

	if (!binding) {
		run_unknown(run, "name '%s'", name);
		return run_int(0);
	}
	if (binding->is_array)
		return binding->value;
	touch(run, binding, RUN_READ);
	value = binding->value;
	value.is_unset |= !binding->cell.is_set;
	if (value.kind == RUN_VECTOR)
		run_lanes_taken(run, &value);
	return value;
}

/* What a variable of that type holds. */
static struct run_value of_type(struct run *run, struct run_value value, const struct k_type *type, int element)
{
	if (value.kind == RUN_ADDRESS && type->is_pointer) {
		value.is_const = type->is_const;
		if (element >= 0 && element != RUN_VOID)
			value.element = element;
		return value;
	}
	return element >= 0 && !type->is_pointer ? run_converted(run, value, element) : value;
}

/* A vector stays while the name does. */
static void keep_lanes(struct run *run, struct run_binding *binding)
{
	struct run_value *value = &binding->value;

	if (value->kind != RUN_VECTOR)
		return;
	if (!binding->lanes)
		binding->lanes = arena_new_array(run->arena, double, RUN_MOST_LANES);
	memcpy(binding->lanes, value->lane, (size_t) value->lanes*sizeof *value->lane);
	value->lane = binding->lanes;
}

void run_name_write(struct run *run, const char *name, struct run_value value)
{
	struct run_binding *binding = run_find(run, name);

	if (!binding) {
		run_unknown(run, "name '%s'", name);
		return;
	}
	touch(run, binding, RUN_WRITE);
	binding->value = of_type(run, value, &binding->type, binding->element);
	keep_lanes(run, binding);
	binding->cell.is_set = true;
}
