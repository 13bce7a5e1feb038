/* SPDX-License-Identifier: MIT
 *
 * The work of a candidate, for the estimates of the runtime: a row for each stage that says what a point of it and a
 * row of it cost, and a function that counts both from the sizes. The loop that cannot be counted, since its bounds are
 * data, counts as its mean where an offsets array tells it, else as a few iterations. */
#include "codegen/abi/abi.h"

/* How a stage runs: the marks above it, and the dim of its innermost loop, -1 if there is none. */
struct use {
	bool is_shared, is_vector, is_atomic, is_accumulated, is_row;
	int inner;
};

struct work {
	struct emit emit;
	const struct layout *layout;
	struct use *uses;               /* by number of stage */
};

/* ---- loops ---- */

static isl_stat look_at_row(__isl_take isl_set *set, __isl_take isl_aff *aff, void *user)
{
	struct work *work = user;
	const struct stage *stage = stage_of_id(isl_set_get_tuple_id(set));

	for (int d = 0; d < stage->dims.n; d++)
		if (stage->dims.items[d].kind == DIM_RANGE && isl_aff_coefficient_sgn(aff, isl_dim_in, d))
			work->uses[stage->number].inner = d;
	isl_set_free(set);
	isl_aff_free(aff);
	return isl_stat_ok;
}

static isl_stat look_at_rows(__isl_take isl_pw_aff *rows, void *user)
{
	isl_stat stat = isl_pw_aff_foreach_piece(rows, look_at_row, user);

	isl_pw_aff_free(rows);
	return stat;
}

/* Bands come from outside to inside, so that the last one tells. */
static void note_loops(__isl_keep isl_schedule_node *band, struct work *work)
{
	isl_multi_union_pw_aff *partial = isl_schedule_node_band_get_partial_schedule(band);
	const int n = (int) isl_schedule_node_band_n_member(band);

	for (int i = 0; i < n; i++) {
		isl_union_pw_aff *rows = isl_multi_union_pw_aff_get_at(partial, i);

		isl_union_pw_aff_foreach_pw_aff(rows, look_at_rows, work);
		isl_union_pw_aff_free(rows);
	}
	isl_multi_union_pw_aff_free(partial);
}

/* ---- marks ---- */

struct marking {
	struct work *work;
	const struct mark *mark;
};

static isl_stat mark_stage(__isl_take isl_set *set, void *user)
{
	struct marking *marking = user;
	const struct stage *stage = stage_of_id(isl_set_get_tuple_id(set));
	struct use *use = &marking->work->uses[stage->number];

	use->is_shared |= marking->mark->kind == MARK_PARALLEL;
	use->is_vector |= marking->mark->kind == MARK_VECTOR || marking->mark->kind == MARK_BLOCK;
	isl_set_free(set);
	return isl_stat_ok;
}

static isl_bool note_mark(__isl_keep isl_schedule_node *node, void *user)
{
	struct marking marking = { user, mark_of_node(node) };
	isl_union_set *domain;
	struct use *use;

	if (isl_schedule_node_get_type(node) == isl_schedule_node_band)
		note_loops(node, user);
	if (!marking.mark)
		return isl_bool_true;
	if (marking.mark->kind == MARK_PARALLEL || marking.mark->kind == MARK_VECTOR ||
	    marking.mark->kind == MARK_BLOCK) {
		domain = isl_schedule_node_get_domain(node);
		isl_union_set_foreach_set(domain, mark_stage, &marking);
		isl_union_set_free(domain);
		return isl_bool_true;
	}
	use = marking.mark->stage ? &marking.work->uses[marking.mark->stage->number] : NULL;
	if (use) {
		use->is_atomic |= marking.mark->kind == MARK_ATOMIC;
		use->is_accumulated |= marking.mark->kind == MARK_ACCUMULATE;
		use->is_row |= marking.mark->kind == MARK_ROW;
	}
	return isl_bool_true;
}

/* ---- one point ---- */

