/* SPDX-License-Identifier: MIT
 *
 * From "NAME=VALUE" to the arguments of the pipeline. NAME is a parameter, an array, or an object (PHI)
 * whose arrays (PHI.atom, …) are bound together; VALUE is a number, random:SEED, or a file. What a file has
 * in another type is converted where nothing is lost. */
#include "run/run.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool argument_is_read(const struct argument *argument)
{
	return argument->array->role == ROLE_IN || argument->array->role == ROLE_INOUT;
}

bool argument_is_written(const struct argument *argument)
{
	return argument->array->role == ROLE_OUT || argument->array->role == ROLE_INOUT;
}

/* The two enumerations are one table. */
pmg_type argument_type(const struct argument *argument)
{
	return (pmg_type) argument->array->type;
}

void session_list_arguments(struct session *s)
{
	const struct module *module = s->module;
	for (int p = 0; p < module->params.n; p++) {
		const struct param *param = &module->params.items[p];
		vec_push(s->arena, &s->sizes, ((struct size){ .param = param }));
		if (param->is_specialized)
			equation_add(s, expr_param(s->arena, module, p, param->span), param->value, true,
				     "specialize");
	}
	for (int i = 0; i < module->arrays.n; i++)
		if (array_is_argument(module->arrays.items[i]))
			vec_push(s->arena, &s->arguments,
				 ((struct argument){ .array = module->arrays.items[i] }));
}

/* ---- Names ---------------------------------------------------------------------------- */

/* The part of "PHI.atom" after "PHI."; NULL: not of that object. */
static const char *member_of(const struct argument *argument, const char *object)
{
	size_t length = strlen(object);
	const char *name = argument->array->name;
	return strncmp(name, object, length) == 0 && name[length] == '.' ? name + length + 1 : NULL;
}

static struct argument *find_argument(struct session *s, const char *name)
{
	for (int i = 0; i < s->arguments.n; i++)
		if (strcmp(s->arguments.items[i].array->name, name) == 0)
			return &s->arguments.items[i];
	return NULL;
}

static struct size *find_size(struct session *s, const char *name)
{
	for (int p = 0; p < s->sizes.n; p++)
		if (strcmp(s->sizes.items[p].param->name, name) == 0 && !s->sizes.items[p].param->is_loop)
			return &s->sizes.items[p];
	return NULL;
}

static bool is_object(const struct session *s, const char *name)
{
	for (int i = 0; i < s->arguments.n; i++)
		if (member_of(&s->arguments.items[i], name))
			return true;
	return false;
}

static bool unknown_name(struct session *s, const char *name, struct failure *failure)
{
	word_list names = { 0 };
	for (int p = 0; p < s->sizes.n; p++)
		vec_push(s->arena, &names, s->sizes.items[p].param->name);
	for (int i = 0; i < s->arguments.n; i++) {
		const char *full = s->arguments.items[i].array->name, *dot = strchr(full, '.');
		vec_push(s->arena, &names, full);
		if (dot)
			vec_push(s->arena, &names, arena_copy(s->arena, full, (size_t) (dot - full)));
	}
	fail(failure, OUTCOME_USAGE, "pipeline '%s' has no argument '%s'", s->module->name, name);
	const char *near = suggest_nearest(name, names.items, names.n);
	if (near)
		fail_help(failure, "did you mean '%s'?", near);
	else
		fail_help(failure, "'pmg inspect %s' lists its arguments", s->module->source_name);
	return false;
}

/* ---- Arrays from files --------------------------------------------------------------------- */

static void drop_dimension(struct ndarray *value, int d)
{
	value->rank--;
	memmove(value->shape + d, value->shape + d + 1, (size_t) (value->rank - d) * sizeof(value->shape[0]));
}

/* A file with dimensions of extent 1 too many is taken without them. */
static void squeeze(struct ndarray *value, int rank)
{
	for (int d = value->rank - 1; d >= 0 && value->rank > rank; d--)
		if (value->shape[d] == 1)
			drop_dimension(value, d);
}

static bool convert_value(struct argument *argument, struct failure *failure)
{
	struct ndarray *value = &argument->value;
	bool is_index = array_is_index(argument->array);
	if ((is_index && type_holds_integers(value->type)) ||
	    ndarray_convert(value, is_index ? PMG_I64 : argument_type(argument), argument->array->name, failure))
		return true;
	fail_note(failure, "'%s' is from %s", argument->array->name, argument->source);
	if (is_index)
		fail_note(failure, "its values are subscripts, which are whole numbers");
	return false;
}

