# Completion of ovl for bash. Printed by tools/dev/ovl_docs from the table of commands.
_ovl()
{
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}
    local command=${COMP_WORDS[1]}
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W "calibrate check compare explain export help history import inspect optimize report run show sweep --help --version" -- "$word"))
        return
    fi
    case $command:$before in
    calibrate:--output)
        COMPREPLY=($(compgen -f -- "$word"))
        return
        ;;
    calibrate:--base)
        COMPREPLY=($(compgen -f -- "$word"))
        return
        ;;
    calibrate:--group)
        return
        ;;
    calibrate:--via)
        return
        ;;
    calibrate:--op)
        return
        ;;
    calibrate:--ranks)
        return
        ;;
    calibrate:--comm-pattern)
        return
        ;;
    calibrate:--compute)
        COMPREPLY=($(compgen -f -- "$word"))
        return
        ;;
    calibrate:--comm)
        COMPREPLY=($(compgen -f -- "$word"))
        return
        ;;
    calibrate:--overlap)
        COMPREPLY=($(compgen -f -- "$word"))
        return
        ;;
    calibrate:--class)
        return
        ;;
    calibrate:--alpha)
        return
        ;;
    calibrate:--hbm)
        return
        ;;
    calibrate:--sms)
        return
        ;;
    calibrate:--wire)
        return
        ;;
    calibrate:--two-point)
        COMPREPLY=($(compgen -W "accumulation overlap" -- "$word"))
        return
        ;;
    calibrate:--at)
        return
        ;;
    check:--variant)
        return
        ;;
    check:--set)
        return
        ;;
    check:--interference)
        COMPREPLY=($(compgen -W "none shared measured" -- "$word"))
        return
        ;;
    compare:--set)
        return
        ;;
    compare:--interference)
        COMPREPLY=($(compgen -W "none shared measured" -- "$word"))
        return
        ;;
    compare:--expand)
        return
        ;;
    compare:--worth)
        return
        ;;
    compare:--trials)
        return
        ;;
    compare:--seed)
        return
        ;;
    compare:--jobs)
        return
        ;;
    compare:--output)
        COMPREPLY=($(compgen -f -- "$word"))
        return
        ;;
    compare:--store)
        COMPREPLY=($(compgen -f -- "$word"))
        return
        ;;
    explain:--solve)
        return
        ;;
    explain:--for)
        return
        ;;
    explain:--between)
        return
        ;;
    explain:--resource)
        return
        ;;
    explain:--rank)
        return
        ;;
    explain:--jobs)
        return
        ;;
    explain:--variant)
        return
        ;;
    explain:--set)
        return
        ;;
    explain:--interference)
        COMPREPLY=($(compgen -W "none shared measured" -- "$word"))
        return
        ;;
    explain:--output)
        COMPREPLY=($(compgen -f -- "$word"))
        return
        ;;
    export:--schedule)
        COMPREPLY=($(compgen -W "csv" -- "$word"))
        return
        ;;
    export:--dialect)
        COMPREPLY=($(compgen -W "new old" -- "$word"))
        return
        ;;
    export:--output)
        COMPREPLY=($(compgen -f -- "$word"))
        return
        ;;
    export:--ranks)
        return
        ;;
    export:--store)
        COMPREPLY=($(compgen -f -- "$word"))
        return
        ;;
    export:--variant)
        return
        ;;
    export:--set)
        return
        ;;
    export:--interference)
        COMPREPLY=($(compgen -W "none shared measured" -- "$word"))
        return
        ;;
    history:--store)
        COMPREPLY=($(compgen -f -- "$word"))
        return
        ;;
    history:--limit)
        return
        ;;
    history:--output)
        COMPREPLY=($(compgen -f -- "$word"))
        return
        ;;
    import:--step)
        return
        ;;
    import:--output)
        COMPREPLY=($(compgen -f -- "$word"))
        return
        ;;
    inspect:--comm-pattern)
        return
        ;;
    inspect:--output)
        COMPREPLY=($(compgen -f -- "$word"))
        return
        ;;
    optimize:--over)
        return
        ;;
    optimize:--zip)
        return
        ;;
    optimize:--sample)
        return
        ;;
    optimize:--samples)
        return
        ;;
    optimize:--tries)
        return
        ;;
    optimize:--seed)
        return
        ;;
    optimize:--objective)
        return
        ;;
    optimize:--where)
        return
        ;;
    optimize:--jobs)
        return
        ;;
    optimize:--variant)
        return
        ;;
    optimize:--set)
        return
        ;;
    optimize:--interference)
        COMPREPLY=($(compgen -W "none shared measured" -- "$word"))
        return
        ;;
    optimize:--output)
        COMPREPLY=($(compgen -f -- "$word"))
        return
        ;;
    report:--output)
        COMPREPLY=($(compgen -f -- "$word"))
        return
        ;;
    report:--ranks)
        return
        ;;
    report:--set)
        return
        ;;
    report:--interference)
        COMPREPLY=($(compgen -W "none shared measured" -- "$word"))
        return
        ;;
    report:--worth)
        return
        ;;
    run:--variant)
        return
        ;;
    run:--set)
        return
        ;;
    run:--interference)
        COMPREPLY=($(compgen -W "none shared measured" -- "$word"))
        return
        ;;
    run:--expand)
        return
        ;;
    run:--worth)
        return
        ;;
    run:--only)
        COMPREPLY=($(compgen -W "compute comm both" -- "$word"))
        return
        ;;
    run:--what-if)
        COMPREPLY=($(compgen -W "all none" -- "$word"))
        return
        ;;
    run:--trials)
        return
        ;;
    run:--seed)
        return
        ;;
    run:--jobs)
        return
        ;;
    run:--output)
        COMPREPLY=($(compgen -f -- "$word"))
        return
        ;;
    run:--store)
        COMPREPLY=($(compgen -f -- "$word"))
        return
        ;;
    show:--store)
        COMPREPLY=($(compgen -f -- "$word"))
        return
        ;;
    show:--output)
        COMPREPLY=($(compgen -f -- "$word"))
        return
        ;;
    sweep:--over)
        return
        ;;
    sweep:--zip)
        return
        ;;
    sweep:--sample)
        return
        ;;
    sweep:--samples)
        return
        ;;
    sweep:--seed)
        return
        ;;
    sweep:--pareto)
        return
        ;;
    sweep:--objective)
        return
        ;;
    sweep:--where)
        return
        ;;
    sweep:--solve)
        return
        ;;
    sweep:--for)
        return
        ;;
    sweep:--between)
        return
        ;;
    sweep:--rows)
        COMPREPLY=($(compgen -W "all front" -- "$word"))
        return
        ;;
    sweep:--store)
        COMPREPLY=($(compgen -f -- "$word"))
        return
        ;;
    sweep:--shard)
        return
        ;;
    sweep:--merge)
        COMPREPLY=($(compgen -f -- "$word"))
        return
        ;;
    sweep:--jobs)
        return
        ;;
    sweep:--variant)
        return
        ;;
    sweep:--set)
        return
        ;;
    sweep:--interference)
        COMPREPLY=($(compgen -W "none shared measured" -- "$word"))
        return
        ;;
    sweep:--output)
        COMPREPLY=($(compgen -f -- "$word"))
        return
        ;;
    esac
    case $command:$word in
    calibrate:-*)
        COMPREPLY=($(compgen -W "--output --base --group --via --op --ranks --out-of-place --comm-pattern --compute --comm --overlap --class --alpha --hbm --sms --wire --two-point --at --json --help" -- "$word"))
        ;;
    check:-*)
        COMPREPLY=($(compgen -W "--variant --set --interference --json --help" -- "$word"))
        ;;
    compare:-*)
        COMPREPLY=($(compgen -W "--set --interference --expand --worth --no-fold --no-skip --trials --seed --jobs --json --output --fail-if-worse --store --help" -- "$word"))
        ;;
    explain:-*)
        COMPREPLY=($(compgen -W "--solve --for --between --limits --resource --rank --jobs --variant --set --interference --json --output --help" -- "$word"))
        ;;
    export:-*)
        COMPREPLY=($(compgen -W "--trace --schedule --lowered --no-merge --dialect --output --ranks --store --csv --variant --set --interference --no-fold --no-skip --help" -- "$word"))
        ;;
    help:-*)
        COMPREPLY=($(compgen -W "--help" -- "$word"))
        ;;
    help:*)
        COMPREPLY=($(compgen -W "calibrate check compare explain export help history import inspect optimize report run show sweep" -- "$word"))
        ;;
    history:-*)
        COMPREPLY=($(compgen -W "--store --limit --points --json --csv --output --help" -- "$word"))
        ;;
    import:-*)
        COMPREPLY=($(compgen -W "--step --self-contained --output --help" -- "$word"))
        ;;
    inspect:-*)
        COMPREPLY=($(compgen -W "--comm-pattern --json --output --help" -- "$word"))
        ;;
    optimize:-*)
        COMPREPLY=($(compgen -W "--over --zip --sample --samples --buckets --stages --tries --seed --objective --where --jobs --variant --set --interference --json --output --help" -- "$word"))
        ;;
    report:-*)
        COMPREPLY=($(compgen -W "--output --ranks --set --interference --worth --no-fold --no-skip --help" -- "$word"))
        ;;
    run:-*)
        COMPREPLY=($(compgen -W "--variant --set --interference --expand --worth --no-fold --no-skip --gaps --memory --only --what-if --stats --trials --seed --jobs --json --output --store --help" -- "$word"))
        ;;
    show:-*)
        COMPREPLY=($(compgen -W "--store --json --output --help" -- "$word"))
        ;;
    sweep:-*)
        COMPREPLY=($(compgen -W "--over --zip --sample --samples --seed --pareto --objective --where --solve --for --between --rows --store --resume --shard --merge --jobs --variant --set --interference --no-fold --no-skip --json --csv --output --help" -- "$word"))
        ;;
    *)
        COMPREPLY=($(compgen -f -- "$word"))
        ;;
    esac
}
complete -o filenames -F _ovl ovl
