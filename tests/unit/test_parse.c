// SPDX-License-Identifier: GPL-2.0-or-later
// Outputs to numbers: real outputs of benchmarks, every selection, every refusal, hostile sizes.
#include "harness/base/clock.h"
#include "harness/base/fs.h"
#include "harness/measure/number.h"
#include "harness/measure/output.h"
#include "harness/measure/parse.h"
#include "tests/tap.h"

static char dir[] = "/tmp/test_parse.XXXXXX";

/* A job with these lines under `metrics:`. */
static struct job *job_with(const char *metrics)
{
	autofree char *path = xasprintf("%s/job.yaml", dir);
	autofree char *text = xasprintf(
		"culprit: 1\nrun: {command: x}\nparameters: {packets: 100000, size: [64K, 1]}\n"
		"metrics:\n%s\n",
		metrics);
	ERR_CLEANUP struct err err = {};
	struct job *job = NULL;

	if (fs_write(path, text, strlen(text), &err) < 0 || job_load(path, &job, &err) < 0)
		diag("%s", err.message);
	return job;
}

/* "name=value" or "name: why" of each metric, joined by "; ". */
static char *parse(const char *metrics, const char *output, size_t len)
{
	autojob struct job *job = job_with(metrics);
	ERR_CLEANUP struct err err = {};
	struct parsed p = {};
	autobuf out = {};
	size_t errors = 0;

	if (!job)
		return xstrdup("no job");
	if (parse_output(job, &job->cells[0], output, len, &p, &err) < 0)
		return xstrdup(err.message);
	for (size_t i = 0; i < p.n; i++) {
		const struct parsed_value *v = &p.values[i];

		errors += v->why != NULL;
		buf_printf(&out, "%s%s", i ? "; " : "", v->metric->name);
		if (v->present)
			buf_printf(&out, "=%.15g", v->value);
		else if (v->why)
			buf_printf(&out, ": %s", v->why);
	}
	if (errors != p.n_errors)
		buf_adds(&out, " WRONG COUNT");
	parsed_release(&p);
	return buf_take(&out);
}

static void reads(const char *source, const char *output, const char *want)
{
	autofree char *metrics = xasprintf("  m: {better: higher, %s}", source);
	autofree char *got = parse(metrics, output, strlen(output)), *name = xstrdup(output);

	for (char *c = name; *c; c++)
		if (*c == '\n' || *c == '\r' || *c == 0x1b || *c == '#')
			*c = ' ';
	is_str(got, want, "%s in '%.60s'", source, name);
}

static void file_reads(const char *name, const char *source, double want)
{
	autofree char *path = xasprintf("tests/data/benchmarks/%s", name);
	autofree char *metrics = xasprintf("  m: {better: higher, %s}", source);
	autofree char *got = NULL, *text = xasprintf("m=%.15g", want);
	ERR_CLEANUP struct err err = {};
	autobuf output = {};

	if (fs_read(path, 1 << 20, &output, &err) < 0)
		diag("%s", err.message);
	got = parse(metrics, buf_str(&output), output.len);
	is_str(got, text, "%s: %s", name, source);
}

static void file_refuses(const char *name, const char *source, const char *why)
{
	autofree char *path = xasprintf("tests/data/benchmarks/%s", name);
	autofree char *metrics = xasprintf("  m: {better: higher, %s}", source);
	autofree char *got = NULL;
	ERR_CLEANUP struct err err = {};
	autobuf output = {};

	if (fs_read(path, 1 << 20, &output, &err) < 0)
		diag("%s", err.message);
	got = parse(metrics, buf_str(&output), output.len);
	is_str(got, why, "%s: %s", name, source);
}