enum { COST_OF_FUNCTION = 12, COST_OF_QUOTIENT = 4 };

static int cost_of(enum expr_op op)
{
	return op == OP_DIV || op == OP_SQRT ? COST_OF_QUOTIENT : op >= OP_POW ? COST_OF_FUNCTION : 1;
}

static int flops_of(const struct expr *expr)
{
	int flops = expr->kind == EXPR_OP && type_is_float(expr->type) ? cost_of(expr->op) : 0;

	for (int i = 0; i < expr_n_args(expr); i++)
		flops += flops_of(expr->args[i]);
	return flops;
}

/* A term taken away from a sum costs what one added costs. */
int flops_of_stage(const struct stage *stage)
{
	const struct expr *value = stage->value;
	bool is_taken = stage->op == REDUCE_ADD && value->kind == EXPR_OP && value->op == OP_NEG;

	return flops_of(is_taken ? value->args[0] : value) + (stage->op != REDUCE_SET);
}

struct traffic {
	const struct stage *stage;
	int inner;
	int bytes, row_bytes, fetches, far;
};

static void add_access(struct access *access, void *user)
{
	struct traffic *traffic = user;
	int inner = traffic->inner, size = type_size(access->array->type);
	bool is_data = false;

	if (access->array->role == ROLE_LOCAL)
		return;
	for (int d = 0; d < traffic->stage->dims.n; d++)
		is_data = is_data ||
			  (traffic->stage->dims.items[d].kind == DIM_BIND && access_uses_dim(access, d));
	*(inner >= 0 && access_uses_dim(access, inner) ? &traffic->bytes : &traffic->row_bytes) += size;
	traffic->fetches += is_data;
	traffic->far += inner >= 0 && access_step(traffic->stage, access, inner) == STEP_FAR;
}

static struct traffic traffic_of(struct stage *stage, const struct use *use)
{
	struct traffic traffic = { .stage = stage, .inner = use->inner };

	stage_reads(stage, add_access, &traffic);
	if (!use->is_row)
		add_access(&stage->write, &traffic);
	return traffic;
}

int bytes_of_stage(struct stage *stage)
{
	const struct traffic traffic = traffic_of(stage, &(struct use) { 0 });

	return traffic.bytes;
}

/* ---- how many points ---- */

static bool is_countable(struct work *work, const struct expr *expr)
{
	const struct loop *loop = &work->layout->module->loop;
	struct expr *const *args = expr->args;

	if (expr->kind == EXPR_DIM || expr->kind == EXPR_READ || (expr->kind == EXPR_PARAM && loop->var &&
								   expr->index == loop->param))
		return false;
	for (int i = 0; i < expr_n_args(expr); i++)
		if (!is_countable(work, args[i]))
			return false;
	return true;
}

static struct affine difference(struct work *work, const struct expr *hi, const struct expr *lo)
{
	struct affine a = affine_of_expr(&work->emit, NULL, hi), b = affine_of_expr(&work->emit, NULL, lo);

	return affine_combine(work->emit.arena, 1, &a, -1, &b);
}

/* The array whose offsets are the bounds of a dim; NULL. */
static const struct array *offsets_of(const struct stage *stage, const struct dim *dim)
{
	const struct dim *source = dim->hi->kind == EXPR_DIM ? &stage->dims.items[dim->hi->index] : NULL;
	const struct array *array = source && source->kind == DIM_BIND ? source->source.array : NULL;

	return array && (array->facts & FACT_OFFSETS) && array->rank == 1 && array->limit ? array : NULL;
}

/* A number of a product, or what it is divided by. */
struct factor {
	struct affine value;
	bool divides, is_threads;
};

typedef VEC(struct factor) factor_list;

static void add_factor(struct work *work, factor_list *factors, struct affine value, bool divides)
{
	vec_push(work->emit.arena, factors, ((struct factor) { .value = value, .divides = divides }));
}

