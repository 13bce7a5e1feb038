/* SPDX-License-Identifier: MIT
 *
 * The rows of one case as a table, with nanoseconds for each row of the systems and the share of the stream's speed;
 * and the factors over sequential code that the papers give, beside those of this run. */
#include "systems/systems.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- The table ------------------------------------------------------------------------------- */

static const char *name_of(const struct record *record, char *text, size_t size)
{
	snprintf(text, size, "%s%s%s", record->version, *record->algorithm ? " " : "", record->algorithm);
	return text;
}

static void print_number(FILE *stream, const char *format, int width, double number)
{
	if (isnan(number))
		fprintf(stream, " %*s", width, "-");
	else
		fprintf(stream, format, width, number);
}

static void print_row(const struct record *r, int width, FILE *stream)
{
	char name[160], interval[40], ratio[40];
	snprintf(interval, sizeof(interval), "%.4g - %.4g", r->ms_low, r->ms_high);
	snprintf(ratio, sizeof(ratio), "%.3g - %.3g", r->ratio_low, r->ratio_high);
	fprintf(stream, "%-*s %3.0f %9.4g %19s %9.4g %5.0f %8.3f", width, name_of(r, name, sizeof(name)), r->threads,
		r->ms_median, interval, r->ms_min, r->runs, r->ns_row);
	print_number(stream, " %*.3g", 7, r->ratio);
	fprintf(stream, " %15s", isnan(r->ratio) ? "-" : ratio);
	print_number(stream, " %*.1f", 7, r->gbps);
	print_number(stream, " %*.1f", 6, 100 * r->of_stream);
	print_number(stream, " %*.1e", 8, r->error);
	print_number(stream, " %*.2f", 6, 10 * r->bound);
	print_number(stream, " %*.4g", 8, r->plan_ms);
	print_number(stream, " %*.1f", 8, 1e-6 * r->plan_bytes);
	if (!isnan(r->operations))
		fprintf(stream, " %7.1f", r->operations);
	putc('\n', stream);
}

void systems_print(const struct systems_case *problem, const row_list *rows, FILE *stream)
{
	char name[160];
	int width = (int) strlen("version");
	bool has_operations = false;
	for (int i = 0; i < rows->n; i++) {
		int length = (int) strlen(name_of(&rows->items[i]->record, name, sizeof(name)));
		width = length > width ? length : width;
		has_operations = has_operations || !isnan(rows->items[i]->record.operations);
	}
	fprintf(stream, "%s %s: %" PRId64 " rows, %.1f MB to read and write\n", problem->op, problem->name,
		problem->batch.n_rows, 1e-6 * systems_case_bytes(problem));
	fprintf(stream, "%-*s %3s %9s %19s %9s %5s %8s %7s %15s %7s %6s %8s %6s %8s %8s%s\n", width, "version", "thr",
		"median ms", "95 % interval", "min ms", "runs", "ns/row", "x base", "95 % interval", "GB/s", "%strm",
		"error", "eps", "plan ms", "plan MB", has_operations ? " ops/row" : "");
	for (int i = 0; i < rows->n; i++)
		print_row(&rows->items[i]->record, width, stream);
}

/* ---- The papers -------------------------------------------------------------------------------- */

struct line {
	const char *item, *op, *shape, *method;
	int64_t systems;
	double factor;
};

static bool line_of(const struct paper_row *row, struct line *line)
{
	const char *const *words = row->words;
	*line = (struct line){ .item = words[0], .op = words[1], .shape = words[2], .method = words[4],
			       .factor = row->number };
	return parse_integer(words[3], &line->systems);
}

static bool is_about(const struct line *line, const struct systems_case *problem)
{
	return strcmp(line->op, problem->op) == 0 && line->systems == problem->batch.n_systems &&
	       (strcmp(line->shape, "any") == 0 || strcmp(line->shape, problem->shape) == 0);
}

/* Of the fastest row whose version begins so. */
static double best_ratio(const row_list *rows, const char *begin)
{
	double best = NAN;
	for (int i = 0; i < rows->n; i++) {
		const struct record *record = &rows->items[i]->record;
		if (strncmp(record->version, begin, strlen(begin)) == 0 && !(record->ratio <= best))
			best = record->ratio;
	}
	return best;
}

static const char *factor_text(double factor, char *text, size_t size)
{
	snprintf(text, size, isnan(factor) ? "-" : "x %.3g", factor);
	return text;
}

static void print_paper(const struct line *line, const row_list *rows, FILE *stream)
{
	char first[16], second[16];
	fprintf(stream, "%-4s %-26s x %-5.3g here: multicore %s, generated %s\n", line->item, line->method,
		line->factor, factor_text(best_ratio(rows, "multicore"), first, sizeof(first)),
		factor_text(best_ratio(rows, "generated"), second, sizeof(second)));
}

bool systems_print_papers(struct arena *arena, const struct systems_case *problem, const row_list *rows, FILE *stream,
			  struct failure *failure)
{
	paper_row_list lines = { 0 };
	bool ok = paper_read(arena, "systems.tsv", 6, &lines, failure);
	for (int i = 0; ok && i < lines.n; i++) {
		struct line line;
		ok = line_of(&lines.items[i], &line) ||
		     fail(failure, OUTCOME_DATA, "systems.tsv: a number of systems is '%s'", lines.items[i].words[3]);
		if (ok && is_about(&line, problem))
			print_paper(&line, rows, stream);
	}
	return ok;
}
