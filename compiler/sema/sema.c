/* SPDX-License-Identifier: MIT
 *
 * Files and pipelines: the entry of sema. Each pipeline is lowered by itself; the constants of the file are
 * shared. */
#include "sema/sema_private.h"

#include <string.h>

enum { NO_COUNT = -1 };                 /* of errors: equal to none */

static void lower_schedules(struct sema *sema, const tree_stmts *stmts)
{
	for (int i = 0; i < stmts->n; i++)
		if (stmts->items[i]->kind == TREE_SCHEDULE)
			lower_schedule(sema, stmts->items[i]);
}

static bool lower_pipeline(struct sema *sema, const struct tree_pipeline *pipeline)
{
	sema->scope = scope_new(sema, sema->consts);
	declare_names(sema, &pipeline->body);
	declare_all(sema, sema->scope, &pipeline->body);
	lower_statements(sema, sema->scope, &pipeline->body);
	lower_schedules(sema, &pipeline->body);
	advise_unknown(sema);
	check_usage(sema);
	if (sema->diags->n_errors != sema->n_errors)
		return false;
	finish_targets(sema);
	return order_and_emit(sema) && sema->diags->n_errors == sema->n_errors;
}

/* Where the constants of the file are wrong (`is_sound` is false) no module is made, but mistakes are found. */
static void add_module(const struct sema *file, isl_ctx *ctx, const struct tree_pipeline *pipeline,
		       bool is_sound, module_list *out)
{
	struct sema sema = { .arena = file->arena,
			     .diags = file->diags,
			     .file = file->file,
			     .consts = file->consts,
			     .prefix = "",
			     .n_errors = is_sound ? file->diags->n_errors : NO_COUNT };

	sema.module = module_new(sema.arena, sema.diags, ctx, pipeline->name.name, pipeline->span);
	if (span_is_known(pipeline->span))
		sema.module->source_name = sources_get(sema.diags->sources, pipeline->span.file)->name;
	if (lower_pipeline(&sema, pipeline))
		vec_push(sema.arena, out, sema.module);
	else
		module_free(sema.module);
}

static void check_names(const struct sema *sema)
{
	const struct tree_file *file = sema->file;

	for (int i = 0; i < file->pipelines.n; i++)
		for (int j = 0; j < i; j++) {
			const struct tree_name *a = &file->pipelines.items[j]->name,
					       *b = &file->pipelines.items[i]->name;
			struct diag *diag;

			if (strcmp(a->name, b->name) != 0)
				continue;
			diag = diag_error(sema->diags, DIAG_REDECLARED, b->span, "'%s' is already declared",
					  b->name);
			diag_label(sema->diags, diag, a->span, "the first pipeline of this name is here");
			break;
		}
}

static void check_consts(struct sema *sema)
{
	for (int i = 0; i < sema->consts->symbols.n; i++) {
		struct symbol *symbol = sema->consts->symbols.items[i];
		struct weights weights = { 0 };
		const struct context ctx = { .sema = sema, .scope = sema->consts, .purpose = PURPOSE_CONST };

		if (symbol->kind == SYMBOL_BROKEN)
			continue;
		if (symbol->constant->value->kind != TREE_LIST)
			const_value(sema, symbol, symbol->span);
		else if (!const_weights(&ctx, symbol->constant->value, &weights))
			symbol->kind = SYMBOL_BROKEN;
	}
}

bool sema_lower_file(struct arena *arena, struct diags *diags, isl_ctx *ctx, const struct tree_file *file,
		     module_list *out)
{
	struct sema sema = { .arena = arena, .diags = diags, .file = file, .prefix = "",
			     .n_errors = diags->n_errors };
	bool is_sound;

	sema.consts = scope_new(&sema, NULL);
	consts_declare(&sema);
	check_consts(&sema);
	is_sound = diags->n_errors == sema.n_errors;
	check_names(&sema);
	if (!file->pipelines.n && is_sound)
		diag_error(diags, DIAG_NO_PIPELINE, file->start,
			   "there is no pipeline in this file, and nothing to compile");
	for (int i = 0; i < file->pipelines.n; i++)
		add_module(&sema, ctx, file->pipelines.items[i], is_sound, out);
	return diags->n_errors == sema.n_errors;
}
