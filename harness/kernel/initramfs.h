// SPDX-License-Identifier: GPL-2.0-or-later
// The guest's root file system: the agent as /init, busybox, and the programs a job asks for.
#pragma once

#include "harness/base/err.h"

/*
 * Makes CACHE/initramfs/HASH.cpio, or finds it there, and returns its path (owned). HASH covers
 * every byte of it: equal content, one file; nothing of the host's clock, users or directory order
 * gets in.
 *
 * agent is the static culprit-agent, put at /init. programs (or NULL) are names along PATH or
 * paths, each put into the guest with its interpreter and shared libraries; one that is a script
 * brings what its #! line names, unless busybox has it. What does not lie in a bin directory of the
 * system goes to /usr/bin. An absolute path of a file that is no program is data, and stays where it
 * is. modules_dir (or NULL) is copied to /lib/modules; it holds a directory a release, or is one
 * itself, which gets a modules.dep by depmod if it lacks one.
 *
 * ERR_NOT_FOUND: a program or library that does not exist, with the Debian package to install where
 * known. ERR_USAGE: modules that modprobe in the guest could not load.
 */
int initramfs_make(const char *cache_dir, const char *agent, char *const *programs,
		   const char *modules_dir, char **ret_path, struct err *err);
