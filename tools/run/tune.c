/* SPDX-License-Identifier: MIT
 *
 * --tune: which of its candidates a plan is made of. What trials find is remembered in a file of wisdom, which is
 * read before and replaced as a whole after them; a file that is no wisdom of this version is left alone, with a
 * note. */
#include "run/run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "driver/emit.h"

enum { CANDIDATES = 6, MOST_WISDOM = 1 << 24 };

static const char *const modes[] = {
	[PMG_TUNE_ESTIMATE] = "estimate", [PMG_TUNE_OFF] = "off", [PMG_TUNE_MEASURE] = "measure"
};

static bool find_mode(const char *text, pmg_tune *mode)
{
	for (int i = PMG_TUNE_ESTIMATE; i <= PMG_TUNE_MEASURE; i++)
		if (strcmp(modes[i], text) == 0) {
			*mode = (pmg_tune) i;
			return true;
		}
	return false;
}

/* A file of wisdom is asked for, but nothing is chosen by it. */
static bool has_idle_wisdom(const struct session *s)
{
	const char *wisdom = s->values.wisdom;

	return wisdom && strcmp(wisdom, "off") != 0 && (s->tune == PMG_TUNE_OFF || s->values.candidate);
}

static bool is_first_enough(const struct session *s)
{
	return s->tune == PMG_TUNE_OFF && !s->values.candidate && s->values.turns == 0;
}

/* Where the first is asked for there is no need to compile several, but for those that the sizes may need; and where
 * nothing is said, none that only trials can tell. */
bool tune_open(struct session *s, struct failure *failure)
{
	s->tune = PMG_TUNE_ESTIMATE;
	if (s->values.tune && !find_mode(s->values.tune, &s->tune))
		return fail(failure, OUTCOME_USAGE, "--tune takes off, estimate or measure, not '%s'",
			    s->values.tune);
	if (has_idle_wisdom(s))
		return fail(failure, OUTCOME_USAGE, "--wisdom excludes %s: --tune=measure writes it, and the default, "
			    "--tune=estimate, reads it", s->values.candidate ? "--candidate" : "--tune=off");
	if (s->values.deterministic)
		s->values.passes.deterministic = true;
	const bool needs_all = s->values.tune || s->values.candidate || s->values.turns > 0;
	s->values.passes.estimated = !needs_all && s->values.passes.candidates == 0;
	if (s->values.passes.candidates == 0)
		s->values.passes.candidates = is_first_enough(s) ? CANDIDATES_FOR_SIZES : CANDIDATES;
	return true;
}

/* ---- The file ------------------------------------------------------------------------------ */

/* NULL: nothing is remembered. */
static const char *wisdom_path(struct session *s)
{
	if (s->values.wisdom)
		return strcmp(s->values.wisdom, "off") == 0 ? NULL : s->values.wisdom;
	return cache_path(s->arena, "wisdom");
}

/* False with the reason in errno; `*text` is NULL where there is no such file. */
static bool read_text(struct arena *arena, const char *path, const char **text)
{
	FILE *file = fopen(path, "rbe");
	char *bytes = NULL;
	size_t n = 0;
	int error = EFBIG;
	if (!file)
		return errno == ENOENT || errno == ENOTDIR;
	if (fseek(file, 0, SEEK_END) != 0 || ftell(file) < 0)
		error = errno;
	else if (ftell(file) < MOST_WISDOM) {
		n = (size_t) ftell(file);
		bytes = arena_new_array(arena, char, n + 1);
		rewind(file);
		n = fread(bytes, 1, n, file);
		error = ferror(file) ? errno : 0;
	}
	fclose(file);
	*text = error ? NULL : bytes;
	errno = error;
	return !error;
}

static void write_wisdom(struct session *s, const char *path, const char *old, const char *signature,
			 const pmg_report *report, double seconds)
{
	size_t size = pmg_wisdom_add(old, signature, report->choice, seconds, NULL, 0);
	char *text = arena_new_array(s->arena, char, (int) size + 1);
	pmg_wisdom_add(old, signature, report->choice, seconds, text, size + 1);
	cache_make_folders(s->arena, path);
	if (!size || !emit_file(path, text))
		messages_note(s, "'%s' cannot be written, so nothing is remembered: %s", path, strerror(errno));
}

/* ---- The plan ------------------------------------------------------------------------------- */

static bool has_candidate(const pmg_pipeline_desc *desc, const char *choice)
{
	for (int i = 0; i < desc->n_candidates; i++)
		if (strcmp(desc->candidates[i]->choice ? desc->candidates[i]->choice : "", choice) == 0)
			return true;
	return false;
}

