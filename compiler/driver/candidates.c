/* SPDX-License-Identifier: MIT
 *
 * Compiling candidates. Each is lowered anew from the tree, since passes change a module beyond what could be undone,
 * with messages of its own, for what is to be said of the program has been said. */
#include "driver/candidates.h"

#include <string.h>

#include "driver/options.h"

typedef VEC(const struct choice *) combination;

/* MOST_COMPILED: stages that are compiled once more in a few seconds. */
enum { MOST_STAGES = 64, MOST_LOOPS = 6, MOST_COMPILED = 180 };

/* ---- one candidate ---- */

static struct diags *own_diags(struct compilation *c)
{
	struct diags *diags = arena_new(&c->arena, struct diags);

	diags->arena = &c->arena;
	diags->sources = &c->sources;
	return diags;
}

/* The module of the same pipeline, as it was before the passes; NULL: it cannot be lowered. */
static struct module *lower_again(struct compilation *c, const struct module *module)
{
	struct module *same = NULL;
	int first = c->others.n;

	compilation_lower_again(c, own_diags(c));
	for (int i = first; i < c->others.n; i++)
		if (!same && !strcmp(c->others.items[i]->name, module->name))
			same = c->others.items[i];
		else
			module_free(c->others.items[i]);
	if (same)
		same->original = module;
	for (int i = 0; same && i < same->params.n; i++) {
		same->params.items[i].is_specialized = module->params.items[i].is_specialized;
		same->params.items[i].value = module->params.items[i].value;
	}
	return same;
}

static const char *joined(struct compilation *c, const combination *choices, bool names)
{
	struct str text = str_new(&c->arena);

	for (int i = 0; i < choices->n; i++)
		str_add(&text, "%s%s", i ? names ? "_" : ", " : "",
			names ? choices->items[i]->name : choices->items[i]->text);
	return str_text(&text);
}

static const char *reasons(struct compilation *c, const combination *choices)
{
	struct str text = str_new(&c->arena);

	for (int i = 0; i < choices->n; i++)
		str_add(&text, "%s%s", i ? "; " : "", choices->items[i]->reason);
	return str_text(&text);
}

/* Those that leave the decision to the compiler. */
static void drop_overrides(struct module *module)
{
	int n = 0;

	for (int i = 0; i < module->overrides.n; i++)
		if (module->overrides.items[i].choice != CHOICE_AUTO)
			module->overrides.items[n++] = module->overrides.items[i];
	module->overrides.n = n;
}

/* Takes the choices: as items of the schedule block. */
static struct pass_options choose(struct compilation *c, struct module *module, const combination *choices)
{
	struct pass_options options = c->options;

	drop_overrides(module);
	for (int i = 0; i < choices->n; i++)
		if (choices->items[i]->flag)
			options_pass_flag(&options, choices->items[i]->flag);
		else
			vec_push(&c->arena, &module->overrides, choices->items[i]->override);
	module->choice.items = joined(c, choices, false);
	module->choice.name = joined(c, choices, true);
	module->choice.reason = reasons(c, choices);
	return options;
}

static const char *first_error(const struct module *module)
{
	for (int i = 0; i < module->diags->list.n; i++)
		if (module->diags->list.items[i]->severity == SEVERITY_ERROR)
			return module->diags->list.items[i]->text;
	return "no pass says why";
}

struct search {
	struct compilation *c;
	struct module *module;
	choice_list *choices;           /* by variation */
	combination chosen;
	VEC(const char *) drafts;       /* of the module and of its candidates */
	int n_left;                     /* combinations that there is time for */
};

/* Has an earlier candidate, or the module, become the same? */
static bool is_known(const struct search *search, const char *draft)
{
	for (int i = 0; i < search->drafts.n; i++)
		if (module_drafts_agree(search->module, search->drafts.items[i], draft))
			return true;
	return false;
}

static bool is_new_draft(struct search *search, struct module *other)
{
	const char *draft = module_draft(other, &search->c->arena);

	if (!search->drafts.n)
		vec_push(&search->c->arena, &search->drafts, module_draft(search->module, &search->c->arena));
	if (is_known(search, draft))
		return false;
	vec_push(&search->c->arena, &search->drafts, draft);
	return true;
}

