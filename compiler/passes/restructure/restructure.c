/* SPDX-License-Identifier: MIT
 *
 * The order of the points of sparse accumulations. `reduce Y[voxel[k], t] += …` runs over k in whatever order the
 * caller has; sorted by a mode, each cell of the target is updated within one segment, so that threads own what they
 * write, rows stay in registers, and points that agree in two modes share the factors that depend on these alone
 * (K. Aggarwal, thesis, IISc 2020, 4.1.2 and 4.2.1; docs/restructuring.md).
 *
 * Without a word of the user the first key is the mode of the target, or, where the target does not move in the inner
 * loops, a mode that does; the second is the only other mode that moves with the inner loops, if there is one. */
#include <string.h>

#include "passes/restructure/restructure_private.h"

/* ---- what the user asks for ---- */

static const char *modes_text(const struct accumulation *accumulation)
{
	struct str text = str_new(accumulation->module->arena);

	for (int i = 0; i < accumulation->modes.n; i++)
		str_add(&text, "%s%s", i ? ", " : "",
			accumulation->stage->dims.items[accumulation->modes.items[i]].name);
	return str_text(&text);
}

static bool refuse(const struct accumulation *accumulation, const struct override *override, const char *problem,
		   const char *word, const char *help)
{
	struct diags *diags = accumulation->module->diags;
	struct diag *diag = diag_error(diags, DIAG_BAD_ITEM, override->span, problem, accumulation->object, word);

	diag_help(diags, diag, (struct span) { 0 }, "%s", help);
	return false;
}

static bool mode_is_key(const struct choice *choice, int mode)
{
	bool is = false;

	for (int i = 0; i < choice->keys.n; i++)
		is = is || choice->keys.items[i] == mode;
	return is;
}

/* `by voxel`, `by hybrid(voxel, atom)`: how many keys there are, and which. */
static int n_keys(const struct override *override)
{
	return override->choice != CHOICE_HYBRID ? 1 : override->words.n;
}

static const char *key_word(const struct override *override, int i)
{
	return override->choice != CHOICE_HYBRID ? override_choice(override) : override->words.items[i];
}

static bool has_keys(const struct accumulation *accumulation, const struct override *override)
{
	bool has = true;

	for (int i = 0; i < n_keys(override); i++)
		has = has && accumulation_mode(accumulation, key_word(override, i)) >= 0;
	return has;
}

/* An item about an object, some mode of which plays no part here, but all of them in another accumulation, which has
 * honoured it or is still to come. */
static bool is_about_another(const struct accumulation *accumulation, const struct override *override)
{
	struct module *module = accumulation->module;
	struct accumulation other;
	bool is = override->is_used;

	if (has_keys(accumulation, override))
		return false;
	for (int i = 0; !is && i < module->groups.n; i++)
		is = accumulation_match(module, module->groups.items[i], &other) &&
		     !strcmp(other.object, accumulation->object) && has_keys(&other, override);
	return is;
}

/* False: a word is no mode. */
static bool read_keys(const struct accumulation *accumulation, const struct override *override, struct choice *choice)
{
	struct arena *arena = accumulation->module->arena;
	int n = n_keys(override);

	for (int i = 0; i < n; i++) {
		const char *word = key_word(override, i);
		int mode = accumulation_mode(accumulation, word);

		if (mode < 0)
			return refuse(accumulation, override, "'%s' has no mode '%s'", word,
				      arena_printf(arena, "its modes are %s", modes_text(accumulation)));
		if (mode_is_key(choice, mode))
			return refuse(accumulation, override, "'%s' is sorted by '%s' already", word,
				      "leave out what stands there again");
		vec_push(arena, &choice->keys, mode);
	}
	return n;
}

static bool read_partition(const struct accumulation *accumulation, const struct override *override,
			   struct choice *choice)
{
	int mode = accumulation_mode(accumulation, override_choice(override));

	if (override->choice == CHOICE_COEFF)
		choice->partition = PARTITION_COEFF;
	else if (override->choice == CHOICE_COEFF_EXCLUSIVE)
		choice->partition = PARTITION_EXCLUSIVE;
	else if (override->choice == CHOICE_PARTS)
		choice->partition = PARTITION_PARTS;
	else if (override->choice == CHOICE_CHUNKS || partition_is_of_updates(override))
		choice->partition = PARTITION_CHUNKS;
	else if (choice->keys.n && mode == choice->keys.items[0])
		choice->partition = PARTITION_MODE;
	else
		return refuse(accumulation, override, "'%s' is not partitioned by '%s'", override_choice(override),
			      "choose coeff, coeff_exclusive, chunks, parts, private, atomic, or the mode of its "
			      "restructuring");
	return true;
}

