// SPDX-License-Identifier: GPL-2.0-or-later
// Jobs: values, defaults, cells, contradictions.
#include "tests/unit/job_text.h"

static void local_job(void)
{
	autojob struct job *job = load_good(
		"culprit: 1\nname: sort\ndescription: sorts\nrunner: local\nbuild: {command: make "
		"-s, timeout: 10m}\n"
		"setup: {command: ./start-server}\nrun: {command: './bench $size', timeout: 60s}\n"
		"parameters: {size: [1000, 4000]}\nmetrics:\n"
		"  sorted: {unit: keys/s, better: higher, pattern: 'rate=([0-9.]+)', kpi: true}\n"
		"boots: {min: 5, max: 60}\niterate: {min: 5, max: 30, confidence: 99%, interval: "
		"5%}\n"
		"regression: {min_effect: 3%, error: 1%}\n",
		"a local job");

	if (!job)
		return;
	is_str(job->name, "sort", "name");
	is_str(job->description, "sorts", "description");
	ok(*job->path == '/' && str_ends(job->path, "/job.yaml"), "path");
	is_int(job->runner, RUNNER_LOCAL, "runner");
	ok(!job->is_kernel, "no kernel");
	ok(strv_len(job->build.argv) == 3 && streq(job->build.argv[2], "make -s"), "build");
	is_int(job->build.timeout_ns, 600000000000, "build timeout");
	is_str(job->setup.argv[2], "./start-server", "setup");
	ok(!job->teardown.argv, "no teardown");
	is_str(job->run.argv[2], "./bench $size", "run: nothing is pasted into the text");
	is_int(job->run.timeout_ns, 60000000000, "run timeout");
	is_int(job->n_cells, 2, "two cells");
	is_str(job->cells[1].name, "size=4000", "name of a cell");
	is_int(job->n_metrics, 1, "one metric");
	is_str(job->metrics[0].unit, "keys/s", "unit");
	ok(job->metrics[0].kpi && job->metrics[0].better == BETTER_HIGHER, "kpi, direction");
	ok(job->boots_min == 5 && job->boots_max == 60 && job->iterate_min == 5 &&
		   job->iterate_max == 30,
	   "counts");
	is_double(job->confidence, 0.99, 1e-12, "confidence");
	is_double(job->interval_pct, 5, 0, "interval");
	is_double(job->min_effect_pct, 3, 0, "min_effect");
	is_double(job->error, 0.01, 1e-12, "error");
	is_int(strlen(job->text_hash), 64, "hash");
	ok(strstr(job->source, "rate=([0-9.]+)"), "source");
}

static void defaults(void)
{
	autojob struct job *job = load_good(MINIMAL, "the smallest job");
	const struct metric *m;

	if (!job)
		return;
	is_str(job->name, "job", "named like its file");
	is_int(job->runner, RUNNER_LOCAL, "local runner");
	is_int(job->n_cells, 1, "one cell");
	is_str(job->cells[0].name, "", "without a name");
	ok(job->boots_min == 5 && job->boots_max == 60 && job->iterate_min == 5 &&
		   job->iterate_max == 30,
	   "counts");
	is_double(job->error, 0.01, 1e-12, "error");
	is_double(job->min_effect_pct, 0, 0, "min_effect is not given");
	is_double(job->interval_floor, 0, 0, "no floor");
	m = &job->metrics[0];
	ok(m->kpi, "the only metric is a KPI");
	ok(m->take == TAKE_ONLY && m->scale == 1 && !m->optional && m->centre == CENTRE_MEDIAN,
	   "metric");
	is_str(m->unit, "", "no unit");
	is_int(job_kpi_count(job), 1, "one KPI");
	ok(job_metric(job, "m") == m && !job_metric(job, "n"), "metrics by name");
}

