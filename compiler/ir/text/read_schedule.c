/* SPDX-License-Identifier: MIT
 *
 * Schedules from isl's text. isl reads names only; what our ids point to is put back: the tuples of the stages by
 * pulling the tree back along { S[D] -> S[D] } from our spaces to those read, the marks one by one by name. */
#include "ir/text/read_private.h"
#include "ir/schedule.h"

#include <isl/options.h>
#include <string.h>

/* ---- stages ---- */

static struct stage *stage_named(const struct module *module, const char *name)
{
	for (int i = 0; name && i < module->stages.n; i++)
		if (strcmp(module->stages.items[i]->name, name) == 0)
			return module->stages.items[i];
	return NULL;
}

struct pullback {
	struct reader *reader;
	isl_union_pw_multi_aff *maps;
	bool failed;
};

static isl_stat add_stage(__isl_take isl_set *set, void *user)
{
	struct pullback *pullback = user;
	const char *name = isl_set_has_tuple_name(set) == isl_bool_true ? isl_set_get_tuple_name(set) : NULL;
	const struct stage *stage = stage_named(pullback->reader->module, name);
	isl_space *from, *to;
	isl_multi_aff *identity;

	if (!stage || isl_set_dim(set, isl_dim_set) != stage->dims.n) {
		pullback->failed = true;
		isl_set_free(set);
		return isl_stat_ok;
	}
	from = isl_set_get_space(stage->domain);
	to = isl_space_align_params(isl_set_get_space(set), isl_space_copy(from));
	from = isl_space_align_params(from, isl_space_copy(to));
	identity = isl_multi_aff_identity(isl_space_map_from_domain_and_range(from, to));
	pullback->maps = isl_union_pw_multi_aff_add_pw_multi_aff(pullback->maps,
								 isl_pw_multi_aff_from_multi_aff(identity));
	isl_set_free(set);
	return isl_stat_ok;
}

static __isl_give isl_schedule *with_our_stages(struct reader *r, __isl_take isl_schedule *schedule)
{
	struct pullback pullback = { r, isl_union_pw_multi_aff_empty_ctx(r->ctx), false };
	isl_union_set *domain = isl_schedule_get_domain(schedule);

	isl_union_set_foreach_set(domain, add_stage, &pullback);
	isl_union_set_free(domain);
	if (!pullback.failed)
		return isl_schedule_pullback_union_pw_multi_aff(schedule, pullback.maps);
	isl_union_pw_multi_aff_free(pullback.maps);
	return isl_schedule_free(schedule);
}

/* ---- marks above leaves ----
 * isl prints a mark above a leaf without a child, and refuses to read it. For the reading it gets a set node with
 * one empty filter, which occurs nowhere else. */

static bool is_above_leaf(__isl_keep isl_schedule_node *mark)
{
	isl_schedule_node *child = isl_schedule_node_first_child(isl_schedule_node_copy(mark));
	bool is_leaf = isl_schedule_node_get_type(child) == isl_schedule_node_set &&
		       isl_schedule_node_n_children(child) == 1;

	isl_schedule_node_free(child);
	return is_leaf;
}

static bool has_child(const char *next_line, size_t indent)
{
	return strspn(next_line, " ") == indent && strncmp(next_line + indent, "child:", 6) == 0;
}

static const char *with_leaves(struct arena *arena, const char *line)
{
	struct str text = str_new(arena);

	while (*line) {
		size_t length = strcspn(line, "\n"), indent = strspn(line, " ");
		const char *next = line + length + (line[length] == '\n');

		str_add(&text, "%.*s\n", (int) length, line);
		if (strncmp(line + indent, "mark:", 5) == 0 && !has_child(next, indent))
			str_add(&text, "%*schild:\n%*s  set:\n%*s  - filter: \"{ }\"\n", (int) indent, "",
				(int) indent, "", (int) indent, "");
		line = next;
	}
	return str_text(&text);
}

/* ---- marks ---- */

static __isl_give isl_schedule_node *with_our_mark(__isl_take isl_schedule_node *node, void *user)
{
	struct reader *r = user;
	struct mark *mark;
	isl_id *id;

	if (isl_schedule_node_get_type(node) != isl_schedule_node_mark)
		return node;
	id = isl_schedule_node_mark_get_id(node);
	mark = mark_read(r->module, isl_id_get_name(id));
	isl_id_free(id);
	if (!mark)
		return isl_schedule_node_free(node);
	node = is_above_leaf(node) ? isl_schedule_node_cut(node) : isl_schedule_node_delete(node);
	return isl_schedule_node_insert_mark(node, mark_id(r->module, mark));
}

static __isl_give isl_schedule *read_one(struct reader *r, const char *text)
{
	isl_schedule *schedule = isl_schedule_read_from_str(r->ctx, with_leaves(r->arena, text));

	if (schedule)
		schedule = with_our_stages(r, schedule);
	return isl_schedule_map_schedule_node_bottom_up(schedule, with_our_mark, r);
}

/* isl's own complaints go nowhere: they name places of a text that nobody sees. */
void read_schedules(struct reader *r)
{
	int on_error = isl_options_get_on_error(r->ctx);

	module_analyse(r->module);
	isl_options_set_on_error(r->ctx, ISL_ON_ERROR_CONTINUE);
	for (int i = 0; i < REGION_N; i++) {
		if (!r->schedules[i] || r->failed)
			continue;
		r->module->regions[i].schedule = read_one(r, r->schedules[i]);
		if (!r->module->regions[i].schedule)
			reader_fail(r, r->schedule_spans[i], "isl cannot read this schedule, or it names other stages");
	}
	isl_options_set_on_error(r->ctx, on_error);
	isl_ctx_reset_error(r->ctx);
}
