/* SPDX-License-Identifier: MIT
 *
 * The cases of blas.c for one type of numbers: REAL, with NAME(name) for the functions here, CALL(name) for those that
 * are tested, and TOLERANCE, relative to the sum of what is added. */

/* A matrix as it lies: element (i, j) at i*row + j*column. */
struct NAME(matrix) {
	REAL *data;
	int64_t rows, columns, row, column;
};

static REAL *NAME(numbers)(int64_t n)
{
	REAL *data = malloc((size_t) (n + PAD) * sizeof(REAL));

	for (int64_t i = 0; data && i < n + PAD; i++)
		data[i] = (REAL) (i * 7 % 13 - 6) / 4;
	return data;
}

/* Row-major, or its transpose is, with a leading dimension beyond the rows. */
static struct NAME(matrix) NAME(matrix_new)(int64_t rows, int64_t columns, int trans)
{
	const int64_t ld = (trans == PMG_TRANS ? rows : columns) + EXTRA;

	return (struct NAME(matrix)) { NAME(numbers)(ld * (trans == PMG_TRANS ? columns : rows)), rows, columns,
				       trans == PMG_TRANS ? 1 : ld, trans == PMG_TRANS ? ld : 1 };
}

static int64_t NAME(ld)(const struct NAME(matrix) *m)
{
	return m->row == 1 ? m->column : m->row;
}

static REAL *NAME(at)(const struct NAME(matrix) *m, int64_t i, int64_t j)
{
	return &m->data[i * m->row + j * m->column];
}

static bool NAME(is_near)(REAL a, REAL b)
{
	return (isnan(a) && isnan(b)) || fabs((double) a - (double) b) <= TOLERANCE * (1 + fabs((double) b)) * 16;
}

/* C = alpha A B + beta C by loops, which does not read what it sets. */
static void NAME(multiply)(REAL alpha, const struct NAME(matrix) *a, const struct NAME(matrix) *b, REAL beta,
			   const struct NAME(matrix) *c)
{
	for (int64_t i = 0; i < c->rows; i++)
		for (int64_t j = 0; j < c->columns; j++) {
			REAL sum = 0;

			for (int64_t l = 0; l < a->columns; l++)
				sum += *NAME(at)(a, i, l) * *NAME(at)(b, l, j);
			*NAME(at)(c, i, j) = alpha * sum + (beta == 0 ? 0 : *NAME(at)(c, i, j));
		}
}

/* Also that nothing was written beside the rows of `got`. */
static bool NAME(is_same)(const struct NAME(matrix) *got, const struct NAME(matrix) *wanted)
{
	const int64_t n = got->rows * NAME(ld)(got);
	bool same = true;

	for (int64_t i = 0; i < n + PAD; i++)
		same = same && NAME(is_near)(got->data[i], wanted->data[i]);
	return same;
}

static void NAME(spoil)(const struct NAME(matrix) *c)
{
	for (int64_t i = 0; i < c->rows; i++)
		for (int64_t j = 0; j < c->columns; j++)
			*NAME(at)(c, i, j) = (REAL) NAN;
}

/* ---- matrices ---- */

static void NAME(test_gemm)(struct tests *tests, const int64_t *size, int ta, int tb, REAL beta, int threads)
{
	struct NAME(matrix) a = NAME(matrix_new)(size[0], size[2], ta), b = NAME(matrix_new)(size[2], size[1], tb);
	struct NAME(matrix) got = NAME(matrix_new)(size[0], size[1], PMG_NO_TRANS);
	struct NAME(matrix) wanted = NAME(matrix_new)(size[0], size[1], PMG_NO_TRANS);

	*NAME(at)(&a, size[0] / 2, size[2] / 2) = (REAL) NAN;
	*NAME(at)(&b, size[2] / 2, size[1] / 2) = 0;
	if (beta == 0)
		NAME(spoil)(&got);
	CALL(gemm)(ta, tb, size[0], size[1], size[2], (REAL) 1.5, a.data, NAME(ld)(&a), b.data, NAME(ld)(&b), beta,
		   got.data, NAME(ld)(&got), threads);
	NAME(multiply)((REAL) 1.5, &a, &b, beta, &wanted);
	CHECK(tests, NAME(is_same)(&got, &wanted));
	free(a.data);
	free(b.data);
	free(got.data);
	free(wanted.data);
}