static void benchmarks(void)
{
	file_reads("hackbench-old.txt", "key: Time", 12.922);
	file_reads("hackbench-pipe-thread.txt", "key: Time", 0.194);
	file_reads("hackbench-socket-process.txt", "pattern: '^Time: ([0-9.]+)$'", 0.525);
	file_reads("netperf-udp_stream.txt",
		   "pattern: '^ *\\d+ +\\d+ +[\\d.]+ +\\d+ +\\d+ +([\\d.]+)$'", 697.55);
	file_reads("netperf-udp_stream.txt", "pattern: '^ *\\d+ +[\\d.]+ +\\d+ +([\\d.]+)$'",
		   297.00);
	file_reads("netperf-udp_stream-converged.txt",
		   "pattern: '^ *\\d+ +[\\d.]+ +\\d+ +([\\d.]+)$'", 990.35);
	file_reads("netperf-udp_stream-unconverged.txt",
		   "pattern: '^ *\\d+ +[\\d.]+ +\\d+ +([\\d.]+)$'", 17.89);
	file_reads("netperf-udp_stream-unconverged.txt",
		   "pattern: '^!!! Confidence intervals: Throughput +: ([\\d.]+)%'", 53.826);
	file_reads("netperf-udp_stream.txt", "pattern: '([\\d.]+)$', take: last", 297.00);
	file_reads("netperf-tcp_stream.txt",
		   "pattern: '^ *\\d+ +\\d+ +\\d+ +[\\d.]+ +([\\d.]+) *$'", 5881.19);
	file_reads("netperf-tcp_sendfile.txt",
		   "pattern: '^ *\\d+ +\\d+ +\\d+ +[\\d.]+ +([\\d.]+) *$'", 8762.07);
	file_reads("netperf-tcp_rr.txt",
		   "pattern: '^\\d+ +\\d+ +\\d+ +\\d+ +[\\d.]+ +([\\d.]+) *$'", 28287.81);
	file_reads("netperf-udp_rr.txt",
		   "pattern: '^\\d+ +\\d+ +\\d+ +\\d+ +[\\d.]+ +([\\d.]+) *$'", 42706.76);
	file_reads("netperf-omni-keyval.txt", "key: THROUGHPUT", 556.61);
	file_reads("netperf-omni-keyval.txt", "key: REMOTE_RECV_THROUGHPUT", 556.61);
	file_reads("netperf-omni-keyval.txt", "key: LOCAL_SEND_THROUGHPUT", 929.66);
	file_reads("netperf-omni-keyval.txt", "key: THROUGHPUT_CONFID", -1);
	file_refuses("netperf-omni-keyval.txt", "key: THROUGHPUT_UNITS",
		     "m: '10^6bits/s' is not one whole number, it ends in something else");
	file_refuses("netperf-no-netserver.txt", "key: THROUGHPUT",
		     "m: no line 'THROUGHPUT: value'");
	file_reads("fio.json", "json: jobs.0.read.iops", 12236.763237);
	file_reads("fio.json", "json: jobs.0.read.clat_ns.percentile.99.000000", 333824);
	file_reads("fio.json", "json: jobs.0.read.bw_bytes, scale: 1e-6", 50.121782);
	file_refuses("fio.json", "json: jobs.0.read.iopz",
		     "m: the JSON document has no 'jobs.0.read.iopz'");
	file_refuses("fio.json", "json: jobs.0.jobname",
		     "m: 'jobs.0.jobname' is there and is not a number");
	file_refuses("fio.json", "json: jobs.0.read",
		     "m: 'jobs.0.read' is there and is not a number");
	file_reads("iperf3.json", "json: end.sum_received.bits_per_second", 14601533235.983753);
	file_reads("iperf3.json", "json: end.sum_sent.retransmits", 0);
	file_reads("tbench.txt", "pattern: '^Throughput ([0-9.]+) MB/sec'", 432.422);
	file_reads("tbench.txt", "pattern: 'max_latency=([0-9.]+) ms'", 3.896);
	file_reads("perf-bench-sched-messaging.txt", "key: Total time, take: only, optional: true",
		   0.152);
	file_reads("perf-bench-sched-pipe.txt", "pattern: '([0-9.]+) usecs/op'", 10.195850);
	file_reads("perf-bench-sched-pipe.txt", "pattern: '([0-9]+) ops/sec'", 98079);
	file_reads("perf-bench-sched-pipe-simple.txt", "pattern: '^([0-9.]+)$'", 0.185);
	file_reads("ping-flood.txt", "pattern: 'time (\\d+)ms'", 18);
	file_reads("ping-flood.txt", "pattern: 'rtt min/avg/max/mdev = [^/]+/([0-9.]+)/'", 0.004);
	file_reads("ping-flood.txt", "pattern: '(\\d+)% packet loss'", 0);
	file_reads("stress-ng.txt", "pattern: 'metrc: .* cpu +(?:[0-9.]+ +){4}([0-9.]+) +[0-9.]+$'",
		   1167.38);
	file_reads("netpipe.txt", "pattern: '^ *\\d+: +64 bytes +\\d+ times --> +([0-9.]+) Mbps'",
		   38.94);
	file_reads("netpipe.txt", "pattern: '^ *\\d+: +1 bytes .* in +([0-9.]+) usec'", 12.43);
	file_reads("netpipe.txt", "pattern: '--> +([0-9.]+) Mbps', take: max", 4717.43);
	file_reads("netpipe-np.out", "pattern: '^ +1 +[0-9.]+ +([0-9.]+)$', scale: 1e6", 12.43);
	file_reads("perf-stat-csv.txt", "pattern: '^([0-9.]+),msec,task-clock,'", 0.84);
	file_reads("perf-stat-csv.txt", "pattern: '^(\\d+),,page-faults,'", 72);
	file_refuses("perf-stat-csv.txt", "pattern: '^([^,]+),,cycles,'",
		     "m: '<not supported>' is not a number");
}

