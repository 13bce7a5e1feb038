/* SPDX-License-Identifier: MIT
 *
 * The schedule block: each item becomes an override of the module, which a pass honours or refuses later.
 * Here the verb must be known and the names must exist. */
#include "sema/sema_private.h"

#include <string.h>

static const char *const verbs[] = {
	"restructure", "partition", "layout", "algorithm", "precision",
	"accumulate",  "tile",      "fuse",   "inline",    "blas",
	"renumber",
};

enum { N_VERBS = sizeof verbs / sizeof verbs[0] };

static bool check_verb(struct sema *sema, const struct tree_name *verb)
{
	const char *nearest;
	struct diag *diag;

	for (int i = 0; i < N_VERBS; i++)
		if (strcmp(verbs[i], verb->name) == 0)
			return true;
	diag = diag_error(sema->diags, DIAG_UNKNOWN_VERB, verb->span, "unknown item of a schedule '%s'",
			  verb->name);
	nearest = suggest_nearest(verb->name, verbs, N_VERBS);
	if (nearest)
		diag_did_you_mean(sema->diags, diag, verb->span, verb->name, nearest);
	return false;
}

static bool report_item(struct sema *sema, struct span span, const char *problem)
{
	diag_error(sema->diags, DIAG_BAD_ITEM, span, "%s", problem);
	return false;
}

/* ---- subjects ---- */

static struct symbol *find_subject(struct sema *sema, const struct tree_name *name)
{
	const char *text = name_text(sema->arena, name);
	struct symbol *symbol = scope_find(sema->scope, text);

	return !symbol && sema->body_scope ? scope_find(sema->body_scope, text) : symbol;
}

static bool add_subject(struct sema *sema, const struct tree_name *name, struct override *override)
{
	const char *text = name_text(sema->arena, name);
	struct symbol *symbol = find_subject(sema, name);

	if (!symbol) {
		scope_resolve(sema, sema->body_scope ? sema->body_scope : sema->scope, name);
		return false;
	}
	if (symbol->kind != SYMBOL_ARRAY && symbol->kind != SYMBOL_OBJECT && symbol->kind != SYMBOL_BROKEN) {
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

static bool add_word(struct sema *sema, const struct tree_expr *expr, struct override *override)
{
	bool is_setting = expr->kind == TREE_BINARY && expr->op == TREE_OP_EQ;

	if (is_setting)
		return add_word(sema, expr->args.items[1], override);
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
	override->choice = "";
	if (!value)
		return true;
	if (value->kind == TREE_NAME) {
		override->choice = name_text(sema->arena, &value->name);
		return true;
	}
	if (value->kind == TREE_CALL)
		override->choice = value->name.name;
	if (value->kind == TREE_CALL || value->kind == TREE_LIST)
		return add_words(sema, value, override);
	return add_word(sema, value, override);
}

/* `blas off;` has a choice where other items have subjects. */
static bool is_switch(const struct tree_schedule_item *item)
{
	static const char *const choices[] = { "off", "on", "auto" };

	for (size_t i = 0; !item->value && item->subjects.n == 1 && i < sizeof choices / sizeof choices[0];
	     i++)
		if (strcmp(item->subjects.items[0].name, choices[i]) == 0)
			return true;
	return false;
}

/* Is the item, which was asked for with the program, meant for this pipeline? */
static bool is_meant(struct sema *sema, const struct tree_schedule_item *item)
{
	bool is = true;

	for (int i = 0; i < item->subjects.n && !is_switch(item); i++)
		is = is && find_subject(sema, &item->subjects.items[i]);
	return is;
}

static bool speak_of_one(const struct override *a, const struct override *b)
{
	bool same = a->subjects.n == b->subjects.n && !strcmp(a->verb, b->verb);

	for (int i = 0; same && i < a->subjects.n; i++)
		same = !strcmp(a->subjects.items[i], b->subjects.items[i]);
	return same;
}

/* An item that was asked for takes the place of one of the program. */
static void add_override(struct sema *sema, struct override override, bool replaces)
{
	struct module *module = sema->module;

	for (int i = 0; replaces && i < module->overrides.n; i++)
		if (speak_of_one(&module->overrides.items[i], &override)) {
			module->overrides.items[i] = override;
			return;
		}
	vec_push(sema->arena, &module->overrides, override);
}

static void lower_item(struct sema *sema, const struct tree_schedule_item *item, bool *is_asked)
{
	struct override override = { .verb = item->verb.name, .span = item->span };
	bool ok = check_verb(sema, &item->verb);

	if (!ok || (is_asked && !is_meant(sema, item)))
		return;
	if (is_asked)
		*is_asked = true;
	if (is_switch(item)) {
		override.choice = item->subjects.items[0].name;
		add_override(sema, override, is_asked);
		return;
	}
	for (int i = 0; i < item->subjects.n; i++)
		ok = add_subject(sema, &item->subjects.items[i], &override) && ok;
	if (set_value(sema, item->value, &override) && ok)
		add_override(sema, override, is_asked);
}

void lower_schedule(struct sema *sema, const struct tree_stmt *stmt)
{
	for (int i = 0; i < stmt->items.n; i++)
		lower_item(sema, stmt->items.items[i], stmt->is_meant);
}