static void add_iterations(struct work *work, factor_list *factors, const struct stage *stage, const struct dim *dim)
{
	const struct array *offsets = offsets_of(stage, dim);

	if (is_countable(work, dim->lo) && is_countable(work, dim->hi)) {
		add_factor(work, factors, difference(work, dim->hi, dim->lo), false);
	} else if (!offsets || !is_countable(work, offsets->limit) || !is_countable(work, offsets->hi[0])) {
		add_factor(work, factors, affine_constant(SHORT_RANGE), false);
	} else {
		add_factor(work, factors, affine_of_expr(&work->emit, NULL, offsets->limit), false);
		add_factor(work, factors, difference(work, offsets->hi[0], offsets->lo[0]), true);
	}
}

/* Of the points of a stage; but for those of one dim. */
static factor_list factors_of(struct work *work, const struct stage *stage, int without)
{
	factor_list factors = { 0 };

	for (int d = 0; d < stage->dims.n; d++)
		if (stage->dims.items[d].kind == DIM_RANGE && d != without)
			add_iterations(work, &factors, stage, &stage->dims.items[d]);
	return factors;
}

/* Of the cells of the copies of an array that threads add to, each of which is a row: of their first dims. */
static factor_list factors_of_copies(struct work *work, const struct array *copies, int n_dims)
{
	const int parts = n_private_copies(copies);
	factor_list factors = { 0 };

	add_factor(work, &factors, affine_constant(parts), false);
	factors.items[0].is_threads = parts == 1;
	for (int d = 1; d < n_dims; d++)
		add_factor(work, &factors, difference(work, copies->hi[d], copies->lo[d]), false);
	return factors;
}

/* ---- products as expressions ---- */

static struct k_expr *real_constant(const struct emit *e, int64_t value)
{
	return k_float(e->arena, arena_printf(e->arena, "%s.0", k_int_text(e->arena, value)));
}

/* Sizes stand in parentheses, needed or not. */
static struct k_expr *factor_value(const struct emit *e, const struct factor *factor)
{
	if (factor->is_threads)
		return k_member(e->arena, k_name(e->arena, "plan"), "threads", true);
	if (!factor->value.terms.n)
		return real_constant(e, factor->value.constant);
	return k_cast(e->arena, k_scalar("double"), k_grouped(e->arena, affine_expr(e->arena, &factor->value)));
}

static struct k_expr *product_value(const struct emit *e, const factor_list *factors)
{
	struct k_expr *product = NULL;

	for (int i = 0; i < factors->n; i++) {
		struct k_expr *value = factor_value(e, &factors->items[i]);

		product = factors->items[i].divides ? k_binary(e->arena, K_DIV, product, value)
						    : k_times(e->arena, product, value);
	}
	return product ? product : real_constant(e, 1);
}

struct k_expr *mean_iterations(const struct emit *e, const struct stage *stage, const struct dim *dim)
{
	struct work work = { .emit = *e, .layout = e->layout };
	factor_list factors = { 0 };

	if (dim->kind != DIM_RANGE)
		return k_int(e->arena, SHORT_RANGE);
	add_iterations(&work, &factors, stage, dim);
	return product_value(e, &factors);
}

/* ---- products as tables ---- */

/* The parameter to which a value adds a constant, of which a table can tell where it is; -1. */
static int param_of_table(const struct layout *layout, const struct affine *value)
{
	const int number = layout_param(layout, affine_offset_name(value));
	const struct param *param = number < 0 ? NULL : &layout->module->params.items[number];

	return param && (param->is_inspected || param_is_argument(param)) ? number : -1;
}

