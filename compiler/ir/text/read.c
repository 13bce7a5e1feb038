/* SPDX-License-Identifier: MIT
 *
 * The reader of module texts (docs/ir.md): the inverse of ir/text/print.c. Lines begin with a word that says what they
 * declare; the lines of a stage follow its own. References to arrays and groups that may come later are resolved at
 * the end, and everything is put where its number says. */
#include "ir/text/read_private.h"

#include <limits.h>
#include <string.h>

static int read_small(struct reader *r)
{
	struct span span = r->token.span;
	int64_t value = reader_integer(r);

	if (value < INT_MIN || value > INT_MAX) {
		reader_fail(r, span, "this number is too large here");
		return 0;
	}
	return (int) value;
}

/* Position of the present word in `words`, which is taken; `n` when it is none of them. */
static int take_one_of(struct reader *r, const char *const *words, int n)
{
	for (int i = 0; i < n; i++)
		if (reader_take(r, words[i]))
			return i;
	return n;
}

static void read_range(struct reader *r, struct expr **lo, struct expr **hi)
{
	*lo = read_expr(r);
	reader_expect(r, "..");
	*hi = read_expr(r);
}

/* ---- declarations ---- */

static struct param *add_param(struct reader *r)
{
	struct span span = r->token.span;
	int number = module_add_param(r->module, reader_name(r), span);

	return &r->module->params.items[number];
}

static void read_size(struct reader *r)
{
	struct param *param = add_param(r);

	param->is_specialized = reader_take(r, "=");
	if (param->is_specialized)
		param->value = reader_integer(r);
}

static void read_scalar(struct reader *r)
{
	struct param *param = add_param(r);

	param->is_scalar = true;
	reader_expect(r, ":");
	param->type = reader_type(r);
}

static void read_counter(struct reader *r)
{
	add_param(r)->is_loop = true;
}

static void read_inspected(struct reader *r)
{
	struct param *param = add_param(r);

	param->is_inspected = true;
	if (reader_take(r, "most"))
		param->of = read_expr(r);
}

static void read_derived(struct reader *r)
{
	const int first = DERIVATION_NONE + 1;
	struct param *param = add_param(r);
	int derivation;

	reader_expect(r, "=");
	derivation = first + take_one_of(r, derivation_names + first, DERIVATION_N - first);
	if (derivation == DERIVATION_N) {
		reader_fail(r, r->token.span, "expected halvings or doublings");
		return;
	}
	param->derivation = (enum derivation) derivation;
	reader_expect(r, "(");
	param->of = read_expr(r);
	reader_expect(r, ",");
	param->limit = reader_integer(r);
	reader_expect(r, ")");
}

static void read_assumption(struct reader *r)
{
	struct expr *condition = read_expr(r);

	vec_push(r->arena, &r->module->assumptions, condition);
}

static struct expr *read_limit(struct reader *r)
{
	struct expr *limit;

	reader_expect(r, "(");
	limit = read_expr(r);
	reader_expect(r, ")");
	return limit;
}

static void refer_to_array(struct reader *r, struct array *from, struct array **array)
{
	struct reference reference = { .from = from, .array = array, .span = r->token.span };

	reference.name = reader_name(r);
	vec_push(r->arena, &r->references, reference);
}

static void refer_to_group(struct reader *r, struct array *from)
{
	struct reference reference = { .from = from, .span = r->token.span };

	reference.number = reader_integer(r);
	vec_push(r->arena, &r->references, reference);
}

static void read_known(struct reader *r, struct array *array)
{
	VEC(int64_t) values = { 0 };

	do {
		int64_t value = reader_integer(r);

		vec_push(r->arena, &values, value);
	} while (reader_take(r, ",") && !r->failed);
	array->known.parents = values.items;
	array->known.n = values.n;
}

static void read_team_storage(struct reader *r, struct array *array)
{
	struct team_storage *in_team = arena_new(r->arena, struct team_storage);

	in_team->is_shared = reader_take(r, "shared");
	if (!in_team->is_shared)
		reader_expect(r, "registers");
	in_team->folded = (unsigned) reader_integer(r) & ((1U << array->rank) - 1);
	in_team->row = reader_integer(r);
	in_team->windowed = read_small(r);
	in_team->window = reader_integer(r);
	in_team->room = read_small(r);
	array->in_team = in_team;
}

