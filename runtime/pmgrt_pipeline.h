/* SPDX-License-Identifier: MIT
 *
 * Part of pmgrt_generated.h: what a generated file defines of each of its pipelines, besides the description, kernels
 * and tables. */
#ifndef PMGRT_PIPELINE_H
#define PMGRT_PIPELINE_H

/* The functions that the header of a pipeline declares, and its plan for loaders, which do not know the type of the
 * arguments. */
#define PMG_PLAN_ANY(p)                                                                                                \
	static pmg_status p##_plan_any(const void *arguments, const pmg_options *options, pmg_plan **plan)             \
	{                                                                                                              \
		return p##_plan(arguments, options, plan);                                                             \
	}

#define PMG_PIPELINE(p)                                                                                                \
	const pmg_pipeline_desc *p##_describe(void)                                                                    \
	{                                                                                                              \
		return &p##_description;                                                                               \
	}                                                                                                              \
	pmg_status p##_plan(const p##_args *args, const pmg_options *options, p##_plan_t **plan)                       \
	{                                                                                                              \
		return pmg_plan_new(&p##_description, args, options, plan);                                            \
	}                                                                                                              \
	pmg_status p##_execute(p##_plan_t *plan, const p##_args *args, pmg_control *control)                           \
	{                                                                                                              \
		return pmg_plan_execute(plan, args, control);                                                          \
	}                                                                                                              \
	pmg_status p##_state_save(p##_plan_t *plan, const pmg_writer *writer)                                          \
	{                                                                                                              \
		return pmg_plan_state_save(plan, writer);                                                              \
	}                                                                                                              \
	pmg_status p##_state_load(p##_plan_t *plan, const pmg_reader *reader)                                          \
	{                                                                                                              \
		return pmg_plan_state_load(plan, reader);                                                              \
	}                                                                                                              \
	void p##_destroy(p##_plan_t *plan)                                                                             \
	{                                                                                                              \
		pmg_plan_destroy(plan);                                                                                \
	}

/* What the descriptions of all candidates of a pipeline begin with. */
#define PMG_DESCRIBES(p, file, of_target)                                                                              \
	.abi_version = PMG_ABI_VERSION, .name = #p, .source = file, .target = of_target,                               \
	.args_size = sizeof(p##_args), .execute = pmg_plan_execute, .destroy = pmg_plan_destroy

/* What loaders look up: the descriptions of all pipelines of a file. Weak, so that several generated files may be
 * linked into one program. */
#define PMG_PIPELINES(...)                                                                                             \
	__attribute__((weak)) const pmg_pipeline_desc *const *pmg_pipelines(void);                                     \
	const pmg_pipeline_desc *const *pmg_pipelines(void)                                                            \
	{                                                                                                              \
		static const pmg_pipeline_desc *const pipelines[] = { __VA_ARGS__, NULL };                             \
		return pipelines;                                                                                      \
	}

/* Factors of work (pmg_factor). */
#define PMG_ARGUMENT(type, name, plus) { PMG_OF_ARGUMENT, offsetof(type, name), plus, false }
#define PMG_PER_ARGUMENT(type, name, plus) { PMG_OF_ARGUMENT, offsetof(type, name), plus, true }
#define PMG_SIZE(at, plus) { PMG_OF_SIZE, at, plus, false }
#define PMG_PER_SIZE(at, plus) { PMG_OF_SIZE, at, plus, true }
#define PMG_NUMBER(value) { PMG_OF_NUMBER, 0, value, false }
#define PMG_PER_NUMBER(value) { PMG_OF_NUMBER, 0, value, true }
#define PMG_EVERY_THREAD { PMG_OF_THREADS, 0, 0, false }
#define PMG_PRODUCT(...) (const pmg_factor[]) { __VA_ARGS__, { PMG_OF_END, 0, 0, false } }

#endif
