/* SPDX-License-Identifier: MIT
 *
 * Arrays that lie on the device are used there: the same result as from the host, and nothing moved; those that have to
 * lie elsewhere are refused. test_buffers.py compiles it, with dsl_examples/life_dsc.pmg. */
#include "life_dsc.cu"

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

enum { ATOMS = 9, VOXELS = 40, FIBERS = 30, THETA = 96, COEFFS = 700, FEW_BYTES = 128 };

static int passed, failed;

static void check(bool ok, const char *what)
{
	ok ? passed++ : failed++;
	if (!ok)
		printf("%s\n", what);
}

struct problem {
	std::vector<int32_t> atom, voxel, fiber, coords;
	std::vector<double> value, D, w, Y;
	life_dsc_args args;
};

template <class T> static std::vector<int32_t> numbers(int64_t n, T limit, uint32_t seed)
{
	std::vector<int32_t> values((size_t) n);

	for (int32_t &value : values)
		value = (int32_t) ((seed = seed*1664525u + 1013904223u) % (uint32_t) limit);
	return values;
}

static std::vector<double> reals(int64_t n, uint32_t seed)
{
	std::vector<double> values((size_t) n);

	for (double &value : values)
		value = 0.5 + (seed = seed*1664525u + 1013904223u)/4294967296.0;
	return values;
}

template <class T> static pmg_buffer buffer(std::vector<T> &values, pmg_type type, int64_t rows, int64_t columns)
{
	const int64_t shape[] = { rows, columns };

	return pmg_dense(values.data(), type, columns ? 2 : 1, shape);
}

static void fill(problem *p)
{
	p->atom = numbers(COEFFS, ATOMS, 1);
	p->voxel = numbers(COEFFS, VOXELS, 2);
	p->fiber = numbers(COEFFS, FIBERS, 3);
	p->coords = numbers(3*VOXELS, 5, 4);
	p->value = reals(COEFFS, 5);
	p->D = reals(ATOMS*THETA, 6);
	p->w = reals(FIBERS, 7);
	p->Y.assign(VOXELS*THETA, -1);
	p->args = { ATOMS, VOXELS, FIBERS, THETA, COEFFS, buffer(p->atom, PMG_I32, COEFFS, 0),
		    buffer(p->voxel, PMG_I32, COEFFS, 0), buffer(p->fiber, PMG_I32, COEFFS, 0),
		    buffer(p->value, PMG_F64, COEFFS, 0), buffer(p->D, PMG_F64, ATOMS, THETA),
		    buffer(p->coords, PMG_I32, VOXELS, 3), buffer(p->w, PMG_F64, FIBERS, 0),
		    buffer(p->Y, PMG_F64, VOXELS, THETA) };
}

static void copy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind)
{
	check(cudaMemcpyAsync(to, from, bytes, kind, nullptr) == cudaSuccess &&
	      cudaStreamSynchronize(nullptr) == cudaSuccess, "a copy");
}

/* The buffer's bytes, `offset` behind where the device's memory begins; they stay until the end. */
static void to_device(pmg_buffer *buffer, size_t bytes, size_t offset)
{
	char *memory = nullptr;

	check(cudaMalloc(&memory, bytes + offset) == cudaSuccess, "cudaMalloc");
	copy(memory + offset, buffer->data, bytes, cudaMemcpyHostToDevice);
	buffer->data = memory + offset;
	buffer->device = PMG_CUDA;
}

template <class T> static void to_device(pmg_buffer *buffer, const std::vector<T> &values, size_t offset = 0)
{
	to_device(buffer, values.size()*sizeof(T), offset);
}

/* A plan that has executed once; NULL after a failure. */
static pmg_plan *executed(problem *p, pmg_context *context, pmg_status *status)
{
	pmg_options options = { };
	pmg_plan *plan = nullptr;

	options.context = context;
	options.threads = 1;
	*status = life_dsc_plan(&p->args, &options, &plan);
	if (*status == PMG_OK)
		*status = life_dsc_execute(plan, &p->args, nullptr);
	if (*status == PMG_OK)
		return plan;
	life_dsc_destroy(plan);
	return nullptr;
}

