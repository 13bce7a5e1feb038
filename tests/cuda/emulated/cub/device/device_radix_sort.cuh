/* SPDX-License-Identifier: MIT
 *
 * CUB's sort of words on the processor, as far as runtime/pmgrt_cuda_inspect.h uses it: stable, by some bits. */
#ifndef PMG_TESTS_CUB_RADIX_SORT
#define PMG_TESTS_CUB_RADIX_SORT

#include <algorithm>

namespace cub {

template <class T> struct DoubleBuffer {
	T *buffers[2];

	DoubleBuffer(T *one, T *other) : buffers { one, other } {}
	T *Current() { return buffers[0]; }
	T *Alternate() { return buffers[1]; }
};

struct DeviceRadixSort {
	template <class T>
	static cudaError_t SortKeys(void *scratch, size_t &bytes, DoubleBuffer<T> &keys, int n, int low, int high,
				    cudaStream_t)
	{
		const T mask = (high >= 64 ? ~(T) 0 : ((T) 1 << high) - 1) & ~(((T) 1 << low) - 1);

		if (!scratch) {
			bytes = 1;
			return cudaSuccess;
		}
		emulated::access during;
		std::copy(keys.buffers[0], keys.buffers[0] + n, keys.buffers[1]);
		std::stable_sort(keys.buffers[1], keys.buffers[1] + n,
				 [=](T a, T b) { return (a & mask) < (b & mask); });
		std::swap(keys.buffers[0], keys.buffers[1]);
		return cudaSuccess;
	}
};

}

#endif