static void read_facts(struct reader *r, struct array *array)
{
	if (reader_take(r, "offsets")) {
		array->facts |= FACT_OFFSETS;
		array->limit = read_limit(r);
	}
	if (reader_take(r, "index")) {
		array->facts |= FACT_INDEX;
		array->limit = read_limit(r);
	}
	if (reader_take(r, "sorted"))
		array->facts |= FACT_SORTED;
	if (reader_take(r, "unique"))
		array->facts |= FACT_UNIQUE;
	if (reader_take(r, "tree"))
		array->facts |= FACT_TREE;
	array->is_proved = reader_take(r, "proved");
	if (reader_take(r, "segments"))
		refer_to_array(r, array, &array->segments);
	if (reader_take(r, "known"))
		read_known(r, array);
	if (reader_take(r, "of"))
		refer_to_array(r, array, &array->owner);
	if (reader_take(r, "for"))
		refer_to_array(r, array, &array->stands_for);
	if (reader_take(r, "rows"))
		refer_to_array(r, array, &array->row_of);
	array->is_swapped = reader_take(r, "swapped");
	array->is_kept = array->is_swapped && reader_take(r, "kept");
	if (reader_take(r, "group"))
		refer_to_group(r, array);
	if (reader_take(r, "folded")) {
		array->stored.folded = (unsigned) reader_integer(r) & ((1U << array->rank) - 1);
		array->stored.is_per_thread = reader_take(r, "threads");
	}
	if (reader_take(r, "window")) {
		array->stored.windowed = read_small(r);
		reader_expect(r, "of");
		array->stored.window = reader_integer(r);
	}
	if (reader_take(r, "team"))
		read_team_storage(r, array);
	array->stored.is_prefetched = reader_take(r, "prefetched");
	if (reader_take(r, "lanes"))
		array->stored.lanes = (int) reader_integer(r);
	if (reader_take(r, "in"))
		refer_to_array(r, array, &array->stored.stands_in);
}

typedef VEC(struct expr *) expr_list;

static void read_box(struct reader *r, expr_list *lo, expr_list *hi)
{
	reader_expect(r, "[");
	while (!reader_at(r, "]") && !r->failed) {
		struct expr *first, *last;

		read_range(r, &first, &last);
		vec_push(r->arena, lo, first);
		vec_push(r->arena, hi, last);
		if (!reader_at(r, "]"))
			reader_expect(r, ",");
	}
	reader_expect(r, "]");
}

static enum storage read_storage(struct reader *r)
{
	struct span span = r->token.span;
	enum storage storage = storage_from_name(reader_name(r));

	if (storage < STORAGE_N)
		return storage;
	reader_fail(r, span, "expected f64, f32, f64top or narrow");
	return STORAGE_F64;
}

static void read_array(struct reader *r)
{
	const int n_roles = ROLE_LOCAL + 1;
	struct span span = r->token.span;
	const char *name = reader_name(r);
	expr_list lo = { 0 }, hi = { 0 };
	enum storage storage = STORAGE_F64;
	bool is_fixed;
	enum scalar_type type, sums;
	struct array *array;
	int role;

	reader_expect(r, ":");
	is_fixed = reader_take(r, "fixed");
	role = take_one_of(r, role_names, n_roles);
	if (role == n_roles)
		reader_fail(r, r->token.span, "expected a role: in, out, inout, state, next, temp, private, "
			    "inspected or local");
	type = reader_type(r);
	if (reader_take(r, "as"))
		storage = read_storage(r);
	sums = reader_take(r, "sums") ? reader_type(r) : type;
	read_box(r, &lo, &hi);
	array = module_add_array(r->module, name, (enum array_role) role, type, lo.n, span);
	array->is_fixed = is_fixed;
	array->storage = storage;
	array->sums = sums;
	for (int i = 0; i < lo.n; i++) {
		array->lo[i] = lo.items[i];
		array->hi[i] = hi.items[i];
	}
	read_facts(r, array);
}