static bool read_renumbered(const struct accumulation *accumulation, struct override *override, struct choice *choice)
{
	int mode = accumulation_mode(accumulation, override_choice(override));

	if (override->choice != CHOICE_BY_NONE && override->choice != CHOICE_AUTO) {
		if (mode < 0 || mode_is_key(choice, mode) || !renumbering_is_possible(accumulation, mode) ||
		    accumulation->stage->op != REDUCE_ADD)
			return refuse(accumulation, override, "'%s' cannot be renumbered by '%s'",
				      override_choice(override),
				      "it must be a mode that is no key and only a first subscript of arrays");
		choice->renumbered = mode;
	}
	return override->is_used = true;
}

static bool are_coordinates(const struct array *array, const struct expr *n)
{
	int64_t axes;

	return array && array->role == ROLE_IN && array->is_fixed && array->rank == 2 && type_is_integer(array->type) &&
	       expr_is_zero(array->lo[0]) && expr_equal(array->hi[0], n) && expr_is_zero(array->lo[1]) &&
	       expr_is_constant(array->hi[1], &axes) && (axes == 2 || axes == 3);
}

/* `order PHI by morton(voxel, XYZ)`: the mode whose coordinates are given, -1: none of this sum. The item is honoured
 * where it fits, whatever the order of the points is in the end: it helps where they are sorted by this mode first. */
static int read_order(const struct accumulation *accumulation, struct override *override, struct array **coordinates)
{
	const char *name;
	int mode = -1;

	if (!override || override->words.n != 2)
		return -1;
	mode = accumulation_mode(accumulation, override->words.items[0]);
	if (mode < 0)
		return -1;
	override->is_used = true;
	name = override->words.items[1];
	*coordinates = module_find_array(accumulation->module, name);
	if (!are_coordinates(*coordinates, accumulation->stage->dims.items[mode].source.array->limit)) {
		refuse(accumulation, override, "the values of '%s' have no coordinates '%s'", name,
		       "these are 'fixed in' and integers, two or three for each value of the mode: "
		       "i32[nVoxels, 3]");
		return -1;
	}
	return mode;
}

/* ---- what is chosen without a word ---- */

/* Does the mode choose a row: does an inner loop move the last subscript? */
static bool access_moves_inside(const struct accumulation *accumulation, const struct access *access, int mode)
{
	int n = access_n_subs(access);
	bool uses_range = false;

	for (int d = 1; n && d < accumulation->stage->dims.n; d++)
		uses_range = uses_range || (accumulation->stage->dims.items[d].kind == DIM_RANGE &&
					    expr_uses_dim(access->subs[n - 1], d));
	return access_uses_dim(access, mode) && uses_range;
}

struct row_search {
	const struct accumulation *accumulation;
	int mode;
	bool is_row, is_fixed;
};

static void look_for_row(struct access *access, void *user)
{
	struct row_search *search = user;

	if (access_moves_inside(search->accumulation, access, search->mode)) {
		search->is_row = true;
		search->is_fixed = search->is_fixed || access->array->is_fixed;
	}
}

/* Do the inner loops run over rows, one for each value of the mode? */
static struct row_search row_of_mode(const struct accumulation *accumulation, int mode)
{
	struct row_search search = { accumulation, mode, false, false };

	expr_reads(accumulation->stage->value, look_for_row, &search);
	look_for_row(&accumulation->stage->write, &search);
	return search;
}

/* The mode of the target; else one of rows, those that change between executions before fixed ones; else the first. */
static int first_key(const struct accumulation *accumulation)
{
	int best = accumulation->modes.items[0], best_rank = -1;

	for (int i = 0; i < accumulation->modes.n; i++) {
		int mode = accumulation->modes.items[i];
		struct row_search row = row_of_mode(accumulation, mode);
		bool has_inner = false;
		int rank;

		for (int d = 1; d < accumulation->stage->dims.n; d++)
			has_inner = has_inner || accumulation->stage->dims.items[d].kind == DIM_RANGE;
		rank = access_uses_dim(&accumulation->stage->write, mode) && (row.is_row || !has_inner) ? 3 :
		       row.is_row ? 2 - row.is_fixed : 0;
		if (rank > best_rank) {
			best = mode;
			best_rank = rank;
		}
	}
	return best;
}

/* Points that agree in two keys share a sum if it is one number (factor.c): where a third mode chooses rows, too, there
 * is none to share, and a run would only bring the row of the target to memory. */
