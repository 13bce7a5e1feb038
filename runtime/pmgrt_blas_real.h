/* SPDX-License-Identifier: MIT
 *
 * The calls for one type of numbers: included by pmgrt_blas.h once for each, with PMG_REAL, PMG_BLAS(name) for the name
 * in CBLAS and PMG_CALL(name) for ours. Each thread has rows, columns or elements of the result of its own. */

void PMG_BLAS(axpy)(pmg_blas_int n, PMG_REAL alpha, const PMG_REAL *x, pmg_blas_int incx, PMG_REAL *y,
		    pmg_blas_int incy);
void PMG_BLAS(copy)(pmg_blas_int n, const PMG_REAL *x, pmg_blas_int incx, PMG_REAL *y, pmg_blas_int incy);
void PMG_BLAS(scal)(pmg_blas_int n, PMG_REAL alpha, PMG_REAL *x, pmg_blas_int incx);
PMG_REAL PMG_BLAS(dot)(pmg_blas_int n, const PMG_REAL *x, pmg_blas_int incx, const PMG_REAL *y, pmg_blas_int incy);
PMG_REAL PMG_BLAS(asum)(pmg_blas_int n, const PMG_REAL *x, pmg_blas_int incx);
void PMG_BLAS(gemv)(int order, int trans, pmg_blas_int m, pmg_blas_int n, PMG_REAL alpha, const PMG_REAL *a,
		    pmg_blas_int lda, const PMG_REAL *x, pmg_blas_int incx, PMG_REAL beta, PMG_REAL *y,
		    pmg_blas_int incy);
void PMG_BLAS(ger)(int order, pmg_blas_int m, pmg_blas_int n, PMG_REAL alpha, const PMG_REAL *x, pmg_blas_int incx,
		   const PMG_REAL *y, pmg_blas_int incy, PMG_REAL *a, pmg_blas_int lda);
void PMG_BLAS(gemm)(int order, int transa, int transb, pmg_blas_int m, pmg_blas_int n, pmg_blas_int k, PMG_REAL alpha,
		    const PMG_REAL *a, pmg_blas_int lda, const PMG_REAL *b, pmg_blas_int ldb, PMG_REAL beta,
		    PMG_REAL *c, pmg_blas_int ldc);
void PMG_BLAS(syrk)(int order, int uplo, int trans, pmg_blas_int n, pmg_blas_int k, PMG_REAL alpha, const PMG_REAL *a,
		    pmg_blas_int lda, PMG_REAL beta, PMG_REAL *c, pmg_blas_int ldc);

/* ---- Vectors ---- */

/* y += alpha x */
static inline void PMG_CALL(axpy)(int64_t n, PMG_REAL alpha, const PMG_REAL *x, int64_t incx, PMG_REAL *y, int64_t incy,
				  int threads)
{
	const int parts = pmg_blas_parts(threads, (double) n, PMG_BLAS_SHARE_2);

	if (parts == 1) {
		PMG_BLAS(axpy)((pmg_blas_int) n, alpha, x, (pmg_blas_int) incx, y, (pmg_blas_int) incy);
		return;
	}
	#pragma omp parallel for schedule(static) num_threads(parts)
	for (int part = 0; part < parts; part++) {
		const int64_t at = pmg_blas_cut(n, part, parts), end = pmg_blas_cut(n, part + 1, parts);

		PMG_BLAS(axpy)((pmg_blas_int) (end - at), alpha, x + at * incx, (pmg_blas_int) incx, y + at * incy,
			       (pmg_blas_int) incy);
	}
}

/* y = x */
static inline void PMG_CALL(copy)(int64_t n, const PMG_REAL *x, int64_t incx, PMG_REAL *y, int64_t incy, int threads)
{
	const int parts = pmg_blas_parts(threads, (double) n, PMG_BLAS_SHARE_2);

	if (parts == 1) {
		PMG_BLAS(copy)((pmg_blas_int) n, x, (pmg_blas_int) incx, y, (pmg_blas_int) incy);
		return;
	}
	#pragma omp parallel for schedule(static) num_threads(parts)
	for (int part = 0; part < parts; part++) {
		const int64_t at = pmg_blas_cut(n, part, parts), end = pmg_blas_cut(n, part + 1, parts);

		PMG_BLAS(copy)((pmg_blas_int) (end - at), x + at * incx, (pmg_blas_int) incx, y + at * incy,
			       (pmg_blas_int) incy);
	}
}

