#!/bin/sh
# docs/json.md has every key that the program prints in JSON, and none that it does not: both are
# lists of "SCHEMA PATH", the page's from its tables, the program's from runs that need them all.
#
#     json.sh OVL
ovl=$1
case $ovl in
/*) ;;
*) ovl=$PWD/$ovl ;;
esac
. "$(dirname "$0")/lib.sh"
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
trap 'exit 2' HUP INT TERM

trace() {
    "$ovl" export --trace "$@" -o "$scratch/trace.json" && cat "$scratch/trace.json"
}

# Exit statuses do not matter here: broken scenarios print JSON, too.
documents() {
    for scenario in scenarios/*/*.yaml; do
        grep -q '^workload:' "$scenario" || continue
        worth=all
        case $scenario in # thousands of names
        scenarios/mesh/deepseek_*|scenarios/mesh/llama3_*|scenarios/mesh/torchtitan_*) worth=none ;;
        esac
        "$ovl" run --json --worth "$worth" "$scenario"
        "$ovl" check --json "$scenario"
        [ "$worth" = all ] || continue
        grep -q '^variants:' "$scenario" || continue
        "$ovl" compare --json "$scenario"
        "$ovl" compare --json "$scenario" "$("$ovl" check --json "$scenario" |
            sed -n '/"variants": *\[/,/\]/s/^ *"\([^"]*\)",*$/\1/p' | head -n 1)"
    done
    "$ovl" run --json --expand 2 scenarios/tutorial/first.yaml
    "$ovl" run --json tests/lint/json.yaml --set workload.steps=3
    "$ovl" run --json --worth all scenarios/mesh/deepseek_v3.yaml
    "$ovl" check --json tests/cli/mistakes.yaml
    "$ovl" check --json tests/lint/json.yaml
    "$ovl" check --json scenarios/mesh/model_by_shape.yaml --set workload.model.recompute=full
    "$ovl" check --json scenarios/mesh/moe_imbalance.yaml --variant hot
    "$ovl" run --json --gaps --memory --stats tests/lint/json.yaml
    "$ovl" run --json --gaps scenarios/replay/two_ranks.yaml
    "$ovl" run --json scenarios/buckets/last_bucket.yaml --set hardware.gpu.memory=1MiB
    "$ovl" run --json scenarios/pipeline/why_idle.yaml:slow
    "$ovl" run --json --trials 20 scenarios/variation/late_ranks.yaml
    "$ovl" compare --json --trials 20 scenarios/variation/late_ranks.yaml short_prefetch
    "$ovl" compare --json --trials 265 scenarios/variation/pauses.yaml
    "$ovl" run scenarios/buckets/last_bucket.yaml --store "$scratch/runs.db" >/dev/null
    "$ovl" sweep scenarios/buckets/last_bucket.yaml --store "$scratch/runs.db" --over variant=all >/dev/null
    "$ovl" history --points --json --store "$scratch/runs.db"
    for runs in planted shared_gpu; do
        "$ovl" export --trace "scenarios/calibration/$runs.yaml" --variant alone -o "$scratch/alone.json"
        "$ovl" export --trace "scenarios/calibration/$runs.yaml" -o "$scratch/both.json"
        "$ovl" calibrate --json --compute "$scratch/alone.json" --comm "$scratch/alone.json" \
            --overlap "$scratch/both.json" --hbm 2TB/s --sms 108
    done
    "$ovl" calibrate --json --compute "$scratch/alone.json" --compute "$scratch/alone.json" \
        --comm "$scratch/alone.json" --comm "$scratch/alone.json" \
        --overlap "$scratch/both.json" --overlap "$scratch/both.json"
    "$ovl" calibrate --json --two-point accumulation --at 1=3s --at 2=3s
    "$ovl" calibrate --json --two-point accumulation --at 1=3s --at 2=6s --at 3=9s
    "$ovl" calibrate --json --two-point overlap --at 0=3s --at 50%=2s
    "$ovl" calibrate --json scenarios/calibration/all_reduce_perf.log --group dp --via nvlink --base scenarios/hardware/example_8gpu.yaml \
        -o "$scratch/measured.yaml"
    "$ovl" explain --json scenarios/mesh/nic_sharing.yaml:earlier
    "$ovl" explain --json scenarios/mesh/nic_sharing.yaml:slow a
    "$ovl" explain --json scenarios/mesh/nic_sharing.yaml:degraded a
    "$ovl" run --json scenarios/mesh/nic_sharing.yaml:degraded
    "$ovl" run --json tests/cli/many_kernels.yaml
    "$ovl" explain --json scenarios/mesh/hierarchical_phases.yaml:meets x
    "$ovl" explain --json scenarios/mesh/nic_sharing.yaml:earlier --resource nic.out
    "$ovl" explain --json scenarios/contention/hbm_share.yaml:all_sms --resource SMs
    "$ovl" run --json --only both scenarios/first_steps/matmul_allreduce.yaml:overlapped
    "$ovl" explain --json --limits scenarios/contention/shared_nic.yaml
    "$ovl" optimize --json --tries 200 scenarios/buckets/last_bucket.yaml
    "$ovl" optimize --json tests/cli/four_gradients.yaml
    "$ovl" optimize --json --tries 50 scenarios/pipeline/which_schedule.yaml:interleaved \
        --over overlap.pipeline.microbatches=31,32
    "$ovl" optimize --json scenarios/buckets/resnet50_ddp.yaml --set 'hardware.collectives[0].beta=1GB/s' \
        --set 'hardware.collectives[0].alpha=1ms'
    "$ovl" optimize --json scenarios/buckets/last_bucket.yaml --over variant=all \
        --set 'workload.gradients[6].ready=202ms' --set 'hardware.collectives[0].alpha=3 ms'
    "$ovl" sweep --json scenarios/buckets/last_bucket.yaml --solve workload.backward --for 'step=220 ms'
    "$ovl" sweep --json scenarios/buckets/last_bucket.yaml --solve 'hardware.collectives[0].beta' \
        --for 'step=205 ms'
    "$ovl" sweep --json scenarios/buckets/last_bucket.yaml --solve 'workload.gradients[6].ready' \
        --for 'step=214 ms'
    "$ovl" sweep --json scenarios/buckets/last_bucket.yaml --solve workload.microbatches \
        --for 'step=640 ms' --between 1..8
    "$ovl" sweep --json scenarios/buckets/last_bucket.yaml --where 'step<1ms' \
        --over 'hardware.collectives[0].alpha=1ms,2ms'
    "$ovl" sweep --json scenarios/buckets/last_bucket.yaml --where 'peak<1GiB' \
        --over 'hardware.collectives[0].alpha=1ms,2ms' --over interference=measured,x
    "$ovl" sweep --json scenarios/buckets/last_bucket.yaml --over overlap.ddp.no_sync=true,false
    trace tests/lint/json.yaml
    trace scenarios/pipeline/why_idle.yaml
    trace scenarios/buckets/last_bucket.yaml
}