static void equations_of_shape(struct session *s, struct argument *argument)
{
	const struct array *array = argument->array;
	for (int d = 0; d < array->rank; d++) {
		const char *source =
			arena_printf(s->arena, "%s (%s, dimension %d)", array->name, argument->source, d);
		equation_add(s, array->hi[d], argument->value.shape[d], false, source);
	}
}

/* What the values of an index array suggest of its limit; a tree's last nodes are nobody's parents. */
static void guess_limit(struct session *s, const struct argument *argument)
{
	const struct array *array = argument->array;
	int64_t n = ndarray_count(&argument->value), largest = -1;
	bool is_offsets = array->facts & FACT_OFFSETS;
	if (!array->limit || array->facts & FACT_TREE || n == 0)
		return;
	for (int64_t i = is_offsets ? n - 1 : 0; i < n; i++) {
		int64_t value = ndarray_integer(&argument->value, i);
		largest = value > largest ? value : largest;
	}
	const char *source =
		arena_printf(s->arena, "%s of %s (%s)", is_offsets ? "the last value" : "the largest value",
			     array->name, argument->source);
	equation_add(s, array->limit, is_offsets ? largest : largest + 1, true, source);
}

/* Takes the array out of `member`. */
static bool bind_array(struct session *s, struct argument *argument, struct member *member, bool is_flat,
		       const char *source, struct failure *failure)
{
	const struct array *array = argument->array;
	char text[200];
	argument->filling = FILL_FILE;
	argument->source = source;
	argument->is_flat = is_flat;
	argument->value = member->array;
	member->array.data = NULL;
	squeeze(&argument->value, array->rank);
	if (!is_flat && argument->value.rank != array->rank) {
		fail(failure, OUTCOME_DATA, "%s is %s, but %s has shape %s", array->name, array_text(s, array), source,
		     extents_text(argument->value.rank, argument->value.shape, text, sizeof(text)));
		if (argument->value.rank == 1 && array->rank == 2)
			suggest_forest(s, source, failure);
		return false;
	}
	if (!convert_value(argument, failure))
		return false;
	if (!is_flat)
		equations_of_shape(s, argument);
	guess_limit(s, argument);
	return true;
}

static bool bind_content_as_array(struct session *s, struct argument *argument, struct content *content,
				  const char *source, struct failure *failure)
{
	const char *name = argument->array->name;
	if (content->kind == CONTENT_TENSOR)
		return fail(failure, OUTCOME_DATA, "%s is an array, but %s holds a sparse tensor", name,
			    source);
	if (content->kind == CONTENT_GROUP) {
		fail(failure, OUTCOME_DATA, "%s is an array, but %s is a group of %d", name, source,
		     content->n_members);
		suggest_object(s, name, NULL, content, source, failure);
		return false;
	}
	return bind_array(s, argument, &content->members[0], content->kind == CONTENT_FLAT, source, failure);
}

/* ---- Objects from files ----------------------------------------------------------------------- */

static void list_members(struct session *s, const char *object, word_list *names)
{
	for (int i = 0; i < s->arguments.n; i++) {
		const char *member = member_of(&s->arguments.items[i], object);
		if (member)
			vec_push(s->arena, names, member);
	}
}

static bool bind_tensor(struct session *s, const char *object, const word_list *names,
			struct content *content, const char *source, struct failure *failure)
{
	int n_modes = content->n_members - 1;
	if (names->n != content->n_members || strcmp(names->items[n_modes], "value") != 0)
		return fail(failure, OUTCOME_DATA, "%s has %d modes, but the tensor in %s has %d", object,
			    names->n - 1, source, n_modes);
	for (int m = 0; m <= n_modes; m++) {
		struct argument *argument =
			find_argument(s, arena_printf(s->arena, "%s.%s", object, names->items[m]));
		const char *size_source =
			arena_printf(s->arena, "%s (%s, size of mode %d)", object, source, m);
		if (m < n_modes && content->sizes[m] >= 0)
			equation_add(s, argument->array->limit, content->sizes[m], false, size_source);
		if (!bind_array(s, argument, &content->members[m], false, source, failure))
			return false;
	}
	return true;
}

static bool is_tree(const word_list *names)
{
	return names->n == 1 && strcmp(names->items[0], "parent") == 0;
}

