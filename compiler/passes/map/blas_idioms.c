/* SPDX-License-Identifier: MIT
 *
 * Which nests become calls of the BLAS. A nest is tried at its outermost loop first, so that a product of two matrices
 * is one call and not many; what no call is looked for inside. The mark stands above all that says how the loops run:
 * these stay, for sizes at which a call does not pay. Where sizes are known, that is decided here. */
#include "ir/match/blas.h"
#include "passes/pass_private.h"

#include <string.h>

typedef isl_schedule_node node;

/* ---- what is asked for ---- */

static bool speaks_of(const struct override *override, const char *name)
{
	bool speaks = !override->subjects.n;

	for (int i = 0; i < override->subjects.n; i++)
		speaks = speaks || !strcmp(override->subjects.items[i], name);
	return speaks;
}

/* The schedule block is nearer than the command line, and an item with names nearer than one without. */
static enum item_choice choice_for(const struct module *module, const struct pass_options *options, const char *target)
{
	enum item_choice choice = options->blas;
	bool is_named = false;

	for (int i = 0; i < module->overrides.n; i++) {
		const struct override *override = &module->overrides.items[i];

		if (override->verb != VERB_BLAS || !speaks_of(override, target) ||
		    (is_named && !override->subjects.n))
			continue;
		choice = override->choice;
		is_named = override->subjects.n > 0;
	}
	return choice;
}

static void use_overrides(struct module *module)
{
	for (int i = 0; i < module->overrides.n; i++) {
		struct override *override = &module->overrides.items[i];
		bool is_choice = override->choice == CHOICE_ON || override->choice == CHOICE_OFF ||
				 override->choice == CHOICE_AUTO;

		override->is_used |= override->verb == VERB_BLAS && is_choice;
	}
}

/* ---- does a call pay? ---- */

/* The product of the lengths of the loops; -1: not known. */
static int64_t known_work(const struct blas_nest *nest)
{
	int64_t work = 1, n;

	for (int i = 0; i < nest->n_dims; i++) {
		const struct dim *dim = &nest->stage->dims.items[nest->dims[i]];

		if (!range_is_constant(dim->lo, dim->hi, &n) || __builtin_mul_overflow(work, n > 0 ? n : 0, &work))
			return -1;
	}
	return work;
}

/* Our own loops are as fast as a gemv whose matrix they read as it lies. */
static bool is_read_as_it_lies(const struct blas_call *call)
{
	int innermost = call->nest.dims[call->nest.n_dims - 1];

	return call->kind == BLAS_GEMV && innermost == (call->a.is_transposed ? call->a.row : call->a.column);
}

/* In loops it can stay in a variable; for a call all of it is stored. */
static bool adds_temporary(const struct blas_call *call)
{
	return call->addend.access && call->addend.access->array->role == ROLE_TEMP;
}

/* A library cannot read what a plan keeps in fewer bits. */
static bool is_narrowed(const struct access *access)
{
	return access && access->array->storage != STORAGE_F64;
}

/* Whether there is a call, and from which work on; *least is 0 where it is made in any case. */
static bool is_wanted(struct module *module, const struct pass_options *options, const struct blas_call *call,
		      int64_t *least)
{
	const enum item_choice choice = choice_for(module, options, array_item_name(call->target.access->array));
	int64_t work = known_work(&call->nest);

	*least = 0;
	if (call->nest.stage->group->is_apart || is_narrowed(call->a.access) || is_narrowed(call->b.access) ||
	    is_narrowed(call->addend.access))
		return false;
	if (choice != CHOICE_AUTO)
		return choice == CHOICE_ON;
	if (work < 0 || work < blas_work(call->kind))
		*least = blas_work(call->kind);
	return blas_work(call->kind) && (work < 0 || !*least) && !is_read_as_it_lies(call) &&
	       !adds_temporary(call);
}

/* Stages of a group share its first loops. */
static bool is_of_loop(const struct decision *decision, const struct stage *stage, int dim)
{
	const struct group *group = stage->group;
	bool is = decision->loop == &stage->dims.items[dim];

	for (int i = 0; i < group->stages.n && dim < group->n_common; i++)
		is = is || decision->loop == &group->stages.items[i]->dims.items[dim];
	return is;
}

/* Nothing is asked at run time: the call has all sizes and factors, and one iteration is no loop. */
static bool replaces_loops(const struct blas_call *call)
{
	return known_work(&call->nest) > 0 && blas_alpha_is_known(call);
}

