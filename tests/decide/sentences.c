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
	[DECISION_ELIMINATE_THOMAS] = { check_elimination },
	[DECISION_ELIMINATE_OTHERWISE] = { check_elimination },
	[DECISION_BRANCHES_HINES] = { check_branches },
	[DECISION_BRANCHES_CHAINS] = { check_branches },
	[DECISION_BRANCHES_LEVELS] = { check_branches },
	[DECISION_SEGMENTS] = { check_tree_by_tree },
	[DECISION_INLINE] = { check_inlined },
	[DECISION_NEXT_VALUES_COPY] = { check_next_value },
	[DECISION_NEXT_VALUES_SUM] = { check_next_value },
	[DECISION_STATES_IN_PLACE] = { check_in_place },
	[DECISION_STATES_COPY] = { check_copied },
	[DECISION_STATES_SWAPPED] = { check_swapped },
	[DECISION_QUOTIENTS] = { check_divided },
	[DECISION_RECIPROCALS] = { check_reciprocal },
	[DECISION_SUMS_ADDED] = { check_added },
	[DECISION_SUMS_TAKEN] = { check_added },
	[DECISION_ONCE] = { check_once },
	[DECISION_COLUMNS] = { check_row_by_row },
	[DECISION_TRANSPOSE] = { .reason = "the strides of an array are not written in the tree as such; "
					   "tests/decide/transposed*.pmg compare the text" },
	[DECISION_INTERCHANGE] = { check_interchanged },
	[DECISION_HALO] = { check_tiled },
	[DECISION_RESTRUCTURE_NONE] = { check_not_restructured },
	[DECISION_RESTRUCTURE] = { check_restructured },
	[DECISION_ORDER] = { .reason = "the order of segments is made by the inspector, not by a kernel" },
	[DECISION_PARTITION_COEFF] = { check_partition },
	[DECISION_PARTITION_MODE] = { check_partition },
	[DECISION_PARTITION_EXCLUSIVE] = { check_partition },
	[DECISION_PARTITION_CHUNKS] = { check_partition },
	[DECISION_PARTITION_PARTS] = { check_partition },
	[DECISION_PREMULTIPLY] = { check_offsets },
	[DECISION_PREMULTIPLY_NOT] = { check_array },
	[DECISION_LIVE] = { check_live },
	[DECISION_LIVE_FEW] = { check_live },
	[DECISION_FUSE] = { check_fused },
	[DECISION_SCHEDULE_TEXTUAL] = { .reason = "the order of all loops; tests/decide compares schedules" },
	[DECISION_SCHEDULE_ISL] = { .reason = "the order of all loops; tests/decide compares schedules" },
	[DECISION_JOIN] = { check_joined },
	[DECISION_TILE] = { check_tiled },
	[DECISION_UNROLL] = { check_unrolled },
	[DECISION_ACCUMULATE] = { check_in_register },
	[DECISION_PARALLEL] = { check_parallel },
	[DECISION_PARALLEL_SERIAL] = { check_serial },
	[DECISION_PARALLEL_ATOMIC] = { check_atomic },
	[DECISION_PARALLEL_PRIVATE] = { check_private },
	[DECISION_PARALLEL_PARTS] = { check_parts },
	[DECISION_PARALLEL_TEAM] = { check_team },
	[DECISION_INTERLEAVE] = { check_blocks },
	[DECISION_INTERLEAVE_NOT] = { check_no_blocks },
	[DECISION_VECTOR] = { check_simd },
	[DECISION_VECTOR_SCALAR] = { check_scalar },
	[DECISION_SKIP] = { check_skipped },
	[DECISION_ROW] = { check_in_row },
	[DECISION_BLAS_IDIOMS] = { check_called },
	[DECISION_DEAL] = { check_dealt },
	[DECISION_MAP_CUDA] = { check_cell },
	[DECISION_STORAGE_ARRAY] = { check_array },
	[DECISION_STORAGE_VARIABLE] = { check_variable },
	[DECISION_STORAGE_THREAD] = { check_of_thread },
	[DECISION_STORAGE_PART] = { check_part },
	[DECISION_STORAGE_WINDOW] = { check_window },
	[DECISION_BLOCKS_ROWS] = { check_rows_at_a_time },
	[DECISION_BLOCKS_SHARED] = { check_in_block_of },
	[DECISION_AHEAD] = { check_prefetch_of_rows },
	[DECISION_PREFETCH_CELLS] = { check_prefetch_of_cells },
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
	if (stmt_calls(stmt, "pmg_cblas_") && !has_decision(module, DECISION_BLAS_IDIOMS, DECISION_BLAS_IDIOMS))
		return "a call of the BLAS";
	return NULL;
}