/* Parents in a group with offsets count in each of its trees on its own: not those of one. */
static bool is_one_tree(const char *object, const word_list *names, const struct content *content,
			const char *source, struct failure *failure)
{
	const struct member *offset = content_find(content, "offset");
	int64_t n = offset ? ndarray_count(&offset->array) - 1 : 1;
	if (!is_tree(names) || n <= 1)
		return true;
	fail(failure, OUTCOME_DATA, "%s holds %" PRId64 " trees, but %s is one", source, n, object);
	fail_help(failure, "declare '%s : Forest(nSystems, n)', or import one tree: pmg import swc FILE --systems=N",
		  object);
	return false;
}

static bool bind_group(struct session *s, const char *object, const word_list *names, struct content *content,
		       const char *source, struct failure *failure)
{
	if (!is_one_tree(object, names, content, source, failure))
		return false;
	for (int i = 0; i < names->n; i++) {
		struct member *member = content_find(content, names->items[i]);
		struct argument *argument =
			find_argument(s, arena_printf(s->arena, "%s.%s", object, names->items[i]));
		if (!member) {
			fail(failure, OUTCOME_DATA, "%s: there is no '%s' for %s", source, names->items[i],
			     argument->array->name);
			suggest_object(s, object, names->items[i], content, source, failure);
			return false;
		}
		if (!bind_array(s, argument, member, false, source, failure))
			return false;
	}
	return true;
}

static bool bind_content_as_object(struct session *s, const char *object, const word_list *names,
				   struct content *content, const char *source, struct failure *failure)
{
	int n = names->n;
	bool is_tensor = n > 1 && strcmp(names->items[n - 1], "value") == 0;
	if (is_tensor && content->kind == CONTENT_GROUP && content_as_tensor(content, names->items, n - 1) &&
	    !tensor_check(content, source, failure))
		return false;
	if (is_tensor && content->kind == CONTENT_TENSOR)
		return bind_tensor(s, object, names, content, source, failure);
	if (content->kind == CONTENT_GROUP)
		return bind_group(s, object, names, content, source, failure);
	if (n == 1)
		return bind_content_as_array(
			s, find_argument(s, arena_printf(s->arena, "%s.%s", object, names->items[0])),
			content, source, failure);
	fail(failure, OUTCOME_DATA, "%s is made of several arrays, but %s holds one", object, source);
	fail_help(failure, "give %s.%s=FILE and the others", object, names->items[0]);
	return false;
}

/* ---- Files ---------------------------------------------------------------------------------------- */

static void equations_of_attributes(struct session *s, const struct content *content, const char *source)
{
	for (int i = 0; i < content->n_attributes; i++) {
		const struct attribute *attribute = &content->attributes[i];
		struct size *size = find_size(s, attribute->name);
		if (!size || size->param->is_scalar)
			continue;
		int number = (int) (size - s->sizes.items);
		struct expr *expr = expr_param(s->arena, s->module, number, (struct span){ 0 });
		const char *text = arena_printf(s->arena, "the attribute %s of %s", attribute->name, source);
		equation_add(s, expr, attribute->value, true, text);
	}
}

/* Where the array is, or each of an object's; of a group, its member. */
static void note_places(struct session *s, const char *name, struct argument *argument,
			const struct location *location, const struct content *content)
{
	char *inner = *content->inner ? arena_string(s->arena, content->inner) : NULL;
	for (int i = 0; i < s->arguments.n; i++) {
		struct argument *bound = &s->arguments.items[i];
		const char *member = member_of(bound, name);
		if (argument ? bound != argument : !member)
			continue;
		bound->place = *location;
		bound->place.inner = inner && member && content->kind == CONTENT_GROUP
					     ? arena_printf(s->arena, "%s/%s", inner, member)
					     : inner;
	}
}

/* `argument` NULL: the object `name`. */
static bool bind_file(struct session *s, const char *name, struct argument *argument, const char *source,
		      struct failure *failure)
{
	struct location location;
	struct content content = { 0 };
	word_list names = { 0 };
	if (!argument)
		list_members(s, name, &names);
	struct wish wish = { .name = name, .names = names.items, .n_names = names.n,
			     .besides = is_tree(&names) ? "offset" : NULL };
	if (!location_parse(&location, s->arena, source, failure) ||
	    !content_read(&location, &wish, &content, failure)) {
		if (argument && (strspn(source, "+-.0123456789") || !strncmp(source, "random", strlen("random"))))
			fail_help(failure, "what is no file is a number, as in %s=1.5e3, inf or nan, or %s=random:SEED",
				  name, name);
		return false;
	}
	equations_of_attributes(s, &content, source);
	note_places(s, name, argument, &location, &content);
	bool ok = argument ? bind_content_as_array(s, argument, &content, source, failure)
			   : bind_content_as_object(s, name, &names, &content, source, failure);
	content_free(&content);
	return ok;
}

