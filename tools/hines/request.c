/* SPDX-License-Identifier: MIT
 *
 * What is asked of cells: numbers and conventions, as given and completed, and options that files have no use for. */
#include <math.h>
#include <string.h>

#include "hines/cells.h"

/* ---- The request --------------------------------------------------------------------------- */

struct cell_request cell_request_default(void)
{
	return (struct cell_request){
		.physics = { .ra = 150,
			     .cm = 1,
			     .leak = 1e-4,
			     .rest = -65,
			     .dt = 0.025,
			     .voltage_low = -65,
			     .voltage_high = -45,
			     .seed = NO_SEED },
	};
}

static bool take_name(const char *option, const char *what, const char *word, const char *const *names, int *value,
		      struct failure *failure)
{
	int n = 0;
	for (; word && names[n]; n++)
		if (strcmp(names[n], word) == 0) {
			*value = n;
			return true;
		}
	if (!word)
		return true;
	fail(failure, OUTCOME_USAGE, "--%s=%s is no %s", option, word, what);
	fail_help_choose(failure, word, names, n);
	return false;
}

enum range { ANY_NUMBER, FROM_ZERO, ABOVE_ZERO };

static bool is_in_range(enum range range, double value)
{
	return isfinite(value) && (range == ANY_NUMBER || value > 0 || (range == FROM_ZERO && value == 0));
}

static bool take_number(const char *option, const char *text, enum range range, double *value, struct failure *failure)
{
	static const char *const names[] = { "", " of 0 or more", " above 0" };
	if (!text || (parse_real(text, value) && is_in_range(range, *value)))
		return true;
	return fail(failure, OUTCOME_USAGE, "--%s=%s is not a number%s", option, text, names[range]);
}

/* V or LOW..HIGH */
static bool take_voltage(const char *text, struct physics *physics, struct failure *failure)
{
	char low[32];
	const char *dots = text ? strstr(text, "..") : NULL;
	if (!text)
		return true;
	snprintf(low, sizeof(low), "%.*s", dots ? (int) (dots - text) : (int) strlen(text), text);
	return take_number("voltage", low, ANY_NUMBER, &physics->voltage_low, failure) &&
	       take_number("voltage", dots ? dots + 2 : low, ANY_NUMBER, &physics->voltage_high, failure) &&
	       (physics->voltage_low <= physics->voltage_high ||
		fail(failure, OUTCOME_USAGE, "--voltage=%s: the lowest is above the highest", text));
}

/* Of two pieces of a branch that is just longer, none is below LEAST_LENGTH. */
static bool take_max_length(const char *text, double *length, struct failure *failure)
{
	if (!take_number("max-length", text, ABOVE_ZERO, length, failure))
		return false;
	return !text || *length >= 2 * LEAST_LENGTH ||
	       fail(failure, OUTCOME_USAGE, "--max-length=%s is below %g um: pieces below %g um are taken as so long",
		    text, 2 * LEAST_LENGTH, LEAST_LENGTH);
}

static bool take_conventions(struct cell_request *r, struct failure *failure)
{
	struct conventions *c = &r->conventions;
	int convention = 0, soma = 0, roots = 0, order = 0, unit = 0, scale = 0;
	if (!take_name("convention", "convention", r->convention, convention_names, &convention, failure) ||
	    !take_name("soma", "convention", r->soma, soma_names, &soma, failure) ||
	    !take_name("roots", "convention", r->roots, roots_names, &roots, failure) ||
	    !take_name("order", "convention", r->order, node_order_names, &order, failure) ||
	    !take_name("unit", "unit", r->unit, unit_names, &unit, failure) ||
	    !take_name("scale", "way", r->scale, scale_names, &scale, failure))
		return false;
	c->convention = (enum cell_scheme) convention;
	c->soma = (enum soma) soma;
	c->roots = (enum roots) roots;
	c->order = (enum node_order) order;
	c->unit = (enum unit) unit;
	c->unit_is_given = r->unit != NULL;
	c->scale = (enum scale) scale;
	return true;
}

