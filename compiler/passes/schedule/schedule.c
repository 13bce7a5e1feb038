/* SPDX-License-Identifier: MIT
 *
 * The order in which everything runs. The textual order is always right, and the fallback of every other choice.
 *
 * With --schedule=isl, isl proposes a tree for the regions it can see through (loops over ranges only), with the
 * strict dependences as validity and proximity. The proposal is taken when each of its rows is, for each stage, one
 * dim forwards or backwards plus a constant: then every loop still has a dim that names it. */
#include <isl/schedule.h>

#include "passes/pass_private.h"

#include <isl/options.h>
#include <isl/constraint.h>

#define NO_PROPOSAL "isl has no proposal whose loops are dims"

enum { MOST_CONSTRAINTS = 20 };

typedef isl_schedule_node node;

/* ---- what isl may schedule ---- */

static bool stage_is_plain(const struct stage *stage)
{
	bool is_plain = stage->dims.n > 0 && stage->write.array->role != ROLE_LOCAL;

	for (int i = 0; i < stage->dims.n; i++)
		is_plain = is_plain && stage->dims.items[i].kind == DIM_RANGE;
	return is_plain;
}

static bool region_is_plain(const struct region *region)
{
	bool is_plain = region->strict != NULL;

	for (int g = 0; g < region->groups.n; g++)
		for (int s = 0; s < region->groups.items[g]->stages.n; s++)
			is_plain = is_plain && stage_is_plain(region->groups.items[g]->stages.items[s]);
	return is_plain;
}

static __isl_give isl_schedule *propose(struct module *module, const struct region *region)
{
	isl_union_set *domain = isl_schedule_get_domain(region->schedule);
	isl_schedule_constraints *constraints = isl_schedule_constraints_on_domain(domain);
	isl_union_map *coincidence = isl_union_map_union(isl_union_map_copy(region->strict),
							 isl_union_map_copy(region->reduction));

	constraints = isl_schedule_constraints_set_context(constraints, isl_set_copy(module->context));
	constraints = isl_schedule_constraints_set_validity(constraints, isl_union_map_copy(region->strict));
	constraints = isl_schedule_constraints_set_proximity(constraints, isl_union_map_copy(region->strict));
	constraints = isl_schedule_constraints_set_coincidence(constraints, coincidence);
	isl_options_set_schedule_outer_coincidence(module->ctx, 1);
	return isl_schedule_constraints_compute_schedule(constraints);
}

/* ---- rows that name a loop ---- */

struct row {
	struct module *module;
	struct stage *stage;            /* the first stage whose dim the row is */
	int dim, direction;
	bool is_simple;
};

static bool coefficient_is(__isl_keep isl_aff *aff, int dim, long value)
{
	isl_val *val = isl_aff_get_coefficient_val(aff, isl_dim_in, dim);
	bool is = isl_val_cmp_si(val, value) == 0;

	isl_val_free(val);
	return is;
}

static isl_stat look_at_piece(__isl_take isl_set *set, __isl_take isl_aff *aff, void *user)
{
	struct row *row = user;
	struct stage *stage = stage_of_id(isl_set_get_tuple_id(set));
	int n_used = 0, used = -1;

	for (int d = 0; d < stage->dims.n; d++)
		if (!coefficient_is(aff, d, 0)) {
			used = d;
			n_used++;
		}
	row->is_simple = row->is_simple && n_used <= 1 && isl_aff_dim(aff, isl_dim_div) == 0 &&
			 (!n_used || coefficient_is(aff, used, 1) || coefficient_is(aff, used, -1));
	if (n_used == 1 && !row->stage) {
		row->stage = stage;
		row->dim = used;
		row->direction = coefficient_is(aff, used, -1) ? -1 : 1;
	}
	isl_set_free(set);
	isl_aff_free(aff);
	return isl_stat_ok;
}

static isl_stat look_at_stage(__isl_take isl_pw_aff *pw_aff, void *user)
{
	isl_stat stat = isl_pw_aff_foreach_piece(pw_aff, look_at_piece, user);

	isl_pw_aff_free(pw_aff);
	return stat;
}

static struct row row_of(struct module *module, __isl_keep node *band)
{
	struct row row = { module, NULL, 0, 1, true };
	isl_multi_union_pw_aff *partial = isl_schedule_node_band_get_partial_schedule(band);
	isl_union_pw_aff *first = isl_multi_union_pw_aff_get_at(partial, 0);

	if (isl_union_pw_aff_foreach_pw_aff(first, look_at_stage, &row) < 0)
		row.is_simple = false;
	isl_union_pw_aff_free(first);
	isl_multi_union_pw_aff_free(partial);
	return row;
}

/* ---- to a tree that keeps our invariant ---- */

struct conversion {
	struct module *module;
	bool ok;
};

