/* SPDX-License-Identifier: MIT
 *
 * The loop of the original: two products with M and one or two with M' in an iteration. A step and its mask are of the
 * gradient one iteration earlier; the update takes the present one. */
#include "life_solver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blas.h"
#include "life_layout.h"

struct life_solver {
	struct life_tensor tensor;      /* its values are of memory of its own */
	const double *y;
	struct life_cpu *cpu;
	struct life_call call[LIFE_OPS];
	struct blas blas;
	int64_t n_cells, n_fibers, iteration;
	double *scaled;                 /* values of the coefficients */
	double *x, *g, *before, *d, *q; /* [n_fibers]; the gradient now and one iteration earlier */
	double *v, *r;                  /* [n_cells] */
	double objective;
};

/* ---- Vectors ------------------------------------------------------------------------------- */

/* A share of a vector is not longer than BLAS can count. */
enum { MOST = 1 << 30 };

/* As many shares as threads, if they are not too long. */
static int64_t step_of(const struct life_solver *s, int64_t n)
{
	int64_t each = n / s->call[LIFE_DSC].threads + 1;
	return each < MOST ? each : MOST;
}

static int share_of(int64_t n, int64_t step, int64_t at)
{
	return (int) (n - at < step ? n - at : step);
}

static double dot(const struct life_solver *s, int64_t n, const double *a, const double *b)
{
	int64_t step = step_of(s, n);
	double sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum) num_threads(s->call[LIFE_DSC].threads)
	for (int64_t i = 0; i < n; i += step)
		sum += s->blas.ddot(share_of(n, step, i), a + i, 1, b + i, 1);
	return sum;
}

static void add(const struct life_solver *s, int64_t n, double factor, const double *a, double *to)
{
	int64_t step = step_of(s, n);
#pragma omp parallel for schedule(static) num_threads(s->call[LIFE_DSC].threads)
	for (int64_t i = 0; i < n; i += step)
		s->blas.daxpy(share_of(n, step, i), factor, a + i, 1, to + i, 1);
}

static bool is_held(const struct life_solver *s, int64_t f)
{
	return s->x[f] == 0 && s->g[f] > 0;
}

/* `to` is `from`, and 0 where a weight stays at its bound. */
static void mask(const struct life_solver *s, const double *from, double *to)
{
#pragma omp parallel for schedule(static) num_threads(s->call[LIFE_DSC].threads)
	for (int64_t f = 0; f < s->n_fibers; f++)
		to[f] = is_held(s, f) ? 0 : from[f];
}

