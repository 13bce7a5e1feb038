/* SPDX-License-Identifier: MIT
 *
 * Kernels while they are lowered. Whoever wants a dump sees them. What lowerings decide is kept until the code is
 * generated, whose head tells what passes decided; then it joins the decisions of its module, for --explain and
 * blame. What passes decided and the code does not do is forgotten at once. */
#include "driver/pipeline.h"

static void see(struct module *module, const struct k_program *program, int lowering, void *user)
{
	struct compilation *c = user;

	if (c->watch.after_lowering)
		c->watch.after_lowering(c->watch.user, module, program, lowering);
}

static void keep_decision(struct module *module, const struct k_decision *decision, void *user)
{
	struct compilation *c = user;

	vec_push(&c->arena, &c->lowered, ((struct lowered_decision) { module, *decision }));
}

static void take_back(struct module *module, enum decision_kind kind, const char *subject, struct span span, void *user)
{
	(void) user;
	module_take_back(module, kind, subject, span);
}

struct kernel_watch compilation_watch(struct compilation *c)
{
	return (struct kernel_watch) { see, keep_decision, take_back, c };
}

static void add_decision(struct compilation *c, const struct lowered_decision *lowered)
{
	const struct k_decision *made = &lowered->decision;
	struct decision decision = { .pass = k_lowerings[made->lowering].name, .subject = made->subject,
				     .chosen = made->chosen, .alternatives = made->alternatives,
				     .reason = made->reason, .span = made->span, .is_of_lowering = true };

	if (decision_set_kind(&decision))
		vec_push(&c->arena, &lowered->module->decisions, decision);
	else
		diag_error(&c->diags, DIAG_INTERNAL, made->span, "no row of decisions.def is '%s' by '%s'",
			   made->chosen, decision.pass);
}

void compilation_add_decisions(struct compilation *c)
{
	for (int i = 0; i < c->lowered.n; i++)
		add_decision(c, &c->lowered.items[i]);
	c->lowered.n = 0;
}
