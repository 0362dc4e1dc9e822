// SPDX-License-Identifier: GPL-2.0-or-later
// A mail with much in it: a kernel's config, more metrics than fit, hostile text in every part.
#include "tests/unit/report_csv.h"

#include "reports/mail.h"

#define METRICS 40

static const char sha_good[] = "1111111111111111111111111111111111111111";
static const char sha_culprit[] = "3333333333333333333333333333333333333333";

/* Eight boots a side, no overlap: every metric moved, every second one for the better. */
static int64_t bisection(void)
{
	struct metric_row metrics[METRICS];
	autofree char *culprits = xasprintf("[\"%s\"]", sha_culprit);
	struct session_row session = {.kind = (char *)"bisect",
				      .key = (char *)"k",
				      .state = (char *)"done",
				      .job_name = (char *)"a job/../x",
				      .job_hash = (char *)"h",
				      .machine = (char *)"lab1",
				      .repo = (char *)"/src/linux",
				      .job_source = (char *)"name: x\nFrom here\033[2J\n"};
	struct commit_row commit = {.sha = (char *)sha_culprit,
				    .subject = (char *)"net: caf\303\251\nBcc: all",
				    .author = (char *)"Ann"};
	struct bisection_row row = {
		.good = (char *)sha_good,
		.bad = (char *)sha_culprit,
		.metric = (char *)"m00",
		.unit = (char *)"us",
		.cell = (char *)"",
		.outcome = (char *)"culprit",
		.culprit = (char *)sha_culprit,
		.culprits = culprits,
		.probability = 1,
		.effect_pct = 10,
		.effect_low = 9,
		.effect_high = 11,
		.effect_good = 100,
		.effect_bad = 110,
		.regained_pct = 97,
		.checks = (char *)"{\"parent\": \"pass\"}",
	};
	int64_t id;

	for (int m = 0; m < METRICS; m++)
		metrics[m] = (struct metric_row){xasprintf("m%02d", m), (char *)"us", m % 2, m == 0,
						 (char *)"median"};
	must(store_session_add(store, &session, &id, &err));
	must(store_metrics_put(store, id, metrics, METRICS, &err));
	must(store_commit_put(store, &commit, NULL, &err));
	row.session = id;
	must(store_bisection_put(store, &row, &err));
	for (int i = 0; i < 16; i++) {
		struct boot_row boot = {.session = id,
					.commit_sha = (char *)(i % 2 ? sha_culprit : sha_good),
					.side = (char *)(i % 2 ? "culprit" : "parent"),
					.purpose = (char *)"confirm"};
		struct run_row run = {.cell = (char *)"", .number = 1, .status = (char *)"ok"};
		struct sample_row samples[METRICS];

		must(store_boot_add(store, &boot, &boot.id, &err));
		boot.status = (char *)"ok";
		must(store_boot_end(store, &boot, &err));
		for (int m = 0; m < METRICS; m++)
			samples[m] = (struct sample_row){metrics[m].name, "us",
							 (i % 2 ? 110 : 100) + 0.1 * i};
		run.boot = boot.id;
		must(store_run_add(store, &run, samples, METRICS, NULL, &err));
	}
	for (int m = 0; m < METRICS; m++)
		free(metrics[m].name);
	return id;
}

static struct mail_facts facts(void)
{
	static struct mail_address to = {(char *)"Ann", (char *)"ann@example.com"};

	return (struct mail_facts){
		.tree = "linux",
		.from = {(char *)"Ren\303\251", (char *)"r@example.com"},
		.to = &to,
		.n_to = 1,
		.message_id = "id@example.com",
		.date_s = 1333000000,
		.config = "CONFIG_NET=y\n",
		.samples = "{}\n",
		.newest = "not measured",
		.second_machine = "was not run",
		.kept_in = "/state/mail/1",
	};
}

static size_t count_lines(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

static void much(const struct report *r)
{
	struct mail_facts f = facts();
	automail m = {};
	const char *text, *body;

	mail_make(r, &f, &m);
	text = buf_str(&m.message);
	body = buf_str(&m.body);
	is_str(buf_str(&m.subject), "[linux] [net] 3333333333: m00 10.0% regression", "subject");
	has(text, "\nDate: Thu, 29 Mar 2012 05:46:40 +0000\n",
	    "date"); /* date -u -R -d @1333000000 */
	has(text, "From: =?UTF-8?Q?Ren=C3=A9?= <r@example.com>\n", "sender");
	ok(count_lines(body) < 100, "%zu lines", count_lines(body));
	has(body, "better by the same commit: m01 +10.0%, m03 +10.0%, m05 +10.0%\n",
	    "what got better");
	has(body, "27 more moved: see table.txt\n", "more than fit");
	has(body, "revert: was not run\n", "no revert, whatever was stored");
	has(text, "filename=\"config.txt\"", "the config");
	has(text, "filename=\"a-job-..-x.yaml\"", "a job's name that is no file name");
	has(text, "quoted-printable", "a part that could not travel as it is");
	has(text, "\n=46rom here=1B[2J\n", "in it no separator and no escape");
	ok(!strstr(text, "\nBcc:") && !strstr(text, "\nFrom "), "no line of another's making");
	ok(m.attached, "small enough to attach");
}

static void large(const struct report *r)
{
	struct mail_facts f = facts();
	autofree char *config = xmalloc(MAIL_ATTACHED_MAX + 1);
	automail m = {};

	memset(config, '#', MAIL_ATTACHED_MAX);
	config[MAIL_ATTACHED_MAX] = '\0';
	f.config = config;
	f.regzbot = true;
	f.in_reply_to = "first@example.com";
	mail_make(r, &f, &m);
	ok(!m.attached && m.message.len < 16384, "what is too large is not in the mail");
	has(buf_str(&m.message), "\n  /state/mail/1/config.txt\n", "but named");
	has(buf_str(&m.message), "\nReferences: <first@example.com>\n", "an answer");
	has(buf_str(&m.body), "\n\n#regzbot introduced: 3333333333333333333333333333333333333333\n",
	    "a paragraph of its own");
}

static void wrapped(void)
{
	autobuf out = {};

	mail_wrap(&out, "  head: ", "one two");
	is_str(buf_str(&out), "  head: one two\n", "short");
	buf_clear(&out);
	mail_wrap(&out, "a: ",
		  "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx From z");
	is_str(buf_str(&out),
	       "a: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n  From "
	       "z\n",
	       "72 columns, and no line begins with From");
}

int main(void)
{
	autoreport struct report *r = NULL;
	autofree char *why = NULL;

	if (!mkdtemp(csv_top))
		return 1;
	must(store_open(csv_top, &store, &err));
	must(report_fill(store, bisection(), &r, &err));
	why = mail_refusal(r);
	is_str(why, NULL, "there may be a mail");
	much(r);
	large(r);
	wrapped();
	store_close(store);
	err_release(&err);
	fs_remove_tree(csv_top, &err);
	return plan_done();
}
