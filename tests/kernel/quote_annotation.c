/* SPDX-License-Identifier: MIT
 *
 * Lines that say how the next statement runs: PMG_UNROLL, PMG_ROLLED, and pragmas of OpenMP. */
#include "kernel/quote.h"

#include <string.h>

bool quote_is_annotation(const char *text)
{
	return !strcmp(text, "PMG_UNROLL") || !strcmp(text, "PMG_ROLLED") || !strncmp(text, "#pragma omp", 11);
}

/* ---- clauses ---- */

/* schedule(static), schedule(dynamic, chunk) */
static bool read_schedule(struct k_reader *r, struct k_share *share)
{
	if (!k_expect(r, "("))
		return false;
	share->is_dynamic = k_is(r, "dynamic");
	if (!k_accept(r, "dynamic") && !k_expect(r, "static"))
		return false;
	if (k_accept(r, ",")) {
		share->chunk = k_read_whole(r);
		if (!share->chunk)
			return false;
	}
	return k_expect(r, ")");
}

/* reduction(+:x), reduction(pmg_max:x) */
static bool read_reduction(struct k_reader *r, struct k_loop *loop)
{
	struct k_reduction reduction = { 0 };

	if (!k_expect(r, "("))
		return false;
	reduction.op = arena_copy(r->arena, r->token.text, r->token.length);
	k_next(r);
	if (!k_expect(r, ":"))
		return false;
	reduction.name = k_expect_name(r);
	vec_push(r->arena, &loop->reductions, reduction);
	return reduction.name && k_expect(r, ")");
}

static struct k_expr *read_threads(struct k_reader *r)
{
	struct k_expr *threads;

	if (!k_expect(r, "("))
		return NULL;
	threads = k_read_whole(r);
	return threads && k_expect(r, ")") ? threads : NULL;
}

/* In the order in which they are printed. */
static bool read_clauses(struct k_reader *r, struct k_loop *loop)
{
	if (loop->kind == K_LOOP_WORKSHARE && (!k_expect(r, "schedule") || !read_schedule(r, &loop->share)))
		return false;
	while (k_accept(r, "reduction"))
		if (!read_reduction(r, loop))
			return false;
	if (loop->share.starts_team && k_accept(r, "num_threads"))
		loop->share.threads = read_threads(r);
	return !r->error;
}

/* ---- annotations ---- */

static struct k_stmt *of_loop(struct arena *arena, enum k_loop_kind kind)
{
	struct k_stmt *stmt = k_stmt(arena, KS_LOOP);

	stmt->loop.kind = kind;
	return stmt;
}

static struct k_stmt *read_pragma(struct k_reader *r)
{
	bool is_parallel, is_shared;
	struct k_stmt *stmt;

	k_expect(r, "#");
	k_expect(r, "pragma");
	k_expect(r, "omp");
	if (k_accept(r, "atomic")) {
		stmt = k_stmt(r->arena, KS_STORE);
		stmt->store.mode = K_STORE_ATOMIC;
		return stmt;
	}
	is_parallel = k_accept(r, "parallel");
	is_shared = k_accept(r, "for");
	if (is_parallel && !is_shared) {
		stmt = k_stmt(r->arena, KS_PARALLEL);
		stmt->value = k_expect(r, "num_threads") ? read_threads(r) : NULL;
		return stmt;
	}
	stmt = of_loop(r->arena, is_shared ? K_LOOP_WORKSHARE : K_LOOP_SIMD);
	stmt->loop.share.starts_team = is_parallel;
	stmt->loop.is_simd = is_shared && k_accept(r, "simd");
	if (!is_shared)
		k_expect(r, "simd");
	read_clauses(r, &stmt->loop);
	return stmt;
}

struct k_stmt *quote_annotation(struct arena *arena, const char *text, const char **error)
{
	struct k_reader r;
	struct k_stmt *stmt;

	*error = NULL;
	if (!strcmp(text, "PMG_UNROLL") || !strcmp(text, "PMG_ROLLED"))
		return of_loop(arena, text[4] == 'U' ? K_LOOP_UNROLLED : K_LOOP_ROLLED);
	r = k_reader_new(arena, text);
	stmt = read_pragma(&r);
	if (!r.error && r.token.kind != K_TOKEN_END)
		k_fail(&r, "this is no clause that is known here");
	*error = r.error;
	return r.error ? NULL : stmt;
}

/* ---- what they annotate ---- */

static bool annotate_loop(struct k_loop *loop, const struct k_loop *from)
{
	if (loop->kind != K_LOOP_SERIAL)
		return false;
	loop->kind = from->kind;
	loop->is_simd = from->is_simd;
	loop->share = from->share;
	memcpy(&loop->reductions, &from->reductions, sizeof loop->reductions);
	return true;
}

static bool annotate_while(struct k_while *repeat, const struct k_loop *from)
{
	repeat->kind = from->kind;
	return from->kind == K_LOOP_UNROLLED || from->kind == K_LOOP_ROLLED;
}

bool quote_annotate(struct k_stmt *stmt, const struct k_stmt *annotation)
{
	if (annotation->kind == KS_PARALLEL && stmt->kind == KS_BLOCK) {
		stmt->kind = KS_PARALLEL;
		stmt->value = annotation->value;
		return true;
	}
	if (annotation->kind == KS_STORE && stmt->kind == KS_STORE && stmt->store.mode == K_STORE_PLAIN) {
		stmt->store.mode = annotation->store.mode;
		return true;
	}
	if (annotation->kind != KS_LOOP)
		return false;
	if (stmt->kind == KS_LOOP)
		return annotate_loop(&stmt->loop, &annotation->loop);
	return stmt->kind == KS_WHILE && annotate_while(&stmt->repeat, &annotation->loop);
}
