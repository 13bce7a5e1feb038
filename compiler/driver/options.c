/* SPDX-License-Identifier: MIT
 *
 * The command line of pmgc: a table, and one loop over it. */
#include "driver/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ir/schedule.h"

enum option_kind { KIND_TEXT, KIND_ITEMS, KIND_FLAG, KIND_NUMBER };

struct option_row {
	enum option_kind kind;
	const char *flag, *argument;
	size_t offset;
};

static const struct option_row rows[] = {
#define OPTION(field, kind, flag, argument, default_value, help) \
	{ KIND_##kind, flag, argument, offsetof(struct options, field) },
#include "driver/options.def"
#undef OPTION
};

enum { MOST_CANDIDATES = 1000 };

enum { N_ROWS = (int) (sizeof rows / sizeof rows[0]) };

struct options options_default(void)
{
	return (struct options) {
#define OPTION(field, kind, flag, argument, default_value, help) .field = default_value,
#include "driver/options.def"
#undef OPTION
	};
}

/* The row of `arg`, and its value: after '=', in the next argument, or none. */
static const struct option_row *find_row(const char *arg, const char **value)
{
	for (int i = 0; i < N_ROWS; i++) {
		size_t length = strlen(rows[i].flag);

		*value = NULL;
		if (!strcmp(arg, rows[i].flag))
			return &rows[i];
		if (!strncmp(arg, rows[i].flag, length) && arg[length] == '=') {
			*value = arg + length + 1;
			return &rows[i];
		}
	}
	return NULL;
}

static bool set_number(long *field, const char *value)
{
	char *end;

	errno = 0;
	*field = strtol(value, &end, 10);
	return *value && !*end && !errno && *field >= 0;
}

static bool set_field(struct options *options, const struct option_row *row, const char *value)
{
	char *base = (char *) options + row->offset;

	if (row->kind == KIND_FLAG)
		return *(bool *) (void *) base = !value, !value;
	if (row->kind == KIND_NUMBER)
		return set_number((long *) (void *) base, value);
	*(const char **) (void *) base = value;
	return true;
}

static bool is_given(const struct options *options, const struct option_row *row)
{
	return *(const char *const *) (const void *) ((const char *) options + row->offset);
}

static bool unknown_option(const char *arg, char *problem, size_t size)
{
	const char *flags[N_ROWS], *near, *value = strchr(arg, '=');
	char name[64];

	for (int i = 0; i < N_ROWS; i++)
		flags[i] = rows[i].flag;
	snprintf(name, sizeof name, "%.*s", value ? (int) (value - arg) : (int) strlen(arg), arg);
	near = suggest_nearest(name, flags, N_ROWS);
	snprintf(problem, size, near ? "unknown option '%s'; did you mean '%s'?" : "unknown option '%s'", arg, near);
	return false;
}

static void value_problem(const struct option_row *row, const char *value, char *problem, size_t size)
{
	if (row->kind == KIND_FLAG)
		snprintf(problem, size, "option '%s' takes no value", row->flag);
	else if (row->kind == KIND_NUMBER && value)
		snprintf(problem, size, "option '%s' takes a whole number from 0 on, not '%s'", row->flag, value);
	else
		snprintf(problem, size, "option '%s' needs %s", row->flag, row->argument);
}

bool options_read(struct options *options, int argc, char **argv, char *problem, size_t size)
{
	for (int i = 1; i < argc; i++) {
		const struct option_row *row;
		const char *value;

		if (argv[i][0] != '-' || !argv[i][1]) {
			if (options->input)
				return snprintf(problem, size, "one input file, not '%s' and '%s'",
						options->input, argv[i]), false;
			options->input = argv[i];
			continue;
		}
		row = find_row(argv[i], &value);
		if (!row)
			return unknown_option(argv[i], problem, size);
		if (row->kind != KIND_FLAG && !value && i + 1 < argc)
			value = argv[++i];
		if (row->kind == KIND_ITEMS && is_given(options, row))
			return snprintf(problem, size, "option '%s' is given twice: one takes all of its items",
					row->flag), false;
		if ((row->kind != KIND_FLAG && !value) || !set_field(options, row, value))
			return value_problem(row, value, problem, size), false;
	}
	if (options->candidates < 1)
		return snprintf(problem, size, "--candidates takes a number from 1 on"), false;
	return true;
}

static bool read_switch(const char *value, bool *on)
{
	*on = !strcmp(value, "on");
	return *on || !strcmp(value, "off");
}

static const char *const skip_zeros_texts[] = {
	[SKIP_ZEROS_AUTO] = "auto", [SKIP_ZEROS_ON] = "on", [SKIP_ZEROS_OFF] = "off"
};

static const char *const interleave_texts[] = {
	[INTERLEAVE_OFF] = "off", [INTERLEAVE_NARROW] = "narrow", [INTERLEAVE_ON] = "on",
	[INTERLEAVE_WIDE] = "wide"
};

static const char *const order_texts[] = {
	[ORDER_AUTO] = "auto", [ORDER_TEXTUAL] = "textual", [ORDER_ISL] = "isl"
};

/* Which of the texts it is; -1: none. */
static int find_text(const char *text, const char *const *texts, int n)
{
	for (int i = 0; i < n; i++)
		if (!strcmp(text, texts[i]))
			return i;
	return -1;
}

/* Options of several words, into enumerations of as many. */
static bool read_words(const struct options *options, struct pass_options *pass, char *problem, size_t size)
{
	const int skip_zeros = find_text(options->skip_zeros, skip_zeros_texts, SKIP_ZEROS_N);
	const int interleave = find_text(options->interleave, interleave_texts, INTERLEAVE_N);
	const enum item_choice blas = item_choice_of_word(options->blas);

	if (blas != CHOICE_ON && blas != CHOICE_OFF && blas != CHOICE_AUTO)
		return snprintf(problem, size, "--blas takes on, off or auto, not '%s'", options->blas), false;

	if (skip_zeros < 0)
		return snprintf(problem, size, "--skip-zeros takes auto, on or off, not '%s'",
				options->skip_zeros), false;
	if (interleave < 0)
		return snprintf(problem, size, "--interleave takes on, wide, narrow or off, not '%s'",
				options->interleave), false;
	pass->skip_zeros = (enum skip_zeros) skip_zeros;
	pass->interleave = (enum interleave) interleave;
	pass->blas = blas;
	return true;
}

bool options_for_passes(const struct options *options, struct pass_options *pass, char *problem, size_t size)
{
	const int order = find_text(options->schedule, order_texts, ORDER_N);
	const struct {
		const char *name, *text;
		bool *value;
	} switches[] = {
		{ "inline", options->inlining, &pass->inlining },
		{ "fuse", options->fuse, &pass->fuse },
		{ "swap", options->swap, &pass->swap },
		{ "storage", options->storage, &pass->storage },
		{ "restructure", options->restructure, &pass->restructure },
		{ "deterministic", options->deterministic, &pass->deterministic },
		{ "vector", options->vector, &pass->vector },
		{ "warp-loops", options->warp_loops, &pass->warp_loops },
		{ "block-teams", options->block_teams, &pass->block_teams },
		{ "unroll", options->unroll, &pass->unroll },
		{ "reciprocals", options->reciprocals, &pass->reciprocals },
		{ "columns", options->columns, &pass->columns },
		{ "overrides", options->overrides, &pass->overrides },
	};

	pass->with = options->with;
	pass->specialize = options->specialize;
	pass->remarks = options->remarks;
	pass->max_operations = (unsigned long) options->max_operations;
	if (order < 0)
		return snprintf(problem, size, "--schedule takes auto, textual or isl, not '%s'",
				options->schedule), false;
	pass->schedule = (enum order) order;
	for (size_t i = 0; i < sizeof switches / sizeof switches[0]; i++)
		if (!read_switch(switches[i].text, switches[i].value))
			return snprintf(problem, size, "--%s takes on or off, not '%s'", switches[i].name,
					switches[i].text), false;
	pass->is_parallel_given = strcmp(options->parallel, "auto");
	pass->parallel = true;
	if (pass->is_parallel_given && !read_switch(options->parallel, &pass->parallel))
		return snprintf(problem, size, "--parallel takes auto, on or off, not '%s'", options->parallel), false;
	pass->candidates = options->candidates < MOST_CANDIDATES ? (int) options->candidates : MOST_CANDIDATES;
	pass->block_warps = (int) options->block_warps;
	if (!mark_can_have_warps(options->block_warps))
		return snprintf(problem, size, "--block-warps takes 1, 2, 4 or 8, or 0, not %ld",
				options->block_warps), false;
	return read_words(options, pass, problem, size);
}

/* What is printed, and for which processors, passes do not decide. */
static bool are_for_passes(const struct options *options)
{
	return !strcmp(options->isa, "native") && !options->emit && !options->dump_after;
}

bool options_takes_number(const char *flag)
{
	const char *value;
	const struct option_row *row = find_row(flag, &value);

	return row && row->kind == KIND_NUMBER;
}

bool options_pass_flag(struct pass_options *pass, const char *flag)
{
	struct options options = options_default();
	const struct option_row *row;
	const char *value;
	char problem[8];

	options.schedule = order_texts[pass->schedule];
	options.with = pass->with;
	options.specialize = pass->specialize;
	options.inlining = pass->inlining ? "on" : "off";
	options.fuse = pass->fuse ? "on" : "off";
	options.swap = pass->swap ? "on" : "off";
	options.storage = pass->storage ? "on" : "off";
	options.parallel = !pass->is_parallel_given ? "auto" : pass->parallel ? "on" : "off";
	options.candidates = pass->candidates;
	options.deterministic = pass->deterministic ? "on" : "off";
	options.interleave = interleave_texts[pass->interleave];
	options.reciprocals = pass->reciprocals ? "on" : "off";
	options.columns = pass->columns ? "on" : "off";
	options.vector = pass->vector ? "on" : "off";
	options.warp_loops = pass->warp_loops ? "on" : "off";
	options.block_teams = pass->block_teams ? "on" : "off";
	options.unroll = pass->unroll ? "on" : "off";
	options.block_warps = pass->block_warps;
	options.restructure = pass->restructure ? "on" : "off";
	options.skip_zeros = skip_zeros_texts[pass->skip_zeros];
	options.overrides = pass->overrides ? "on" : "off";
	options.blas = item_choice_word(pass->blas);
	options.max_operations = (long) pass->max_operations;
	options.remarks = pass->remarks;
	row = find_row(flag, &value);
	if (!row || !value || row->kind == KIND_FLAG || !set_field(&options, row, value))
		return false;
	return are_for_passes(&options) && options_for_passes(&options, pass, problem, sizeof problem);
}
