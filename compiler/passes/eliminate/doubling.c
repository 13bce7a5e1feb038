/* SPDX-License-Identifier: MIT
 *
 * Recursive doubling (Stone 1973) as stages. Pivots are quotients q[i]/q[i-1] of what a linear recurrence of second
 * order gives, q[i] = diag[i] q[i-1] - lower[i] upper[i-1] q[i-2]: products of 2 x 2 matrices, of which level l holds
 * those of 2^l rows up to each. Only quotients matter, so that each product is scaled. With the pivots, right-hand
 * sides and solution are linear recurrences of first order, v[i] + f[i] v[i-1], doubled in the same way. */
#include "passes/eliminate/eliminate_private.h"

static const char arrays[] =
	"array {x}.stone_lower : temp {type}[{boxes}0..{n}]\n"
	"array {x}.stone_diag : temp {type}[{boxes}0..{n}]\n"
	"array {x}.stone_upper : temp {type}[{boxes}0..{n}]\n"
	"array {x}.stone_rhs : temp {type}[{boxes}0..{n}{side_boxes}]\n"
	"array {x}.stone_m11 : temp {type}[{boxes}0..{steps} + 1, 0..{n}]\n"
	"array {x}.stone_m12 : temp {type}[{boxes}0..{steps} + 1, 0..{n}]\n"
	"array {x}.stone_m21 : temp {type}[{boxes}0..{steps} + 1, 0..{n}]\n"
	"array {x}.stone_m22 : temp {type}[{boxes}0..{steps} + 1, 0..{n}]\n"
	"array {x}.stone_pivot : temp {type}[{boxes}0..{n}]\n"
	"array {x}.stone_f : temp {type}[{boxes}0..{steps} + 1, 0..{n}]\n"
	"array {x}.stone_y : temp {type}[{boxes}0..{steps} + 1, 0..{n}{side_boxes}]\n"
	"array {x}.stone_g : temp {type}[{boxes}0..{steps} + 1, 0..{n}]\n"
	"array {x}.stone_x : temp {type}[{boxes}0..{steps} + 1, 0..{n}{side_boxes}]\n";

static const char first_products[] =
	"group \"{x}.stone_m\" common {1}\n"
	"stage\n{each}{x}.stone_m11[{first}] = {x}.stone_diag[{on}at.row]\n"
	"stage\n{each}{x}.stone_m12[{first}] = "
	"-({x}.stone_lower[{on}at.row] * {x}.stone_upper[{on}max(at.row - 1, 0)])\n"
	"stage\n{each}{x}.stone_m21[{first}] = {one}\n"
	"stage\n{each}{x}.stone_m22[{first}] = {zero}\n";

static const char products[] =
	"array {x}.stone_c11 : local {type}[] group {group}\n"
	"array {x}.stone_c12 : local {type}[] group {group}\n"
	"array {x}.stone_c21 : local {type}[] group {group}\n"
	"array {x}.stone_c22 : local {type}[] group {group}\n"
	"array {x}.stone_scale : local {type}[] group {group}\n"
	"group \"{x}.stone_m\" common {3}\n"
	"stage\n{stepping}{x}.stone_c11[] = {x}.stone_m11[{here}] * {x}.stone_m11[{left}] + "
	"{x}.stone_m12[{here}] * {x}.stone_m21[{left}]\n"
	"stage\n{stepping}{x}.stone_c12[] = {x}.stone_m11[{here}] * {x}.stone_m12[{left}] + "
	"{x}.stone_m12[{here}] * {x}.stone_m22[{left}]\n"
	"stage\n{stepping}{x}.stone_c21[] = {x}.stone_m21[{here}] * {x}.stone_m11[{left}] + "
	"{x}.stone_m22[{here}] * {x}.stone_m21[{left}]\n"
	"stage\n{stepping}{x}.stone_c22[] = {x}.stone_m21[{here}] * {x}.stone_m12[{left}] + "
	"{x}.stone_m22[{here}] * {x}.stone_m22[{left}]\n"
	"stage\n{stepping}{x}.stone_scale[] = unit_scale(abs({x}.stone_c11[]) + abs({x}.stone_c12[]) + "
	"abs({x}.stone_c21[]) + abs({x}.stone_c22[]))\n"
	"stage\n{stepping}{x}.stone_m11[{next}] = "
	"select({alone}, {x}.stone_m11[{here}], {x}.stone_scale[] * {x}.stone_c11[])\n"
	"stage\n{stepping}{x}.stone_m12[{next}] = "
	"select({alone}, {x}.stone_m12[{here}], {x}.stone_scale[] * {x}.stone_c12[])\n"
	"stage\n{stepping}{x}.stone_m21[{next}] = "
	"select({alone}, {x}.stone_m21[{here}], {x}.stone_scale[] * {x}.stone_c21[])\n"
	"stage\n{stepping}{x}.stone_m22[{next}] = "
	"select({alone}, {x}.stone_m22[{here}], {x}.stone_scale[] * {x}.stone_c22[])\n";

static const char downwards[] =
	"group \"{x}.stone_pivot\" common {1}\n"
	"stage\n{each}{x}.stone_pivot[{on}at.row] = {x}.stone_m11[{last}] / {x}.stone_m21[{last}]\n"
	"group \"{x}.stone_y\" common {1}\n"
	"stage\n{each}{x}.stone_f[{first}] = -({x}.stone_lower[{on}at.row] / {x}.stone_pivot[{on}max(at.row - 1, 0)])\n"
	"stage\n{each}{sides}{x}.stone_y[{first}{side}] = {x}.stone_rhs[{on}at.row{side}]\n"
	"group \"{x}.stone_y\" common {3}\n"
	"stage\n{stepping}{x}.stone_f[{next}] = {x}.stone_f[{here}] * {x}.stone_f[{left}]\n"
	"stage\n{stepping}{sides}{x}.stone_y[{next}{side}] = {x}.stone_y[{here}{side}] + "
	"{x}.stone_f[{here}] * {x}.stone_y[{left}{side}]\n";

static const char upwards[] =
	"group \"{x}.stone_x\" common {1}\n"
	"stage\n{each}{x}.stone_g[{first}] = -({x}.stone_upper[{on}at.row] / {x}.stone_pivot[{on}at.row])\n"
	"stage\n{each}{sides}{x}.stone_x[{first}{side}] = {x}.stone_y[{last}{side}] / {x}.stone_pivot[{on}at.row]\n"
	"group \"{x}.stone_x\" common {3}\n"
	"stage\n{stepping}{x}.stone_g[{next}] = {x}.stone_g[{here}] * {x}.stone_g[{right}]\n"
	"stage\n{stepping}{sides}{x}.stone_x[{next}{side}] = {x}.stone_x[{here}{side}] + "
	"{x}.stone_g[{here}] * {x}.stone_x[{right}{side}]\n"
	"group \"{x}\" common {1}\n"
	"stage\n{each}{sides}{solution}[{out}] = {x}.stone_x[{last}{side}]\n";

bool builder_add_doubling(struct builder *b)
{
	builder_set(b, "each", "{systems}for at.row in 0..{n}\n");
	builder_set(b, "first", "{on}0, at.row");
	builder_set(b, "alone", "at.row < at.stride");
	if (!builder_add_strides(b) || !builder_add(b, b->region, arrays))
		return false;
	builder_set(b, "last", "{on}{steps}, at.row");
	builder_set(b, "scaled", "{on}at.row");
	return builder_add_system(b, "stone") && builder_add(b, b->region, first_products) &&
	       builder_add(b, b->region, products) &&
	       builder_add(b, b->region, downwards) && builder_add(b, b->region, upwards);
}
