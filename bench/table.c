/* SPDX-License-Identifier: MIT
 *
 * Rows as a table for people: the same numbers as the records, in fewer digits. */
#include "bench.h"

#include <math.h>
#include <string.h>

static void print_number(FILE *stream, const char *format, int width, double number)
{
	if (isnan(number))
		fprintf(stream, " %*s", width, "-");
	else
		fprintf(stream, format, width, number);
}

static const char *name_of(const struct record *record, char *text, size_t size)
{
	snprintf(text, size, "%s%s%s", record->version, *record->algorithm ? " " : "", record->algorithm);
	return text;
}

static const char *cell_of(const struct record *record, char *text, size_t size)
{
	snprintf(text, size, "%s%s%s", record->restructure, *record->partition ? ", " : "", record->partition);
	return text;
}

/* Of the columns of names. */
static void find_widths(const row_list *rows, int *name_width, int *cell_width)
{
	char text[128];
	*name_width = (int) strlen("version");
	*cell_width = (int) strlen("restructure, partition");
	for (int i = 0; i < rows->n; i++) {
		int name = (int) strlen(name_of(&rows->items[i]->record, text, sizeof(text)));
		int cell = (int) strlen(cell_of(&rows->items[i]->record, text, sizeof(text)));
		*name_width = name > *name_width ? name : *name_width;
		*cell_width = cell > *cell_width ? cell : *cell_width;
	}
}

static void print_head(int name_width, int cell_width, FILE *stream)
{
	fprintf(stream, "%-4s%-*s %-*s %3s %9s %19s %9s %5s %9s %15s %7s %7s %5s %5s %6s %8s %8s %8s %8s\n", "op",
		name_width, "version", cell_width, "restructure, partition", "thr", "median ms", "95 % interval",
		"min ms", "runs", "x base", "95 % interval", "GF/s", "GB/s", "%fma", "%mrg", "%strm", "error",
		"adjoint", "plan ms", "plan MB");
}

static void print_row(const struct record *r, int name_width, int cell_width, FILE *stream)
{
	char name[128], cell[128], interval[40], ratio[40];
	snprintf(interval, sizeof(interval), "%.4g - %.4g", r->ms_low, r->ms_high);
	snprintf(ratio, sizeof(ratio), "%.3g - %.3g", r->ratio_low, r->ratio_high);
	fprintf(stream, "%-4s%-*s %-*s %3.0f", r->op, name_width, name_of(r, name, sizeof(name)), cell_width,
		cell_of(r, cell, sizeof(cell)), r->threads);
	fprintf(stream, " %9.4g %19s %9.4g %5.0f", r->ms_median, interval, r->ms_min, r->runs);
	print_number(stream, " %*.3g", 9, r->ratio);
	fprintf(stream, " %15s", isnan(r->ratio) ? "-" : ratio);
	print_number(stream, " %*.1f", 7, r->gflops);
	print_number(stream, " %*.1f", 7, r->gbps);
	print_number(stream, " %*.1f", 5, 100 * r->of_fma);
	print_number(stream, " %*.1f", 5, 100 * r->of_fma_merged);
	print_number(stream, " %*.1f", 6, 100 * r->of_stream);
	print_number(stream, " %*.1e", 8, r->error);
	print_number(stream, " %*.1e", 8, r->adjoint);
	print_number(stream, " %*.4g", 8, r->plan_ms);
	print_number(stream, " %*.1f", 8, 1e-6 * r->plan_bytes);
	putc('\n', stream);
}

void table_print(const row_list *rows, FILE *stream)
{
	const char *op = "";
	int name_width, cell_width;
	find_widths(rows, &name_width, &cell_width);
	print_head(name_width, cell_width, stream);
	for (int i = 0; i < rows->n; i++) {
		const struct record *record = &rows->items[i]->record;
		if (*op && strcmp(op, record->op) != 0)
			putc('\n', stream);
		op = record->op;
		print_row(record, name_width, cell_width, stream);
	}
}

enum { MANY_RUNS = 6 };

/* On a quiet machine, medians are at most a third above the least. */
static const double disturbed = 2;

void disturbance_print(const row_list *rows, FILE *stream)
{
	bool is_wall = false;
	double most = 0;
	for (int i = 0; i < rows->n; i++) {
		const struct record *r = &rows->items[i]->record;
		if (r->runs >= MANY_RUNS && r->ms_min > 0 && r->ms_median > most * r->ms_min)
			most = r->ms_median / r->ms_min;
		is_wall = is_wall || strcmp(r->clock, "wall") == 0;
	}
	if (most >= disturbed)
		fprintf(stream, "medians are up to %.1f times the least: other work seems to run here%s\n", most,
			is_wall ? "; --clock=cpu is disturbed less" : "");
}
