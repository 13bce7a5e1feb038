/* SPDX-License-Identifier: MIT
 *
 * Cyclic reduction and its relatives (Hockney 1965; Zhang, Cohen, Owens 2010; Valero-Lara et al. 2018, 4.1) as stages,
 * written in the format of docs/ir.md with words in braces that are filled in.
 *
 * Cyclic reduction: level l + 1 has the odd rows of level l, freed of their neighbours. All levels lie one behind the
 * other, level l in from[l]..from[l + 1]: tables that are computed before, since how many rows there are is not affine.
 * What isl has to know of them (that a level has half the rows of the one before it) is stated as a condition, which
 * always holds. Parallel cyclic reduction: at each level all rows are freed of their neighbours `stride` rows away,
 * strides[l] = 2^l. Where there is no neighbour, a coefficient is zero, and what it multiplies is read at a row that
 * exists. */
#include "passes/eliminate/eliminate_private.h"

/* ---- cyclic reduction ---- */

static const char halving_tables[] =
	"array {x}.cr_size : temp i64[0..{halvings} + 1]\n"
	"array {x}.cr_from : temp i64[0..{halvings} + 2] index(2*{n} + 1) sorted proved\n"
	"group \"{x}.cr_size\" common 1\n"
	"stage\n"
	"for at.level in 0..{halvings} + 1\n"
	"where at.level == 0\n"
	"{x}.cr_size[at.level] = {n}\n"
	"stage\n"
	"for at.level in 0..{halvings} + 1\n"
	"where at.level != 0\n"
	"{x}.cr_size[at.level] = {x}.cr_size[at.level - 1] / 2\n"
	"group \"{x}.cr_from\" common 1\n"
	"stage\n"
	"for at.level in 0..{halvings} + 2\n"
	"where at.level == 0\n"
	"{x}.cr_from[at.level] = 0\n"
	"stage\n"
	"for at.level in 0..{halvings} + 2\n"
	"where at.level != 0\n"
	"{x}.cr_from[at.level] = {x}.cr_from[at.level - 1] + {x}.cr_size[at.level - 1]\n";

static const char halving_arrays[] =
	"array {x}.cr_lower : temp {type}[{boxes}0..2*{n}]\n"
	"array {x}.cr_diag : temp {type}[{boxes}0..2*{n}]\n"
	"array {x}.cr_upper : temp {type}[{boxes}0..2*{n}]\n"
	"array {x}.cr_rhs : temp {type}[{boxes}0..2*{n}{side_boxes}]\n"
	"array {x}.cr_x : temp {type}[{boxes}0..2*{n}{side_boxes}]\n";

static const char halve[] =
	"array {x}.cr_left : local {type}[] group {group}\n"
	"array {x}.cr_right : local {type}[] group {group}\n"
	"group \"{x}.cr\" common {5}\n"
	"stage\n{half}where {halved}\n"
	"{x}.cr_left[] = -({x}.cr_lower[{on}{middle}] / {x}.cr_diag[{on}{left}])\n"
	"stage\n{half}where {halved}\n"
	"{x}.cr_right[] = -({x}.cr_upper[{on}{middle}] / {x}.cr_diag[{on}{right}])\n"
	"stage\n{half}where {halved}\n"
	"{x}.cr_lower[{on}at.row] = {x}.cr_left[] * {x}.cr_lower[{on}{left}]\n"
	"stage\n{half}where {halved}\n"
	"{x}.cr_upper[{on}at.row] = {x}.cr_right[] * {x}.cr_upper[{on}{right}]\n"
	"stage\n{half}where {halved}\n"
	"{x}.cr_diag[{on}at.row] = {x}.cr_diag[{on}{middle}] + {x}.cr_left[] * {x}.cr_upper[{on}{left}] + "
	"{x}.cr_right[] * {x}.cr_lower[{on}{right}]\n"
	"stage\n{half}{sides}where {halved}\n"
	"{x}.cr_rhs[{on}at.row{side}] = {x}.cr_rhs[{on}{middle}{side}] + "
	"{x}.cr_left[] * {x}.cr_rhs[{on}{left}{side}] + {x}.cr_right[] * {x}.cr_rhs[{on}{right}{side}]\n";

/* A level from the one behind it: odd rows are those of that level, even ones lie between two of them. */
static const char fill_in[] =
	"group \"{x}.cr_x\" common {4}\n"
	"stage\n{level}for at.row in at.next..at.end\n{sides}where {halved}\n"
	"{x}.cr_x[{on}{middle}{side}] = {x}.cr_x[{on}at.row{side}]\n"
	"stage\n{level}for at.pair in 0..at.next - at.here - (at.end - at.next)\n{sides}where {halved}\n"
	"{x}.cr_x[{on}{even}{side}] = ({x}.cr_rhs[{on}{even}{side}] - "
	"{x}.cr_lower[{on}{even}] * {x}.cr_x[{on}max(at.next + at.pair - 1, at.next){side}] - "
	"{x}.cr_upper[{on}{even}] * {x}.cr_x[{on}min(at.next + at.pair, at.end - 1){side}]) / "
	"{x}.cr_diag[{on}{even}]\n"
	"group \"{x}\" common {1}\n"
	"stage\n{systems}for at.row in 0..{n}\n{sides}"
	"{solution}[{out}] = {x}.cr_x[{on}at.row{side}]\n";

