/* SPDX-License-Identifier: MIT
 *
 * Options from a table: the same rows are what is read, what --help prints, and where a misspelt option
 * finds its nearest name. `--name VALUE`, `--name=VALUE`, `-x VALUE` and `-xVALUE` are the forms. */
#include "cli/cli.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *s_of(int64_t n)
{
	return n == 1 ? "" : "s";
}

bool parse_integer(const char *text, int64_t *value)
{
	char *end;
	errno = 0;
	long long number = strtoll(text, &end, 10);
	*value = number;
	return end != text && *end == '\0' && errno == 0 && strchr("+-0123456789", text[0]);
}

bool words_have(const word_list *words, const char *word)
{
	for (int i = 0; i < words->n; i++)
		if (strcmp(words->items[i], word) == 0)
			return true;
	return false;
}

bool is_beyond_integers(const char *text)
{
	const char *digits = text + strspn(text, "+-");
	int64_t value;
	return digits - text <= 1 && *digits && !digits[strspn(digits, "0123456789")] && !parse_integer(text, &value);
}

bool parse_real(const char *text, double *value)
{
	char *end;
	if (!strchr("+-.0123456789iInN", text[0]) || !text[0])
		return false;
	*value = strtod(text, &end);
	bool says_infinite = strpbrk(text, "iInN") != NULL;
	return end != text && *end == '\0' && (isfinite(*value) || says_infinite) && !strpbrk(text, "xX(");
}

/* ---- Finding ------------------------------------------------------------------ */

static const struct option_row *find_long(const struct command *command, const char *argument,
					  const char **value)
{
	const char *name = argument + 2, *equals = strchr(name, '=');
	size_t length = equals ? (size_t) (equals - name) : strlen(name);
	*value = equals ? equals + 1 : NULL;
	for (int i = 0; i < command->n_options; i++) {
		const struct option_row *row = &command->options[i];
		if (strlen(row->name) == length && memcmp(row->name, name, length) == 0)
			return row;
	}
	return NULL;
}

static const struct option_row *find_option(const struct command *command, const char *argument,
					    const char **value)
{
	if (argument[1] == '-')
		return find_long(command, argument, value);
	*value = argument[2] ? argument + 2 : NULL;
	for (int i = 0; i < command->n_options; i++)
		if (command->options[i].letter == argument[1])
			return &command->options[i];
	return NULL;
}

/* Words of names are put between '-'. A word of one begins a word of the other, of three letters at least. */
static bool shares_word(const char *name, const char *other)
{
	for (const char *word = name; *word; word += strcspn(word, "-"), word += *word == '-')
		for (const char *of = other; *of; of += strcspn(of, "-"), of += *of == '-') {
			size_t a = strcspn(word, "-"), b = strcspn(of, "-"), least = a < b ? a : b;
			if (least >= 3 && memcmp(word, of, least) == 0)
				return true;
		}
	return false;
}

/* Those that begin as the name does, else those that share a word with it. */
static const char *alike(const word_list *names, struct arena *arena, const char *name)
{
	const char *text = NULL;
	for (int by_word = 0; by_word < 2 && !text && *name; by_word++)
		for (int i = 0; i < names->n; i++) {
			const char *other = names->items[i];
			if (by_word ? shares_word(name, other) : strncmp(other, name, strlen(name)) == 0)
				text = arena_printf(arena, "%s%s'--%s'", text ? text : "", text ? " or " : "", other);
		}
	return text;
}

static bool unknown_option(const struct command *command, struct arena *arena, const char *argument,
			   struct failure *failure)
{
	word_list names = { 0 };
	for (int i = 0; i < command->n_options; i++)
		vec_push(arena, &names, command->options[i].name);
	vec_push(arena, &names, "help");
	size_t length = strcspn(argument, "=");
	const char *name = arena_copy(arena, argument, length), *bare = name + strspn(name, "-");
	fail(failure, OUTCOME_USAGE, "unknown option '%s'", name);
	const char *near = suggest_nearest(bare, names.items, names.n);
	const char *others = near ? NULL : alike(&names, arena, bare);
	if (near)
		fail_help(failure, "did you mean '--%s'?", near);
	else if (others)
		fail_help(failure, "did you mean %s?", others);
	else
		fail_help(failure, "'pmg %s --help' lists the options", command->name);
	return false;
}

/* ---- Reading ------------------------------------------------------------------- */

static bool set_integer(const struct option_row *row, const char *value, int64_t *member,
			struct failure *failure)
{
	if (parse_integer(value, member) && *member >= row->low && *member <= row->high)
		return true;
	return fail(failure, OUTCOME_USAGE, "--%s: '%s' is not an integer from %lld to %lld", row->name,
		    value, (long long) row->low, (long long) row->high);
}

