/* SPDX-License-Identifier: MIT
 *
 * Names. Scopes form a chain: the consts of the file, the pipeline, the body of its loop, the variables of a
 * statement. A name may be declared once along the chain (there is no shadowing), except inside the expansion
 * of a construct, which is a text of its own. Members of objects are symbols named "PHI.voxel". */
#include "sema/sema_private.h"

#include <ctype.h>
#include <string.h>

struct scope *scope_new(struct sema *sema, const struct scope *up)
{
	struct scope *scope = arena_new(sema->arena, struct scope);

	scope->up = up;
	return scope;
}

/* In `scope` alone. */
static struct symbol *scope_own(const struct scope *scope, const char *name)
{
	return name_table_get(&scope->by_name, name);
}

void scope_add(struct sema *sema, struct scope *scope, struct symbol *symbol)
{
	vec_push(sema->arena, &scope->symbols, symbol);
	name_table_set(sema->arena, &scope->by_name, symbol->name, symbol);
}

struct symbol *scope_find(const struct scope *scope, const char *name)
{
	struct symbol *symbol = NULL;

	for (; scope && !symbol; scope = scope->up)
		symbol = scope_own(scope, name);
	return symbol;
}

/* What `name` would shadow in `scope`. */
static struct symbol *find_shadowed(const struct scope *scope, const char *name)
{
	struct symbol *symbol = NULL;

	for (; scope && !symbol; scope = scope->is_expansion ? NULL : scope->up)
		symbol = scope_own(scope, name);
	return symbol;
}

const char *symbol_what(const struct symbol *symbol)
{
	switch (symbol->kind) {
	case SYMBOL_CONST:
		return "a constant";
	case SYMBOL_PARAM:
		return "a parameter";
	case SYMBOL_ARRAY:
		return symbol->target->array->rank ? "an array" : "a scalar";
	case SYMBOL_OBJECT:
		return "an object";
	case SYMBOL_VARIABLE:
		return "a variable";
	case SYMBOL_ALIAS:
		return "an expression";
	case SYMBOL_BROKEN:
		break;
	}
	return "a name";
}

bool misuse_is_news(const struct sema *sema, struct symbol *symbol)
{
	bool is_news = !sema->stmt || symbol->misused_in != sema->stmt;

	symbol->misused_in = sema->stmt;
	return is_news;
}

void label_declaration(struct sema *sema, struct diag *diag, const struct symbol *symbol)
{
	diag_label(sema->diags, diag, symbol->span, "'%s' is declared here", symbol->name);
}

/* After that it is not known which of the two is meant: uses of the name are silent. */
static void break_symbol(struct symbol *symbol)
{
	if (symbol->kind == SYMBOL_ARRAY)
		symbol->target->is_excused = true;
	symbol->kind = SYMBOL_BROKEN;
	symbol->is_used = true;
}

static bool name_is_free(struct sema *sema, const struct scope *scope, const char *name, struct span span)
{
	struct symbol *before = find_shadowed(scope, name);
	struct diag *diag;

	if (strcmp(name, "inf") == 0) {
		diag_error(sema->diags, DIAG_RESERVED_NAME, span,
			   "'inf' is the infinite number and cannot be declared");
		return false;
	}
	if (!before)
		return true;
	diag = diag_error(sema->diags, DIAG_REDECLARED, span, "'%s' is already declared", name);
	diag_label(sema->diags, diag, before->span, "the first declaration is here; names are not shadowed");
	break_symbol(before);
	return false;
}

struct symbol *scope_declare(struct sema *sema, struct scope *scope, enum symbol_kind kind, const char *name,
			     struct span span)
{
	struct symbol *symbol = arena_new(sema->arena, struct symbol);

	symbol->kind = kind;
	symbol->name = name;
	symbol->span = span;
	vec_push(sema->arena, &sema->symbols, symbol);
	if (name_is_free(sema, scope, name, span))
		scope_add(sema, scope, symbol);
	else
		symbol->is_used = symbol->is_duplicate = true;
	return symbol;
}

/* ---- unknown names ---- */

typedef VEC(const char *) name_list;

static bool use_is_of_array(enum name_use use)
{
	return use == USE_ELEMENT || use == USE_TARGET || use == USE_NEXT;
}

/* Names that may stand where `name` stands: members of the same object for a member, arrays before subscripts and
 * as targets. */
static name_list candidate_names(struct sema *sema, const struct scope *scope, const struct tree_name *name,
				 enum name_use use)
{
	name_list names = { 0 };
	size_t length = strlen(name->name);

