/* SPDX-License-Identifier: MIT
 *
 * Matrix Market: `coordinate` is a sparse tensor of two modes, `array` a dense matrix written column by
 * column. Real, integer and pattern (all ones); general, symmetric and skew-symmetric, of which the file
 * has the lower triangle. What is complex or hermitian is refused. */
#include "formats/streams.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

enum symmetry { GENERAL, SYMMETRIC, SKEW };

struct matrix {
	bool is_sparse, is_integer, is_pattern;
	enum symmetry symmetry;
	int64_t rows, columns, n; /* n: lines of entries */
	struct growing row, column, value;
};

/* ---- The head ------------------------------------------------------------------------ */

static bool parse_banner(struct text_input *in, const char *line, struct matrix *matrix,
			 struct failure *failure)
{
	char object[32], layout[32], field[32], symmetry[32];
	if (sscanf(line, "%%%%MatrixMarket %31s %31s %31s %31s", object, layout, field, symmetry) != 4)
		return text_fail(in, failure,
				 "not a Matrix Market file: the first line must be '%%%%MatrixMarket "
				 "matrix FORMAT FIELD SYMMETRY'");
	matrix->is_sparse = strcasecmp(layout, "coordinate") == 0;
	if (strcasecmp(object, "matrix") != 0 || (!matrix->is_sparse && strcasecmp(layout, "array") != 0))
		return text_fail(in, failure, "only 'matrix coordinate' and 'matrix array' are supported");
	matrix->is_integer = strcasecmp(field, "integer") == 0;
	matrix->is_pattern = strcasecmp(field, "pattern") == 0;
	if ((matrix->is_pattern && !matrix->is_sparse) ||
	    (!matrix->is_integer && !matrix->is_pattern && strcasecmp(field, "real") != 0 &&
	     strcasecmp(field, "double") != 0))
		return text_fail(in, failure, "entries must be real, integer or pattern");
	matrix->symmetry = strcasecmp(symmetry, "symmetric") == 0        ? SYMMETRIC
			   : strcasecmp(symmetry, "skew-symmetric") == 0 ? SKEW
									 : GENERAL;
	if (matrix->symmetry == GENERAL && strcasecmp(symmetry, "general") != 0)
		return text_fail(in, failure, "the matrix must be general, symmetric or skew-symmetric");
	return true;
}

static bool read_size(struct text_input *in, int64_t *size, struct failure *failure)
{
	const char *word = text_word(in, failure);
	if (!word || !text_word_integer(in, word, size, failure))
		return false;
	if (*size < 0 || *size > INT64_MAX / 2)
		return text_fail(in, failure, "a size of %" PRId64, *size);
	return true;
}

static bool end_line(struct text_input *in, struct failure *failure)
{
	const char *word = text_word(in, failure);
	if (word && *word)
		return text_fail(in, failure, "more words than this line should have");
	return word != NULL;
}

/* Numbers of a dense matrix that the file has: all, or a triangle. */
static bool count_dense(struct matrix *matrix)
{
	size_t n;
	const int64_t shape[2] = { matrix->rows, matrix->columns };
	if (!shape_bytes(2, shape, sizeof(double), &n))
		return false;
	matrix->n = (int64_t) (n / sizeof(double));
	if (matrix->symmetry == SYMMETRIC)
		matrix->n = (matrix->n + matrix->rows) / 2;
	else if (matrix->symmetry == SKEW)
		matrix->n = (matrix->n - matrix->rows) / 2;
	return true;
}

/* An entry takes at least two bytes of text, so a count can be checked before memory is taken for it. */
static bool read_sizes(struct text_input *in, struct matrix *matrix, struct failure *failure)
{
	int more = text_line(in, failure);
	if (more == 0)
		return text_fail(in, failure, "ends before the line of sizes");
	if (more < 0 || !read_size(in, &matrix->rows, failure) || !read_size(in, &matrix->columns, failure) ||
	    (matrix->is_sparse && !read_size(in, &matrix->n, failure)) || !end_line(in, failure))
		return false;
	if (matrix->symmetry != GENERAL && matrix->rows != matrix->columns)
		return text_fail(in, failure,
				 "a symmetric matrix of %" PRId64 " rows and %" PRId64 " columns",
				 matrix->rows, matrix->columns);
	if ((!matrix->is_sparse && !count_dense(matrix)) || matrix->n > in->limit)
		return text_fail(in, failure, "more entries than the file can hold");
	return true;
}

/* ---- Entries ---------------------------------------------------------------------------- */

static bool read_value(struct text_input *in, struct matrix *matrix, double *value, int64_t *integer,
		       struct failure *failure)
{
	*value = 1;
	*integer = 1;
	if (matrix->is_pattern)
		return true;
	const char *word = text_word(in, failure);
	if (!word)
		return false;
	if (!matrix->is_integer)
		return text_word_real(in, word, value, failure);
	if (!text_word_integer(in, word, integer, failure))
		return false;
	return matrix->symmetry != SKEW || *integer > INT64_MIN ||
	       text_fail(in, failure, "the integer has no negative");
}

