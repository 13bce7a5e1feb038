/* SPDX-License-Identifier: MIT
 *
 * Which recurrences run for several systems at a time. Where a loop over systems has no dependence and the loops inside
 * it have, there is nothing to vectorise but the systems themselves: as many as make two vectors, so that the latency
 * of one hides that of the other, run statement by statement, on parts of their arrays in which they are interleaved
 * (P. Valero-Lara et al. 2018: block-interleaved). Of several such loops it is the innermost, whose parts are smallest.
 *
 * Copying parts of arrays to and fro takes about as long as waiting for sums. So it is done where a recurrence divides,
 * or calls a function, whose results take four times as long, and not in a loop that is a vector itself; and where an
 * item asks for it.
 *
 * Where memory is what a block waits for, one vector goes through it as fast or faster: `--interleave=narrow`, which is
 * also a candidate, takes so many. Where the second caches of the cores hold all blocks, four hide more of the latency:
 * `--interleave=wide`, a candidate where arguments can lie in such blocks.
 *
 * `layout X : interleave(block = N)` asks for blocks of N where X is used, `layout X : flat` for none. On a device each
 * thread has a system of its own, whatever items ask for. */
#include <string.h>

#include "ir/match/block.h"
#include "passes/pass_private.h"
#include "tune/memory_policy.h"

enum { MOST_LANES = 64 };

/* Of a row of a block; where the option says off, an item may still ask for one. */
static const int bytes_of_lanes[] = {
	[INTERLEAVE_OFF] = PMG_USUAL_LANES, [INTERLEAVE_NARROW] = PMG_NARROW_LANES,
	[INTERLEAVE_ON] = PMG_USUAL_LANES, [INTERLEAVE_WIDE] = PMG_WIDE_LANES
};

/* ---- items ---- */

/* The array of a loop that an item speaks of; NULL: of none. */
static const char *spoken_of(const struct override *override, const block_use_list *uses)
{
	bool is = override->verb == VERB_LAYOUT &&
		  (override->choice == CHOICE_INTERLEAVE || override->choice == CHOICE_FLAT);

	for (int s = 0; s < override->subjects.n && is; s++)
		for (int i = 0; i < uses->n; i++)
			if (uses->items[i].position >= 0 &&
			    !strcmp(uses->items[i].array->name, override->subjects.items[s]))
				return override->subjects.items[s];
	return NULL;
}

static bool is_interleaved(const struct override *item)
{
	return item && item->choice == CHOICE_INTERLEAVE;
}

/* An item, and the array of a loop that it speaks of; NULL: none does. */
struct wish {
	const struct override *item;
	const char *name;
};

/* Do they ask for different things, where both speak of the same loop? */
static bool are_at_odds(const struct override *a, const struct override *b)
{
	if (is_interleaved(a) != is_interleaved(b))
		return true;
	return a->numbers.n && b->numbers.n && a->numbers.items[0] != b->numbers.items[0];
}

/* The walk, and what it finds out about items. */
struct request {
	struct tree_walk walk;
	struct wish first, second;                      /* at odds about one loop */
	const char *dim;                                /* of this loop */
	VEC(const struct array *) resolved;             /* that loops use that run in blocks, or are asked not to */
};

/* Of what speaks of a loop, what is asked with the program counts, and, of that, what has a number. */
static bool counts_less(const struct override *found, const struct override *item)
{
	return found->is_asked != item->is_asked ? item->is_asked : !found->numbers.n;
}

static struct wish find_wish(struct request *request, const struct mark *loop, const block_use_list *uses)
{
	struct module *module = request->walk.module;
	struct wish found = { NULL, NULL };

	for (int i = 0; i < module->overrides.n; i++) {
		const struct wish wish = { &module->overrides.items[i], spoken_of(&module->overrides.items[i], uses) };

		if (!wish.name)
			continue;
		if (found.item && found.item->is_asked == wish.item->is_asked && !request->dim &&
		    are_at_odds(found.item, wish.item)) {
			request->first = found;
			request->second = wish;
			request->dim = loop->dim->name;
		}
		if (!found.item || counts_less(found.item, wish.item))
			found = wish;
	}
	return found;
}

/* ---- loops ---- */

struct inner {
	struct tree_walk *walk;
	const struct mark *outer;
	bool carries;
};

static isl_bool look_inside(__isl_keep isl_schedule_node *node, void *user)
{
	struct inner *inner = user;
	const struct mark *mark = mark_of_node(node);
	isl_union_map *carried;

	if (!mark || mark == inner->outer || mark->kind != MARK_LOOP)
		return isl_bool_true;
	carried = tree_carried(node, inner->walk->region->strict);
	inner->carries = inner->carries || isl_union_map_is_empty(carried) == isl_bool_false;
	isl_union_map_free(carried);
	return inner->carries ? isl_bool_false : isl_bool_true;
}