	for (; scope; scope = scope->up)
		for (int i = 0; i < scope->symbols.n; i++) {
			const struct symbol *symbol = scope->symbols.items[i];
			const char *text = symbol->name;
			bool is_sibling = strncmp(text, name->name, length) == 0 && text[length] == '.';

			if (use_is_of_array(use) && symbol->kind != SYMBOL_ARRAY)
				continue;
			if (name->member ? is_sibling : !strchr(text, '.'))
				vec_push(sema->arena, &names, name->member ? text + length + 1 : text);
		}
	return names;
}

void help_members(struct sema *sema, struct diag *diag, const struct scope *scope, const char *object)
{
	struct tree_name member = { .name = object, .member = "" };
	name_list names = candidate_names(sema, scope, &member, USE_ELEMENT);
	struct str text = str_new(sema->arena);

	for (int i = 0; i < names.n; i++)
		str_add(&text, "%s%s.%s[...]", !i ? "" : i < names.n - 1 ? ", " : " and ", object, names.items[i]);
	diag_help(sema->diags, diag, (struct span) { 0 }, "its member%s %s", names.n == 1 ? " is" : "s are",
		  str_text(&text));
}

/* Of what is no object. */
static void help_no_member(struct sema *sema, struct diag *diag, const struct symbol *owner, const char *member)
{
	const char *ours = owner->kind == SYMBOL_ARRAY ? foreign_member(member) : NULL;

	diag_help(sema->diags, diag, (struct span) { 0 }, "%s", ours ? ours : "only objects have members");
}

/* In the statement being read, the reduction with this variable right behind which a sum goes on with it. */
static const struct tree_expr *find_reduction(struct sema *sema, const struct tree_expr *expr,
					      const struct tree_name *name)
{
	const struct tree_expr *found = NULL;

	if (!expr)
		return NULL;
	for (int i = 0; i < expr->ranges.n; i++)
		if (expr->span.end <= name->span.start && strcmp(expr->ranges.items[i]->var, name->name) == 0)
			found = expr;
	for (int i = 0; i < expr->args.n && !found; i++)
		found = find_reduction(sema, expr->args.items[i], name);
	for (int i = 0; i < expr->branches.n && !found; i++)
		found = find_reduction(sema, expr->branches.items[i].value, name);
	return found;
}

/* `sum(k in 0..n) x[k] - y[k]`: what stands behind the body? */
static bool is_behind_body(struct sema *sema, const struct tree_name *name)
{
	const struct tree_expr *found = sema->stmt ? find_reduction(sema, sema->stmt->value, name) : NULL;
	const struct source *source = found ? sources_get(sema->diags->sources, found->span.file) : NULL;
	const char *rest = source ? source->text + found->span.end : "";

	rest += strspn(rest, " \t\r\n");
	return *rest == '+' || *rest == '-';
}

/* Nothing of the program is called like it. False: what it is for does not tell what was meant. */
static bool add_advice(struct sema *sema, struct diag *diag, const struct scope *scope, const struct tree_name *name,
		       enum name_use use)
{
	const struct symbol *owner = name->member ? scope_find(scope, name->name) : NULL;
	const char *number = foreign_number(name->name);
	const struct span nowhere = { 0 };

	if (name->member && owner->kind == SYMBOL_OBJECT)
		help_members(sema, diag, scope, name->name);
	else if (name->member)
		help_no_member(sema, diag, owner, name->member);
	else if (number && !use_is_of_array(use))
		diag_help(sema->diags, diag, nowhere, "a number gets its name before the pipeline: const %s = %s;",
			  name->name, number);
	else if (is_behind_body(sema, name))
		diag_help(sema->diags, diag, nowhere, "the body of a reduction ends at + or -: a sum in it stands in "
			  "parentheses, as in sum(%s in 0..n) (x[%s] - y[%s])", name->name, name->name, name->name);
	else if (function_find(name->name))
		diag_help(sema->diags, diag, nowhere, "a function is called: %s(...)", name->name);
	else if (use == USE_NEXT)
		diag_help(sema->diags, diag, nowhere, "what has a next value is declared as 'inout' or 'state'");
	else if (use == USE_TARGET)
		diag_help(sema->diags, diag, nowhere, "what is computed is declared, too: out %s : f64[n]; for "
			  "the caller, or 'temp'", name->name);
	else if (use == USE_ELEMENT)
		diag_help(sema->diags, diag, nowhere, "an array is declared before it is used: in %s : f64[n];",
			  name->name);
	else
		return use == USE_SUBJECT || scope == sema->consts;
	return true;
}

/* The variables of ranges that are written somewhere in the pipeline. */
static struct name_table find_variables(const struct sema *sema)
{
	struct name_table variables = { 0 };

