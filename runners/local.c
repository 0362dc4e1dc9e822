// SPDX-License-Identifier: GPL-2.0-or-later
// The local runner: a boot is a fresh agent on this host, in the commit's worktree.
#include "runners/client.h"

#include "harness/base/clock.h"
#include "harness/base/proc.h"

#include <sys/socket.h>

struct local_boot {
	struct boot boot;
	struct proc agent;
};

static int local_gone(struct boot *boot, bool running, struct err *err)
{
	struct local_boot *l = container_of(boot, struct local_boot, boot);
	struct proc_result result;
	char how[96];

	l->agent.deadline_ns = clock_deadline_ns(5 * NS_PER_S);
	if (proc_wait(&l->agent, &result, err) < 0)
		return -(int)err->code;
	return err_set(err, ERR_INFRA, "the agent %s", proc_describe(&result, how));
}

static void local_stop(struct boot *boot)
{
	struct local_boot *l = container_of(boot, struct local_boot, boot);

	proc_kill(&l->agent);
	boot_release(boot);
	free(l);
}

static const struct boot_kind local_kind = {
	.boot_failure = ERR_INFRA,
	.gone = local_gone,
	.stop = local_stop,
};

static int start_agent(const struct boot_spec *spec, struct proc *ret, int *ret_fd, struct err *err)
{
	autofree char *path = NULL;
	int pair[2], rc;

	rc = agent_path(&path, err);
	if (rc < 0)
		return rc;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return err_errno(err, "cannot make a socket pair");
	rc = proc_start(
		&(struct proc_spec){
			.argv = (const char *const[]){path, NULL},
			.cwd = spec->workdir,
			.stdin_fd = pair[1],
			.stdout_fd = pair[1],
			.deadline_ns = NO_DEADLINE,
			.what = "culprit-agent",
		},
		ret, err);
	close(pair[1]);
	if (rc < 0)
		close(pair[0]);
	else
		*ret_fd = pair[0];
	return rc;
}

static int local_start(const struct boot_spec *spec, struct boot **ret, struct err *err)
{
	struct local_boot *l = xcalloc(1, sizeof(*l));
	int fd = -1, rc;

	rc = start_agent(spec, &l->agent, &fd, err);
	if (rc < 0) {
		free(l);
		err_phase(err, "boot");
		return rc;
	}
	boot_init(&l->boot, &local_kind, fd);
	rc = boot_greet(&l->boot, clock_deadline_ns(30 * NS_PER_S), err);
	if (rc < 0) {
		local_stop(&l->boot);
		return rc;
	}
	*ret = &l->boot;
	return 0;
}

static int local_machine(const struct job *job, char **ret, struct err *err)
{
	*ret = xstrdup("local");
	return 0;
}

static void local_describe(const struct job *job, struct json *fingerprint)
{
	host_describe(fingerprint);
}

const struct runner_ops runner_local = {
	.name = "local",
	.start = local_start,
	.stop = boot_stop,
	.machine = local_machine,
	.describe = local_describe,
};
