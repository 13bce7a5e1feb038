/* SPDX-License-Identifier: MIT
 *
 * The ABI of a pipeline (runtime/pmgrt_description.h): the struct of its arguments, the tables that describe
 * parameters, arrays and extents to loaders and to the runtime, and the six functions, which are thin. Extents
 * that are a parameter plus a constant are rows of a table, from which a loader can infer the parameter; a function
 * writes the values of the others, so that any affine size works. */
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "codegen/abi/abi.h"
#include "ir/match/block.h"

/* ---- arguments ---- */

static struct k_expr *value_of(const struct layout *layout, const struct param *param)
{
	struct emit e = { .module = layout->module, .arena = layout->module->arena, .layout = layout };
	struct affine of = affine_of_expr(&e, NULL, param->of);

	return affine_expr(e.arena, &of);
}

static struct k_expr *derived_value(const struct layout *layout, const struct param *param)
{
	struct arena *arena = layout->module->arena;

	return K_CALL(arena, derivation_c_names[param->derivation], value_of(layout, param),
		      k_int(arena, param->limit));
}

/* Without a plan, an inspected size is what it is at most. */
static struct k_expr *param_value(const struct layout *layout, int number, bool is_specialized, bool has_plan)
{
	const struct param *param = &layout->module->params.items[number];
	struct arena *arena = layout->module->arena;

	if (is_specialized && param->is_specialized)
		return k_int(arena, param->value);
	if (param->is_inspected && param->of && !has_plan)
		return value_of(layout, param);
	if (param->is_inspected)
		return k_load(arena, k_member(arena, k_name(arena, "plan"), "sizes", true),
			      k_int(arena, layout->param_number[number]));
	if (param->derivation)
		return derived_value(layout, param);
	return k_member(arena, k_name(arena, "args"), layout->params[number], true);
}

static void declare_params(struct k_builder *b, const struct layout *layout, bool is_specialized, bool has_plan)
{
	struct span outer = b->span;

	for (int i = 0; i < layout->module->params.n; i++) {
		const struct param *param = &layout->module->params.items[i];
		const char *name = layout->params[i];
		bool is_known;

		if (param->is_loop)
			continue;
		is_known = (is_specialized && param->is_specialized) || param->is_inspected || param->derivation;
		b->span = param->span;
		k_const(b, k_scalar(type_c_name(is_known ? TYPE_I64 : param->type)), name,
			param_value(layout, i, is_specialized, has_plan));
	}
	b->span = outer;
}

void add_params(struct k_builder *b, const struct layout *layout, bool is_specialized)
{
	declare_params(b, layout, is_specialized, true);
}

/* What functions of the descriptor have ahead of their bodies. */
static void add_arguments(struct k_builder *b, const struct layout *layout)
{
	const char *type = arena_printf(layout->module->arena, "%s_args", layout->module->name);

	k_unused(b, "arguments");
	k_var(b, k_pointer(type, true), "args", k_name(b->arena, "arguments"));
	declare_params(b, layout, false, false);
}

struct emit emit_for_table(const struct layout *layout, const struct target *target)
{
	return (struct emit) { .module = layout->module, .arena = layout->module->arena, .layout = layout,
			       .target = target };
}

struct k_block *table_body_open(struct emit *e)
{
	struct k_block *body = arena_new(e->arena, struct k_block);

	*body = (struct k_block) { 0 };
	e->b = arena_new(e->arena, struct k_builder);
	*e->b = k_builder_new(e->arena, body);
	e->b->span = e->module->span;
	return body;
}

/* From a table ahead of it. */
static void separate(struct writer *w)
{
	if (w->text.length > 1 && w->text.text[w->text.length - 2] != '\n')
		writer_blank(w);
}

void table_function_print(struct writer *w, const struct emit *e, const char *head, const struct k_block *body,
			  const char *last)
{
	struct k_function function = { .name = head };
	struct k_builder b = k_builder_new(e->arena, &function.body);

	b.span = w->span;
	vec_push(e->arena, &function.params, ((struct k_param) { k_pointer("void", true), "arguments" }));
	add_arguments(&b, e->layout);
	if (body->stmts.n)
		k_blank(&b);
	for (int i = 0; i < body->stmts.n; i++)
		vec_push(e->arena, &function.body.stmts, body->stmts.items[i]);
	k_function_drop_unread(e->arena, &function);
	separate(w);
	line(w, "%s\n{", head);
	w->indent++;
	c_print_block(w, &function.body, C_SPELLING_OPENMP);
	if (last)
		line(w, "%s", last);
	close_block(w, "}");
	writer_blank(w);
}

