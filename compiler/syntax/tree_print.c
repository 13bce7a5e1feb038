/* SPDX-License-Identifier: MIT
 *
 * The tree back to text, such that parsing the text gives the same tree. Parentheses are those that the
 * precedences of operators.def ask for and no others. Included files were expanded when they were read, so
 * that a file prints as one text without `include`. */
#include "syntax/tree.h"

/* Twice those of the table, which leaves room for the body of a reduction between + and *. */
enum {
#define TREE_OP(id, text, arity, precedence) PRECEDENCE_##id = 2 * (precedence),
#include "syntax/operators.def"
#undef TREE_OP
	PRECEDENCE_REDUCTION = PRECEDENCE_ADD + 1,
	LOOSEST = 0,
	TIGHTEST = 99
};

static const struct op_row {
	const char *text;
	int precedence;
} ops[TREE_OP_N] = {
#define TREE_OP(id, text, arity, precedence) [TREE_OP_##id] = { text, PRECEDENCE_##id },
#include "syntax/operators.def"
#undef TREE_OP
};

static const char *const reduce_words[] = {
	[TREE_SUM] = "sum", [TREE_PROD] = "prod", [TREE_MIN] = "min", [TREE_MAX] = "max",
};

static const char *const assignment_signs[] = {
	[TREE_SUM] = "+=", [TREE_PROD] = "*=", [TREE_MIN] = "min=", [TREE_MAX] = "max=",
};

static void print_expr(struct str *out, const struct tree_expr *expr, int loosest);

static void print_name(struct str *out, struct tree_name name)
{
	str_add(out, name.member != NULL ? "%s.%s" : "%s", name.name, name.member);
}

static void print_names(struct str *out, tree_names names)
{
	for (int i = 0; i < names.n; i++) {
		str_add(out, "%s", i > 0 ? ", " : "");
		print_name(out, names.items[i]);
	}
}

static void print_exprs(struct str *out, const char *open, tree_exprs exprs, const char *close)
{
	str_add(out, "%s", open);
	for (int i = 0; i < exprs.n; i++) {
		str_add(out, "%s", i > 0 ? ", " : "");
		print_expr(out, exprs.items[i], LOOSEST);
	}
	str_add(out, "%s", close);
}

static void print_range(struct str *out, const struct tree_range *range)
{
	str_add(out, "%s in ", range->var);
	if (range->is_children) {
		str_add(out, "children(");
		print_name(out, range->parent);
		str_add(out, ", ");
		print_expr(out, range->lo, LOOSEST);
		str_add(out, ")");
		return;
	}
	print_expr(out, range->lo, LOOSEST);
	str_add(out, "..");
	print_expr(out, range->hi, LOOSEST);
}

static void print_ranges(struct str *out, tree_ranges ranges)
{
	for (int i = 0; i < ranges.n; i++) {
		str_add(out, "%s", i > 0 ? ", " : "");
		print_range(out, ranges.items[i]);
	}
}

static void print_case(struct str *out, const struct tree_expr *expr)
{
	str_add(out, "case {");
	for (int i = 0; i < expr->branches.n; i++) {
		struct tree_branch branch = expr->branches.items[i];

		str_add(out, " ");
		if (branch.condition != NULL)
			print_expr(out, branch.condition, LOOSEST);
		else
			str_add(out, "else");
		str_add(out, " : ");
		print_expr(out, branch.value, LOOSEST);
		str_add(out, ";");
	}
	str_add(out, " }");
}

/* Left-associative, except that comparisons do not associate at all. */
static void print_binary(struct str *out, const struct tree_expr *expr)
{
	const struct op_row *op = &ops[expr->op];
	const char *blank = op->precedence == PRECEDENCE_MUL ? "" : " ";

	print_expr(out, expr->args.items[0], op->precedence + (op->precedence == PRECEDENCE_EQ));
	str_add(out, "%s%s%s", blank, op->text, blank);
	print_expr(out, expr->args.items[1], op->precedence + 1);
}

static void print_unary(struct str *out, const struct tree_expr *expr)
{
	str_add(out, "%s%s", ops[expr->op].text, expr->op == TREE_OP_NOT ? " " : "");
	print_expr(out, expr->args.items[0], ops[expr->op].precedence);
}

static void print_reduce(struct str *out, const struct tree_expr *expr)
{
	str_add(out, "%s(", reduce_words[expr->reduce_op]);
	print_ranges(out, expr->ranges);
	str_add(out, ") ");
	print_expr(out, expr->args.items[0], PRECEDENCE_MUL);
}

static int expr_precedence(const struct tree_expr *expr)
{
	if (expr->kind == TREE_UNARY || expr->kind == TREE_BINARY)
		return ops[expr->op].precedence;
	return expr->kind == TREE_REDUCE ? PRECEDENCE_REDUCTION : TIGHTEST;
}