/* Of the candidate that was taken; 0: it was not measured. */
static double least_run(const pmg_report *report)
{
	double least = 0;
	for (int i = 0; i < report->n_trials; i++)
		if (strcmp(report->trials[i].choice, report->choice) == 0)
			for (int r = 0; r < report->trials[i].n_runs; r++)
				if (r == 0 || report->trials[i].runs[r] < least)
					least = report->trials[i].runs[r];
	return least;
}

/* What a file of wisdom says of these arguments. */
struct memory {
	const char *path, *text, *signature;
	bool is_foreign;
	char choice[PMG_SIGNATURE_SIZE];
};

static bool recall(struct session *s, const struct execution *e, const pmg_options *options, struct memory *memory)
{
	char *signature = arena_new_array(s->arena, char, PMG_SIGNATURE_SIZE);
	*memory = (struct memory){ .path = wisdom_path(s), .signature = signature };
	if (!memory->path ||
	    pmg_signature(e->desc, e->args, options, signature, PMG_SIGNATURE_SIZE) != PMG_OK)
		return memory->path = NULL, false;
	if (!read_text(s->arena, memory->path, &memory->text)) {
		messages_note(s, "'%s' cannot be read, and is left alone: %s", memory->path, strerror(errno));
		return memory->path = NULL, false;
	}
	if (!memory->text && s->values.wisdom && s->tune != PMG_TUNE_MEASURE)
		messages_note(s, "there is no '%s' yet: --tune=measure writes there what trials find", memory->path);
	memory->is_foreign = memory->text && !pmg_wisdom_is_valid(memory->text);
	if (memory->is_foreign)
		messages_note(s, "'%s' is no wisdom of this version, and left alone", memory->path);
	return pmg_wisdom_find(memory->text, signature, memory->choice, sizeof(memory->choice)) &&
	       has_candidate(e->desc, memory->choice);
}

pmg_status tune_plan(struct execution *e, pmg_options *options)
{
	struct session *s = e->session;
	struct memory memory = { 0 };
	options->candidate = s->values.candidate;
	options->deterministic = s->values.deterministic;
	options->tune = options->candidate ? PMG_TUNE_OFF : s->tune;
	if (options->tune != PMG_TUNE_OFF && !options->deterministic && e->desc->n_candidates > 1 &&
	    recall(s, e, options, &memory)) {
		options->candidate = memory.choice;
		e->is_remembered = true;
	}
	pmg_status status = e->desc->plan(e->args, options, &e->plan);
	const pmg_report *report = pmg_plan_report(e->plan);
	if (status == PMG_OK && memory.path && !memory.is_foreign && least_run(report) > 0)
		write_wisdom(s, memory.path, memory.text, memory.signature, report, least_run(report));
	options->candidate = NULL;
	return status;
}

/* ---- Telling --------------------------------------------------------------------------------- */

static const char *choice_text(const char *choice)
{
	return *choice ? choice : PMG_FIRST_CANDIDATE;
}

enum { NARROWEST = 24 };

static int width_of_choices(const pmg_report *report)
{
	int width = NARROWEST;

	for (int i = 0; i < report->n_trials; i++) {
		int length = (int) strlen(choice_text(report->trials[i].choice));

		width = length > width ? length : width;
	}
	return width;
}

static void print_trial(const pmg_trial *trial, int width, bool is_chosen)
{
	printf("%c %-*s %12.3f", is_chosen ? '*' : ' ', width, choice_text(trial->choice), 1e3 * trial->estimate);
	if (trial->n_runs)
		printf(" %12.3f ", 1e3 * trial->inspection);
	for (int r = 0; r < trial->n_runs; r++)
		printf(" %.3f", 1e3 * trial->runs[r]);
	printf("%s%s\n", *trial->problem ? "  left out: " : "", trial->problem);
}

void tune_print(const struct execution *e)
{
	const pmg_report *report = pmg_plan_report(e->plan);
	if (!e->session->values.tune && !e->session->values.candidate)
		return;
	int width = width_of_choices(report);
	if (report->n_trials)
		printf("  %-*s %12s %12s  %s\n", width, "candidate", "estimate ms", "inspect ms", "runs ms");
	for (int i = 0; i < report->n_trials; i++)
		print_trial(&report->trials[i], width, strcmp(report->trials[i].choice, report->choice) == 0);
	printf("chosen: %s (%s); tuning %.3f ms, inspection %.3f ms\n", choice_text(report->choice),
	       e->is_remembered ? "remembered" : report->reason, 1e3 * report->tuning,
	       1e3 * report->inspection);
}