static void add_candidate(struct search *search)
{
	struct compilation *c = search->c;
	struct module *module = search->module, *other = lower_again(c, module);
	struct pass_options options;
	bool is_compiled, is_new;

	search->n_left--;
	if (!other)
		return;
	options = choose(c, other, &search->chosen);
	is_compiled = compilation_run_passes_on(c, other, &options);
	is_new = is_compiled && is_new_draft(search, other);
	is_compiled = is_compiled && (!is_new || compilation_make_loops(c, other));
	if (is_compiled && is_new) {
		vec_push(&c->arena, &module->candidates, other);
		return;
	}
	if (!is_compiled && !c->arena.is_exhausted)
		module_decide(module, DECISION_CANDIDATES_LEFT_OUT, other->choice.items, module->span, "%s",
			      first_error(other));
	module_free(other);
}

/* ---- combinations ---- */

static bool are_for_sizes(const struct search *search)
{
	return search->c->options.candidates == CANDIDATES_FOR_SIZES;
}

static bool has_enough(const struct search *search)
{
	return search->c->arena.is_exhausted ||
	       (!are_for_sizes(search) && 1 + search->module->candidates.n >= search->c->options.candidates);
}

static bool is_full(const struct search *search)
{
	return has_enough(search) || search->n_left == 0;
}

/* All ways to change `n` of the decisions from `first` on. */
static void combine(struct search *search, int first, int n)
{
	if (n == 0) {
		add_candidate(search);
		return;
	}
	for (int v = first; v < n_variations; v++)
		for (int i = 0; i < search->choices[v].n && !is_full(search); i++) {
			const struct choice *choice = &search->choices[v].items[i];

			if ((choice->is_alone && (n > 1 || search->chosen.n)) ||
			    (are_for_sizes(search) && !choice->is_for_sizes) ||
			    (search->c->options.estimated && choice->is_for_trials))
				continue;
			vec_push(&search->c->arena, &search->chosen, choice);
			combine(search, v + 1, n - 1);
			search->chosen.n--;
		}
}

/* Dims that are data have one value, and are no loops. */
static int n_loops(const struct stage *stage)
{
	int n = 0;

	for (int d = 0; d < stage->dims.n; d++)
		n += stage->dims.items[d].kind != DIM_BIND;
	return n;
}

static int most_loops(const struct module *module)
{
	int most = 0;

	for (int i = 0; i < module->stages.n; i++)
		if (n_loops(module->stages.items[i]) > most)
			most = n_loops(module->stages.items[i]);
	return most;
}

static int n_stages(const struct compilation *c)
{
	int n = 0;

	for (int m = 0; m < c->modules.n; m++)
		n += c->modules.items[m]->stages.n;
	return n;
}

/* Ways to compile the module, of which its own is the first, that there is time for. */
static int most_ways(const struct compilation *c, const struct module *module)
{
	if (module->stages.n > MOST_STAGES || most_loops(module) > MOST_LOOPS)
		return 1;
	return MOST_COMPILED/(n_stages(c) + 1) + 1;
}

static void add_candidates(struct compilation *c, struct module *module)
{
	const int most = most_ways(c, module);
	struct search search = { .c = c, .module = module, .n_left = most - 1 };

	search.choices = arena_new_array(&c->arena, choice_list, n_variations);
	for (int v = 0; v < n_variations; v++)
		variations[v].choices(module, &c->options, &search.choices[v]);
	for (int n = 1; n <= n_variations && !is_full(&search); n++)
		combine(&search, 0, n);
	if (!has_enough(&search) && !are_for_sizes(&search) && search.n_left == 0)
		module_decide_that(module, DECISION_CANDIDATES_SOME, module->name,
				   arena_printf(&c->arena, "%d of the ways to compile it", most), NULL, module->span,
				   "%d stages in the file and %d nested loops take long to compile", n_stages(c),
				   most_loops(module));
}

bool candidates_add(struct compilation *c)
{
	for (int m = 0; m < c->modules.n; m++)
		add_candidates(c, c->modules.items[m]);
	return !c->arena.is_exhausted;
}