static void print_node(struct str *out, const struct tree_expr *expr)
{
	switch (expr->kind) {
	case TREE_INT:
	case TREE_FLOAT:
		str_add(out, "%s", expr->spelling);
		break;
	case TREE_BOOL:
		str_add(out, "%s", expr->integer ? "true" : "false");
		break;
	case TREE_LIST:
		print_exprs(out, "[", expr->args, "]");
		break;
	case TREE_NAME:
		print_name(out, expr->name);
		break;
	case TREE_INDEX:
		print_name(out, expr->name);
		print_exprs(out, "[", expr->args, "]");
		break;
	case TREE_CALL:
		print_name(out, expr->name);
		print_exprs(out, "(", expr->args, ")");
		break;
	case TREE_CAST:
		str_add(out, "cast<%s>", type_name(expr->type));
		print_exprs(out, "(", expr->args, ")");
		break;
	case TREE_UNARY:
		print_unary(out, expr);
		break;
	case TREE_BINARY:
		print_binary(out, expr);
		break;
	case TREE_REDUCE:
		print_reduce(out, expr);
		break;
	case TREE_CASE:
		print_case(out, expr);
		break;
	}
}

/* In parentheses if it binds less tightly than `loosest`. */
static void print_expr(struct str *out, const struct tree_expr *expr, int loosest)
{
	bool is_loose = expr_precedence(expr) < loosest;

	str_add(out, "%s", is_loose ? "(" : "");
	print_node(out, expr);
	str_add(out, "%s", is_loose ? ")" : "");
}

static void print_modes(struct str *out, tree_modes modes)
{
	for (int i = 0; i < modes.n; i++) {
		str_add(out, "%s%s < ", i > 0 ? ", " : "; ", modes.items[i].name);
		print_expr(out, modes.items[i].size, LOOSEST);
	}
}

static void print_facts(struct str *out, const struct tree_type *type)
{
	str_add(out, "%s%s%s", type->is_sorted ? " sorted" : "", type->is_unique ? " unique" : "",
		type->is_tree ? " tree" : "");
	if (type->segments.name != NULL) {
		str_add(out, "(");
		print_name(out, type->segments);
		str_add(out, ")");
	}
}

static const char *type_word(const struct tree_type *type)
{
	switch (type->kind) {
	case TREE_TYPE_SCALAR:
		return type_name(type->scalar);
	case TREE_TYPE_INDEX:
		return "index";
	case TREE_TYPE_OFFSETS:
		return "offsets";
	case TREE_TYPE_OBJECT:
		break;
	}
	return type->object;
}

static void print_type(struct str *out, const struct tree_type *type)
{
	str_add(out, "%s", type_word(type));
	if (type->has_scalar)
		str_add(out, "<%s>", type_name(type->scalar));
	if (type->args.n > 0) {
		print_exprs(out, "(", type->args, "");
		print_modes(out, type->modes);
		str_add(out, ")");
	}
	if (type->shape.n > 0)
		print_exprs(out, "[", type->shape, "]");
	print_facts(out, type);
}

static const char *role_word(enum tree_role role)
{
	switch (role) {
	case TREE_IN:
		return "in";
	case TREE_OUT:
		return "out";
	case TREE_INOUT:
		return "inout";
	case TREE_TEMP:
		return "temp";
	case TREE_STATE:
		break;
	}
	return "state";
}

static void print_value(struct str *out, const char *sign, const struct tree_stmt *stmt)
{
	if (stmt->value != NULL) {
		str_add(out, " %s ", sign);
		print_expr(out, stmt->value, LOOSEST);
	}
	if (stmt->kind != TREE_FUNC && stmt->ranges.n > 0) {
		str_add(out, " for ");
		print_ranges(out, stmt->ranges);
	}
	str_add(out, ";\n");
}

static void print_decl(struct str *out, const struct tree_stmt *stmt)
{
	str_add(out, "%s%s ", stmt->is_fixed ? "fixed " : "", role_word(stmt->role));
	print_names(out, stmt->names);
	str_add(out, " : ");
	print_type(out, stmt->type);
	print_value(out, "=", stmt);
}

static void print_func(struct str *out, const struct tree_stmt *stmt)
{
	str_add(out, "func ");
	print_names(out, stmt->names);
	str_add(out, "[");
	print_ranges(out, stmt->ranges);
	str_add(out, "] : ");
	print_type(out, stmt->type);
	print_value(out, "=", stmt);
}

static void print_param(struct str *out, const struct tree_stmt *stmt)
{
	str_add(out, "param ");
	if (stmt->is_scalar)
		str_add(out, "%s ", type_name(stmt->type->scalar));
	print_names(out, stmt->names);
	str_add(out, ";\n");
}

