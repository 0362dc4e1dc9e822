#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The QEMU runner on a kernel built from source: boots, floods, panics, hangs, hangs that print, signals.
. "$(dirname "$0")/../t/lib.sh"

tarball=$(ls /usr/src/linux-source-6.1.tar.xz 2>/dev/null) || skip_all "no linux-source-6.1 tarball"
command -v qemu-system-x86_64 >/dev/null || skip_all "no qemu-system-x86_64"
mkdir -p "$XDG_CACHE_HOME"
"$root/jobs/demo/make-history" --seed 1 --tarball "$tarball" --base-cache "$XDG_CACHE_HOME/demo-base" \
	--out "$TMP/linux" >/dev/null || skip_all "no history"
run culprit --repo "$TMP/linux" -q run "$root/jobs/demo/hackbench-demo.yaml" demo-good
[ "$status" = 0 ] || { echo "Bail out! $err"; exit 1; }
key=$(sqlite3 "$XDG_STATE_HOME/culprit/culprit.db" 'SELECT key FROM kernels')
CULPRIT_TEST_IMAGE=$(find "$XDG_CACHE_HOME/culprit/kernels/$key" -name bzImage)
export CULPRIT_TEST_IMAGE
"$BUILD/tests/test_qemu"
