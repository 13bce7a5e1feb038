/* SPDX-License-Identifier: MIT
 *
 * What lowerings decide, for --explain: each decision once, however many statements it is about. */
#include <string.h>

#include "kernel/lower/lower_private.h"

static bool is_same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static bool is_same_decision(const struct k_decision *a, const struct k_decision *b)
{
	return a->lowering == b->lowering && span_equal(a->span, b->span) && is_same_text(a->subject, b->subject) &&
	       is_same_text(a->chosen, b->chosen) && is_same_text(a->reason, b->reason);
}

void lower_decide(struct k_lowered *lowered, struct k_decision decision)
{
	decision.lowering = lowered->lowering;
	for (int i = 0; i < lowered->decisions.n; i++)
		if (is_same_decision(&lowered->decisions.items[i], &decision))
			return;
	vec_push(lowered->arena, &lowered->decisions, decision);
}
