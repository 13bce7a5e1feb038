/* SPDX-License-Identifier: MIT
 *
 * How loops run, and which are inside of which. A loop is known by its variable and by its statement. */
#include "sentence_checks.h"

#include <string.h>

static bool calls_blas(const struct sentence *s, int node, const char *group)
{
	return is_of_group(s, node, group) && stmt_calls(sentence_stmt(s, node), "pmg_cblas_");
}

/* A loop of one iteration is none; nor is what the BLAS does, which is no such loop. */
static bool has_one_iteration(const struct sentence *s)
{
	return find_anywhere(s, is_loop_of_subject, sentence_quoted(s, 0)) < 0 &&
	       find_anywhere(s, calls_blas, s->decision->subject) < 0;
}

/* By teams, or by the lanes of the one team that a kernel has. */
const char *check_parallel(const struct sentence *s)
{
	const char *dim = sentence_quoted(s, 0);

	if (has_one_iteration(s) || find_anywhere(s, is_shared_loop, dim) >= 0 ||
	    (s->is_device && find_anywhere(s, is_of_lanes, dim) >= 0))
		return NULL;
	return sentence_fail(s, "no shared loop over '%s'", dim);
}

static bool has_other(const struct sentence *s, enum decision_kind first, enum decision_kind last)
{
	for (int i = 0; i < s->module->decisions.n; i++) {
		const struct decision *d = &s->module->decisions.items[i];

		if (d->kind >= first && d->kind <= last && d->kind != s->decision->kind &&
		    (!strcmp(d->subject, s->decision->subject) || span_equal(d->span, s->decision->span)))
			return true;
	}
	return false;
}

const char *check_serial(const struct sentence *s)
{
	const char *dim = sentence_quoted(s, 0);

	if (has_other(s, DECISION_PARALLEL, DECISION_PARALLEL_TEAM))
		return NULL;
	return find_anywhere(s, is_shared_loop, dim) >= 0 ? sentence_fail(s, "a shared loop over '%s'", dim) : NULL;
}

/* Iterations of '…' may update the same cell of 'A', 'B'. */
const char *check_atomic(const struct sentence *s)
{
	const char *fault = check_parallel(s), *target;

	for (int i = 1; !fault && (target = sentence_quoted(s, i)); i++)
		if (find_anywhere(s, is_atomic_on, c_name_of(s, target)) < 0)
			fault = sentence_fail(s, "no atomic update of '%s'", target);
	return fault;
}

const char *check_private(const struct sentence *s)
{
	const char *own = sentence_fail(s, "%s_own", c_name_of(s, s->decision->subject));

	if (find_anywhere(s, is_store_to, own) < 0)
		return sentence_fail(s, "nothing is stored to '%s'", own);
	return NULL;
}

const char *check_parts(const struct sentence *s)
{
	const char *n = sentence_fail(s, "%d parts", 16);

	if (strncmp(s->decision->reason, n, strlen(n)) != 0)
		return "not 16 parts";
	return check_parallel(s);
}

static bool is_part_of(const struct sentence *s, int node, const char *dim)
{
	const struct k_stmt *stmt = sentence_stmt(s, node);

	return is_loop_of_subject(s, node, dim) && stmt->loop.first->kind == KE_NAME &&
	       name_has_stem(stmt->loop.first->text, sentence_fail(s, "%s_begin", stem_of_dim(s, dim)));
}

/* Each thread has a part of the inner loop, in all iterations of the one around. */
const char *check_team(const struct sentence *s)
{
	const char *inner = sentence_quoted(s, 0), *outer = sentence_quoted(s, 2);

	for (int i = 0; i < s->tree->nodes.n; i++)
		if (find_around(s, i, is_loop_over, outer) >= 0 &&
		    (is_part_of(s, i, inner) || (is_loop_over(s, i, inner) && stmt_is_shared(sentence_stmt(s, i)))))
			return NULL;
	return sentence_fail(s, "no loop over '%s' that a team shares", inner);
}