/* x *= alpha */
static inline void PMG_CALL(scal)(int64_t n, PMG_REAL alpha, PMG_REAL *x, int64_t incx, int threads)
{
	const int parts = pmg_blas_parts(threads, (double) n, PMG_BLAS_SHARE_2);

	if (parts == 1) {
		PMG_BLAS(scal)((pmg_blas_int) n, alpha, x, (pmg_blas_int) incx);
		return;
	}
	#pragma omp parallel for schedule(static) num_threads(parts)
	for (int part = 0; part < parts; part++) {
		const int64_t at = pmg_blas_cut(n, part, parts), end = pmg_blas_cut(n, part + 1, parts);

		PMG_BLAS(scal)((pmg_blas_int) (end - at), alpha, x + at * incx, (pmg_blas_int) incx);
	}
}

/* The sum of x*y. */
static inline PMG_REAL PMG_CALL(dot)(int64_t n, const PMG_REAL *x, int64_t incx, const PMG_REAL *y, int64_t incy,
				     int threads)
{
	const int parts = pmg_blas_parts(threads, (double) n, PMG_BLAS_SHARE_2);
	PMG_REAL sum = 0;

	if (parts == 1)
		return PMG_BLAS(dot)((pmg_blas_int) n, x, (pmg_blas_int) incx, y, (pmg_blas_int) incy);
	#pragma omp parallel for schedule(static) num_threads(parts) reduction(+:sum)
	for (int part = 0; part < parts; part++) {
		const int64_t at = pmg_blas_cut(n, part, parts), end = pmg_blas_cut(n, part + 1, parts);

		sum += PMG_BLAS(dot)((pmg_blas_int) (end - at), x + at * incx, (pmg_blas_int) incx, y + at * incy,
				     (pmg_blas_int) incy);
	}
	return sum;
}

/* The sum of |x|. */
static inline PMG_REAL PMG_CALL(asum)(int64_t n, const PMG_REAL *x, int64_t incx, int threads)
{
	const int parts = pmg_blas_parts(threads, (double) n, PMG_BLAS_SHARE_2);
	PMG_REAL sum = 0;

	if (parts == 1)
		return PMG_BLAS(asum)((pmg_blas_int) n, x, (pmg_blas_int) incx);
	#pragma omp parallel for schedule(static) num_threads(parts) reduction(+:sum)
	for (int part = 0; part < parts; part++) {
		const int64_t at = pmg_blas_cut(n, part, parts), end = pmg_blas_cut(n, part + 1, parts);

		sum += PMG_BLAS(asum)((pmg_blas_int) (end - at), x + at * incx, (pmg_blas_int) incx);
	}
	return sum;
}

static inline void PMG_CALL(put_rows)(int64_t at, int64_t end, int64_t n, PMG_REAL beta, const PMG_REAL *d,
				      int64_t row, int64_t column, PMG_REAL *c, int64_t ldc)
{
	for (int64_t i = at; i < end; i++)
		for (int64_t j = 0; j < n; j++)
			c[i * ldc + j] = beta * d[i * row + j * column];
}

/* C = beta D, C of m rows and n columns, its rows ldc apart. Elements of D are `row` and `column` apart, which may be 0
 * or negative; D may be C. Not of the BLAS: what a call with beta = 1 adds to. */
static inline void PMG_CALL(put)(int64_t m, int64_t n, PMG_REAL beta, const PMG_REAL *d, int64_t row, int64_t column,
				 PMG_REAL *c, int64_t ldc, int threads)
{
	const int parts = pmg_blas_parts(threads, (double) m * (double) n, PMG_BLAS_SHARE_2);

	if (parts == 1) {
		PMG_CALL(put_rows)(0, m, n, beta, d, row, column, c, ldc);
		return;
	}
	#pragma omp parallel for schedule(static) num_threads(parts)
	for (int part = 0; part < parts; part++)
		PMG_CALL(put_rows)(pmg_blas_cut(m, part, parts), pmg_blas_cut(m, part + 1, parts), n, beta, d, row,
				   column, c, ldc);
}

/* ---- A matrix and vectors ---- */

