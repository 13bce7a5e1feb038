/* SPDX-License-Identifier: MIT
 *
 * Sums that recurrences wait for. Where a recurrence over a tree takes a sum of its own values from something that is
 * there before, e[i] = d[i] - sum(c in children(parent, i)) u[c]*e[c], the sum begins at d[i], and its terms are taken
 * away: what the last term goes into is the result, where another operation would follow (docs/language.md, "Numbers",
 * allows it). Of the many terms of other sums, each would be rounded to d[i], and one operation less is nothing. A sum
 * does not begin at what a recurrence makes, since it could then not share the loop of the sums of that one. */
#include "passes/pass_private.h"

/* What reads the sum: the sum is its last argument, or its first one. */
struct use {
	struct expr *whole;
	bool is_last;
};

static struct use find_use(struct expr *expr, const struct array *sum)
{
	struct use use = { 0 };
	int n = expr_n_args(expr);

	for (int i = 0; i < n && !use.whole; i++)
		if (expr->args[i]->kind == EXPR_READ && expr->args[i]->access.array == sum)
			use = (struct use) { expr, i == n - 1 };
		else
			use = find_use(expr->args[i], sum);
	return use;
}

/* What it is added to or taken away from; NULL: something else is done with it. */
static struct expr *minuend(const struct use *use, const struct array *sum)
{
	const struct expr *whole = use->whole;
	struct expr *other;

	if (!whole || whole->kind != EXPR_OP || (whole->op != OP_ADD && (whole->op != OP_SUB || !use->is_last)))
		return NULL;
	other = whole->args[!use->is_last];
	return whole->type == sum->type && other->type == sum->type ? other : NULL;
}

/* What is read: anything, and what recurrences make. */
struct look {
	const bool *is_made;
	bool reads_any, reads_made;
};

static void look_at_read(struct access *access, void *user)
{
	struct look *look = user;

	look->reads_any = true;
	look->reads_made |= look->is_made[access->array->number];
}

/* By number of array: made by recurrences, or from what they make. */
static bool *made_by_recurrences(struct module *module)
{
	bool *is_made = arena_new_array(module->arena, bool, module->arrays.n + 1);

	for (int i = 0; i < module->stages.n; i++) {
		struct stage *stage = module->stages.items[i];
		struct look look = { .is_made = is_made };

		stage_reads(stage, look_at_read, &look);
		is_made[stage->write.array->number] |= (stage->group->is_recurrence || look.reads_made) &&
						       !stage->is_commit;
	}
	return is_made;
}

/* Can a sum begin at it? It does not begin at a number that is not zero, nor at another sum of its group, which is one
 * of what the recurrence makes. */
static bool is_beginning(struct expr *expr, const bool *is_made)
{
	struct look look = { .is_made = is_made };

	expr_reads(expr, look_at_read, &look);
	return look.reads_any && !look.reads_made && !expr_find_pivot(expr);
}

static bool has_points_of(const struct stage *a, const struct stage *b)
{
	bool has = a->dims.n == b->dims.n && !a->guard == !b->guard && (!a->guard || expr_equal(a->guard, b->guard));

	for (int d = 0; d < a->dims.n && has; d++)
		has = dim_equal(&a->dims.items[d], &b->dims.items[d]);
	return has;
}

/* The stages of a sum: one that starts it at zero, those that add, and one that reads it. */
struct sum {
	struct array *array;
	struct stage *start, *reader;
	bool is_possible, is_of_recurrence;
};

static bool reads_own_group(struct stage *stage)
{
	bool reads = false;

	for (int i = 0; i < stage->group->stages.n && !reads; i++) {
		const struct array *array = stage->group->stages.items[i]->write.array;

		reads = array->role != ROLE_LOCAL && stage_reads_array(stage, array);
	}
	return reads;
}

static void look_at_stage(struct sum *sum, struct stage *stage)
{
	bool writes = stage->write.array == sum->array;

	if (writes && stage->is_init) {
		sum->is_possible = sum->is_possible && !sum->start && expr_is_zero(stage->value);
		sum->start = stage;
	} else if (writes) {
		sum->is_possible = sum->is_possible && stage->op == REDUCE_ADD && stage_sums_over_children(stage);
		sum->is_of_recurrence |= reads_own_group(stage);
	}
	if (stage_reads_array(stage, sum->array))
		sum->reader = stage;
}

static struct sum sum_of(struct module *module, struct array *array)
{
	struct sum sum = { .array = array, .is_possible = array->role == ROLE_LOCAL && type_is_float(array->type) };

	for (int i = 0; i < module->stages.n && sum.is_possible; i++)
		look_at_stage(&sum, module->stages.items[i]);
	sum.is_possible = sum.is_possible && sum.start && sum.reader && sum.start->group->is_recurrence &&
			  sum.is_of_recurrence && module_count_reads(module, array) == 1 &&
			  has_points_of(sum.start, sum.reader);
	return sum;
}

static void take_terms_away(struct module *module, const struct array *array)
{
	for (int i = 0; i < module->stages.n; i++) {
		struct stage *stage = module->stages.items[i];

		if (stage->write.array == array && stage->op == REDUCE_ADD)
			stage->value = expr_unary(module->arena, OP_NEG, array->type, stage->value);
	}
}

static void start_at(struct module *module, const struct sum *sum, const struct use *use, struct expr *value)
{
	bool is_taken = use->whole->op == OP_SUB;

	module_decide(module, is_taken ? DECISION_SUMS_TAKEN : DECISION_SUMS_ADDED, sum->array->name, sum->reader->span,
		      "a recurrence waits for %s",
		      is_taken ? "the difference" : "the sum");
	sum->start->value = value;
	if (is_taken)
		take_terms_away(module, sum->array);
	*use->whole = *use->whole->args[use->is_last];
}

bool pass_sums(struct module *module, const struct pass_options *options)
{
	const bool *is_made = made_by_recurrences(module);

	(void) options;
	for (int i = 0; i < module->arrays.n; i++) {
		struct sum sum = sum_of(module, module->arrays.items[i]);
		struct use use = { 0 };
		struct expr *value = NULL;

		if (sum.is_possible) {
			use = find_use(sum.reader->value, sum.array);
			value = minuend(&use, sum.array);
		}
		if (value && is_beginning(value, is_made))
			start_at(module, &sum, &use, value);
	}
	return true;
}
