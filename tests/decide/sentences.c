/* SPDX-License-Identifier: MIT
 *
 * Which check is of which row of decisions.def, and what of a tree some decision must tell. */
#include "sentences.h"
#include "sentence_checks.h"

#include <string.h>

static const struct row {
	check_sentence *check;
	const char *reason;             /* why there is none */
} rows[DECISION_N] = {
	[DECISION_ELIMINATE_THOMAS] = { .check = check_elimination },
	[DECISION_ELIMINATE_OTHERWISE] = { .check = check_elimination },
	[DECISION_ELIMINATE_TREE] = { .check = check_chunks },
	[DECISION_BRANCHES_HINES] = { .check = check_branches },
	[DECISION_BRANCHES_CHAINS] = { .check = check_branches },
	[DECISION_BRANCHES_LEVELS] = { .check = check_branches },
	[DECISION_SEGMENTS] = { .check = check_tree_by_tree },
	[DECISION_INLINE] = { .check = check_inlined },
	[DECISION_NEXT_VALUES_COPY] = { .check = check_next_value },
	[DECISION_NEXT_VALUES_SUM] = { .check = check_next_value },
	[DECISION_STATES_IN_PLACE] = { .check = check_in_place },
	[DECISION_STATES_COPY] = { .check = check_copied },
	[DECISION_STATES_SWAPPED] = { .check = check_swapped },
	[DECISION_QUOTIENTS] = { .check = check_divided },
	[DECISION_RECIPROCALS] = { .check = check_reciprocal },
	[DECISION_SUMS_ADDED] = { .check = check_added },
	[DECISION_SUMS_TAKEN] = { .check = check_added },
	[DECISION_ONCE] = { .check = check_once },
	[DECISION_COLUMNS] = { .check = check_row_by_row },
	[DECISION_TRANSPOSE] = { .reason = "the strides of an array are not written in the tree as such; "
					   "tests/decide/transposed*.pmg compare the text" },
	[DECISION_INTERCHANGE] = { .check = check_interchanged },
	[DECISION_HALO] = { .check = check_tiled },
	[DECISION_BORDERS] = { .check = check_border },
	[DECISION_RESTRUCTURE_NONE] = { .check = check_not_restructured },
	[DECISION_RESTRUCTURE] = { .check = check_restructured },
	[DECISION_ORDER] = { .reason = "the order of segments is made by the inspector, not by a kernel" },
	[DECISION_PARTITION_COEFF] = { .check = check_partition },
	[DECISION_PARTITION_MODE] = { .check = check_partition },
	[DECISION_PARTITION_EXCLUSIVE] = { .check = check_partition },
	[DECISION_PARTITION_CHUNKS] = { .check = check_partition },
	[DECISION_PARTITION_PARTS] = { .check = check_partition },
	[DECISION_PREMULTIPLY] = { .check = check_offsets },
	[DECISION_PREMULTIPLY_NOT] = { .check = check_array },
	[DECISION_LIVE] = { .check = check_live },
	[DECISION_LIVE_FEW] = { .check = check_live },
	[DECISION_FUSE] = { .check = check_fused },
	[DECISION_SCHEDULE_TEXTUAL] = { .reason = "the order of all loops; tests/decide compares schedules" },
	[DECISION_SCHEDULE_ISL] = { .reason = "the order of all loops; tests/decide compares schedules" },
	[DECISION_JOIN] = { .check = check_joined },
	[DECISION_TILE] = { .check = check_tiled },
	[DECISION_UNROLL] = { .check = check_unrolled },
	[DECISION_ACCUMULATE] = { .check = check_in_register },
	[DECISION_PARALLEL] = { .check = check_parallel },
	[DECISION_PARALLEL_SERIAL] = { .check = check_serial },
	[DECISION_PARALLEL_ATOMIC] = { .check = check_atomic },
	[DECISION_PARALLEL_PRIVATE] = { .check = check_private },
	[DECISION_PARALLEL_PARTS] = { .check = check_parts },
	[DECISION_PARALLEL_TEAM] = { .check = check_team },
	[DECISION_INTERLEAVE] = { .check = check_blocks },
	[DECISION_INTERLEAVE_NOT] = { .check = check_no_blocks },
	[DECISION_VECTOR] = { .check = check_simd },
	[DECISION_VECTOR_SCALAR] = { .check = check_scalar },
	[DECISION_SKIP] = { .check = check_skipped },
	[DECISION_ROW] = { .check = check_in_row },
	[DECISION_BLAS_IDIOMS] = { .check = check_called },
	[DECISION_WARP_LOOP] = { .check = check_warp_loop },
	[DECISION_BLOCK_TEAMS] = { .check = check_team_of_block },
	[DECISION_MAP_CUDA] = { .check = check_cell },
	[DECISION_STORAGE_ARRAY] = { .check = check_array },
	[DECISION_STORAGE_VARIABLE] = { .check = check_variable },
	[DECISION_STORAGE_THREAD] = { .check = check_of_thread },
	[DECISION_STORAGE_PART] = { .check = check_part },
	[DECISION_STORAGE_WINDOW] = { .check = check_window },
	[DECISION_TEAM_REGISTERS] = { .check = check_own },
	[DECISION_TEAM_SHARED] = { .check = check_of_block },
	[DECISION_TEAM_COPY] = { .check = check_of_block },
	[DECISION_TEAM_ROOM] = { .check = check_room },
	[DECISION_BLOCKS_ROWS] = { .check = check_rows_at_a_time },
	[DECISION_BLOCKS_SHARED] = { .check = check_in_block_of },
	[DECISION_AHEAD] = { .check = check_prefetch_of_rows },
	[DECISION_PREFETCH_CELLS] = { .check = check_prefetch_of_cells },
	[DECISION_NONTEMPORAL] = { .check = check_nontemporal },
	[DECISION_BARRIERS] = { .check = check_barriers },
	[DECISION_LANE_CELLS] = { .check = check_lane_cell },
	[DECISION_DIVISIONS] = { .check = check_quotients },
	[DECISION_BLOCK_SIZE] = { .check = check_block_size },
	[DECISION_BAD_PIVOTS] = { .check = check_pivot_search },
	[DECISION_CANDIDATES_SOME] = { .reason = "of other candidates, which have trees of their own" },
	[DECISION_CANDIDATES_LEFT_OUT] = { .reason = "of other candidates, which have trees of their own" },
};

