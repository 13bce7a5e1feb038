/* SPDX-License-Identifier: MIT
 *
 * Quotients of lanes without a branch (runtime/pmgrt_cuda_block.h) beside those of the processor: of random bits, which
 * have all exponents, subnormal numbers, infinities and NaN; of numbers near 1; and of ends of the range. */
#include <limits>
#include <stdio.h>
#include <string.h>

#include <pmgrt_cuda.h>

enum { COUNT = 1 << 18 };

template <class T> struct numbers {
	T *a, *b, *quotient;
};

template <class T> static __global__ void divide(struct numbers<T> in)
{
	const int64_t i = (int64_t) blockIdx.x*blockDim.x + threadIdx.x;

	in.quotient[i] = pmg_cuda_quotient(in.a[i], in.b[i]);
}

static uint64_t drawn(uint64_t *state)
{
	*state = *state*6364136223846793005ULL + 1442695040888963407ULL;
	return *state >> 32 ^ *state;
}

template <class T, class Bits> static T random_bits(uint64_t *state)
{
	const Bits bits = (Bits) drawn(state);
	T number;

	memcpy(&number, &bits, sizeof number);
	return number;
}

template <class T> static T near_one(uint64_t *state)
{
	const T number = 1 + (T) (drawn(state) >> 11)*(T) 0x1p-53;

	return drawn(state) % 2 ? number : -number;
}

template <class T> static T end_of_range(uint64_t *state)
{
	typedef std::numeric_limits<T> limits;
	const T ends[] = { 0, 1, limits::denorm_min(), limits::min(), 2*limits::min(), limits::max()/4, limits::max()/2,
			   limits::max(), limits::infinity(), limits::quiet_NaN() };
	const T number = ends[drawn(state) % (sizeof ends/sizeof ends[0])];

	return drawn(state) % 2 ? number : -number;
}

/* Equal, or, where the last bit may differ, a unit apart. */
template <class T> static bool is_right(T a, T b, T quotient)
{
	typedef std::numeric_limits<T> limits;
	const T expected = a/b, size = fabs(expected), small = limits::min()/(limits::epsilon()*limits::epsilon());

	if (isnan(expected) || isinf(expected) || (size >= small && fabs(a) >= small))
		return isnan(expected) ? isnan(quotient) : quotient == expected && signbit(quotient) == signbit(expected);
	return fabs(quotient - expected) <= size*limits::epsilon() + limits::denorm_min();
}

template <class T> static int failures_of(T (*draw)(uint64_t *), const char *name)
{
	numbers<T> on_device;
	T *a = new T[COUNT], *b = new T[COUNT], *quotient = new T[COUNT];
	uint64_t state = 7;
	int failures = 0;

	for (int i = 0; i < COUNT; i++)
		a[i] = draw(&state), b[i] = draw(&state);
	cudaMalloc(&on_device.a, COUNT*sizeof(T)), cudaMalloc(&on_device.b, COUNT*sizeof(T));
	cudaMalloc(&on_device.quotient, COUNT*sizeof(T));
	cudaMemcpyAsync(on_device.a, a, COUNT*sizeof(T), cudaMemcpyHostToDevice, (cudaStream_t) 0);
	cudaMemcpyAsync(on_device.b, b, COUNT*sizeof(T), cudaMemcpyHostToDevice, (cudaStream_t) 0);
	PMG_CUDA_START(divide<T>, COUNT/128, 128, 0, (cudaStream_t) 0, on_device);
	cudaMemcpyAsync(quotient, on_device.quotient, COUNT*sizeof(T), cudaMemcpyDeviceToHost, (cudaStream_t) 0);
	cudaStreamSynchronize((cudaStream_t) 0);
	for (int i = 0; i < COUNT; i++)
		if (!is_right(a[i], b[i], quotient[i]) && failures++ < 5)
			printf("%s: %a/%a is %a and not %a\n", name, (double) a[i], (double) b[i], (double) (a[i]/b[i]),
			       (double) quotient[i]);
	cudaFree(on_device.a), cudaFree(on_device.b), cudaFree(on_device.quotient);
	delete[] a, delete[] b, delete[] quotient;
	return failures > 0;
}

int main()
{
	const int failed = failures_of(random_bits<double, uint64_t>, "doubles of random bits")
		+ failures_of(random_bits<float, uint32_t>, "floats of random bits")
		+ failures_of(near_one<double>, "doubles near 1") + failures_of(near_one<float>, "floats near 1")
		+ failures_of(end_of_range<double>, "ends of doubles") + failures_of(end_of_range<float>, "ends of floats");

	printf("%d passed, %d failed\n", 6 - failed, failed);
	return failed > 0;
}
