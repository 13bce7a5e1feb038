/* SPDX-License-Identifier: MIT
 *
 * One module through the passes. What a pass needs is known before it runs; what it made is verified, and the last
 * schedule is proved to keep every dependence. isl works under a quota of operations; its errors never reach the user
 * as such. */
#include "driver/pipeline.h"

#include <limits.h>
#include <time.h>

#include "codegen/target.h"
#include "ir/schedule.h"

enum { USUAL_DIMS = 4, USUAL_GROUPS = 12, MORE = 4, MOST_TIMES = 8 };

double compilation_clock(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double) time.tv_sec + 1e-9 * (double) time.tv_nsec;
}

/* The proof before anything is printed: a schedule that breaks a dependence is our own error. */
static bool prove_legal(struct module *module, const char *pass)
{
	for (int i = 0; i < REGION_N; i++) {
		const char *witness;

		if (!schedule_check(module, &module->regions[i], pass))
			return false;
		if (schedule_is_legal(module, &module->regions[i], &witness))
			continue;
		diag_error(module->diags, DIAG_INTERNAL, module->span,
			   "after pass '%s' the schedule of '%s' is wrong: %s", pass, module->name, witness);
		return false;
	}
	return true;
}

static unsigned long n_loops(const struct stage *stage)
{
	unsigned long n = 0;

	for (int d = 0; d < stage->dims.n; d++)
		n += stage->dims.items[d].kind != DIM_BIND;
	return n;
}

static unsigned long deepest_nest(const struct module *module)
{
	unsigned long deepest = 1;

	for (int i = 0; i < module->stages.n; i++) {
		const unsigned long n = n_loops(module->stages.items[i]);

		deepest = n > deepest ? n : deepest;
	}
	return deepest;
}

/* `iterate` runs for long; another algorithm, which takes many stages, was asked for. */
static bool is_worth_more(const struct module *module)
{
	bool is = module->loop.var;

	for (int i = 0; i < module->overrides.n; i++)
		is = is || module->overrides.items[i].verb == VERB_ALGORITHM;
	return is;
}

/* isl's operations on sets of many loops take longer; that no program takes more than seconds, it gets fewer. Many
 * definitions need more. */
static unsigned long operations_allowed(const struct module *module, unsigned long max_operations)
{
	const unsigned long deepest = deepest_nest(module);
	unsigned long times = 1 + (unsigned long) module->groups.n/USUAL_GROUPS;

	if (max_operations > USUAL_DIMS && deepest > USUAL_DIMS)
		max_operations = max_operations/deepest*USUAL_DIMS;
	times = (times < MOST_TIMES ? times : MOST_TIMES)*(is_worth_more(module) ? MORE : 1);
	return max_operations <= ULONG_MAX/times ? times*max_operations : max_operations;
}

static void begin_quota(struct compilation *c, struct module *module, unsigned long operations)
{
	module->given_up = (struct span) { 0 };
	isl_ctx_reset_operations(c->ctx);
	isl_ctx_set_max_operations(c->ctx, operations);
}

/* False, after a diagnostic at the statement that isl gave up on: `what` ran out of operations. */
static bool end_quota(struct compilation *c, struct module *module, const char *what)
{
	const struct span at = module->given_up.end ? module->given_up : module->span;
	const unsigned long operations = isl_ctx_get_max_operations(c->ctx);

	isl_ctx_set_max_operations(c->ctx, 0);
	if (!pass_ran_out(module))
		return true;
	diag_error(module->diags, DIAG_ISL_QUOTA, at,
		   "%s gives up on '%s' after %lu operations; simplify it, or raise --max-operations",
		   what, module->name, operations);
	return false;
}

/* What a pass may change that may be left out. */
struct kept {
	isl_schedule *schedules[REGION_N];
	int n_decisions, n_diags, n_errors;
};

static struct kept keep(const struct module *module)
{
	struct kept kept = { .n_decisions = module->decisions.n, .n_diags = module->diags->list.n,
			     .n_errors = module->diags->n_errors };

	for (int i = 0; i < REGION_N; i++)
		kept.schedules[i] = isl_schedule_copy(module->regions[i].schedule);
	return kept;
}

static void keep_free(struct kept *kept)
{
	for (int i = 0; i < REGION_N; i++)
		isl_schedule_free(kept->schedules[i]);
}

/* What the pass told and decided rests on answers that isl did not give. Whether items that it did not come to could be
 * honoured is not known. */
static void put_back(struct module *module, struct kept *kept)
{
	for (int i = 0; i < REGION_N; i++) {
		isl_schedule_free(module->regions[i].schedule);
		module->regions[i].schedule = isl_schedule_copy(kept->schedules[i]);
	}
	module->decisions.n = kept->n_decisions;
	module->diags->list.n = kept->n_diags;
	module->diags->n_errors = kept->n_errors;
	for (int i = 0; i < module->overrides.n; i++)
		module->overrides.items[i].is_used = true;
}

/* A pass that adds marks without which the module is right, too: where isl gives up, it has none of them. */
static bool run_without_need(struct module *module, const struct pass_options *options, const struct pass *pass)
{
	struct kept kept = keep(module);
	bool ok = pass->run(module, options);

	if (pass_ran_out(module)) {
		put_back(module, &kept);
		diag_warning(module->diags, DIAG_ISL_QUOTA, module->span,
			     "'%s' takes too many operations for the pass '%s', which is left out", module->name,
			     pass->name);
		ok = true;
	}
	keep_free(&kept);
	return ok;
}

