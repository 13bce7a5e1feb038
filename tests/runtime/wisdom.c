/* SPDX-License-Identifier: MIT
 *
 * Wisdom as text: what is added is found, the last word counts, and what is no wisdom holds nothing. Signatures: alike
 * for similar problems, not for others. */
#include "runtime/check.h"
#include "runtime/pipelines.h"

#include <string.h>

static bool finds(const char *text, const char *signature, const char *choice)
{
	char found[64] = "?";

	return pmg_wisdom_find(text, signature, found, sizeof found) && strcmp(found, choice) == 0;
}

static void test_texts(struct tests *tests)
{
	char one[256], two[256], choice[64];
	size_t size = pmg_wisdom_add(NULL, "a b=1", "--parallel=off", 0.5, NULL, 0);

	CHECK(tests, size == strlen("pmg wisdom 1\na b=1\t--parallel=off\t500000000\n") + 1);
	CHECK(tests, pmg_wisdom_add(NULL, "a b=1", "--parallel=off", 0.5, one, sizeof one) == size);
	CHECK(tests, strcmp(one, "pmg wisdom 1\na b=1\t--parallel=off\t500000000\n") == 0);
	CHECK(tests, pmg_wisdom_is_valid(one) && finds(one, "a b=1", "--parallel=off"));
	CHECK(tests, !pmg_wisdom_find(one, "a b=2", choice, sizeof choice));
	CHECK(tests, !pmg_wisdom_find(one, "a b=", choice, sizeof choice));
	CHECK(tests, !pmg_wisdom_find(one, "a b=1", choice, 14));
	pmg_wisdom_add(one, "a b=2", "", 0, two, sizeof two);
	CHECK(tests, finds(two, "a b=1", "--parallel=off") && finds(two, "a b=2", ""));
	pmg_wisdom_add(two, "a b=1", "other", 1e-9, one, sizeof one);
	CHECK(tests, strcmp(one, "pmg wisdom 1\na b=2\t\t0\na b=1\tother\t1\n") == 0);
	CHECK(tests, pmg_wisdom_add(NULL, "a\tb", "c", 1, one, sizeof one) == 0);
	CHECK(tests, pmg_wisdom_add(NULL, "a", "c\nd", 1, one, sizeof one) == 0);
}

/* A file may be cut, of another version, or not wisdom at all. */
static void test_corrupt(struct tests *tests)
{
	static const char whole[] = "pmg wisdom 1\na\tx\t1\nb\ty\t2\n";
	static const char *const foreign[] = {
		"", "pmg wisdom 2\na\tx\t1\n", "\177ELF\na\tx\t1\n", "a\tx\t1\n", "pmg wisdom 1"
	};
	char text[256], choice[64];

	for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++) {
		CHECK(tests, !pmg_wisdom_is_valid(foreign[i]));
		CHECK(tests, !pmg_wisdom_find(foreign[i], "a", choice, sizeof choice));
	}
	CHECK(tests, !pmg_wisdom_is_valid(NULL) && !pmg_wisdom_find(NULL, "a", choice, sizeof choice));
	for (size_t n = 0; n < sizeof whole; n++) {
		memcpy(text, whole, n);
		text[n] = '\0';
		CHECK(tests, pmg_wisdom_find(text, "a", choice, sizeof choice) == (n >= 19));
		CHECK(tests, pmg_wisdom_find(text, "b", choice, sizeof choice) == (n >= 25));
	}
	CHECK(tests, finds("pmg wisdom 1\na\tx\t-1\na\nnonsense\n\n\t\t\na\tz\t7\n", "a", "z"));
	pmg_wisdom_add("pmg wisdom 1\nnonsense\na\tx\t1\n", "b", "y", 0, text, sizeof text);
	CHECK(tests, strcmp(text, "pmg wisdom 1\na\tx\t1\nb\ty\t0\n") == 0);
	pmg_wisdom_add("something else\na\tx\t1\n", "b", "y", 0, text, sizeof text);
	CHECK(tests, strcmp(text, "pmg wisdom 1\nb\ty\t0\n") == 0);
}

static void test_signatures(struct tests *tests)
{
	struct counter counter = { 0 };
	const pmg_allocator allocator = counter_allocator(&counter);
	pmg_context *context = pmg_context_new(&allocator);
	pmg_options options = { .context = context, .threads = 3 };
	char one[PMG_SIGNATURE_SIZE], two[PMG_SIGNATURE_SIZE];
	struct life_case data;

	life_fill(&data);
	CHECK(tests, pmg_signature(life_describe(), &data.args, &options, one, sizeof one) == PMG_OK);
	CHECK(tests, strncmp(one, "life_dsc ", 9) == 0 && strstr(one, " threads=3 nAtoms=3 "));
	CHECK(tests, strstr(one, " nTheta=5 nCoeffs=6 PHI.atom:") && !strpbrk(one, "\t\n"));
	data.value[0] = 9;
	CHECK(tests, pmg_signature(life_describe(), &data.args, &options, two, sizeof two) == PMG_OK);
	CHECK(tests, strcmp(one, two) == 0);
	for (int k = 0; k < 6; k++)
		data.voxel[k] = 4;
	CHECK(tests, pmg_signature(life_describe(), &data.args, &options, two, sizeof two) == PMG_OK);
	CHECK(tests, strcmp(one, two) != 0);
	CHECK_FAILS(tests, pmg_signature(life_describe(), &data.args, &options, two, 20), context, PMG_NO_RESOURCES,
		    pmg_message(context));
	options.threads = 1;
	CHECK(tests, pmg_signature(life_describe(), &data.args, &options, two, sizeof two) == PMG_OK);
	CHECK(tests, strstr(two, " threads=1 "));
	counter.fail_at = counter.n_allocated + 1;
	CHECK_FAILS(tests, pmg_signature(life_describe(), &data.args, &options, two, sizeof two), context,
		    PMG_NO_RESOURCES, "no memory for the signature of pipeline 'life_dsc'");
	CHECK(tests, pmg_signature(NULL, &data.args, &options, two, sizeof two) == PMG_BAD_CALL);
	CHECK(tests, pmg_signature(life_describe(), &data.args, NULL, two, sizeof two) == PMG_BAD_CALL);
	pmg_context_free(context);
	CHECK(tests, counter.n_live == 0);
}

void test_wisdom(struct tests *tests)
{
	test_texts(tests);
	test_corrupt(tests);
	test_signatures(tests);
}