/* How loops run that a call replaces in any case is not told. */
static void forget_loops(struct module *module, const struct blas_nest *nest)
{
	int n = 0;

	for (int i = 0; i < module->decisions.n; i++) {
		bool is_left = true;

		for (int d = 0; d < nest->n_dims; d++)
			is_left = is_left && !is_of_loop(&module->decisions.items[i], nest->stage, nest->dims[d]);
		if (is_left)
			module->decisions.items[n++] = module->decisions.items[i];
	}
	module->decisions.n = n;
}

static void decide(struct module *module, const struct blas_call *call, int64_t least)
{
	if (!least && replaces_loops(call))
		forget_loops(module, &call->nest);
	module_decide_that(module, DECISION_BLAS_IDIOMS, array_item_name(call->target.access->array),
			   blas_name(call->kind), NULL, call->nest.stage->span,
			   least ? "called from %lld products on" : "called for any size", (long long) least);
}

bool blas_needs_loop(struct module *module, const struct pass_options *options, const struct group *group, int level)
{
	struct blas_call call;
	int64_t least;

	return blas_of_group(module, group, &call) && call.nest.dims[0] <= level &&
	       is_wanted(module, options, &call, &least);
}

bool blas_takes_sums(struct module *module, const struct pass_options *options, const struct group *group)
{
	struct blas_call call;
	int64_t least;

	if (!blas_of_group(module, group, &call) || !is_wanted(module, options, &call, &least))
		return false;
	return call.nest.dims[0] == 0 || call.kind != BLAS_GEMV ||
	       choice_for(module, options, array_item_name(call.target.access->array)) != CHOICE_AUTO;
}

/* ---- the walk ---- */

/* How many marks above the one of the loop say how it runs. */
static int marks_above(__isl_keep node *at)
{
	const struct mark *mark;
	node *up = isl_schedule_node_copy(at);
	int n = -1;

	do {
		n++;
		up = isl_schedule_node_parent(up);
		mark = mark_of_node(up);
	} while (mark && (mark->kind == MARK_PARALLEL || mark->kind == MARK_VECTOR || mark->kind == MARK_TEAM ||
			  mark->kind == MARK_ROW));
	isl_schedule_node_free(up);
	return n;
}

static bool find_call(struct tree_walk *walk, __isl_keep node *at, struct blas_call *call, int64_t *least)
{
	struct blas_nest nest;

	return walk->region->strict && mark_of_node(at)->kind != MARK_TILE &&
	       !schedule_has_mark_above(at, MARK_TILE, NULL) && blas_nest_below(walk->module, at, &nest) &&
	       blas_match(walk->module, &nest, call) && blas_may_stand(at, call) &&
	       is_wanted(walk->module, walk->options, call, least);
}

static __isl_give node *visit(struct tree_walk *walk, __isl_take node *at, const struct mark *mark, bool *descend)
{
	int above = marks_above(at);
	struct blas_call call;
	struct mark *made;
	int64_t least;

	(void) mark;
	at = isl_schedule_node_ancestor(at, above);
	*descend = !find_call(walk, at, &call, &least);
	if (!*descend) {
		decide(walk->module, &call, least);
		made = mark_new(walk->module, MARK_BLAS, "blas_idioms", call.nest.stage->span);
		made->stage = walk->module->stages.items[call.nest.stage->number];
		made->least_work = least;
		at = isl_schedule_node_first_child(isl_schedule_node_insert_mark(at, mark_id(walk->module, made)));
	}
	for (; above; above--)
		at = isl_schedule_node_first_child(at);
	return at;
}

/* What is named in `blas C : on`, unless another item says otherwise, has a call. */
static bool check_calls(struct module *module, const struct pass_options *options, const struct override *override)
{
	bool asks = override->verb == VERB_BLAS && override->choice == CHOICE_ON, ok = true;

	for (int i = 0; asks && i < override->subjects.n; i++) {
		const char *name = override->subjects.items[i];
		struct diag *diag;

		if (module_find_decision(module, DECISION_BLAS_IDIOMS, name) ||
		    choice_for(module, options, name) != CHOICE_ON)
			continue;
		diag = diag_error(module->diags, DIAG_BAD_ITEM, override->span,
				  "'blas %s : on' fits nothing: no loops of '%s' are an operation of the BLAS",
				  name, name);
		diag_help(module->diags, diag, (struct span) { 0 },
			  "docs/blas.md lists what is recognised; leave the item out");
		ok = false;
	}
	return ok;
}

bool pass_blas_idioms(struct module *module, const struct pass_options *options)
{
	struct tree_walk walk = { .module = module, .options = options, .visit = visit };
	bool ok;

	use_overrides(module);
	ok = module_walk(&walk);
	for (int i = 0; ok && i < module->overrides.n; i++)
		ok = check_calls(module, options, &module->overrides.items[i]);
	return ok;
}