static void kernel_job(void)
{
	autofree char *fragment = put("sub/a.config", "CONFIG_A=y\n");
	autofree char *patch = put("b.patch", "x\n");
	autojob struct job *job =
		load_good("culprit: 1\nkernel: {base: tinyconfig, fragments: [sub/a.config], "
			  "patches: b.patch, cmdline: quiet,\n"
			  "  compiler: clang, aligned: true}\nqemu: {cpus: 1, memory: 1G, clock: "
			  "icount, args: [-nodefaults]}\n"
			  "guest: {programs: [hackbench]}\nrun: {command: [hackbench, -g, '$x']}\n"
			  "metrics: {t: {better: lower, key: Time, unit: s, centre: p95}}\n",
			  "a kernel job");

	if (!job)
		return;
	is_int(job->runner, RUNNER_QEMU, "kernels run in qemu");
	ok(job->is_kernel, "kernel");
	is_str(job->kernel.base, "tinyconfig", "base");
	ok(strv_len(job->kernel.fragments) == 1 && streq(job->kernel.fragments[0], fragment),
	   "fragment, absolute");
	ok(strv_len(job->kernel.patches) == 1 && streq(job->kernel.patches[0], patch),
	   "patch, absolute");
	ok(streq(job->kernel.cmdline, "quiet") && streq(job->kernel.compiler, "clang"),
	   "cmdline, compiler");
	ok(streq(job->kernel.arch, "x86_64") && job->kernel.aligned, "arch, aligned");
	is_int(job->kernel.timeout_ns, 3600000000000, "build timeout");
	ok(job->qemu.cpus == 1 && job->qemu.memory_bytes == 1 << 30 &&
		   job->qemu.clock == CLOCK_ICOUNT,
	   "qemu");
	is_int(job->qemu.boot_timeout_ns, 120000000000, "boot timeout");
	ok(streq(job->guest_programs[0], "hackbench") && streq(job->qemu.args[0], "-nodefaults"),
	   "programs, args");
	ok(strv_len(job->run.argv) == 3 && streq(job->run.argv[2], "$x"), "a list is argv");
	ok(job->metrics[0].centre == CENTRE_QUANTILE &&
		   fabs(job->metrics[0].quantile - 0.95) < 1e-12,
	   "a percentile");
}

static void runners(void)
{
	autojob struct job *lab = load_good(MINIMAL "machine: rack3\n", "a lab job");
	autojob struct job *image =
		load_good(MINIMAL "runner: qemu\n", "a qemu job without kernel");
	autojob struct job *both =
		load_good(MINIMAL "machine: rack3\nrunner: machine\n", "runner and machine");
	autojob struct job *repo = load_good(MINIMAL "repo: ../linux\n", "a repository");
	autofree char *path = xasprintf("%s/../linux", dir);

	ok(lab && lab->runner == RUNNER_MACHINE && streq(lab->machine, "rack3"), "machine");
	ok(image && image->runner == RUNNER_QEMU && !image->is_kernel,
	   "an image comes from the command line");
	ok(both && both->runner == RUNNER_MACHINE, "both say the same");
	is_str(repo ? repo->repo : NULL, path, "beside the job");
	refused_more("runner: machine",
		     "job.yaml:4:9: key 'runner': needs 'machine: NAME' beside it");
	refused_more("runner: qemu\nmachine: a",
		     "job.yaml:5:1: key 'machine': excludes 'runner: qemu'");
	refused_more("runner: vm",
		     "job.yaml:4:9: key 'runner': 'vm' is none of local, qemu, machine");
	refused_more("build: {command: x}\nkernel: {}",
		     "job.yaml:4:1: key 'build': excludes 'kernel' of line 5: kernels are built by "
		     "culprit");
	refused_more("build: {command: x}\nrunner: qemu",
		     "job.yaml:4:1: key 'build': is for 'runner: local' only");
	refused_more("runner: local\nkernel: {}",
		     "job.yaml:5:1: key 'kernel': needs 'runner: qemu' or a machine, the local "
		     "runner boots none");
	refused_more("qemu: {clock: icount, cpus: 2}",
		     "job.yaml:4:15: key 'clock': icount needs 'cpus: 1', not 2");
	refused_more("qemu: {clock: icount, accel: kvm}",
		     "job.yaml:4:15: key 'clock': icount needs emulation, not 'accel: kvm'");
	refused_more("kernel: {base: tinyconfi}",
		     "job.yaml:4:16: key 'base': 'tinyconfi' is neither tinyconfig, "
		     "defconfig nor a file, did you mean 'tinyconfig'?");
	refused_more("kernel: {fragments: [no.config]}",
		     "job.yaml:4:22: key 'fragments': no file 'no.config' beside "
		     "this one nor in the job directories");
}

static char *cell_names(const char *lines)
{
	autofree char *text = xasprintf(MINIMAL "%s\n", lines), *faults = NULL;
	autojob struct job *job = load(text, &faults);
	autobuf names = {};

	for (size_t i = 0; job && i < job->n_cells; i++)
		buf_printf(&names, "%s%s", i ? " " : "", job->cells[i].name);
	return job ? buf_take(&names) : take_ptr(&faults);
}

