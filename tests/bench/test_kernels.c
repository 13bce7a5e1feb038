/* SPDX-License-Identifier: MIT
 *
 * Hand-written kernels against the interpreter: every version in every order, partition and instruction set, on small
 * random problems with repeated and missing voxels, atoms and fibers, and with weights that are zero. And the arrays
 * that all kernels work on. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "handtuned/life_cpu.h"
#include "handtuned/life_layout.h"
#include "run/run.h"
#include "tally.h"

enum { MOST_COEFFS = 400 };

struct problem {
	struct life_tensor tensor;
	int32_t atom[MOST_COEFFS], voxel[MOST_COEFFS], fiber[MOST_COEFFS], coords[3 * MOST_COEFFS];
	double value[MOST_COEFFS], *D, *w, *Y;
	double *result[LIFE_OPS]; /* by the interpreter */
	struct interp_weight *weights[LIFE_OPS];
};

/* ---- Problems ------------------------------------------------------------------------- */

static double draw(unsigned *seed)
{
	return rand_r(seed) / (RAND_MAX + 1.0);
}

static double *draw_reals(int64_t n, unsigned *seed)
{
	double *values = life_memory(n, sizeof(*values));
	for (int64_t i = 0; values && i < n; i++)
		values[i] = 2 * draw(seed) - 1;
	return values;
}

static int32_t draw_below(int64_t n, unsigned *seed)
{
	return (int32_t) (draw(seed) * (double) n);
}

/* `zeros`: share of the weights that are zero. */
static void make(struct problem *p, int64_t n_coeffs, int64_t n_theta, double zeros, unsigned seed)
{
	struct life_tensor *t = &p->tensor;
	*t = (struct life_tensor){ .n_atoms = 17, .n_voxels = 23, .n_fibers = 19, .n_theta = n_theta,
				   .n_coeffs = n_coeffs, .atom = p->atom, .voxel = p->voxel, .fiber = p->fiber,
				   .value = p->value };
	for (int64_t k = 0; k < n_coeffs; k++) {
		p->atom[k] = draw_below(t->n_atoms, &seed);
		p->voxel[k] = draw_below(t->n_voxels / 2, &seed) * 2;
		p->fiber[k] = draw_below(t->n_fibers, &seed);
		p->value[k] = 2 * draw(&seed) - 1;
	}
	for (int64_t i = 0; i < 3 * t->n_voxels; i++)
		p->coords[i] = draw_below(5, &seed);
	t->coords = seed % 2 ? p->coords : NULL;
	t->D = p->D = draw_reals(t->n_atoms * n_theta, &seed);
	p->w = draw_reals(t->n_fibers, &seed);
	p->Y = draw_reals(t->n_voxels * n_theta, &seed);
	for (int64_t f = 0; f < t->n_fibers; f++)
		if (draw(&seed) < zeros)
			p->w[f] = 0;
}

static void discard(struct problem *p)
{
	free(p->D);
	free(p->w);
	free(p->Y);
	for (int op = 0; op < LIFE_OPS; op++) {
		free(p->result[op]);
		free(p->weights[op]);
	}
}

static int64_t out_count(const struct problem *p, enum life_op op)
{
	return op == LIFE_DSC ? p->tensor.n_voxels * p->tensor.n_theta : p->tensor.n_fibers;
}

/* ---- The interpreter --------------------------------------------------------------------- */

static bool bind(struct session *s, const char *name, pmg_type type, int rank, int64_t rows, int64_t columns,
		 const void *data, struct failure *failure)
{
	struct ndarray array = { .type = type, .rank = rank, .shape = { rows, columns } };
	array.data = (void *) (uintptr_t) data;
	return bind_memory(s, name, &array, failure);
}

static bool bind_problem(struct session *s, const struct problem *p, enum life_op op, struct failure *failure)
{
	const struct life_tensor *t = &p->tensor;
	word_list words = { 0 };
	vec_push(s->arena, &words, arena_printf(s->arena, "nVoxels=%lld", (long long) t->n_voxels));
	vec_push(s->arena, &words, arena_printf(s->arena, "nFibers=%lld", (long long) t->n_fibers));
	return bind(s, "PHI.atom", PMG_I32, 1, t->n_coeffs, 0, t->atom, failure) &&
	       bind(s, "PHI.voxel", PMG_I32, 1, t->n_coeffs, 0, t->voxel, failure) &&
	       bind(s, "PHI.fiber", PMG_I32, 1, t->n_coeffs, 0, t->fiber, failure) &&
	       bind(s, "PHI.value", PMG_F64, 1, t->n_coeffs, 0, t->value, failure) &&
	       bind(s, "D", PMG_F64, 2, t->n_atoms, t->n_theta, t->D, failure) &&
	       (op == LIFE_DSC ? bind(s, "w", PMG_F64, 1, t->n_fibers, 0, p->w, failure)
			       : bind(s, "Y", PMG_F64, 2, t->n_voxels, t->n_theta, p->Y, failure)) &&
	       session_bind(s, &words, 0, failure);
}

