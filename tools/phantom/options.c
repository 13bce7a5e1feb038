/* SPDX-License-Identifier: MIT
 *
 * From the command line to life_phantom_options. The table decides: a name, its range and its line of help
 * are written in options.def and nowhere else. Options are `--name VALUE`, `--name=VALUE`, `-l VALUE`; the
 * last wins. */
#include "phantom.h"
#include "support/support.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIBERS_OF_DS1 500000
#define DEFAULT_SCALE 0.07

#define ROW(kind, scope, member, name, letter, initial, low, high, operand, text)                      \
	{ kind, PHANTOM_##scope, #member, name, letter, offsetof(struct life_phantom_options, member), \
	  initial, low, high, operand, text },
#define INTEGER(...) ROW(PHANTOM_INTEGER, __VA_ARGS__)
#define REAL(...) ROW(PHANTOM_REAL, __VA_ARGS__)
#define FLAG(scope, member, name, letter, text) \
	ROW(PHANTOM_FLAG, scope, member, name, letter, 0, 0, 0, NULL, text)
#define TEXT(scope, member, name, letter, operand, text) \
	ROW(PHANTOM_TEXT, scope, member, name, letter, 0, 0, 0, operand, text)

static const struct phantom_option option_table[] = {
#include "options.def"
};

#define N_OPTIONS (sizeof(option_table) / sizeof(option_table[0]))

const struct phantom_option *phantom_option_table(size_t *n)
{
	*n = N_OPTIONS;
	return option_table;
}

static void *member_of(struct life_phantom_options *options, const struct phantom_option *option)
{
	return (char *) options + option->offset;
}

static void set_number(struct life_phantom_options *options, const struct phantom_option *option,
		       double number)
{
	if (option->kind == PHANTOM_INTEGER)
		*(int64_t *) member_of(options, option) = (int64_t) number;
	else if (option->kind == PHANTOM_REAL)
		*(double *) member_of(options, option) = number;
}

void life_phantom_options_default(struct life_phantom_options *options)
{
	memset(options, 0, sizeof(*options));
	for (size_t i = 0; i < N_OPTIONS; i++)
		set_number(options, &option_table[i], option_table[i].initial);
}

/* ---- Reading ------------------------------------------------------------------ */

/* The option that "argument" names; "*value" is what follows its '=', or NULL. */
static const struct phantom_option *find_option(const char *argument, const char **value)
{
	const char *equals = strchr(argument, '=');
	*value = NULL;
	if (argument[0] == '-' && argument[1] != '\0' && argument[1] != '-' && argument[2] == '\0') {
		for (size_t i = 0; i < N_OPTIONS; i++)
			if (option_table[i].letter == argument[1])
				return &option_table[i];
		return NULL;
	}
	if (strncmp(argument, "--", 2) != 0)
		return NULL;
	size_t length = equals ? (size_t) (equals - argument - 2) : strlen(argument) - 2;
	for (size_t i = 0; i < N_OPTIONS; i++) {
		const char *name = option_table[i].name;
		if (strlen(name) == length && memcmp(name, argument + 2, length) == 0) {
			*value = equals ? equals + 1 : NULL;
			return &option_table[i];
		}
	}
	return NULL;
}

static pmg_status bad_value(const struct phantom_option *option, const char *value, char *error, size_t size)
{
	const char *kind = option->kind == PHANTOM_INTEGER ? "an integer" : "a number";
	snprintf(error, size, "--%s: '%s' is not %s from %.16g to %.16g", option->name, value, kind,
		 option->low, option->high);
	return PMG_BAD_CALL;
}

static pmg_status read_number(struct life_phantom_options *options, const struct phantom_option *option,
			      const char *value, char *error, size_t size)
{
	char *end;
	double number;
	errno = 0;
	if (option->kind == PHANTOM_INTEGER)
		number = (double) strtoll(value, &end, 10);
	else
		number = strtod(value, &end);
	if (end == value || *end != '\0' || errno != 0 || !(number >= option->low && number <= option->high))
		return bad_value(option, value, error, size);
	set_number(options, option, number);
	return PMG_OK;
}

