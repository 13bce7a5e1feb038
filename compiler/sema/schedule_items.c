/* SPDX-License-Identifier: MIT
 *
 * The schedule block: each item becomes an override of the module, which a pass honours or refuses later.
 * Here the verb must be known and the names must exist. */
#include "sema/sema_private.h"

#include <string.h>

/* What an item may hold beside its names. */
enum value { NOTHING, A_CHOICE, MODES, A_CURVE, SIZES, A_DEPTH, ANYTHING };

/* A set of choices. */
#define ONE(choice) (1ULL << CHOICE_##choice)

static const struct form {
	int least;                      /* names */
	enum value value;
	unsigned long long switches;    /* that stand alone in the place of all else */
	unsigned long long choices;     /* all there are; 0: they depend on the names */
	const char *example;
} forms[] = {
	[VERB_RESTRUCTURE] = { 1, MODES, 0, 0,
			       "restructure PHI by voxel; restructure PHI by hybrid(voxel, atom);" },
	[VERB_PARTITION] = { 1, A_CHOICE, 0, 0, "partition Y by chunks;" },
	[VERB_LAYOUT] = { 1, ANYTHING, 0, ONE(FLAT) | ONE(FULL) | ONE(INTERLEAVE) | ONE(ORDER) | ONE(AUTO),
			  "layout x : interleave(block = 16); layout x : full; layout x : order(1, 0); "
			  "layout x : flat;" },
	[VERB_ALGORITHM] = { 1, ANYTHING, 0, 0, "algorithm x : cr; algorithm x : crpcr(rows = 32);" },
	[VERB_PRECISION] = { 1, A_CHOICE, 0, 0, "precision D : f32;" },
	[VERB_ACCUMULATE] = { 1, A_CHOICE, 0, 0, "accumulate Y : f64;" },
	[VERB_TILE] = { 1, SIZES, ONE(AUTO), ONE(AUTO), "tile f (32, 256);" },
	[VERB_FUSE] = { 2, A_DEPTH, ONE(OFF) | ONE(AUTO), ONE(AUTO), "fuse a, b; fuse a, b (1); fuse off;" },
	[VERB_INLINE] = { 1, NOTHING, ONE(OFF) | ONE(AUTO), ONE(AUTO), "inline f; inline off;" },
	[VERB_BLAS] = { 1, A_CHOICE, ONE(ON) | ONE(OFF) | ONE(AUTO), ONE(OFF) | ONE(ON) | ONE(AUTO),
			"blas off; blas C : on;" },
	[VERB_LIVE] = { 1, A_CHOICE, 0, ONE(OFF) | ONE(FEW) | ONE(ON) | ONE(AUTO), "live Y : off;" },
	[VERB_RENUMBER] = { 1, A_CHOICE, 0, 0, "renumber PHI by fiber;" },
	[VERB_PREMULTIPLY] = { 1, A_CHOICE, 0, 0, "premultiply PHI by atom;" },
	[VERB_ORDER] = { 1, A_CURVE, 0, ONE(MORTON) | ONE(BY_NONE) | ONE(AUTO), "order PHI by morton(voxel, XYZ);" },
};

enum { MOST_SIZES = 8 };
_Static_assert(sizeof forms / sizeof forms[0] == VERB_N, "each verb has a form");
_Static_assert(CHOICE_N <= 64, "sets of choices have a bit for each");

static bool is_in(unsigned long long set, enum item_choice choice)
{
	return choice != CHOICE_NAME && set >> choice & 1;
}

static const char *form_verb(const struct form *form)
{
	return verb_name((enum verb) (form - forms));
}

static void help_with_verbs(struct diags *diags, struct diag *diag, struct span span)
{
	struct str list = str_new(diags->arena);

	for (int i = 0; i < VERB_N; i++)
		str_add(&list, "%s%s", i == 0 ? "" : i == VERB_N - 1 ? " and " : ", ", verb_name((enum verb) i));
	diag_help(diags, diag, span, "there are %s", str_text(&list));
}

/* NULL after a diagnostic. */
static const struct form *form_of(struct diags *diags, const struct tree_name *verb)
{
	const char *verbs[VERB_N], *nearest;
	struct diag *diag;

	if (verb_of_name(verb->name) != VERB_N)
		return &forms[verb_of_name(verb->name)];
	for (int i = 0; i < VERB_N; i++)
		verbs[i] = verb_name((enum verb) i);
	diag = diag_error(diags, DIAG_UNKNOWN_VERB, verb->span, "unknown item of a schedule '%s'",
			  verb->name);
	nearest = suggest_nearest(verb->name, verbs, VERB_N);
	if (nearest)
		diag_did_you_mean(diags, diag, verb->span, verb->name, nearest);
	else
		help_with_verbs(diags, diag, verb->span);
	return NULL;
}

