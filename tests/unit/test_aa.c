// SPDX-License-Identifier: GPL-2.0-or-later
// Noise level by level from the boots of an `aa` session, two builds of them, against R.
#include "tests/tap.h"

#include "harness/base/fs.h"
#include "harness/measure/aa.h"
#include "harness/measure/learned.h"

/*
 * R 4.2: y all values in order, k <- gl(8, 3), b <- gl(2, 12), v <- tapply(y, k, median),
 * g <- gl(2, 4), m <- anova(lm(y ~ b/k))[["Mean Sq"]], w <- anova(lm(v ~ g))[["Mean Sq"]].
 */
enum { BOOTS = 4, RUNS = 3 };
static const double y[2][BOOTS][RUNS] = {
	{{101.2, 100.4, 100.9}, {103.1, 103.8, 102.7}, {99.5, 99.1, 100.3}, {101.8, 102.2, 101.1}},
	{{105.9, 106.4, 105.2},
	 {104.1, 104.9, 103.6},
	 {107.0, 106.1, 106.8},
	 {105.5, 104.8, 105.7}},
};
static const char *const sides[] = {AA_PLAIN, AA_ALIGNED};
static const struct cell cell = {.name = (char *)"size=1"}, other = {.name = (char *)"size=2"};
static const struct metric rate = {.name = (char *)"rate", .centre = CENTRE_MEDIAN};

static char top[] = "/tmp/culprit-aa.XXXXXX";
static struct store *store;
static struct err err;

static void must(int rc)
{
	if (rc < 0) {
		diag("%s", err.message);
		exit(1);
	}
}

static int64_t new_session(void)
{
	struct session_row row = {.kind = (char *)AA_KIND,
				  .key = (char *)"k",
				  .state = (char *)"done",
				  .job_name = (char *)"j",
				  .job_hash = (char *)"h",
				  .machine = (char *)"local"};
	int64_t id;

	must(store_session_add(store, &row, &id, &err));
	return id;
}

static int64_t add_boot(int64_t session, const char *side, const char *purpose, const char *status,
			const double *values, size_t runs)
{
	struct boot_row boot = {
		.session = session, .side = (char *)side, .purpose = (char *)purpose};

	must(store_boot_add(store, &boot, &boot.id, &err));
	for (size_t i = 0; i < runs; i++) {
		struct run_row run = {.boot = boot.id,
				      .cell = cell.name,
				      .number = (int64_t)i + 1,
				      .status = (char *)"ok"};
		struct sample_row sample = {"rate", "ops/s", values[i]};

		must(store_run_add(store, &run, &sample, 1, NULL, &err));
	}
	boot.status = (char *)status;
	must(store_boot_end(store, &boot, &err));
	return boot.id;
}

/* A B B A, and what does not count: a pilot, a boot that failed, one that a person took out */
static int64_t full_session(size_t builds, size_t boots, size_t runs)
{
	static const double far[RUNS] = {500, 600, 700};
	int64_t id = new_session();

	add_boot(id, "", "pilot", "ok", far, RUNS);
	add_boot(id, AA_PLAIN, AA_PURPOSE, "failed", far, RUNS);
	must(store_boot_void(store, add_boot(id, AA_PLAIN, AA_PURPOSE, "ok", far, RUNS), "why",
			     &err));
	for (size_t i = 0; i < boots; i++)
		for (size_t k = 0; k < builds; k++) {
			size_t at = i % 2 ? builds - 1 - k : k;

			add_boot(id, sides[at], AA_PURPOSE, "ok", y[at][i], runs);
		}
	return id;
}

static struct aa_noise estimate(int64_t session, const struct cell *of)
{
	struct aa_noise noise;

	must(aa_estimate(store, session, of, &rate, &noise, &err));
	return noise;
}