static void NAME(test_syrk)(struct tests *tests, int64_t n, int64_t k, int trans, int threads)
{
	struct NAME(matrix) a = NAME(matrix_new)(n, k, trans), b = { a.data, k, n, a.column, a.row };
	struct NAME(matrix) got = NAME(matrix_new)(n, n, PMG_NO_TRANS);
	struct NAME(matrix) wanted = NAME(matrix_new)(n, n, PMG_NO_TRANS);

	*NAME(at)(&a, n / 2, k / 2) = (REAL) NAN;
	NAME(spoil)(&got);
	CALL(syrk)(trans, n, k, -2, a.data, NAME(ld)(&a), got.data, NAME(ld)(&got), threads);
	NAME(multiply)(-2, &a, &b, 0, &wanted);
	CHECK(tests, NAME(is_same)(&got, &wanted));
	free(a.data);
	free(got.data);
	free(wanted.data);
}

/* `d` is a matrix, one row of it for all rows, one column for all columns, backwards, or the target itself. */
static void NAME(test_put)(struct tests *tests, const int64_t *size, int threads)
{
	struct NAME(matrix) d = NAME(matrix_new)(size[0], size[1], PMG_TRANS);
	const int64_t end = size[0] * d.row + size[1] * d.column - d.row - d.column;
	const struct NAME(matrix) given[] = { d,
					      { d.data, d.rows, d.columns, 0, d.column },
					      { d.data, d.rows, d.columns, d.row, 0 },
					      { d.data + end, d.rows, d.columns, -d.row, -d.column } };

	for (int g = 0; g < 5; g++) {
		struct NAME(matrix) got = NAME(matrix_new)(size[0], size[1], PMG_NO_TRANS);
		struct NAME(matrix) wanted = NAME(matrix_new)(size[0], size[1], PMG_NO_TRANS);
		const struct NAME(matrix) *from = g < 4 ? &given[g] : &wanted;

		for (int64_t i = 0; i < size[0]; i++)
			for (int64_t j = 0; j < size[1]; j++)
				*NAME(at)(&wanted, i, j) = -3 * *NAME(at)(from, i, j);
		CALL(put)(size[0], size[1], -3, g < 4 ? from->data : got.data, from->row, from->column, got.data,
			  NAME(ld)(&got), threads);
		CHECK(tests, NAME(is_same)(&got, &wanted));
		free(got.data);
		free(wanted.data);
	}
	free(d.data);
}

/* ---- a matrix and vectors, with strides 2 and 3: columns of matrices ---- */

static void NAME(test_gemv)(struct tests *tests, const int64_t *size, int trans, REAL beta, int threads)
{
	const bool is_trans = trans == PMG_TRANS;
	struct NAME(matrix) a = NAME(matrix_new)(size[0], size[1], trans);
	struct NAME(matrix) x = { NAME(numbers)(2 * size[1]), size[1], 1, 2, 1 };
	struct NAME(matrix) got = { NAME(numbers)(3 * size[0]), size[0], 1, 3, 1 };
	struct NAME(matrix) wanted = { NAME(numbers)(3 * size[0]), size[0], 1, 3, 1 };

	*NAME(at)(&a, size[0] / 2, size[1] / 2) = (REAL) NAN;
	*NAME(at)(&x, size[1] / 2, 0) = 0;
	if (beta == 0)
		NAME(spoil)(&got);
	CALL(gemv)(trans, size[is_trans], size[!is_trans], 3, a.data, NAME(ld)(&a), x.data, 2, beta, got.data, 3,
		   threads);
	NAME(multiply)(3, &a, &x, beta, &wanted);
	CHECK(tests, NAME(is_same)(&got, &wanted));
	free(a.data);
	free(x.data);
	free(got.data);
	free(wanted.data);
}