static bool is_vectors(const struct sentence *s, int node, const char *name)
{
	const struct k_stmt *stmt = sentence_stmt(s, node);

	(void) name;
	return is_of_group(s, node, s->decision->subject) &&
	       (stmt_is_of_lanes(stmt) || stmt_calls(stmt, "PMG_READ") || stmt_calls(stmt, "PMG_WRITE") ||
		stmt_calls(stmt, "pmg_vector") || (stmt->kind == KS_LET && strstr(stmt->let.type.name, "pmg_vector")));
}

const char *check_simd(const struct sentence *s)
{
	const char *dim = sentence_quoted(s, 0);

	if (has_one_iteration(s) || find_anywhere(s, is_of_lanes, dim) >= 0 || find_anywhere(s, is_vectors, NULL) >= 0)
		return NULL;
	return sentence_fail(s, "no lanes of '%s'", dim);
}

const char *check_scalar(const struct sentence *s)
{
	const char *dim = sentence_quoted(s, 0);

	if (has_other(s, DECISION_VECTOR, DECISION_VECTOR))
		return NULL;
	return find_anywhere(s, is_of_lanes, dim) >= 0 ? sentence_fail(s, "lanes of '%s'", dim) : NULL;
}

static bool steps_by(const struct sentence *s, int node, const char *number)
{
	const struct k_stmt *stmt = sentence_stmt(s, node);
	const struct k_expr *step = stmt->kind == KS_LOOP ? stmt->loop.step : NULL;

	return step && step->kind == KE_INT && is_loop_over(s, node, sentence_quoted(s, 0)) &&
	       step->integer == sentence_number(s) && strstr(stmt->loop.name, number);
}

const char *check_blocks(const struct sentence *s)
{
	if (has_one_iteration(s) || find_anywhere(s, steps_by, "_block") >= 0)
		return NULL;
	return sentence_fail(s, "no loop with a step of %d", sentence_number(s));
}

static bool is_block_loop(const struct sentence *s, int node, const char *dim)
{
	const char *name = loop_name(sentence_stmt(s, node));

	return name && is_loop_of_subject(s, node, dim) && strstr(name, "_block");
}

const char *check_no_blocks(const struct sentence *s)
{
	return find_anywhere(s, is_block_loop, sentence_quoted(s, 0)) >= 0 ? "a loop over blocks" : NULL;
}

/* As many nested loops as it says have statements of both groups inside; of a device, the host may run one. */
const char *check_fused(const struct sentence *s)
{
	const char *other = sentence_quoted(s, 0);
	const char *outer = strstr(s->decision->reason, "outer ");
	const int asked = outer && outer[6] >= '1' && outer[6] <= '9' ? outer[6] - '0' : 1;

	for (int i = 0; i < s->tree->nodes.n; i++) {
		int n = 0;

		if (!is_of_group(s, i, s->decision->subject))
			continue;
		for (int at = s->tree->nodes.items[i].parent; at >= 0; at = s->tree->nodes.items[at].parent)
			n += (sentence_stmt(s, at)->kind == KS_LOOP || sentence_stmt(s, at)->kind == KS_WHILE) &&
			     find_inside(s, at, is_of_group, other) >= 0;
		if (n >= asked - s->is_device)
			return NULL;
	}
	return sentence_fail(s, "no %d loops with '%s'", asked, other);
}

/* Not over parts of its range. */
static bool is_whole_loop(const struct sentence *s, int node, const char *dim)
{
	const char *name = loop_name(sentence_stmt(s, node));

	return is_loop_of_subject(s, node, dim) && !strstr(name, "_begin") && !strstr(name, "_block") &&
	       !strstr(name, "_tile");
}