static void choose_keys(const struct accumulation *accumulation, struct choice *choice)
{
	struct arena *arena = accumulation->module->arena;
	int first = first_key(accumulation), second = -1, n_others = 0;

	for (int i = 0; i < accumulation->modes.n; i++) {
		int mode = accumulation->modes.items[i];

		if (mode != first && row_of_mode(accumulation, mode).is_row && n_others++ == 0)
			second = mode;
	}
	vec_push(arena, &choice->keys, first);
	if (n_others == 1)
		vec_push(arena, &choice->keys, second);
}

/* ---- the decision ---- */

static const char *keys_text(const struct accumulation *accumulation, const struct choice *choice)
{
	struct arena *arena = accumulation->module->arena;
	struct str text = str_new(arena);

	if (choice->keys.n == 1)
		return accumulation->stage->dims.items[choice->keys.items[0]].name;
	for (int i = 0; i < choice->keys.n; i++)
		str_add(&text, "%s%s", i ? ", " : "hybrid(",
			accumulation->stage->dims.items[choice->keys.items[i]].name);
	str_add(&text, ")");
	return str_text(&text);
}

static const char *reason_text(const struct accumulation *accumulation, const struct choice *choice)
{
	struct arena *arena = accumulation->module->arena;
	const struct stage *stage = accumulation->stage;
	int key = choice->keys.items[0];
	bool is_of_target = access_uses_dim(&stage->write, key);
	const char *name = is_of_target ? stage->write.array->name : stage->dims.items[key].name;
	const char *text = arena_printf(arena, is_of_target ? "cells of '%s' are updated in one segment each"
							    : "rows of '%s' are read once for a segment", name);

	return choice->has_runs ? arena_printf(arena, "%s; points that agree in %s share their factors", text,
					       keys_text(accumulation, choice)) : text;
}

static void decide(const struct accumulation *accumulation, const struct choice *choice)
{
	static const enum decision_kind partitions[] = {
		[PARTITION_COEFF] = DECISION_PARTITION_COEFF, [PARTITION_MODE] = DECISION_PARTITION_MODE,
		[PARTITION_EXCLUSIVE] = DECISION_PARTITION_EXCLUSIVE, [PARTITION_CHUNKS] = DECISION_PARTITION_CHUNKS,
		[PARTITION_PARTS] = DECISION_PARTITION_PARTS
	};
	const struct stage *stage = accumulation->stage;

	module_decide_that(accumulation->module, DECISION_RESTRUCTURE, accumulation->object,
			   keys_text(accumulation, choice), NULL, stage->span, "%s",
			   reason_text(accumulation, choice));
	if (choice->coordinates)
		module_decide(accumulation->module, DECISION_ORDER, accumulation->object, stage->span,
			      "what is near in space, by '%s', reads much the same rows", choice->coordinates->name);
	module_decide_that(accumulation->module, partitions[choice->partition], stage->write.array->name,
			   choice->partition == PARTITION_MODE ? stage->dims.items[choice->keys.items[0]].name : NULL,
			   NULL, stage->span,
			   choice->partition == PARTITION_COEFF ? "threads share the points in their new order"
			   : choice->partition == PARTITION_PARTS ? "long segments are cut, so that none decides" :
			   "a segment is never cut: one thread runs all of it");
}

static bool is_none(const struct override *override)
{
	return override && (override->choice == CHOICE_BY_NONE || override->choice == CHOICE_COEFF);
}

/* Whether updates are kept apart by copies or by atomics is for the pass `parallel` to honour. */
static void use_partition(struct module *module, struct override *partition, const char *target)
{
	bool is_named = false;

	for (int i = 0; i < partition->subjects.n; i++)
		is_named = is_named || !strcmp(partition->subjects.items[i], target);
	if (!is_named)
		vec_push(module->arena, &partition->subjects, target);
	partition->is_used = partition->is_used || !partition_is_of_updates(partition);
}

/* Do the inner loops run over rows of known length, that a team can keep in registers over its points? */
static bool has_known_rows(const struct accumulation *accumulation)
{
	const struct stage *stage = accumulation->stage;
	bool has = false, known = true;
	int64_t lo, hi;

	for (int d = 1; d < stage->dims.n; d++) {
		const struct dim *dim = &stage->dims.items[d];

		if (dim->kind != DIM_RANGE)
			continue;
		has = true;
		known = known && expr_is_known(accumulation->module, dim->lo, &lo) &&
			expr_is_known(accumulation->module, dim->hi, &hi);
	}
	return has && known;
}

