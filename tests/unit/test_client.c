// SPDX-License-Identifier: GPL-2.0-or-later
// The local runner with the real agent, and the client with peers that are no agents at all.
#include "tests/tap.h"

#include "harness/base/clock.h"
#include "harness/base/proc.h"
#include "harness/base/signals.h"
#include "runners/client.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

static char job_name[] = "test";
static const struct job job = {.name = job_name, .runner = RUNNER_LOCAL};

static struct boot *start(void)
{
	const struct boot_spec spec = {.job = &job, .workdir = "/tmp"};
	struct err err = {};
	struct boot *boot = NULL;

	if (runner_local.start(&spec, &boot, &err) < 0) {
		ok(false, "a boot: %s", err.message);
		exit(1);
	}
	return boot;
}

/* How many processes have this word among their arguments. */
static int processes_with(const char *word)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	int n = 0;

	while (proc && (entry = readdir(proc))) {
		char path[300], text[4096];
		FILE *f;
		size_t len;

		snprintf(path, sizeof(path), "/proc/%s/cmdline", entry->d_name);
		f = fopen(path, "r");
		len = f ? fread(text, 1, sizeof(text), f) : 0;
		if (f)
			fclose(f);
		n += memmem(text, len, word, strlen(word) + 1) != NULL;
	}
	if (proc)
		closedir(proc);
	return n;
}

/* A number of seconds to sleep that no other process sleeps. */
static const char *our_sleep(char to[32], int which)
{
	snprintf(to, 32, "%d.%d", 5000 + which, (int)getpid());
	return to;
}

#define SH(...)                                                                                    \
	.argv = (const char *const[])                                                              \
	{                                                                                          \
		"sh", "-c", __VA_ARGS__, NULL                                                      \
	}
#define DEFAULTS .timeout_ns = 60 * NS_PER_S, .output_max = 1 << 20

/* Runs and expects it to be done; the reply is the caller's. */
static struct run_reply run(struct boot *boot, struct run_request request)
{
	struct run_reply reply = {};
	struct err err = {};

	if (boot_run(boot, &request, &reply, &err) < 0)
		ok(false, "a run: %s", err.message);
	err_release(&err);
	return reply;
}

static void greeting(void)
{
	struct boot *boot = start();
	const struct agent_hello *hello = boot_hello(boot);
	struct err err = {};

	is_int(hello->protocol, PROTO_VERSION, "protocol");
	ok(hello->release[0] && hello->version[0] && hello->machine[0], "the kernel says its name");
	is_int(strlen(hello->boot_id), 36, "boot id is a UUID");
	is_int(hello->cpus, sysconf(_SC_NPROCESSORS_ONLN), "processors");
	ok(hello->memory_bytes > 1 << 20, "memory");
	ok(json_str(json_get(hello->environment, "cpu_model")),
	   "and the environment, processor first");
	ok(boot_seconds(boot) > 0 && boot_seconds(boot) < 30, "the boot took some time");
	ok(boot_refresh_hello(boot, &err) == 0 && strlen(boot_hello(boot)->boot_id) == 36,
	   "it says so again when asked");
	boot_stop(boot);
}

static void ends(void)
{
	struct boot *boot = start();
	struct run_reply r =
		run(boot, (struct run_request){SH("echo out; echo err >&2; exit 3"), DEFAULTS});

	ok(r.end == RUN_EXITED && r.code == 3, "a program exits with 3");
	is_str(buf_str(&r.output), "out\nerr\n", "both outputs in order");
	is_int(r.output_total, 8, "and counted");
	ok(r.seconds > 0 && r.seconds < 60 && r.max_rss_bytes > 0, "time and memory are known");
	run_reply_release(&r);

	r = run(boot, (struct run_request){SH("kill -TERM $$"), DEFAULTS});
	ok(r.end == RUN_SIGNALED && r.code == SIGTERM, "one is killed by a signal");
	run_reply_release(&r);

	r = run(boot, (struct run_request){.argv = (const char *const[]){"no-such-program", NULL},
					   DEFAULTS});
	ok(r.end == RUN_NOT_STARTED && r.code == ENOENT, "one does not exist");
	run_reply_release(&r);

	r = run(boot, (struct run_request){SH("true"), .cwd = "/no/such/place", DEFAULTS});
	ok(r.end == RUN_NOT_STARTED && r.code == ENOENT, "nor does a directory");
	run_reply_release(&r);

	r = run(boot, (struct run_request){SH("echo rate=nan"), DEFAULTS});
	ok(r.end == RUN_EXITED && r.code == 0, "one prints NaN, which is not our business");
	is_str(buf_str(&r.output), "rate=nan\n", "and comes as it is");
	run_reply_release(&r);

	r = run(boot, (struct run_request){SH("printf 'a\\000b\\377'"), DEFAULTS});
	ok(r.output.len == 4 && memcmp(r.output.data, "a\0b\377", 4) == 0, "one prints any byte");
	run_reply_release(&r);
	boot_stop(boot);
}