static pmg_status read_value(struct life_phantom_options *options, const struct phantom_option *option,
			     const char *value, char *error, size_t size)
{
	switch (option->kind) {
	case PHANTOM_INTEGER:
	case PHANTOM_REAL:
		return read_number(options, option, value, error, size);
	case PHANTOM_FLAG:
		*(bool *) member_of(options, option) = true;
		return PMG_OK;
	case PHANTOM_TEXT:
		*(const char **) member_of(options, option) = value;
		return PMG_OK;
	}
	return PMG_INTERNAL;
}

static pmg_status unknown_option(const char *argument, char *error, size_t size)
{
	const char *names[N_OPTIONS];
	for (size_t i = 0; i < N_OPTIONS; i++)
		names[i] = option_table[i].name;
	const char *nearest = suggest_nearest(argument + strspn(argument, "-"), names, (int) N_OPTIONS);
	if (nearest)
		snprintf(error, size, "unknown option '%s'; did you mean --%s?", argument, nearest);
	else
		snprintf(error, size, "unknown option '%s'; --help lists them", argument);
	return PMG_BAD_CALL;
}

pmg_status life_phantom_options_parse(struct life_phantom_options *options, int argc, char **argv,
				      char *error, size_t size)
{
	life_phantom_options_default(options);
	for (int i = 1; i < argc; i++) {
		const char *value;
		const struct phantom_option *option = find_option(argv[i], &value);
		if (!option)
			return unknown_option(argv[i], error, size);
		if (option->kind == PHANTOM_FLAG && value) {
			snprintf(error, size, "--%s takes no value", option->name);
			return PMG_BAD_CALL;
		}
		if (option->kind != PHANTOM_FLAG && !value && i + 1 < argc)
			value = argv[++i];
		if (option->kind != PHANTOM_FLAG && (!value || *value == '\0')) {
			snprintf(error, size, "--%s needs a value: %s", option->name, option->operand);
			return PMG_BAD_CALL;
		}
		pmg_status status = read_value(options, option, value, error, size);
		if (status != PMG_OK)
			return status;
	}
	return life_phantom_options_complete(options, error, size);
}

/* ---- Completing ------------------------------------------------------------------ */

static double number_of(const struct life_phantom_options *options, const struct phantom_option *option)
{
	const char *member = (const char *) options + option->offset;
	return option->kind == PHANTOM_INTEGER ? (double) *(const int64_t *) member
					       : *(const double *) member;
}

pmg_status life_phantom_options_complete(struct life_phantom_options *options, char *error, size_t size)
{
	for (size_t i = 0; i < N_OPTIONS; i++) {
		const struct phantom_option *option = &option_table[i];
		if (option->kind != PHANTOM_INTEGER && option->kind != PHANTOM_REAL)
			continue;
		double number = number_of(options, option);
		if (!(number >= option->low && number <= option->high)) {
			char text[32];
			snprintf(text, sizeof(text), "%.16g", number);
			return bad_value(option, text, error, size);
		}
	}
	if (options->scale <= 0)
		options->scale =
			options->fibers > 0 ? (double) options->fibers / FIBERS_OF_DS1 : DEFAULT_SCALE;
	if (options->fibers == 0)
		options->fibers = (int64_t) ceil(options->scale * FIBERS_OF_DS1);
	return PMG_OK;
}

/* ---- Help --------------------------------------------------------------------------- */

static void help_of(FILE *stream, const struct phantom_option *option)
{
	char left[64];
	snprintf(left, sizeof(left), "%s%c%s--%s %s", option->letter ? "-" : "  ",
		 option->letter ? option->letter : ' ', option->letter ? ", " : " ", option->name,
		 option->operand ? option->operand : "");
	fprintf(stream, "  %-24s  %s", left, option->text);
	if (option->initial > 0)
		fprintf(stream, " [%.16g]", option->initial);
	fputc('\n', stream);
}

void life_phantom_options_help(FILE *stream)
{
	fputs("usage: pmg phantom life [OPTION…] -o FILE.h5\n"
	      "\n"
	      "Makes a connectome problem y = M w with the statistics of a real one: bundled streamlines in "
	      "an\n"
	      "ellipsoidal white matter, encoded as the sparse tensor PHI(atom, voxel, fiber), a dictionary "
	      "D, and the\n"
	      "noisy signal of a known subset of the fibers. The same options give the same file, bit for "
	      "bit.\n"
	      "\n",
	      stream);
	for (size_t i = 0; i < N_OPTIONS; i++)
		help_of(stream, &option_table[i]);
}
