/* SPDX-License-Identifier: MIT
 *
 * Which algorithm solves a tridiagonal system. Elimination is recognised in any recurrences that are one
 * (ir/match/elimination.h); as written, it is Thomas' algorithm, with the fewest operations, and the one for batches of
 * systems. Others have more operations, but rows that are computed side by side: an item `algorithm x : NAME` of the
 * schedule asks for one. Their stages take the place of those of the program, and all later passes see only these.
 * Over trees there is partition (trees.c); the other algorithms for these are chosen in branches.c. */
#include "passes/eliminate/eliminate_private.h"

static const struct algorithm algorithms[] = {
	{ .choice = CHOICE_CR, .rows = 1 },
	{ .choice = CHOICE_PCR, .steps = ALL_STEPS },
	{ .choice = CHOICE_CRPCR, .rows = 32, .steps = ALL_STEPS, .has_rows = true },
	{ .choice = CHOICE_PCR_THOMAS, .steps = 4, .has_steps = true },
	{ .choice = CHOICE_PARTITION, .chunk = 64, .steps = ALL_STEPS, .has_chunk = true },
	{ .choice = CHOICE_STONE, .steps = ALL_STEPS, .doubles = true },
};

enum {
	N_ALGORITHMS = sizeof algorithms / sizeof algorithms[0],
	MOST_STEPS = 39,
	CHUNK_OF_DEVICE = 16,           /* the rows of a lane, which it keeps in registers */
	MOST_IN_CHUNK = 1024
};

#define OTHERS "cr, pcr, crpcr, pcr_thomas, partition, stone"

static bool is_as_written(enum item_choice choice)
{
	return choice == CHOICE_THOMAS || choice == CHOICE_AUTO;
}

/* ---- items ---- */

/* Nothing is done about an item that is refused, so that all are told. */
static bool refuse(struct module *module, const struct override *override, const char *problem)
{
	struct diag *diag = diag_error(module->diags, DIAG_BAD_ITEM, override->span, "%s", problem);

	diag_help(module->diags, diag, (struct span) { 0 }, "algorithms are thomas, " OTHERS "; crpcr(rows = 32), "
		  "pcr_thomas(steps = 4) and partition(rows = 64) take a number");
	return false;
}

static const struct algorithm *algorithm_find(enum item_choice choice)
{
	for (int i = 0; i < N_ALGORITHMS; i++)
		if (algorithms[i].choice == choice)
			return &algorithms[i];
	return NULL;
}

/* What an item asks for. False after a diagnostic. */
static bool read_item(struct module *module, const struct override *override, bool is_device,
		      struct algorithm *algorithm)
{
	const struct algorithm *known = algorithm_find(override->choice);

	if (!known)
		return refuse(module, override, arena_printf(module->arena, is_tree_algorithm(override->choice) ?
							     "'%s' is for recurrences over the nodes of a tree" :
							     "there is no algorithm '%s'",
							     override_choice(override)));
	*algorithm = *known;
	if (algorithm->chunk && is_device)
		algorithm->chunk = CHUNK_OF_DEVICE;
	if (override->words.n ||
	    override->numbers.n > algorithm->has_chunk + algorithm->has_rows + algorithm->has_steps)
		return refuse(module, override, arena_printf(module->arena, "'%s' does not take that",
							     override_choice(override)));
	if (override->numbers.n && (override->numbers.items[0] < 1 || override->numbers.items[0] > INT32_MAX))
		return refuse(module, override, "this number is 1 or more, and fits 32 bits");
	if (override->numbers.n && algorithm->has_chunk)
		algorithm->chunk = override->numbers.items[0];
	if (override->numbers.n && algorithm->has_rows)
		algorithm->rows = override->numbers.items[0];
	if (override->numbers.n && algorithm->has_steps)
		algorithm->steps = override->numbers.items[0];
	if (algorithm->chunk > MOST_IN_CHUNK)
		return refuse(module, override, "a chunk has 1024 rows at most");
	return algorithm->steps <= MOST_STEPS || refuse(module, override, "there are 39 steps at most");
}

static bool is_about(const struct override *override, const struct array *array)
{
	return override->verb == VERB_ALGORITHM && override_names(override, array);
}

static struct override *item_about(const struct module *module, const struct array *array)
{
	for (int i = 0; i < module->overrides.n; i++)
		if (is_about(&module->overrides.items[i], array))
			return &module->overrides.items[i];
	return NULL;
}