/* y = alpha A x + beta y with beta 0 or 1, A of m rows and n columns, or its transpose, by one thread. A y that is set
 * is filled here: libraries differ in whether beta = 0 reads it. */
static inline void PMG_CALL(gemv_one)(int trans, int64_t m, int64_t n, PMG_REAL alpha, const PMG_REAL *a, int64_t lda,
				      const PMG_REAL *x, int64_t incx, PMG_REAL beta, PMG_REAL *y, int64_t incy)
{
	const int64_t size = trans == PMG_TRANS ? n : m;

	for (int64_t i = 0; beta == 0 && i < size; i++)
		y[i * incy] = 0;
	PMG_BLAS(gemv)(PMG_ROW_MAJOR, trans, (pmg_blas_int) m, (pmg_blas_int) n, alpha, a, (pmg_blas_int) lda, x,
		       (pmg_blas_int) incx, 1, y, (pmg_blas_int) incy);
}

static inline void PMG_CALL(gemv)(int trans, int64_t m, int64_t n, PMG_REAL alpha, const PMG_REAL *a, int64_t lda,
				  const PMG_REAL *x, int64_t incx, PMG_REAL beta, PMG_REAL *y, int64_t incy,
				  int threads)
{
	const bool is_trans = trans == PMG_TRANS;
	const int parts = pmg_blas_parts(threads, (double) m * (double) n, PMG_BLAS_SHARE_2);

	if (parts == 1) {
		PMG_CALL(gemv_one)(trans, m, n, alpha, a, lda, x, incx, beta, y, incy);
		return;
	}
	#pragma omp parallel for schedule(static) num_threads(parts)
	for (int part = 0; part < parts; part++) {
		const int64_t at = pmg_blas_cut(is_trans ? n : m, part, parts);
		const int64_t size = pmg_blas_cut(is_trans ? n : m, part + 1, parts) - at;

		if (size)
			PMG_CALL(gemv_one)(trans, is_trans ? m : size, is_trans ? size : n, alpha,
					   a + (is_trans ? at : at * lda), lda, x, incx, beta, y + at * incy, incy);
	}
}

/* A += alpha x y', A of m rows and n columns. */
static inline void PMG_CALL(ger)(int64_t m, int64_t n, PMG_REAL alpha, const PMG_REAL *x, int64_t incx,
				 const PMG_REAL *y, int64_t incy, PMG_REAL *a, int64_t lda, int threads)
{
	const int parts = pmg_blas_parts(threads, (double) m * (double) n, PMG_BLAS_SHARE_2);

	if (parts == 1) {
		PMG_BLAS(ger)(PMG_ROW_MAJOR, (pmg_blas_int) m, (pmg_blas_int) n, alpha, x, (pmg_blas_int) incx, y,
			      (pmg_blas_int) incy, a, (pmg_blas_int) lda);
		return;
	}
	#pragma omp parallel for schedule(static) num_threads(parts)
	for (int part = 0; part < parts; part++) {
		const int64_t at = pmg_blas_cut(m, part, parts), end = pmg_blas_cut(m, part + 1, parts);

		if (at < end)
			PMG_BLAS(ger)(PMG_ROW_MAJOR, (pmg_blas_int) (end - at), (pmg_blas_int) n, alpha, x + at * incx,
				      (pmg_blas_int) incx, y, (pmg_blas_int) incy, a + at * lda, (pmg_blas_int) lda);
	}
}

/* ---- Matrices ---- */

