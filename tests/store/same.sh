#!/bin/sh
# A sweep of 1,000 points prints the same bytes however it was simulated: by one thread and two, by
# one process and three of mpirun, in parts that share a store, in parts put together, and
# interrupted and resumed.
#
#     same.sh OVL
case $1 in
/*) ovl=$1 ;;
*) ovl=$PWD/$1 ;;
esac
root=$(cd "$(dirname "$0")/../.." && pwd)
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
trap 'exit 2' HUP INT TERM
cd "$scratch" || exit 2
wrong=0

sweep() {
    "$ovl" sweep "$root/scenarios/buckets/last_bucket.yaml" \
        --over 'hardware.collectives[0].alpha=0.01ms..10ms+0.01' "$@"
}

# One whose points take long enough to be ended among them; it has a bucket_cap axis of its own.
long_sweep() {
    "$ovl" sweep "$root/scenarios/buckets/resnet50_ddp.yaml" \
        --over 'hardware.collectives[0].alpha=0.01ms..1.5ms+0.01' "$@"
}

# The same in the background; $sweep is its process, and what it prints is in $1.
begin() {
    to=$1
    shift
    "$ovl" sweep "$root/scenarios/buckets/resnet50_ddp.yaml" \
        --over 'hardware.collectives[0].alpha=0.01ms..1.5ms+0.01' --jobs 1 "$@" >"$to" 2>&1 &
    sweep=$!
}

# The file $1 is what one thread gives, here in one.json or in $2.
same() {
    cmp "${2:-one.json}" "$1" && printf 'ok   %s\n' "$1" && return
    printf 'FAIL %s\n' "$1"
    wrong=1
}

sweep --json --jobs 1 -o one.json || exit 2
sweep --json --jobs 2 -o two_threads.json
same two_threads.json
sweep --json --store stored.db -o stored.json
same stored.json

for part in 1 2 3; do
    sweep --store shared.db --shard $part/3 2>"$part.txt" &
done
wait
sweep --json --store shared.db --resume -o shared.json
same shared.json

for part in 1 2 3; do
    sweep --store part$part.db --shard $part/3 2>"$part.txt"
done
sweep --json --store merged.db --merge part1.db --merge part2.db --merge part3.db -o merged.json
same merged.json

# Ends $sweep by the signal $2 once some points are in the store $1 (jobs in the background ignore
# SIGINT). The sweep stands still while the store is looked into: it may be faster than the look.
# If it is over before anything was seen there are several tries.
end_by() {
    while kill -STOP "$sweep" 2>/dev/null; do
        "$ovl" history --points --limit 1 --csv --store "$1" 2>/dev/null | grep -q alpha && break
        kill -CONT "$sweep"
        sleep 0.03
    done
    kill -"$2" "$sweep" 2>/dev/null
    kill -CONT "$sweep" 2>/dev/null
    wait "$sweep" 2>/dev/null
}
told=
for try in 1 2 3 4 5 6 7 8 9; do
    rm -f cut.db*
    begin cut.txt --store cut.db
    end_by cut.db TERM
    status=$?
    told=$(grep 'interrupted: .* of 1,050 points done and kept in cut.db; --resume goes on' cut.txt)
    [ "$told" ] && break
done
[ "$told" ] && [ $status = 143 ] || { printf 'FAIL interrupted: %s\n' "$status"; cat cut.txt; wrong=1; }
long_sweep --json -o long.json
long_sweep --json --store cut.db --resume -o resumed.json
same resumed.json long.json

# kill -9: what was committed is there.
begin killed.txt --store killed.db
end_by killed.db KILL
long_sweep --json --store killed.db --resume -o killed.json
same killed.json long.json

# Oversubscribed, as root in a container, without a network.
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_btl=self,vader,tcp
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM OMPI_MCA_rmaps_base_oversubscribe
export OMPI_MCA_mpi_yield_when_idle OMPI_MCA_btl
if [ -x "$(dirname "$ovl")/ovl_mpi" ] && mpirun -n 2 true >/dev/null 2>&1; then
    mpirun -n 3 "$ovl" sweep "$root/scenarios/buckets/last_bucket.yaml" --json --store mpi.db --jobs 1 \
        --over 'hardware.collectives[0].alpha=0.01ms..10ms+0.01' -o mpi.json >mpi.txt 2>&1 || cat mpi.txt
    same mpi.json
    sweep --json --store mpi.db --resume -o mpi_store.json
    same mpi_store.json
else
    printf 'no MPI that runs here: mpirun is not tried\n'
fi
OMPI_COMM_WORLD_SIZE=3 cp "$ovl" alone && OMPI_COMM_WORLD_SIZE=3 ./alone sweep \
    "$root/scenarios/buckets/last_bucket.yaml" --over variant=all >alone.txt 2>&1
[ $? = 2 ] && grep -q 'built without MPI' alone.txt || { printf 'FAIL alone\n'; cat alone.txt; wrong=1; }
[ $wrong = 0 ]