const char *schedule_item_example(struct diags *diags, const struct tree_name *verb)
{
	const struct form *form = form_of(diags, verb);

	return form ? form->example : NULL;
}

static bool report_item(struct sema *sema, struct span span, const char *problem)
{
	diag_error(sema->diags, DIAG_BAD_ITEM, span, "%s", problem);
	return false;
}

/* ---- subjects ---- */

static struct symbol *find_subject(const struct sema *sema, const struct tree_name *name)
{
	return scope_find(sema->body_scope ? sema->body_scope : sema->scope, name_text(sema->arena, name));
}

static bool is_subject(const struct sema *sema, const struct symbol *symbol)
{
	(void) sema;
	return symbol->kind == SYMBOL_ARRAY || symbol->kind == SYMBOL_OBJECT;
}

static bool add_subject(struct sema *sema, const struct tree_name *name, struct override *override)
{
	const char *text = name_text(sema->arena, name);
	struct symbol *symbol = find_subject(sema, name);

	if (!symbol) {
		scope_resolve(sema, sema->body_scope ? sema->body_scope : sema->scope, name, USE_SUBJECT);
		return false;
	}
	if (!is_subject(sema, symbol) && symbol->kind != SYMBOL_BROKEN) {
		struct diag *diag = diag_error(sema->diags, DIAG_BAD_ITEM, name->span,
					       "'%s' is %s; a schedule speaks of arrays and objects", text,
					       symbol_what(symbol));

		label_declaration(sema, diag, symbol);
		return false;
	}
	vec_push(sema->arena, &override->subjects, text);
	return true;
}

/* ---- values ---- */

static bool add_word(struct sema *sema, const struct tree_expr *expr, struct override *override);

static bool add_words(struct sema *sema, const struct tree_expr *expr, struct override *override)
{
	for (int i = 0; i < expr->args.n; i++)
		if (!add_word(sema, expr->args.items[i], override))
			return false;
	return true;
}

/* The name of the number that a choice takes; "" of a bare list; NULL: what it takes is asked where it is honoured. */
static const char *setting_of(enum item_choice choice)
{
	static const char *const settings[CHOICE_N] = {
		[CHOICE_ABSENT] = "", [CHOICE_INTERLEAVE] = "block", [CHOICE_CRPCR] = "rows",
		[CHOICE_PCR_THOMAS] = "steps", [CHOICE_PARTITION] = "rows",
	};

	return settings[choice];
}

/* block = 8 */
static bool add_setting(struct sema *sema, const struct tree_expr *expr, struct override *override)
{
	const struct tree_expr *given = expr->args.items[0];
	const char *name = setting_of(override->choice);
	const char *text = name_text(sema->arena, &given->name);
	struct diag *diag;

	if (!name || !strcmp(text, name))
		return add_word(sema, expr->args.items[1], override);
	diag = diag_error(sema->diags, DIAG_BAD_ITEM, given->span, "no number is called '%s' here", text);
	if (name && *name)
		diag_help(sema->diags, diag, (struct span) { 0 }, "write %s(%s = 8), or with another number",
			  override_choice(override), name);
	return false;
}

static bool add_word(struct sema *sema, const struct tree_expr *expr, struct override *override)
{
	if (expr->kind == TREE_BINARY && expr->op == TREE_OP_EQ)
		return add_setting(sema, expr, override);
	if (expr->kind == TREE_NAME)
		vec_push(sema->arena, &override->words, name_text(sema->arena, &expr->name));
	else if (expr->kind == TREE_INT)
		vec_push(sema->arena, &override->numbers, expr->integer);
	else
		return report_item(sema, expr->span, "here stand names and integers");
	return true;
}

static bool set_value(struct sema *sema, const struct tree_expr *value, struct override *override)
{
	override->choice = CHOICE_ABSENT;
	if (!value)
		return true;
	if (value->kind == TREE_NAME) {
		override_choose(override, name_text(sema->arena, &value->name));
		return true;
	}
	if (value->kind == TREE_CALL)
		override_choose(override, value->name.name);
	if (value->kind == TREE_CALL || value->kind == TREE_LIST)
		return add_words(sema, value, override);
	return add_word(sema, value, override);
}

/* `blas off;` has a choice where other items have subjects. */
static bool is_switch(const struct form *form, const struct tree_schedule_item *item)
{
	return !item->value && item->subjects.n == 1 &&
	       is_in(form->switches, item_choice_of_word(item->subjects.items[0].name));
}

/* ---- what an item is made of ---- */

/* The nearest of the choices of a form; NULL: none is near, or it is one. */
static const char *nearest_choice(const struct form *form, const struct override *override)
{
	const char *words[CHOICE_N];
	int n = 0;

	for (int i = 0; i < CHOICE_N; i++)
		if (is_in(form->choices, (enum item_choice) i))
			words[n++] = item_choice_word((enum item_choice) i);
	return is_in(form->choices, override->choice) ? NULL : suggest_nearest(override_choice(override), words, n);
}

