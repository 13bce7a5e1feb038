/* SPDX-License-Identifier: MIT
 *
 * Reads the header PMG_TEMPLATE once for each type of real numbers. In it PMG_REAL is the type, PMG_NUMBER an integer
 * as wide, PMG_NAME(pmg_line) is pmg_line_f64 and PMG_MACRO(PMG_SQUARE) is PMG_SQUARE_F64. C11 and C++. No include
 * guard: it is there to be included again. */
#ifdef __cplusplus
#define restrict __restrict__
#endif

#define PMG_REAL double
#define PMG_NUMBER int64_t
#define PMG_NAME(name) name##_f64
#define PMG_MACRO(name) name##_F64
#include PMG_TEMPLATE
#undef PMG_REAL
#undef PMG_NUMBER
#undef PMG_NAME
#undef PMG_MACRO

#define PMG_REAL float
#define PMG_NUMBER int32_t
#define PMG_NAME(name) name##_f32
#define PMG_MACRO(name) name##_F32
#include PMG_TEMPLATE
#undef PMG_REAL
#undef PMG_NUMBER
#undef PMG_NAME
#undef PMG_MACRO

#undef PMG_TEMPLATE
#ifdef __cplusplus
#undef restrict
#endif
