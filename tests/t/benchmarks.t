#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Every job in jobs/: `culprit check` accepts it, and it reads from real outputs what a person reads there.
. "$(dirname "$0")/lib.sh"
data=$root/tests/data/benchmarks
jobs=$root/jobs

# JOB FIXTURE CELL-OR-- NAME=VALUE...; a name without a value is an error, one with nothing behind = is absent
table='
boot-time boot-time.txt - ready=1.548052
cyclictest cyclictest.txt - average=57.5 minimum=8 maximum=1923
dbench dbench.txt clients=1 throughput=164.355 max_latency=18.587 average.NTCreateX=0.028 average.Close=0.004 average.Unlink=0.428 average.Find=0.048 average.WriteX=0.014 average.ReadX=0.005 average.Flush=3.699
dbench hackbench-old.txt clients=1 throughput max_latency average.Close=
fio fio.json rw=randread iops=12236.763237 read_iops=12236.763237 write_iops=0 read_latency=78.919633929 write_latency=0 read_percentile.50.000000=54.016 read_percentile.99.000000=333.824 read_percentile.99.900000=4112.384 write_percentile.50.000000= write_percentile.99.000000= write_percentile.99.900000=
hackbench hackbench-old.txt ipc=pipe,model=process time=12.922
hackbench hackbench-pipe-thread.txt ipc=pipe,model=threads time=0.194
hackbench hackbench-socket-process.txt ipc=socket,model=process time=0.525
huge-pages stress-ng-vm.txt huge=always ops=4958.91 ops_by_cpu_time=16735.54
iperf3 iperf3.json streams=1 received=14601.533235983753 sent=14645.457172037655 retransmits=0 sender_cpu=31.060720609593538 receiver_cpu=68.0534597114857
iperf3 iperf3-refused.json streams=1 received sent retransmits= sender_cpu= receiver_cpu=
kernbench kernbench.txt - elapsed=122.11 user=44.58 system=18.61
memory stress-ng-fork.txt stressor=fork ops=54.47 ops_by_cpu_time=172.71
netperf-tcp-crr netperf-tcp_crr.txt clients=1 transactions=11948.85 per_client=11948.85 slowest_client=11948.85 width=
netperf-tcp-crr netperf-no-netserver.txt clients=1 transactions per_client slowest_client width=
netperf-tcp-rr netperf-tcp_rr.txt clients=1 transactions=28287.81 per_client=28287.81 slowest_client=28287.81 width=
netperf-tcp-rr netperf-tcp_rr-verbose.txt clients=1 transactions=41468.76 per_client=41468.76 slowest_client=41468.76 width=
netperf-tcp-rr netperf-tcp_rr-cpu.txt clients=1 transactions=41394.33 per_client=41394.33 slowest_client=41394.33 width=
netperf-tcp-sendfile netperf-tcp_sendfile.txt clients=1 throughput=8762.07 per_client=8762.07 slowest_client=8762.07 width=
netperf-tcp-stream netperf-tcp_stream.txt clients=1 throughput=5881.19 per_client=5881.19 slowest_client=5881.19 width=
netperf-tcp-stream netperf-tcp_stream-interim.txt clients=1 throughput=6571.61 per_client=6571.61 slowest_client=6571.61 width=
netperf-tcp-stream netperf-tcp_stream-verbose.txt clients=1 throughput=8901.87 per_client=8901.87 slowest_client=8901.87 width=
netperf-tcp-stream netperf-tcp_stream-two.txt clients=2 throughput=12930.85 per_client=6465.425 slowest_client=6359.24 width=
netperf-udp-rr netperf-udp_rr.txt clients=1 transactions=42706.76 per_client=42706.76 slowest_client=42706.76 width=
netperf-udp-rr netperf-udp_rr-unconverged.txt clients=1 transactions=43118.04 per_client=43118.04 slowest_client=43118.04 width=114.074
netperf-udp-stream netperf-udp_stream.txt size=1024 received=297 sent=697.55 loss=57.42240699591427 width=
netperf-udp-stream netperf-udp_stream-converged.txt size=4096 received=990.35 sent=2949.68 loss=66.42517154403189 width=
netperf-udp-stream netperf-udp_stream-unconverged.txt size=64 received=17.89 sent=43.12 loss=58.51113172541744 width=53.826
netperf-udp-stream netperf-udp_stream-cpu.txt size=64 received=12706.2 sent=48683.2 loss=73.90023663 width=
netperf-udp-stream netperf-udp_stream-bare.txt size=64 received=15267.05 sent=45711.57 loss=66.60134404 width=
netperf-udp-stream netperf-udp_stream-mbytes.txt size=64 received sent loss width=
netperf-udp-stream netperf-omni-keyval.txt size=64 received=556.61 sent=929.66 loss=40.12757352150249 width=
netperf-udp-stream-clients netperf-udp_stream.txt clients=1 received=297 sent=697.55 loss=57.42240699591427 per_client=297 slowest_client=297 width=
netpipe netpipe-curve.txt - less_8K_usec=10.514516129032257 bigger_5M_Mbps=28803.303333333333 latency.1=10.05 latency.64=9.62 latency.1024=9.81 latency.8192=9.81 latency.65536=15.19 latency.1048576=278.13 latency.8388608=2316.97 bandwidth.1=0.76 bandwidth.64=50.75 bandwidth.1024=796.62 bandwidth.8192=6370.28 bandwidth.65536=32910.13 bandwidth.1048576=28763.32 bandwidth.8388608=27622.23
netpipe netpipe.txt - less_8K_usec=19.113225806451613 bigger_5M_Mbps latency.1=12.43 latency.64=12.54 latency.1024=27.88 latency.8192=13.25 latency.65536= latency.1048576= latency.8388608= bandwidth.1=0.61 bandwidth.64=38.94 bandwidth.1024=280.24 bandwidth.8192=4717.43 bandwidth.65536= bandwidth.1048576= bandwidth.8388608=
perf-bench-messaging perf-bench-sched-messaging.txt ipc=socket,model=process time=0.152
perf-bench-pipe perf-bench-sched-pipe.txt - time=0.203 usec_per_op=10.19585 ops=98079
perf-bench-pipe perf-bench-sched-pipe-simple.txt - time=0.185 usec_per_op= ops=
ping-flood ping-flood.txt steering=off,load=none usec=9 time=18 sent=2000 loss=0 rtt=0.004 softnet_processed= softnet_squeezed= softnet_steered=
ping-flood ping-flood-steered.txt steering=on,load=none usec=41.15 time=823 sent=20000 loss=0 rtt=0.005 softnet_processed=40000 softnet_squeezed=0 softnet_steered=227
reclaim fio-reclaim.txt - iops=1772.681954 latency=531.865698538 scanned= reclaimed=
stress-ng stress-ng.txt stressor=futex ops=1167.38 ops_by_cpu_time=1245.3
stress-ng stress-ng-three.txt stressor=futex ops ops_by_cpu_time
sysbench sysbench-cpu.txt test=cpu,threads=1 events=2828.585707146427 count=2830 time=1.0005 latency=0.7 latency_95=4.33 max_latency=16.43
sysbench sysbench-memory.txt test=memory,threads=1 events=4107230.709 count=2097152 time=0.5106 latency=0 latency_95=0 max_latency=4.14
sysbench sysbench-threads.txt test=threads,threads=1 events=381.1681276 count=387 time=1.0153 latency=20.89 latency_95=31.37 max_latency=105.7
tbench tbench.txt clients=1 throughput=432.422 max_latency=3.896 average.NTCreateX=0.024 average.Close=0.024 average.Unlink=0.024 average.Find=0.024 average.WriteX=0.033 average.ReadX=0.025 average.Flush=0.025
'

