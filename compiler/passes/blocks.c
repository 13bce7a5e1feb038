/* SPDX-License-Identifier: MIT
 *
 * What a block of systems holds of the arrays that move with them: of a temporary that lives in one iteration of the
 * loop as many values as the block has lanes, in the place of one; of any other array a copy of the block's part,
 * X.block, which is read from it before the block runs and written back behind it. */
#include "ir/block.h"
#include "passes/pass_private.h"

static const char *block_name(struct module *module, const struct array *array)
{
	const char *name = arena_printf(module->arena, "%s.block", array->name);

	for (int i = 2; module_find_array(module, name); i++)
		name = arena_printf(module->arena, "%s.block%d", array->name, i);
	return name;
}

/* The subscripts of a copy are those that move below the loop. */
static unsigned folded_subscripts(const struct block_use *use)
{
	unsigned folded = 0;

	for (int i = 0; i < use->array->rank && !use->segments; i++)
		if (i < use->first || i > use->last || i == use->position)
			folded |= 1U << i;
	return folded;
}

/* One that a dump of an earlier run brought along, else a new one. */
static struct array *free_copy(struct module *module, struct array *array)
{
	struct array *copy;

	for (int i = 0; i < module->arrays.n; i++) {
		copy = module->arrays.items[i];
		if (copy->role == ROLE_BLOCK && copy->owner == array && !copy->lanes)
			return copy;
	}
	copy = module_add_array(module, block_name(module, array), ROLE_BLOCK, array->type, array->rank, array->span);
	copy->owner = array;
	return copy;
}

static struct array *copy_of(struct module *module, const struct block_use *use, const struct mark *mark)
{
	struct array *array = use->array;
	struct array *copy = free_copy(module, array);

	copy->lanes = (int) mark->factor;
	copy->folded = folded_subscripts(use);
	copy->segments = use->segments;
	for (int i = 0; i < array->rank; i++) {
		copy->lo[i] = array->lo[i];
		copy->hi[i] = array->hi[i];
	}
	return copy;
}

static __isl_give isl_schedule_node *fill(struct tree_walk *walk, __isl_take isl_schedule_node *node,
					  const struct mark *mark)
{
	block_use_list uses = block_uses(walk->module, node);
	struct mark *filled = mark_new(walk->module, MARK_BLOCK, "interleave", mark->span);

	node = isl_schedule_node_parent(node);
	*filled = *mark;
	for (int i = 0; i < uses.n; i++) {
		struct block_use *use = &uses.items[i];

		if (use->position < 0)
			continue;
		if (use->array->folded >> use->position & 1U) {
			use->array->lanes = (int) mark->factor;
			continue;
		}
		vec_push(walk->module->arena, &filled->arrays, copy_of(walk->module, use, mark));
		filled->arrays.items[filled->arrays.n - 1]->is_per_thread =
			use->segments || schedule_has_mark_above(node, MARK_PARALLEL, NULL);
	}
	node = isl_schedule_node_insert_mark(isl_schedule_node_delete(node), mark_id(walk->module, filled));
	return isl_schedule_node_first_child(node);
}

static __isl_give isl_schedule_node *visit(struct tree_walk *walk, __isl_take isl_schedule_node *node,
					   const struct mark *mark, bool *descend)
{
	isl_schedule_node *above = isl_schedule_node_parent(isl_schedule_node_copy(node));
	const struct mark *block = mark_of_node(above);

	(void) mark;
	isl_schedule_node_free(above);
	if (!block || block->kind != MARK_BLOCK)
		return node;
	*descend = false;
	return fill(walk, node, block);
}

bool pass_blocks(struct module *module, const struct pass_options *options)
{
	struct tree_walk walk = { .module = module, .options = options, .enters_blocks = true, .visit = visit };

	for (int i = 0; i < module->arrays.n; i++)
		module->arrays.items[i]->lanes = 0;
	return module_walk(&walk);
}