static void emit_args_struct(struct writer *w, const struct layout *layout)
{
	const struct module *module = layout->module;

	open_block(w, "typedef struct %s_args {", module->name);
	for (int i = 0; i < module->params.n; i++)
		if (param_is_argument(&module->params.items[i]))
			line(w, "%s %s;", type_c_name(module->params.items[i].type), layout->params[i]);
	for (int i = 0; i < layout->n_arguments; i++)
		line(w, "pmg_buffer %s;", layout->slots.items[i].c_name);
	if (!layout->n_params && !layout->n_arguments)
		line(w, "char unused;");
	close_block(w, "} %s_args;", module->name);
}

void emit_header_of(struct writer *w, const struct layout *layout)
{
	const char *p = layout->module->name;

	emit_args_struct(w, layout);
	line(w, "\ntypedef pmg_plan %s_plan_t;\n\n"
	     "const pmg_pipeline_desc *%s_describe(void);\n"
	     "pmg_status %s_plan(const %s_args *args, const pmg_options *options, %s_plan_t **plan);\n"
	     "pmg_status %s_execute(%s_plan_t *plan, const %s_args *args, pmg_control *control);\n"
	     "pmg_status %s_state_save(%s_plan_t *plan, const pmg_writer *writer);\n"
	     "pmg_status %s_state_load(%s_plan_t *plan, const pmg_reader *reader);\n"
	     "void %s_destroy(%s_plan_t *plan);\n", p, p, p, p, p, p, p, p, p, p, p, p, p, p);
}

/* ---- extents ---- */

/* Of the d-th subscript that is stored; a part of each thread comes first. */
static struct affine slot_extent(struct emit *e, const struct slot *slot, int d)
{
	const struct array *array = slot->array;
	struct affine extent;

	if (slot->is_of_blocks)
		return affine_constant(0);
	if (slot_is_made(slot)) {
		extent = affine_of_range(e, array, d);
		return slot->is_list ? extent : affine_scale(e->arena, &extent, 1, slot->is_order ? -1 : 1);
	}
	if (array->stored.is_per_thread && d == 0)
		return affine_constant(1);
	return part_extent(e, array, d - array->stored.is_per_thread);
}

static int slot_rank(const struct slot *slot)
{
	if (slot->array->role == ROLE_INSPECTED)
		return 0;
	if (slot_is_made(slot))
		return 1;
	return array_n_stored(slot->array) + slot->array->stored.is_per_thread + (slot->array->stored.lanes ? 1 : 0);
}

static bool slot_has_limit(const struct slot *slot)
{
	if (slot_is_made(slot))
		return false;
	return slot->array->role == ROLE_INSPECTED ? slot_is_narrow(slot)
						   : (slot->array->facts & (FACT_INDEX | FACT_OFFSETS)) != 0;
}

/* The parameter to which an extent adds a constant; -1: it is another value. */
static int param_of_extent(const struct layout *layout, const struct affine *extent)
{
	const int param = layout_param(layout, affine_offset_name(extent));

	return param >= 0 && param_is_argument(&layout->module->params.items[param]) ? layout->param_number[param] : -1;
}

static struct k_expr *plain_number(const struct k_expr *expr, void *user)
{
	struct arena *arena = user;
	struct k_expr *plain;

	if (expr->kind != KE_INT || expr->integer == INT64_MIN || expr->integer == INT64_MAX)
		return NULL;
	plain = k_int(arena, expr->integer);
	plain->text = arena_printf(arena, "%" PRId64, expr->integer);
	return plain;
}

/* An expression as messages have it: INT64_C(3000000000) is 3000000000. */
static const char *message_text(struct arena *arena, const struct k_expr *expr)
{
	const struct k_replacing numbers = { .expr = plain_number, .user = arena };

	return k_expr_text(arena, k_copy_expr(arena, expr, &numbers));
}