static int find_counter(struct reader *r, const char *name, struct span span)
{
	for (int i = 0; i < r->module->params.n; i++)
		if (r->module->params.items[i].is_loop && strcmp(r->module->params.items[i].name, name) == 0)
			return i;
	reader_fail(r, span, "'%s' is not a counter", name);
	return 0;
}

static void read_loop(struct reader *r)
{
	struct loop *loop = &r->module->loop;

	loop->span = r->token.span;
	loop->var = reader_name(r);
	loop->param = find_counter(r, loop->var, loop->span);
	reader_expect(r, "in");
	read_range(r, &loop->lo, &loop->hi);
	if (reader_take(r, "until"))
		loop->until = read_expr(r);
}

/* ---- groups and stages ---- */

static void read_region(struct reader *r, enum region_kind kind)
{
	r->region = kind;
	r->group = NULL;
}

static void read_prologue(struct reader *r)
{
	read_region(r, REGION_PROLOGUE);
}

static void read_body(struct reader *r)
{
	read_region(r, REGION_BODY);
}

static void read_epilogue(struct reader *r)
{
	read_region(r, REGION_EPILOGUE);
}

static void read_directions(struct reader *r, struct group *group)
{
	group->direction = arena_new_array(r->arena, int, group->n_common);
	for (int i = 0; i < group->n_common && !r->failed; i++) {
		group->direction[i] = reader_at(r, "-") ? -1 : 1;
		if (!reader_take(r, "-"))
			reader_expect(r, "+");
	}
}

static void read_shifts(struct reader *r, struct group *group)
{
	group->shift = arena_new_array(r->arena, int64_t, group->n_common);
	for (int i = 0; i < group->n_common && !r->failed; i++)
		group->shift[i] = reader_integer(r);
}

/* Numbers that are positions may be left out. */
static int read_number_or(struct reader *r, int position)
{
	return r->token.kind == TOKEN_INTEGER ? read_small(r) : position;
}

static void read_group(struct reader *r)
{
	struct span span = r->token.span;
	int number = read_number_or(r, r->module->groups.n);
	struct group *group = module_add_group(r->module, r->region, reader_string(r), span);

	group->number = number;
	reader_expect(r, "common");
	group->n_common = read_small(r);
	group->is_recurrence = reader_take(r, "recurrence");
	if (reader_take(r, "directions"))
		read_directions(r, group);
	group->is_live = reader_take(r, "live");
	group->has_sparse_weights = reader_take(r, "few");
	group->is_apart = reader_take(r, "apart");
	group->is_in_memory = reader_take(r, "memory");
	group->is_by_rows = reader_take(r, "rows");
	group->n_fused = reader_take(r, "fused") ? read_small(r) : 0;
	if (reader_take(r, "shifts"))
		read_shifts(r, group);
	r->group = group;
}

static void read_dim(struct reader *r, struct stage *stage, bool is_bind)
{
	struct dim dim = { .kind = is_bind ? DIM_BIND : DIM_RANGE, .span = r->token.span };

	dim.name = reader_name(r);
	reader_expect(r, is_bind ? "=" : "in");
	if (reader_take(r, "children"))
		dim.kind = DIM_CHILDREN;
	if (dim.kind == DIM_RANGE)
		read_range(r, &dim.lo, &dim.hi);
	else
		dim.source = read_access(r);
	dim.is_short = dim.kind == DIM_RANGE && reader_take(r, "short");
	reader_end_line(r);
	vec_push(r->arena, &stage->dims, dim);
}

static void read_statement(struct reader *r, struct stage *stage)
{
	int op;

	stage->span = r->token.span;
	stage->write = read_access(r);
	op = take_one_of(r, reduce_names, REDUCE_N);
	if (op == REDUCE_N)
		reader_fail(r, r->token.span, "expected =, +=, *=, min= or max=");
	stage->op = (enum reduce_op) op;
	stage->value = read_expr(r);
}

