/* SPDX-License-Identifier: MIT
 *
 * Where outputs go. What this run reads is not overwritten by what it writes, but for an `inout` that goes
 * back to where it came from; and no two outputs go to one place. What cannot be written is refused before
 * anything is computed. */
#include "formats/streams.h"
#include "run/run.h"

#include <string.h>

static bool place(struct session *s, struct argument *argument, struct failure *failure)
{
	struct location *target = &argument->target;
	if (!location_parse(target, s->arena, argument->save, failure))
		return false;
	target->force = s->values.force ? FORCE_GIVEN : FORCE_OFFERED;
	if ((!target->inner || !*target->inner) && target->format && target->format->write == hdf5_write)
		target->inner = arena_printf(s->arena, "/%s", argument->array->name);
	return true;
}

static bool spares_input(const struct argument *output, const struct argument *input, struct failure *failure)
{
	if (output == input || input->filling != FILL_FILE ||
	    !location_covers(&output->target, &input->place))
		return true;
	fail(failure, OUTCOME_USAGE, "-o %s=%s: that is the input '%s' of this run", output->array->name,
	     output->save, input->array->name);
	fail_help(failure, "name another %s", output->target.inner ? "object or file" : "file");
	return false;
}

static bool spares_output(const struct argument *output, const struct argument *other,
			  struct failure *failure)
{
	if (output == other || !other->save ||
	    (!location_covers(&output->target, &other->target) &&
	     !location_covers(&other->target, &output->target)))
		return true;
	return fail(failure, OUTCOME_USAGE, "-o %s=%s: '%s' goes there too", output->array->name,
		    output->save, other->array->name);
}

bool outputs_place(struct session *s, struct failure *failure)
{
	for (int i = 0; i < s->arguments.n; i++) {
		struct argument *output = &s->arguments.items[i];
		if (!output->save)
			continue;
		if (!place(s, output, failure))
			return false;
		for (int k = 0; k < s->arguments.n; k++)
			if (!spares_input(output, &s->arguments.items[k], failure) ||
			    (k < i && !spares_output(output, &s->arguments.items[k], failure)))
				return false;
	}
	return true;
}

typedef bool output_step(const struct location *target, const struct content *content, struct failure *failure);

static bool each_output(const struct session *s, const struct results *results, output_step *step,
			struct failure *failure)
{
	for (int i = 0; i < s->arguments.n; i++) {
		struct member member = { .array = results->arrays[i] };
		struct content content = { .kind = CONTENT_ARRAY, .n_members = 1, .members = &member };
		if (s->arguments.items[i].save && !step(&s->arguments.items[i].target, &content, failure))
			return false;
	}
	return true;
}

static bool may_be_written(const struct location *target, const struct content *content, struct failure *failure)
{
	return content_fits(target, content, failure) && output_is_possible(target->path, failure);
}

bool outputs_fit(const struct session *s, const struct results *results, struct failure *failure)
{
	return each_output(s, results, may_be_written, failure);
}

bool results_save(const struct session *s, const struct results *results, struct failure *failure)
{
	return each_output(s, results, content_write, failure);
}
