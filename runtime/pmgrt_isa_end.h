/* SPDX-License-Identifier: MIT
 *
 * Ends what pmgrt_isa_begin.h has begun. */
#if PMG_ISA > 0
#pragma GCC pop_options
#endif
#undef PMG_KERNEL
#undef PMG_ISA