static bool is_general(const struct emit *e, const struct affine *extent)
{
	return extent->terms.n > 0 && param_of_extent(e->layout, extent) < 0;
}

/* { param, is_general, constant, text } */
static const char *extent_row(struct emit *e, const struct affine *extent)
{
	const char *text = c_string(e->arena, message_text(e->arena, affine_expr(e->arena, extent)));
	const char *constant = is_general(e, extent) ? "0" : k_int_text(e->arena, extent->constant);

	return arena_printf(e->arena, "{ %d, %s, %s, %s }", param_of_extent(e->layout, extent),
			    is_general(e, extent) ? "true" : "false", constant, text);
}

/* Sizes of domains such as 1..n-1 are not negative where n is 0. */
static struct k_expr *extent_value(struct emit *e, const struct affine *extent)
{
	struct k_expr *value = affine_expr(e->arena, extent);

	return affine_is_never_negative(extent) ? value
						: k_call(e->arena, "pmg_max_i64", 2, value, k_int(e->arena, 0));
}

/* Of those that the table does not say, the value, at its number; *n counts them all. */
static void add_general_value(struct emit *e, const struct affine *extent, const char *values, int *n)
{
	if (is_general(e, extent))
		k_set(e->b, k_at(e->arena, values, k_int(e->arena, *n)), extent_value(e, extent));
	++*n;
}

static struct k_block *general_extents(struct emit *e, const char *values)
{
	struct k_block *body = table_body_open(e);
	int n = 0;

	for (int i = 0; i < e->layout->slots.n; i++) {
		const struct slot *slot = &e->layout->slots.items[i];
		struct affine extent;

		for (int d = 0; d < slot_rank(slot); d++) {
			extent = slot_extent(e, slot, d);
			add_general_value(e, &extent, values, &n);
		}
		if (slot_has_limit(slot)) {
			extent = affine_of_expr(e, NULL, slot->array->limit);
			add_general_value(e, &extent, values, &n);
		}
	}
	return body;
}

void emit_extents(struct writer *w, const struct layout *layout, const struct target *target)
{
	struct emit e = emit_for_table(layout, target);
	struct names names = layout->names;
	const char *values = names_declare(&names, "extents");
	const struct k_block *body = general_extents(&e, values);

	if (body->stmts.n)
		table_function_print(w, &e, arena_printf(e.arena, "static void %s_extents(const void *arguments, "
							 "int64_t *%s)", layout->prefix, values), body, NULL);
}

/* ---- assumptions ---- */

static void emit_assumption_tests(struct emit *e)
{
	const struct module *module = e->module;

	for (int i = 0; i < module->assumptions.n; i++) {
		struct expr *expr = module->assumptions.items[i];
		struct k_expr *condition = k_at_least(e->arena, c_expr(e, NULL, expr), K_LEVEL_UNARY);
		const char *text = span_text(module->diags->sources, e->arena, expr->span);
		const char *place = source_place(module, expr->span);

		text = arena_printf(e->arena, *place ? "%s (%s)" : "%s",
				    *text ? text : message_text(e->arena, condition), place);
		k_only_if(e->b, k_unary(e->arena, K_NOT, condition));
		k_return(e->b, k_string(e->arena, c_string(e->arena, text)));
	}
}

void emit_assumption(struct writer *w, const struct layout *layout, const struct target *target)
{
	struct emit e = emit_for_table(layout, target);
	struct k_block *body;

	if (!layout->module->assumptions.n)
		return;
	body = table_body_open(&e);
	emit_assumption_tests(&e);
	table_function_print(w, &e, arena_printf(e.arena, "static const char *%s_assumption(const void *arguments)",
						 layout->module->name), body, "return NULL;");
}

/* ---- tables ---- */

enum { COLUMNS = 120, INDENT = 8 };

void add_field(struct arena *arena, field_list *fields, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vec_push(arena, fields, arena_vprintf(arena, format, args));
	va_end(args);
}

