/* SPDX-License-Identifier: MIT
 *
 * Hand-written kernels for Hines and tridiagonal systems: every version in every instruction set and precision, against
 * elimination in long double and by its backward error. Lengths around those of vectors and blocks, trees of several
 * roots and of many children, numbers of systems that leave lanes over. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "handtuned/life_cpu.h"
#include "systems/systems.h"
#include "tally.h"

static const char *all_versions(struct arena *arena)
{
	struct str text = str_new(arena);
	for (int i = 0; i < n_system_versions; i++)
		if (system_versions[i].code != SYSTEM_MOVED)
			str_add(&text, ",%s", system_versions[i].name);
	return str_text(&text);
}

/* Further roots, and node 0 the parent of every third one. */
static void change_trees(struct systems_case *problem)
{
	const struct system_batch *b = &problem->batch;
	int64_t n_trees = b->has_one_tree ? 1 : b->n_systems;
	for (int64_t s = 0; s < n_trees; s++) {
		int64_t at = b->has_one_tree ? 0 : b->offset[s];
		int64_t n = b->has_one_tree ? b->n : b->offset[s + 1] - at;
		for (int64_t i = 3; i < n; i += 3)
			problem->parent[at + i] = i % 7 == 0 ? -1 : 0;
	}
}

/* A diagonal that stays dominant whatever the tree is. */
static void strengthen(struct systems_case *problem)
{
	const struct system_batch *b = &problem->batch;
	for (int64_t i = 0; i < b->n_rows; i++)
		if (b->is_single)
			((float *) problem->diag.data)[i] += 3 * (float) b->n;
		else
			((double *) problem->diag.data)[i] += 3 * (double) b->n;
}

static void check_case(struct tally *tally, struct systems_values *values, const char *shape, int64_t n_systems,
		       bool changes_trees)
{
	struct systems_case problem;
	struct failure failure = { 0 };
	systems_row_list rows = { 0 };
	bool ok = systems_case_open(values, shape, n_systems, &problem, &failure);
	CHECK(tally, ok);
	if (!ok)
		return;
	if (changes_trees) {
		change_trees(&problem);
		strengthen(&problem);
	}
	ok = systems_rows_add(values, &problem, &rows, &failure);
	CHECK(tally, ok && rows.n > 1);
	for (int i = 0; i < rows.n; i++) {
		bool is_right = systems_check(values, rows.items[i], &failure) &&
				rows.items[i]->row.record.error < (problem.batch.is_single ? 1e-4 : 1e-12);
		CHECK(tally, is_right);
		if (!is_right)
			fprintf(stderr, "%s, %s: %s\n", values->isa, problem.name, failure.text);
		systems_row_free(values, rows.items[i]);
	}
	systems_case_close(&problem);
}

/* ---- Questions ------------------------------------------------------------------------------ */

static void test_chains(struct tally *tally, struct systems_values values)
{
	static const char *const lengths[] = { "1", "2", "7", "8", "17", "64" };
	static const int64_t systems[] = { 1, 8, 37 };
	values.is_tri = true;
	for (size_t n = 0; n < sizeof(lengths) / sizeof(lengths[0]); n++)
		for (size_t s = 0; s < sizeof(systems) / sizeof(systems[0]); s++)
			check_case(tally, &values, lengths[n], systems[s], false);
	values.lengths = "1..30";
	check_case(tally, &values, "30", 70, false);
}

static void test_one_tree(struct tally *tally, struct systems_values values)
{
	static const char *const shapes[] = { "1/0", "2/1", "9/3", "76/29", "small-low", "levels=16,2x4", "chain" };
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		for (int shared = 0; shared < 2; shared++) {
			values.is_shared = shared;
			check_case(tally, &values, shapes[i], 21, false);
			check_case(tally, &values, shapes[i], 33, true);
		}
}

static void test_forests(struct tally *tally, struct systems_values values)
{
	values.is_many = true;
	check_case(tally, &values, "40/13", 37, false);
	check_case(tally, &values, "40/13", 19, true);
	values.lengths = "1..60";
	check_case(tally, &values, "40/13", 50, false);
	check_case(tally, &values, "40/13", 50, true);
}

int main(void)
{
	struct tally tally = { 0 };
	struct arena arena = { 0 };
	static const char *const precisions[] = { "f64", "f32" };
	for (int i = 0; life_cpu_isa(i); i++)
		for (int p = 0; p < 2; p++) {
			struct systems_values values = { .arena = &arena, .isa = life_cpu_isa(i), .seed = 1,
							 .precision = precisions[p],
							 .versions = all_versions(&arena) };
			values.run = run_values_default();
			values.run.threads = i == 0 && p == 0 ? 3 : 1;
			test_chains(&tally, values);
			test_one_tree(&tally, values);
			test_forests(&tally, values);
		}
	arena_release(&arena);
	return tally_close(&tally);
}