static __isl_give node *mark_row(struct conversion *conversion, __isl_take node *band)
{
	struct row row = row_of(conversion->module, band);
	struct mark *mark;

	if (!row.is_simple || !row.stage) {
		conversion->ok = false;
		return band;
	}
	mark = mark_new(conversion->module, MARK_LOOP, "schedule", row.stage->dims.items[row.dim].span);
	mark->stage = row.stage;
	mark->dim = &row.stage->dims.items[row.dim];
	mark->direction = row.direction;
	return isl_schedule_node_insert_mark(band, mark_id(conversion->module, mark));
}

/* One band of several members becomes bands of one, each below the mark of its loop. */
static __isl_give node *convert_node(__isl_take node *at, void *user)
{
	struct conversion *conversion = user;
	int depth = 0;

	if (isl_schedule_node_get_type(at) != isl_schedule_node_band)
		return at;
	while (isl_schedule_node_band_n_member(at) > 1) {
		at = isl_schedule_node_first_child(isl_schedule_node_band_split(at, 1));
		depth++;
	}
	at = mark_row(conversion, at);
	for (; depth; depth--)
		at = mark_row(conversion, isl_schedule_node_parent(at));
	return at;
}

/* ---- what isl can be asked ---- */

static isl_stat count_constraint(__isl_take isl_constraint *constraint, void *user)
{
	++*(int *) user;
	isl_constraint_free(constraint);
	return isl_stat_ok;
}

static isl_stat look_at_piece_of_deps(__isl_take isl_basic_map *deps, void *user)
{
	int n = 0, *most = user;
	isl_stat stat = isl_basic_map_foreach_constraint(deps, count_constraint, &n);

	*most = n > *most ? n : *most;
	isl_basic_map_free(deps);
	return stat;
}

static isl_stat look_at_deps(__isl_take isl_map *deps, void *user)
{
	isl_stat stat = isl_map_foreach_basic_map(deps, look_at_piece_of_deps, user);

	isl_map_free(deps);
	return stat;
}

/* isl's scheduler eliminates a variable for each constraint of a dependence, which its quota of operations does not
 * keep from taking minutes. */
static bool is_small_enough(const struct region *region)
{
	int n = 0;

	isl_union_map_foreach_map(region->strict, look_at_deps, &n);
	isl_union_map_foreach_map(region->reduction, look_at_deps, &n);
	return n <= MOST_CONSTRAINTS;
}

static bool take_proposal(struct module *module, struct region *region, bool *ran_out)
{
	struct conversion conversion = { module, true };
	isl_schedule *proposal = propose(module, region);

	proposal = isl_schedule_map_schedule_node_bottom_up(proposal, convert_node, &conversion);
	*ran_out |= pass_ran_out(module);
	if (!proposal || !conversion.ok) {
		isl_schedule_free(proposal);
		return false;
	}
	isl_schedule_free(region->schedule);
	region->schedule = proposal;
	for (int g = 0; g < region->groups.n; g++)
		region->groups.items[g]->n_fused = 0;
	return true;
}

/* Items that speak of loops speak of those of the text. */
static bool has_items(const struct module *module)
{
	for (int i = 0; i < module->overrides.n; i++)
		if ((module->overrides.items[i].verb == VERB_TILE ||
		     module->overrides.items[i].verb == VERB_FUSE) &&
		    module->overrides.items[i].choice != CHOICE_AUTO)
			return true;
	return false;
}

/* A candidate that asks for isl's order and keeps that of the text is no other way to compile the module. */
static bool refuse_candidate(struct module *module)
{
	diag_error(module->diags, DIAG_NOT_SUPPORTED, module->span, NO_PROPOSAL);
	return false;
}

bool pass_schedule(struct module *module, const struct pass_options *options)
{
	bool asked = options->schedule == ORDER_ISL && !has_items(module), taken = false;
	bool ran_out = false;

	for (int i = 0; i < REGION_N; i++) {
		struct region *region = &module->regions[i];

		region->schedule = isl_schedule_free(region->schedule);
		if (!region->groups.n)
			continue;
		region->schedule = schedule_fused(module, region);
		if (!region->schedule)
			return false;
		taken |= asked && region_is_plain(region) && is_small_enough(region) &&
			 take_proposal(module, region, &ran_out);
	}
	if (ran_out)
		diag_warning(module->diags, DIAG_ISL_QUOTA, module->span,
			     "'%s' takes too many operations for isl to propose an order: it keeps that of the text",
			     module->name);
	if (options->schedule == ORDER_ISL && !taken && module->choice.items)
		return refuse_candidate(module);
	module_decide(module, taken ? DECISION_SCHEDULE_ISL : DECISION_SCHEDULE_TEXTUAL, module->name,
		      module->span, taken ? "proposed by isl, proved legal" : asked ?
		      NO_PROPOSAL : "values are computed in the order of their need");
	return true;
}
