/* SPDX-License-Identifier: MIT
 *
 * Declarations. All names of a block are declared before its statements are read, so that their order does
 * not matter: first parameters, then arrays and objects, then functions, whose domains may read index arrays.
 * The members of an object are declared by the text that its construct writes. */
#include <string.h>

#include "sema/sema_private.h"

/* ---- arrays ---- */

struct array *array_add(struct sema *sema, const char *name, enum array_role role, enum scalar_type type,
			const struct shape *shape, struct span span)
{
	struct array *array = module_add_array(sema->module, name, role, type, shape->rank, span);

	for (int i = 0; i < shape->rank; i++) {
		array->lo[i] = shape->lo[i];
		array->hi[i] = shape->hi[i];
	}
	while (sema->targets.n <= array->number)
		vec_push(sema->arena, &sema->targets, NULL);
	return array;
}

const char *array_fresh_name(struct sema *sema, const char *wish)
{
	const char *name = wish;

	for (int i = 2; module_find_array(sema->module, name); i++)
		name = arena_printf(sema->arena, "%s%d", wish, i);
	return name;
}

static void make_target(struct sema *sema, struct symbol *symbol, struct array *array)
{
	struct target *target = arena_new(sema->arena, struct target);

	target->symbol = symbol;
	target->array = array;
	target->in_body = sema->in_body;
	target->is_hidden = sema->prefix[0] != '\0';
	target->is_box = true;
	target->is_excused = symbol->is_duplicate;
	symbol->kind = SYMBOL_ARRAY;
	symbol->target = target;
	sema->targets.items[array->number] = target;
}

static struct symbol *make_hidden(struct sema *sema, struct array *array)
{
	struct symbol *symbol = arena_new(sema->arena, struct symbol);

	symbol->name = array->name;
	symbol->span = array->span;
	symbol->is_used = true;
	make_target(sema, symbol, array);
	symbol->target->is_hidden = true;
	symbol->target->is_read = true;
	symbol->target->now.is_defined = true;
	symbol->target->now.is_covered = true;
	return symbol;
}

/* A TEMP array that the user did not name; it is in no scope. */
struct symbol *array_hidden(struct sema *sema, const char *name, enum scalar_type type,
			    const struct shape *shape, struct span span)
{
	return make_hidden(sema, array_add(sema, name, ROLE_TEMP, type, shape, span));
}

void array_spread(struct sema *sema, struct array *array, const struct shape *shape)
{
	array->role = ROLE_TEMP;
	array->rank = shape->rank;
	array->lo = shape->lo;
	array->hi = shape->hi;
	make_hidden(sema, array);
}

/* ---- sizes ---- */

struct expr *lower_size(struct sema *sema, struct scope *scope, const struct tree_expr *expr)
{
	const struct context ctx = { .sema = sema, .scope = scope, .base = "" };
	struct expr *size = lower_index(&ctx, expr, PURPOSE_SIZE);
	int64_t constant;

	if (!size)
		return NULL;
	size = affine_normal(sema->arena, size);
	if (expr_is_constant(size, &constant) && constant < 0) {
		diag_error(sema->diags, DIAG_BAD_EXTENT, expr->span, "a size cannot be negative");
		return NULL;
	}
	return size;
}

static bool lower_shape(struct sema *sema, struct scope *scope, const struct tree_type *type,
			struct shape *shape)
{
	bool ok = true;

	if (type->shape.n > ARRAY_MAX_RANK) {
		diag_error(sema->diags, DIAG_BAD_EXTENT, type->span, "an array has at most %d dimensions",
			   ARRAY_MAX_RANK);
		return false;
	}
	shape->rank = type->shape.n;
	shape->lo = arena_new_array(sema->arena, struct expr *, shape->rank + 1);
	shape->hi = arena_new_array(sema->arena, struct expr *, shape->rank + 1);
	for (int i = 0; i < shape->rank; i++) {
		shape->lo[i] = expr_int(sema->arena, 0, type->span);
		shape->hi[i] = lower_size(sema, scope, type->shape.items[i]);
		ok = ok && shape->hi[i];
	}
	return ok;
}

