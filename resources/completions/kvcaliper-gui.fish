# SPDX-License-Identifier: GPL-3.0-or-later
complete -c kvcaliper-gui -F -a "(kvcaliper list models --csv | tail -n +2 | cut -d, -f1)"
for option in report table chart screenshot
    complete -c kvcaliper-gui -l $option -r -F
end
complete -c kvcaliper-gui -l kind -x -a "per-token context layers budget"
complete -c kvcaliper-gui -l tab -x -a "compare context layers budget claims verify"
complete -c kvcaliper-gui -l theme -x -a "light dark contrast system"
complete -c kvcaliper-gui -l language -x -a "system en ko"
complete -c kvcaliper-gui -s c -l context -x -d "tokens held per sequence"
complete -c kvcaliper-gui -s n -l sequences -x -d "sequences held at once"
for option in kv k v index conv state
    complete -c kvcaliper-gui -l $option -x -a "auto (kvcaliper list formats --csv | tail -n +2 | cut -d, -f1)"
end
complete -c kvcaliper-gui -l gpu -x -a "(kvcaliper list gpus --csv | tail -n +2 | cut -d, -f1)"
complete -c kvcaliper-gui -l engine -x -a "ideal llama_cpp vllm sglang transformers mlx ik_llama tensorrt_llm"
for option in tp pp cp dp weights size engine-opt
    complete -c kvcaliper-gui -l $option -x
end
for option in linear recompute help version
    complete -c kvcaliper-gui -l $option
end