static void test_use()
{
	pmg_context *context = pmg_context_new(nullptr);
	pmg_status status;
	problem host, p;
	double most = 0;

	fill(&host);
	life_dsc_destroy(executed(&host, context, &status));
	check(status == PMG_OK, pmg_message(context));
	fill(&p);
	to_device(&p.args.D, p.D);
	to_device(&p.args.w, p.w);
	to_device(&p.args.Y, p.Y);
	pmg_plan *plan = executed(&p, context, &status);
	check(plan, pmg_message(context));
	if (!plan)
		return;
	const pmg_report first = *pmg_plan_report(plan);
	check(life_dsc_execute(plan, &p.args, nullptr) == PMG_OK, "a second one");
	const pmg_report *report = pmg_plan_report(plan);
	check(report->to_device - first.to_device <= FEW_BYTES, "no argument is moved to the device");
	check(report->from_device - first.from_device <= FEW_BYTES, "no result is moved from it");
	copy(p.Y.data(), p.args.Y.data, p.Y.size()*sizeof(double), cudaMemcpyDeviceToHost);
	for (size_t i = 0; i < p.Y.size(); i++)
		most = std::fmax(most, std::fabs(p.Y[i] - host.Y[i]));
	check(most < 1e-11, "the results are the host's");
	life_dsc_destroy(plan);
	pmg_context_free(context);
}

/* A plan goes on after an execution that was refused, which writes nothing. */
static void test_refused_in_between()
{
	pmg_context *context = pmg_context_new(nullptr);
	pmg_status status;
	problem p;

	fill(&p);
	pmg_plan *plan = executed(&p, context, &status);
	check(plan, pmg_message(context));
	if (!plan)
		return;
	const std::vector<double> Y = p.Y;
	const pmg_buffer w = p.args.w;
	to_device(&p.args.w, p.w, 8);
	p.Y.assign(p.Y.size(), -2);
	check(life_dsc_execute(plan, &p.args, nullptr) == PMG_BAD_CALL, "a misaligned array");
	check(p.Y == std::vector<double>(p.Y.size(), -2), "what is refused writes nothing");
	p.args.w = w;
	pmg_control again = { };
	again.budget = -1;
	again.same_buffers = true;
	check(life_dsc_execute(plan, &p.args, &again) == PMG_OK, pmg_message(context));
	check(p.Y == Y, "the plan goes on");
	life_dsc_destroy(plan);
	pmg_context_free(context);
}

/* What is refused, when the plan is made or when it is executed. */
template <class F> static void test_refusal(F change, pmg_status expected, const char *message)
{
	pmg_context *context = pmg_context_new(nullptr);
	pmg_status status;
	problem p;

	fill(&p);
	change(&p);
	life_dsc_destroy(executed(&p, context, &status));
	check(status == expected && strstr(pmg_message(context), message), pmg_message(context));
	pmg_context_free(context);
}

int main()
{
	test_use();
	test_refused_in_between();
	test_refusal([](problem *p) { to_device(&p->args.PHI_atom, p->atom); }, PMG_BAD_DATA,
		     "array 'PHI.atom' is on the device, but the plan reads it on the host");
	test_refusal([](problem *p) { to_device(&p->args.voxel_coords, p->coords); }, PMG_BAD_DATA,
		     "array 'voxel_coords' is on the device, but the plan reads it on the host");
	test_refusal([](problem *p) { to_device(&p->args.Y, p->Y); p->args.Y.strides[0] *= 2; }, PMG_BAD_DATA,
		     "array 'Y' is on the device, and must be row-major there");
	test_refusal([](problem *p) { to_device(&p->args.w, p->w, 8); }, PMG_BAD_CALL,
		     "do not begin at a multiple of 16 bytes");
	printf("%d passed, %d failed\n", passed, failed);
	return failed != 0;
}