/* ---- facts ---- */

static bool report_fact(struct sema *sema, struct span span, const char *problem)
{
	diag_error(sema->diags, DIAG_BAD_FACT, span, "%s", problem);
	return false;
}

static bool check_facts(struct sema *sema, const struct tree_type *type, enum array_role role)
{
	bool has_more = type->is_sorted || type->is_unique || type->is_tree;

	if (type->kind == TREE_TYPE_SCALAR)
		return true;
	if (type->kind == TREE_TYPE_OFFSETS)
		return (role == ROLE_IN && type->shape.n == 1) ||
		       report_fact(sema, type->span, "offsets are an 'in' array of one dimension");
	if (role != ROLE_IN && role != ROLE_TEMP)
		return report_fact(sema, type->span,
				   "an index array is 'in', or computed by 'temp' or 'func'");
	if (role == ROLE_TEMP && has_more)
		return report_fact(sema, type->span,
				   "'sorted', 'unique' and 'tree' are facts of 'in' arrays");
	return !(type->is_tree || type->is_sorted) || type->shape.n == 1 ||
	       report_fact(sema, type->span, "'sorted' and 'tree' are facts of arrays of one dimension");
}

static bool find_segments(struct sema *sema, const struct scope *scope, const struct tree_type *type,
			  struct array *array)
{
	struct symbol *symbol;

	if (!type->segments.name)
		return true;
	symbol = scope_resolve(sema, scope, &type->segments, USE_SUBJECT);
	if (!symbol || symbol->kind == SYMBOL_BROKEN)
		return false;
	if (symbol->kind != SYMBOL_ARRAY || !(symbol->target->array->facts & FACT_OFFSETS))
		return report_fact(sema, type->segments.span,
				   "the segments of a tree are an array of offsets");
	symbol->target->is_read = true;
	array->segments = symbol->target->array;
	return true;
}

static bool set_facts(struct sema *sema, struct scope *scope, const struct tree_type *type,
		      struct array *array)
{
	if (type->kind == TREE_TYPE_SCALAR)
		return true;
	array->limit = lower_size(sema, scope, type->args.items[0]);
	array->facts = type->kind == TREE_TYPE_OFFSETS ? FACT_OFFSETS : FACT_INDEX;
	array->facts |= (type->is_sorted ? FACT_SORTED : 0u) | (type->is_unique ? FACT_UNIQUE : 0u) |
			(type->is_tree ? FACT_TREE : 0u);
	return array->limit && find_segments(sema, scope, type, array);
}

static enum scalar_type element_type(const struct tree_type *type)
{
	return type->kind == TREE_TYPE_SCALAR ? type->scalar : TYPE_I64;
}

/* ---- parameters ---- */

/* Dots belong to the members that constructs declare. */
static bool check_plain(struct sema *sema, const struct tree_name *name)
{
	if (name->member)
		diag_error(sema->diags, DIAG_RESERVED_NAME, name->span, "a declared name has no dot");
	return !name->member;
}

static void declare_params(struct sema *sema, struct scope *scope, const struct tree_stmt *stmt)
{
	for (int i = 0; i < stmt->names.n; i++) {
		const struct tree_name *name = &stmt->names.items[i];
		struct symbol *symbol;
		struct param *param;

		if (!check_plain(sema, name))
			continue;
		symbol = scope_declare(sema, scope, SYMBOL_PARAM, name->name, name->span);
		symbol->param = module_add_param(sema->module, name->name, name->span);
		param = &sema->module->params.items[symbol->param];
		param->is_scalar = stmt->is_scalar;
		param->type = stmt->is_scalar ? stmt->type->scalar : TYPE_I64;
	}
	if (stmt->is_scalar && !type_is_float(stmt->type->scalar))
		diag_error(sema->diags, DIAG_BAD_PARAM, stmt->type->span,
			   "a scalar parameter is f32 or f64; a size is declared without a type");
}

/* ---- objects ---- */

static struct span mode_name_span(const struct tree_mode *mode)
{
	struct span span = mode->span;

