/* SPDX-License-Identifier: MIT
 *
 * The module as a graph for graphviz: groups as boxes, in a cluster for each region, arrays as ellipses, an edge
 * from an array to each group that reads it and from a group to each array that it writes. Locals are left out. */
#include "ir/ir.h"

struct graph {
	struct writer writer;
	const struct module *module;
	bool *drawn;                    /* by number of array: edges of the present group */
	const struct group *group;
};

static const char *quoted(struct graph *graph, const char *name)
{
	struct str text = str_new(graph->writer.text.arena);

	for (; *name; name++)
		str_add(&text, *name == '"' || *name == '\\' ? "\\%c" : "%c", *name);
	return str_text(&text);
}

static void draw_read(struct access *access, void *user)
{
	struct graph *graph = user;
	const struct array *array = access->array;

	if (array->role == ROLE_LOCAL || graph->drawn[array->number])
		return;
	graph->drawn[array->number] = true;
	line(&graph->writer, "array%d -> group%d;", array->number, graph->group->number);
}

static void draw_writes(struct graph *graph, const struct group *group)
{
	bool *drawn = arena_new_array(graph->writer.text.arena, bool, graph->module->arrays.n);

	for (int i = 0; i < group->stages.n; i++) {
		const struct stage *stage = group->stages.items[i];
		const struct array *array = stage->write.array;

		if (array->role == ROLE_LOCAL || drawn[array->number])
			continue;
		drawn[array->number] = true;
		line(&graph->writer, "group%d -> array%d;", group->number, array->number);
	}
}

static void draw_edges(struct graph *graph, const struct group *group)
{
	graph->group = group;
	graph->drawn = arena_new_array(graph->writer.text.arena, bool, graph->module->arrays.n);
	for (int i = 0; i < group->stages.n; i++)
		stage_reads(group->stages.items[i], draw_read, graph);
	draw_writes(graph, group);
}

static void draw_region(struct graph *graph, enum region_kind kind)
{
	static const char *const labels[] = { "before the loop", "loop", "after the loop" };
	const struct region *region = &graph->module->regions[kind];
	const char *label = graph->module->loop.var ? labels[kind] : graph->module->name;

	if (region->groups.n == 0)
		return;
	open_block(&graph->writer, "subgraph cluster_%d {", (int) kind);
	line(&graph->writer, "label = \"%s\";", quoted(graph, label));
	for (int i = 0; i < region->groups.n; i++)
		line(&graph->writer, "group%d [shape = box, label = \"%s\"];", region->groups.items[i]->number,
		     quoted(graph, region->groups.items[i]->name));
	close_block(&graph->writer, "}");
}

static void draw_arrays(struct graph *graph)
{
	for (int i = 0; i < graph->module->arrays.n; i++) {
		const struct array *array = graph->module->arrays.items[i];

		if (array->role != ROLE_LOCAL)
			line(&graph->writer, "array%d [label = \"%s\"%s];", i, quoted(graph, array->name),
			     array_is_argument(array) ? ", style = bold" : "");
	}
}

const char *module_dot(struct module *module, struct arena *arena)
{
	struct graph graph = { .writer = writer_new(arena), .module = module };

	open_block(&graph.writer, "digraph \"%s\" {", quoted(&graph, module->name));
	draw_arrays(&graph);
	for (int i = 0; i < REGION_N; i++)
		draw_region(&graph, (enum region_kind) i);
	for (int i = 0; i < module->groups.n; i++)
		draw_edges(&graph, module->groups.items[i]);
	close_block(&graph.writer, "}");
	return str_text(&graph.writer.text);
}
