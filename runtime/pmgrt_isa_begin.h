/* SPDX-License-Identifier: MIT
 *
 * Before the kernels of a generated file that is read once for each instruction set, PMG_ISA being one of 0 (that of
 * the command line), 1 (AVX2) and 2 (AVX-512): PMG_KERNEL names the functions for it, vectors get its width, and the
 * compiler uses its instructions, also in the functions that it makes of parallel loops. No include guard: it is there
 * to be included again. pmgrt_isa_end.h ends it. */
#if PMG_ISA == 0
#define PMG_KERNEL(name) name
#elif PMG_ISA == 1
#define PMG_KERNEL(name) name##_avx2
#undef PMG_VECTOR_BYTES
#define PMG_VECTOR_BYTES 32
#pragma GCC push_options
#pragma GCC target("avx2,fma,bmi,bmi2,lzcnt,popcnt,f16c,movbe")
#else
#define PMG_KERNEL(name) name##_avx512
#undef PMG_VECTOR_BYTES
#define PMG_VECTOR_BYTES 64
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,fma,bmi,bmi2,lzcnt,popcnt,f16c,movbe")
#pragma GCC target("prefer-vector-width=512")
#endif