for job in "$jobs"/*.yaml; do
	name=$(basename "$job" .yaml)
	run culprit check "$job"
	is "$status" 0 "$name: accepted"
	like "$out" "^$name: " "$name: called like its file"
	grep -q "^$name " <<<"$table"
	ok $? "$name: has an output to be read"
	like "$(tr '\n' ' ' <<<"$out")" 'Good (for|to|as) .*; bad ' "$name: says what it is good and bad for"
	like "$out" 'KPI$' "$name: has a KPI"
	grep -q '^packages:\|^include: include/netperf' "$job"
	ok $? "$name: names its packages"
done

# what is read, in the form of the table: what differs is printed
compare='
import json, sys
d, want = json.load(sys.stdin), dict(w.partition("=")[::2] if "=" in w else (w, None) for w in sys.argv[1:])
got = {m["name"]: m["value"] for m in d["metrics"]}
bad = [e["metric"] for e in d["errors"]]
for name, value in want.items():
    if value is None:
        ok = name in bad and name not in got
    elif value == "":
        ok = name not in bad and name not in got
    else:
        ok = name in got and abs(got[name] - float(value)) <= 1e-8 * abs(float(value))
    if not ok:
        print(name, "is", got.get(name), "wanted", value)
print(*sorted((set(got) | set(bad)) - set(want)))
'
while read -r name fixture cell wanted; do
	[ -n "$name" ] || continue
	where=()
	[ "$cell" = - ] || where=(--cell "$cell")
	case $cell in clients=*) where=() ;; esac # what a share of the CPUs comes to differs between machines
	"$culprit" parse "$jobs/$name.yaml" "${where[@]}" --json <"$data/$fixture" >"$TMP/out" 2>"$TMP/err"
	# shellcheck disable=SC2086
	is "$(python3 -c "$compare" $wanted <"$TMP/out" 2>&1)" "" "$name reads $fixture"
done <<<"$table"

# the worked example of the manual, exactly as it stands there
manual=$root/docs/adding-a-benchmark.md
mkdir -p "$XDG_CONFIG_HOME/culprit/jobs"
sed -n '/^```yaml$/,/^```$/p' "$manual" | sed '1d;$d' >"$XDG_CONFIG_HOME/culprit/jobs/iperf3-udp.yaml"
run culprit check iperf3-udp
is "$status" 0 "the manual's example: accepted"
like "$out" '^  size=1024,seconds=10$' "with its cells"
read -r _ fixture cell wanted < <(sed -n 's/^    \(iperf3-udp iperf3-udp.json \)/\1/p' "$manual")
"$culprit" parse iperf3-udp --cell "$cell" --json <"$data/$fixture" >"$TMP/out" 2>"$TMP/err"
# shellcheck disable=SC2086
is "$(python3 -c "$compare" $wanted <"$TMP/out" 2>&1)" "" "reads its output as the manual says"
if command -v iperf3 >/dev/null; then
	# as it stands but for its length
	printf '%s\n' 'culprit: 1' 'name: once' 'include: iperf3-udp.yaml' 'parameters: {seconds: 1}' \
		'boots: {min: 1, max: 1}' 'iterate: {min: 1, max: 1}' >"$XDG_CONFIG_HOME/culprit/jobs/once.yaml"
	run culprit run once --here --cell size=1024 --json
	is "$(json 'sorted(r["metric"] for r in d["rows"] if r["runs"] == 1)')" \
		'["jitter", "loss", "received", "sent"]' "and runs, with a value for each metric"
else
	skip "iperf3 is not installed"
fi

# a program that is missing
sed 's/programs: .*/programs: [nosuchprogram]}/; s/^packages: .*/packages: [non-free\/nosuch]/' \
	"$jobs/hackbench.yaml" >"$TMP/missing.yaml"