/* A simulator's convention says itself what a soma is and how nodes are ordered; one rule says where they are. */
static bool check_conventions(const struct cell_request *r, struct failure *failure)
{
	const struct conventions *c = &r->conventions;
	const char *idle = r->soma ? "soma" : r->order ? "order" : NULL;
	if (c->convention != CONVENTION_POINTS && idle)
		return fail(failure, OUTCOME_USAGE,
			    "--%s has no effect with --convention=%s, which has one of its own", idle, r->convention);
	if (r->d_lambda && c->convention != CONVENTION_NEURON)
		return fail(failure, OUTCOME_USAGE, "--d-lambda is a rule of --convention=neuron");
	if ((r->max_length != NULL) + (c->per_branch > 0) + (r->d_lambda != NULL) > 1)
		return fail(failure, OUTCOME_USAGE, "--max-length%s --per-branch%s exclude each other",
			    r->d_lambda ? "," : " and", r->d_lambda ? " and --d-lambda" : "");
	return true;
}

bool cell_request_complete(struct cell_request *r, struct failure *failure)
{
	struct conventions *c = &r->conventions;
	struct physics *p = &r->physics;
	if (!take_conventions(r, failure) || !check_conventions(r, failure))
		return false;
	p->seed = p->seed == NO_SEED ? 1 : p->seed;
	p->cm_is_given = r->cm != NULL;
	return take_number("d-lambda", r->d_lambda, ABOVE_ZERO, &c->d_lambda, failure) &&
	       take_max_length(r->max_length, &c->max_length, failure) &&
	       take_number("ra", r->ra, ABOVE_ZERO, &p->ra, failure) &&
	       take_number("cm", r->cm, ABOVE_ZERO, &p->cm, failure) &&
	       take_number("leak", r->leak, FROM_ZERO, &p->leak, failure) &&
	       take_number("rest", r->rest, ANY_NUMBER, &p->rest, failure) &&
	       take_number("dt", r->dt, ABOVE_ZERO, &p->dt, failure) && take_voltage(r->voltage, p, failure);
}

/* ---- Options without a use ------------------------------------------------------------------------- */

/* How points become a system. CoreNEURON's files lack the diagonal only. */
static const struct shape_option {
	const char *name;
	size_t offset;
	bool is_of_diagonal;
} shape_options[] = {
	{ "convention", offsetof(struct cell_request, convention), false },
	{ "unit", offsetof(struct cell_request, unit), false },
	{ "scale", offsetof(struct cell_request, scale), false },
	{ "soma", offsetof(struct cell_request, soma), false },
	{ "roots", offsetof(struct cell_request, roots), false },
	{ "order", offsetof(struct cell_request, order), false },
	{ "max-length", offsetof(struct cell_request, max_length), false },
	{ "d-lambda", offsetof(struct cell_request, d_lambda), false },
	{ "ra", offsetof(struct cell_request, ra), false },
	{ "voltage", offsetof(struct cell_request, voltage), false },
	{ "cm", offsetof(struct cell_request, cm), true },
	{ "leak", offsetof(struct cell_request, leak), true },
	{ "rest", offsetof(struct cell_request, rest), true },
	{ "dt", offsetof(struct cell_request, dt), true },
};

/* An option that files without points have no use for, nor any for a diagonal if one `lacks_diagonal`; NULL: none. */
const char *cell_option_idle(const struct cell_request *request, bool lacks_diagonal)
{
	for (size_t i = 0; i < sizeof(shape_options) / sizeof(shape_options[0]); i++) {
		const struct shape_option *option = &shape_options[i];
		const char *const *text = (const void *) ((const char *) request + option->offset);
		if (*text && !(option->is_of_diagonal && lacks_diagonal))
			return option->name;
	}
	return request->conventions.per_branch > 0 ? "per-branch" : request->physics.seed != NO_SEED ? "seed" : NULL;
}
