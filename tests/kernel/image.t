#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Kernels that were not built here: two of Debian's packages boot, load modules, are compared, and are
# told by their build-ids.
. "$(dirname "$0")/../t/lib.sh"

command -v qemu-system-x86_64 >/dev/null || skip_all "no qemu-system-x86_64"
command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || skip_all "no apt-get"
mapfile -t packages < <(apt-cache pkgnames linux-image- | grep -E '^linux-image-[0-9.+a-z-]+-cloud-amd64$' | sort -V | tail -2)
[ "${#packages[@]}" = 2 ] || skip_all "apt knows no two linux-image-*-cloud-amd64 packages"
store=$XDG_CACHE_HOME/debian-kernels # downloaded once where the cache stays
mkdir -p "$store"
for p in "${packages[@]}"; do
	if [ ! -e "$store/$p" ]; then
		rm -rf "$TMP/deb" && mkdir "$TMP/deb"
		(cd "$TMP/deb" && apt-get download -qq "$p") >"$TMP/apt.log" 2>&1 ||
			skip_all "apt cannot download $p: $(tail -1 "$TMP/apt.log")"
		dpkg-deb -x "$TMP"/deb/*.deb "$TMP/deb/root" && mv "$TMP/deb/root" "$store/$p" || skip_all "cannot unpack $p"
	fi
done
images=() modules=()
for p in "${packages[@]}"; do
	images+=("$(echo "$store/$p"/boot/vmlinuz-*)")
	modules+=("$(echo "$store/$p"/lib/modules/*)")
done

job() { # REST: hackbench, short, in few boots
	cat <<X
culprit: 1
name: image
kernel: {base: tinyconfig}
qemu: {cpus: 1, memory: 512M, clock: icount}
guest: {programs: [hackbench]}
run: {command: 'hackbench -g 1 -l 50', timeout: 5m}
metrics:
  time: {unit: s, better: lower, pattern: '^Time: ([0-9.]+)', kpi: true}
iterate: {min: 1, max: 1}
$*
X
}
job 'boots: {min: 2, max: 2}' >"$TMP/two.yaml"
job 'boots: {min: 1, max: 1}
setup: {command: "modprobe veth && grep -q ^veth /proc/modules"}' >"$TMP/module.yaml"

run culprit --json compare "$TMP/two.yaml" --image "${images[0]}" --image "${images[1]}"
ok "$([ "$status" -le 2 ]; echo $?)" "two images are compared" || printf '%s\n' "$err" | tail -5 | sed 's/^/# /'
is "$(json '[s["build_id"] is not None and len(s["build_id"]) for s in d["sides"]]')" "[40, 40]" "each has its build-id"
is "$(json 'd["sides"][0]["build_id"] != d["sides"][1]["build_id"]')" true "which is another"
is "$(json '[s["boots"] for s in d["rows"][0]["sides"]]')" "[2, 2]" "both gave values in two boots"
json '"# %s: %+.2f%%, %s" % (d["rows"][0]["metric"], d["rows"][0]["percent"], d["rows"][0]["verdict"])'
second=$(json 'd["sides"][1]["build_id"]')
run culprit report 1
like "$out" "B  vmlinuz-[^ ]* +build-id $second" "the report names file and build-id"

# the same file under another name is the same kernel; its package has no modules.dep, which depmod makes
cp "${images[1]}" "$TMP/copy"
run culprit --json run "$TMP/module.yaml" --image "$TMP/copy" --modules "${modules[1]}"
is "$status" 0 "an image with its modules runs, and a setup loads one"
is "$(json 'd["build_id"]')" "$second" "the build-id is the file's, whatever its name"
like "$(sqlite3 "$XDG_STATE_HOME/culprit/culprit.db" 'SELECT identity FROM kernels ORDER BY id DESC LIMIT 1')" '^veth [0-9a-f]{40}$' \
	"the module's build-id is part of the identity"
run culprit -q run "$TMP/module.yaml" --image "$TMP/copy"
is "$status" 128 "without its modules the setup fails"
like "$err" "setup exited" "and it is said that it was the setup"

mkdir -p "$TMP/zstd/lib/modules/1.0/kernel"
touch "$TMP/zstd/lib/modules/1.0/modules.order" "$TMP/zstd/lib/modules/1.0/kernel/a.ko.zst"
run culprit -q run "$TMP/module.yaml" --image "$TMP/copy" --modules "$TMP/zstd/lib/modules/1.0"
is "$status" 129 "modules that nothing in the guest can read are refused"
like "$err" "zstd -d" "with what to do"
run culprit -q compare "$TMP/two.yaml" --image "${images[0]}" --image "${images[1]}" --modules "${modules[0]}"
is "$status" 129 "one directory of modules for two images is refused"
finish