static bool report_near_choice(struct sema *sema, const struct form *form, const struct tree_expr *value,
			       const char *choice, const char *near)
{
	struct span span = value->kind == TREE_CALL ? value->name.span : value->span;
	struct diag *diag = diag_error(sema->diags, DIAG_BAD_ITEM, span, "'%s' cannot be '%s'", form_verb(form),
				       choice);

	diag_did_you_mean(sema->diags, diag, span, choice, near);
	return false;
}

static bool misformed(struct sema *sema, const struct form *form, struct span span, const char *problem)
{
	struct diag *diag = diag_error(sema->diags, DIAG_BAD_ITEM, span, "%s", problem);

	diag_help(sema->diags, diag, (struct span) { 0 }, "items of this kind are written '%s'", form->example);
	return false;
}

static bool are_distinct(const char *const *texts, int n)
{
	for (int i = 0; i < n; i++)
		for (int j = 0; j < i; j++)
			if (!strcmp(texts[i], texts[j]))
				return false;
	return true;
}

/* What is wrong with the numbers; NULL: nothing. */
static const char *numbers_problem(const struct form *form, const struct override *override)
{
	for (int i = 0; i < override->numbers.n; i++)
		if (override->numbers.items[i] < 1 || override->numbers.items[i] > INT32_MAX)
			return "this number is 1 or more, and fits 32 bits";
	if (form->value == SIZES && override->numbers.n > MOST_SIZES)
		return "'tile' takes 8 sizes at most";
	if (form->value == A_DEPTH && override->numbers.n > 1)
		return "'fuse' takes one number, of loops that are shared";
	return override->numbers.n && form->value != SIZES && form->value != A_DEPTH ? "no number fits here" : NULL;
}

/* Of an item that may hold anything: what no pass looks at, since what is chosen is done anyway. NULL: nothing is. */
static const char *surplus_problem(struct sema *sema, const struct override *override)
{
	bool has_any = override->numbers.n || override->words.n;

	if (!has_any || !is_in(ONE(FLAT) | ONE(AUTO) | ONE(THOMAS), override->choice))
		return NULL;
	return arena_printf(sema->arena, "'%s' takes nothing in parentheses", override_choice(override));
}

static const char *choice_problem(struct sema *sema, const struct form *form, const struct override *override)
{
	const bool is_absent = override->choice == CHOICE_ABSENT;
	const bool is_hybrid = form->value == MODES && override->choice == CHOICE_HYBRID;
	const bool is_curve = form->value == A_CURVE && override->choice == CHOICE_MORTON;

	if (override->words.n && !is_hybrid && !is_curve && form->value != ANYTHING)
		return arena_printf(sema->arena, "'%s' takes no list of names",
				    is_absent ? form_verb(form) : override_choice(override));
	if (is_hybrid && !override->words.n)
		return "'hybrid' takes the modes to sort by";
	if (is_curve && override->words.n != 2)
		return "'morton' takes a mode and the array of the coordinates of its values";
	if (!are_distinct(override->words.items, override->words.n))
		return "a mode stands here twice";
	if (form->least == 1 && !are_distinct(override->subjects.items, override->subjects.n))
		return "a name stands here twice";
	if (is_absent && (form->value == A_CHOICE || form->value == MODES || form->value == A_CURVE ||
			  form->value == ANYTHING))
		return arena_printf(sema->arena, "'%s' lacks what is chosen", form_verb(form));
	if (form->value == SIZES && is_absent && !override->numbers.n)
		return "'tile' lacks the sizes of its tiles";
	if (!is_absent && (form->choices || form->value == NOTHING) && !is_in(form->choices, override->choice))
		return arena_printf(sema->arena, "'%s' cannot be '%s'", form_verb(form), override_choice(override));
	return NULL;
}

static bool check_form(struct sema *sema, const struct form *form, const struct tree_schedule_item *item,
		       const struct override *override)
{
	struct span span = item->value ? item->value->span : item->span;
	const char *problem, *near;

	if (override->subjects.n < form->least && override->choice == CHOICE_ABSENT)
		return misformed(sema, form, item->span, "'fuse' takes two names or more");
	problem = form->value == ANYTHING ? surplus_problem(sema, override) : numbers_problem(form, override);
	if (!problem)
		problem = choice_problem(sema, form, override);
	if (!problem)
		return true;
	near = nearest_choice(form, override);
	if (near)
		return report_near_choice(sema, form, item->value, override_choice(override), near);
	return misformed(sema, form, span, problem);
}