/* An item about something that is no elimination. */
static void refuse_subject(struct module *module, const struct override *override)
{
	struct elimination elimination;
	struct array *array = module_find_array(module, override->subjects.items[0]);
	const char *problem = array ? elimination_problem(module, array, &elimination) : "it is no array";
	struct diag *diag = diag_error(module->diags, DIAG_NO_ELIMINATION, override->span,
				       "'%s' is not computed by elimination: %s", override->subjects.items[0], problem);

	diag_help(module->diags, diag, (struct span) { 0 },
		  "an item names the solution; docs/eliminations.md shows the three recurrences of a tridiagonal "
		  "system, and those of a tree");
}

static void refuse_without_tree(struct module *module, const struct override *override)
{
	struct diag *diag = diag_error(module->diags, DIAG_BAD_ITEM, override->span,
				       "'%s' is no recurrence over the nodes of a tree", override->subjects.items[0]);

	diag_help(module->diags, diag, (struct span) { 0 },
		  "'%s' is for recurrences from children to parents, or back, as docs/eliminations.md shows them",
		  override_choice(override));
}

/* ---- the pass ---- */

/* False after a diagnostic. */
static bool has_dimension_left(struct module *module, const struct override *override, const struct array *solution)
{
	return solution->rank < ARRAY_MAX_RANK ||
	       refuse(module, override, "arrays of other algorithms have one dimension more than the solution, "
		      "which has as many as there can be");
}

/* False where stages cannot be made. */
static bool eliminate_one(struct module *module, const struct elimination *elimination, struct override *override,
			  bool is_device)
{
	struct algorithm algorithm;

	if (override)
		override->is_used = true;
	if (!override || is_as_written(override->choice)) {
		module_decide(module, DECISION_ELIMINATE_THOMAS, elimination->solution->name,
			      elimination->group->span, "it has the fewest operations");
		return true;
	}
	if (!read_item(module, override, is_device, &algorithm))
		return true;
	if (!has_dimension_left(module, override, elimination->solution))
		return true;
	module_decide_that(module, DECISION_ELIMINATE_OTHERWISE, elimination->solution->name,
			   item_choice_word(algorithm.choice), NULL,
			   override->span, "the schedule asks for it");
	return eliminate_by(elimination, &algorithm, is_device);
}

/* What a tree has no algorithm for is refused by `branches`. */
static bool eliminate_tree(struct module *module, const struct tree_elimination *elimination, struct override *override,
			   bool is_device)
{
	struct algorithm algorithm;

	override->is_used = true;
	if (!read_item(module, override, is_device, &algorithm) ||
	    !has_dimension_left(module, override, elimination->rows.solution))
		return true;
	module_decide_that(module, DECISION_ELIMINATE_TREE, elimination->rows.solution->name,
			   item_choice_word(algorithm.choice), NULL, override->span,
			   "branches of '%s' are cut into chunks of at most %lld nodes, each condensed to one",
			   elimination->tree->name, (long long) algorithm.chunk);
	return eliminate_tree_by(elimination, &algorithm, is_device);
}

/* A recurrence that divides by another and runs against a third, and is no elimination. */
static void remark(struct module *module, const struct array *array, const struct elimination *elimination,
		   const char *problem)
{
	if (elimination->is_near)
		diag_remark(module->diags, DIAG_NO_ELIMINATION, array->span,
			    "'%s' is not taken for an elimination: %s", array->name, problem);
}

static void refuse_others(struct module *module)
{
	for (int i = 0; i < module->overrides.n; i++) {
		struct override *override = &module->overrides.items[i];

		if (override->verb != VERB_ALGORITHM || override->is_used)
			continue;
		if (is_tree_algorithm(override->choice))
			refuse_without_tree(module, override);
		else
			refuse_subject(module, override);
		override->is_used = true;
	}
}

bool pass_eliminate(struct module *module, const struct pass_options *options)
{
	int n_arrays = module->arrays.n, n_stages = module->stages.n;
	bool ok = true;

	for (int i = 0; ok && i < n_arrays; i++) {
		struct array *array = module->arrays.items[i];
		struct override *item = item_about(module, array);
		struct elimination elimination;
		struct tree_elimination over_tree;
		const char *problem = elimination_problem(module, array, &elimination);

		if (problem && item && item->choice == CHOICE_PARTITION &&
		    !tree_elimination_problem(module, array, &over_tree))
			ok = eliminate_tree(module, &over_tree, item, options->is_device);
		else if (problem)
			remark(module, array, &elimination, problem);
		else
			ok = eliminate_one(module, &elimination, item, options->is_device);
	}
	refuse_others(module);
	if (!ok || module->stages.n == n_stages)
		return ok;
	module_prune(module, false);
	return module_order_recurrences(module);
}