static void two_builds(void)
{
	struct aa_noise noise = estimate(full_session(2, BOOTS, RUNS), &cell);

	is_double(noise.centre, 101.35, 1e-13, "median(v[1:4]): of the commit as it is");
	is_double(noise.run.sd, 0.547342062455778, 1e-12, "sqrt(m[3])");
	is_double(noise.boot.sd, 1.24316650653199, 1e-12, "sqrt((m[2] - m[3]) / 3)");
	is_double(noise.value.sd, 1.33385406498112, 1e-12, "sqrt(w[2])");
	is_double(noise.value.pct, 1.31608689193993, 1e-12, "the same in percent of the centre");
	is_double(noise.build.sd, 2.9302659151233, 1e-12, "sqrt((w[1] - w[2]) / 4)");
	is_double(noise.spread_pct, 3.17668383872072, 1e-12, "a boot of any build");
	ok(noise.run.n == 24 && noise.boot.n == 8 && noise.build.n == 2, "from so many");
}

static void one_build(void)
{
	struct aa_noise noise = estimate(full_session(1, BOOTS, RUNS), &cell);

	is_double(noise.value.sd, 1.51520075677559, 1e-12, "sd(v[1:4])");
	ok(isnan(noise.build.sd) && isnan(noise.build.pct), "of builds nothing is known");
	is_int((int64_t)noise.build.n, 1, "from the one");
	is_double(noise.spread_pct, noise.value.pct, 0, "the spread is that between boots");
	/* R: d <- qt(.995, 8) + qt(.9, 8); 1.51520075677559 * d * sqrt(2 / (4 * 3 / pi)) */
	is_double(aa_visible(&noise, 5, 0.01), 5.21032052868, 1e-10, "what five boots a side see");
	ok(isinf(aa_visible(&noise, 4, 0.01)), "four see nothing at this error");
}

static void too_little(void)
{
	struct aa_noise noise = estimate(full_session(1, BOOTS, 1), &cell);

	ok(isnan(noise.run.sd), "one run a boot: that level is not known");
	is_double(noise.boot.sd, noise.value.sd, 0, "and is part of what is between boots");
	noise = estimate(full_session(1, 3, RUNS), &cell);
	ok(isnan(noise.spread_pct) && noise.value.pct > 0, "three boots are too few for a spread");
	noise = estimate(full_session(1, 1, RUNS), &cell);
	ok(isnan(noise.boot.sd) && noise.run.sd > 0, "one boot tells of runs alone");
	ok(isnan(aa_visible(&noise, 20, 0.01)), "and of nothing that can be seen");
	noise = estimate(full_session(2, BOOTS, RUNS), &other);
	ok(isnan(noise.centre) && isnan(noise.run.sd) && isnan(noise.boot.sd) &&
		   isnan(noise.build.sd) && isnan(noise.spread_pct),
	   "a cell without values: nothing");
	is_int((int64_t)(noise.run.n + noise.boot.n + noise.build.n), 0, "from none");
}

static void around_zero(void)
{
	static const double v[] = {-1, 1, 0};
	int64_t id = new_session();
	struct aa_noise noise;

	for (size_t i = 0; i < ARRAY_SIZE(v); i++)
		add_boot(id, AA_PLAIN, AA_PURPOSE, "ok", &v[i], 1);
	noise = estimate(id, &cell);
	is_double(noise.value.sd, 1, 1e-14, "a level of zero has a noise");
	ok(isnan(noise.value.pct) && isnan(noise.spread_pct), "but no percentage");
}

static void sentences(void)
{
	struct learned all = {0.4, 1.2, 2.1, 2.4}, some = {NAN, 1.2, NAN, 1.2},
		       none = {NAN, NAN, NAN, NAN};
	autofree char *long_one = learned_sentence(&all), *short_one = learned_sentence(&some);

	is_str(long_one, "noise here by 'culprit aa': runs 0.4%, boots 1.2%, builds 2.1%", "all");
	is_str(short_one, "noise here by 'culprit aa': boots 1.2%", "what is known");
	ok(!learned_sentence(&none), "nothing");
}

int main(void)
{
	if (!mkdtemp(top))
		return 1;
	must(store_open(top, &store, &err));
	two_builds();
	one_build();
	too_little();
	around_zero();
	sentences();
	store_close(store);
	err_release(&err);
	fs_remove_tree(top, &err);
	return plan_done();
}