/* As many in a line as it has room for. */
void emit_fields(struct writer *w, const field_list *fields)
{
	struct str row = str_new(w->text.arena);

	for (int i = 0; i < fields->n; i++) {
		if (row.length && INDENT + row.length + strlen(fields->items[i]) + strlen(" ,") > COLUMNS) {
			line(w, "%s", str_text(&row));
			row = str_new(w->text.arena);
		}
		str_add(&row, "%s%s,", row.length ? " " : "", fields->items[i]);
	}
	line(w, "%s", str_text(&row));
}

void emit_param_table(struct writer *w, const struct layout *layout)
{
	const struct module *module = layout->module;
	field_list rows = { 0 };

	if (!layout->n_params)
		return;
	open_block(w, "static const pmg_param_desc %s_params[] = {", module->name);
	for (int i = 0; i < module->params.n; i++) {
		const struct param *param = &module->params.items[i];

		if (param_is_argument(param))
			add_field(module->arena, &rows, "{ %s, %s, offsetof(%s_args, %s), %s }",
				  c_string(module->arena, param->name), type_abi_name(param->type), module->name,
				  layout->params[i], c_string(module->arena, source_place(module, param->span)));
	}
	emit_fields(w, &rows);
	close_block(w, "};");
}

static const char *role_text(const struct layout *layout, const struct slot *slot)
{
	static const char *const roles[] = {
		[ROLE_IN] = "PMG_IN", [ROLE_OUT] = "PMG_OUT", [ROLE_INOUT] = "PMG_INOUT", [ROLE_STATE] = "PMG_STATE",
		[ROLE_NEXT] = "PMG_TEMP", [ROLE_TEMP] = "PMG_TEMP", [ROLE_LOCAL] = "PMG_TEMP",
		[ROLE_PRIVATE] = "PMG_TEMP", [ROLE_BLOCK] = "PMG_TEMP", [ROLE_INSPECTED] = "PMG_INSPECTED"
	};

	if (slot_is_made(slot))
		return "PMG_TEMP";
	if (slot->array->role == ROLE_TEMP && layout->is_carried[slot->array->number])
		return "PMG_STATE";
	return roles[slot->array->role];
}

static const char *facts_text(struct arena *arena, unsigned facts)
{
	static const struct { unsigned fact; const char *name; } rows[] = {
		{ FACT_INDEX, "PMG_FACT_INDEX" }, { FACT_OFFSETS, "PMG_FACT_OFFSETS" },
		{ FACT_SORTED, "PMG_FACT_SORTED" }, { FACT_UNIQUE, "PMG_FACT_UNIQUE" }, { FACT_TREE, "PMG_FACT_TREE" }
	};
	struct str text = str_new(arena);

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (facts & rows[i].fact)
			str_add(&text, "%s%s", text.length ? " | " : "", rows[i].name);
	return str_text(&text);
}

static const char *shape_text(struct emit *e, const struct slot *slot)
{
	struct str text = str_new(e->arena);

	for (int d = 0; d < slot_rank(slot); d++) {
		struct affine extent = slot_extent(e, slot, d);

		str_add(&text, "%s%s", d ? ", " : "", extent_row(e, &extent));
	}
	return str_text(&text);
}

static void add_facts(struct emit *e, struct str *row, const struct slot *slot)
{
	const struct array *array = slot->array;
	struct affine limit;

	if (slot_is_made(slot) || !array->facts)
		return;
	if (array->role != ROLE_INSPECTED)
		str_add(row, ".is_index = true, .facts = %s, ", facts_text(e->arena, array->facts));
	if (slot_has_limit(slot)) {
		limit = affine_of_expr(e, NULL, array->limit);
		str_add(row, ".limit = %s, ", extent_row(e, &limit));
	}
}

static void add_flag(struct str *row, const char *name, bool is_set)
{
	if (is_set)
		str_add(row, ".%s = true, ", name);
}

static bool slot_is_inspected(const struct module *module, const struct slot *slot)
{
	return !slot_is_made(slot) && slot->array->role == ROLE_IN &&
	       slot->array->is_fixed && array_is_for_inspection(module, slot->array);
}

