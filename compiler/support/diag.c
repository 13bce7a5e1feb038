/* SPDX-License-Identifier: MIT
 *
 * Collecting diagnostics, and their text in one of several formats, in the order of the source. */
#include "support/diag_private.h"

#include <stdlib.h>
#include <string.h>

static struct diag *diag_add(struct diags *diags, enum severity severity, enum diag_code code,
			     struct span span, const char *text)
{
	struct diag *diag = arena_new(diags->arena, struct diag);

	diag->severity = severity;
	diag->code = code;
	diag->span = span;
	diag->text = text;
	vec_push(diags->arena, &diags->list, diag);
	if (severity == SEVERITY_ERROR)
		diags->n_errors++;
	return diag;
}

struct diag *diag_error(struct diags *diags, enum diag_code code, struct span span,
			const char *format, ...)
{
	va_list args;
	const char *text;

	va_start(args, format);
	text = arena_vprintf(diags->arena, format, args);
	va_end(args);
	return diag_add(diags, SEVERITY_ERROR, code, span, text);
}

struct diag *diag_warning(struct diags *diags, enum diag_code code, struct span span,
			  const char *format, ...)
{
	va_list args;
	const char *text;

	va_start(args, format);
	text = arena_vprintf(diags->arena, format, args);
	va_end(args);
	return diag_add(diags, SEVERITY_WARNING, code, span, text);
}

struct diag *diag_remark(struct diags *diags, enum diag_code code, struct span span,
			 const char *format, ...)
{
	va_list args;
	const char *text;

	va_start(args, format);
	text = arena_vprintf(diags->arena, format, args);
	va_end(args);
	return diag_add(diags, SEVERITY_REMARK, code, span, text);
}

void diag_label(struct diags *diags, struct diag *diag, struct span span, const char *format, ...)
{
	struct diag_label label = { .span = span };
	va_list args;

	va_start(args, format);
	label.text = arena_vprintf(diags->arena, format, args);
	va_end(args);
	vec_push(diags->arena, &diag->labels, label);
}

void diag_help(struct diags *diags, struct diag *diag, struct span span, const char *format, ...)
{
	struct diag_label help = { .span = span };
	va_list args;

	va_start(args, format);
	help.text = arena_vprintf(diags->arena, format, args);
	va_end(args);
	vec_push(diags->arena, &diag->helps, help);
}

void diag_fix(struct diags *diags, struct diag *diag, struct span span, const char *replacement,
	      const char *format, ...)
{
	struct diag_label help = { .span = span, .replacement = arena_string(diags->arena, replacement) };
	va_list args;

	va_start(args, format);
	help.text = arena_vprintf(diags->arena, format, args);
	va_end(args);
	vec_push(diags->arena, &diag->helps, help);
}

void diag_did_you_mean(struct diags *diags, struct diag *diag, struct span span, const char *wrong,
		       const char *nearest)
{
	if (strcmp(span_text(diags->sources, diags->arena, span), wrong) == 0)
		diag_fix(diags, diag, span, nearest, "did you mean '%s'?", nearest);
	else
		diag_help(diags, diag, span, "did you mean '%s'?", nearest);
}

struct diag *diag_find(const struct diags *diags, enum diag_code code, struct span span)
{
	for (int i = diags->list.n - 1; i >= 0; i--) {
		struct diag *diag = diags->list.items[i];

		if (diag->code == code && span_equal(diag->span, span))
			return diag;
	}
	return NULL;
}

bool diag_was_reported(const struct diags *diags, enum diag_code code, struct span span)
{
	return diag_find(diags, code, span);
}

void diag_raise(struct diags *diags, struct diag *diag)
{
	diags->n_errors += diag->severity != SEVERITY_ERROR;
	diag->severity = SEVERITY_ERROR;
}

/* ---- text ---- */

static const struct diag_writer writers[DIAG_FORMAT_N] = {
	[DIAG_HUMAN] = { "human", diag_write_human, diag_write_more },
	[DIAG_SHORT] = { "short", diag_write_short, diag_write_more },
	[DIAG_JSON] = { "json", diag_write_json, diag_write_more_json },
};

bool diag_format_from_name(const char *name, enum diag_format *format)
{
	for (int i = 0; i < DIAG_FORMAT_N; i++) {
		if (strcmp(writers[i].name, name) != 0)
			continue;
		*format = (enum diag_format) i;
		return true;
	}
	return false;
}

struct diag_rank {
	struct span span;
	int index;
};

static int diag_rank_compare(const void *a, const void *b)
{
	const struct diag_rank *x = a, *y = b;

	if (x->span.file != y->span.file)
		return x->span.file < y->span.file ? -1 : 1;
	if (x->span.start != y->span.start)
		return x->span.start < y->span.start ? -1 : 1;
	return x->index - y->index;
}

static struct diag_rank *diags_order(struct diags *diags)
{
	struct diag_rank *order = arena_new_array(diags->arena, struct diag_rank, diags->list.n);

	for (int i = 0; i < diags->list.n; i++)
		order[i] = (struct diag_rank) { diags->list.items[i]->span, i };
	if (diags->list.n > 1)
		qsort(order, (size_t) diags->list.n, sizeof *order, diag_rank_compare);
	return order;
}

/* Of what was asked for with all pipelines of a file, each says the same. `order` has equal places together. */
static bool is_repeated(const struct diags *diags, const struct diag_rank *order, int i)
{
	const struct diag *diag = diags->list.items[order[i].index];

	for (int j = i - 1; j >= 0 && span_is_known(diag->span); j--) {
		const struct diag *before = diags->list.items[order[j].index];

		if (before->span.file != diag->span.file || before->span.start != diag->span.start)
			break;
		if (before->span.end == diag->span.end && before->severity == diag->severity &&
		    before->code == diag->code && !strcmp(before->text, diag->text))
			return true;
	}
	return false;
}

const char *diags_text_as(struct diags *diags, enum diag_format format, int limit, bool remarks)
{
	struct diag_rank *order = diags_order(diags);
	struct str out = str_new(diags->arena);
	int n_errors = 0;

	for (int i = 0; i < diags->list.n; i++) {
		const struct diag *diag = diags->list.items[order[i].index];

		if ((diag->severity == SEVERITY_REMARK && !remarks) || is_repeated(diags, order, i))
			continue;
		if (diag->severity == SEVERITY_ERROR && n_errors++ >= limit)
			continue;
		writers[format].write(diags, &out, diag);
	}
	if (n_errors > limit)
		writers[format].write_more(&out, n_errors - limit);
	return str_text(&out);
}

const char *diags_text(struct diags *diags, int limit, bool remarks)
{
	return diags_text_as(diags, DIAG_HUMAN, limit, remarks);
}