/* ---- Words ------------------------------------------------------------------------------------------- */

static bool no_size(const struct size *size, const char *text, struct failure *failure)
{
	double number;
	int64_t integer;
	if (is_beyond_integers(text))
		return fail(failure, OUTCOME_USAGE, "%s: '%s' is not a size: an integer from 0 to %" PRId64,
			    size->param->name, text, INT64_MAX);
	fail(failure, OUTCOME_USAGE, "%s: '%s' is not a size: an integer of 0 or more", size->param->name, text);
	if (!parse_integer(text, &integer) && parse_real(text, &number))
		fail_help(failure, "a parameter that may be any number is declared 'param f64 %s;'", size->param->name);
	return false;
}

static bool bind_scalar(struct size *size, const char *text, struct failure *failure)
{
	const char *name = size->param->name;
	if (!parse_real(text, &size->real))
		return fail(failure, OUTCOME_USAGE, "%s: '%s' is not a number", name, text);
	if (size->param->type == TYPE_F32 && isfinite(size->real) && !isfinite((float) size->real))
		return fail(failure, OUTCOME_DATA, "%s is %s, which f32 cannot hold", name, text);
	size->is_known = true;
	return true;
}

static bool bind_size(struct session *s, struct size *size, const char *text, struct failure *failure)
{
	const char *name = size->param->name;
	if (size->is_given)
		return fail(failure, OUTCOME_USAGE, "'%s' is given twice: %s and %s=%s", name, size->source, name,
			    text);
	size->is_given = true;
	size->source = arena_printf(s->arena, "%s=%s", name, text);
	if (size->param->is_scalar)
		return bind_scalar(size, text, failure);
	if (!parse_integer(text, &size->value) || size->value < 0)
		return no_size(size, text, failure);
	size->is_known = true;
	return true;
}

static bool parse_seed(const char *text, uint64_t *seed, struct failure *failure)
{
	int64_t number;
	if (!parse_integer(text, &number) || number < 0)
		return fail(failure, OUTCOME_USAGE, "random:%s: the seed must be a number from 0", text);
	*seed = (uint64_t) number;
	return true;
}

static bool parse_bool(const char *text, int64_t *value)
{
	*value = strcmp(text, "true") == 0;
	return *value || strcmp(text, "false") == 0;
}

/* random:SEED, numbers, and words of a bool; false when the text is none of them. */
static bool is_made_up(struct argument *argument, const char *text, struct failure *failure)
{
	failure->outcome = OUTCOME_OK;
	argument->source = text;
	if (strncmp(text, "random:", 7) == 0) {
		argument->filling = FILL_RANDOM;
		return parse_seed(text + 7, &argument->seed, failure);
	}
	if (parse_real(text, &argument->number)) {
		argument->is_integer = parse_integer(text, &argument->integer);
		argument->filling = FILL_NUMBER;
		return true;
	}
	if (argument_type(argument) == PMG_BOOL && parse_bool(text, &argument->integer)) {
		argument->is_integer = true;
		argument->number = (double) argument->integer;
		argument->filling = FILL_NUMBER;
		return true;
	}
	return false;
}

static bool may_bind(const struct argument *argument, struct failure *failure)
{
	const char *name = argument->array->name;
	if (!argument_is_read(argument)) {
		fail(failure, OUTCOME_USAGE, "'%s' is an output", name);
		fail_help(failure, "-o %s=FILE saves it", name);
		return false;
	}
	if (argument->filling != FILL_NONE)
		return fail(failure, OUTCOME_USAGE, "'%s' is given twice: %s and another value", name,
			    argument->source);
	return true;
}

static bool bind_object(struct session *s, const char *name, const char *text, struct failure *failure)
{
	bool is_random = strncmp(text, "random:", 7) == 0;
	for (int i = 0; i < s->arguments.n; i++) {
		struct argument *argument = &s->arguments.items[i];
		if (!member_of(argument, name))
			continue;
		if (!may_bind(argument, failure) || (is_random && !is_made_up(argument, text, failure)))
			return false;
	}
	return is_random || bind_file(s, name, NULL, text, failure);
}

