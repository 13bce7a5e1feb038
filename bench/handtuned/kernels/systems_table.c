/* SPDX-License-Identifier: MIT
 *
 * The table of the kernels for systems in one instruction set. */
#include "systems_kernels.h"

#define TEXT(word) #word
#define TEXT_EXPANDED(word) TEXT(word)

const struct system_kernels ISA_NAME(system_kernels) = {
	.isa = TEXT_EXPANDED(ISA),
	.flat = { ISA_NAME(system_flat_f64), ISA_NAME(system_flat_f32) },
	.interleaved = { ISA_NAME(system_interleaved_f64), ISA_NAME(system_interleaved_f32) },
	.transposed = { ISA_NAME(system_transposed_f64), NULL },
	.gathered = { ISA_NAME(system_gathered_f64), ISA_NAME(system_gathered_f32) },
	.masked = { ISA_NAME(system_masked_f64), ISA_NAME(system_masked_f32) },
	.stream = ISA_NAME(system_stream),
	.copy = ISA_NAME(system_copy),
};
