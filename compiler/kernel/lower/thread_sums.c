/* SPDX-License-Identifier: MIT
 *
 * Sums that both threads and lanes of vectors have parts of. A work-shared loop in vectors that adds to a variable,
 *
 *     loop k from 0 below n, workshare, vectors, reduce + sum
 *
 * becomes one over a part for each thread:
 *
 *     let threads = pmg_team(…)
 *     loop part from 0 below threads, workshare, reduce + sum
 *         loop k from part*n/threads below (part + 1)*n/threads, simd, reduce + sum
 *
 * A thread's sum is one variable for OpenMP, and the lanes of its part are added to that. As one `for simd`, clang
 * takes lanes to be apart that are not. */
#include "kernel/affine.h"
#include "kernel/lower/lower_private.h"

struct search {
	struct arena *arena;
	name_list visible;
};

static bool is_shared_sum(const struct k_stmt *stmt)
{
	return stmt->kind == KS_LOOP && stmt->loop.kind == K_LOOP_WORKSHARE && stmt->loop.is_simd &&
	       stmt->loop.reductions.n > 0 && !stmt->loop.step && !stmt->loop.is_down;
}

/* The loop of a part. */
static void cut_loop(struct arena *arena, struct k_loop *loop, const char *threads, const char *part)
{
	const struct cut cut = { affine_of(arena, loop->first), affine_of(arena, loop->bound), k_name(arena, threads),
				 loop->share.chunk ? loop->share.chunk->integer : 0 };

	loop->kind = K_LOOP_SIMD;
	loop->is_simd = loop->is_short = false;
	loop->share = (struct k_share) { 0 };
	loop->first = cut_begin(arena, &cut, part);
	loop->bound = cut_end(arena, &cut, part);
}

/* Adds the loop over parts of statement `i` of the block, and how many they are. */
static void add_parts(struct search *search, struct k_block *out, const struct k_block *block, int i)
{
	struct arena *arena = search->arena;
	struct k_builder b = k_builder_new(arena, out);
	struct k_stmt *stmt = block->stmts.items[i];
	const struct k_share share = stmt->loop.share;
	const char *threads = name_list_ahead(arena, &search->visible, block, i, "threads");
	const char *part = lower_name(arena, &search->visible, stmt, "part");
	struct k_loop *parts;

	b.span = stmt->span;
	k_const(&b, k_scalar("int"), threads, share.threads ? share.threads : k_call(arena, "pmg_threads", 0));
	parts = &k_begin_for(&b, "int64_t", part, k_int(arena, 0), k_name(arena, threads), NULL)->loop;
	parts->kind = K_LOOP_WORKSHARE;
	parts->share.starts_team = share.starts_team;
	parts->share.threads = share.starts_team ? k_name(arena, threads) : NULL;
	for (int r = 0; r < stmt->loop.reductions.n; r++)
		vec_push(arena, &parts->reductions, stmt->loop.reductions.items[r]);
	cut_loop(arena, &stmt->loop, threads, part);
	k_add_as_it_is(&b, stmt);
	k_end(&b);
}

static bool take(void *user, struct k_block *out, const struct k_block *block, int i)
{
	const bool is_sum = is_shared_sum(block->stmts.items[i]);

	if (is_sum)
		add_parts(user, out, block, i);
	return is_sum;
}

void lower_thread_sums(struct k_lowered *lowered)
{
	for (int i = 0; i < lowered->program->functions.n; i++) {
		struct search search = { .arena = lowered->arena };

		lower_each(lowered, lowered->program->functions.items[i], &search.visible, take, &search);
	}
}
