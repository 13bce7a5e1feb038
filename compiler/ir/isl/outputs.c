/* SPDX-License-Identifier: MIT
 *
 * Is every cell of an output defined? An `out` that a `reduce` adds to starts at the operator's identity and is whole;
 * one whose definitions depend on data holds 0 where they leave a gap. Where all definitions are affine, a gap is a
 * fact of the program and an error, shown by its smallest cell. */
#include "ir/ir.h"

#include <isl/point.h>

static bool is_definition_of(const struct stage *stage, const struct array *array)
{
	return stage->write.array == array && !stage->is_init && !stage->is_commit;
}

static bool is_affine(const struct stage *stage)
{
	bool affine = true;

	for (int i = 0; i < stage->dims.n; i++)
		affine = affine && stage->dims.items[i].kind == DIM_RANGE;
	return affine;
}

/* Are the cells that the program defines known, whatever the data? */
static bool is_known(const struct module *module, const struct array *array)
{
	bool known = array->role == ROLE_OUT && array->rank > 0;

	for (int i = 0; known && i < module->stages.n; i++) {
		const struct stage *stage = module->stages.items[i];

		if (is_definition_of(stage, array))
			known = stage->op == REDUCE_SET && is_affine(stage);
	}
	return known;
}

/* The cells that a stage defines, in any iteration of the loop. */
static __isl_give isl_set *stage_cells(const struct module *module, const struct stage *stage)
{
	isl_set *cells = isl_map_range(access_map(module, stage, &stage->write));
	int loop = module->loop.var ? isl_set_find_dim_by_name(cells, isl_dim_param, module->loop.var) : -1;

	return loop < 0 ? cells : isl_set_project_out(cells, isl_dim_param, (unsigned) loop, 1);
}

static __isl_give isl_set *undefined_cells(const struct module *module, const struct array *array)
{
	isl_set *cells = isl_set_intersect_params(array_box(module, array), isl_set_copy(module->context));

	for (int i = 0; i < module->stages.n; i++)
		if (is_definition_of(module->stages.items[i], array))
			cells = isl_set_subtract(cells, stage_cells(module, module->stages.items[i]));
	return isl_set_gist_params(isl_set_coalesce(cells), isl_set_copy(module->context));
}

static void add_coordinates(struct str *text, __isl_keep isl_point *point, __isl_keep isl_set *cells, bool sizes)
{
	int n_params = isl_set_dim(cells, isl_dim_param), n = sizes ? n_params : isl_set_dim(cells, isl_dim_set);
	const char *separator = sizes ? " when " : "";

	for (int i = 0; i < n; i++) {
		isl_val *value = isl_point_get_coordinate_val(point, isl_dim_set, sizes ? i : n_params + i);
		bool is_part = !sizes || isl_set_involves_dims(cells, isl_dim_param, (unsigned) i, 1) == isl_bool_true;

		if (is_part && sizes)
			str_add(text, "%s%s = %ld", separator, isl_set_get_dim_name(cells, isl_dim_param, (unsigned) i),
				isl_val_get_num_si(value));
		else if (is_part)
			str_add(text, "%s%ld", separator, isl_val_get_num_si(value));
		separator = is_part ? ", " : separator;
		isl_val_free(value);
	}
}

/* The warning that one of its definitions runs over a range without values; NULL: there is none. */
static struct diag *empty_range(const struct module *module, const struct array *array)
{
	struct diag *diag = NULL;

	for (int i = 0; i < module->stages.n; i++) {
		const struct stage *stage = module->stages.items[i];

		for (int d = 0; !diag && is_definition_of(stage, array) && d < stage->dims.n; d++)
			diag = diag_find(module->diags, DIAG_EMPTY_RANGE, stage->dims.items[d].span);
	}
	return diag;
}

static void report_gap(struct module *module, const struct array *array, const char *cell, const char *sizes)
{
	struct diag *diag = empty_range(module, array);

	if (diag) {
		diag_raise(module->diags, diag);
		diag_label(module->diags, diag, array->span, "'%s[%s]' is never defined%s", array->name, cell, sizes);
		return;
	}
	diag = diag_error(module->diags, DIAG_OUTPUT_UNDEFINED, array->span, "'%s[%s]' is never defined%s", array->name,
			  cell, sizes);
	diag_help(module->diags, diag, (struct span) { 0 },
		  "define all cells of an output, for example with `else`, or make it `inout`");
}

static void report(struct module *module, const struct array *array, __isl_keep isl_set *cells)
{
	unsigned n_params = (unsigned) isl_set_dim(cells, isl_dim_param);
	struct str cell = str_new(module->arena), sizes = str_new(module->arena);
	isl_set *all = isl_set_intersect_params(isl_set_copy(cells), isl_set_copy(module->context));
	isl_point *point;

	all = isl_set_intersect_params(all, witness_sizes(module, isl_set_params(isl_set_copy(all))));
	for (unsigned i = 0; i < n_params; i++)
		if (isl_set_involves_dims(all, isl_dim_param, i, 1) == isl_bool_false)
			all = isl_set_fix_si(all, isl_dim_param, i, 0);
	all = isl_set_move_dims(isl_set_reset_tuple_id(all), isl_dim_set, 0, isl_dim_param, 0, n_params);
	point = isl_set_sample_point(isl_set_lexmin(all));
	add_coordinates(&cell, point, cells, false);
	add_coordinates(&sizes, point, cells, true);
	report_gap(module, array, str_text(&cell), str_text(&sizes));
	isl_point_free(point);
}

/* Of the definitions of an array, isl may give up on all: the first one stands for them. */
static void note_definition(struct module *module, const struct array *array)
{
	for (int i = 0; i < module->stages.n; i++)
		if (is_definition_of(module->stages.items[i], array))
			module_note_quota(module, module->stages.items[i]->span);
}

bool module_check_outputs(struct module *module)
{
	bool ok = true;

	for (int i = 0; i < module->arrays.n; i++) {
		const struct array *array = module->arrays.items[i];
		isl_set *cells;

		if (!is_known(module, array))
			continue;
		cells = undefined_cells(module, array);
		note_definition(module, array);
		if (isl_set_is_empty(cells) == isl_bool_false) {
			report(module, array, cells);
			ok = false;
		}
		isl_set_free(cells);
	}
	return ok;
}