static void set_halving_words(struct builder *b)
{
	builder_set(b, "top", "{systems}let at.begin = {x}.cr_from[{halvings}]\n"
		    "let at.end = {x}.cr_from[{halvings} + 1]\n");
	builder_set(b, "level", "{systems}for at.level in 0..{halvings}\nlet at.here = {x}.cr_from[at.level]\n"
		 "let at.next = {x}.cr_from[at.level + 1]\nlet at.end = {x}.cr_from[at.level + 2]\n");
	builder_set(b, "half", "{level}for at.row in at.next..at.end\n");
	builder_set(b, "halved", "2*(at.end - at.next) <= at.next - at.here and "
		 "at.next - at.here <= 2*(at.end - at.next) + 1 and at.next < at.end");
	builder_set(b, "left", "at.here + 2*(at.row - at.next)");
	builder_set(b, "middle", "{left} + 1");
	builder_set(b, "right", "min({left} + 2, at.next - 1)");
	builder_set(b, "even", "at.here + 2*at.pair");
}

/* ---- rows that are left ---- */

static const char last_row[] =
	"group \"{x}.cr_x\" common {3}\n"
	"stage\n{top}for at.row in at.begin..at.end\n{sides}where at.end - at.begin <= {rows}\n"
	"{x}.cr_x[{on}at.row{side}] = {x}.cr_rhs[{on}at.row{side}] / {x}.cr_diag[{on}at.row]\n";

static const char hand_over[] =
	"group \"{x}.pcr\" common {3}\n"
	"stage\n{top}for at.row in at.begin..at.end\nwhere at.end - at.begin <= {rows}\n"
	"{x}.pcr_lower[{on}0, at.row - at.begin] = {x}.cr_lower[{on}at.row]\n"
	"stage\n{top}for at.row in at.begin..at.end\nwhere at.end - at.begin <= {rows}\n"
	"{x}.pcr_diag[{on}0, at.row - at.begin] = {x}.cr_diag[{on}at.row]\n"
	"stage\n{top}for at.row in at.begin..at.end\nwhere at.end - at.begin <= {rows}\n"
	"{x}.pcr_upper[{on}0, at.row - at.begin] = {x}.cr_upper[{on}at.row]\n"
	"stage\n{top}for at.row in at.begin..at.end\n{sides}where at.end - at.begin <= {rows}\n"
	"{x}.pcr_rhs[{on}0, at.row - at.begin{side}] = {x}.cr_rhs[{on}at.row{side}]\n";

static const char hand_back[] =
	"group \"{x}.cr_x\" common {3}\n"
	"stage\n{top}for at.row in at.begin..at.end\n{sides}where at.end - at.begin <= {rows}\n"
	"{x}.cr_x[{on}at.row{side}] = {x}.pcr_rhs[{on}{steps}, at.row - at.begin{side}] / "
	"{x}.pcr_diag[{on}{steps}, at.row - at.begin]\n";

/* ---- parallel cyclic reduction ---- */

static const char step_arrays[] =
	"array {x}.pcr_lower : temp {type}[{boxes}0..{steps} + 1, 0..{most}]\n"
	"array {x}.pcr_diag : temp {type}[{boxes}0..{steps} + 1, 0..{most}]\n"
	"array {x}.pcr_upper : temp {type}[{boxes}0..{steps} + 1, 0..{most}]\n"
	"array {x}.pcr_rhs : temp {type}[{boxes}0..{steps} + 1, 0..{most}{side_boxes}]\n";

static const char step[] =
	"array {x}.pcr_left : local {type}[] group {group}\n"
	"array {x}.pcr_right : local {type}[] group {group}\n"
	"group \"{x}.pcr\" common {depth}\n"
	"stage\n{stepping}{few}"
	"{x}.pcr_left[] = -({x}.pcr_lower[{here}] / {x}.pcr_diag[{left}])\n"
	"stage\n{stepping}{few}"
	"{x}.pcr_right[] = -({x}.pcr_upper[{here}] / {x}.pcr_diag[{right}])\n"
	"stage\n{stepping}{few}"
	"{x}.pcr_lower[{next}] = {x}.pcr_left[] * {x}.pcr_lower[{left}]\n"
	"stage\n{stepping}{few}"
	"{x}.pcr_upper[{next}] = {x}.pcr_right[] * {x}.pcr_upper[{right}]\n"
	"stage\n{stepping}{few}"
	"{x}.pcr_diag[{next}] = {x}.pcr_diag[{here}] + {x}.pcr_left[] * {x}.pcr_upper[{left}] + "
	"{x}.pcr_right[] * {x}.pcr_lower[{right}]\n"
	"stage\n{stepping}{sides}{few}"
	"{x}.pcr_rhs[{next}{side}] = {x}.pcr_rhs[{here}{side}] + {x}.pcr_left[] * {x}.pcr_rhs[{left}{side}] + "
	"{x}.pcr_right[] * {x}.pcr_rhs[{right}{side}]\n";