/* PMG_ARGUMENT(hines_args, n, 2); NULL: it is no parameter plus a constant. */
static const char *factor_row(const struct emit *e, const struct factor *factor)
{
	const char *per = factor->divides ? "PER_" : "", *plus = k_int_text(e->arena, factor->value.constant);
	const int param = param_of_table(e->layout, &factor->value);

	if (factor->is_threads)
		return "PMG_EVERY_THREAD";
	if (!factor->value.terms.n)
		return arena_printf(e->arena, "PMG_%sNUMBER(%s)", per, plus);
	if (param < 0)
		return NULL;
	if (e->module->params.items[param].is_inspected)
		return arena_printf(e->arena, "PMG_%sSIZE(%d, %s)", per, e->layout->param_number[param], plus);
	return arena_printf(e->arena, "PMG_%sARGUMENT(%s_args, %s, %s)", per, e->module->name,
			    e->layout->params[param], plus);
}

/* "": there are no factors; NULL: it is no product of such. */
static const char *product_row(const struct emit *e, const factor_list *factors)
{
	struct str text = str_new(e->arena);

	for (int i = 0; i < factors->n; i++) {
		const char *row = factor_row(e, &factors->items[i]);

		if (!row)
			return NULL;
		str_add(&text, "%s%s", i ? ", " : "", row);
	}
	return str_text(&text);
}

/* ---- how many points that are no products ---- */

static void add_count(struct work *work, const char *counts, int at, factor_list factors)
{
	if (!product_row(&work->emit, &factors))
		k_set(work->emit.b, k_at(work->emit.arena, counts, k_int(work->emit.arena, at)),
		      product_value(&work->emit, &factors));
}

static void add_counts(struct work *work, const char *counts)
{
	const struct module *module = work->layout->module;
	int at = 0;

	for (int i = 0; i < module->stages.n; i++, at += 2) {
		const struct stage *stage = module->stages.items[i];

		work->emit.b->span = stage->span;
		add_count(work, counts, at, factors_of(work, stage, -1));
		add_count(work, counts, at + 1, factors_of(work, stage, work->uses[i].inner));
	}
	for (int i = 0; i < module->arrays.n; i++) {
		const struct array *array = module->arrays.items[i];

		if (array->role != ROLE_PRIVATE)
			continue;
		add_count(work, counts, at, factors_of_copies(work, array, array->rank));
		add_count(work, counts, at + 1, factors_of_copies(work, array, 1));
		at += 2;
	}
}

static struct work work_new(const struct layout *layout, const struct target *target)
{
	struct module *module = layout->module;
	struct work work = { .layout = layout, .emit = emit_for_table(layout, target) };

	work.uses = arena_new_array(module->arena, struct use, module->stages.n);
	for (int i = 0; i < module->stages.n; i++)
		work.uses[i].inner = -1;
	for (int i = 0; i < REGION_N; i++)
		if (module->regions[i].schedule)
			isl_schedule_foreach_schedule_node_top_down(module->regions[i].schedule, note_mark, &work);
	return work;
}

void emit_count(struct writer *w, const struct layout *layout, const struct target *target)
{
	struct work work = work_new(layout, target);
	struct names names = layout->names;
	const char *counts = names_declare(&names, "counts");
	struct k_block *body = table_body_open(&work.emit);

	if (layout->has_work)
		add_counts(&work, counts);
	if (!body->stmts.n)
		return;
	w->span = layout->module->span;
	table_function_print(w, &work.emit,
			     arena_printf(work.emit.arena, "static void %s_count(const pmg_plan *plan, "
					  "const void *arguments, double *%s)", layout->prefix, counts),
			     body, "(void) plan;");
}

/* ---- sizes for which a kernel is meant ---- */

/* With fewer of its lanes in use, a block takes longer than one system after the other. */
enum { LEAST_PART = 4 };

struct least {
	struct affine length;
	int64_t least;
};

/* Of all blocks, or of all sums by rows, one has to be of a length that is meant. */
struct sizes {
	struct work work;
	VEC(struct least) lengths;
	bool is_any;
};

