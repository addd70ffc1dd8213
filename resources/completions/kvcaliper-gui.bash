# SPDX-License-Identifier: GPL-3.0-or-later
# bash completion for kvcaliper-gui
_kvcaliper_gui() {
    local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
    local options="--report --table --chart --kind --screenshot --tab --theme --language --size --context --sequences --kv --k --v --index --conv --state --gpu --engine --engine-opt --tp --pp --cp --dp --weights --linear --recompute --help --version"
    case $previous in
    --kv | --k | --v | --index | --conv | --state)
        COMPREPLY=($(compgen -W "auto $(kvcaliper list formats --csv 2>/dev/null | tail -n +2 | cut -d, -f1)" -- "$word"))
        return
        ;;
    --engine) COMPREPLY=($(compgen -W "ideal llama_cpp vllm sglang transformers mlx ik_llama tensorrt_llm" -- "$word")) && return ;;
    --gpu) COMPREPLY=($(compgen -W "$(kvcaliper list gpus --csv 2>/dev/null | tail -n +2 | cut -d, -f1)" -- "$word")) && return ;;
    --kind) COMPREPLY=($(compgen -W "per-token context layers budget" -- "$word")) && return ;;
    --tab) COMPREPLY=($(compgen -W "compare context layers budget claims verify" -- "$word")) && return ;;
    --theme) COMPREPLY=($(compgen -W "light dark contrast system" -- "$word")) && return ;;
    --language) COMPREPLY=($(compgen -W "system en ko" -- "$word")) && return ;;
    --report | --table | --chart | --screenshot) COMPREPLY=($(compgen -f -- "$word")) && return ;;
    esac
    case $word in
    -*) COMPREPLY=($(compgen -W "$options" -- "$word")) ;;
    *) COMPREPLY=($(compgen -W "$(kvcaliper list models --csv 2>/dev/null | tail -n +2 | cut -d, -f1)" -f -- "$word")) ;;
    esac
}
complete -F _kvcaliper_gui kvcaliper-gui