/* Is the item meant for this pipeline? What was asked for with the program may be for others. */
static bool is_meant(struct sema *sema, const struct form *form, const struct tree_schedule_item *item,
		     struct tree_asked *asked)
{
	if (asked && (!form || is_switch(form, item)))
		asked->is_meant = true;
	return !asked || !form || is_switch(form, item) || asked_is_meant(sema, asked, is_subject);
}

static bool speak_of_one(const struct override *a, const struct override *b)
{
	bool same = a->subjects.n == b->subjects.n;

	for (int i = 0; same && i < a->subjects.n; i++)
		same = !strcmp(a->subjects.items[i], b->subjects.items[i]);
	return same;
}

static bool has_subject(const struct override *override, const char *name)
{
	for (int i = 0; i < override->subjects.n; i++)
		if (!strcmp(override->subjects.items[i], name))
			return true;
	return false;
}

static const char *common_subject(const struct override *a, const struct override *b)
{
	for (int i = 0; i < a->subjects.n; i++)
		if (has_subject(b, a->subjects.items[i]))
			return a->subjects.items[i];
	return NULL;
}

/* One decision is asked for once in the program, and once with it. */
static bool is_said_already(struct sema *sema, const struct form *form, const struct override *override)
{
	for (int i = 0; i < sema->module->overrides.n; i++) {
		const struct override *first = &sema->module->overrides.items[i];
		const char *common = common_subject(override, first);
		bool is_same = speak_of_one(first, override) || (form->least == 1 && common);
		struct diag *diag;

		if (!is_same || first->is_asked != override->is_asked || first->verb != override->verb)
			continue;
		diag = diag_error(sema->diags, DIAG_BAD_ITEM, override->span, "there is another '%s'%s%s%s",
				  form_verb(form), common ? " of '" : "", common ? common : "", common ? "'" : "");
		diag_label(sema->diags, diag, first->span, "the first one is here");
		return true;
	}
	return false;
}

/* Takes out of an item of the program what another says anew; false: nothing is left of it. Names are taken out one by
 * one, but for those that are one thing together, as in `fuse`. */
static bool remains(const struct form *form, struct override *override, const struct override *other)
{
	int n = 0;

	if (override->verb != other->verb)
		return true;
	if (form->least > 1 || !override->subjects.n)
		return !speak_of_one(override, other);
	for (int i = 0; i < override->subjects.n; i++)
		if (!has_subject(other, override->subjects.items[i]))
			override->subjects.items[n++] = override->subjects.items[i];
	override->subjects.n = n;
	return n > 0;
}

/* An item that was asked for takes the place of those of the program. */
static void add_override(struct sema *sema, const struct form *form, struct override override, bool is_asked)
{
	struct module *module = sema->module;
	int n = 0;

	override.is_asked = is_asked;
	if (is_said_already(sema, form, &override))
		return;
	for (int i = 0; i < module->overrides.n; i++)
		if (!is_asked || remains(form, &module->overrides.items[i], &override))
			module->overrides.items[n++] = module->overrides.items[i];
	module->overrides.n = n;
	vec_push(sema->arena, &module->overrides, override);
}

/* The array that only an item speaks of is no useless input. */
static void use_coordinates(struct sema *sema, const struct form *form, const struct override *override)
{
	struct symbol *symbol = form->value == A_CURVE && override->words.n == 2
			      ? scope_find(sema->scope, override->words.items[1]) : NULL;

	if (symbol && symbol->kind == SYMBOL_ARRAY)
		symbol->target->is_read = true;
}

static void lower_item(struct sema *sema, const struct tree_schedule_item *item, struct tree_asked *asked)
{
	struct override override = { .verb = verb_of_name(item->verb.name), .span = item->span };
	const struct form *form = form_of(sema->diags, &item->verb);
	bool ok = true;

	if (!is_meant(sema, form, item, asked) || !form)
		return;
	if (is_switch(form, item)) {
		override_choose(&override, item->subjects.items[0].name);
		add_override(sema, form, override, asked);
		return;
	}
	if (form->switches && !item->value && item->subjects.n == 1 && !find_subject(sema, &item->subjects.items[0])) {
		misformed(sema, form, item->subjects.items[0].span, arena_printf(
			sema->arena, "there is no '%s', and '%s' cannot be that", item->subjects.items[0].name,
			form_verb(form)));
		return;
	}
	for (int i = 0; i < item->subjects.n; i++)
		ok = add_subject(sema, &item->subjects.items[i], &override) && ok;
	if (!set_value(sema, item->value, &override) || !ok || !check_form(sema, form, item, &override))
		return;
	use_coordinates(sema, form, &override);
	add_override(sema, form, override, asked);
}

void lower_schedule(struct sema *sema, const struct tree_stmt *stmt)
{
	for (int i = 0; i < stmt->items.n; i++)
		lower_item(sema, stmt->items.items[i], stmt->asked);
}