static void is_cells(const char *lines, const char *want)
{
	autofree char *got = cell_names(lines);

	is_str(got, want, "%.*s", (int)strcspn(lines, "\n"), lines);
}

static void cells(void)
{
	is_cells("parameters: {b: [1, 2], a: x, c: [p, q]}",
		 "b=1,a=x,c=p b=1,a=x,c=q b=2,a=x,c=p b=2,a=x,c=q");
	is_cells("parameters: {}", "");
	is_cells("parameters: {s: [64, 64K, 1M, '64K', 1.5K, 2GiB]}",
		 "s=64 s=65536 s=1048576 s=64K s=1536 s=2147483648");
	is_cells("parameters: {s: [K, 64k, 64KB, 1e3, M4]}", "s=K s=64k s=64KB s=1e3 s=M4");
	is_cells("parameters: {n: [true, '', ' x']}", "n=true n= n= x");
	is_cells("runner: qemu\nqemu: {cpus: 8}\nparameters: {n: [1%, 25%, 50%, 125%, '50%']}",
		 "n=1 n=2 n=4 n=10 n=50%");
	is_cells("runner: qemu\nqemu: {cpus: 2}\nparameters: {n: [1, 25%, 50%, 75%]}", "n=1 n=2");
	is_cells("parameters: {a: [1, 2, 3], b: [x, y]}\nexclude: [{a: 1}, {a: [2, 3], b: y}]",
		 "a=2,b=x a=3,b=x");
	is_cells("parameters: {a: [64K, 1]}\nexclude: [{a: 64K}]", "a=1");
	is_cells("parameters: {a: [1, 2]}\nexclude: []", "a=1 a=2");
	is_cells("machine: m\nparameters: {n: 50%}",
		 "job.yaml:5:17: key 'n': '50%' is a share of CPUs that are not "
		 "known here: give their number");
	is_cells("parameters: {n: [1, 2, 1]}", "job.yaml:4:24: key 'n': '1' is listed twice");
	is_cells("parameters: {n: []}", "job.yaml:4:17: key 'n': an empty list");
	is_cells(
		"parameters: {n: [[1]]}",
		"job.yaml:4:18: key 'n': a value must be a text or a number ('' for an empty one)");
	is_cells(
		"parameters: {n: }",
		"job.yaml:4:17: key 'n': a value must be a text or a number ('' for an empty one)");
	is_cells("parameters: [a]",
		 "job.yaml:4:13: key 'parameters': must be a mapping like {size: [64, 1024]}");
	is_cells("parameters: {n: 1}\nexclude: {n: 1}",
		 "job.yaml:5:10: key 'exclude': must be a list of mappings like [{size: 64}]");
	is_cells("parameters: {n: 1}\nexclude: [n]",
		 "job.yaml:5:11: key 'exclude': must be a list of mappings like [{size: 64}]");
	is_cells("parameters: {size: 1}\nexclude: [{siez: 1}]",
		 "job.yaml:5:12: key 'siez': no parameter has this name, did you mean 'size'?");
	is_cells("parameters: {n: 1}\nexclude: [{n: 2}]",
		 "job.yaml:5:15: key 'n': '2' is no value of this parameter");
	is_cells("parameters: {n: 1}\nexclude: [{n: 1}]",
		 "job.yaml:5:10: key 'exclude': takes every combination out, nothing is left to "
		 "run");
}

static void parameter_names(void)
{
	static const char *const bad[] = {"PATH", "HOME", "LD_PRELOAD", "LD_"};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		autofree char *lines = xasprintf("parameters: {%s: x}", bad[i]);
		autofree char *want = xasprintf(
			"job.yaml:4:14: key '%s': a parameter must not be called PATH, HOME or "
			"LD_*, which would change every program",
			bad[i]);

		is_cells(lines, want);
	}
	is_cells("parameters: {CULPRIT_RUN: x}",
		 "job.yaml:4:14: key 'CULPRIT_RUN': a parameter must not be called "
		 "CULPRIT_*, those variables are set by culprit");
	is_cells("parameters: {a-b: x}", "job.yaml:4:14: key 'a-b': a parameter is an environment "
					 "variable: letters, digits and _ only");
	is_cells("parameters: {1a: x}", "job.yaml:4:14: key '1a': a parameter is an environment "
					"variable: letters, digits and _ only");
	is_cells("parameters: {PATHS: x, _a1: y}", "PATHS=x,_a1=y");
}

