/* SPDX-License-Identifier: MIT
 *
 * What is never defined (an error), and what is never used (a warning). */
#include "sema/sema_private.h"

#include <string.h>

static bool is_undefined(const struct target *target)
{
	return target && !target->is_hidden && !target->now.is_defined && !target->now.is_accumulated &&
	       !target->is_excused && (target->array->role == ROLE_OUT || target->array->role == ROLE_TEMP);
}

/* If one name alone is defined and not declared, of which nothing else is guessed, and one array alone is declared and
 * not defined, the name may be a slip; NULL. */
static const struct unknown *slip_of(const struct sema *sema)
{
	const struct unknown *slip = NULL;
	int n_slips = 0, n_undefined = 0;

	for (int i = 0; i < sema->unknown.n; i++)
		if (sema->unknown.items[i]->definition.end > 0) {
			slip = sema->unknown.items[i];
			n_slips++;
		}
	for (int i = 0; i < sema->targets.n; i++)
		n_undefined += is_undefined(sema->targets.items[i]);
	return n_slips == 1 && n_undefined == 1 && !(slip->diag->helps.n && slip->diag->helps.items[0].replacement)
	       ? slip : NULL;
}

static void report_undefined(struct sema *sema, const struct target *target, const struct unknown *slip)
{
	const struct symbol *symbol = target->symbol;
	struct diag *diag = diag_error(sema->diags, DIAG_NEVER_DEFINED, symbol->span, "'%s' is never defined",
				       symbol->name);

	if (slip)
		diag_label(sema->diags, diag, slip->definition,
			   "'%s' is defined here, but not declared: is '%s' meant?", slip->name, symbol->name);
	if (target->array->role == ROLE_TEMP)
		diag_help(sema->diags, diag, (struct span) { 0 },
			  "define it, or declare it 'in' if the caller gives it");
}

static void warn_unused(struct sema *sema, const struct symbol *symbol, const char *what)
{
	diag_warning(sema->diags, DIAG_UNUSED, symbol->span, "%s '%s' is never used", what, symbol->name);
}

static void check_read(struct sema *sema, const struct target *target)
{
	const struct symbol *symbol = target->symbol;
	enum array_role role = target->array->role;

	if (target->is_read || target->is_hidden || target->is_excused || strchr(symbol->name, '.'))
		return;
	if (role == ROLE_IN)
		warn_unused(sema, symbol, "input");
	else if (role == ROLE_TEMP)
		warn_unused(sema, symbol, target->domain ? "function" : "temporary");
}

static void check_symbol(struct sema *sema, const struct symbol *symbol)
{
	if (symbol->is_used)
		return;
	if (symbol->kind == SYMBOL_PARAM)
		warn_unused(sema, symbol, "parameter");
	if (symbol->kind == SYMBOL_OBJECT)
		warn_unused(sema, symbol, "input");
}

void check_usage(struct sema *sema)
{
	const struct unknown *slip = slip_of(sema);

	for (int i = 0; i < sema->targets.n; i++)
		if (is_undefined(sema->targets.items[i]))
			report_undefined(sema, sema->targets.items[i], slip);
	if (sema->diags->n_errors != sema->n_errors)
		return;
	for (int i = 0; i < sema->targets.n; i++)
		if (sema->targets.items[i])
			check_read(sema, sema->targets.items[i]);
	for (int i = 0; i < sema->symbols.n; i++)
		check_symbol(sema, sema->symbols.items[i]);
}
