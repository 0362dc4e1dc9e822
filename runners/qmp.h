// SPDX-License-Identifier: GPL-2.0-or-later
// QEMU's control protocol, as much as is needed to know how a machine ended.
#pragma once

#include "harness/base/buf.h"
#include "harness/base/loop.h"

/*
 * Lines of JSON both ways. We enable it, listen to its events, and when the machine stops without
 * ending ask why. Nothing here fails: a monitor that talks nonsense leaves everything unknown.
 */
struct qmp {
	struct loop *loop;
	int fd; /* owned; -1 once closed */
	struct buf in;
	bool by_guest;	  /* it ended because the guest reset or shut down */
	char reason[32];  /* of the end: "guest-reset", "guest-shutdown", ... or "" */
	char stopped[32]; /* state of a machine that stands still: "internal-error", ... or "" */
};
void qmp_init(struct qmp *qmp, int fd, struct loop *loop); /* watched in the loop from here on */
void qmp_drain(struct qmp *qmp); /* reads what is there; for last words after QEMU has ended */
void qmp_release(struct qmp *qmp);