static bool is_around_recurrence(struct tree_walk *walk, __isl_keep isl_schedule_node *node)
{
	struct inner inner = { walk, mark_of_node(node), false };
	stage_list below = tree_stages(walk->module, node);
	bool has_any = false;

	for (int i = 0; i < below.n; i++)
		has_any = has_any || below.items[i]->group->is_recurrence;
	if (!has_any)
		return false;
	isl_schedule_node_foreach_descendant_top_down(node, look_inside, &inner);
	return inner.carries;
}

static bool carries_nothing(struct tree_walk *walk, __isl_keep isl_schedule_node *node)
{
	isl_union_map *strict = tree_carried(node, walk->region->strict);
	isl_union_map *updates = tree_carried(node, walk->region->reduction);
	bool nothing = isl_union_map_is_empty(strict) == isl_bool_true &&
		       isl_union_map_is_empty(updates) == isl_bool_true;

	isl_union_map_free(strict);
	isl_union_map_free(updates);
	return nothing;
}

/* Do operations of a recurrence wait long for each other? */
static bool takes_long(const struct expr *expr)
{
	bool is_slow = expr->kind == EXPR_OP && type_is_float(expr->type) &&
		       (expr->op == OP_DIV || expr->op == OP_SQRT || expr->op >= OP_POW);

	for (int i = 0; i < expr_n_args(expr) && !is_slow; i++)
		is_slow = takes_long(expr->args[i]);
	return is_slow;
}

static bool is_slow(const struct stage *stage)
{
	return stage->group->is_recurrence && takes_long(stage->value);
}

static int n_slow(struct tree_walk *walk, __isl_keep isl_schedule_node *node)
{
	stage_list below = tree_stages(walk->module, node);
	int n = 0;

	for (int i = 0; i < below.n; i++)
		n += is_slow(below.items[i]);
	return n;
}

struct vectors {
	struct tree_walk *walk;
	int n_slow;                     /* statements that such loops have */
};

/* Innermost loops that carry nothing are vectors themselves: what they compute does not wait. */
static isl_bool look_for_vectors(__isl_keep isl_schedule_node *node, void *user)
{
	struct vectors *vectors = user;
	const struct mark *mark = mark_of_node(node);
	isl_union_map *carried;

	if (!mark || mark->kind != MARK_LOOP || tree_has_loop_below(node))
		return isl_bool_true;
	carried = tree_carried(node, vectors->walk->region->strict);
	if (isl_union_map_is_empty(carried) == isl_bool_true)
		vectors->n_slow += n_slow(vectors->walk, node);
	isl_union_map_free(carried);
	return isl_bool_false;
}

static bool is_slow_recurrence(struct tree_walk *walk, __isl_keep isl_schedule_node *node)
{
	struct vectors vectors = { walk, 0 };

	isl_schedule_node_foreach_descendant_top_down(node, look_for_vectors, &vectors);
	return n_slow(walk, node) > vectors.n_slow;
}

static bool may_be_blocked(struct tree_walk *walk, __isl_keep isl_schedule_node *node)
{
	return mark_of_node(node)->kind == MARK_LOOP && is_around_recurrence(walk, node) &&
	       carries_nothing(walk, node);
}

/* Is there such a loop directly inside, around the same statements? */
static bool has_inner_one(struct tree_walk *walk, __isl_keep isl_schedule_node *node)
{
	isl_schedule_node *at = isl_schedule_node_first_child(isl_schedule_node_copy(node));
	bool has = false;

	while (!has && isl_schedule_node_n_children(at) == 1) {
		const struct mark *mark;

		at = isl_schedule_node_first_child(at);
		mark = mark_of_node(at);
		has = mark && mark->kind == MARK_LOOP && may_be_blocked(walk, at) &&
		      !block_refusal(walk->module, at);
	}
	isl_schedule_node_free(at);
	return has;
}

/* ---- how many ---- */

static int64_t lanes_of(const struct override *item, const block_use_list *uses, enum interleave interleave)
{
	int widest = 1;

	if (is_interleaved(item) && item->numbers.n)
		return item->numbers.items[0];
	for (int i = 0; i < uses->n; i++)
		if (uses->items[i].position >= 0 && !array_is_index(uses->items[i].array) &&
		    type_size(uses->items[i].array->type) > widest)
			widest = type_size(uses->items[i].array->type);
	return bytes_of_lanes[interleave]/widest;
}

static __isl_give isl_schedule_node *insert_block(struct tree_walk *walk, __isl_take isl_schedule_node *node,
						  const struct mark *loop, int64_t lanes, bool is_asked)
{
	struct mark *mark = mark_new(walk->module, MARK_BLOCK, "interleave", loop->span);

	mark->stage = loop->stage;
	mark->dim = loop->dim;
	mark->lanes = lanes;
	module_decide_that(walk->module, DECISION_INTERLEAVE, loop->stage->group->name,
			   arena_printf(walk->module->arena, "blocks of %lld", (long long) lanes), NULL,
			   loop->dim->span, is_asked ? "the schedule asks for it"
			   : "the divisions of a recurrence inside of '%s' wait for each other",
			   loop->dim->name);
	return isl_schedule_node_insert_mark(node, mark_id(walk->module, mark));
}