static void NAME(test_ger)(struct tests *tests, const int64_t *size, int threads)
{
	struct NAME(matrix) x = { NAME(numbers)(2 * size[0]), size[0], 1, 2, 1 };
	struct NAME(matrix) y = { NAME(numbers)(3 * size[1]), 1, size[1], 1, 3 };
	struct NAME(matrix) got = NAME(matrix_new)(size[0], size[1], PMG_NO_TRANS);
	struct NAME(matrix) wanted = NAME(matrix_new)(size[0], size[1], PMG_NO_TRANS);

	*NAME(at)(&x, size[0] / 2, 0) = (REAL) NAN;
	*NAME(at)(&y, 0, size[1] / 2) = 0;
	CALL(ger)(size[0], size[1], -1, x.data, 2, y.data, 3, got.data, NAME(ld)(&got), threads);
	NAME(multiply)(-1, &x, &y, 1, &wanted);
	CHECK(tests, NAME(is_same)(&got, &wanted));
	free(x.data);
	free(y.data);
	free(got.data);
	free(wanted.data);
}

/* ---- vectors ---- */

static void NAME(test_vectors)(struct tests *tests, int64_t n, int threads)
{
	struct NAME(matrix) x = { NAME(numbers)(2 * n), n, 1, 2, 1 }, y = { NAME(numbers)(n), n, 1, 1, 1 };
	REAL dot = 0, sum = 0;
	bool is_right = true;

	CALL(axpy)(n, 2, x.data, 2, y.data, 1, threads);
	for (int64_t i = 0; i < n; i++)
		is_right = is_right && NAME(is_near)(y.data[i], (REAL) (i * 7 % 13 - 6) / 4 + 2 * x.data[2 * i]);
	CHECK(tests, is_right);
	CALL(copy)(n, x.data, 2, y.data, 1, threads);
	CALL(scal)(n, -4, x.data, 2, threads);
	for (int64_t i = 0; i < n; i++) {
		is_right = is_right && NAME(is_near)(x.data[2 * i], -4 * y.data[i]) &&
			   NAME(is_near)(y.data[i], (REAL) (2 * i * 7 % 13 - 6) / 4);
		dot += x.data[2 * i] * y.data[i];
		sum += (REAL) fabs((double) x.data[2 * i]);
	}
	CHECK(tests, is_right && x.data[1] == (REAL) 0.25 && y.data[n] == (REAL) (n * 7 % 13 - 6) / 4);
	CHECK(tests, NAME(is_near)(CALL(dot)(n, x.data, 2, y.data, 1, threads), dot));
	CHECK(tests, NAME(is_near)(CALL(asum)(n, x.data, 2, threads), sum));
	free(x.data);
	free(y.data);
}

static void NAME(test_calls)(struct tests *tests, int threads)
{
	static const int trans[] = { PMG_NO_TRANS, PMG_TRANS };

	for (int s = 0; s < N_SIZES; s++) {
		for (int t = 0; t < 2; t++) {
			for (int beta = 0; beta < 2; beta++) {
				NAME(test_gemm)(tests, sizes[s], trans[t], PMG_NO_TRANS, (REAL) beta, threads);
				NAME(test_gemm)(tests, sizes[s], trans[t], PMG_TRANS, (REAL) beta, threads);
				NAME(test_gemv)(tests, sizes[s], trans[t], (REAL) beta, threads);
			}
			NAME(test_syrk)(tests, sizes[s][1], sizes[s][2], trans[t], threads);
		}
		NAME(test_ger)(tests, sizes[s], threads);
		NAME(test_put)(tests, sizes[s], threads);
		NAME(test_vectors)(tests, sizes[s][0] * sizes[s][1] * 3, threads);
	}
}