static bool interpret(struct problem *p, enum life_op op, struct failure *failure)
{
	struct arena arena = { 0 };
	struct session s = { .arena = &arena, .values = run_values_default() };
	struct results results = { 0 };
	struct timing timing;
	size_t n = (size_t) out_count(p, op), bytes = n * sizeof(double);
	bool ok = session_open(&s, op == LIFE_DSC ? "dsl_examples/life_dsc.pmg" : "dsl_examples/life_wc.pmg",
			       failure) &&
		  bind_problem(&s, p, op, failure) && results_new(&s, &results, failure);
	int n_arrays = ok ? s.module->arrays.n : 0;
	struct interp_weight **weights = arena_new_array(&arena, struct interp_weight *, n_arrays + 1);
	ok = ok && interpreter_run(&s, &results, weights, &timing, failure);
	p->result[op] = malloc(bytes);
	p->weights[op] = malloc(n * sizeof(struct interp_weight));
	for (int i = 0; ok && i < s.arguments.n; i++)
		if (argument_is_written(&s.arguments.items[i])) {
			memcpy(p->result[op], results.arrays[i].data, bytes);
			memcpy(p->weights[op], weights[s.arguments.items[i].array->number],
			       n * sizeof(struct interp_weight));
		}
	results_free(&s, &results);
	session_free(&s);
	arena_release(&arena);
	return ok;
}

/* ---- Comparing ----------------------------------------------------------------------------- */

static bool is_right(const struct problem *p, const struct life_call *call, const double *out)
{
	double eps = call->version->code == LIFE_BEST_F32 ? 0x1p-23 : 0x1p-52;
	int64_t n = out_count(p, call->op);
	for (int64_t i = 0; i < n; i++) {
		double bound = MOST_COEFFS * eps * p->weights[call->op][i].magnitude;
		if (!(fabs(out[i] - p->result[call->op][i]) <= bound)) {
			fprintf(stderr, "%s, %s, op %d, %s+%s, %d threads, n_theta %lld: [%lld] is %.17g, not %.17g\n",
				call->version->name, call->kernels ? "kernel" : "", (int) call->op,
				life_partition_name(call->partition), life_order_name(call->order), call->threads,
				(long long) p->tensor.n_theta, (long long) i, out[i], p->result[call->op][i]);
			return false;
		}
	}
	return true;
}

static void check_call(struct tally *tally, const struct problem *p, struct life_cpu *cpu, struct life_call *call,
		       const char *isa)
{
	char error[200];
	int64_t n = out_count(p, call->op);
	double *out = life_memory(n, sizeof(*out));
	if (life_call_prepare(cpu, call, isa, error, sizeof(error))) {
		for (int64_t i = 0; i < n; i++)
			out[i] = NAN;
		life_call_run(call, call->op == LIFE_DSC ? p->w : p->Y, out);
		CHECK(tally, is_right(p, call, out));
	}
	life_call_release(call);
	free(out);
}

static void check_versions(struct tally *tally, const struct problem *p, const char *isa, int threads)
{
	struct life_cpu *cpu = life_cpu_new(&p->tensor);
	for (int v = 0; v < n_life_versions; v++)
		for (int op = 0; op < LIFE_OPS; op++)
			for (int cell = 0; cell < LIFE_ORDERS * LIFE_PARTITIONS; cell++) {
				struct life_call call = { .version = &life_versions[v], .op = (enum life_op) op,
							  .order = (enum life_order) (cell / LIFE_PARTITIONS),
							  .partition = (enum life_partition) (cell % LIFE_PARTITIONS),
							  .threads = threads };
				check_call(tally, p, cpu, &call, isa);
			}
	life_cpu_free(cpu);
}