static void print_specialize(struct str *out, const struct tree_stmt *stmt)
{
	str_add(out, "specialize ");
	print_names(out, stmt->names);
	if (stmt->text != NULL)
		str_add(out, " = \"%s\"", stmt->text);
	print_value(out, "=", stmt);
}

/* `block = 32` inside interleave(…) was read as an equality. */
static void print_setting(struct str *out, const struct tree_expr *value)
{
	if (value->kind == TREE_BINARY) {
		print_setting(out, value->args.items[0]);
		str_add(out, " = ");
		print_setting(out, value->args.items[1]);
		return;
	}
	if (value->kind != TREE_CALL && value->kind != TREE_LIST) {
		print_node(out, value);
		return;
	}
	if (value->kind == TREE_CALL)
		print_name(out, value->name);
	str_add(out, "(");
	for (int i = 0; i < value->args.n; i++) {
		str_add(out, "%s", i > 0 ? ", " : "");
		print_setting(out, value->args.items[i]);
	}
	str_add(out, ")");
}

static void print_schedule_item(struct str *out, const struct tree_schedule_item *item)
{
	print_name(out, item->verb);
	str_add(out, " ");
	print_names(out, item->subjects);
	if (item->value != NULL) {
		str_add(out, "%s", item->value->kind == TREE_LIST ? " " : " : ");
		print_setting(out, item->value);
	}
	str_add(out, ";\n");
}

static void print_indent(struct str *out, int indent)
{
	str_add(out, "%*s", 4 * indent, "");
}

static void print_stmt(struct str *out, const struct tree_stmt *stmt, int indent);

static void print_iterate(struct str *out, const struct tree_stmt *stmt, int indent)
{
	str_add(out, "iterate ");
	print_ranges(out, stmt->ranges);
	if (stmt->value != NULL) {
		str_add(out, " until ");
		print_expr(out, stmt->value, LOOSEST);
	}
	str_add(out, " {\n");
	for (int i = 0; i < stmt->body.n; i++)
		print_stmt(out, stmt->body.items[i], indent + 1);
	print_indent(out, indent);
	str_add(out, "}\n");
}

static void print_schedule(struct str *out, const struct tree_stmt *stmt, int indent)
{
	str_add(out, "schedule {\n");
	for (int i = 0; i < stmt->items.n; i++) {
		print_indent(out, indent + 1);
		print_schedule_item(out, stmt->items.items[i]);
	}
	print_indent(out, indent);
	str_add(out, "}\n");
}

static void print_target(struct str *out, const struct tree_stmt *stmt)
{
	str_add(out, "%s", stmt->is_next ? "next " : "");
	print_node(out, stmt->target);
}

static void print_stmt(struct str *out, const struct tree_stmt *stmt, int indent)
{
	print_indent(out, indent);
	switch (stmt->kind) {
	case TREE_PARAM:
		print_param(out, stmt);
		break;
	case TREE_ASSUME:
		str_add(out, "assume");
		print_value(out, "", stmt);
		break;
	case TREE_SPECIALIZE:
		print_specialize(out, stmt);
		break;
	case TREE_DECL:
		print_decl(out, stmt);
		break;
	case TREE_FUNC:
		print_func(out, stmt);
		break;
	case TREE_DEFINE:
		print_target(out, stmt);
		print_value(out, "=", stmt);
		break;
	case TREE_ACCUMULATE:
		str_add(out, "reduce ");
		print_target(out, stmt);
		print_value(out, assignment_signs[stmt->reduce_op], stmt);
		break;
	case TREE_ITERATE:
		print_iterate(out, stmt, indent);
		break;
	case TREE_SCHEDULE:
		print_schedule(out, stmt, indent);
		break;
	}
}

const char *tree_file_text(struct arena *arena, const struct tree_file *file)
{
	struct str out = str_new(arena);

	for (int i = 0; i < file->consts.n; i++) {
		str_add(&out, "const %s = ", file->consts.items[i].name.name);
		print_expr(&out, file->consts.items[i].value, LOOSEST);
		str_add(&out, ";\n");
	}
	for (int i = 0; i < file->pipelines.n; i++) {
		const struct tree_pipeline *pipeline = file->pipelines.items[i];

		str_add(&out, "%spipeline %s {\n", out.length > 0 ? "\n" : "", pipeline->name.name);
		for (int j = 0; j < pipeline->body.n; j++)
			print_stmt(&out, pipeline->body.items[j], 1);
		str_add(&out, "}\n");
	}
	return str_text(&out);
}

const char *tree_expr_text(struct arena *arena, const struct tree_expr *expr)
{
	struct str out = str_new(arena);

	print_expr(&out, expr, LOOSEST);
	return str_text(&out);
}
