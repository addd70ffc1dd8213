# SPDX-License-Identifier: Apache-2.0
set -l commands estimate compare curve fit claims log verify quality chart list
complete -c kvcaliper -f
complete -c kvcaliper -n "not __fish_seen_subcommand_from $commands" -a "$commands"
complete -c kvcaliper -n "__fish_seen_subcommand_from estimate compare curve fit verify quality chart" -F -a "(kvcaliper list models --csv | tail -n +2 | cut -d, -f1)"
complete -c kvcaliper -n "__fish_seen_subcommand_from claims" -F -a "seed gallery"
complete -c kvcaliper -n "__fish_seen_subcommand_from log" -F
complete -c kvcaliper -n "__fish_seen_subcommand_from log" -l model -x -a "(kvcaliper list models --csv | tail -n +2 | cut -d, -f1)"
complete -c kvcaliper -n "__fish_seen_subcommand_from list" -a "models gpus formats engines architectures kinds"
complete -c kvcaliper -s c -l context -x -d "tokens held per sequence"
complete -c kvcaliper -s n -l sequences -x -d "sequences held at once"
for option in kv k v index state conv
    complete -c kvcaliper -l $option -x -a "auto (kvcaliper list formats --csv | tail -n +2 | cut -d, -f1)"
end
complete -c kvcaliper -l encoder-tokens -x
complete -c kvcaliper -l engine -x -a "ideal llama_cpp vllm sglang transformers mlx ik_llama tensorrt_llm"
complete -c kvcaliper -l engine-opt -x
for option in tp pp cp dp
    complete -c kvcaliper -l $option -x
end
for option in json csv markdown layers explain linear recompute help version
    complete -c kvcaliper -l $option
end
complete -c kvcaliper -l gpu -x -a "(kvcaliper list gpus --csv | tail -n +2 | cut -d, -f1)"
for option in memory weights workspace utilization shared-prefix cartridge document training-tokens
    complete -c kvcaliper -l $option -x
end
complete -c kvcaliper -l depth -x -a "layout device use"
complete -c kvcaliper -l claims -F -a "seed gallery"
complete -c kvcaliper -l backend -x -a "auto cuda cpu"
for option in baseline from to points steps repeats cartridge paged seed size
    complete -c kvcaliper -l $option -x
end
complete -c kvcaliper -l record -r -F
complete -c kvcaliper -s o -l output -r -F
complete -c kvcaliper -l kind -x -a "per-token context layers budget quality"
complete -c kvcaliper -l theme -x -a "light dark"