/* C = alpha op(A) op(B) + beta C with beta 0 or 1, C of m rows and n columns. Threads share the longer side of C. */
static inline void PMG_CALL(gemm)(int transa, int transb, int64_t m, int64_t n, int64_t k, PMG_REAL alpha,
				  const PMG_REAL *a, int64_t lda, const PMG_REAL *b, int64_t ldb, PMG_REAL beta,
				  PMG_REAL *c, int64_t ldc, int threads)
{
	const int parts = pmg_blas_parts(threads, (double) m * (double) n * (double) k, PMG_BLAS_SHARE_3);
	const bool by_rows = m >= n;

	if (parts == 1) {
		PMG_BLAS(gemm)(PMG_ROW_MAJOR, transa, transb, (pmg_blas_int) m, (pmg_blas_int) n, (pmg_blas_int) k,
			       alpha, a, (pmg_blas_int) lda, b, (pmg_blas_int) ldb, beta, c, (pmg_blas_int) ldc);
		return;
	}
	#pragma omp parallel for schedule(static) num_threads(parts)
	for (int part = 0; part < parts; part++) {
		const int64_t at = pmg_blas_cut(by_rows ? m : n, part, parts);
		const int64_t size = pmg_blas_cut(by_rows ? m : n, part + 1, parts) - at;
		const PMG_REAL *from_a = !by_rows ? a : a + (transa == PMG_TRANS ? at : at * lda);
		const PMG_REAL *from_b = by_rows ? b : b + (transb == PMG_TRANS ? at * ldb : at);

		if (size)
			PMG_BLAS(gemm)(PMG_ROW_MAJOR, transa, transb, (pmg_blas_int) (by_rows ? size : m),
				       (pmg_blas_int) (by_rows ? n : size), (pmg_blas_int) k, alpha, from_a,
				       (pmg_blas_int) lda, from_b, (pmg_blas_int) ldb, beta,
				       by_rows ? c + at * ldc : c + at, (pmg_blas_int) ldc);
	}
}

/* The rows at..end of the lower triangle of alpha op(A) op(A)'. */
static inline void PMG_CALL(syrk_rows)(int trans, int64_t at, int64_t end, int64_t k, PMG_REAL alpha,
				       const PMG_REAL *a, int64_t lda, PMG_REAL *c, int64_t ldc)
{
	const PMG_REAL *rows = a + (trans == PMG_TRANS ? at : at * lda);

	if (at < end && at > 0)
		PMG_BLAS(gemm)(PMG_ROW_MAJOR, trans, trans == PMG_TRANS ? PMG_NO_TRANS : PMG_TRANS,
			       (pmg_blas_int) (end - at), (pmg_blas_int) at, (pmg_blas_int) k, alpha, rows,
			       (pmg_blas_int) lda, a, (pmg_blas_int) lda, 0, c + at * ldc, (pmg_blas_int) ldc);
	if (at < end)
		PMG_BLAS(syrk)(PMG_ROW_MAJOR, PMG_LOWER, trans, (pmg_blas_int) (end - at), (pmg_blas_int) k, alpha,
			       rows, (pmg_blas_int) lda, 0, c + at * ldc + at, (pmg_blas_int) ldc);
}

/* The rows at..end of the upper triangle from the columns of the lower one, in squares that fit the cache. */
static inline void PMG_CALL(mirror)(int64_t at, int64_t end, int64_t n, PMG_REAL *c, int64_t ldc)
{
	enum { SIDE = 32 };

	for (int64_t i0 = at; i0 < end; i0 += SIDE)
		for (int64_t j0 = i0; j0 < n; j0 += SIDE)
			for (int64_t i = i0; i < end && i < i0 + SIDE; i++)
				for (int64_t j = j0 > i ? j0 : i + 1; j < n && j < j0 + SIDE; j++)
					c[i * ldc + j] = c[j * ldc + i];
}

/* C = alpha op(A) op(A)', all of it. */
static inline void PMG_CALL(syrk)(int trans, int64_t n, int64_t k, PMG_REAL alpha, const PMG_REAL *a, int64_t lda,
				  PMG_REAL *c, int64_t ldc, int threads)
{
	const int parts = pmg_blas_parts(threads, (double) n * (double) n * (double) k, PMG_BLAS_SHARE_3);

	if (parts == 1) {
		PMG_CALL(syrk_rows)(trans, 0, n, k, alpha, a, lda, c, ldc);
		PMG_CALL(mirror)(0, n, n, c, ldc);
		return;
	}
	#pragma omp parallel num_threads(parts)
	{
		#pragma omp for schedule(static)
		for (int part = 0; part < parts; part++)
			PMG_CALL(syrk_rows)(trans, pmg_blas_cut_triangle(n, part, parts),
					    pmg_blas_cut_triangle(n, part + 1, parts), k, alpha, a, lda, c, ldc);
		#pragma omp for schedule(static)
		for (int part = 0; part < parts; part++)
			PMG_CALL(mirror)(n - pmg_blas_cut_triangle(n, part + 1, parts),
					 n - pmg_blas_cut_triangle(n, part, parts), n, c, ldc);
	}
}