int sentences_without_check(void)
{
	int n = 0;

	for (int i = 0; i < DECISION_N; i++)
		n += !rows[i].check && !rows[i].reason;
	return n;
}

const char *sentence_fault(const struct sentence *s, bool *is_checked)
{
	const struct row *row = &rows[s->decision->kind];

	*is_checked = row->check;
	return row->check ? row->check(s) : NULL;
}

/* ---- the other way round ---- */

static bool has_decision(const struct module *module, enum decision_kind first, enum decision_kind last)
{
	for (int i = 0; i < module->decisions.n; i++)
		if (module->decisions.items[i].kind >= first && module->decisions.items[i].kind <= last)
			return true;
	return false;
}

/* Of a group that has the statement. */
static bool has_decision_of(const struct module *module, enum decision_kind first, enum decision_kind last,
			    struct span span)
{
	for (int i = 0; i < module->decisions.n; i++) {
		const struct decision *d = &module->decisions.items[i];

		if (d->kind >= first && d->kind <= last &&
		    (group_has_span(module, d->subject, span) || d->kind == DECISION_PARALLEL_PRIVATE))
			return true;
	}
	return false;
}

static bool is_prefetch_told(const struct module *module, const struct k_stmt *stmt)
{
	for (int i = 0; i < module->decisions.n; i++) {
		const struct decision *d = &module->decisions.items[i];

		if (d->kind == DECISION_AHEAD ||
		    (d->kind == DECISION_PREFETCH_CELLS && stmt_mentions(stmt, d->subject)))
			return true;
	}
	return false;
}

static bool is_nontemporal_told(const struct module *module)
{
	return has_decision(module, DECISION_NONTEMPORAL, DECISION_NONTEMPORAL);
}

/* Rows of a group of threads are added by calls that are atomic only if others have a part of the same row. */
const char *untold_in(const struct tree *tree, const struct module *module, int node)
{
	const struct k_stmt *stmt = tree->nodes.items[node].stmt;

	if (stmt_is_atomic(stmt) && !stmt_calls(stmt, "pmg_cuda_row_") &&
	    !has_decision(module, DECISION_PARALLEL_ATOMIC, DECISION_PARALLEL_ATOMIC))
		return "an atomic update";
	if (stmt_is_shared(stmt) &&
	    !has_decision_of(module, DECISION_PARALLEL, DECISION_PARALLEL_TEAM, stmt->span) &&
	    !(stmt->loop.kind == K_LOOP_GRID && has_decision_of(module, DECISION_VECTOR, DECISION_VECTOR, stmt->span)))
		return "a shared loop";
	if (stmt_is_of_lanes(stmt) && stmt->loop.kind == K_LOOP_SIMD &&
	    !has_decision_of(module, DECISION_VECTOR, DECISION_VECTOR, stmt->span) &&
	    !has_decision(module, DECISION_INTERLEAVE, DECISION_INTERLEAVE) &&
	    !has_decision(module, DECISION_PARALLEL_PRIVATE, DECISION_PARALLEL_PRIVATE))
		return "a loop of vectors";
	if ((stmt_effects(stmt) & K_CALL_IS_PREFETCH) && !is_prefetch_told(module, stmt))
		return "a prefetch";
	if ((stmt_effects(stmt) & K_CALL_IS_NONTEMPORAL) && !is_nontemporal_told(module))
		return "a non-temporal store";
	if (stmt_calls(stmt, "pmg_cblas_") && !has_decision(module, DECISION_BLAS_IDIOMS, DECISION_BLAS_IDIOMS))
		return "a call of the BLAS";
	return NULL;
}
