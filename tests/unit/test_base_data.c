// SPDX-License-Identifier: GPL-2.0-or-later
// json, regex, hash, rng, opt: what is read from programs and the command line.
#include "tests/tap.h"

#include "harness/base/clock.h"
#include "harness/base/fs.h"
#include "harness/base/hash.h"
#include "harness/base/json.h"
#include "harness/base/opt.h"
#include "harness/base/regex.h"
#include "harness/base/rng.h"

static void test_json_out(void)
{
	autojson struct json *o = json_object_new();
	struct json *list = json_set(o, "list", json_array_new());
	autobuf b = {};

	json_set_num(o, "x", 0.1);
	json_set_num(o, "nan", NAN);
	json_set_int(o, "big", INT64_MAX);
	json_set_str(o, "none", NULL);
	json_set_str(o, "bytes", "a\xff\"\n");
	json_set_bool(o, "a", true);
	json_push(list, json_integer_new(1));
	json_push(list, NULL);
	json_print(o, false, &b);
	is_str(buf_str(&b),
	       "{\"list\":[1,null],\"x\":0.1,\"nan\":null,\"big\":9223372036854775807,"
	       "\"none\":null,\"bytes\":\"a\xef\xbf\xbd\\\"\\n\",\"a\":true}",
	       "in order of insertion; no number and no text are null");
}

static void test_json_in(void)
{
	static const char text[] = "{\"jobs\":[{\"read\":{\"iops\":12.5,\"99.9\":7}}],\"s\":\"42\","
				   "\"big\":18446744073709551616}";
	static const char *const bad[] = {"", "{", "{\"a\":1}x", "{'a':1}", "\"\xff\""};
	struct err err ERR_CLEANUP = {};
	autojson struct json *j = NULL, *none = NULL;
	autofree char *deep = xmalloc(100001);
	double v = 0;

	is_int(json_parse(text, strlen(text), &j, &err), 0, "parsed");
	ok(json_num(json_at(j, "jobs.0.read.iops"), &v) && v == 12.5, "a dotted path");
	ok(json_num(json_at(j, "jobs.0.read.99.9"), &v) && v == 7, "a key that holds a point");
	ok(json_num(json_at(j, "s"), &v) && v == 42, "a string that is a number");
	ok(json_num(json_at(j, "big"), &v) && v == 18446744073709551616.0, "beyond 64 bits");
	ok(!json_at(j, "jobs.1") && !json_at(j, "jobs.x") && !json_at(j, "s.t") && !json_at(j, ""),
	   "absent");
	ok(!json_num(json_at(j, "jobs"), &v) && !json_str(json_at(j, "jobs")), "of another kind");
	ok(json_len(j) == 3 && json_len(json_at(j, "jobs")) == 1 && !json_len(json_at(j, "s")) &&
		   !json_len(NULL),
	   "how many");
	is_str(json_key(j, 1), "s", "the second key");
	is_str(json_key(j, 3), NULL, "beyond the last");
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		is_int(json_parse(bad[i], strlen(bad[i]), &none, &err), -ERR_FAILED,
		       "'%s' is not JSON", bad[i]);
	memset(deep, '[', 100000);
	is_int(json_parse(deep, 100000, &none, &err), -ERR_FAILED, "100000 levels are refused");
}

static void test_regex(void)
{
	static const char text[] = "rate=1\r\nrate=2\nxrate=3\n";
	struct err err ERR_CLEANUP = {};
	autoregex struct regex *re = NULL, *other = NULL, *slow = NULL, *any = NULL, *absent = NULL;
	struct regex_match m = {};
	autofree char *as = NULL;
	int64_t start;
	size_t n = 2 << 20;

	is_int(regex_new("(a", &re, &err), -ERR_USAGE, "a bracket is missing");
	ok(strstr(err.message, "at position 3") != NULL, "the position is named: %s", err.message);
	is_int(regex_new("^rate=(?:(x)|([0-9]))$", &re, &err), 0, "compiled");
	is_int(regex_next(re, text, strlen(text), 0, &m, &err), 1, "first");
	ok(text[m.group_start] == '1' && m.group_end == m.group_start + 1,
	   "group that took part; CR LF ends a line");
	is_int(regex_next(re, text, strlen(text), m.end, &m, &err), 1, "second");
	ok(text[m.group_start] == '2', "from the offset on");
	is_int(regex_next(re, text, strlen(text), m.end, &m, &err), 0, "no third: ^ is at lines");
	regex_new("(?=ab\\K)", &other, &err);
	ok(!other || regex_next(other, "ab", 2, 0, &m, &err) <= 0 || m.start <= m.end,
	   "\\K cannot turn a match around");
	regex_new("x*", &any, &err);
	ok(regex_next(any, "", 0, 0, &m, &err) == 1 && m.end == 0,
	   "an empty match in an empty text");
	is_int(regex_next(any, "", 0, 1, &m, &err), 0, "beyond the end");
	as = xmalloc(n);
	memset(as, 'a', n);
	regex_new("(a+a+)+[bc]", &slow, &err);
	start = clock_now_ns();
	is_int(regex_next(slow, as, n, 0, &m, &err), -ERR_FAILED,
	       "an exponential pattern is given up");
	diag("given up after %.2f s", (double)(clock_now_ns() - start) / 1e9);
	regex_new("needle([0-9])", &absent, &err);
	is_int(regex_next(absent, as, n, 0, &m, &err), 0, "2 MB without a match");
	memcpy(as + n - 7, "needle7", 7);
	ok(regex_next(absent, as, n, 0, &m, &err) == 1 && m.group_start == n - 1,
	   "at the end of 2 MB");
	ok(regex_is_match(absent, "a needle5") && !regex_is_match(absent, "a needle"),
	   "yes and no");
}

