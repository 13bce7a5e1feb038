/* SPDX-License-Identifier: MIT
 *
 * Whether the code does what passes decided. A loop may turn out otherwise than its marks ask, by what isl makes of it
 * or by what stands around it. A decision that no copy of the kernel follows is taken back, so that only what happened
 * is told. */
#include <string.h>

#include "codegen/codegen_private.h"

void note_followed(struct emit *e, enum decision_kind kind, const char *subject, struct span span, bool is_followed)
{
	const struct followed followed = { kind, subject, span, is_followed };

	vec_push(e->arena, &e->followed, followed);
}

void note_loop_followed(struct emit *e, enum decision_kind kind, const struct mark *loop, bool is_followed)
{
	note_followed(e, kind, loop->stage->group->name, loop->dim->span, is_followed);
}

static bool are_of_one_decision(const struct followed *a, const struct followed *b)
{
	const bool is_of_same = a->subject && b->subject ? !strcmp(a->subject, b->subject) : a->subject == b->subject;

	return a->kind == b->kind && is_of_same && span_equal(a->span, b->span);
}

static bool is_followed_elsewhere(const struct emit *e, const struct followed *decision)
{
	for (int i = 0; i < e->followed.n; i++)
		if (e->followed.items[i].is_followed && are_of_one_decision(&e->followed.items[i], decision))
			return true;
	return false;
}

void tell_not_followed(const struct emit *e, const struct kernel_watch *watch)
{
	for (int i = 0; watch && watch->take_back && i < e->followed.n; i++) {
		const struct followed *decision = &e->followed.items[i];

		if (!decision->is_followed && !is_followed_elsewhere(e, decision))
			watch->take_back(e->module, decision->kind, decision->subject, decision->span, watch->user);
	}
}