static void selections(void)
{
	static const char text[] = "rate=3\nrate=1\nrate=5\n";

	reads("pattern: 'rate=(.+)', take: first", text, "m=3");
	reads("pattern: 'rate=(.+)', take: last", text, "m=5");
	reads("pattern: 'rate=(.+)', take: sum", text, "m=9");
	reads("pattern: 'rate=(.+)', take: mean", text, "m=3");
	reads("pattern: 'rate=(.+)', take: min", text, "m=1");
	reads("pattern: 'rate=(.+)', take: max", text, "m=5");
	reads("key: rate, take: sum, scale: 2", text, "m=18");
	reads("pattern: 'rate=(.+)'", text,
	      "m: two results where one is expected: 3 and 1 (take: says which one counts)");
	reads("key: rate", text,
	      "m: two results where one is expected: 3 and 1 (take: says which one counts)");
	reads("pattern: 'rate=(.+)', take: sum", "rate=1\nrate=x\n", "m: 'x' is not a number");
	reads("pattern: 'rate=(.+)', take: first", "rate=1\nrate=x\n", "m=1");
	reads("pattern: 'none=(.+)'", text, "m: pattern 'none=(.+)' does not match");
	reads("pattern: 'none=(.+)', optional: true", text, "m");
	reads("pattern: 'rate=(.*)', optional: true", "rate=\n", "m: '' is empty, not a number");
	reads("pattern: 'rate=(.+)'", "",
	      "m: pattern 'rate=(.+)' does not match, the output is empty");
	reads("key: rate", "", "m: no line 'rate: value', the output is empty");
	reads("pattern: '\\d+'", "took 17 s", "m=17");
	reads("pattern: 'a=(\\d+)|b=(\\d+)'", "b=7", "m=7");
	reads("pattern: '(\\d*)', take: last", "x", "m: '' is empty, not a number");
}