static bool run_pass(struct compilation *c, struct module *module, const struct pass_options *options,
		     const struct pass *pass, unsigned *known)
{
	int n_errors = module->diags->n_errors;
	double start = compilation_clock();
	bool ok;

	if ((*known & pass->needs) != pass->needs) {
		diag_error(module->diags, DIAG_INTERNAL, module->span, "pass '%s' lacks what it needs", pass->name);
		return false;
	}
	begin_quota(c, module, operations_allowed(module, c->options.max_operations));
	ok = pass->gives & MAY_BE_LEFT_OUT ? run_without_need(module, options, pass) : pass->run(module, options);
	if (!end_quota(c, module, arena_printf(&c->arena, "pass '%s'", pass->name)) || c->arena.is_exhausted)
		return false;
	if (!ok && module->diags->n_errors == n_errors)
		diag_error(module->diags, DIAG_INTERNAL, module->span, "pass '%s' fails on '%s' and does not say why",
			   pass->name, module->name);
	if (!ok)
		return false;
	*known = (*known & ~pass->breaks) | pass->gives;
	if (c->watch.after_pass && !module->choice.items)
		c->watch.after_pass(c->watch.user, module, (int) (pass - passes), compilation_clock() - start);
	return module_verify(module, pass->name) && (!c->verify_each || prove_legal(module, pass->name));
}

/* What is asked of the passes, as far as the target can do it. */
static struct pass_options options_for_target(const struct compilation *c, const struct pass_options *asked)
{
	const struct target *target = target_find(c->target);
	struct pass_options options = *asked;

	options.is_device = compilation_has_device(c);
	if (!target)
		return options;
	if (!target->prints[MARK_BLAS] && options.blas == CHOICE_AUTO)
		options.blas = CHOICE_OFF;
	if (!target->prints[MARK_PARALLEL])
		options.parallel = false;
	if (!target->prints[MARK_VECTOR])
		options.vector = false;
	if (!target->prints[MARK_LANES])
		options.block_teams = false;
	if (!target->prints[MARK_BLOCK])
		options.interleave = INTERLEAVE_OFF;
	if (!target->prints[MARK_SKIP])
		options.skip_zeros = SKIP_ZEROS_OFF;
	if (!target->prints[MARK_STORAGE])
		options.storage = false;
	return options;
}

static bool target_can(const struct compilation *c, struct module *module, const struct pass_options *options)
{
	bool calls_blas = options->blas == CHOICE_ON;

	for (int i = 0; i < module->overrides.n; i++)
		calls_blas = calls_blas || (module->overrides.items[i].verb == VERB_BLAS &&
					    module->overrides.items[i].choice == CHOICE_ON);
	if (!calls_blas || target_find(c->target)->prints[MARK_BLAS])
		return true;
	diag_error(module->diags, DIAG_NOT_SUPPORTED, module->span, "the target '%s' calls no BLAS", c->target);
	return false;
}

static bool pivots_step(struct compilation *c, void *argument)
{
	struct module *module = argument;

	begin_quota(c, module, operations_allowed(module, c->options.max_operations));
	module_analyse(module);
	module_mark_pivots(module);
	return end_quota(c, module, "pass 'pivots'");
}

bool compilation_find_pivots(struct compilation *c, struct module *module)
{
	return compilation_guard(c, pivots_step, module);
}

/* Loops of deep nests take many operations, each of which is short; those of a nest of few loops with many cases take
 * long ones. One nest may hold all statements. 0: no limit. */
static unsigned long operations_of_loops(const struct module *module, unsigned long max_operations)
{
	const unsigned long n = 1 + (unsigned long) module->stages.n/USUAL_GROUPS;
	const unsigned long deepest = deepest_nest(module);

	return max_operations <= ULONG_MAX/deepest/deepest/n ? (max_operations + 1)/2*deepest*deepest*n : 0;
}

bool compilation_make_loops(struct compilation *c, struct module *module)
{
	bool are_made;

	begin_quota(c, module, operations_of_loops(module, c->options.max_operations));
	are_made = target_make_loops(module);
	return end_quota(c, module, "isl's search for loops") && are_made;
}

static bool prove_all(struct compilation *c, struct module *module)
{
	double start = compilation_clock();
	bool is_legal = prove_legal(module, "passes");

	if (c->watch.after_step && !module->choice.items)
		c->watch.after_step(c->watch.user, module->name, "(proof)", compilation_clock() - start);
	return is_legal;
}

bool compilation_run_passes_on(struct compilation *c, struct module *module, const struct pass_options *asked)
{
	struct pass_options for_target = options_for_target(c, asked);
	const struct pass_options *options = &for_target;
	unsigned known = 0;
	bool done = target_can(c, module, options) && module_verify(module, "lower");

	if (done && c->watch.after_pass && !module->choice.items)
		c->watch.after_pass(c->watch.user, module, LOWERED, 0);
	for (int i = 0; done && i < n_passes; i++)
		done = run_pass(c, module, options, &passes[i], &known);
	return done && prove_all(c, module) && overrides_are_honoured(module);
}
