/* SPDX-License-Identifier: MIT
 *
 * What does the interpreter of kernel trees say of small kernels that are wrong in one way each, and of such that are
 * right? The plan has arrays a (read only), b (a result) and c (for the kernel), each of 8 doubles, and n is 8.
 * Not with sanitizers: threads have stacks of their own. */
#include <stdio.h>
#include <string.h>

#include "kernel/quoted.h"
#include "kernel/run.h"

enum { N = 8 };

struct plan {
	double a[N], b[N], c[N];
};

static bool give_array(void *user, int64_t number, struct k_run_array *array)
{
	struct plan *plan = user;
	double *const data[] = { plan->a, plan->b, plan->c };

	if (number < 0 || number > 2)
		return false;
	*array = (struct k_run_array) { .data = data[number], .bytes = N*sizeof(double), .type = TYPE_F64,
					.is_const = number == 0, .is_set = number == 0, .is_result = number == 1 };
	return true;
}

static bool give_argument(void *user, const char *name, struct k_run_number *value)
{
	(void) user;
	value->integer = N;
	return !strcmp(name, "n");
}

static bool give_size(void *user, int64_t number, int64_t *size)
{
	(void) user, (void) number, (void) size;
	return false;
}

static bool give_place(void *user, int64_t number, struct k_run_place *place)
{
	(void) user, (void) number, (void) place;
	return false;
}

static bool call(void *user, const char *function, const struct k_run_number *args, int n, struct k_run_number *result)
{
	(void) user, (void) function, (void) args, (void) n, (void) result;
	return false;
}

struct sample {
	const char *body;               /* behind declarations of n, a, b and c */
	const char *says;               /* a part of what is told; NULL: the kernel is right */
};

#define FOR "for (int64_t i = 0; i < n; i++) {\n"
#define SIMD "#pragma omp simd\n"
#define SHARED "#pragma omp parallel for schedule(static) num_threads(3)\n"
#define OF_TEAM "#pragma omp for schedule(static)\n"
#define TEAM "#pragma omp parallel num_threads(2)\n{\n"

static const struct sample samples[] = {
	{ FOR "b[i] = a[i];\n}\n", NULL },
	{ FOR "b[i] = a[i + 1];\n}\n", "reads element 8 of 8" },
	{ "for (int64_t i = n - 1; i >= 0; i--) {\nb[i - 1] = a[i];\n}\n", "writes element -1 of 8" },
	{ "a[0] = 1.0;\n", "which is const" },
	{ "b[0] = c[1];\n", "never written" },
	{ "c[0] = c[1];\n", NULL },
	{ "double x;\nb[0] = x;\n", "never written" },
	{ "double x;\nif (x > 0.0) {\nb[0] = 1.0;\n}\n", "the condition has a value that was never written" },
	{ "int64_t k;\nb[0] = a[k];\n", "was never written" },
	{ "b[0] = a[n/(n - 8)];\n", "division of integers by zero" },
	{ "b[0] = a[INT64_MAX + n];\n", "64 bits are too few" },
	{ "while (n > 0) {\nc[0] = 1.0;\n}\n", "no end" },
	/* lanes of vectors */
	{ SIMD FOR "c[i] = a[i];\n}\n", NULL },
	{ SIMD FOR "c[0] = a[i];\n}\n", "another iteration or thread" },
	{ "c[0] = 0.0;\n" SIMD "for (int64_t i = 1; i < n; i++) {\nc[i] = c[i - 1];\n}\n", "another iteration" },
	{ "double s = 0.0;\n" SIMD FOR "s += a[i];\n}\nb[0] = s;\n", "'s'" },
	{ "double s = 0.0;\n#pragma omp simd reduction(+:s)\n" FOR "s += a[i];\n}\nb[0] = s;\n",
	  NULL },
	/* threads */
	{ SHARED FOR "c[i] = a[i];\n}\n", NULL },
	{ SHARED FOR "c[i/2] = a[i];\n}\n", "another iteration or thread" },
	{ "c[0] = 0.0;\n" SHARED FOR "#pragma omp atomic\nc[0] += a[i];\n}\nb[0] = c[0];\n", NULL },
	{ "c[0] = 0.0;\n" SHARED FOR "c[0] += a[i];\n}\n", "another iteration or thread" },
	/* what is the thread's own */
	{ TEAM "double *own = c + 4*pmg_thread();\nown[0] = 0.0;\n"
	  OF_TEAM FOR "own[0] += a[i];\n}\n"
	  OF_TEAM "for (int64_t i = 0; i < 2; i++) {\nb[i] = c[4*i];\n}\n}\n", NULL },
	{ TEAM "double *own = c + 4*pmg_thread();\nown[0] = 0.0;\n"
	  "b[pmg_thread()] = c[4 - 4*pmg_thread()];\n}\n", "" },
	{ TEAM "if (pmg_thread() == 0) {\n" OF_TEAM FOR "c[i] = 0.0;\n}\n}\n}\n", "not all threads reach" },
	/* vectors */
	{ "pmg_vector_f64 x[2];\nPMG_UNROLL\nfor (int64_t j = 0; j < 2; j++) {\nx[j] = PMG_READ_F64(a[4*j]);\n}\n"
	  "PMG_WRITE_F64(b[0]) = x[0] + x[1]*2.0;\n", NULL },
	{ "PMG_WRITE_F64(b[5]) = PMG_FILL_F64(1.0);\n", "writes element 8 of 8" },
	{ "b[0] = PMG_READ_F64(c[0])[1];\n", "never written" },
	{ "b[0] = no_such_function(1);\n", "no_such_function" },
	/* lanes of a device */
	{ "PMG_LAUNCH(plan, with_barrier, 1, 8, n, c, b);\n", NULL },
	{ "PMG_LAUNCH(plan, without_barrier, 1, 8, n, c, b);\n", "" },
	{ "PMG_LAUNCH(plan, with_barrier, 2, 8, n, c, b);\n", "another iteration or thread" },
	{ "PMG_LAUNCH(plan, for_some, 1, 8, n, c, b);\n", "" },
};