static void numbers(void)
{
	reads("pattern: 'rate=(\\S+)'", "rate=-1.5e+3", "m=-1500");
	reads("pattern: 'rate=(\\S+)'", "rate=.5", "m=0.5");
	reads("pattern: 'rate=([0-9.]+)'", "rate=1.5e+06 keys/s", "m=1500000");
	reads("pattern: 'rate=([0-9.]+)'", "rate=12E3", "m=12000");
	reads("pattern: 'rate=([0-9.]+)e'", "rate=12e", "m=12");
	reads("pattern: '([0-9.]+) MB/s'", "-5.0 MB/s", "m=-5");
	reads("pattern: '([0-9.]+) MB/s'", "x-5.0 MB/s", "m=5");
	reads("pattern: 'rate=(\\S+)'", "rate=nan", "m: 'nan' is not a finite number");
	reads("pattern: 'rate=(\\S+)'", "rate=-NaN", "m: '-NaN' is not a finite number");
	reads("pattern: 'rate=(\\S+)'", "rate=inf", "m: 'inf' is not a finite number");
	reads("pattern: 'rate=(\\S+)'", "rate=Infinity", "m: 'Infinity' is not a finite number");
	reads("pattern: 'rate=(\\S+)'", "rate=1e999", "m: '1e999' is too large for a number");
	reads("pattern: 'rate=(\\S+), scale: 1e300'", "x",
	      "m: pattern 'rate=(\\S+), scale: 1e300' does not match");
	reads("pattern: 'rate=(\\S+)', scale: 1e300", "rate=1e300",
	      "m: the value is too large for a number");
	reads("pattern: 'rate=(\\S+)'", "rate=0x10",
	      "m: '0x10' is not one whole number, it ends in something else");
	reads("pattern: 'rate=(\\S+)'", "rate=12.",
	      "m: '12.' is not one whole number, it ends in something else");
	reads("pattern: 'rate=([0-9.]+)'", "rate=12.garbage",
	      "m: '12.' is not one whole number, it ends in something else");
	reads("pattern: 'rate=([0-9.]+)'", "rate=1.2.3",
	      "m: '1.2.3' is not one whole number, it ends in something else");
	reads("pattern: 'rate=(\\S+)'", "rate=--", "m: '--' is not a number");
	reads("pattern: 'rate=(\\S+)'", "rate=1,234",
	      "m: '1,234' has a separator of thousands or a locale's comma");
	reads("pattern: 'rate=([0-9.]+)'", "rate=1,234.5 x",
	      "m: '1,234.5' has a separator of thousands or a locale's comma");
	reads("pattern: 'rate=.*?([0-9.]+) x'", "rate=1,234 x",
	      "m: '1,234' has a separator of thousands or a locale's comma");
	reads("pattern: 'rate=([0-9.]+).* x'", "rate=1.234,5 x",
	      "m: '1.234,5' has a separator of thousands or a locale's comma");
	reads("pattern: 'rate=([0-9]+)'", "rate=1'234",
	      "m: '1'234' has a separator of thousands or a locale's comma");
	reads("pattern: 'rate=([0-9]+)'",
	      "rate=1\xe2\x80\xaf"
	      "234",
	      "m: '1\xe2\x80\xaf"
	      "234' has a separator of thousands or a locale's comma");
	reads("pattern: '^\\d+,(\\d+),\\d+$'", "5,234,7", "m=234");
	reads("pattern: 'rate=([0-9]+)'", "rate=12.75",
	      "m: '12' is only a part of the number that is printed there");
	reads("pattern: 'rate=([0-9]+)\\.\\d+'", "rate=12.75", "m=12");
	reads("pattern: '\\d{3}'", "12345",
	      "m: '123' is only a part of the number that is printed there");
}