static void project(const struct life_solver *s)
{
#pragma omp parallel for schedule(static) num_threads(s->call[LIFE_DSC].threads)
	for (int64_t f = 0; f < s->n_fibers; f++)
		s->x[f] = s->x[f] > 0 ? s->x[f] : 0;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

/* r = M x - y, and what follows from it. */
static void take_residual(struct life_solver *s)
{
	life_call_run(&s->call[LIFE_DSC], s->x, s->r);
	add(s, s->n_cells, -1, s->y, s->r);
	s->objective = 0.5 * dot(s, s->n_cells, s->r, s->r);
	life_call_run(&s->call[LIFE_WC], s->r, s->g);
}

static double step_length(struct life_solver *s)
{
	double above, below;
	if (s->iteration % 2 == 0) {
		life_call_run(&s->call[LIFE_WC], s->v, s->q);
		mask(s, s->q, s->q);
		above = dot(s, s->n_cells, s->v, s->v);
		below = dot(s, s->n_fibers, s->q, s->q);
	} else {
		above = dot(s, s->n_fibers, s->d, s->d);
		below = dot(s, s->n_cells, s->v, s->v);
	}
	return below > 0 ? above / below : 0;
}

void life_solver_step(struct life_solver *s)
{
	mask(s, s->before, s->d);
	life_call_run(&s->call[LIFE_DSC], s->d, s->v);
	double length = step_length(s);
	memcpy(s->before, s->g, (size_t) s->n_fibers * sizeof(*s->g));
	add(s, s->n_fibers, -length, s->g, s->x);
	project(s);
	take_residual(s);
	s->iteration++;
}

/* ---- Making ------------------------------------------------------------------------------------ */

/* values / h, with h the sums over a fiber's coefficients of value^2 |D_a|^2. */
static bool precondition(struct life_solver *s)
{
	const struct life_tensor *t = &s->tensor;
	double *norm = calloc((size_t) t->n_atoms + 1, sizeof(*norm));
	double *h = calloc((size_t) t->n_fibers + 1, sizeof(*h));
	bool ok = norm && h;
	for (int64_t i = 0; ok && i < t->n_atoms * t->n_theta; i++)
		norm[i / t->n_theta] += t->D[i] * t->D[i];
	for (int64_t k = 0; ok && k < t->n_coeffs; k++)
		h[t->fiber[k]] += t->value[k] * t->value[k] * norm[t->atom[k]];
	for (int64_t k = 0; ok && k < t->n_coeffs; k++)
		s->scaled[k] = t->value[k] / h[t->fiber[k]];
	free(norm);
	free(h);
	s->tensor.value = s->scaled;
	return ok;
}

static bool make_vectors(struct life_solver *s)
{
	double **vectors[] = { &s->x, &s->g, &s->before, &s->d, &s->q, &s->v, &s->r, &s->scaled };
	for (int i = 0; i < 8; i++) {
		int64_t n = i == 7 ? s->tensor.n_coeffs : i < 5 ? s->n_fibers : s->n_cells;
		*vectors[i] = life_memory(n, sizeof(double));
		if (!*vectors[i])
			return false;
		memset(*vectors[i], 0, (size_t) n * sizeof(double));
	}
	return true;
}

static bool prepare(struct life_solver *s, const struct life_version *version, int threads, const char *isa,
		    char *error, size_t size)
{
	bool ok = true;
	s->cpu = life_cpu_new(&s->tensor);
	for (int op = 0; ok && s->cpu && op < LIFE_OPS; op++) {
		s->call[op] = (struct life_call){ .version = version, .op = (enum life_op) op,
						  .order = version->order[op], .partition = version->partition[op],
						  .threads = threads };
		ok = life_call_prepare(s->cpu, &s->call[op], isa, error, size);
	}
	return ok && s->cpu;
}

struct life_solver *life_solver_new(const struct life_tensor *tensor, const double *y,
				    const struct life_version *version, int threads, const char *isa, char *error,
				    size_t size)
{
	struct life_solver *s = calloc(1, sizeof(*s));
	snprintf(error, size, "not enough memory");
	if (!s)
		return NULL;
	*s = (struct life_solver){ .tensor = *tensor, .y = y, .n_fibers = tensor->n_fibers,
				   .n_cells = tensor->n_voxels * tensor->n_theta };
	if (!make_vectors(s) || !precondition(s) || !prepare(s, version, threads, isa, error, size)) {
		life_solver_free(s);
		return NULL;
	}
	if (!blas_open(&s->blas)) {
		snprintf(error, size, "no BLAS is installed (package libopenblas0)");
		life_solver_free(s);
		return NULL;
	}
	take_residual(s);
	memcpy(s->before, s->g, (size_t) s->n_fibers * sizeof(*s->g));
	return s;
}

/* ---- Telling ------------------------------------------------------------------------------------- */

double life_solver_objective(const struct life_solver *s)
{
	return s->objective;
}

int64_t life_solver_live(const struct life_solver *s)
{
	int64_t n = 0;
	for (int64_t f = 0; f < s->n_fibers; f++)
		n += s->x[f] > 0;
	return n;
}

double life_solver_seconds(const struct life_solver *s)
{
	return s->call[LIFE_DSC].seconds + s->call[LIFE_WC].seconds;
}

size_t life_solver_bytes(const struct life_solver *s)
{
	size_t vectors = (size_t) (5 * s->n_fibers + 2 * s->n_cells) * sizeof(double);
	return s->call[LIFE_DSC].bytes + s->call[LIFE_WC].bytes + vectors;
}

void life_solver_free(struct life_solver *s)
{
	if (!s)
		return;
	for (int op = 0; op < LIFE_OPS; op++)
		life_call_release(&s->call[op]);
	life_cpu_free(s->cpu);
	blas_close(&s->blas);
	free(s->x);
	free(s->g);
	free(s->before);
	free(s->d);
	free(s->q);
	free(s->v);
	free(s->r);
	free(s->scaled);
	free(s);
}