static void read_stage_lines(struct reader *r, struct stage *stage)
{
	reader_end_line(r);
	r->stage = stage;
	while (reader_at(r, "for") || reader_at(r, "let")) {
		bool is_bind = reader_at(r, "let");

		reader_advance(r);
		read_dim(r, stage, is_bind);
	}
	if (reader_take(r, "where")) {
		stage->guard = read_expr(r);
		reader_end_line(r);
	}
	read_statement(r, stage);
	r->stage = NULL;
}

static void read_stage(struct reader *r)
{
	struct span span = r->token.span;
	int number = read_number_or(r, r->module->stages.n), n_common = r->group ? r->group->n_common : 0;
	struct stage *stage;

	if (!r->group) {
		reader_fail(r, span, "a stage stands in a group");
		return;
	}
	stage = module_add_stage(r->module, r->group, &(dim_list) { 0 }, span);
	r->group->n_common = n_common;
	stage->number = number;
	stage->name = arena_printf(r->arena, "S%d", number);
	stage->is_init = reader_take(r, "init");
	stage->is_commit = reader_take(r, "commit");
	stage->is_next = reader_take(r, "next");
	read_stage_lines(r, stage);
}

/* ---- overrides, decisions, schedules ---- */

static void read_override(struct reader *r)
{
	struct override override = { .span = r->token.span };

	reader_expect(r, "of");
	override.verb = verb_of_name(reader_string(r));
	if (override.verb == VERB_N)
		reader_fail(r, override.span, "no item of a schedule begins so");
	if (reader_take(r, "subjects"))
		while (r->token.kind == TOKEN_STRING)
			vec_push(r->arena, &override.subjects, reader_string(r));
	reader_expect(r, "choice");
	override_choose(&override, reader_string(r));
	if (reader_take(r, "words"))
		while (r->token.kind == TOKEN_STRING)
			vec_push(r->arena, &override.words, reader_string(r));
	if (reader_take(r, "numbers"))
		while (r->token.kind == TOKEN_INTEGER || reader_at(r, "-"))
			vec_push(r->arena, &override.numbers, reader_integer(r));
	override.is_used = reader_take(r, "used");
	vec_push(r->arena, &r->module->overrides, override);
}

static void read_decision(struct reader *r)
{
	struct decision decision = { .span = r->token.span };

	decision.pass = reader_string(r);
	decision.subject = reader_string(r);
	decision.chosen = reader_string(r);
	decision.alternatives = reader_string(r);
	decision.reason = reader_string(r);
	if (!decision_set_kind(&decision))
		reader_fail(r, decision.span, "no pass decides that");
	vec_push(r->arena, &r->module->decisions, decision);
}

static void read_schedule(struct reader *r)
{
	struct str text = str_new(r->arena);
	struct span span = r->token.span;
	int kind = take_one_of(r, region_names, REGION_N);

	if (kind == REGION_N) {
		reader_fail(r, span, "expected prologue, body or epilogue");
		return;
	}
	while (r->token.kind == TOKEN_LINE_END) {
		reader_advance(r);
		if (r->token.kind != TOKEN_RAW)
			break;
		str_add(&text, "%s\n", r->token.text);
		reader_advance(r);
	}
	r->schedules[kind] = str_text(&text);
	r->schedule_spans[kind] = span;
}

/* ---- numbers and references ---- */

/* Takes the place `number` of a list of `n`. */
static bool claim(struct reader *r, bool *taken, int n, int number, struct span span)
{
	if (number < 0 || number >= n || taken[number]) {
		reader_fail(r, span, "this number is not one of 0, 1, 2, … or used twice");
		return false;
	}
	taken[number] = true;
	return true;
}

static void arrange_groups(struct reader *r)
{
	struct module *module = r->module;
	struct group **items = arena_new_array(r->arena, struct group *, module->groups.n);
	bool *taken = arena_new_array(r->arena, bool, module->groups.n);

	for (int i = 0; i < module->groups.n && !r->failed; i++) {
		struct group *group = module->groups.items[i];

		if (claim(r, taken, module->groups.n, group->number, group->span))
			items[group->number] = group;
	}
	if (!r->failed && module->groups.n)
		memcpy(module->groups.items, items, (size_t) module->groups.n * sizeof(struct group *));
}

