/* SPDX-License-Identifier: MIT
 *
 * No time counts without a right result: each is compared with that of the naive code, element by element, within
 * n * eps * sum |terms| (Higham 2002, section 4.2), n being the terms of the element and eps that of the precision;
 * and the products must be adjoint, <M w, y> = <w, M' y>. */
#include "life/life.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "handtuned/life_layout.h"

int64_t life_out_count(const struct life_case *problem, enum life_op op)
{
	const struct life_tensor *t = &problem->tensor;
	return op == LIFE_DSC ? t->n_voxels * t->n_theta : t->n_fibers;
}

/* ---- The reference ------------------------------------------------------------------------ */

/* Sums of |terms|; each thread has some of the columns. */
static void dsc_magnitude(const struct life_case *problem, double *out)
{
	const struct life_tensor *t = &problem->tensor;
	const double *w = problem->w.data;
	memset(out, 0, (size_t) life_out_count(problem, LIFE_DSC) * sizeof(*out));
#pragma omp parallel for schedule(static)
	for (int64_t block = 0; block < t->n_theta; block += 32)
		for (int64_t k = 0; k < t->n_coeffs; k++) {
			double factor = fabs(t->value[k] * w[t->fiber[k]]);
			for (int64_t i = block; i < block + 32 && i < t->n_theta; i++)
				out[t->voxel[k] * t->n_theta + i] += factor * fabs(t->D[t->atom[k] * t->n_theta + i]);
		}
}

static void wc_magnitude(const struct life_case *problem, double *out)
{
	const struct life_tensor *t = &problem->tensor;
	const double *Y = problem->Y.data;
	memset(out, 0, (size_t) t->n_fibers * sizeof(*out));
#pragma omp parallel for schedule(static)
	for (int64_t k = 0; k < t->n_coeffs; k++) {
		double sum = 0;
		for (int64_t i = 0; i < t->n_theta; i++)
			sum += fabs(t->D[t->atom[k] * t->n_theta + i] * Y[t->voxel[k] * t->n_theta + i]);
#pragma omp atomic
		out[t->fiber[k]] += fabs(t->value[k]) * sum;
	}
}

bool life_naive_product(const struct life_case *problem, enum life_op op, const double *in, double *out,
			struct failure *failure)
{
	char error[200] = "";
	struct life_cpu *cpu = life_cpu_new(&problem->tensor);
	struct life_call call = { .version = life_version_named("cpu_naive", strlen("cpu_naive")), .op = op,
				  .order = LIFE_UNSORTED, .threads = 1 };
	bool ok = cpu && life_call_prepare(cpu, &call, NULL, error, sizeof(error));
	if (ok)
		life_call_run(&call, in, out);
	life_call_release(&call);
	life_cpu_free(cpu);
	return ok || fail(failure, OUTCOME_RESOURCES, "the reference: %s", error);
}

bool life_reference_make(const struct life_case *problem, struct life_reference *reference,
			 struct failure *failure)
{
	const struct life_tensor *t = &problem->tensor;
	*reference = (struct life_reference){ 0 };
	for (int op = 0; op < LIFE_OPS; op++) {
		int64_t n = life_out_count(problem, (enum life_op) op);
		reference->result[op] = life_memory(n, sizeof(double));
		reference->magnitude[op] = life_memory(n, sizeof(double));
		reference->terms[op] = calloc((size_t) (op == LIFE_DSC ? t->n_voxels : t->n_fibers) + 1,
					      sizeof(double));
		if (!reference->result[op] || !reference->magnitude[op] || !reference->terms[op])
			return fail_memory(failure, "the reference");
		if (!life_naive_product(problem, (enum life_op) op,
					op == LIFE_DSC ? problem->w.data : problem->Y.data, reference->result[op],
					failure))
			return false;
	}
	dsc_magnitude(problem, reference->magnitude[LIFE_DSC]);
	wc_magnitude(problem, reference->magnitude[LIFE_WC]);
	for (int64_t k = 0; k < t->n_coeffs; k++) {
		reference->terms[LIFE_DSC][t->voxel[k]]++;
		reference->terms[LIFE_WC][t->fiber[k]] += (double) t->n_theta;
	}
	return true;
}