/* `inspected` is what a macro is told; NULL: the row says what is so. */
static void add_type(struct emit *e, struct str *row, const struct slot *slot, const char *inspected)
{
	const struct array *array = slot->array;
	bool is_list = slot_is_made(slot);
	bool is_input = !is_list && array->role == ROLE_IN;
	bool is_kept = is_input && array->storage != STORAGE_F64;

	str_add(row, ".name = %s, .role = %s, .type = %s, ", c_string(e->arena, slot->name), role_text(e->layout, slot),
		type_abi_name(is_kept ? array->type : slot_type(slot)));
	add_flag(row, "is_fixed", is_input && array->is_fixed);
	if (inspected)
		str_add(row, ".is_for_inspection = %s, ", inspected);
	else
		add_flag(row, "is_for_inspection", slot_is_inspected(e->module, slot));
	add_flag(row, "is_optional", is_input && array_is_optional(e->module, array));
	if (is_kept || slot_is_narrow(slot))
		str_add(row, ".storage = %s, ", storage_abi_name(array->storage));
	add_flag(row, "is_per_thread", !is_list && (array->stored.is_per_thread || (array->role == ROLE_PRIVATE &&
									     n_private_copies(array) == 1)));
}

static void add_next(struct emit *e, struct str *row, const struct slot *slot)
{
	for (int i = 0; i < e->layout->slots.n; i++) {
		const struct slot *next = &e->layout->slots.items[i];

		if (next->array->is_swapped && next->array->owner == slot->array)
			str_add(row, ".next = %d, ", i);
	}
}

/* The extents of a row. */
static void add_factors(struct emit *e, struct str *row, const struct slot *slot)
{
	const struct array *rows = slot->array->row_of;

	if (rows)
		str_add(row, ".n_factors = %d, .first_factor = %d, ", rows->rank - 1,
			e->layout->slots.items[e->layout->slot_of[rows->number]].first_extent + 1);
}

static const struct array *slot_segments(const struct module *module, const struct slot *slot)
{
	const struct array *over = block_segments(module, slot->array);

	if (slot->is_order)
		return slot->array;
	if (slot->is_offsets || slot->is_list)
		return NULL;
	return over ? over : slot->array->stored.window ? NULL : slot->array->segments;
}

/* What a row says of its lanes and of its readers, where a macro is told of them; NULL: what is so. */
struct row_words {
	const char *lanes, *inspected;
};

static const char *array_row(struct emit *e, int number, const struct row_words *words)
{
	const struct slot *slot = &e->layout->slots.items[number];
	const struct array *segments = slot_segments(e->module, slot);
	const char *offset = number >= e->layout->n_arguments ? "SIZE_MAX" :
			     arena_printf(e->arena, "offsetof(%s_args, %s)", e->module->name, slot->c_name);
	struct str row = str_new(e->arena);

	add_type(e, &row, slot, words->inspected);
	if (slot_rank(slot))
		str_add(&row, ".rank = %d, .shape = (const pmg_extent[]) { %s }, ", slot_rank(slot),
			shape_text(e, slot));
	add_facts(e, &row, slot);
	if (words->lanes || slot->lanes)
		str_add(&row, ".lanes = %s, ", words->lanes ? words->lanes : k_int_text(e->arena, slot->lanes));
	add_next(e, &row, slot);
	add_factors(e, &row, slot);
	return arena_printf(e->arena, "[%d] = { %s.first_extent = %d, .segments = %d, .offset = %s, .place = %s },",
			    number, str_text(&row), slot->first_extent,
			    segments ? e->layout->slot_of[segments->number] : -1, offset,
			    c_string(e->arena, source_place(e->module, slot->array->span)));
}

static void emit_array_row(struct emit *e, int number)
{
	e->w->span = e->layout->slots.items[number].array->span;
	line(e->w, "%s", array_row(e, number, &(struct row_words) { NULL, NULL }));
}

/* ---- rows of arguments that all candidates share ---- */

/* Those of its arguments that are taken in blocks; 0: none is. */
static int lanes_of_arguments(const struct layout *layout)
{
	int lanes = 0;

	for (int i = 0; i < layout->n_arguments; i++)
		if (layout->slots.items[i].lanes > lanes)
			lanes = layout->slots.items[i].lanes;
	return lanes;
}