	for (int i = 0; i < sema->symbols.n; i++) {
		struct symbol *symbol = sema->symbols.items[i];

		if ((symbol->kind == SYMBOL_VARIABLE || symbol->kind == SYMBOL_BROKEN) &&
		    strcmp(span_text(sema->diags->sources, sema->arena, symbol->span), symbol->name) == 0)
			name_table_set(sema->arena, &variables, symbol->name, symbol);
	}
	return variables;
}

/* A name of the loop's body; false: it is none. */
static bool label_hidden(struct sema *sema, struct diag *diag, const char *name)
{
	const struct symbol *hidden = sema->body_scope ? scope_own(sema->body_scope, name) : NULL;

	if (hidden)
		diag_label(sema->diags, diag, hidden->span, "the '%s' of the loop is not seen outside of it", name);
	return hidden;
}

void advise_unknown(struct sema *sema)
{
	const struct name_table variables = sema->unknown.n ? find_variables(sema) : (struct name_table) { 0 };
	const struct span nowhere = { 0 };

	for (int i = 0; i < sema->unknown.n; i++) {
		const struct unknown *unknown = sema->unknown.items[i];
		const char *name = unknown->name;

		if (!unknown->is_puzzling || label_hidden(sema, unknown->diag, name))
			continue;
		if (unknown->is_value && !name_table_get(&variables, name))
			diag_help(sema->diags, unknown->diag, nowhere,
				  "what the caller gives is declared: param %s; for a size, param f64 %s; for a number",
				  name, name);
		else
			diag_help(sema->diags, unknown->diag, nowhere,
				  "a variable has its range behind the statement, as in y[i] = x[i] for i in 0..n; "
				  "ranges use variables to their left");
	}
}

/* But for small and large letters. */
static bool are_one_word(const char *a, const char *b)
{
	while (*a && tolower((unsigned char) *a) == tolower((unsigned char) *b))
		a++, b++;
	return !*a && !*b;
}

/* What takes the place of a name of another language. */
static const char *foreign_replacement(struct sema *sema, const struct scope *scope, const struct tree_name *name,
				       enum name_use use)
{
	const struct symbol *owner = name->member ? scope_find(scope, name->name) : NULL;
	const char *branch = use == USE_CONDITION && !name->member ? foreign_branch(name->name) : NULL;
	bool is_matrix = owner && owner->kind == SYMBOL_ARRAY && owner->target->array->rank == 2;

	if (is_matrix && use == USE_VALUE && strcmp(name->member, "T") == 0)
		return arena_printf(sema->arena, "transpose(%s)", name->name);
	if (name->member || use_is_of_array(use) || use == USE_SUBJECT)
		return NULL;
	return branch ? branch : foreign_value(name->name);
}

/* Names that are unknown to whom no near ones are told: each is compared with all that there are, and so many messages
 * are not read. */
enum { MOST_COMPARED = 40 };

/* The nearest name, with its object if it is a member; NULL: none is near. */
static const char *find_nearest(struct sema *sema, const struct scope *scope, const struct tree_name *name,
				enum name_use use)
{
	bool is_compared = sema->unknown.n <= MOST_COMPARED;
	name_list names = is_compared ? candidate_names(sema, scope, name, use) : (name_list) { 0 };
	const char *nearest = suggest_nearest(name->member ? name->member : name->name, names.items, names.n);
	const char *ours = foreign_replacement(sema, scope, name, use);

	if (ours && !(use == USE_CONDITION && nearest))
		return ours;
	if (!name->member && foreign_number(name->name) && nearest && !are_one_word(name->name, nearest))
		return NULL;
	return nearest && name->member ? arena_printf(sema->arena, "%s.%s", name->name, nearest) : nearest;
}

/* Of the pipeline, where only constants can be read. */
static bool report_no_constant(struct sema *sema, const struct scope *scope, const struct tree_name *name)
{
	const char *text = name_text(sema->arena, name);
	struct symbol *symbol = scope == sema->consts && sema->scope ? scope_find(sema->scope, text) : NULL;
	struct diag *diag;

	if (!symbol)
		return false;
	symbol->is_used = true;
	if (symbol->kind == SYMBOL_BROKEN)
		return true;
	diag = diag_error(sema->diags, DIAG_NOT_CONSTANT, name->span, "'%s' is %s, here a constant is needed", text,
			  symbol_what(symbol));
	label_declaration(sema, diag, symbol);
	return true;
}

