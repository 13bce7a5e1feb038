/* SPDX-License-Identifier: MIT
 *
 * The instruction set that kernels run with, where a library has kernels for several: the best that the processor has,
 * or what PMG_ISA in the environment asks for. A library that was compiled for one set has that only. */
#include "plan/plan.h"
#include "words.h"

#include <stdlib.h>
#include <string.h>

static const char *const names[PMG_ISA_N] = { NAMES_OF_ISAS };

bool isa_is_there(int32_t isa)
{
#if defined __x86_64__
	__builtin_cpu_init();
	if (isa == 2)
		return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw")
			&& __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq")
			&& __builtin_cpu_supports("avx512vl") && isa_is_there(1);
	if (isa == 1)
		return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")
			&& __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
#endif
	return isa == 0;
}

static bool is_known(const char *asked)
{
	bool is = !asked || !*asked;

	for (int32_t i = 0; i < PMG_ISA_N; i++)
		is = is || strcmp(asked, names[i]) == 0;
	return is;
}

static bool has_kernel(const pmg_pipeline_desc *desc, int32_t isa)
{
	return desc->kernels[isa] && isa_is_there(isa);
}

static pmg_status isa_fail(pmg_context *context, const pmg_pipeline_desc *desc, const char *asked)
{
	return pmg_fail(context, PMG_BAD_CALL,
			"PMG_ISA asks for '%s', but pipeline '%s' and this processor have only%s%s%s", asked,
			desc->name, has_kernel(desc, 0) ? " baseline" : "", has_kernel(desc, 1) ? " avx2" : "",
			has_kernel(desc, 2) ? " avx512" : "");
}

pmg_status isa_choose(pmg_context *context, const pmg_pipeline_desc *desc, pmg_kernel **kernel, const char **name)
{
	const char *asked = getenv("PMG_ISA");
	bool is_found = false;

	*kernel = desc->kernel;
	*name = "native";
	if (!desc->kernels[0] && !is_known(asked))
		return pmg_fail(context, PMG_BAD_CALL, "PMG_ISA takes " WORDS_OF_ISAS ", not '%s'", asked);
	if (!desc->kernels[0])
		return PMG_OK;
	for (int32_t i = 0; i < PMG_ISA_N; i++)
		if (has_kernel(desc, i) && (!asked || !*asked || strcmp(asked, names[i]) == 0)) {
			*kernel = desc->kernels[i];
			*name = names[i];
			is_found = true;
		}
	return is_found ? PMG_OK : isa_fail(context, desc, asked);
}