/* "i, k, j": each is inside of the one before it. */
const char *check_interchanged(const struct sentence *s)
{
	char *list = arena_copy(s->tree->arena, s->decision->chosen, strlen(s->decision->chosen));
	const char *outer = strtok(list, ", "), *inner;

	for (; (inner = strtok(NULL, ", ")); outer = inner)
		for (int i = 0; i < s->tree->nodes.n; i++)
			if (is_loop_of_subject(s, i, outer) && find_around(s, i, is_whole_loop, inner) >= 0)
				return sentence_fail(s, "'%s' is inside of '%s'", outer, inner);
	return find_anywhere(s, is_of_group, s->decision->subject) >= 0 ? NULL : "no statement";
}

static bool is_tile_loop(const struct sentence *s, int node, const char *group)
{
	const char *name = loop_name(sentence_stmt(s, node));

	(void) group;
	return name && strstr(name, "_tile");
}

/* Does it start a kernel that has a statement of the group? */
static bool launches(const struct sentence *s, int node, const char *group)
{
	const struct k_stmt *stmt = sentence_stmt(s, node);

	for (int i = 0; (stmt_effects(stmt) & K_CALL_IS_LAUNCH) && i < s->tree->nodes.n; i++)
		if (stmt_mentions(stmt, s->tree->nodes.items[i].function->name) && is_of_group(s, i, group))
			return true;
	return false;
}

const char *check_tiled(const struct sentence *s)
{
	const char *group = s->decision->subject;

	for (int i = 0; i < s->tree->nodes.n; i++)
		if (is_tile_loop(s, i, NULL) &&
		    (find_inside(s, i, is_of_group, group) >= 0 || find_inside(s, i, launches, group) >= 0))
			return NULL;
	return "no loop over tiles around it";
}

static bool is_any_loop(const struct sentence *s, int node, const char *name)
{
	(void) name;
	return sentence_stmt(s, node)->kind == KS_LOOP;
}

/* The loop that is then the innermost one has none inside. */
const char *check_unrolled(const struct sentence *s)
{
	const char *inner = sentence_quoted(s, 0);

	for (int i = 0; i < s->tree->nodes.n; i++)
		if (is_loop_of_subject(s, i, inner) && find_inside(s, i, is_any_loop, NULL) < 0)
			return NULL;
	return sentence_fail(s, "no innermost loop over '%s'", inner);
}

/* The last loop that it names adds up row by row: that over the cells is inside of that over the terms. */
const char *check_row_by_row(const struct sentence *s)
{
	const char *cells = sentence_quoted(s, 0), *terms = sentence_quoted(s, 1);

	for (int i = 0; i < s->tree->nodes.n; i++)
		if (is_loop_over(s, i, cells) && find_around(s, i, is_loop_over, terms) >= 0)
			return NULL;
	return sentence_fail(s, "'%s' is not inside of '%s'", cells, terms);
}

const char *check_once(const struct sentence *s)
{
	const char *outer = s->decision->alternatives;
	char *dim = arena_copy(s->tree->arena, strchr(outer, '\'') + 1, strcspn(strchr(outer, '\'') + 1, "'"));

	for (int i = 0; i < s->tree->nodes.n; i++)
		if (sentence_stmt(s, i)->kind == KS_STORE && sentence_stmt(s, i)->store.op != K_OP_N &&
		    span_equal(sentence_stmt(s, i)->span, s->decision->span) &&
		    find_around(s, i, is_loop_of_subject, dim) >= 0)
			return sentence_fail(s, "it is added up in the loop over '%s'", dim);
	return NULL;
}


/* ---- loops over children, trees and points ---- */

static bool is_update(const struct sentence *s, int node, const char *name)
{
	(void) name;
	return sentence_stmt(s, node)->kind == KS_STORE &&
	       span_equal(sentence_stmt(s, node)->span, s->decision->span);
}