/* Has it arguments that only inspection reads? */
static bool has_inspected_arguments(const struct layout *layout)
{
	bool has = false;

	for (int i = 0; i < layout->n_arguments; i++)
		has |= slot_is_inspected(layout->module, &layout->slots.items[i]);
	return has;
}

/* What the macro is told, for a row of which some candidate has it. */
static struct row_words words_of_row(struct layout *const *layouts, int n, int number)
{
	struct row_words words = { NULL, NULL };

	for (int i = 0; i < n; i++) {
		const struct slot *slot = &layouts[i]->slots.items[number];

		if (slot->lanes)
			words.lanes = "pmg_lanes";
		if (slot_is_inspected(layouts[i]->module, slot))
			words.inspected = "pmg_inspected";
	}
	return words;
}

/* As the macro has it; NULL: candidates differ in more than what it is told. */
static const char *shared_row(struct layout *const *layouts, int n, int number, const struct target *target)
{
	const struct row_words words = words_of_row(layouts, n, number);
	const char *row = NULL;

	for (int i = 0; i < n; i++) {
		const struct slot *slot = &layouts[i]->slots.items[number];
		struct emit e = emit_for_table(layouts[i], target);
		const char *own = array_row(&e, number, &words);

		if (slot->lanes != (words.lanes ? lanes_of_arguments(layouts[i]) : 0) ||
		    slot_is_inspected(layouts[i]->module, slot) !=
		    (words.inspected && has_inspected_arguments(layouts[i])) || (row && strcmp(row, own)))
			return NULL;
		row = own;
	}
	return row;
}

void emit_shared_arguments(struct writer *w, struct layout *const *layouts, int n, const struct target *target)
{
	const struct layout *first = layouts[0];
	bool *is_shared = arena_new_array(first->module->arena, bool, first->n_arguments);
	const char **rows = arena_new_array(first->module->arena, const char *, first->n_arguments);
	int last = -1;

	for (int i = 0; i < first->n_arguments && n > 1; i++) {
		rows[i] = shared_row(layouts, n, i, target);
		is_shared[i] = rows[i];
		last = rows[i] ? i : last;
	}
	if (last < 0)
		return;
	open_block(w, "#define %s_arguments(pmg_lanes, pmg_inspected) \\", first->module->name);
	for (int i = 0; i < first->n_arguments; i++)
		if (is_shared[i]) {
			w->span = first->slots.items[i].array->span;
			line(w, "%s%s", rows[i], i < last ? " \\" : "");
		}
	w->indent--;
	w->span = first->module->span;
	for (int i = 0; i < n; i++)
		layouts[i]->shared_arguments = is_shared;
}

void emit_array_table(struct writer *w, const struct layout *layout, const struct target *target)
{
	const bool *shared = layout->shared_arguments;
	struct emit e = emit_for_table(layout, target);

	if (!layout->slots.n)
		return;
	e.w = w;
	open_block(w, "static const pmg_array_desc %s_arrays[] = {", layout->prefix);
	if (shared)
		line(w, "%s_arguments(%d, %s)", layout->module->name, lanes_of_arguments(layout),
		     has_inspected_arguments(layout) ? "true" : "false");
	for (int i = 0; i < layout->slots.n; i++)
		if (!shared || i >= layout->n_arguments || !shared[i])
			emit_array_row(&e, i);
	w->span = layout->module->span;
	close_block(w, "};");
}

const char *children_row(const struct layout *layout, int number)
{
	const struct children *children = &layout->children.items[number];

	return arena_printf(layout->module->arena, "{ %d, %d, %d, %d, %d }", children->parent, children->offsets,
			    children->list, children->order, children->lanes);
}

/* One row alone stands in the description. */
void emit_children_table(struct writer *w, const struct layout *layout, const struct target *target)
{
	(void) target;
	if (layout->children.n < 2)
		return;
	open_block(w, "static const pmg_children_desc %s_children[] = {", layout->prefix);
	for (int i = 0; i < layout->children.n; i++)
		line(w, "%s,", children_row(layout, i));
	close_block(w, "};");
}

void emit_functions(struct writer *w, const struct layout *layout)
{
	line(w, "PMG_PIPELINE(%s)\n", layout->module->name);
}
