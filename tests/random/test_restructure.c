/* SPDX-License-Identifier: MIT
 *
 * Restructured modules mean what they meant: for every accumulation of the examples, every order by one or two of its
 * modes and every partition, with an order in space where the program has one, the interpreter on the module before and
 * after the pass, on a few draws. */
#include <stdlib.h>
#include <string.h>

#include "passes/restructure/restructure_private.h"
#include "random/compare.h"
#include "support/folder.h"

enum { DRAWS = 2, DRAWS_LONG = 6 };

struct grid {
	int passed, failed, n_rewritten;
};

static struct override override_of(struct arena *arena, enum verb verb, const char *subject, const char *choice)
{
	struct override override = { .verb = verb };

	override_choose(&override, choice ? choice : "");
	vec_push(arena, &override.subjects, subject);
	return override;
}

/* The names of the modes of the first accumulation that restructuring can serve; 0: there is none. */
static int find_modes(struct module *module, struct accumulation *accumulation)
{
	for (int i = 0; i < module->groups.n; i++)
		if (accumulation_match(module, module->groups.items[i], accumulation))
			return accumulation->modes.n;
	return 0;
}

/* ---- one module, one choice ---- */

static const char *interpret_changed(struct module *changed, struct arena *arena, const struct binding_set *set,
				     void **copies)
{
	struct interp_input input = binding_interp(set, arena, copies);

	for (int i = 0; i < input.arrays.n; i++)
		input.arrays.items[i].array = changed->arrays.items[input.arrays.items[i].array->number];
	return module_interpret(changed, arena, &input, NULL);
}

static double element(const struct array *array, void *data, size_t i)
{
	return array->type == TYPE_F64 ? ((double *) data)[i] : (double) ((float *) data)[i];
}

static bool outputs_agree(const struct binding_set *set, void **expected, void **got)
{
	for (int a = 0; a < set->module->arrays.n; a++) {
		const struct array *array = set->module->arrays.items[a];
		bool is_output = expected[a] && type_is_float(array->type);
		size_t n = is_output ? set->bytes[a] / (size_t) type_size(array->type) : 0;

		for (size_t i = 0; i < n; i++) {
			double x = element(array, expected[a], i), y = element(array, got[a], i);

			if (fabs(x - y) > 1e-5*(fabs(x) + 1) && !(isnan(x) && isnan(y)))
				return false;
		}
	}
	return true;
}

static void check_draw(struct grid *grid, struct module *module, struct module *changed, uint64_t seed,
		       const char *what)
{
	struct arena arena = { 0 };
	struct binding_set set;
	void **expected, **got;
	const char *stopped, *problem;
	struct interp_input input;

	if (binding_draw(&set, module, &arena, seed)) {
		expected = binding_copy(&set, &arena);
		got = binding_copy(&set, &arena);
		input = binding_interp(&set, &arena, expected);
		stopped = module_interpret(module, &arena, &input, NULL);
		problem = interpret_changed(changed, &arena, &set, got);
		if (!stopped == !problem && (stopped || outputs_agree(&set, expected, got)))
			grid->passed++;
		else
			grid->failed++, fprintf(stderr, "%s: draw %d, %s: %s\n", module->name, (int) seed, what,
						problem ? problem : "results differ");
	}
	arena_release(&arena);
}

/* What is asked for: names of modes, NULL where there is none. */
struct asked {
	const char *first, *second, *partition, *renumbered;
};

static void ask(struct module *module, const struct asked *asked)
{
	struct accumulation accumulation;
	struct override override;

	struct override *order;

	find_modes(module, &accumulation);
	order = module_find_override(module, VERB_ORDER, accumulation.object, NULL);
	if (order)
		module->overrides.items[0] = *order;
	module->overrides.n = order != NULL;
	override = override_of(module->arena, VERB_RESTRUCTURE, accumulation.object,
			       asked->second ? "hybrid" : asked->first);
	if (asked->second) {
		vec_push(module->arena, &override.words, asked->first);
		vec_push(module->arena, &override.words, asked->second);
	}
	vec_push(module->arena, &module->overrides, override);
	override = override_of(module->arena, VERB_PARTITION, accumulation.stage->write.array->name, asked->partition);
	vec_push(module->arena, &module->overrides, override);
	override = override_of(module->arena, VERB_RENUMBER, accumulation.object, asked->renumbered);
	if (asked->renumbered)
		vec_push(module->arena, &module->overrides, override);
}

