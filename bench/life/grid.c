/* SPDX-License-Identifier: MIT
 *
 * The tables of the thesis beside what is measured here: restructuring by partition (T6.2 to T6.4), for hand-written
 * and generated code, threads (T6.5), and what its versions gain over each other (F6.1). Machines differ, so what
 * compares are the factors over the naive code. An iteration of SBBNNLS is two products y = M w and one and a half
 * w = M' y (2.4 of the thesis). */
#include "life/life.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct cell {
	const char *item, *op, *version, *partition, *order;
	int64_t threads;
	double first, last;
};

typedef VEC(struct cell) cell_list;

/* ---- The thesis' numbers --------------------------------------------------------------------- */

static bool cell_of(const struct paper_row *row, struct cell *cell)
{
	const char *const *words = row->words;
	*cell = (struct cell){ .item = words[0], .op = words[1], .version = words[2], .partition = words[3],
			       .order = words[4], .last = row->number };
	return parse_integer(words[5], &cell->threads) && parse_real(words[6], &cell->first);
}

static bool read_cells(struct life_values *values, cell_list *cells, struct failure *failure)
{
	paper_row_list rows = { 0 };
	bool ok = paper_read(values->arena, "life.tsv", 8, &rows, failure);
	for (int i = 0; ok && i < rows.n; i++) {
		struct cell cell;
		ok = cell_of(&rows.items[i], &cell) ||
		     fail(failure, OUTCOME_DATA, "life.tsv: '%s' or '%s' is no number", rows.items[i].words[5],
			  rows.items[i].words[6]);
		vec_push(values->arena, cells, cell);
	}
	return ok;
}

static int64_t threads_of(const struct life_values *values, const char *version)
{
	bool is_sequential = strcmp(version, "cpu_naive") == 0 || strcmp(version, "cpu_naive_blas") == 0;
	return is_sequential ? 1 : values->run.threads;
}

/* ---- Rows ---------------------------------------------------------------------------------------- */

static bool has_row(const life_row_list *rows, const struct cell *cell, enum life_op op, int64_t threads)
{
	for (int i = 0; i < rows->n; i++) {
		const struct record *record = &rows->items[i]->row.record;
		if (rows->items[i]->op == op && strcmp(record->version, cell->version) == 0 &&
		    strcmp(record->partition, cell->partition) == 0 && strcmp(record->restructure, cell->order) == 0 &&
		    record->threads == (double) threads)
			return true;
	}
	return false;
}

static bool add_cell(struct life_values *values, const struct life_case *problem, struct life_cpu *cpu,
		     const struct cell *cell, life_row_list *rows, struct failure *failure)
{
	for (int op = 0; op < LIFE_OPS; op++) {
		enum life_op wanted = (enum life_op) op;
		int64_t threads = threads_of(values, cell->version);
		const char *name = arena_printf(values->arena, "%s@%s+%s", cell->version, cell->partition, cell->order);
		if (strcmp(cell->op, life_op_name(wanted)) != 0 || !life_op_wanted(values, wanted) ||
		    has_row(rows, cell, wanted, threads))
			continue;
		if (!life_row_named(values, problem, cpu, name, wanted, values->run.threads, rows, failure))
			return false;
	}
	return true;
}

/* A cell of generated code, if the compiler can make it. */
static void add_generated(struct life_values *values, const struct life_case *problem, enum life_op op,
			  const char *order, const char *partition, life_row_list *rows)
{
	struct failure failure = { 0 };
	int n = rows->n;
	const char *options = arena_printf(values->arena, "'--with=restructure PHI by %s; partition %s by %s'", order,
					   op == LIFE_DSC ? "Y" : "w", partition);
	if (life_row_generated(values, problem, op, options, rows, &failure))
		return;
	fprintf(stderr, "pmg bench: %s of generated code %s is left out: %s\n", life_op_name(op), options,
		failure.text);
	while (rows->n > n)
		life_row_free(rows->items[--rows->n]);
}

