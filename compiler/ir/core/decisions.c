/* SPDX-License-Identifier: MIT
 *
 * What passes decided, a row of decisions.def each. */
#include "ir/module.h"

#include <stdarg.h>
#include <string.h>

static const struct row {
	const char *pass, *chosen, *alternatives;
} rows[] = {
#define DECISION(id, pass, chosen, alternatives) { pass, chosen, alternatives },
#include "ir/core/decisions.def"
#undef DECISION
};

enum { N_ROWS = sizeof rows / sizeof rows[0] };

static bool is_text_of(const char *row, const char *text)
{
	return !row || !strcmp(row, text);
}

bool decision_set_kind(struct decision *decision)
{
	bool is_found = false;

	for (int i = 0; i < N_ROWS; i++) {
		bool is = !strcmp(rows[i].pass, decision->pass) && is_text_of(rows[i].chosen, decision->chosen) &&
			  is_text_of(rows[i].alternatives, decision->alternatives);

		if (is && (!is_found || rows[i].chosen))
			decision->kind = (enum decision_kind) i;
		is_found = is_found || is;
	}
	return is_found;
}

bool decision_equal(const struct decision *a, const struct decision *b)
{
	return a->kind == b->kind && a->span.file == b->span.file && a->span.start == b->span.start &&
	       is_text_of(a->subject, b->subject) && is_text_of(a->chosen, b->chosen) &&
	       is_text_of(a->alternatives, b->alternatives) && is_text_of(a->reason, b->reason);
}

const struct decision *module_find_decision(const struct module *module, enum decision_kind kind, const char *subject)
{
	for (int i = 0; i < module->decisions.n; i++) {
		const struct decision *decision = &module->decisions.items[i];

		if (decision->kind == kind && (!subject || !strcmp(decision->subject, subject)))
			return decision;
	}
	return NULL;
}

static void add(struct module *module, struct decision decision, const char *subject, const char *reason, va_list args)
{
	decision.pass = rows[decision.kind].pass;
	decision.subject = arena_string(module->arena, subject);
	decision.chosen = arena_string(module->arena, decision.chosen ? decision.chosen : rows[decision.kind].chosen);
	decision.alternatives = arena_string(module->arena, decision.alternatives ? decision.alternatives
								: rows[decision.kind].alternatives);
	decision.reason = arena_vprintf(module->arena, reason, args);
	vec_push(module->arena, &module->decisions, decision);
}

struct decision *module_decide(struct module *module, enum decision_kind kind, const char *subject, struct span span,
			       const char *reason, ...)
{
	va_list args;

	va_start(args, reason);
	add(module, (struct decision) { .kind = kind, .span = span }, subject, reason, args);
	va_end(args);
	return &module->decisions.items[module->decisions.n - 1];
}

void module_decide_that(struct module *module, enum decision_kind kind, const char *subject, const char *chosen,
			const char *alternatives, struct span span, const char *reason, ...)
{
	va_list args;

	va_start(args, reason);
	add(module, (struct decision) { .kind = kind, .span = span, .chosen = chosen, .alternatives = alternatives },
	    subject, reason, args);
	va_end(args);
}

static bool is_about(const struct decision *decision, enum decision_kind kind, const char *subject, struct span span)
{
	return decision->kind == kind && (!subject || !strcmp(decision->subject, subject)) &&
	       span_equal(decision->span, span);
}

void module_take_back(struct module *module, enum decision_kind kind, const char *subject, struct span span)
{
	int n = 0;

	for (int i = 0; i < module->decisions.n; i++)
		if (!is_about(&module->decisions.items[i], kind, subject, span))
			module->decisions.items[n++] = module->decisions.items[i];
	module->decisions.n = n;
}