# Names that the page gives once for many keys.
collapse() {
    sed -E "s#(decomposition_s|delta_s)\.(compute|compute_stretch|comm_latency|comm_transfer|comm_stretch|copy|wait_late_rank|idle)\$#\1.TERM#
        s#(category_bytes|\.bytes|allocated)\.(parameter|gradient|optimizer|activation|gathered|reduce|temporary)\$#\1.CATEGORY#
        s#ranks\[\]\.(live|allocated|reserved)_peak( |\.|\$)#ranks[].PEAK\2#
        s#delta_idle_s\.(fill|drain|imbalance|dependency|schedule|host|pause)\$#delta_idle_s.KIND#
        s#kinds\.(kernel|collective|send|recv|batch|copy|host|marker)\$#kinds.KIND#
        s#(buffer_bytes|args)\.(parameter|gradient|optimizer|activation|gathered|reduce|temporary)\$#\1.CATEGORY#
        s#(points|runs)\[\]\.(values|metrics)\..*#\1[].\2.\U\2#
        s#\.VALUES\$#.KEY#; s#\.METRICS\$#.METRIC#
        s#^none#trace#"
}

documents 2>/dev/null | awk -f tests/lint/json_keys.awk | collapse | sort -u >"$scratch/printed"
awk '/^## `/ { split($0, part, "`"); schema = part[2] }
     /^\| `/ { split($0, part, "`"); print schema, part[2] }' docs/json.md | sort >"$scratch/page"

for key in $(uniq -d "$scratch/page" | tr ' ' :); do
    fail "docs/json.md has twice: $key"
done
comm -23 "$scratch/printed" "$scratch/page" >"$scratch/unknown"
comm -13 "$scratch/printed" "$scratch/page" >"$scratch/unused"
while read -r key; do
    fail "docs/json.md has no row for: $key"
done <"$scratch/unknown"
while read -r key; do
    fail "docs/json.md, never printed: $key"
done <"$scratch/unused"
finish