static void cell_limits(void)
{
	autobuf lines = {}, long_value = {};
	autofree char *names = NULL;
	size_t n = 1;

	buf_adds(&lines, "parameters:\n");
	for (int axis = 0; axis < 4; axis++) {
		buf_printf(&lines, "  p%d: [0", axis);
		for (int i = 1; i < 10; i++)
			buf_printf(&lines, ", %d", i);
		buf_adds(&lines, "]\n");
	}
	names = cell_names(buf_str(&lines));
	for (const char *s = names; (s = strchr(s, ' ')); s++)
		n++;
	is_int(n, 10000, "10000 cells are fine");
	buf_adds(&lines, "  more: [1, 2]\n");
	is_cells(buf_str(&lines),
		 "job.yaml:9:9: key 'more': more than 10000 combinations of parameters");
	buf_adds(&long_value, "parameters: {v: ");
	for (int i = 0; i < 5000; i++)
		buf_addch(&long_value, 'x');
	buf_addch(&long_value, '}');
	is_cells(buf_str(&long_value), "job.yaml:4:17: key 'v': the values of one combination are "
				       "longer than 4096 characters");
}

static void cells_by_name(void)
{
	autojob struct job *job = load_good(
		MINIMAL "parameters: {size: [64, 128], test: ['a,b', 'a,size=1'], one: 1}\n",
		"values with commas");
	autostrv char **env = NULL;

	if (!job)
		return;
	is_int(job->n_cells, 4, "four cells");
	ok(job_cell(job, "size=128,test=a,b,one=1") == &job->cells[2], "in the order of the file");
	ok(job_cell(job, "one=1,test=a,b,size=128") == &job->cells[2], "in any order");
	ok(job_cell(job, "size=128,test=a,b") == &job->cells[2],
	   "what has one value may be left out");
	ok(!job_cell(job, "size=128"), "several would fit");
	ok(!job_cell(job, "size=129,test=a,b"), "no such value");
	ok(!job_cell(job, "sizes=128,test=a,b"), "no such parameter");
	ok(!job_cell(job, "size"), "no value at all");
	env = cell_environment(&job->cells[2]);
	ok(strv_len(env) == 3 && streq(env[0], "size=128") && streq(env[1], "test=a,b") &&
		   streq(env[2], "one=1"),
	   "as environment");
}

static void ranges(void)
{
	autojob struct job *one =
		load_good(MINIMAL "boots: {max: 1}\niterate: {min: 50}\n", "one end of a range");

	ok(one && one->boots_min == 1 && one->boots_max == 1,
	   "the default of the other end gives way");
	ok(one && one->iterate_min == 50 && one->iterate_max == 50, "both ways");
	refused_more("boots: {min: 9, max: 3}",
		     "job.yaml:4:22: key 'max': 3 is less than 'min: 9'");
	refused_more("iterate: {min: 2, max: 1}",
		     "job.yaml:4:24: key 'max': 1 is less than 'min: 2'");
	refused_more("boots: {min: 0}", "job.yaml:4:14: key 'min': '0' must be from 1 to 100000");
	refused_more("iterate: {confidence: 79%}",
		     "job.yaml:4:23: key 'confidence': '79%' must be from 80% to 99.9%");
	refused_more("iterate: {confidence: 99.95%}",
		     "job.yaml:4:23: key 'confidence': '99.95%' must be from 80% to 99.9%");
	refused_more("iterate: {interval: 0%}",
		     "job.yaml:4:21: key 'interval': '0%' must be from 0.001% to 200%");
	refused_more("regression: {error: 50%}",
		     "job.yaml:4:21: key 'error': '50%' must be from 0.001% to 20%");
}

static void bad_metric(const char *metrics, const char *message)
{
	autofree char *text = xasprintf(
		"culprit: 1\nrun: {command: x}\nparameters: {p: [1, x]}\nmetrics:\n%s\n", metrics);

	refused(text, message, metrics);
}