static void check_problem(struct tally *tally, int64_t n_coeffs, int64_t n_theta, double zeros, unsigned seed)
{
	struct problem p = { 0 };
	struct failure failure = { 0 };
	make(&p, n_coeffs, n_theta, zeros, seed);
	bool ok = interpret(&p, LIFE_DSC, &failure) && interpret(&p, LIFE_WC, &failure);
	CHECK(tally, ok);
	if (!ok)
		fprintf(stderr, "%s\n", failure.text);
	for (int i = 0; ok && life_cpu_isa(i); i++)
		for (int threads = 1; threads <= 3; threads += 2)
			check_versions(tally, &p, life_cpu_isa(i), threads);
	discard(&p);
}

/* ---- Questions --------------------------------------------------------------------------------- */

static void all_versions_give_the_interpreters_results(struct tally *tally)
{
	static const int64_t directions[] = { 1, 7, 33, 64, 96, 288 };
	for (size_t i = 0; i < sizeof(directions) / sizeof(directions[0]); i++)
		check_problem(tally, MOST_COEFFS, directions[i], i % 2 ? 0.7 : 0.2, (unsigned) i + 1);
}

static void few_coefficients_are_enough(struct tally *tally)
{
	check_problem(tally, 1, 5, 0, 11);
	check_problem(tally, 3, 104, 1, 12);
}

static void impossible_cells_are_refused(struct tally *tally)
{
	struct problem p = { 0 };
	char error[200] = "";
	make(&p, 10, 3, 0, 7);
	struct life_cpu *cpu = life_cpu_new(&p.tensor);
	struct life_call call = { .version = life_version_named("cpu_opt", 7), .op = LIFE_DSC, .threads = 2,
				  .order = LIFE_BY_ATOM, .partition = LIFE_VOXEL };
	CHECK(tally, !life_call_prepare(cpu, &call, NULL, error, sizeof(error)) && strstr(error, "order"));
	life_call_release(&call);
	call.partition = LIFE_COEFF;
	CHECK(tally, !life_call_prepare(cpu, &call, NULL, error, sizeof(error)) && strstr(error, "atomic"));
	life_call_release(&call);
	CHECK(tally, !life_version_named("cpu", 3));
	life_cpu_free(cpu);
	discard(&p);
}

/* The borders that 4.2.1.2 of the thesis moves: the nearest end of a voxel, never inside one. */
static void exclusive_parts_end_with_voxels(struct tally *tally)
{
	static const int32_t voxel[] = { 0, 0, 0, 1, 1, 1, 1, 1, 2, 3 };
	struct life_tensor t = { .n_atoms = 1, .n_voxels = 4, .n_fibers = 1, .n_theta = 1, .n_coeffs = 10,
				 .voxel = voxel, .atom = voxel };
	int64_t *bounds = life_bounds(&t, LIFE_COEFF_EXCLUSIVE, 2);
	CHECK(tally, bounds[0] == 0 && bounds[1] == 3 && bounds[2] == 10);
	free(bounds);
	bounds = life_bounds(&t, LIFE_VOXEL, 2);
	CHECK(tally, bounds[0] == 0 && bounds[1] == 8 && bounds[2] == 10);
	free(bounds);
	bounds = life_bounds(&t, LIFE_COEFF, 2);
	CHECK(tally, bounds[0] == 0 && bounds[1] == 5 && bounds[2] == 10);
	free(bounds);
}

/* Generated kernels read what the tools hold: large arrays begin with a large page, and all begin as zeros. */
static void arrays_are_cleared_in_large_pages(struct tally *tally)
{
	const int64_t sizes[] = { 0, 1000, 1 << 18, (1 << 19) + 1 };
	struct failure failure;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (int again = 0; again < 2; again++) {
			struct ndarray array;
			CHECK(tally, ndarray_new(&array, PMG_F64, 1, &sizes[i], &failure));
			unsigned char *bytes = array.data, all = 0;
			for (size_t b = 0; b < ndarray_bytes(&array); b++)
				all |= bytes[b];
			CHECK(tally, all == 0);
			CHECK(tally, sizes[i] < 1 << 18 || (uintptr_t) bytes % (2 << 20) == 0);
			memset(bytes, 1, ndarray_bytes(&array));
			ndarray_free(&array);
		}
}

int main(void)
{
	struct tally tally = { 0 };
	arrays_are_cleared_in_large_pages(&tally);
	all_versions_give_the_interpreters_results(&tally);
	few_coefficients_are_enough(&tally);
	impossible_cells_are_refused(&tally);
	exclusive_parts_end_with_voxels(&tally);
	return tally_close(&tally);
}
