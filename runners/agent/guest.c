// SPDX-License-Identifier: GPL-2.0-or-later
// The agent as a guest's first process: what every program expects to find, and the port to culprit.
#include "runners/agent/agent.h"

#include "harness/base/clock.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <termios.h>

static void mount_all(void)
{
	static const struct {
		const char *type, *where, *options;
	} mounts[] = {
		{"devtmpfs", "/dev", NULL},
		{"proc", "/proc", NULL},
		{"sysfs", "/sys", NULL},
		{"devpts", "/dev/pts", "ptmxmode=0666"},
		{"tmpfs", "/dev/shm", "mode=1777"},
		{"tmpfs", "/tmp", "mode=1777"},
		{"tmpfs", "/run", "mode=0755"},
		{"debugfs", "/sys/kernel/debug", NULL},
	};

	/* A kernel may lack any of them; what needs one says so itself. */
	for (size_t i = 0; i < ARRAY_SIZE(mounts); i++) {
		mkdir(mounts[i].where, 0755);
		mount(mounts[i].type, mounts[i].where, mounts[i].type, MS_NOSUID,
		      mounts[i].options);
	}
}

/* An initramfs without /dev/console starts us without any descriptor. */
static void open_console(void)
{
	int fd = open("/dev/console", O_RDWR | O_NOCTTY);

	if (fd < 0)
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd < STDERR_FILENO)
		fd = dup(fd);
	if (fd > STDERR_FILENO)
		close(fd);
}

static void set_address(int sock, const char *name, const char *address, const char *mask)
{
	struct ifreq request = {};
	struct sockaddr_in in = {.sin_family = AF_INET};

	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", name);
	inet_pton(AF_INET, address, &in.sin_addr);
	memcpy(&request.ifr_addr, &in, sizeof(in));
	ioctl(sock, SIOCSIFADDR, &request);
	inet_pton(AF_INET, mask, &in.sin_addr);
	memcpy(&request.ifr_netmask, &in, sizeof(in));
	ioctl(sock, SIOCSIFNETMASK, &request);
}

/* Loopback, with a second address for benchmarks that want a peer other than 127.0.0.1. */
static void loopback_up(void)
{
	autoclose int sock = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq request = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING | IFF_LOOPBACK};

	if (sock < 0)
		return;
	set_address(sock, "lo", "127.0.0.1", "255.0.0.0");
	set_address(sock, "lo:1", "192.0.2.1", "255.255.255.255");
	ioctl(sock, SIOCSIFFLAGS, &request);
}

/* The last value of `name=value` on the kernel command line; owned, or NULL. */
static char *kernel_option(const char *name)
{
	autofree char *line = fact_line("/proc/cmdline");
	size_t len = strlen(name);
	char *value = NULL;

	for (const char *word = line; *word; word += strspn(word, " ")) {
		size_t word_len = strcspn(word, " ");

		if (word_len > len && strncmp(word, name, len) == 0 && word[len] == '=') {
			free(value);
			value = xstrndup(word + len + 1, word_len - len - 1);
		}
		word += word_len;
	}
	return value;
}

/* Bytes as they are. The speed matters even where no wire is: QEMU hands over the last bytes of a
 * message after four characters' time of silence. */
static void make_raw(int fd)
{
	struct termios t;

	if (tcgetattr(fd, &t) < 0)
		return;
	cfmakeraw(&t);
	cfsetspeed(&t, B115200);
	t.c_cflag |= CLOCAL;
	t.c_cflag &= ~(tcflag_t)CRTSCTS;
	tcsetattr(fd, TCSANOW, &t);
}

/* How long this boot took by the kernel's own clock, for runs that measure just that. */
static void note_ready(void)
{
	autofree char *seconds = xasprintf("%.6f", (double)clock_now_ns() / NS_PER_S);

	setenv("CULPRIT_READY", seconds, 1);
}

bool guest_init(struct guest *ret)
{
	autofree char *port = NULL, *path = NULL, *wait = NULL;
	int fd;

	mount_all();
	open_console();
	loopback_up();
	if (sethostname("culprit", 7) < 0)
		dprintf(STDERR_FILENO, "culprit-agent: host name: %s\n", strerror(errno));
	port = kernel_option("culprit.port");
	path = xasprintf("/dev/%s", port ? port : "ttyS1");
	fd = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (fd < 0) {
		dprintf(STDERR_FILENO, "culprit-agent: cannot open %s: %s\n", path,
			strerror(errno));
		return false;
	}
	make_raw(fd);
	wait = kernel_option("culprit.wait");
	note_ready();
	*ret = (struct guest){.port_fd = fd, .spin = streq(wait, "spin")};
	return true;
}

void guest_end(void)
{
	reboot(RB_AUTOBOOT);
	_exit(1);
}
