/* SPDX-License-Identifier: MIT
 *
 * Calls of the BLAS in running kernel programs, as the runtime's CBLAS in row-major order: each element that is read or
 * written is one of memory. What is set, with beta = 0, is not read. */
#include "kernel/run_private.h"

#include <math.h>

enum { TRANS = 112 };

/* Element [i, j] is `row`*i + `column`*j behind the first one. */
struct matrix {
	struct run_value at;
	int64_t row, column;
};

static struct matrix matrix_of(const struct run_args *args, int i, int64_t row, int64_t column)
{
	struct matrix matrix = { args->value[i], row, column };

	matrix.at.element = args->element;
	return matrix;
}

/* Argument i, and behind it how far apart rows are, or elements of a vector. */
static struct matrix given(struct run *run, const struct run_args *args, int i, bool is_trans)
{
	const int64_t distance = run_arg(run, args, i + 1);

	return is_trans ? matrix_of(args, i, 1, distance) : matrix_of(args, i, distance, 1);
}

static struct run_value number(struct run *run, const struct run_args *args, int i)
{
	return run_converted(run, args->value[i], args->element);
}

static struct run_value get(struct run *run, const struct matrix *matrix, int64_t i, int64_t j)
{
	return run_load_at(run, matrix->at, i*matrix->row + j*matrix->column);
}

static void put(struct run *run, const struct matrix *matrix, int64_t i, int64_t j, struct run_value value)
{
	run_store_at(run, matrix->at, i*matrix->row + j*matrix->column, value);
}

static struct run_value product(struct run *run, struct run_value a, struct run_value b)
{
	return run->has_stopped ? a : run_binary(run, K_MUL, a, b);
}

static struct run_value sum(struct run *run, struct run_value a, struct run_value b)
{
	return run->has_stopped ? a : run_binary(run, K_ADD, a, b);
}

/* ---- matrices: c = alpha a b + beta c, of m x n elements, a of m x k ---- */

struct product {
	int64_t m, n, k;
	struct run_value alpha, beta;
	struct matrix a, b, c;
};

static void multiply(struct run *run, const struct product *p)
{
	for (int64_t i = 0; i < p->m; i++)
		for (int64_t j = 0; j < p->n && !run->has_stopped; j++) {
			struct run_value value = run_of_element(p->c.at.element, 0, 0);

			for (int64_t l = 0; l < p->k && !run->has_stopped; l++)
				value = sum(run, value, product(run, get(run, &p->a, i, l), get(run, &p->b, l, j)));
			value = product(run, p->alpha, value);
			if (run_real(&p->beta) != 0)
				value = sum(run, value, product(run, p->beta, get(run, &p->c, i, j)));
			put(run, &p->c, i, j, value);
		}
}

/* (transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, threads) */
static struct run_value call_gemm(struct run *run, const struct run_args *args)
{
	multiply(run, &(struct product) {
		run_arg(run, args, 2), run_arg(run, args, 3), run_arg(run, args, 4), number(run, args, 5),
		number(run, args, 10), given(run, args, 6, run_arg(run, args, 0) == TRANS),
		given(run, args, 8, run_arg(run, args, 1) == TRANS), given(run, args, 11, false)
	});
	return run_int(0);
}

/* (trans, m, n, alpha, a, lda, x, incx, beta, y, incy, threads) */
static struct run_value call_gemv(struct run *run, const struct run_args *args)
{
	const bool is_trans = run_arg(run, args, 0) == TRANS;

	multiply(run, &(struct product) {
		run_arg(run, args, is_trans ? 2 : 1), 1, run_arg(run, args, is_trans ? 1 : 2), number(run, args, 3),
		number(run, args, 8), given(run, args, 4, is_trans), given(run, args, 6, false),
		given(run, args, 9, false)
	});
	return run_int(0);
}

/* (m, n, alpha, x, incx, y, incy, a, lda, threads) */
static struct run_value call_ger(struct run *run, const struct run_args *args)
{
	multiply(run, &(struct product) {
		run_arg(run, args, 0), run_arg(run, args, 1), 1, number(run, args, 2),
		run_of_element(args->element, 1, 0), given(run, args, 3, false), given(run, args, 5, true),
		given(run, args, 7, false)
	});
	return run_int(0);
}

/* (trans, n, k, alpha, a, lda, c, ldc, threads): of all of c. */
static struct run_value call_syrk(struct run *run, const struct run_args *args)
{
	const bool is_trans = run_arg(run, args, 0) == TRANS;

	multiply(run, &(struct product) {
		run_arg(run, args, 1), run_arg(run, args, 1), run_arg(run, args, 2), number(run, args, 3),
		run_of_element(args->element, 0, 0), given(run, args, 4, is_trans), given(run, args, 4, !is_trans),
		given(run, args, 6, false)
	});
	return run_int(0);
}