static void test_hash(void)
{
	char a[HASH_HEX], b[HASH_HEX];
	struct hash *h = hash_new();
	struct err err ERR_CLEANUP = {};
	char path[] = "/tmp/culprit-hash-XXXXXX";
	int fd = mkstemp(path);

	hash_add(h, "abc", 3);
	hash_end(h, a);
	/* printf abc | sha256sum */
	is_str(a, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
	       "SHA-256 of abc");
	ok(write(fd, "abc", 3) == 3 && hash_file(path, b, &err) == 0 && streq(a, b),
	   "and of a file");
	close(fd);
	unlink(path);
	is_int(hash_file(path, b, &err), -ERR_NOT_FOUND, "of a file that is not there");
	h = hash_new();
	hash_adds(h, "a");
	hash_adds(h, "bc");
	hash_end(h, a);
	h = hash_new();
	hash_adds(h, "ab");
	hash_adds(h, "c");
	hash_end(h, b);
	ok(!streq(a, b), "strings carry their length");
}

static void test_rng(void)
{
	struct rng r, again;
	double sum = 0, squares = 0, exps = 0;
	size_t index[10], counts[3] = {}, seen = 0;

	/* xoshiro256** from state 1, 2, 3, 4: worked out by hand from its definition */
	r = (struct rng){{1, 2, 3, 4}};
	is_int(rng_next(&r), 11520, "first number");
	is_int(rng_next(&r), 0, "second number");
	is_int(rng_next(&r), 1509978240, "third number");
	rng_seed(&r, 42);
	again = r;
	ok(rng_next(&r) == rng_next(&again), "the same seed, the same numbers");
	for (int i = 0; i < 100000; i++) {
		double x = rng_normal(&r);

		sum += x;
		squares += x * x;
		exps += rng_exp(&r);
		counts[rng_below(&r, 3)]++;
	}
	ok(fabs(sum / 1e5) < 0.02, "mean of normals is 0");
	is_double(squares / 1e5, 1, 0.03, "their variance is 1");
	is_double(exps / 1e5, 1, 0.03, "mean of exponentials is 1");
	ok(counts[0] > 32700 && counts[1] > 32700 && counts[2] > 32700, "thirds of equal size");
	for (size_t i = 0; i < 10; i++)
		index[i] = i;
	rng_shuffle(&r, index, 10);
	for (size_t i = 0; i < 10; i++)
		seen |= 1U << index[i];
	is_int(seen, 1023, "a shuffle loses nothing");
}

/* An argument vector that main could have got. */
#define ARGV(...) ((char **)(uintptr_t)(const char *[]){__VA_ARGS__, NULL})

static void test_options(void)
{
	bool flag = false, verbose = false;
	const char *good = NULL;
	char **paths = NULL;
	uint64_t seed = 0;
	int64_t budget = 0;
	const struct opt verb[] = {{"good", 'g', OPT_STRING, &good, "REV", "the fast one"},
				   {"seed", 0, OPT_U64, &seed, "N", "of orders"},
				   {"budget", 0, OPT_DURATION, &budget, "TIME", "stop then"},
				   {"path", 0, OPT_LIST, &paths, "P", "only these"},
				   {}};
	const struct opt global[] = {{"json", 'j', OPT_FLAG, &flag, NULL, "as JSON"},
				     {"verbose", 'v', OPT_FLAG, &verbose, NULL, "more"},
				     {}};
	const struct opt *const tables[] = {verb, global, NULL};
	char **argv = ARGV("job", "--good", "v1", "-jv", "--seed=7", "A..B", "--path", "a",
			   "--path=b", "--budget", "4h", "--", "--seed");
	static const char *const bad[] = {"--sed=1", "--seed=x", "--json=1", "--good", "-x", "-g"};
	struct err err ERR_CLEANUP = {};
	autobuf help = {};
	int n = 0;

	is_int(opt_parse(tables, 13, argv, &n, &err), 0, "options and operands mixed");
	ok(n == 3 && streq(argv[0], "job") && streq(argv[1], "A..B") && streq(argv[2], "--seed"),
	   "operands in front, -- ends options");
	ok(streq(good, "v1") && seed == 7 && flag && verbose && budget == 4 * 3600 * NS_PER_S,
	   "values");
	ok(strv_len(paths) == 2 && streq(paths[1], "b"), "a list");
	strv_free(paths);
	is_int(opt_parse_leading(verb, 2, ARGV("culprit", "run"), &n, &err), 0,
	       "no leading options");
	is_int(n, 1, "the operand is found");
	is_int(opt_parse_leading(global, 5, ARGV("culprit", "--json", "-v", "run", "--seed"), &n,
				 &err),
	       0, "leading options");
	is_int(n, 3, "up to the operand");
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		is_int(opt_parse(tables, 1, ARGV(bad[i]), &n, &err), -ERR_USAGE, "%s is wrong",
		       bad[i]);
	opt_parse(tables, 1, ARGV("--sed=1"), &n, &err);
	is_str(err.hint, "did you mean '--seed'?", "the nearest option");
	opt_print_help(verb, &help);
	ok(str_starts(buf_str(&help),
		      "  -g, --good REV               the fast one\n      --seed N "),
	   "help");
}

int main(void)
{
	test_json_out();
	test_json_in();
	test_regex();
	test_hash();
	test_rng();
	test_options();
	return plan_done();
}