static void metrics(void)
{
	autojob struct job *job =
		load_good("culprit: 1\nrun: {command: x}\nparameters: {packets: 100}\nmetrics:\n"
			  "  us: {better: lower, derive: ms * 1000 / packets, kpi: true}\n  ms: "
			  "{better: lower, key: time}\n"
			  "  half: {better: lower, derive: us / 2}\n",
			  "derived metrics");

	ok(job && job_kpi_count(job) == 1 && job->metrics[0].derive,
	   "of several metrics only the marked one is a KPI");
	bad_metric("  a: {better: lower}",
		   "job.yaml:5:3: key 'a': needs one of pattern, json, key or derive to come from");
	bad_metric("  a: {better: lower, key: x,\n      json: y}",
		   "job.yaml:6:7: key 'json': excludes 'key' of line 5: a metric has one source");
	bad_metric(
		"  a: {key: x}",
		"job.yaml:5:6: key 'better': missing in 'a': which direction is the good one, for "
		"example 'better: higher'");
	bad_metric("  a: {better: lower, pattern: '(['}",
		   "job.yaml:5:31: key 'pattern': pattern '([': missing "
		   "terminating ] for character class at position 3");
	bad_metric("  a: {better: lower, derive: a + 1}",
		   "job.yaml:5:30: key 'derive': 'a' is derived from itself, directly or by way of "
		   "others");
	bad_metric("  a: {better: lower, derive: b}\n  b: {better: lower, derive: c}\n  c: "
		   "{better: lower, derive: a}",
		   "job.yaml:5:30: key 'derive': 'a' is derived from itself, directly or by way of "
		   "others\n"
		   "job.yaml:6:30: key 'derive': 'b' is derived from itself, directly or by way of "
		   "others\n"
		   "job.yaml:7:30: key 'derive': 'c' is derived from itself, directly or by way of "
		   "others");
	bad_metric("  rate: {better: lower, key: x}\n  b: {better: lower, derive: 2 * raet}",
		   "job.yaml:6:30: key 'derive': no metric or parameter is called 'raet', did you "
		   "mean 'rate'?");
	bad_metric("  a: {better: lower, derive: 2 * p}",
		   "job.yaml:5:30: key 'derive': parameter 'p' is 'x', which is no number");
	bad_metric("  a: {better: lower, derive: '2 *'}",
		   "job.yaml:5:30: key 'derive': '2 *' ends where a number or name is expected");
	bad_metric("  p: {better: lower, key: x}",
		   "job.yaml:5:3: key 'p': a parameter has this name, too");
	bad_metric("  a-b: {better: lower, key: x}",
		   "job.yaml:5:3: key 'a-b': the name of a metric must be letters, "
		   "digits, _ and ., and begin with a letter");
	bad_metric("  a: {better: lower, json: x, take: sum}",
		   "job.yaml:5:31: key 'take': is for pattern and key, 'json' gives one value");
	bad_metric("  a: {better: lower, key: x, scale: 0}",
		   "job.yaml:5:37: key 'scale': must not be 0, which makes every value 0");
	bad_metric("  a: {better: lower, key: x, centre: p100}",
		   "job.yaml:5:38: key 'centre': 'p100' is none of median, mean, hmean, min, max, "
		   "nor a percentile like p95");
	bad_metric("  a: {better: lower, key: ' x'}",
		   "job.yaml:5:27: key 'key': must be one line of text without blanks around it");
	bad_metric("  {}", "job.yaml:5:3: key 'metrics': a job needs at least one metric");
}

static void each(void)
{
	autojob struct job *job = load_good("culprit: 1\nrun: {command: x}\nmetrics:\n"
					    "  a: {better: lower, key: x, kpi: true}\n"
					    "  lat: {better: lower, each: [1, '64'], unit: us, "
					    "pattern: '^{each} x{each}=(.*)'}\n"
					    "  b: {better: lower, derive: lat.64 - lat.1}\n",
					    "a metric for each of a list");

	if (!job)
		return;
	is_int(job->n_metrics, 4, "one metric for each value");
	is_str(job->metrics[1].name, "lat.1", "called after it");
	is_str(job->metrics[1].each, "1", "which it knows");
	is_str(job->metrics[2].name, "lat.64", "in their order and place");
	is_str(job->metrics[2].pattern, "^64 x64=(.*)", "the value is filled in everywhere");
	is_str(job->metrics[2].unit, "us", "other keys are the same");
	ok(!job->metrics[0].each && job->metrics[3].derive, "other metrics are as they were");
	bad_metric("  a: {better: lower, key: x, each: [1, 1]}",
		   "job.yaml:5:36: key 'each': 'a.1' is there already");
	bad_metric("  a: {better: lower, key: x, each: [a b]}",
		   "job.yaml:5:3: key 'a.a b': the name of a metric must be letters, digits, _ and "
		   "., and begin with a letter");
	bad_metric(
		"  a: {better: lower, each: [1]}",
		"job.yaml:5:3: key 'a.1': needs one of pattern, json, key or derive to come from");
	bad_metric("  a: {better: lower, key: x, each: {b: c}}",
		   "job.yaml:5:3: key 'metrics': a job needs at least one metric\n"
		   "job.yaml:5:36: key 'each': must be a list of texts, not a mapping");
}