static void keys(void)
{
	reads("key: Total time", "  Total time: 0.203 [sec]\n", "m=0.203");
	reads("key: rate", "rate = 5\n", "m=5");
	reads("key: rate", "rate:5,\n", "m=5");
	reads("key: rate", "rate\t:\t-2e3 ms", "m=-2000");
	reads("key: rate", "a rate: 5\nrates: 6\nrate 7\nrate of: 8\n", "m: no line 'rate: value'");
	reads("key: rate", "rate: 12ms\n",
	      "m: '12ms' is not one whole number, it ends in something else");
	reads("key: rate", "rate: 1,234\n",
	      "m: '1,234' has a separator of thousands or a locale's comma");
	reads("key: rate", "rate: 1 234\n",
	      "m: more than one number on its line, beginning with 1");
	reads("key: rate", "rate:\n5\n", "m: '' is empty, not a number");
	reads("key: rate", "rate: nan\n", "m: 'nan' is not a finite number");
	reads("key: rate, optional: true", "x: 1\n", "m");
	reads("key: 'a.b (c)'", "a.b (c): 4\n", "m=4");
	reads("key: rate", "x\r\nrate: 4\r\n", "m=4");
}

static void json(void)
{
	reads("json: a.b", "{\"a\": {\"b\": 4}}", "m=4");
	reads("json: a.1", "warning: slow\n [note]\n{\"a\": [1, \"2.5\"]} done\nbye\n", "m=2.5");
	reads("json: '0.x'", "[{\"x\": 1e3}]", "m=1000");
	reads("json: a", "{broken\n{\"a\": 7}\n", "m=7");
	reads("json: a", "{\"s\": \"}{\\\"\", \"a\": 7}", "m=7");
	reads("json: a", "{\"event\": 1}\n{\"a\": 7}\n", "m=7");
	reads("json: a", "{\"a\": 1}\n{\"a\": 7}\n",
	      "m: two results where one is expected: 1 and 7 (take: says which one counts)");
	reads("json: a", "{\"a\": null}", "m: 'a' is there and is not a number");
	reads("json: a", "{\"a\": true}", "m: 'a' is there and is not a number");
	reads("json: a", "{\"a\": \"1,5\"}", "m: 'a' is there and is not a number");
	reads("json: a", "{\"b\": 1}", "m: the JSON document has no 'a'");
	reads("json: a, optional: true", "{\"b\": 1}", "m");
	reads("json: a", "no document", "m: no JSON document in the output");
	reads("json: a, optional: true", "no document", "m");
	reads("json: a", "{\"a\": 1", "m: a JSON document that does not end");
	reads("json: a, optional: true", "{\"a\": 1", "m: a JSON document that does not end");
	reads("json: a", "{\"s\": \"\xff\", \"a\": 3}", "m=3");
	reads("json: a", "{\"a\": 18446744073709551616}", "m=1.84467440737096e+19");
}

static void derived(void)
{
	static const char metrics[] =
		"  us: {better: lower, derive: ms * 1000 / packets, unit: us}\n"
		"  ms: {better: lower, key: time}\n"
		"  half: {better: lower, derive: us / 2 + 0 * size}\n"
		"  loss: {better: lower, derive: lost / packets, optional: true}\n"
		"  lost: {better: lower, key: lost, optional: true}\n";
	static const char zero[] =
		"  a: {better: lower, derive: 1 / b}\n  b: {better: lower, key: b}\n";
	autofree char *got = parse(metrics, "time: 4234\n", 11);

	is_str(got, "us=42.34; ms=4234; half=21.17; loss; lost",
	       "in the order they need; absent stays absent");
	free(got);
	got = parse(metrics, "time: x\n", 8);
	is_str(got,
	       "us: cannot be derived: 'ms' has no value; ms: 'x' is not a number; "
	       "half: cannot be derived: 'us' has no value; loss; lost",
	       "from nothing comes nothing");
	free(got);
	got = parse(zero, "b: 0\n", 5);
	is_str(got, "a: cannot be derived: a division by zero; b=0", "division by zero");
}

static void without_cell(void)
{
	autojob struct job *job = job_with("  a: {better: lower, derive: 2 * packets}\n");
	ERR_CLEANUP struct err err = {};
	struct parsed p = {};

	is_int(parse_output(job, NULL, "", 0, &p, &err), 0, "without a cell");
	is_str(p.values[0].why, "cannot be derived: 'packets' has no value",
	       "parameters have no value");
	parsed_release(&p);
}