	span.end = span.start + (uint32_t) strlen(mode->name);
	return span;
}

static bool modes_differ(struct sema *sema, const struct tree_type *type)
{
	for (int i = 0; i < type->modes.n; i++)
		for (int k = 0; k < i; k++) {
			const struct tree_mode *first = &type->modes.items[k], *second = &type->modes.items[i];
			struct diag *diag;

			if (strcmp(first->name, second->name))
				continue;
			diag = diag_error(sema->diags, DIAG_REDECLARED, mode_name_span(second),
					  "there is already a mode '%s'", second->name);
			diag_label(sema->diags, diag, mode_name_span(first), "the first one is here");
			return false;
		}
	return true;
}

static bool set_object(struct sema *sema, struct scope *scope, const struct tree_type *type,
		       struct object *object)
{
	bool ok = true;

	object->construct = construct_find(type->object);
	object->span = type->span;
	object->has_scalar = type->has_scalar;
	object->scalar = type->scalar;
	for (int i = 0; i < type->args.n; i++) {
		struct expr *size = lower_size(sema, scope, type->args.items[i]);

		ok = ok && size;
		vec_push(sema->arena, &object->args, size ? affine_text(sema, size) : "");
	}
	ok = modes_differ(sema, type) && ok;
	for (int i = 0; i < type->modes.n; i++) {
		struct expr *size = lower_size(sema, scope, type->modes.items[i].size);

		ok = ok && size;
		vec_push(sema->arena, &object->modes, type->modes.items[i].name);
		vec_push(sema->arena, &object->mode_sizes, size ? affine_text(sema, size) : "");
	}
	return ok;
}

/* The object under `name`, with sizes as the expansion being written knows them. */
struct object *object_in_expansion(struct sema *sema, const struct symbol *symbol, const char *name)
{
	struct object *object = arena_new(sema->arena, struct object);

	object->name = name;
	object->is_fixed = symbol->stmt->is_fixed;
	set_object(sema, symbol->scope, symbol->stmt->type, object);
	return object;
}

typedef void reader(struct sema *sema, struct scope *scope, const struct tree_stmt *stmt,
		    const struct tree_name *name, struct symbol *symbol);

static reader read_array_type;

/* Until `read` has made something of it, the name means nothing. */
static void declare(struct sema *sema, struct scope *scope, const struct tree_stmt *stmt,
		    const struct tree_name *name, reader *read)
{
	struct symbol *symbol =
		scope_declare(sema, scope, SYMBOL_BROKEN, name_text(sema->arena, name), name->span);

	symbol->is_open = true;
	read(sema, scope, stmt, name, symbol);
	symbol->is_open = false;
}

static void declare_members(struct sema *sema, struct scope *scope, const char *text, struct span span)
{
	tree_stmts members = syntax_parse_statements(sema->arena, sema->diags, text, span);

	for (int i = 0; i < members.n; i++)
		for (int j = 0; j < members.items[i]->names.n; j++)
			declare(sema, scope, members.items[i], &members.items[i]->names.items[j],
				read_array_type);
}

static bool check_object(struct sema *sema, const struct tree_stmt *stmt)
{
	const struct construct *construct = construct_find(stmt->type->object);
	const char *names[64];
	struct span word = stmt->type->span;
	struct diag *diag;

	if (!construct || !construct->declare) {
		const char *nearest = suggest_nearest(stmt->type->object, names, construct_names(names, 64));

		diag = diag_error(sema->diags, DIAG_UNKNOWN_CONSTRUCT, stmt->type->span,
				  construct ? "'%s' is called, not declared" : "unknown type '%s'",
				  stmt->type->object);
		word.end = word.start + (uint32_t) strlen(stmt->type->object);
		if (!construct && nearest)
			diag_did_you_mean(sema->diags, diag, word, stmt->type->object, nearest);
		return false;
	}
	if (stmt->role == TREE_IN && stmt->is_fixed)
		return true;
	diag = diag_error(sema->diags, DIAG_CONSTRUCT_DECLARATION, stmt->span, "a %s is declared 'fixed in'",
			  construct->name);
	diag_help(sema->diags, diag, (struct span) { 0 },
		  "it is bound when the plan is made, and inspected once");
	return false;
}