static void surroundings(void)
{
	static const char *const env[] = {"size=64", "words=a b  $(c)", NULL};
	struct boot *boot = start();
	struct run_reply r;

	setenv("CULPRIT_TEST_SECRET", "1", 1);
	r = run(boot, (struct run_request){
			      SH("env | sed 's/=.*//' | grep -vE '^(_|PWD|SHLVL|OLDPWD)$' | sort"),
			      .env = env, DEFAULTS});
	is_str(buf_str(&r.output), "HOME\nLANG\nPATH\nsize\nwords\n",
	       "the environment is what was asked for");
	run_reply_release(&r);
	r = run(boot,
		(struct run_request){SH("echo \"$size|$words|$LANG\""), .env = env, DEFAULTS});
	is_str(buf_str(&r.output), "64|a b  $(c)|C\n", "with its values as they are");
	run_reply_release(&r);
	r = run(boot,
		(struct run_request){SH("pwd; readlink /proc/self/fd/0; ls /proc/self/fd | wc -l"),
				     DEFAULTS});
	is_str(buf_str(&r.output), "/tmp\n/dev/null\n4\n",
	       "worktree, no input, no descriptor of ours");
	run_reply_release(&r);
	r = run(boot,
		(struct run_request){SH("grep -E '^Sig(Blk|Ign)' /proc/self/status"), DEFAULTS});
	is_str(buf_str(&r.output), "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n",
	       "signals as usual");
	run_reply_release(&r);
	boot_stop(boot);
}

static void deadline(void)
{
	char a[32], b[32], script[200];
	struct boot *boot = start();
	struct run_reply r;

	snprintf(script, sizeof(script), "echo begun; sleep %s & setsid sleep %s & wait",
		 our_sleep(a, 1), our_sleep(b, 2));
	r = run(boot,
		(struct run_request){SH(script), .timeout_ns = 300 * NS_PER_MS, .output_max = 100});
	is_int(r.end, RUN_DEADLINE, "the deadline ends a run");
	is_str(buf_str(&r.output), "begun\n", "whose output is kept");
	is_int(processes_with(a) + processes_with(b), 0, "and whose children are gone");
	run_reply_release(&r);

	r = run(boot, (struct run_request){SH("trap '' TERM INT HUP; yes"),
					   .timeout_ns = 300 * NS_PER_MS, .output_max = 100});
	is_int(r.end, RUN_DEADLINE, "also of one that prints all the time and ignores signals");
	is_int(r.output.len, 100, "output is cut");
	run_reply_release(&r);
	r = run(boot, (struct run_request){SH("echo next"), DEFAULTS});
	is_str(buf_str(&r.output), "next\n", "the next run is not touched");
	run_reply_release(&r);
	boot_stop(boot);
}

static void much_output(void)
{
	struct boot *boot = start();
	struct run_reply r =
		run(boot, (struct run_request){SH("yes 0123456 | head -c 100000000"), DEFAULTS});

	ok(r.end == RUN_EXITED && r.code == 0, "a program prints 100 MB");
	is_int(r.output.len, 1 << 20, "the first megabyte is kept");
	is_int(r.output_total, 100000000, "all is counted");
	ok(memcmp(r.output.data + (1 << 20) - 8, "0123456\n", 8) == 0, "in order");
	run_reply_release(&r);
	r = run(boot,
		(struct run_request){SH("yes | head -c 3000000"), .timeout_ns = 60 * NS_PER_S});
	ok(r.output.len == 0 && r.output_total == 3000000, "or nothing of it is");
	run_reply_release(&r);
	boot_stop(boot);
}

