/* SPDX-License-Identifier: MIT
 *
 * Usage in three forms of one content: commands.def, options.def and status.def, and the tables of passes and of
 * lowerings. */
#include "driver/help.h"

#include <string.h>

#include "codegen/target.h"
#include "kernel/lower/lower.h"
#include "passes/pass.h"

static const char purpose[] = "Compiles pipelines over integer domains (.pmg) to C with OpenMP.";

static const struct command {
	const char *usage, *help;
} commands[] = {
#define COMMAND(usage, help) { usage, help },
#include "driver/commands.def"
#undef COMMAND
};

static const struct option {
	const char *flag, *argument, *default_text, *help;
} options[] = {
#define DEFAULT_TEXT(value, spelling) value
#define DEFAULT_ITEMS(value, spelling) value
#define DEFAULT_FLAG(value, spelling) NULL
#define DEFAULT_NUMBER(value, spelling) spelling
#define OPTION(field, kind, flag, argument, default_value, help) \
	{ flag, argument, DEFAULT_##kind(default_value, #default_value), help },
#include "driver/options.def"
#undef OPTION
};

static const struct status {
	int number;
	const char *text;
} statuses[] = {
#define STATUS(name, number, text) { number, text },
#include "driver/status.def"
#undef STATUS
};

enum { WIDTH = 100, HELP_COLUMN = 27 };

enum {
	N_COMMANDS = (int) (sizeof commands / sizeof commands[0]),
	N_OPTIONS = (int) (sizeof options / sizeof options[0]),
	N_STATUSES = (int) (sizeof statuses / sizeof statuses[0]),
};

/* Between an option and its argument: "-o FILE", "--emit=STAGE". */
static const char *joint(const struct option *option)
{
	return !option->argument ? "" : option->flag[1] == '-' ? "=" : " ";
}

/* The help of --target ends in what targets there are. */
static void put_help(FILE *out, const struct option *option, void (*put)(FILE *out, const char *text))
{
	char text[512];

	snprintf(text, sizeof text, "%s%s", option->help, strcmp(option->flag, "--target") ? "" : target_names());
	put(out, text);
}

/* ---- terminal ---- */

/* Words from the present column on, which is HELP_COLUMN, in lines of WIDTH. */
static void put_words(FILE *out, const char *text)
{
	for (int column = HELP_COLUMN; *text;) {
		int length = (int) strcspn(text, " "), gap = column > HELP_COLUMN;

		if (gap && column + gap + length > WIDTH) {
			fprintf(out, "\n%*s", HELP_COLUMN, "");
			column = HELP_COLUMN;
			gap = 0;
		}
		column += fprintf(out, "%s%.*s", gap ? " " : "", length, text);
		text += length;
		text += strspn(text, " ");
	}
	fputc('\n', out);
}

void help_text(FILE *out)
{
	for (int i = 0; i < N_COMMANDS; i++)
		fprintf(out, "%s pmgc %s\n", i ? "      " : "usage:", commands[i].usage);
	fprintf(out, "\n%s\n\n", purpose);
	for (int i = 0; i < N_OPTIONS; i++) {
		int width = fprintf(out, "  %s%s%s", options[i].flag, joint(&options[i]),
				    options[i].argument ? options[i].argument : "");

		fprintf(out, "%s%*s", width < HELP_COLUMN ? "" : "\n",
			width < HELP_COLUMN ? HELP_COLUMN - width : HELP_COLUMN, "");
		put_help(out, &options[i], put_words);
	}
	fprintf(out, "\nexit status:\n");
	for (int i = 0; i < N_STATUSES; i++)
		fprintf(out, "  %-24d %s\n", statuses[i].number, statuses[i].text);
}

void help_passes(FILE *out)
{
	for (int i = 0; i < n_passes; i++)
		fprintf(out, "%-12s %s\n", passes[i].name, passes[i].sentence);
	fprintf(out, "\nlowerings of kernels, once they are built:\n");
	for (int i = 0; i < k_n_lowerings; i++)
		fprintf(out, "%-12s %s\n", k_lowerings[i].name, k_lowerings[i].sentence);
}

/* ---- man ---- */

/* Text of troff, where `-` is a hyphen unless escaped. */
static void put_troff(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '-' || *text == '\\')
			fputc('\\', out);
		fputc(*text, out);
	}
}