bool bind_word(struct session *s, const char *word, struct failure *failure)
{
	const char *equals = strchr(word, '=');
	if (!equals || equals == word)
		return fail(failure, OUTCOME_USAGE, "'%s' is not of the form NAME=VALUE", word);
	const char *name = arena_copy(s->arena, word, (size_t) (equals - word)), *text = equals + 1;
	struct size *size = find_size(s, name);
	struct argument *argument = find_argument(s, name);
	if (!*text)
		return fail(failure, OUTCOME_USAGE, "'%s' has no value", word);
	if (size)
		return bind_size(s, size, text, failure);
	if (!argument && is_object(s, name))
		return bind_object(s, name, text, failure);
	if (!argument)
		return unknown_name(s, name, failure);
	if (!may_bind(argument, failure))
		return false;
	if (is_made_up(argument, text, failure))
		return true;
	return failure->outcome == OUTCOME_OK && bind_file(s, name, argument, text, failure);
}

bool bind_memory(struct session *s, const char *name, const struct ndarray *value, struct failure *failure)
{
	struct argument *argument = find_argument(s, name);
	if (!argument)
		return unknown_name(s, name, failure);
	if (!may_bind(argument, failure))
		return false;
	bool fits = array_is_index(argument->array) ? type_holds_integers(value->type)
						    : value->type == argument_type(argument);
	if (!fits || value->rank != argument->array->rank)
		return fail(failure, OUTCOME_INTERNAL, "%s is not %s", name,
			    array_text(s, argument->array));
	argument->filling = FILL_FILE;
	argument->is_borrowed = true;
	argument->source = "memory";
	argument->value = *value;
	equations_of_shape(s, argument);
	return true;
}

bool bind_output(struct session *s, const char *word, struct failure *failure)
{
	const char *equals = strchr(word, '=');
	if (!equals || equals == word || !equals[1])
		return fail(failure, OUTCOME_USAGE, "-o %s: the form is -o NAME=FILE", word);
	const char *name = arena_copy(s->arena, word, (size_t) (equals - word));
	struct argument *argument = find_argument(s, name);
	if (!argument)
		return unknown_name(s, name, failure);
	if (!argument_is_written(argument))
		return fail(failure, OUTCOME_USAGE, "-o %s: '%s' is an input", word, name);
	if (argument->save)
		return fail(failure, OUTCOME_USAGE, "-o %s: '%s' goes to '%s' already", word, name,
			    argument->save);
	argument->save = equals + 1;
	return true;
}

/* Has one of its arrays a value? */
static bool is_begun(const struct session *s, const char *object)
{
	for (int i = 0; i < s->arguments.n; i++)
		if (member_of(&s->arguments.items[i], object) && s->arguments.items[i].filling != FILL_NONE)
			return true;
	return false;
}

/* "D : f64[nAtoms, nTheta]", or for the arrays of an object of which nothing is given its name. */
static void list_missing(struct session *s, const struct array *array, word_list *missing)
{
	const char *dot = strchr(array->name, '.');
	const char *object = dot ? arena_copy(s->arena, array->name, (size_t) (dot - array->name)) : NULL;
	const char *text = object && !is_begun(s, object)
				   ? object
				   : arena_printf(s->arena, "%s : %s", array->name, array_text(s, array));
	if (missing->n == 0 || strcmp(missing->items[missing->n - 1], text) != 0)
		vec_push(s->arena, missing, text);
}

bool bind_is_complete(struct session *s, struct failure *failure)
{
	struct str text = str_new(s->arena);
	word_list missing = { 0 };
	for (int i = 0; i < s->arguments.n; i++) {
		struct argument *argument = &s->arguments.items[i];
		if (!argument_is_read(argument) || argument->filling != FILL_NONE)
			continue;
		if (array_is_optional(s->module, argument->array))
			argument->filling = FILL_NUMBER;
		else
			list_missing(s, argument->array, &missing);
	}
	if (missing.n == 0)
		return true;
	for (int i = 0; i < missing.n; i++)
		str_add(&text, "%s%s", i ? "; " : "", missing.items[i]);
	fail(failure, OUTCOME_USAGE, "no value for %s", str_text(&text));
	int length = (int) strcspn(missing.items[0], " ");
	fail_help(failure, "%.*s=FILE or %.*s=random:SEED", length, missing.items[0], length,
		  missing.items[0]);
	return false;
}