static void check_choice(struct grid *grid, const char *path, int number, const struct asked *asked)
{
	static const struct pass_options options = { .overrides = true };
	struct compilation *c = compilation_new(), *reference = compilation_new();
	bool ready = compilation_read(c, path) && compilation_read(reference, path);
	struct module *changed = c->modules.items[number];
	const char *what = arena_printf(changed->arena, "%s %s by %s, %s", asked->first,
					asked->second ? asked->second : "", asked->partition,
					asked->renumbered ? asked->renumbered : "");

	ask(changed, asked);
	if (!ready || !pass_restructure(changed, &options) || !module_verify(changed, "restructure"))
		grid->failed++, fprintf(stderr, "%s: %s: %s\n", path, what, compilation_messages(c, false));
	grid->n_rewritten += changed->restructurings.n > 0;
	for (uint64_t seed = 1; ready && seed <= (getenv("PMG_TEST_LONG") ? DRAWS_LONG : DRAWS); seed++)
		check_draw(grid, reference->modules.items[number], changed, seed, what);
	compilation_free(c);
	compilation_free(reference);
}

/* ---- all of them ---- */

/* Every partition; and where another mode can be renumbered, that too. */
static void check_keys(struct grid *grid, const char *path, int number, const struct accumulation *accumulation,
		       struct asked asked)
{
	const char *const partitions[] = { "coeff", "coeff_exclusive", "chunks", asked.first };

	for (int p = 0; p < 4; p++) {
		asked.partition = partitions[p];
		asked.renumbered = NULL;
		check_choice(grid, path, number, &asked);
		for (int m = 0; m < accumulation->modes.n; m++) {
			int mode = accumulation->modes.items[m];

			asked.renumbered = accumulation->stage->dims.items[mode].name;
			if (strcmp(asked.renumbered, asked.first) != 0 &&
			    (!asked.second || strcmp(asked.renumbered, asked.second) != 0) &&
			    accumulation->stage->op == REDUCE_ADD && renumbering_is_possible(accumulation, mode))
				check_choice(grid, path, number, &asked);
		}
	}
}

static void check_module(struct grid *grid, const char *path, int number, struct module *module)
{
	struct accumulation accumulation;
	int n = find_modes(module, &accumulation);

	for (int a = 0; a < n; a++)
		for (int b = 0; b < n; b++) {
			const dim_list *dims = &accumulation.stage->dims;
			const char *first = dims->items[accumulation.modes.items[a]].name;
			const char *second = dims->items[accumulation.modes.items[b]].name;

			check_keys(grid, path, number, &accumulation,
				   (struct asked) { first, a == b ? NULL : second, NULL, NULL });
		}
}

static void check_file(const char *path, void *user)
{
	struct grid *grid = user;
	struct compilation *c = compilation_new();

	if (!compilation_read(c, path))
		grid->failed++;
	for (int i = 0; i < c->modules.n; i++)
		check_module(grid, path, i, c->modules.items[i]);
	compilation_free(c);
}

int main(void)
{
	struct grid grid = { 0 };

	folder_each_program("dsl_examples", check_file, &grid);
	folder_each_program("tests/random", check_file, &grid);
	if (grid.n_rewritten < 100)
		grid.failed++, fprintf(stderr, "only %d modules were rewritten\n", grid.n_rewritten);
	printf("%d passed, %d failed\n", grid.passed, grid.failed);
	return grid.failed || !grid.passed;
}