static void put_troff_option(FILE *out, const struct option *option)
{
	fprintf(out, ".TP\n\\fB");
	put_troff(out, option->flag);
	fprintf(out, "\\fR");
	if (option->argument) {
		fprintf(out, "%s\\fI", joint(option));
		put_troff(out, option->argument);
		fprintf(out, "\\fR");
	}
	fprintf(out, "\n");
	put_help(out, option, put_troff);
	if (option->default_text) {
		fprintf(out, " (default: ");
		put_troff(out, option->default_text);
		fprintf(out, ")");
	}
	fprintf(out, ".\n");
}

static void put_troff_item(FILE *out, const char *head, const char *text)
{
	fprintf(out, ".TP\n\\fB");
	put_troff(out, head);
	fprintf(out, "\\fR\n");
	put_troff(out, text);
	fprintf(out, ".\n");
}

void help_manual(FILE *out)
{
	fprintf(out, ".\\\" Written by pmgc \\-\\-help\\-man.\n.TH PMGC 1 \"\" \"pmgc %s\" \"User Commands\"\n",
		PMGC_VERSION);
	fprintf(out, ".SH NAME\npmgc \\- compiler of pipelines over integer domains\n.SH SYNOPSIS\n");
	for (int i = 0; i < N_COMMANDS; i++) {
		fprintf(out, "%s.B pmgc\n", i ? ".br\n" : "");
		put_troff(out, commands[i].usage);
		fprintf(out, "\n");
	}
	fprintf(out, ".SH DESCRIPTION\n%s\n", purpose);
	for (int i = 0; i < N_COMMANDS; i++)
		put_troff_item(out, commands[i].usage, commands[i].help);
	fprintf(out, ".SH OPTIONS\n");
	for (int i = 0; i < N_OPTIONS; i++)
		put_troff_option(out, &options[i]);
	fprintf(out, ".SH PASSES\nIn this order, for --dump\\-after:\n");
	for (int i = 0; i < n_passes; i++)
		put_troff_item(out, passes[i].name, passes[i].sentence);
	fprintf(out, ".SH LOWERINGS\nOf kernels, once they are built, in this order, for --dump\\-after:\n");
	for (int i = 0; i < k_n_lowerings; i++)
		put_troff_item(out, k_lowerings[i].name, k_lowerings[i].sentence);
	fprintf(out, ".SH EXIT STATUS\n");
	for (int i = 0; i < N_STATUSES; i++) {
		char number[12];

		snprintf(number, sizeof number, "%d", statuses[i].number);
		put_troff_item(out, number, statuses[i].text);
	}
	fprintf(out, ".SH SEE ALSO\n.BR pmg (1)\n");
}

/* ---- Markdown ---- */

/* `|` ends a cell of a table, even in code. */
static void put_cell(FILE *out, const char *text)
{
	for (; *text; text++)
		fprintf(out, *text == '|' ? "\\|" : "%c", *text);
}

static void put_markdown_option(FILE *out, const struct option *option)
{
	fprintf(out, "| `%s%s", option->flag, joint(option));
	put_cell(out, option->argument ? option->argument : "");
	fprintf(out, "` | ");
	put_help(out, option, put_cell);
	fprintf(out, option->default_text ? " | `%s` |\n" : " | |\n", option->default_text);
}

void help_markdown(FILE *out)
{
	fprintf(out, "## Commands\n\n| | |\n| --- | --- |\n");
	for (int i = 0; i < N_COMMANDS; i++)
		fprintf(out, "| `pmgc %s` | %s |\n", commands[i].usage, commands[i].help);
	fprintf(out, "\n## Options\n\n| | | default |\n| --- | --- | --- |\n");
	for (int i = 0; i < N_OPTIONS; i++)
		put_markdown_option(out, &options[i]);
	fprintf(out, "\n## Passes\n\nIn this order.\n\n| | |\n| --- | --- |\n");
	for (int i = 0; i < n_passes; i++)
		fprintf(out, "| `%s` | %s |\n", passes[i].name, passes[i].sentence);
	fprintf(out, "\n## Lowerings\n\nOf kernels, once they are built, in this order.\n\n| | |\n| --- | --- |\n");
	for (int i = 0; i < k_n_lowerings; i++)
		fprintf(out, "| `%s` | %s |\n", k_lowerings[i].name, k_lowerings[i].sentence);
	fprintf(out, "\n## Exit status\n\n| | |\n| --- | --- |\n");
	for (int i = 0; i < N_STATUSES; i++)
		fprintf(out, "| %d | %s |\n", statuses[i].number, statuses[i].text);
}