/* On a device, where a team has a segment, the longest one decides. Where rows can be kept, segments are cut. Other
 * updates that need atomics in any case are best spread over as many teams as there are points. */
static enum partition device_partition(const struct accumulation *accumulation, const struct pass_options *options,
				       const struct choice *choice)
{
	if (has_known_rows(accumulation) && !options->deterministic)
		return PARTITION_PARTS;
	return access_uses_dim(&accumulation->stage->write, choice->keys.items[0]) ? PARTITION_MODE : PARTITION_COEFF;
}

/* False: the accumulation stays as it is. */
static bool choose(const struct accumulation *accumulation, const struct pass_options *options, struct choice *choice)
{
	struct module *module = accumulation->module;
	const char *target = array_item_name(accumulation->stage->write.array);
	struct override *restructure = module_find_override(module, VERB_RESTRUCTURE, accumulation->object, target);
	struct override *partition = module_find_override(module, VERB_PARTITION, target, accumulation->object);
	struct override *renumber = module_find_override(module, VERB_RENUMBER, accumulation->object, target);
	struct override *order = module_find_override(module, VERB_ORDER, accumulation->object, target);
	struct array *coordinates = NULL;
	int ordered = read_order(accumulation, order, &coordinates);
	bool is_auto;

	if (restructure && restructure->choice != CHOICE_AUTO && !is_none(restructure) &&
	    is_about_another(accumulation, restructure))
		restructure = NULL;
	is_auto = !restructure || restructure->choice == CHOICE_AUTO;

	*choice = (struct choice) { .partition = options->is_device ? PARTITION_MODE : PARTITION_CHUNKS,
				    .narrows = !options->is_device };
	if (is_auto && (is_none(partition) || (!restructure && !options->restructure)))
		return false;
	if (restructure && !is_auto && (is_none(restructure) || !read_keys(accumulation, restructure, choice)))
		return false;
	if (is_auto && partition && accumulation_mode(accumulation, override_choice(partition)) >= 0)
		vec_push(module->arena, &choice->keys, accumulation_mode(accumulation, override_choice(partition)));
	else if (is_auto)
		choose_keys(accumulation, choice);
	if (is_auto && options->is_device)
		choice->partition = device_partition(accumulation, options, choice);
	if (partition && partition->choice != CHOICE_AUTO && !read_partition(accumulation, partition, choice))
		return false;
	if (restructure)
		restructure->is_used = true;
	if (partition)
		use_partition(module, partition, target);
	if (renumber && !read_renumbered(accumulation, renumber, choice))
		return false;
	if (ordered == choice->keys.items[0])
		choice->coordinates = coordinates;
	choice->has_runs = choice->keys.n > 1 && choice->partition != PARTITION_COEFF &&
			   choice->partition != PARTITION_PARTS;
	return true;
}

static void restructure(const struct accumulation *accumulation, struct choice *choice)
{
	struct rewriting rewriting;

	decide(accumulation, choice);
	rewriting = rewriting_new(accumulation, choice);
	rewrite_start(&rewriting, choice->keys.items[0]);
	if (choice->renumbered)
		renumber_mode(&rewriting, choice->renumbered);
	factor_stages(&rewriting);
}

/* Each restructured accumulation has many dims, and isl's time grows with all of them. */
enum { MOST_ACCUMULATIONS = 8 };

static bool has_many(struct module *module)
{
	struct accumulation accumulation;
	int n = 0;

	for (int i = 0; i < module->groups.n; i++)
		n += accumulation_match(module, module->groups.items[i], &accumulation);
	if (n > MOST_ACCUMULATIONS)
		module_decide(module, DECISION_RESTRUCTURE_NONE, module->name, module->span,
			      "more than %d sparse accumulations take long to compile", MOST_ACCUMULATIONS);
	return n > MOST_ACCUMULATIONS;
}

bool pass_restructure(struct module *module, const struct pass_options *asked)
{
	struct pass_options chosen = *asked;
	const struct pass_options *options = &chosen;
	struct accumulation accumulation;
	struct choice choice;
	int n_errors = module->diags->n_errors;

	chosen.restructure = asked->restructure && !has_many(module);
	for (int i = 0; i < module->groups.n; i++)
		if (accumulation_match(module, module->groups.items[i], &accumulation) &&
		    choose(&accumulation, options, &choice))
			restructure(&accumulation, &choice);
	if (module->restructurings.n)
		module_analyse(module);
	return module->diags->n_errors == n_errors;
}