static const char uncoupled_rows[] =
	"group \"{x}\" common {1}\n"
	"stage\n{systems}for at.row in 0..{n}\n{sides}"
	"{solution}[{out}] = {x}.pcr_rhs[{on}{steps}, at.row{side}] / {x}.pcr_diag[{on}{steps}, at.row]\n";

/* Rows `stride` apart form systems of their own. */
static const char strided_rows[] =
	"array {x}.pcr_pivot : temp {type}[{boxes}0..{n}]\n"
	"array {x}.pcr_reduced : temp {type}[{boxes}0..{n}{side_boxes}]\n"
	"group \"{x}.pcr_pivot\" common {2}\n"
	"stage\n{strided}where at.stride >= 1 and at.row < at.stride\n"
	"{x}.pcr_pivot[{on}at.row] = {x}.pcr_diag[{on}{steps}, at.row]\n"
	"stage\n{strided}where at.stride >= 1 and at.row >= at.stride\n"
	"{x}.pcr_pivot[{on}at.row] = {x}.pcr_diag[{on}{steps}, at.row] - {x}.pcr_lower[{on}{steps}, at.row] * "
	"{x}.pcr_upper[{on}{steps}, at.row - at.stride] / {x}.pcr_pivot[{on}at.row - at.stride]\n"
	"group \"{x}.pcr_reduced\" common {2}\n"
	"stage\n{strided}{sides}where at.stride >= 1 and at.row < at.stride\n"
	"{x}.pcr_reduced[{on}at.row{side}] = {x}.pcr_rhs[{on}{steps}, at.row{side}]\n"
	"stage\n{strided}{sides}where at.stride >= 1 and at.row >= at.stride\n"
	"{x}.pcr_reduced[{on}at.row{side}] = {x}.pcr_rhs[{on}{steps}, at.row{side}] - "
	"{x}.pcr_lower[{on}{steps}, at.row] * {x}.pcr_reduced[{on}at.row - at.stride{side}] / "
	"{x}.pcr_pivot[{on}at.row - at.stride]\n"
	"group \"{x}\" common {2}\n"
	"stage\n{strided}{sides}where at.stride >= 1 and at.row + at.stride >= {n}\n"
	"{solution}[{out}] = {x}.pcr_reduced[{on}at.row{side}] / {x}.pcr_pivot[{on}at.row]\n"
	"stage\n{strided}{sides}where at.stride >= 1 and at.row + at.stride < {n}\n"
	"{solution}[{out}] = ({x}.pcr_reduced[{on}at.row{side}] - {x}.pcr_upper[{on}{steps}, at.row] * "
	"{solution}[{behind}]) / {x}.pcr_pivot[{on}at.row]\n";

/* ---- the whole ---- */

static bool add(struct builder *b, const char *text)
{
	return builder_add(b, b->region, text);
}

static bool add_table(struct builder *b, const char *text)
{
	return builder_add(b, REGION_PROLOGUE, text);
}

static bool open_halving(struct builder *b)
{
	builder_set(b, "rows", arena_printf(b->arena, "%lld", (long long) b->algorithm->rows));
	builder_derive(b, "halvings", "{c_x}_halvings", DERIVATION_HALVINGS, builder_n_rows(b), b->algorithm->rows);
	set_halving_words(b);
	if (!add_table(b, halving_tables) || !add(b, halving_arrays))
		return false;
	builder_set(b, "scaled", "{on}at.row");
	return builder_add_system(b, "cr") && add(b, halve);
}

static bool add_steps(struct builder *b)
{
	if (!builder_add_strides(b) || !add(b, step_arrays))
		return false;
	if (b->algorithm->chunk)
		return builder_add_condensed(b) && add(b, step);
	builder_set(b, "scaled", "{on}0, at.row");
	return (b->algorithm->rows ? add(b, hand_over) : builder_add_system(b, "pcr")) && add(b, step);
}

static bool add_all(struct builder *b)
{
	const struct algorithm *algorithm = b->algorithm;

	if (algorithm->doubles)
		return builder_add_doubling(b);
	if (algorithm->chunk)
		builder_open_chunks(b);
	if (algorithm->rows && !open_halving(b))
		return false;
	if (algorithm->rows && !algorithm->steps)
		return add(b, last_row) && add(b, fill_in);
	if (!add_steps(b))
		return false;
	if (algorithm->chunk)
		return builder_add_chunks(b);
	if (algorithm->rows)
		return add(b, hand_back) && add(b, fill_in);
	return add(b, algorithm->steps == ALL_STEPS ? uncoupled_rows : strided_rows);
}

bool eliminate_by(const struct elimination *elimination, const struct algorithm *algorithm, bool is_device)
{
	struct builder b = builder_new(elimination, algorithm);
	bool ok;

	b.is_device = is_device;
	builder_open(&b);
	ok = add_all(&b) && builder_add_check(&b, is_device && algorithm->chunk);
	builder_close(&b);
	return ok;
}