static void note_length(struct sizes *sizes, const struct dim *dim, int64_t least)
{
	struct least length = { .least = least };

	if (dim->kind != DIM_RANGE || !is_countable(&sizes->work, dim->lo) ||
	    !is_countable(&sizes->work, dim->hi)) {
		sizes->is_any = true;
		return;
	}
	length.length = difference(&sizes->work, dim->hi, dim->lo);
	vec_push(sizes->work.emit.arena, &sizes->lengths, length);
}

static isl_bool note_block(__isl_keep isl_schedule_node *node, void *user)
{
	const struct mark *mark = mark_of_node(node);

	if (!mark || mark->kind != MARK_BLOCK)
		return isl_bool_true;
	note_length(user, mark->dim, mark->lanes/LEAST_PART);
	return isl_bool_true;
}

static void note_rows(struct sizes *sizes, const struct group *group)
{
	const struct stage *add = group->stages.items[0];

	if (group->is_by_rows)
		note_length(sizes, &add->dims.items[add->dims.n - 1], SUM_LEAST_ROW);
}

/* What a candidate is meant for: blocks, and sums by rows. */
struct meant {
	struct sizes blocks, rows;
};

static struct meant meant_for(const struct layout *layout)
{
	struct module *module = layout->module;
	const struct sizes none = { .work = { .layout = layout, .emit = emit_for_table(layout, NULL) } };
	struct meant meant = { none, none };

	for (int i = 0; i < REGION_N; i++)
		if (module->regions[i].schedule)
			isl_schedule_foreach_schedule_node_top_down(module->regions[i].schedule, note_block,
								    &meant.blocks);
	for (int g = 0; g < module->groups.n; g++)
		note_rows(&meant.rows, module->groups.items[g]);
	return meant;
}

/* Sizes for which the kernel is not meant: there are such. */
static bool has_unfit(const struct sizes *sizes)
{
	return !sizes->is_any && sizes->lengths.n;
}

/* { offsetof(hines_args, nSystems), 0, 4 }; NULL: the length is no argument plus a constant. */
static const char *least_row(const struct emit *e, const struct least *length)
{
	const int param = param_of_table(e->layout, &length->length);

	if (param < 0 || e->module->params.items[param].is_inspected)
		return NULL;
	return arena_printf(e->arena, "{ offsetof(%s_args, %s), %s, %s }", e->module->name, e->layout->params[param],
			    k_int_text(e->arena, length->length.constant), k_int_text(e->arena, length->least));
}

static const char *least_table(const struct sizes *sizes)
{
	const struct emit *e = &sizes->work.emit;
	struct str text = str_new(e->arena);

	for (int i = 0; i < sizes->lengths.n; i++) {
		const char *row = least_row(e, &sizes->lengths.items[i]);

		if (!row)
			return NULL;
		str_add(&text, "%s%s", i ? ", " : "", row);
	}
	return str_text(&text);
}

const char *least_field(const struct layout *layout)
{
	const struct meant meant = meant_for(layout);
	const bool has_blocks = has_unfit(&meant.blocks);
	const struct sizes *sizes = has_blocks ? &meant.blocks : &meant.rows;
	const char *table = has_blocks != has_unfit(&meant.rows) ? least_table(sizes) : NULL;

	return table && layout->has_work ? arena_printf(layout->module->arena,
							".n_least = %d, .least = (const pmg_least[]) { %s }",
							sizes->lengths.n, table) : "";
}

static struct k_expr *condition_of_sizes(const struct sizes *sizes)
{
	struct arena *arena = sizes->work.emit.arena;
	struct k_expr *condition = NULL;

	for (int i = 0; i < sizes->lengths.n; i++)
		condition = k_join(arena, K_OR, condition,
				   k_binary(arena, K_GE, affine_expr(arena, &sizes->lengths.items[i].length),
					    k_int(arena, sizes->lengths.items[i].least)));
	return has_unfit(sizes) ? condition : NULL;
}

static struct k_expr *condition_of(const struct layout *layout)
{
	struct arena *arena = layout->module->arena;
	const struct meant meant = meant_for(layout);
	struct k_expr *of_blocks = condition_of_sizes(&meant.blocks), *of_rows = condition_of_sizes(&meant.rows);

