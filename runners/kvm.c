// SPDX-License-Identifier: GPL-2.0-or-later
// Whether KVM works, proved by booting with it: a device that opens and makes a machine proves nothing.
#include "runners/runner.h"

#include "harness/base/clock.h"
#include "harness/base/proc.h"

#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>

#ifdef __x86_64__
/*
 * A boot sector that goes the way of every kernel: the firmware loads it in real mode, it makes page
 * tables, enters long mode and says so on the debug port, whose value QEMU turns into its exit status.
 */
extern const char kvm_guest[], kvm_guest_end[];
__asm__(".pushsection .rodata\n"
	".globl kvm_guest, kvm_guest_end\n"
	"kvm_guest:\n"
	".code16\n"
	"	cli\n"
	"	xorw %ax, %ax\n"
	"	movw %ax, %ds\n"
	"	movw %ax, %es\n"
	"	movw $0x1000, %di\n" /* three tables below us: all of the first 2 MB, one to one */
	"	movw $0x1800, %cx\n"
	"	rep stosw\n"
	"	movw $0x2003, 0x1000\n"
	"	movw $0x3003, 0x2000\n"
	"	movw $0x0083, 0x3000\n"
	"	movl $0x20, %eax\n" /* PAE */
	"	movl %eax, %cr4\n"
	"	movl $0x1000, %eax\n"
	"	movl %eax, %cr3\n"
	"	movl $0xc0000080, %ecx\n" /* EFER: long mode */
	"	rdmsr\n"
	"	orl $0x100, %eax\n"
	"	wrmsr\n"
	"	lgdtw 0x7c00 + kvm_gdt_pointer - kvm_guest\n"
	"	movl %cr0, %eax\n"
	"	orl $0x80000001, %eax\n" /* paging and protection at once */
	"	movl %eax, %cr0\n"
	"	ljmpl $8, $(0x7c00 + kvm_long_mode - kvm_guest)\n"
	".code64\n"
	"kvm_long_mode:\n"
	"	movl $0x2a, %eax\n"
	"	movw $0x501, %dx\n"
	"	outb %al, %dx\n"
	"1:	hlt\n"
	"	jmp 1b\n"
	".balign 8\n"
	"kvm_gdt:\n"
	"	.quad 0, 0x00209a0000000000\n"
	"kvm_gdt_pointer:\n"
	"	.word 15\n"
	"	.long 0x7c00 + kvm_gdt - kvm_guest\n"
	"kvm_guest_end:\n"
	".popsection\n");

enum { SIGN_OF_LIFE = 0x2a << 1 | 1 };

static int make_disk(struct err *err)
{
	char sector[512] = {};
	autoclose int fd = memfd_create("culprit-kvm", MFD_CLOEXEC);

	memcpy(sector, kvm_guest, kvm_guest_end - kvm_guest);
	sector[510] = 0x55;
	sector[511] = (char)0xaa;
	if (fd < 0 || write(fd, sector, sizeof(sector)) != sizeof(sector))
		return err_errno(err, "cannot make a disk in memory");
	return take_fd(&fd);
}

/* Boots it with the accelerator: 0, or an error whose message says why it does not work. */
static int boot_guest(const char *accel, struct err *err)
{
	autoclose int disk = make_disk(err);
	const struct proc_spec spec = {
		.argv = (const char *const[]){ "qemu-system-x86_64", "-nodefaults", "-display", "none",
					       "-no-reboot", "-accel", accel, "-m", "16M", "-device",
					       "isa-debug-exit", "-drive",
					       "file=/proc/self/fd/0,format=raw,if=ide", NULL },
		.stdin_fd = disk,
		.deadline_ns = clock_deadline_ns(5 * NS_PER_S),
		.what = "qemu",
	};
	autobuf said = {}, line = {};
	struct proc_result result;
	char how[96];

	if (disk < 0 || proc_run(&spec, NULL, &said, 4096, &result, err) < 0)
		return -(int)err->code;
	if (result.end == PROC_EXITED && result.code == SIGN_OF_LIFE)
		return 0;
	if (result.end == PROC_DEADLINE)
		return err_set(err, ERR_INFRA, "a guest shows no sign of life under it");
	buf_add_safe(&line, buf_str(&said), strcspn(buf_str(&said), "\n"), 200, false);
	return err_set(err, ERR_INFRA, "qemu %s%s%s", proc_describe(&result, how), line.len ? ": " : "",
		       buf_str(&line));
}
#else
static int boot_guest(const char *accel, struct err *err)
{
	return err_set(err, ERR_INFRA, "this is no x86-64 machine");
}
#endif

int qemu_kvm_works(char **ret_why)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static int known = -1;
	static char why[256];
	ERR_CLEANUP struct err err = {};
	int works;

	pthread_mutex_lock(&lock);
	if (known < 0) {
		works = boot_guest("kvm", &err) == 0;
		if (err.code != ERR_INTERRUPTED)
			known = works;
		snprintf(why, sizeof(why), "%s", works ? "" : err.message);
	}
	works = known == 1;
	if (ret_why)
		*ret_why = works ? NULL : xstrdup(why);
	pthread_mutex_unlock(&lock);
	return works;
}