static void leftovers(void)
{
	char a[32], b[32], script[300];
	struct boot *boot = start();
	struct run_reply r;

	snprintf(script, sizeof(script), "sleep %s & setsid setsid sleep %s & (yes &) ; echo over",
		 our_sleep(a, 3), our_sleep(b, 4));
	r = run(boot, (struct run_request){SH(script), .timeout_ns = 60 * NS_PER_S,
					   .output_max = 1 << 16});
	ok(r.end == RUN_EXITED && r.code == 0, "a run leaves processes behind");
	is_int(processes_with(a) + processes_with(b), 0, "they are killed, wherever they went");
	run_reply_release(&r);
	boot_stop(boot);
}

static void server(void)
{
	char a[32], b[32], c[32], script[400];
	struct boot *boot = start();
	struct run_reply r;

	snprintf(script, sizeof(script),
		 "sleep %s & setsid sh -c 'echo up; sleep %s & wait' & echo started",
		 our_sleep(a, 5), our_sleep(b, 6));
	r = run(boot, (struct run_request){SH(script), .keep_children = true, DEFAULTS});
	ok(r.end == RUN_EXITED && strstr(buf_str(&r.output), "started"), "a setup starts servers");
	run_reply_release(&r);
	snprintf(script, sizeof(script), "sleep %s & echo measured", our_sleep(c, 7));
	for (int i = 0; i < 3; i++) {
		r = run(boot, (struct run_request){SH(script), DEFAULTS});
		is_str(buf_str(&r.output), "measured\n", "run %d", i);
		run_reply_release(&r);
	}
	r = run(boot, (struct run_request){SH("sleep 60"), .timeout_ns = 100 * NS_PER_MS});
	is_int(r.end, RUN_DEADLINE, "and one that is killed");
	is_int(processes_with(c), 0, "leave nothing of their own");
	ok(processes_with(a) == 1 && processes_with(b) >= 1, "the servers are still there");
	run_reply_release(&r);
	boot_stop(boot);
	is_int(processes_with(a) + processes_with(b), 0, "and end with the boot");
}

/* A server that prints must not be stopped by a full pipe, nor by a closed one. */
static void loud_server(void)
{
	char file[64], script[300];
	struct boot *boot = start();
	struct run_reply r;

	snprintf(file, sizeof(file), "/tmp/culprit-loud.%d", (int)getpid());
	snprintf(script, sizeof(script), "(head -c 1000000 /dev/zero; mkfifo %s; echo lives >%s) &",
		 file, file);
	r = run(boot, (struct run_request){SH(script), .keep_children = true,
					   .timeout_ns = 60 * NS_PER_S});
	is_int(r.end, RUN_EXITED, "a setup starts a server that prints");
	run_reply_release(&r);
	snprintf(script, sizeof(script), "until [ -p %s ]; do sleep 0.01; done; cat %s", file,
		 file);
	r = run(boot, (struct run_request){SH(script), DEFAULTS});
	is_str(buf_str(&r.output), "lives\n", "and goes on doing so");
	run_reply_release(&r);
	boot_stop(boot);
	unlink(file);
}

static void agent_dies(void)
{
	char a[32], script[200];
	struct boot *boot = start();
	struct run_request request = {SH(script), DEFAULTS};
	struct run_reply reply;
	struct err err = {};

	snprintf(script, sizeof(script), "kill -9 $PPID; sleep %s", our_sleep(a, 8));
	is_int(boot_run(boot, &request, &reply, &err), -ERR_INFRA, "a program kills the agent");
	is_str(err.message, "the agent was killed by signal 9 (Killed)", "which is told");
	is_str(err.phase, "run", "with the phase");
	err_release(&err);
	is_int(boot_run(boot, &request, &reply, &err), -ERR_INFRA, "there are no more runs");
	boot_stop(boot);
	is_int(processes_with(a), 0, "and nothing is left");
	err_release(&err);
}

