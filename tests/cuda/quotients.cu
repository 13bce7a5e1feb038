/* SPDX-License-Identifier: MIT
 *
 * Quotients of lanes without a branch (runtime/pmgrt_cuda_block.h) beside those of the processor: of random bits, which
 * have all exponents, subnormal numbers, infinities and NaN; of numbers near 1; of numbers next to powers of two; and
 * of ends of the range. */
#include <limits>
#include <stdio.h>
#include <string.h>

#include <pmgrt_cuda.h>

enum { COUNT = 1 << 18 };

typedef std::numeric_limits<double> limits;

struct numbers {
	double *a, *b, *quotient;
};

static __global__ void divide(struct numbers in)
{
	const int64_t i = (int64_t) blockIdx.x*blockDim.x + threadIdx.x;

	in.quotient[i] = PMG_QUOTIENT(in.a[i], in.b[i]);
}

static uint64_t drawn(uint64_t *state)
{
	*state = *state*6364136223846793005ULL + 1442695040888963407ULL;
	return *state >> 32 ^ *state;
}

static double random_bits(uint64_t *state)
{
	const uint64_t bits = drawn(state);
	double number;

	memcpy(&number, &bits, sizeof number);
	return number;
}

static double near_one(uint64_t *state)
{
	const double number = 1 + (double) (drawn(state) >> 11)*0x1p-53;

	return drawn(state) % 2 ? number : -number;
}

static double near_power(uint64_t *state)
{
	const double units = (double) (drawn(state) % 64)*0x1p-53, number = 1 + (drawn(state) % 2 ? 2*units : -units);

	return ldexp(number, (int) (drawn(state) % 100) - 50);
}

static double end_of_range(uint64_t *state)
{
	const double ends[] = { 0, 1, limits::denorm_min(), limits::min(), 2*limits::min(), limits::max()/4,
				limits::max()/2, limits::max(), limits::infinity(), limits::quiet_NaN() };
	const double number = ends[drawn(state) % (sizeof ends/sizeof ends[0])];

	return drawn(state) % 2 ? number : -number;
}

static bool is_of_ones(double b)
{
	int exponent;

	return fabs(frexp(b, &exponent)) == 1 - 0x1p-53;
}

/* Equal, or, where the last bit may differ, a unit apart. */
static bool is_right(double a, double b, double quotient)
{
	const double expected = a/b, size = fabs(expected), small = limits::min()/limits::epsilon()/limits::epsilon();
	const bool may_differ = (size < small || fabs(a) < small || is_of_ones(b)) && size <= limits::max();

	if (isnan(expected))
		return isnan(quotient);
	return signbit(quotient) == signbit(expected) &&
	       (may_differ ? fabs(quotient - expected) <= size*limits::epsilon() + limits::denorm_min()
			   : quotient == expected);
}

static int failures_of(double (*draw)(uint64_t *), const char *name)
{
	struct numbers on_device;
	double *a = new double[COUNT], *b = new double[COUNT], *quotient = new double[COUNT];
	const size_t bytes = COUNT*sizeof *a;
	uint64_t state = 7;
	int failures = 0;

	for (int i = 0; i < COUNT; i++)
		a[i] = draw(&state), b[i] = draw(&state);
	cudaMalloc(&on_device.a, bytes), cudaMalloc(&on_device.b, bytes), cudaMalloc(&on_device.quotient, bytes);
	cudaMemcpyAsync(on_device.a, a, bytes, cudaMemcpyHostToDevice, (cudaStream_t) 0);
	cudaMemcpyAsync(on_device.b, b, bytes, cudaMemcpyHostToDevice, (cudaStream_t) 0);
	PMG_CUDA_START(divide, COUNT/128, 128, 0, (cudaStream_t) 0, on_device);
	cudaMemcpyAsync(quotient, on_device.quotient, bytes, cudaMemcpyDeviceToHost, (cudaStream_t) 0);
	cudaStreamSynchronize((cudaStream_t) 0);
	for (int i = 0; i < COUNT; i++)
		if (!is_right(a[i], b[i], quotient[i]) && failures++ < 5)
			printf("%s: %a/%a is %a and not %a\n", name, a[i], b[i], a[i]/b[i], quotient[i]);
	cudaFree(on_device.a), cudaFree(on_device.b), cudaFree(on_device.quotient);
	delete[] a, delete[] b, delete[] quotient;
	return failures > 0;
}

int main()
{
	const int failed = failures_of(random_bits, "random bits") + failures_of(near_one, "near 1")
		+ failures_of(near_power, "near powers of two") + failures_of(end_of_range, "ends of the range");

	printf("%d passed, %d failed\n", 4 - failed, failed);
	return failed > 0;
}