static void read_object(struct sema *sema, struct scope *scope, const struct tree_stmt *stmt,
			const struct tree_name *name, struct symbol *symbol)
{
	struct str text = str_new(sema->arena);
	struct object *object = arena_new(sema->arena, struct object);

	object->name = name->name;
	object->is_fixed = stmt->is_fixed;
	if (!check_object(sema, stmt) || !set_object(sema, scope, stmt->type, object) ||
	    !object->construct->declare(object, sema->arena, sema->diags, &text))
		return;
	symbol->kind = SYMBOL_OBJECT;
	symbol->object = object;
	symbol->stmt = stmt;
	symbol->scope = scope;
	declare_members(sema, scope, str_text(&text), stmt->type->span);
}

/* ---- arrays of the user ---- */

static enum array_role role_of(enum tree_role role)
{
	static const enum array_role roles[] = {
		[TREE_IN] = ROLE_IN,     [TREE_OUT] = ROLE_OUT,     [TREE_INOUT] = ROLE_INOUT,
		[TREE_TEMP] = ROLE_TEMP, [TREE_STATE] = ROLE_STATE,
	};
	return roles[role];
}

static bool report_role(struct sema *sema, struct span span, const char *problem, const char *help)
{
	struct diag *diag = diag_error(sema->diags, DIAG_MISPLACED, span, "%s", problem);

	if (help)
		diag_help(sema->diags, diag, (struct span) { 0 }, "%s", help);
	return false;
}

static bool check_role(struct sema *sema, const struct tree_stmt *stmt)
{
	if (sema->in_body && stmt->role != TREE_TEMP)
		return report_role(sema, stmt->span, "only 'temp' and 'func' are declared inside the loop",
				   "declare it before the loop");
	if (stmt->role == TREE_STATE && !stmt->value)
		return report_role(sema, stmt->span, "a state needs a start",
				   "write state x : f64[n] = EXPR;");
	if (stmt->value && stmt->role != TREE_TEMP && stmt->role != TREE_STATE)
		return report_role(sema, stmt->value->span,
				   "only 'temp' and 'state' are defined where they are declared",
				   "define it in a statement of its own: name = EXPR;");
	return true;
}

static void read_array_type(struct sema *sema, struct scope *scope, const struct tree_stmt *stmt,
			    const struct tree_name *name, struct symbol *symbol)
{
	enum array_role role = role_of(stmt->role);
	struct shape shape = { 0 };
	struct array *array;

	if (!check_role(sema, stmt) || !check_facts(sema, stmt->type, role) ||
	    !lower_shape(sema, scope, stmt->type, &shape))
		return;
	array = array_add(
		sema, array_fresh_name(sema, arena_printf(sema->arena, "%s%s", sema->prefix, symbol->name)),
		role, element_type(stmt->type), &shape, name->span);
	array->is_fixed = stmt->is_fixed;
	if (set_facts(sema, scope, stmt->type, array))
		make_target(sema, symbol, array);
}

static void declare_arrays(struct sema *sema, struct scope *scope, const struct tree_stmt *stmt)
{
	reader *read = stmt->type->kind == TREE_TYPE_OBJECT ? read_object : read_array_type;

	for (int i = 0; i < stmt->names.n; i++)
		if (check_plain(sema, &stmt->names.items[i]))
			declare(sema, scope, stmt, &stmt->names.items[i], read);
}

/* ---- functions ---- */

static bool lower_domain(struct sema *sema, const struct tree_stmt *stmt, struct draft *draft,
			 struct scope *scope)
{
	const struct context ctx = { .sema = sema, .scope = scope, .draft = draft, .base = draft->name };
	bool ok = true;

	for (int i = 0; i < stmt->ranges.n; i++)
		ok = lower_range(&ctx, stmt->ranges.items[i], true) >= 0 && ok;
	return ok;
}

