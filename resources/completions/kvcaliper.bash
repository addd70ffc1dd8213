# SPDX-License-Identifier: Apache-2.0
# bash completion for kvcaliper
_kvcaliper() {
    local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]}
    local settings="--context --sequences --kv --k --v --index --state --conv --encoder-tokens --engine --engine-opt --tp --pp --cp --dp"
    local output="--json --csv --markdown --help"
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W "estimate compare curve fit claims log verify quality chart list --help --version" -- "$word"))
        return
    fi
    case $previous in
    --kv | --k | --v | --index | --state | --conv)
        COMPREPLY=($(compgen -W "auto $(kvcaliper list formats --csv 2>/dev/null | tail -n +2 | cut -d, -f1)" -- "$word"))
        return
        ;;
    --backend) COMPREPLY=($(compgen -W "auto cuda cpu" -- "$word")) && return ;;
    --engine) COMPREPLY=($(compgen -W "ideal llama_cpp vllm sglang transformers mlx ik_llama tensorrt_llm" -- "$word")) && return ;;
    --gpu) COMPREPLY=($(compgen -W "$(kvcaliper list gpus --csv 2>/dev/null | tail -n +2 | cut -d, -f1)" -- "$word")) && return ;;
    --kind) COMPREPLY=($(compgen -W "per-token context layers budget quality" -- "$word")) && return ;;
    --claims) COMPREPLY=($(compgen -W "seed gallery" -f -- "$word")) && return ;;
    --depth) COMPREPLY=($(compgen -W "layout device use" -- "$word")) && return ;;
    --theme) COMPREPLY=($(compgen -W "light dark" -- "$word")) && return ;;
    --model)
        COMPREPLY=($(compgen -W "$(kvcaliper list models --csv 2>/dev/null | tail -n +2 | cut -d, -f1)" -f -- "$word"))
        return
        ;;
    --output | -o | --record) COMPREPLY=($(compgen -f -- "$word")) && return ;;
    esac
    local options
    case $command in
    estimate) options="$settings $output --layers --explain" ;;
    compare) options="$settings $output --baseline" ;;
    curve) options="$settings $output --from --to --points" ;;
    fit) options="$settings $output --gpu --memory --weights --workspace --utilization --shared-prefix --cartridge --document --training-tokens" ;;
    verify) options="$settings $output --backend --steps --seed --record --claims --repeats --depth --cartridge --paged --baseline" ;;
    quality) options="--context --k --v --seed $output" ;;
    chart) options="$settings --output --kind --gpu --linear --recompute --weights --theme --size --help" ;;
    claims) options="$output" ;;
    log) options="$settings $output --model" ;;
    list) options="models gpus formats engines architectures kinds $output" ;;
    esac
    case $command:$word in
    *:-* | list:*) COMPREPLY=($(compgen -W "$options" -- "$word")) ;;
    log:*) COMPREPLY=($(compgen -f -- "$word")) ;;
    claims:*) COMPREPLY=($(compgen -W "seed gallery" -f -- "$word")) ;;
    *) COMPREPLY=($(compgen -W "$(kvcaliper list models --csv 2>/dev/null | tail -n +2 | cut -d, -f1)" -f -- "$word")) ;;
    esac
}
complete -F _kvcaliper kvcaliper