static bool add_value(struct matrix *matrix, double value, int64_t integer, int sign)
{
	if (matrix->is_integer)
		return growing_add_integer(&matrix->value, sign * integer);
	return growing_add_real(&matrix->value, sign * value);
}

static bool read_coordinate(struct text_input *in, int64_t size, int64_t *at, struct failure *failure)
{
	const char *word = text_word(in, failure);
	if (!word || !text_word_integer(in, word, at, failure))
		return false;
	if (*at < 1 || *at > size)
		return text_fail(in, failure, "coordinate %" PRId64 " is not in 1 to %" PRId64, *at, size);
	return true;
}

static bool add_entry(struct matrix *matrix, int64_t row, int64_t column, double value, int64_t integer,
		      int sign)
{
	return growing_add_integer(&matrix->row, row - 1) &&
	       growing_add_integer(&matrix->column, column - 1) && add_value(matrix, value, integer, sign);
}

static bool read_sparse_entry(struct text_input *in, struct matrix *matrix, struct failure *failure)
{
	int64_t row, column, integer;
	double value;
	if (!read_coordinate(in, matrix->rows, &row, failure) ||
	    !read_coordinate(in, matrix->columns, &column, failure) ||
	    !read_value(in, matrix, &value, &integer, failure))
		return false;
	if (matrix->symmetry != GENERAL && (column > row || (matrix->symmetry == SKEW && column == row)))
		return text_fail(in, failure, "entry (%" PRId64 ", %" PRId64 ") is not in the lower triangle",
				 row, column);
	bool ok = add_entry(matrix, row, column, value, integer, 1);
	if (ok && matrix->symmetry != GENERAL && row != column)
		ok = add_entry(matrix, column, row, value, integer, matrix->symmetry == SKEW ? -1 : 1);
	return ok || fail_memory(failure, "a sparse matrix");
}

static bool read_dense_entry(struct text_input *in, struct matrix *matrix, struct failure *failure)
{
	int64_t integer;
	double value;
	if (!read_value(in, matrix, &value, &integer, failure))
		return false;
	return add_value(matrix, value, integer, 1) || fail_memory(failure, "a matrix");
}

static bool ends_early(struct text_input *in, const struct matrix *matrix, int64_t n, struct failure *failure)
{
	return text_fail(in, failure, "ends after %" PRId64 " of %" PRId64 " entries", n, matrix->n);
}

/* Whether a word was missing because the file has ended. */
static bool has_ended(struct text_input *in)
{
	struct failure ignored;
	return !*in->word && text_line(in, &ignored) == 0;
}

static bool read_entries(struct text_input *in, struct matrix *matrix, struct failure *failure)
{
	for (int64_t i = 0; i < matrix->n; i++) {
		int more = text_line(in, failure);
		if (more == 0)
			return ends_early(in, matrix, i, failure);
		if (more < 0)
			return false;
		bool ok = matrix->is_sparse ? read_sparse_entry(in, matrix, failure)
					    : read_dense_entry(in, matrix, failure);
		if (!ok && has_ended(in))
			return ends_early(in, matrix, i, failure);
		if (!ok || !end_line(in, failure))
			return false;
	}
	int more = text_line(in, failure);
	if (more > 0)
		return text_fail(in, failure, "goes on after the %" PRId64 " entries it promises", matrix->n);
	return more == 0;
}

/* ---- What they are ------------------------------------------------------------------------- */

static bool finish_sparse(struct matrix *matrix, struct content *content, struct failure *failure)
{
	struct growing *lists[] = { &matrix->row, &matrix->column, &matrix->value };
	const char *names[] = { "", "", "value" };
	content->kind = CONTENT_TENSOR;
	content->sizes[0] = matrix->rows;
	content->sizes[1] = matrix->columns;
	for (int m = 0; m < 3; m++) {
		struct member *member = content_add(content, names[m], failure);
		if (!member || !growing_finish(lists[m], &member->array, 0, NULL, failure))
			return false;
	}
	return true;
}

/* The number of the lower triangle, column by column, that (row, column) is. */
static int64_t triangle_place(const struct matrix *matrix, int64_t row, int64_t column)
{
	int64_t skipped = matrix->symmetry == SKEW ? column + 1 : 0;
	return column * matrix->rows - column * (column - 1) / 2 + (row - column) - skipped;
}

static void set_cell(struct ndarray *array, int64_t cell, const struct ndarray *list, int64_t place, int sign)
{
	if (type_holds_integers(list->type))
		((int64_t *) array->data)[cell] = sign * ndarray_integer(list, place);
	else
		((double *) array->data)[cell] = sign * ndarray_real(list, place);
}

