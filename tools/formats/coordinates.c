/* SPDX-License-Identifier: MIT
 *
 * Sparse tensors as text, a line `i1 … iN value` for each entry, `#` comments, gzip or not: FROSTT's .tns,
 * which counts from 1, and .tsv, which counts from 0. The first line tells the number of modes. */
#include "formats/streams.h"

#include <inttypes.h>
#include <string.h>

struct entries {
	int n_modes;
	int64_t base;
	struct growing coordinates[PMG_MAX_RANK], values;
};

int64_t coordinates_base(const struct location *location)
{
	if (location->base >= 0)
		return location->base;
	return !path_has_suffix_of(location->path, ".tsv .tsv.gz");
}

static bool add_coordinate(struct text_input *in, struct entries *entries, int mode, const char *word,
			   struct failure *failure)
{
	int64_t index;
	if (!text_word_integer(in, word, &index, failure))
		return false;
	if (index < entries->base)
		return text_fail(in, failure, "coordinate %" PRId64 " in a file that counts from %" PRId64,
				 index, entries->base);
	return growing_add_integer(&entries->coordinates[mode], index - entries->base) ||
	       fail_memory(failure, "a sparse tensor");
}

static bool add_value(struct text_input *in, struct entries *entries, const char *word,
		      struct failure *failure)
{
	double value;
	return text_word_real(in, word, &value, failure) &&
	       (growing_add_real(&entries->values, value) || fail_memory(failure, "a sparse tensor"));
}

/* The words of the first line are kept until their number is known. */
static bool read_first(struct text_input *in, struct entries *entries, struct failure *failure)
{
	char words[PMG_MAX_RANK + 1][WORD_BYTES];
	int n = 0;
	const char *word = text_word(in, failure);
	for (; word && *word; word = text_word(in, failure)) {
		if (n == PMG_MAX_RANK + 1)
			return text_fail(in, failure, "more than %d modes", PMG_MAX_RANK);
		memcpy(words[n++], word, WORD_BYTES);
	}
	if (!word)
		return false;
	if (n < 2) {
		text_fail(in, failure, "a line needs at least one coordinate and the value");
		return text_help_commas(words[0], failure);
	}
	entries->n_modes = n - 1;
	for (int m = 0; m < n - 1; m++)
		if (!add_coordinate(in, entries, m, words[m], failure))
			return false;
	return add_value(in, entries, words[n - 1], failure);
}

static bool read_entry(struct text_input *in, struct entries *entries, struct failure *failure)
{
	for (int m = 0; m <= entries->n_modes; m++) {
		const char *word = text_word(in, failure);
		if (!word)
			return false;
		if (!*word)
			return text_fail(in, failure, "%d words, %d are needed", m, entries->n_modes + 1);
		bool ok = m < entries->n_modes ? add_coordinate(in, entries, m, word, failure)
					       : add_value(in, entries, word, failure);
		if (!ok)
			return false;
	}
	const char *word = text_word(in, failure);
	if (word && *word)
		return text_fail(in, failure, "more than %d words", entries->n_modes + 1);
	return word != NULL;
}

static bool read_entries(struct text_input *in, struct entries *entries, struct failure *failure)
{
	int more = text_line(in, failure);
	if (more == 0)
		return text_fail(in, failure, "no entries, so that the number of modes is not known");
	while (more > 0) {
		bool ok = entries->n_modes ? read_entry(in, entries, failure)
					   : read_first(in, entries, failure);
		if (!ok)
			return false;
		more = text_line(in, failure);
	}
	return more == 0;
}

static bool finish(struct entries *entries, struct content *content, struct failure *failure)
{
	content->kind = CONTENT_TENSOR;
	for (int m = 0; m <= entries->n_modes; m++) {
		struct growing *list = m < entries->n_modes ? &entries->coordinates[m] : &entries->values;
		struct member *member = content_add(content, m < entries->n_modes ? "" : "value", failure);
		if (!member || !growing_finish(list, &member->array, 0, NULL, failure))
			return false;
		if (m < entries->n_modes)
			content->sizes[m] = -1;
	}
	return true;
}

bool coordinates_read(const struct location *location, const struct wish *wish, struct content *content,
		      struct failure *failure)
{
	struct text_input in;
	struct entries entries = { .base = coordinates_base(location) };
	(void) wish;
	if (!text_open(&in, location->path, "#", failure))
		return false;
	bool ok = read_entries(&in, &entries, failure) && finish(&entries, content, failure);
	text_close(&in);
	if (!ok && failure->outcome == OUTCOME_DATA && path_has_suffix_of(location->path, ".hines.tsv"))
		fail_help(failure, "a .hines.tsv holds systems: 'pmg hines solve' solves them, 'pmg import tsv' makes "
			  "an .h5 file of them for 'pmg run'");
	for (int m = 0; m < PMG_MAX_RANK; m++)
		growing_free(&entries.coordinates[m]);
	growing_free(&entries.values);
	return ok;
}

int64_t coordinates_line(const struct location *location, int64_t i)
{
	struct text_input in;
	struct failure ignored;
	if (location->format->read != coordinates_read || !text_open(&in, location->path, "#", &ignored))
		return 0;
	bool more = text_line(&in, &ignored) > 0;
	for (; more && i > 0; i--) {
		const char *word = text_word(&in, &ignored);
		while (word && *word)
			word = text_word(&in, &ignored);
		more = text_line(&in, &ignored) > 0;
	}
	text_close(&in);
	return more ? in.line : 0;
}

/* ---- Writing ---------------------------------------------------------------------------- */

static void write_entry(FILE *file, const struct content *tensor, int64_t base, int64_t i)
{
	int n_modes = tensor->n_members - 1;
	for (int m = 0; m < n_modes; m++)
		fprintf(file, "%" PRId64 "\t", ndarray_integer(&tensor->members[m].array, i) + base);
	fprintf(file, "%.17g\n", ndarray_real(&tensor->members[n_modes].array, i));
}

bool coordinates_fits(const struct location *location, const struct content *content, struct failure *failure)
{
	if (content->kind != CONTENT_TENSOR)
		return fail(failure, OUTCOME_USAGE, "%s: the format holds sparse tensors only", location->path);
	return text_is_plain(location->path, failure);
}

bool coordinates_write(const struct location *location, const struct content *content,
		       struct failure *failure)
{
	struct output out;
	int64_t base = coordinates_base(location);
	if (!output_open(&out, location->path, failure))
		return false;
	int64_t n = ndarray_count(&content->members[content->n_members - 1].array);
	for (int64_t i = 0; i < n; i++)
		write_entry(out.file, content, base, i);
	return output_close(&out, true, failure);
}