static void no_agent(void)
{
	const struct boot_spec spec = {.job = &job, .workdir = "/tmp"};
	struct boot *boot = NULL;
	struct err err = {};
	char *before = xstrdup(getenv("CULPRIT_AGENT"));

	setenv("CULPRIT_AGENT", "/no/such/agent", 1);
	is_int(runner_local.start(&spec, &boot, &err), -ERR_NOT_FOUND, "no agent");
	ok(err.hint, "and what to do");
	err_release(&err);
	setenv("CULPRIT_AGENT", "/bin/true", 1);
	is_int(runner_local.start(&spec, &boot, &err), -ERR_INFRA, "an agent that says nothing");
	is_str(err.phase, "boot", "fails at boot");
	err_release(&err);
	if (before)
		setenv("CULPRIT_AGENT", before, 1);
	else
		unsetenv("CULPRIT_AGENT");
	free(before);
}

/* The agent by itself: it ends when asked to, with nothing left below it or in its memory. */
static void goodbye(void)
{
	autofree char *path = NULL;
	char a[32], script[100];
	autobuf words = {};
	struct proto_run request = {.timeout_ns = NS_PER_S * 60};
	struct proc_result result = {};
	struct err err = {};
	struct proc agent;
	int pair[2];

	if (agent_path(&path, &err) < 0 ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0 ||
	    proc_start(&(struct proc_spec){.argv = (const char *const[]){path, NULL},
					   .stdin_fd = pair[1],
					   .stdout_fd = pair[1],
					   .deadline_ns = clock_deadline_ns(60 * NS_PER_S),
					   .what = "agent"},
		       &agent, &err) < 0)
		exit(1);
	close(pair[1]);
	snprintf(script, sizeof(script), "sleep %s", our_sleep(a, 10));
	for (int i = 0; i < 3; i++)
		strv_push(&request.argv, ((const char *const[]){"sh", "-c", script})[i]);
	proto_run_encode(&request, 1, &words);
	proto_end(&words, proto_begin(&words, PROTO_BYE, 0, 2));
	ok(write(pair[0], words.data, words.len) == (ssize_t)words.len,
	   "an agent is told to run and to end");
	ok(proc_wait(&agent, &result, &err) == 0 && result.end == PROC_EXITED, "it ends");
	is_int(result.code, 0, "as it should");
	is_int(processes_with(a), 0, "and takes the run with it");
	proc_kill(&agent);
	close(pair[0]);
	strv_free(request.argv);
}

/* --- peers that are no agents --- */

static int peer_gone(struct boot *boot, bool running, struct err *err)
{
	return err_set(err, ERR_INFRA, "gone");
}

static void peer_stop(struct boot *boot)
{
	boot_release(boot);
	free(boot);
}

static const struct boot_kind peer_kind = {
	.boot_failure = ERR_UNTESTABLE, .gone = peer_gone, .stop = peer_stop};

static void add_hello(struct buf *out)
{
	size_t start = proto_begin(out, PROTO_HELLO, 0, 0);

	for (int tag = TAG_RELEASE; tag <= TAG_NOTES; tag++)
		proto_add_str(out, tag, "x");
	proto_add_u64(out, TAG_CPUS, 1);
	proto_add_str(out, TAG_FACT, "cpu_model=\x1b[31mred");
	proto_end(out, start);
}

static void say(int fd, const struct buf *words)
{
	if (write(fd, buf_str(words), words->len) != (ssize_t)words->len)
		_exit(1);
}

/* A boot whose peer says something, waits for a request, answers, and closes; without an answer it
 * closes at once, or never where it is to be silent. */
static struct boot *peer(const struct buf *greeting, const struct buf *answer, bool silent)
{
	struct boot *boot = xcalloc(1, sizeof(*boot));
	int pair[2];
	char c;