void life_reference_free(struct life_reference *reference)
{
	for (int op = 0; op < LIFE_OPS; op++) {
		free(reference->result[op]);
		free(reference->magnitude[op]);
		free(reference->terms[op]);
	}
}

/* ---- A row ------------------------------------------------------------------------------------ */

/* Of the least precise number that a version works with. */
static double eps_of(const char *precision)
{
	return strcmp(precision, "f64top") == 0 ? 0x1p-20 : strcmp(precision, "f32") == 0 ? 0x1p-23 : 0x1p-52;
}

/* Sets error and bound; the element that is worst. */
static int64_t compare(const struct life_reference *reference, struct life_row *row, const double *out)
{
	enum life_op op = row->op;
	int64_t n = life_out_count(row->problem, op), worst = -1;
	int64_t width = op == LIFE_DSC ? row->problem->tensor.n_theta : 1;
	double eps = eps_of(row->row.record.precision);
	double above = 0, below = 0, most = 0;
	for (int64_t i = 0; i < n; i++) {
		double expected = reference->result[op][i], difference = fabs(out[i] - expected);
		double bound = (reference->terms[op][i / width] + 2) * eps * reference->magnitude[op][i];
		double share = difference > 0 || isnan(difference) ? difference / bound : 0;
		above += difference * difference;
		below += expected * expected;
		if (isnan(share) || share > most)
			worst = i;
		most = isnan(share) ? INFINITY : fmax(most, share);
	}
	row->row.record.error = below > 0 ? sqrt(above / below) : sqrt(above);
	row->row.record.bound = most;
	return worst;
}

static double product(const double *a, const double *b, int64_t n)
{
	long double sum = 0;
	for (int64_t i = 0; i < n; i++)
		sum += (long double) a[i] * b[i];
	return (double) sum;
}

bool life_check_row(const struct life_reference *reference, struct life_row *row, struct failure *failure)
{
	double seconds;
	const struct life_case *problem = row->problem;
	int64_t n = life_out_count(problem, row->op);
	memset(row->out, 0xff, (size_t) n * sizeof(double));
	if (!life_gpu_store(row) || !row->row.run(row, &seconds, failure))
		return false;
	if (!life_gpu_fetch(row))
		return fail(failure, OUTCOME_RESOURCES, "a result cannot be fetched from the device");
	int64_t worst = compare(reference, row, row->out);
	row->product = product(row->out, row->op == LIFE_DSC ? problem->Y.data : problem->w.data, n);
	if (row->row.record.bound <= 1)
		return true;
	return fail(failure, OUTCOME_NUMERICAL,
		    "%s of %s %s: element %lld is %.17g, but %.17g by the naive code, beyond n*eps*sum|terms|",
		    life_op_name(row->op), row->row.record.version, row->row.record.algorithm, (long long) worst,
		    row->out[worst], reference->result[row->op][worst]);
}

static bool is_same_version(const struct record *a, const struct record *b)
{
	return strcmp(a->version, b->version) == 0 && strcmp(a->algorithm, b->algorithm) == 0;
}

void life_check_adjoint(const life_row_list *rows)
{
	for (int i = 0; i < rows->n; i++)
		for (int j = 0; j < rows->n; j++) {
			struct life_row *a = rows->items[i];
			const struct life_row *b = rows->items[j];
			double most = fmax(fabs(a->product), fabs(b->product));
			if (a->op != b->op && is_same_version(&a->row.record, &b->row.record))
				a->row.record.adjoint = most > 0 ? fabs(a->product - b->product) / most : 0;
		}
}
