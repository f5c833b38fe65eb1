#!/bin/bash
# Reads built objects and holds that no instruction set leaks out of its tier. An object of a tier exports names of its own
# namespace only, has weak names only with the tier's own prefix (the linker keeps one copy of a weak function, so a shared
# one could run on a CPU that lacks its instructions) and runs nothing before main. No other object uses registers or
# instructions beyond x86-64 or ARMv8.0 itself; of the baseline tiers the x86 one may use SSE4.2.
#
# Programs: OBJDUMP and NM from the environment, for objects of another architecture.
#
#   check_objects.sh tier NAME OBJECT...     # objects of kernels/isa/NAME
#   check_objects.sh plain OBJECT...         # everything else
set -euo pipefail

objdump=${OBJDUMP:-objdump}
nm=${NM:-nm}
kind=$1
shift
tier=""
if [[ $kind == tier ]]; then
  tier=$1
  shift
fi
bad=0
fail() {
  echo "$1"
  bad=1
}
if [[ $# -eq 0 ]]; then
  fail "$kind $tier: expected object files, got none"
fi

# VEX and EVEX encodings: wide registers, or a mnemonic with the prefix v. BMI and others keep their names.
avx='%[yz]mm[0-9]|%k[0-7]\b|^[[:space:]]*[0-9a-f]+:[[:space:]]+(v[a-z0-9]+|andn|bextr|bzhi|mulx|pdep|pext|rorx|sarx|shlx|shrx|movbe|aes[a-z]+|sha[0-9][a-z0-9]*)[[:space:]]'
sse4='^[[:space:]]*[0-9a-f]+:[[:space:]]+(pshufb|pmaddubsw|pabs[bwd]|palignr|psign[bwd]|phadd[a-z]+|phsub[a-z]+|pmulhrsw|pmulld|pmuldq|pmovsx[a-z]+|pmovzx[a-z]+|pminsb|pminsd|pminu[wd]|pmaxsb|pmaxsd|pmaxu[wd]|ptest|pcmpgtq|pcmpeqq|pcmp[ei]str[im]|packusdw|pextr[bdq]|pinsr[bdq]|extractps|insertps|blendv?p[sd]|pblendvb|pblendw|round[sp][sd]|dpp[sd]|mpsadbw|crc32[a-z]*|popcnt)[[:space:]]'

# ARM extensions that compilers use unasked when they are allowed: dot and matrix products, bfloat16, atomics, SVE.
arm='^[[:space:]]*[0-9a-f]+:[[:space:]]+(((s|u|us|su)(dot|mmla)|bf(dot|mmla|mlal[bt]|cvtn?2?)|fmlal2?|sqrdml[as]h|(cas|swp|(ld|st)(add|clr|eor|set|[su]max|[su]min))(a|l|al)?[bh]?)[[:space:]]|.*[[:space:],{]z[0-9]+\.[bhsd])'

for object in "$@"; do
  if [[ ! -s $object ]]; then
    fail "$object: no such object"
    continue
  fi
  pattern=$avx
  if [[ $kind == plain ]]; then
    pattern="$avx|$sse4"
  fi
  if [[ $("$objdump" -f "$object") == *"architecture: aarch64"* ]]; then
    pattern=$arm
  fi
  if [[ $kind == plain || $tier == baseline || $tier == neon ]]; then
    found=$("$objdump" -d --no-show-raw-insn "$object" | grep -m 1 -E "$pattern" || true)
    if [[ -n $found ]]; then
      fail "$object: instruction beyond what every supported CPU has: $(tr -s '[:space:]' ' ' <<< "$found")"
    fi
  fi
  if [[ $kind == tier ]]; then
    exported=0
    while read -r symbol_kind symbol; do
      case $symbol_kind in
        [VWuvw])
          if [[ $symbol != *xsimd_"$tier"* && $symbol != *r1::kernels::"$tier"::* ]]; then
            fail "$object: weak symbol without the tier's own prefix: $symbol"
          fi
          ;;
        *)
          exported=$((exported + 1))
          if [[ $symbol != r1::kernels::"$tier"::* ]]; then
            fail "$object: exported symbol outside r1::kernels::$tier: $symbol"
          fi
          ;;
      esac
    done < <("$nm" --demangle --defined-only --extern-only --format=posix "$object" |
      sed -nE 's/^(.+) ([A-Za-z]) [0-9a-f]+( [0-9a-f]+)?$/\2 \1/p')
    if [[ $exported -ne 1 ]]; then
      fail "$object: expected one exported table, got $exported"
    fi
    if [[ $("$objdump" -h "$object") =~ [[:space:]]\.(init_array|ctors|preinit_array) ]]; then
      fail "$object: has static initialisers"
    fi
  fi
done
exit $bad