/* (m, n, beta, d, row, column, c, ldc, threads): c = beta d. */
static struct run_value call_put(struct run *run, const struct run_args *args)
{
	const struct matrix d = matrix_of(args, 3, run_arg(run, args, 4), run_arg(run, args, 5));
	const struct matrix c = given(run, args, 6, false);
	const int64_t m = run_arg(run, args, 0), n = run_arg(run, args, 1);

	for (int64_t i = 0; i < m; i++)
		for (int64_t j = 0; j < n && !run->has_stopped; j++)
			put(run, &c, i, j, product(run, number(run, args, 2), get(run, &d, i, j)));
	return run_int(0);
}

/* ---- vectors ---- */

/* (n, alpha, x, incx, y, incy, threads) */
static struct run_value call_axpy(struct run *run, const struct run_args *args)
{
	const struct matrix x = given(run, args, 2, false), y = given(run, args, 4, false);

	for (int64_t i = 0; i < run_arg(run, args, 0) && !run->has_stopped; i++)
		put(run, &y, i, 0, sum(run, get(run, &y, i, 0),
				       product(run, number(run, args, 1), get(run, &x, i, 0))));
	return run_int(0);
}

/* (n, x, incx, y, incy, threads) */
static struct run_value call_copy(struct run *run, const struct run_args *args)
{
	const struct matrix x = given(run, args, 1, false), y = given(run, args, 3, false);

	for (int64_t i = 0; i < run_arg(run, args, 0) && !run->has_stopped; i++)
		put(run, &y, i, 0, get(run, &x, i, 0));
	return run_int(0);
}

/* (n, alpha, x, incx, threads) */
static struct run_value call_scal(struct run *run, const struct run_args *args)
{
	const struct matrix x = given(run, args, 2, false);

	for (int64_t i = 0; i < run_arg(run, args, 0) && !run->has_stopped; i++)
		put(run, &x, i, 0, product(run, number(run, args, 1), get(run, &x, i, 0)));
	return run_int(0);
}

/* (n, x, incx, y, incy, threads) */
static struct run_value call_dot(struct run *run, const struct run_args *args)
{
	const struct matrix x = given(run, args, 1, false), y = given(run, args, 3, false);
	struct run_value value = run_of_element(args->element, 0, 0);

	for (int64_t i = 0; i < run_arg(run, args, 0) && !run->has_stopped; i++)
		value = sum(run, value, product(run, get(run, &x, i, 0), get(run, &y, i, 0)));
	return value;
}

/* (n, x, incx, threads) */
static struct run_value call_asum(struct run *run, const struct run_args *args)
{
	const struct matrix x = given(run, args, 1, false);
	struct run_value value = run_of_element(args->element, 0, 0);

	for (int64_t i = 0; i < run_arg(run, args, 0) && !run->has_stopped; i++) {
		struct run_value one = get(run, &x, i, 0);

		one.real = fabs(one.real);
		value = sum(run, value, one);
	}
	return value;
}

/* ---- whether a call is made: (least, sizes and distances …), all of them at least 1 ---- */

static struct run_value call_takes(struct run *run, const struct run_args *args)
{
	double work = 1;
	bool fits = true;

	for (int i = 1; i < args->n; i++)
		fits &= run_arg(run, args, i) >= 1 && run_arg(run, args, i) <= INT32_MAX;
	for (int i = 1; i <= args->code; i++)
		work *= (double) run_arg(run, args, i);
	return run_of_element(TYPE_BOOL, 0, fits && work >= (double) run_arg(run, args, 0));
}

static struct run_value call_scales(struct run *run, const struct run_args *args)
{
	const double alpha = run_real(&args->value[0]);

	(void) run;
	return run_of_element(TYPE_BOOL, 0, alpha != 0 && isfinite(alpha));
}

const struct run_call run_blas_calls[] = {
	RUN_CALL("pmg_cblas_gemm", call_gemm, 0), RUN_CALL("pmg_cblas_gemv", call_gemv, 0),
	RUN_CALL("pmg_cblas_ger", call_ger, 0), RUN_CALL("pmg_cblas_syrk", call_syrk, 0),
	RUN_CALL("pmg_cblas_put", call_put, 0), RUN_CALL("pmg_cblas_axpy", call_axpy, 0),
	RUN_CALL("pmg_cblas_copy", call_copy, 0), RUN_CALL("pmg_cblas_scal", call_scal, 0),
	RUN_CALL("pmg_cblas_dot", call_dot, 0), RUN_CALL("pmg_cblas_asum", call_asum, 0),
	RUN_CALL("pmg_blas_takes_1", call_takes, 1), RUN_CALL("pmg_blas_takes_2", call_takes, 2),
	RUN_CALL("pmg_blas_takes_3", call_takes, 3), RUN_CALL("pmg_blas_scales", call_scales, 0),
	RUN_CALLS_END
};