static void add_generated_cells(struct life_values *values, const struct life_case *problem, life_row_list *rows)
{
	static const char *const cells[][2] = {
		{ "atom", "coeff" }, { "voxel", "coeff" }, { "fiber", "coeff" }, { "voxel", "coeff_exclusive" },
		{ "atom", "coeff_exclusive" }, { "fiber", "coeff_exclusive" }, { "voxel", "voxel" }, { "atom", "atom" },
		{ "fiber", "fiber" }, { "hybrid(voxel, atom)", "voxel" }, { "hybrid(voxel, atom)", "private" },
	};
	for (int op = 0; op < LIFE_OPS; op++)
		for (size_t i = 0; i < sizeof(cells) / sizeof(cells[0]); i++)
			if (life_op_wanted(values, (enum life_op) op))
				add_generated(values, problem, (enum life_op) op, cells[i][0], cells[i][1], rows);
}

bool life_grid_add(struct life_values *values, const struct life_case *problem, struct life_cpu *cpu,
		   life_row_list *rows, struct failure *failure)
{
	cell_list cells = { 0 };
	if (!read_cells(values, &cells, failure))
		return false;
	for (int i = 0; i < cells.n; i++)
		if (!add_cell(values, problem, cpu, &cells.items[i], rows, failure))
			return false;
	add_generated_cells(values, problem, rows);
	return true;
}

bool life_scaling_add(struct life_values *values, const struct life_case *problem, struct life_cpu *cpu,
		      life_row_list *rows, struct failure *failure)
{
	static const char *const versions[] = { "cpu_naive_par", "cpu_opt", "best" };
	for (int64_t threads = 1; threads < values->run.threads; threads *= 2)
		for (int op = 0; op < LIFE_OPS; op++) {
			enum life_op wanted = (enum life_op) op;
			const char *options = arena_printf(values->arena, "--threads=%lld", (long long) threads);
			if (!life_op_wanted(values, wanted))
				continue;
			for (size_t v = 0; v < sizeof(versions) / sizeof(versions[0]); v++)
				if (!life_row_named(values, problem, cpu, versions[v], wanted, threads, rows, failure))
					return false;
			if (!life_row_generated(values, problem, wanted, options, rows, failure))
				return false;
		}
	return true;
}

/* ---- Tables --------------------------------------------------------------------------------------- */

/* Is it in the order and partition that its version takes by itself? */
static bool is_own_cell(const struct record *record, enum life_op op)
{
	const struct life_version *version = life_version_named(record->version, strlen(record->version));
	return !version || (strcmp(record->partition, life_partition_name(version->partition[op])) == 0 &&
			    strcmp(record->restructure, life_order_name(version->order[op])) == 0);
}

/* Of a version in its own order and partition, or where `cell` says so in those of the cell; NaN: none. */
static double time_of(const life_row_list *rows, const char *op, const char *version, const struct cell *cell,
		      int64_t threads)
{
	for (int i = 0; i < rows->n; i++) {
		const struct record *record = &rows->items[i]->row.record;
		if (strcmp(record->op, op) == 0 && strcmp(record->version, version) == 0 &&
		    record->threads == (double) threads &&
		    (cell ? strcmp(record->partition, cell->partition) == 0 &&
				    strcmp(record->restructure, cell->order) == 0
			  : is_own_cell(record, rows->items[i]->op)))
			return record->ms_median;
	}
	return NAN;
}

static double iteration_of(const life_row_list *rows, const char *version, int64_t threads)
{
	return 2 * time_of(rows, "dsc", version, NULL, threads) + 1.5 * time_of(rows, "wc", version, NULL, threads);
}

static void print_factor(double factor, FILE *stream)
{
	if (isnan(factor))
		fprintf(stream, " %8s", "-");
	else
		fprintf(stream, " %8.3g", factor);
}

static void print_cell(const struct life_values *values, const cell_list *cells, const struct cell *cell,
		       const life_row_list *rows, FILE *stream)
{
	const struct cell *naive = cells->items;
	int64_t threads = threads_of(values, cell->version);
	while (strcmp(naive->op, cell->op) != 0)
		naive++;
	double ours = time_of(rows, cell->op, cell->version, cell, threads);
	double base = time_of(rows, cell->op, "cpu_naive", naive, 1);
	fprintf(stream, "%s %-4s%-15s%-16s%-7s %4lld %8.3f %8.3f %8.3g %8.3g   %4lld", cell->item, cell->op,
		cell->version, cell->partition, cell->order, (long long) cell->threads, cell->first, cell->last,
		naive->first / cell->first, naive->last / cell->last, (long long) threads);
	print_factor(1e-3 * ours, stream);
	print_factor(base / ours, stream);
	ours = time_of(rows, cell->op, "generated", cell, values->run.threads);
	print_factor(1e-3 * ours, stream);
	print_factor(base / ours, stream);
	putc('\n', stream);
}