static bool expand_triangle(const struct matrix *matrix, struct ndarray *array, struct failure *failure)
{
	const int64_t shape[2] = { matrix->rows, matrix->columns };
	struct ndarray list = { .type = matrix->value.type, .data = matrix->value.data };
	int sign = matrix->symmetry == SKEW ? -1 : 1;
	if (!ndarray_new(array, list.type, 2, shape, failure))
		return false;
	for (int64_t i = 0; i < shape[0]; i++) {
		for (int64_t j = 0; j <= i; j++) {
			if (matrix->symmetry == SKEW && i == j)
				continue;
			int64_t place = triangle_place(matrix, i, j);
			set_cell(array, i * shape[1] + j, &list, place, 1);
			if (i != j)
				set_cell(array, j * shape[1] + i, &list, place, sign);
		}
	}
	return true;
}

static bool finish_dense(struct matrix *matrix, struct content *content, struct failure *failure)
{
	const int64_t shape[2] = { matrix->rows, matrix->columns };
	content->kind = CONTENT_ARRAY;
	struct member *member = content_add(content, "", failure);
	if (!member)
		return false;
	if (matrix->symmetry != GENERAL)
		return expand_triangle(matrix, &member->array, failure);
	return growing_finish(&matrix->value, &member->array, 2, shape, failure) &&
	       ndarray_from_columns(&member->array, failure);
}

static bool read_matrix(struct text_input *in, struct matrix *matrix, struct failure *failure)
{
	char line[256];
	if (!text_first_line(in, line, sizeof(line), failure) || !parse_banner(in, line, matrix, failure))
		return false;
	matrix->value.type = matrix->is_integer ? PMG_I64 : PMG_F64;
	matrix->row.type = matrix->column.type = PMG_I64;
	return read_sizes(in, matrix, failure) && read_entries(in, matrix, failure);
}

bool matrix_market_read(const struct location *location, const struct wish *wish, struct content *content,
			struct failure *failure)
{
	struct text_input in;
	struct matrix matrix = { 0 };
	(void) wish;
	if (!text_open(&in, location->path, "%", failure))
		return false;
	bool ok = read_matrix(&in, &matrix, failure);
	text_close(&in);
	if (ok)
		ok = matrix.is_sparse ? finish_sparse(&matrix, content, failure)
				      : finish_dense(&matrix, content, failure);
	growing_free(&matrix.row);
	growing_free(&matrix.column);
	growing_free(&matrix.value);
	return ok;
}

/* ---- Writing --------------------------------------------------------------------------------- */

static void write_number(FILE *file, const struct ndarray *array, int64_t i)
{
	if (type_holds_integers(array->type))
		fprintf(file, "%" PRId64 "\n", ndarray_integer(array, i));
	else
		fprintf(file, "%.17g\n", ndarray_real(array, i));
}

static void write_sparse(FILE *file, const struct content *tensor)
{
	const struct ndarray *row = &tensor->members[0].array, *column = &tensor->members[1].array;
	const struct ndarray *value = &tensor->members[2].array;
	int64_t n = ndarray_count(value);
	fprintf(file, "%%%%MatrixMarket matrix coordinate %s general\n",
		type_holds_integers(value->type) ? "integer" : "real");
	fprintf(file, "%" PRId64 " %" PRId64 " %" PRId64 "\n", tensor_extent(tensor, 0),
		tensor_extent(tensor, 1), n);
	for (int64_t i = 0; i < n; i++) {
		fprintf(file, "%" PRId64 " %" PRId64 " ", ndarray_integer(row, i) + 1,
			ndarray_integer(column, i) + 1);
		write_number(file, value, i);
	}
}

static void write_dense(FILE *file, const struct ndarray *array)
{
	int64_t rows = array->rank > 0 ? array->shape[0] : 1, columns = array->rank > 1 ? array->shape[1] : 1;
	fprintf(file, "%%%%MatrixMarket matrix array %s general\n",
		type_holds_integers(array->type) ? "integer" : "real");
	fprintf(file, "%" PRId64 " %" PRId64 "\n", rows, columns);
	for (int64_t j = 0; j < columns; j++)
		for (int64_t i = 0; i < rows; i++)
			write_number(file, array, i * columns + j);
}

bool matrix_market_fits(const struct location *location, const struct content *content, struct failure *failure)
{
	bool is_tensor = content->kind == CONTENT_TENSOR;
	if (is_tensor ? content->n_members != 3 : content->members[0].array.rank > 2)
		return fail(failure, OUTCOME_USAGE, "%s: the format holds matrices only", location->path);
	return text_is_plain(location->path, failure);
}

bool matrix_market_write(const struct location *location, const struct content *content,
			 struct failure *failure)
{
	struct output out;
	if (!output_open(&out, location->path, failure))
		return false;
	if (content->kind == CONTENT_TENSOR)
		write_sparse(out.file, content);
	else
		write_dense(out.file, &content->members[0].array);
	return output_close(&out, true, failure);
}
