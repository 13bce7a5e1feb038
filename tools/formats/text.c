/* SPDX-License-Identifier: MIT
 *
 * Plain text: numbers between white space, `#` comments. One number a line, or one line, is a list; else
 * each line is a row, all of one length. Numbers are i64 if each of them is written as an integer, else
 * f64. Written with 17 digits, so that reading gives the same bits. */
#include "formats/streams.h"

#include <inttypes.h>
#include <string.h>

struct table {
	struct growing integers, reals; /* integers, as long as all are */
	bool has_reals;
	int64_t rows, columns;
};

static void table_free(struct table *table)
{
	growing_free(&table->integers);
	growing_free(&table->reals);
}

/* From the first number that is not an integer on, all are reals. */
static bool become_real(struct table *table)
{
	table->has_reals = true;
	for (int64_t i = 0; i < table->integers.n; i++)
		if (!growing_add_real(&table->reals, (double) ((const int64_t *) table->integers.data)[i]))
			return false;
	growing_free(&table->integers);
	return true;
}

static bool add_number(struct text_input *in, struct table *table, const char *word, struct failure *failure)
{
	int64_t integer;
	double real;
	if (!table->has_reals && parse_integer(word, &integer))
		return growing_add_integer(&table->integers, integer) || fail_memory(failure, "a table");
	if (!text_word_real(in, word, &real, failure))
		return false;
	if ((!table->has_reals && !become_real(table)) || !growing_add_real(&table->reals, real))
		return fail_memory(failure, "a table");
	return true;
}

static bool read_row(struct text_input *in, struct table *table, struct failure *failure)
{
	int64_t columns = 0;
	const char *word = text_word(in, failure);
	for (; word && *word; columns++) {
		if (!add_number(in, table, word, failure))
			return false;
		word = text_word(in, failure);
	}
	if (!word)
		return false;
	if (table->rows++ == 0)
		table->columns = columns;
	if (columns != table->columns)
		return text_fail(in, failure, "%" PRId64 " numbers in this row, %" PRId64 " in those before",
				 columns, table->columns);
	return true;
}

static bool read_table(struct text_input *in, struct table *table, struct failure *failure)
{
	int more = text_line(in, failure);
	while (more > 0) {
		if (!read_row(in, table, failure))
			return false;
		more = text_line(in, failure);
	}
	return more == 0;
}

bool text_read(const struct location *location, const struct wish *wish, struct content *content,
	       struct failure *failure)
{
	struct text_input in;
	struct table table = { .integers.type = PMG_I64, .reals.type = PMG_F64 };
	(void) wish;
	content->kind = CONTENT_ARRAY;
	struct member *member = content_add(content, "", failure);
	bool ok = member && text_open(&in, location->path, "#", failure);
	if (!ok)
		return false;
	ok = read_table(&in, &table, failure);
	text_close(&in);
	if (ok) {
		const int64_t shape[2] = { table.rows, table.columns };
		bool is_list = table.rows <= 1 || table.columns <= 1;
		content->kind = is_list ? CONTENT_FLAT : CONTENT_ARRAY;
		ok = growing_finish(table.has_reals ? &table.reals : &table.integers, &member->array,
				    is_list ? 0 : 2, shape, failure);
	}
	table_free(&table);
	return ok;
}

static void write_number(FILE *file, const struct ndarray *array, int64_t i)
{
	if (type_holds_integers(array->type))
		fprintf(file, "%" PRId64, ndarray_integer(array, i));
	else
		fprintf(file, "%.*g", array->type == PMG_F32 ? 9 : 17, ndarray_real(array, i));
}

bool text_fits(const struct location *location, const struct content *content, struct failure *failure)
{
	int rank = content->members[0].array.rank;
	if (rank > 2)
		return fail(failure, OUTCOME_USAGE, "%s: text holds at most two dimensions, the array has %d",
			    location->path, rank);
	return text_is_plain(location->path, failure);
}

bool text_write(const struct location *location, const struct content *content, struct failure *failure)
{
	struct output out;
	const struct ndarray *array = &content->members[0].array;
	int64_t n = ndarray_count(array), columns = array->rank == 2 ? array->shape[1] : 1;
	if (!output_open(&out, location->path, failure))
		return false;
	for (int64_t i = 0; i < n; i++) {
		write_number(out.file, array, i);
		fputc((i + 1) % columns == 0 ? '\n' : ' ', out.file);
	}
	return output_close(&out, true, failure);
}