static void hostile_bytes(void)
{
	static const char nul[] = "a\0b\nrate: 5\n\0";
	autofree char *got = NULL;

	reads("key: rate", "\x1b[1;32mrate\x1b[0m: \x1b[4m5\x1b[m\n", "m=5");
	reads("pattern: 'rate=([0-9.]+)'", "\x1b]0;title\x07rate=\x1b[31m5\x1b[K", "m=5");
	reads("pattern: 'rate=([0-9.]+)'", "\x1b]0;never ends\nrate=5", "m=5");
	reads("pattern: '^rate=([0-9.]+)$'", "10%\r20%\r100%\r\nrate=5\r\n", "m=5");
	reads("pattern: 'rate=([0-9.]+)'", "\xff\xfe\x80rate=5\xc3", "m=5");
	reads("key: rate", "\x1b", "m: no line 'rate: value', the output is empty");
	reads("key: rate", "\x1b[12;", "m: no line 'rate: value', the output is empty");
	reads("pattern: 'rate=(.*)'", "rate=\x07\x1b[2J", "m: '?' is not a number");
	got = parse("  m: {better: lower, key: rate}", nul, sizeof(nul));
	is_str(got, "m=5", "NUL bytes");
}

static char *repeat(const char *unit, size_t bytes)
{
	size_t n = strlen(unit);
	char *text = xmalloc(bytes + 1);

	for (size_t i = 0; i < bytes; i++)
		text[i] = unit[i % n];
	text[bytes] = '\0';
	return text;
}

/* Texts made to be slow end with a result, whatever it is; a quadratic one would not end in hours.
 */
static void hostile_sizes(void)
{
	static const char all[] = "  k: {better: lower, key: a, take: sum}\n"
				  "  p: {better: lower, pattern: 'rate=([0-9.]+)', take: sum}\n"
				  "  j: {better: lower, json: a}\n";
	static const char *const units[] = {"a",       "a a ",	" ",	 "{", "[\n",
					    "{\"a\":", "\x1b[", "\x1b]", "1"};
	size_t bytes = 4 << 20;

	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		autofree char *text = repeat(units[i], bytes), *got = parse(all, text, bytes);

		ok(str_starts(got, "k: no line 'a: value'") &&
			   strstr(got, "p: pattern 'rate=([0-9.]+)' does not match") &&
			   strstr(got, "; j: "),
		   "4 MiB of unit %zu end in errors", i);
	}
}

static void slow_pattern(void)
{
	autofree char *text = repeat("a", 100000),
		      *got = parse("  m: {better: lower, pattern: '(a+)+[bc]'}", text, 100000);

	is_str(got,
	       "m: pattern '(a+)+[bc]': pattern takes too many steps on this text of 100000 bytes",
	       "a pattern of exponential cost gives up");
}

static void a_hundred_megabytes(void)
{
	size_t bytes = 100 << 20;
	autofree char *text = repeat("some line of chatter 12.5\n", bytes);
	autofree char *got = NULL;

	memcpy(text + bytes - 10, "\nrate=17.5", 10);
	got = parse(
		"  m: {better: lower, pattern: 'rate=([0-9.]+)'}\n  k: {better: lower, key: rate}",
		text, bytes);
	is_str(got, "m=17.5; k=17.5", "the last line of 100 MB");
}

int main(void)
{
	ERR_CLEANUP struct err err = {};

	if (!mkdtemp(dir))
		return 1;
	benchmarks();
	selections();
	numbers();
	keys();
	json();
	derived();
	without_cell();
	hostile_bytes();
	hostile_sizes();
	slow_pattern();
	a_hundred_megabytes();
	fs_remove_tree(dir, &err);
	return plan_done();
}