	fflush(stdout);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		exit(1);
	if (fork() == 0) {
		close(pair[0]);
		say(pair[1], greeting);
		if ((answer || silent) && read(pair[1], &c, 1) == 1 && answer)
			say(pair[1], answer);
		shutdown(pair[1], SHUT_WR);
		while (read(pair[1], &c, 1) == 1)
			;
		_exit(0);
	}
	close(pair[1]);
	boot_init(boot, &peer_kind, pair[0]);
	return boot;
}

static void peer_end(struct boot *boot)
{
	boot_stop(boot);
	wait(NULL);
}

static void greets_badly(const char *name, const struct buf *greeting, const char *message)
{
	struct boot *boot = peer(greeting, NULL, false);
	struct err err = {};

	is_int(boot_greet(boot, clock_deadline_ns(20 * NS_PER_S), &err), -ERR_INFRA, "%s", name);
	is_str(err.message, message, "says so");
	is_str(err.phase, "boot", "and where");
	peer_end(boot);
	err_release(&err);
}

static void bad_greetings(void)
{
	autobuf said = {}, nothing = {};
	size_t start;
	struct boot *boot;
	struct err err = {};

	greets_badly("a peer that closes", &nothing, "gone");
	add_hello(&said);
	buf_truncate(&said, said.len - 1);
	greets_badly("half a greeting", &said, "gone");
	buf_clear(&said);
	proto_end(&said, proto_begin(&said, PROTO_HELLO, 0, 0));
	greets_badly("an empty greeting", &said, "the agent sent a greeting that makes no sense");
	buf_clear(&said);
	start = proto_begin(&said, PROTO_HELLO, 0, 0);
	said.data[start + 4] = 9;
	proto_end(&said, start);
	greets_badly("another version", &said, "the agent speaks another version of the protocol");
	buf_clear(&said);
	for (int i = 0; i < 1100; i++)
		buf_printf(&said, "%01000d", 0);
	greets_badly("a megabyte of noise", &said, "the agent sent what is no protocol");

	boot = peer(&nothing, NULL, true);
	is_int(boot_greet(boot, clock_deadline_ns(50 * NS_PER_MS), &err), -ERR_UNTESTABLE,
	       "a silent peer");
	ok(strstr(err.message, "no word from the agent"), "says so: %s", err.message);
	peer_end(boot);
	err_release(&err);
}

/* What a peer answers to the first run, and what becomes of it: a message, or NULL for a result. */
static void answers(const char *name, const struct buf *answer, const char *message)
{
	const struct run_request request = {SH("true"), .timeout_ns = NS_PER_S, .output_max = 10};
	struct run_reply reply = {};
	struct boot *boot;
	autobuf greeting = {};
	struct err err = {};
	int rc;

	buf_adds(&greeting, "SeaBIOS speaks first\n");
	add_hello(&greeting);
	boot = peer(&greeting, answer, false);
	rc = boot_greet(boot, clock_deadline_ns(20 * NS_PER_S), &err);
	if (rc == 0)
		rc = boot_run(boot, &request, &reply, &err);
	is_int(rc, message ? -ERR_INFRA : 0, "%s", name);
	is_str(err.message, message, message ? "says so" : "no error");
	if (!message)
		is_str(buf_str(&reply.output), "fine", "its output is there");
	run_reply_release(&reply);
	peer_end(boot);
	err_release(&err);
}

static void add_output(struct buf *out, uint32_t seq, const char *text)
{
	size_t start = proto_begin(out, PROTO_OUTPUT, 0, seq);

	buf_adds(out, text);
	proto_end(out, start);
}

static void add_exit(struct buf *out, uint64_t end, uint64_t code)
{
	size_t start = proto_begin(out, PROTO_EXIT, 0, 1);

	proto_add_u64(out, TAG_END, end);
	proto_add_u64(out, TAG_CODE, code);
	proto_end(out, start);
}