	if (of_blocks && of_rows)
		return k_binary(arena, K_AND, k_grouped(arena, of_blocks), k_grouped(arena, of_rows));
	return of_blocks ? of_blocks : of_rows;
}

void emit_suits(struct writer *w, const struct layout *layout, const struct target *target)
{
	struct k_expr *condition = layout->has_work && !*least_field(layout) ? condition_of(layout) : NULL;
	struct emit e = emit_for_table(layout, target);
	struct k_block *body = table_body_open(&e);

	if (!condition)
		return;
	k_return(e.b, condition);
	table_function_print(w, &e, arena_printf(e.arena, "static bool %s_suits(const void *arguments)",
						 layout->prefix), body, NULL);
}

/* ---- rows ---- */

/* A field of a row: .points = PMG_PRODUCT(…); nothing for 1, and for what `count` writes. */
static void add_product(struct work *work, struct str *text, const char *name, factor_list factors)
{
	const char *row = product_row(&work->emit, &factors);

	if (row && *row)
		str_add(text, ", .%s = PMG_PRODUCT(%s)", name, row);
}

static void add_if_any(struct str *text, const char *name, int n)
{
	if (n)
		str_add(text, ", .%s = %d", name, n);
}

static void emit_work_row(struct work *work, struct stage *stage)
{
	const struct use *use = &work->uses[stage->number];
	struct traffic traffic = traffic_of(stage, use);
	struct str text = str_new(work->emit.arena);

	str_add(&text, "{ %s", c_string(work->emit.arena, stage->write.array->name));
	add_product(work, &text, "points", factors_of(work, stage, -1));
	add_product(work, &text, "rows", factors_of(work, stage, use->inner));
	str_add(&text, ", .flops = %d, .bytes = %d", flops_of_stage(stage), traffic.bytes);
	add_if_any(&text, "row_bytes", traffic.row_bytes);
	add_if_any(&text, "fetches", traffic.fetches);
	add_if_any(&text, "far", traffic.far);
	if (use->is_atomic)
		str_add(&text, ", .%satomics = 1", use->is_accumulated ? "row_" : "");
	str_add(&text, "%s%s },", use->is_shared ? ", .is_shared = true" : "",
		use->is_vector ? ", .is_vector = true" : "");
	work->emit.w->span = stage->span;
	line(work->emit.w, "%s", str_text(&text));
}

/* Copies of an array that threads add to are set to zero, and added. */
static void emit_copies_row(struct work *work, const struct array *array)
{
	struct str text = str_new(work->emit.arena);

	str_add(&text, "{ %s", c_string(work->emit.arena, array->name));
	add_product(work, &text, "points", factors_of_copies(work, array, array->rank));
	add_product(work, &text, "rows", factors_of_copies(work, array, 1));
	line(work->emit.w, "%s, .flops = 1, .bytes = %d, .is_shared = true, .is_vector = true },", str_text(&text),
	     2*type_size(array->type));
}

/* ---- all of it ---- */

int n_of_work(const struct module *module)
{
	int n = module->stages.n;

	for (int i = 0; i < module->arrays.n; i++)
		n += module->arrays.items[i]->role == ROLE_PRIVATE;
	return n;
}

void emit_work_table(struct writer *w, const struct layout *layout, const struct target *target)
{
	struct work work = work_new(layout, target);
	struct module *module = layout->module;

	if (!layout->has_work)
		return;
	work.emit.w = w;
	open_block(w, "static const pmg_work_desc %s_work[] = {", layout->prefix);
	for (int i = 0; i < module->stages.n; i++)
		emit_work_row(&work, module->stages.items[i]);
	for (int i = 0; i < module->arrays.n; i++)
		if (module->arrays.items[i]->role == ROLE_PRIVATE)
			emit_copies_row(&work, module->arrays.items[i]);
	w->span = module->span;
	close_block(w, "};");
}