/* Every line inside of a function begins with a tab. */
static const char *indented(struct arena *arena, const char *body)
{
	struct str out = str_new(arena);

	while (*body) {
		const size_t length = strcspn(body, "\n") + 1;

		str_add(&out, "\t%.*s", (int) length, body);
		body += length;
	}
	return str_text(&out);
}

#define KERNEL(name) \
	"\nstatic __global__ void " name "(int64_t n, double *__restrict__ c, double *__restrict__ b)\n{\n" \
	"\tPMG_TEAM(8, 8, 1);\n"
#define LANES "\tfor (int64_t i = pmg_lane; i < n; i += pmg_team) {\n"
#define FIRST LANES "\t\tc[i] = 1.0;\n\t}\n"
#define THEN LANES "\t\tb[i] = c[n - 1 - i];\n\t}\n}\n"

static const char kernels[] = KERNEL("with_barrier") FIRST "\tPMG_TEAM_SYNC;\n" THEN
			      KERNEL("without_barrier") FIRST THEN
			      KERNEL("for_some") FIRST "\tif (pmg_lane > 0) {\n\t\tPMG_TEAM_SYNC;\n\t}\n" THEN;

static struct k_run_result run_sample(struct arena *arena, const char *body, const char **error)
{
	const struct k_run_host host = { .user = arena_new(arena, struct plan), .threads = 3, .vector_bytes = 32,
					 .most_statements = 10000, .array = give_array, .size = give_size,
					 .place = give_place, .argument = give_argument, .call = call };
	const char *text = arena_printf(arena, "%s\n"
					"static pmg_status kernel(pmg_plan *plan, const void *arguments)\n{\n"
					"\tconst sample_args *args = arguments;\n\tconst int64_t n = args->n;\n"
					"\tconst double *restrict a = plan->data[0];\n"
					"\tdouble *restrict b = plan->data[1];\n"
					"\tdouble *restrict c = plan->data[2];\n%s\treturn PMG_OK;\n}\n",
					kernels, indented(arena, body));
	const struct k_program *program = quoted_text(arena, text, error);

	return program ? k_run(program, "kernel", &host, arena) : (struct k_run_result) { .end = K_RUN_UNKNOWN };
}

static bool check(const struct sample *sample)
{
	struct arena arena = { 0 };
	const char *error = NULL;
	const struct k_run_result result = run_sample(&arena, sample->body, &error);
	const bool is_right = result.end == K_RUN_WHOLE;
	const bool holds = !error && (sample->says ? !is_right && strstr(result.text, sample->says) : is_right);

	if (!holds)
		printf("%sis said to be: %s\n", sample->body, error ? error : is_right ? "right" : result.text);
	arena_release(&arena);
	return holds;
}

int main(void)
{
	int passed = 0, failed = 0;

	for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
		if (check(&samples[i]))
			passed++;
		else
			failed++;
	printf("%d passed, %d failed\n", passed, failed);
	return failed != 0;
}