static bool domain_is_box(const struct draft *draft)
{
	for (int i = 0; i < draft->slots.n; i++) {
		const struct dim *dim = &draft->slots.items[i].dim;

		if (dim->kind != DIM_RANGE || expr_last_dim(dim->lo) >= 0 || expr_last_dim(dim->hi) >= 0)
			return false;
	}
	return true;
}

static bool check_func(struct sema *sema, const struct tree_stmt *stmt)
{
	if (stmt->type->shape.n > 0)
		return report_role(sema, stmt->type->span, "the shape of a func is its domain",
				   "write func f[i in 0..n] : f64 = EXPR;");
	if (stmt->type->kind == TREE_TYPE_OBJECT || stmt->type->kind == TREE_TYPE_OFFSETS)
		return report_role(sema, stmt->type->span,
				   "the values of a func are numbers, conditions or indices", NULL);
	if (stmt->ranges.n > ARRAY_MAX_RANK)
		return report_role(sema, stmt->span, "an array has at most 8 dimensions", NULL);
	return check_facts(sema, stmt->type, ROLE_TEMP);
}

static void read_func(struct sema *sema, struct scope *scope, const struct tree_stmt *stmt,
		      const struct tree_name *name, struct symbol *symbol)
{
	const char *text = arena_printf(sema->arena, "%s%s", sema->prefix, name->name);
	struct draft *draft = draft_new(sema, NULL, array_fresh_name(sema, text), stmt->span);
	struct scope *variables = scope_new(sema, scope);
	struct shape box;
	struct array *array;

	if (!check_func(sema, stmt) || !lower_domain(sema, stmt, draft, variables) ||
	    !shape_of_draft(sema, draft, &box))
		return;
	array = array_add(sema, draft->name, ROLE_TEMP, element_type(stmt->type), &box, name->span);
	if (!set_facts(sema, scope, stmt->type, array))
		return;
	make_target(sema, symbol, array);
	symbol->target->is_box = domain_is_box(draft);
	symbol->target->domain = draft;
	symbol->target->variables = variables;
	draft->target = symbol->target;
}

/* ---- blocks ---- */

static void add_declared(struct sema *sema, const char *name)
{
	name_table_set(sema->arena, &sema->declared, name, sema);
}

void declare_names(struct sema *sema, const tree_stmts *stmts)
{
	for (int i = 0; i < stmts->n; i++) {
		const struct tree_stmt *stmt = stmts->items[i];

		if (stmt->kind == TREE_PARAM || stmt->kind == TREE_DECL || stmt->kind == TREE_FUNC)
			for (int j = 0; j < stmt->names.n; j++)
				add_declared(sema, stmt->names.items[j].name);
		if (stmt->kind == TREE_ACCUMULATE)
			vec_push(sema->arena, &sema->accumulated,
				 name_text(sema->arena, &stmt->target->name));
		if (stmt->kind == TREE_ITERATE && stmt->ranges.n && stmt->ranges.items[0])
			add_declared(sema, stmt->ranges.items[0]->var);
		declare_names(sema, &stmt->body);
	}
}

static void declare_kind(struct sema *sema, struct scope *scope, const tree_stmts *stmts,
			 enum tree_stmt_kind kind)
{
	for (int i = 0; i < stmts->n; i++) {
		const struct tree_stmt *stmt = stmts->items[i];

		if (stmt->kind != kind)
			continue;
		if (kind == TREE_PARAM && sema->in_body)
			report_role(sema, stmt->span, "parameters are declared outside the loop", NULL);
		else if (kind == TREE_PARAM)
			declare_params(sema, scope, stmt);
		else if (kind == TREE_DECL)
			declare_arrays(sema, scope, stmt);
		else if (check_plain(sema, &stmt->names.items[0]))
			declare(sema, scope, stmt, &stmt->names.items[0], read_func);
	}
}

void declare_all(struct sema *sema, struct scope *scope, const tree_stmts *stmts)
{
	declare_kind(sema, scope, stmts, TREE_PARAM);
	declare_kind(sema, scope, stmts, TREE_DECL);
	declare_kind(sema, scope, stmts, TREE_FUNC);
}