/* One loop has updates of both sums inside. */
const char *check_joined(const struct sentence *s)
{
	const char *other = stem_of_dim(s, sentence_quoted(s, 0)), *own = stem_of_dim(s, s->decision->subject);

	for (int i = 0; i < s->tree->nodes.n; i++)
		if (name_has_stem(loop_name(sentence_stmt(s, i)), "q") &&
		    (find_inside(s, i, is_store_to, own) >= 0 || find_inside(s, i, is_update, NULL) >= 0) &&
		    find_inside(s, i, is_store_to, other) >= 0)
			return NULL;
	return sentence_fail(s, "no loop has updates of '%s' and '%s'", own, other);
}

static bool is_in_lanes(const struct sentence *s, int node, const char *dim)
{
	const struct k_stmt *stmt = sentence_stmt(s, node);

	return is_loop_over(s, node, dim) && stmt->loop.step && k_expr_mentions(stmt->loop.step, "pmg_team");
}

const char *check_warp_loop(const struct sentence *s)
{
	return find_anywhere(s, is_in_lanes, sentence_quoted(s, 0)) >= 0 ? NULL : "no lanes take iterations of it";
}

/* Its statements are in a loop over trees. */
const char *check_tree_by_tree(const struct sentence *s)
{
	for (int i = 0; i < s->tree->nodes.n; i++)
		if (is_of_group(s, i, s->decision->subject) && find_around(s, i, is_loop_over, "tree") >= 0)
			return NULL;
	return "no loop over trees around it";
}

/* Batches: of branches, level by level. Else nodes follow one another. */
const char *check_branches(const struct sentence *s)
{
	const bool in_batches = !strcmp(s->decision->chosen, "level_batches");
	bool has_level = false;

	for (int i = 0; i < s->tree->nodes.n && !has_level; i++)
		has_level = is_of_group(s, i, s->decision->subject) && find_around(s, i, is_loop_over, "level") >= 0;
	return has_level == in_batches ? NULL : has_level ? "a loop over levels" : "no loop over levels";
}

/* What threads may share: chunks, parts of segments, the segments of a mode, or the points. `parallel` says whether. */
const char *check_partition(const struct sentence *s)
{
	const char *chosen = s->decision->chosen;
	const char *dim = !strcmp(chosen, "chunks") ? "chunk" : !strcmp(chosen, "parts") ? "part" : chosen;

	for (int i = 0; i < s->tree->nodes.n; i++)
		if (is_of_group(s, i, s->decision->subject) &&
		    (is_loop_over(s, i, dim) || is_loop_over(s, i, "place") || !strncmp(chosen, "coeff", 5)))
			return NULL;
	return sentence_fail(s, "no loop over '%s'", dim);
}

static bool has_stage(const struct sentence *s, const char *what)
{
	const char *name = sentence_fail(s, "%s_%s", c_name_of(s, s->decision->subject), what);

	for (int i = 0; i < s->tree->nodes.n; i++)
		if (mentions(s, i, name))
			return true;
	return false;
}

/* Chunks of a tree, and turns of them. */
const char *check_chunks(const struct sentence *s)
{
	return !has_stage(s, "part_upper") ? "no chunks" : !has_stage(s, "below_diag") ? "no turns" : NULL;
}

/* Reduction and doubling have tables of their steps, partition has chunks; the Thomas algorithm has neither. */
const char *check_elimination(const struct sentence *s)
{
	const char *chosen = s->decision->chosen;
	const bool reduces = has_stage(s, "cr_from"), doubles = has_stage(s, "pcr_stride");

	if (!strcmp(chosen, "thomas"))
		return reduces || doubles ? "it has steps" : NULL;
	if (!strcmp(chosen, "cr") || !strcmp(chosen, "crpcr"))
		return reduces ? NULL : "no steps of reduction";
	if (!strcmp(chosen, "partition"))
		return has_stage(s, "chunk_upper") ? NULL : "no chunks";
	return doubles || !strcmp(chosen, "stone") ? NULL : "no steps of doubling";
}