sed -i "s,\[kconfig/,[$jobs/kconfig/," "$TMP/missing.yaml"
run culprit check "$TMP/missing.yaml"
is "$status" 0 "a job whose program is missing is a good job"
like "$out" "^warning: program 'nosuchprogram' is missing on this machine: apt-get install nosuch, nosuch is in Debian's component non-free" "with a warning"
run culprit run "$TMP/missing.yaml" --here
is "$status" 128 "which does not run"
like "$err" "nosuchprogram.* is missing" "names the program"
like "$err" "apt-get install nosuch" "and the package"

# --here
run culprit run hackbench HEAD --here
is "$status" 129 "--here and a revision"
run culprit run "$root/jobs/demo/quick.yaml" --here
is "$status" 129 "--here and a job that measures what it builds"
like "$err" "key 'build'" "and why"

# what netperf does without a word
netperf() { # OPTIONS SEVERAL
	printf 'culprit: 1\nrun: {command: "for i in 1 2; do netperf -t UDP_STREAM %s -- -i 99,1 %s done; wait"}\nmetrics: {m: {better: lower, key: x}}\nparameters: {most: 40}\n' \
		"$1" "$2" >"$TMP/netperf.yaml"
	run culprit check "$TMP/netperf.yaml"
	grep '^warning: .*netperf' <<<"$out" | sed 's/^warning: //'
}
cut="netperf cuts '-i 40,3' to 30 repetitions without a word; iterate: has no such limit"
apart="several clients with netperf's '-i 30,3' stop at different times, and no longer overlap: make both equal"
is "$(netperf '-i 40,3 -I 99,5' ';')" "$cut" "netperf -i beyond 30"
is "$(netperf '-i $most,3' ';')" "$cut" "out of a parameter"
is "$(netperf '-i40,3' ';')" "$cut" "without a blank"
is "$(netperf '-i 40' ';')" "${cut/40,3/40,40}" "one number for both"
is "$(netperf '-i 30,3' ';')" "" "30 is fine"
is "$(netperf '-i 30,3' '&')" "$apart" "several clients, with different numbers"
is "$(netperf '-i 30,3' '>x 2>&1 ;')" "" "a redirection is no second client"
is "$(netperf '-i 10,10' '&')" "" "several clients, with equal numbers"
is "$(netperf '' '&')" "" "none asked for"
finish