static bool set_value(const struct option_row *row, struct arena *arena, const char *value, void *values,
		      struct failure *failure)
{
	char *member = (char *) values + row->offset;
	switch (row->kind) {
	case OPTION_FLAG:
		*(bool *) (void *) member = true;
		break;
	case OPTION_INTEGER:
		return set_integer(row, value, (int64_t *) (void *) member, failure);
	case OPTION_TEXT:
		*(const char **) (void *) member = value;
		break;
	case OPTION_LIST:
		vec_push(arena, (word_list *) (void *) member, value);
		break;
	}
	return true;
}

/* Is an option that is given once among arguments before this one? */
static bool is_repeated(const struct command *command, const struct option_row *row, char *const *arguments, int n)
{
	const char *value;
	for (int i = 0; i < n && row->is_once; i++)
		if (arguments[i][0] == '-' && find_option(command, arguments[i], &value) == row)
			return true;
	return false;
}

/* The number of arguments that were taken, behind `before` others; 0 after fail(). */
static int parse_option(const struct command *command, struct arena *arena, char **arguments, int n, int before,
			void *values, struct failure *failure)
{
	const char *value;
	const struct option_row *row = find_option(command, arguments[0], &value);
	if (!row && command->more) {
		int taken = command->more(values, arguments, n, failure);
		if (taken != 0)
			return taken > 0 ? taken : 0;
	}
	if (!row)
		return unknown_option(command, arena, arguments[0], failure);
	if (is_repeated(command, row, arguments - before, before))
		return fail(failure, OUTCOME_USAGE, "--%s is given twice: one takes all of its items", row->name);
	if (row->kind == OPTION_FLAG && value)
		return fail(failure, OUTCOME_USAGE, "--%s takes no value", row->name);
	int taken = 1;
	if (row->kind != OPTION_FLAG && !value && n > 1)
		value = arguments[taken++];
	if (row->kind != OPTION_FLAG && (!value || !*value))
		return fail(failure, OUTCOME_USAGE, "--%s needs a value: %s", row->name, row->operand);
	return set_value(row, arena, value, values, failure) ? taken : 0;
}

static bool asks_for_help(const char *argument)
{
	return strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0;
}

bool command_parse(const struct command *command, struct arena *arena, int argc, char **argv, void *values,
		   word_list *operands, bool *help, struct failure *failure)
{
	bool ended = false;
	*help = false;
	for (int i = 1; i < argc && !*help; i++) {
		*help = !ended && asks_for_help(argv[i]);
		if (*help)
			continue;
		if (!ended && strcmp(argv[i], "--") == 0) {
			ended = true;
		} else if (ended || argv[i][0] != '-' || !argv[i][1]) {
			vec_push(arena, operands, argv[i]);
		} else {
			int taken = parse_option(command, arena, argv + i, argc - i, i - 1, values, failure);
			if (!taken)
				return false;
			i += taken - 1;
		}
	}
	return true;
}

/* ---- Help ------------------------------------------------------------------------ */

/* Of UTF-8, whose further bytes begin with the bits 10. */
static int columns_of(const char *text)
{
	int n = 0;
	for (; *text; text++)
		n += ((unsigned char) *text & 0xc0) != 0x80;
	return n;
}

static void help_row(FILE *stream, const struct option_row *row)
{
	char left[80];
	snprintf(left, sizeof(left), "%c%c%s --%s%s%s", row->letter ? '-' : ' ',
		 row->letter ? row->letter : ' ', row->letter ? "," : " ", row->name, row->operand ? " " : "",
		 row->operand ? row->operand : "");
	fprintf(stream, "  %s%*s  %s\n", left, columns_of(left) < 26 ? 26 - columns_of(left) : 0, "", row->text);
}

void command_help(const struct command *command, FILE *stream)
{
	static const struct option_row help = { .name = "help", .letter = 'h', .text = "print this text" };
	fprintf(stream, "usage: pmg %s [OPTION…]%s%s\n\n%s.\n\n", command->name, *command->operands ? " " : "",
		command->operands, command->sentence);
	for (int i = 0; i < command->n_options; i++)
		help_row(stream, &command->options[i]);
	help_row(stream, &help);
	if (command->more_help)
		command->more_help(stream);
	if (*command->details)
		fprintf(stream, "\n%s", command->details);
}

int command_do(const struct command *command, struct arena *arena, int argc, char **argv, void *values,
	       command_body *body)
{
	struct failure failure = { 0 };
	word_list operands = { 0 };
	bool help;
	if (!command_parse(command, arena, argc, argv, values, &operands, &help, &failure))
		return failure_report(&failure, command->name);
	if (help)
		command_help(command, stdout);
	bool ok = help || body(values, &operands, arena, &failure);
	return ok && output_is_written(&failure) ? OUTCOME_OK : failure_report(&failure, command->name);
}