/* One that was reported: where it is mended by another name, it is so here. */
static void note_use(struct sema *sema, struct unknown *unknown, const struct scope *scope,
		     const struct tree_name *name, enum name_use use)
{
	const char *nearest = unknown->diag->helps.n ? find_nearest(sema, scope, name, use) : NULL;
	bool is_written = strcmp(span_text(sema->diags->sources, sema->arena, name->span), unknown->name) == 0;

	unknown->is_value = unknown->is_value || use != USE_SUBSCRIPT;
	if (use == USE_TARGET)
		unknown->definition = name->span;
	if (nearest && is_written && unknown->diag->helps.items[0].replacement)
		diag_fix(sema->diags, unknown->diag, name->span, nearest, "%s", "");
}

static struct diag *report_unknown_member(struct sema *sema, const struct symbol *owner, const struct tree_name *name)
{
	struct diag *diag = diag_error(sema->diags, DIAG_UNKNOWN_MEMBER, name->span, "'%s' has no member '%s'",
				       name->name, name->member);

	label_declaration(sema, diag, owner);
	return diag;
}

static void explain_unknown(struct sema *sema, struct unknown *unknown, const struct scope *scope,
			    const struct tree_name *name, enum name_use use)
{
	const char *nearest = is_behind_body(sema, name) ? NULL : find_nearest(sema, scope, name, use);

	if (!name->member && label_hidden(sema, unknown->diag, name->name))
		return;
	if (nearest)
		diag_did_you_mean(sema->diags, unknown->diag, name->span, unknown->name, nearest);
	else
		unknown->is_puzzling = !add_advice(sema, unknown->diag, scope, name, use);
}

static void report_unknown(struct sema *sema, const struct scope *scope, const struct tree_name *name,
			   enum name_use use)
{
	struct symbol *owner = name->member ? scope_find(scope, name->name) : NULL;
	bool is_module = name->member && !owner && (foreign_value(name->member) || foreign_number(name->member));
	struct tree_name meant = owner ? *name : (struct tree_name) {
		.name = is_module ? name->member : name->name, .span = name->span };
	const char *text = name_text(sema->arena, &meant);
	struct unknown *before = name_table_get(&sema->unknown_by_name, text), *unknown;

	if ((owner && owner->kind == SYMBOL_BROKEN) || report_no_constant(sema, scope, name))
		return;
	if (before) {
		note_use(sema, before, scope, &meant, use);
		return;
	}
	unknown = arena_new(sema->arena, struct unknown);
	unknown->name = text;
	unknown->is_value = use != USE_SUBSCRIPT;
	unknown->diag = owner ? report_unknown_member(sema, owner, name)
			      : diag_error(sema->diags, DIAG_UNKNOWN_NAME, name->span, "unknown name '%s'", name->name);
	unknown->definition = use == USE_TARGET ? meant.span : (struct span) { 0 };
	explain_unknown(sema, unknown, scope, &meant, use);
	vec_push(sema->arena, &sema->unknown, unknown);
	name_table_set(sema->arena, &sema->unknown_by_name, text, unknown);
}

struct symbol *scope_resolve(struct sema *sema, const struct scope *scope, const struct tree_name *name,
			     enum name_use use)
{
	struct symbol *symbol = scope_find(scope, name_text(sema->arena, name));

	if (!symbol) {
		report_unknown(sema, scope, name, use);
		return NULL;
	}
	symbol->is_used = true;
	if (symbol->kind == SYMBOL_BROKEN && symbol->is_open)
		diag_error(sema->diags, DIAG_NOT_CONSTANT, name->span,
			   "'%s' is needed by its own declaration", symbol->name);
	if (name->member) {
		struct symbol *owner = scope_find(scope, name->name);

		if (owner)
			owner->is_used = true;
	}
	return symbol;
}

/* ---- names of what was asked for with the program ---- */

static bool is_listed(const struct tree_asked *asked, const char *name)
{
	for (int i = 0; i < asked->others.n; i++)
		if (!strcmp(asked->others.items[i], name))
			return true;
	return false;
}

bool asked_is_meant(struct sema *sema, struct tree_asked *asked,
		    bool (*could_be)(const struct sema *sema, const struct symbol *symbol))
{
	const struct scope *scope = sema->body_scope ? sema->body_scope : sema->scope;
	bool is_meant = true;

	for (int i = 0; i < asked->names->n; i++) {
		bool is_known = scope_find(scope, name_text(sema->arena, &asked->names->items[i]));

		asked->are_known[i] = asked->are_known[i] || is_known;
		is_meant = is_meant && is_known;
	}
	asked->is_meant = asked->is_meant || is_meant;
	for (; !is_meant && scope; scope = scope->up)
		for (int i = 0; i < scope->symbols.n; i++) {
			const struct symbol *symbol = scope->symbols.items[i];

			if (could_be(sema, symbol) && !strchr(symbol->name, '.') && !is_listed(asked, symbol->name))
				vec_push(sema->arena, &asked->others, symbol->name);
		}
	return is_meant;
}