static void arrange_stages(struct reader *r)
{
	struct module *module = r->module;
	struct stage **items = arena_new_array(r->arena, struct stage *, module->stages.n);
	bool *taken = arena_new_array(r->arena, bool, module->stages.n);

	for (int i = 0; i < module->stages.n && !r->failed; i++) {
		struct stage *stage = module->stages.items[i];

		if (claim(r, taken, module->stages.n, stage->number, stage->span))
			items[stage->number] = stage;
	}
	if (!r->failed && module->stages.n)
		memcpy(module->stages.items, items, (size_t) module->stages.n * sizeof(struct stage *));
}

static void resolve(struct reader *r, const struct reference *reference)
{
	if (reference->array) {
		*reference->array = module_find_array(r->module, reference->name);
		if (!*reference->array)
			reader_fail(r, reference->span, "'%s' is not an array", reference->name);
	} else if (reference->number >= 0 && reference->number < r->module->groups.n) {
		reference->from->group = r->module->groups.items[reference->number];
	} else {
		reader_fail(r, reference->span, "there is no such group");
	}
}

static void resolve_all(struct reader *r)
{
	if (r->failed)
		return;
	arrange_groups(r);
	arrange_stages(r);
	for (int i = 0; i < r->references.n && !r->failed; i++)
		resolve(r, &r->references.items[i]);
}

/* ---- the whole ---- */

struct line_kind {
	const char *word;
	void (*read)(struct reader *r);
	bool takes_lines;               /* and their ends */
};

static void read_line(struct reader *r)
{
	static const struct line_kind kinds[] = {
		{ "param", read_size, false }, { "scalar", read_scalar, false }, { "counter", read_counter, false },
		{ "inspected", read_inspected, false }, { "derived", read_derived, false },
		{ "restructuring", read_restructuring, false }, { "branches", read_branching, false },
		{ "chunks", read_chunking, false },
		{ "assume", read_assumption, false }, { "array", read_array, false }, { "loop", read_loop, false },
		{ "prologue", read_prologue, false }, { "body", read_body, false },
		{ "epilogue", read_epilogue, false }, { "group", read_group, false }, { "stage", read_stage, false },
		{ "override", read_override, false }, { "decision", read_decision, false },
		{ "schedule", read_schedule, true },
	};

	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		if (!reader_take(r, kinds[i].word))
			continue;
		kinds[i].read(r);
		if (!kinds[i].takes_lines)
			reader_end_line(r);
		return;
	}
	reader_fail(r, r->token.span, "no line begins like this");
}

static void read_head(struct reader *r)
{
	struct span span;

	reader_expect(r, "module");
	span = r->token.span;
	r->module = module_new(r->arena, r->diags, r->ctx, reader_name(r), span);
	reader_end_line(r);
	reader_expect(r, "source");
	r->module->source_name = reader_string(r);
	reader_end_line(r);
}

static bool has_schedules(const struct reader *r)
{
	return r->schedules[REGION_PROLOGUE] || r->schedules[REGION_BODY] || r->schedules[REGION_EPILOGUE];
}

bool module_read_part(struct module *module, enum region_kind region, const char *name, const char *text)
{
	uint32_t file = sources_add(module->diags->sources, name, text, strlen(text));
	struct reader r = { .module = module, .arena = module->arena, .diags = module->diags, .ctx = module->ctx,
			    .text = text, .file = file, .size = (uint32_t) strlen(text), .region = region };

	reader_advance(&r);
	while (r.token.kind != TOKEN_END)
		read_line(&r);
	resolve_all(&r);
	return !r.failed;
}

struct module *module_read(struct arena *arena, struct diags *diags, isl_ctx *ctx, uint32_t file)
{
	const struct source *source = sources_get(diags->sources, file);
	struct reader r = { .arena = arena, .diags = diags, .ctx = ctx, .text = source->text, .file = file,
			    .size = source->size };

	reader_advance(&r);
	read_head(&r);
	while (r.token.kind != TOKEN_END)
		read_line(&r);
	resolve_all(&r);
	r.failed = r.failed || !module_verify(r.module, "read");
	if (!r.failed && has_schedules(&r))
		read_schedules(&r);
	if (!r.failed)
		return r.module;
	module_free(r.module);
	return NULL;
}
