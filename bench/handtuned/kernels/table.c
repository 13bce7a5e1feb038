/* SPDX-License-Identifier: MIT
 *
 * The table of the kernels of one instruction set. */
#include "kernels.h"

#define TEXT(word) #word
#define TEXT_EXPANDED(word) TEXT(word)

const struct life_kernels ISA_NAME(life_kernels) = {
	.isa = TEXT_EXPANDED(ISA),
	.naive_dsc = ISA_NAME(naive_dsc),
	.naive_wc = ISA_NAME(naive_wc),
	.naive_dsc_blas = ISA_NAME(naive_dsc_blas),
	.naive_wc_blas = ISA_NAME(naive_wc_blas),
	.naive_dsc_par = ISA_NAME(naive_dsc_par),
	.naive_wc_par = ISA_NAME(naive_wc_par),
	.opt_dsc = ISA_NAME(opt_dsc),
	.opt_wc = ISA_NAME(opt_wc),
	.best_dsc = ISA_NAME(best_dsc),
	.best_wc = ISA_NAME(best_wc),
	.best_dsc_f32 = ISA_NAME(best_dsc_f32),
	.best_wc_f32 = ISA_NAME(best_wc_f32),
	.triad = ISA_NAME(triad),
	.read = ISA_NAME(read),
	.fma_f64 = ISA_NAME(fma_f64),
	.fma_f32 = ISA_NAME(fma_f32),
};