static void decide_against(struct module *module, const struct mark *mark, const char *why)
{
	module_decide(module, DECISION_INTERLEAVE_NOT, mark->stage->group->name, mark->dim->span,
		      "the loop over '%s': %s", mark->dim->name, why);
}

static void resolve(struct request *request, const block_use_list *uses)
{
	for (int i = 0; i < uses->n; i++)
		if (uses->items[i].position >= 0)
			vec_push(request->walk.module->arena, &request->resolved, uses->items[i].array);
}

static __isl_give isl_schedule_node *visit(struct tree_walk *walk, __isl_take isl_schedule_node *node,
					   const struct mark *mark, bool *descend)
{
	block_use_list uses;
	const struct override *item;
	const char *refusal;

	if (!walk->region->strict || !may_be_blocked(walk, node) || has_inner_one(walk, node))
		return node;
	uses = block_uses(walk->module, node);
	item = find_wish((struct request *) walk, mark, &uses).item;
	if (item && !is_interleaved(item)) {
		resolve((struct request *) walk, &uses);
		return node;
	}
	if (!item && (walk->options->interleave == INTERLEAVE_OFF || !is_slow_recurrence(walk, node)))
		return node;
	refusal = block_refusal(walk->module, node);
	if (refusal) {
		decide_against(walk->module, mark, refusal);
		return node;
	}
	resolve((struct request *) walk, &uses);
	*descend = false;
	return insert_block(walk, node, mark, lanes_of(item, &uses, walk->options->interleave), item);
}

/* ---- the pass ---- */

static bool check_item(struct module *module, const struct override *item)
{
	bool ok = item->numbers.n <= 1 && (!item->numbers.n || (item->numbers.items[0] >= 2 &&
				item->numbers.items[0] <= MOST_LANES &&
				(item->numbers.items[0] & (item->numbers.items[0] - 1)) == 0));

	if (!ok)
		diag_error(module->diags, DIAG_BAD_ITEM, item->span,
			   "'interleave' takes a block of 2, 4, 8, 16, 32 or 64 systems: interleave(block = 16)");
	return ok;
}

static const char *why_not(const struct module *module)
{
	const struct decision *decision = module_find_decision(module, DECISION_INTERLEAVE_NOT, NULL);

	return decision ? decision->reason : "no recurrence runs for each of several systems of it";
}

static bool is_resolved(const struct request *request, const char *name)
{
	for (int i = 0; i < request->resolved.n; i++)
		if (!strcmp(request->resolved.items[i]->name, name))
			return true;
	return false;
}

/* Every array that is named has blocks, or what counts more asks for none. */
static bool check_used(const struct request *request, struct override *item)
{
	struct module *module = request->walk.module;
	struct diag *diag;

	item->is_used = true;
	for (int s = 0; s < item->subjects.n; s++) {
		if (is_resolved(request, item->subjects.items[s]))
			continue;
		diag = diag_error(module->diags, DIAG_BAD_ITEM, item->span, "'%s' cannot be interleaved",
				  item->subjects.items[s]);
		diag_label(module->diags, diag, (struct span) { 0 }, "%s", why_not(module));
		return false;
	}
	return true;
}

static const char *what_is_asked(struct module *module, const struct override *item)
{
	if (!is_interleaved(item))
		return "no blocks";
	return !item->numbers.n ? "blocks" : arena_printf(module->arena, "blocks of %lld",
							  (long long) item->numbers.items[0]);
}

static bool report_odds(const struct request *request)
{
	struct module *module = request->walk.module;
	const struct wish first = request->first, second = request->second;
	struct diag *diag = diag_error(module->diags, DIAG_BAD_ITEM, second.item->span,
				       "the loop over '%s' uses '%s' and '%s', in %s or in %s for both",
				       request->dim, first.name, second.name, what_is_asked(module, first.item),
				       what_is_asked(module, second.item));

	diag_label(module->diags, diag, first.item->span, "the first one is here");
	diag_help(module->diags, diag, (struct span) { 0 },
		  "ask once for all: layout %s, %s : …; or keep loops apart that were fused: fuse off;", first.name,
		  second.name);
	return false;
}

static bool is_about_blocks(const struct override *item)
{
	return item->verb == VERB_LAYOUT && is_interleaved(item);
}

bool pass_interleave(struct module *module, const struct pass_options *options)
{
	struct request request = { .walk = { .module = module, .options = options, .visit = visit } };
	bool ok = true;

	for (int i = 0; i < module->overrides.n; i++)
		if (is_about_blocks(&module->overrides.items[i]))
			ok = check_item(module, &module->overrides.items[i]) && ok;
	if (!ok || options->is_device)
		return ok;
	ok = module_walk(&request.walk);
	if (ok && request.dim)
		return report_odds(&request);
	for (int i = 0; ok && i < module->overrides.n; i++)
		if (is_about_blocks(&module->overrides.items[i]))
			ok = check_used(&request, &module->overrides.items[i]);
	return ok;
}