static void bad_answers(void)
{
	autobuf a = {};

	add_output(&a, 0, "of another run");
	add_output(&a, 1, "fi");
	buf_adds(&a, "\nrandom: crng init done\n");
	add_output(&a, 1, "ne");
	add_exit(&a, RUN_EXITED, 0);
	answers("words between the frames, and frames of another run", &a, NULL);
	buf_truncate(&a, a.len - 1);
	answers("a result that is cut short", &a, "gone");
	buf_clear(&a);
	add_output(&a, 1, "more than ten bytes");
	answers("more output than asked for", &a, "the agent sent more output than was asked for");
	buf_clear(&a);
	add_exit(&a, 9, 0);
	answers("an end that there is not", &a, "the agent sent a result that makes no sense");
	buf_clear(&a);
	add_exit(&a, RUN_EXITED, UINT64_MAX);
	answers("a code that is no code", &a, "the agent sent a result that makes no sense");
}

static void hostile_facts(void)
{
	autobuf greeting = {};
	struct boot *boot;
	struct err err = {};

	add_hello(&greeting);
	boot = peer(&greeting, NULL, true);
	is_int(boot_greet(boot, clock_deadline_ns(20 * NS_PER_S), &err), 0,
	       "a greeting with an escape in it");
	is_str(json_str(json_get(boot_hello(boot)->environment, "cpu_model")), "?[31mred",
	       "is made safe");
	peer_end(boot);
}

static void excerpt_is(const char *text, const char *want, const char *name)
{
	autobuf got = {};

	console_excerpt(text, &got);
	is_str(buf_str(&got), want, "%s", name);
}

static void excerpts(void)
{
	autobuf text = {}, want = {};

	excerpt_is("", "", "an empty console");
	excerpt_is("\n \nbooting \n\n  done\n", "\n  booting\n  done", "a short one");
	for (int i = 0; i < 100; i++)
		buf_printf(&text, "line %d\n", i);
	excerpt_is(buf_str(&text),
		   "\n  line 92\n  line 93\n  line 94\n  line 95\n  line 96\n  line 97"
		   "\n  line 98\n  line 99",
		   "the end of a long one");
	buf_adds(&text, "BUG: unable to handle page fault\nRIP: f+0x1/0x2\n");
	buf_adds(&want, "\n  BUG: unable to handle page fault\n  RIP: f+0x1/0x2");
	for (int i = 0; i < 50; i++) {
		buf_printf(&text, "R%d: 0\n", i);
		if (i < 6)
			buf_printf(&want, "\n  R%d: 0", i);
	}
	buf_adds(&text, "Kernel panic - not syncing: Fatal exception\nKernel Offset: 0\n");
	buf_adds(&want, "\n  Kernel panic - not syncing: Fatal exception");
	excerpt_is(buf_str(&text), buf_str(&want), "the cause of a panic, and the panic");
	buf_clear(&text);
	buf_printf(&text, "%0500d", 0);
	buf_clear(&want);
	buf_printf(&want, "\n  %0157d...", 0);
	excerpt_is(buf_str(&text), buf_str(&want), "a line that is too long");
}

/* Last: the signal stays asked for. */
static void stop_signal(void)
{
	char a[32], script[200];
	struct boot *boot = start();
	struct run_request request = {SH(script), DEFAULTS};
	struct run_reply reply;
	struct err err = {};

	snprintf(script, sizeof(script), "kill -INT %d; sleep %s", (int)getpid(), our_sleep(a, 9));
	is_int(boot_run(boot, &request, &reply, &err), -ERR_INTERRUPTED,
	       "a stop signal ends the wait");
	boot_stop(boot);
	is_int(processes_with(a), 0, "and the run with it");
	err_release(&err);
}

/* A sanitized build has an agent that is sanitized in full beside the static one. */
static void prefer_sanitized_agent(void)
{
	autofree char *path = NULL, *sanitized = NULL;
	struct err err = {};

	if (getenv("CULPRIT_AGENT") || agent_path(&path, &err) < 0)
		return;
	sanitized = xasprintf("%s-san", path);
	if (access(sanitized, X_OK) == 0)
		setenv("CULPRIT_AGENT", sanitized, 1);
}

int main(void)
{
	signals_init();
	prefer_sanitized_agent();
	greeting();
	ends();
	surroundings();
	deadline();
	much_output();
	leftovers();
	server();
	loud_server();
	agent_dies();
	no_agent();
	goodbye();
	bad_greetings();
	bad_answers();
	hostile_facts();
	excerpts();
	stop_signal();
	return plan_done();
}