static void print_scaling(const cell_list *cells, const struct cell *cell, const life_row_list *rows, FILE *stream)
{
	const struct cell *naive = cells->items;
	while (strcmp(naive->item, cell->item) != 0)
		naive++;
	double ours = iteration_of(rows, cell->version, cell->threads), base = iteration_of(rows, "cpu_naive", 1);
	fprintf(stream, "%s %-15s %4lld %8.2f %8.2f %8.3g %8.3g", cell->item, cell->version, (long long) cell->threads,
		cell->first, cell->last, naive->first / cell->first, naive->last / cell->last);
	print_factor(1e-3 * ours, stream);
	print_factor(base / ours, stream);
	putc('\n', stream);
}

static void print_ours(const life_row_list *rows, const char *version, int64_t most, FILE *stream)
{
	double base = iteration_of(rows, "cpu_naive", 1);
	for (int64_t threads = 1; threads <= most; threads++) {
		double ours = iteration_of(rows, version, threads);
		if (isnan(ours))
			continue;
		fprintf(stream, "     %-15s %4lld %8s %8s %8s %8s", version, (long long) threads, "-", "-", "-", "-");
		print_factor(1e-3 * ours, stream);
		print_factor(base / ours, stream);
		putc('\n', stream);
	}
}

static void print_cells(const struct life_values *values, const cell_list *cells, const life_row_list *rows,
			FILE *stream)
{
	fprintf(stream, "\nthesis, tables 6.2 to 6.4\n%-4s %-4s%-15s%-16s%-7s", "", "op", "version", "partition",
		"order");
	fprintf(stream, " %4s %8s %8s %8s %8s   %4s %8s %8s %8s %8s\n", "thr", "first s", "500th s", "x naive",
		"x naive", "thr", "here s", "x naive", "gen. s", "x naive");
	for (int i = 0; i < cells->n; i++)
		if (strcmp(cells->items[i].op, "all") != 0)
			print_cell(values, cells, &cells->items[i], rows, stream);
}

/* Of figure 6.1, the text gives factors of one version over another, means of 500 iterations. */
static double ms_of(const struct life_values *values, const life_row_list *rows, const char *op, const char *version)
{
	int64_t threads = threads_of(values, version);
	return strcmp(op, "all") == 0 ? iteration_of(rows, version, threads)
				      : time_of(rows, op, version, NULL, threads);
}

static bool print_factors(const struct life_values *values, const life_row_list *rows, FILE *stream,
			  struct failure *failure)
{
	paper_row_list factors = { 0 };
	if (!paper_read(values->arena, "life_factors.tsv", 5, &factors, failure))
		return false;
	fprintf(stream, "\nthesis, figure 6.1: how many times as fast as another version\n");
	fprintf(stream, "%-4s %-4s%-15s%-23s %8s %8s\n", "", "op", "version", "as", "thesis", "here");
	for (int i = 0; i < factors.n; i++) {
		const char *const *words = factors.items[i].words;
		fprintf(stream, "%s %-4s%-15s%-23s %8s", words[0], words[1], words[2], words[3], words[4]);
		print_factor(ms_of(values, rows, words[1], words[3]) / ms_of(values, rows, words[1], words[2]), stream);
		putc('\n', stream);
	}
	return true;
}

bool life_grid_print(struct life_values *values, const life_row_list *rows, FILE *stream, struct failure *failure)
{
	cell_list cells = { 0 };
	if (!read_cells(values, &cells, failure))
		return false;
	if (values->grid)
		print_cells(values, &cells, rows, stream);
	fprintf(stream, "\nthesis, table 6.5; here: seconds of an iteration\n");
	fprintf(stream, "%-4s %-15s %4s %8s %8s %8s %8s %8s %8s\n", "", "version", "thr", "10, min", "500, min",
		"x naive", "x naive", "here s", "x naive");
	for (int i = 0; i < cells.n; i++)
		if (strcmp(cells.items[i].op, "all") == 0)
			print_scaling(&cells, &cells.items[i], rows, stream);
	print_ours(rows, "best", values->run.threads, stream);
	print_ours(rows, "generated", values->run.threads, stream);
	return print_factors(values, rows, stream, failure);
}