static void programs(void)
{
	autojob struct job *job =
		load_good(MINIMAL "guest: {programs: [sh, /etc/passwd, nosuchprogram]}\n"
				  "packages: [bash, non-free/nosuch]\n",
			  "programs and their packages");
	autojob struct job *plain =
		load_good(MINIMAL "guest: {programs: [sh, /etc/passwd]}\n", "programs alone");
	ERR_CLEANUP struct err err = {};
	autofree char *none = plain ? job_install_hint(plain) : NULL;

	is_int(job ? job_programs_here(job, &err) : 0, -ERR_NOT_FOUND, "one is missing");
	is_str(err.message, "program 'nosuchprogram' is missing on this machine", "it is named");
	is_str(err.hint, "apt-get install bash nosuch, nosuch is in Debian's component non-free",
	       "with what installs it");
	is_int(plain ? job_programs_here(plain, &err) : 1, 0,
	       "programs and files by their path are there");
	is_str(none, NULL, "without packages nothing is suggested");
	refused_more("packages: [Net perf]",
		     "job.yaml:4:12: key 'packages': 'Net perf' is not the name of a Debian "
		     "package");
}

/* A job about kernels, read for this host as it runs. */
static void here(void)
{
	autofree char *kernels = put("kernels.yaml", MINIMAL "kernel: {}\nqemu: {cpus: 77}\n"
							     "parameters: {n: 100%}\n");
	autofree char *builds = put("builds.yaml", MINIMAL "build: {command: make}\n");
	ERR_CLEANUP struct err err = {};
	autojob struct job *job = NULL;
	autofree char *cpus = xasprintf("n=%ld", sysconf(_SC_NPROCESSORS_ONLN));

	if (!is_int(job_load_here(kernels, &job, &err), 0, "a job about kernels"))
		return;
	is_int(job->runner, RUNNER_LOCAL, "runs here");
	ok(!job->is_kernel, "and builds none");
	is_str(job->cells[0].name, cpus, "a share of the CPUs is one of this host's");
	is_int(job_load_here(builds, &(struct job *){NULL}, &err), -ERR_USAGE,
	       "a job about what it builds is refused");
	ok(strstr(err.message, "key 'build': the job measures what it builds"), "and why");
}

static void whole_file(void)
{
	refused("run: {command: x}\nmetrics: {m: {better: lower, key: x}}\n",
		"job.yaml:1:1: key 'culprit': missing: version of this format, for example "
		"'culprit: 1'",
		"no version");
	refused("culprit: 2\nrun: {command: x}\nmetrics: {m: {better: lower, key: x}}\n",
		"job.yaml:1:10: key 'culprit': '2' must be 1", "another version");
	refused("culprit: 1\nmetrics: {m: {better: lower, key: x}}\n",
		"job.yaml:1:1: key 'run': missing: the benchmark, with parameters in its "
		"environment, for example "
		"'run: {command: './bench $size'}'",
		"nothing to run");
	refused_more(
		"name: ../x",
		"job.yaml:4:7: key 'name': '../x' must be letters, digits and . _ + -, 64 at most");
	refused_more("parametres: {a: 1}\nboot: {min: 1}\nrunner: locl",
		     "job.yaml:4:1: key 'parametres': unknown key, did you mean 'parameters'?\n"
		     "job.yaml:5:1: key 'boot': unknown key, did you mean 'boots'?\n"
		     "job.yaml:6:9: key 'runner': 'locl' is none of local, qemu, machine, did you "
		     "mean 'local'?");
}

int main(void)
{
	if (!start())
		return 1;
	local_job();
	defaults();
	kernel_job();
	runners();
	cells();
	parameter_names();
	cell_limits();
	cells_by_name();
	ranges();
	metrics();
	each();
	programs();
	here();
	whole_file();
	return finish();
}
