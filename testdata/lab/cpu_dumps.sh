#!/bin/sh
# Makes ../cpu, ../short, ../old and ../healthy anew: each JAX release from PyPI in a virtual
# environment of its own, CPU only. What a dump holds depends on the release alone, but
# for the fingerprints and module numbers.
#
#   sh cpu_dumps.sh WORKDIR     WORKDIR, an absolute path, keeps environments and whole dumps
#
# PYTHON311 and PYTHON312 name the interpreters; JAX 0.12 wants 3.12.
set -eu
work=$1
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$work"

python_of() {
    case $1 in
    0.12.*) echo "${PYTHON312:-python3.12}" ;;
    *) echo "${PYTHON311:-python3.11}" ;;
    esac
}

old_libraries() { # of the releases that numpy 2 broke
    case $1 in
    0.4.13 | 0.4.20) echo "numpy<2 scipy<1.12" ;;
    esac
}

environment() {
    [ -x "$work/venv-$1/bin/python" ] && return
    "$(python_of "$1")" -m venv "$work/venv-$1"
    # shellcheck disable=SC2046
    "$work/venv-$1/bin/pip" install -q "jax==$1" "jaxlib==$1" $(old_libraries "$1")
}

# dump RELEASE PROGRAM TO [FLAGS]: runs it from here, so that metadata shows no other folder.
dump() {
    environment "$1"
    mkdir -p "$3"
    (cd "$here" && JAX_PLATFORMS=cpu TF_CPP_MIN_LOG_LEVEL=3 \
        XLA_FLAGS="--xla_dump_to=$3 --xla_dump_hlo_as_proto --xla_dump_hlo_as_text ${4:-}" \
        "$work/venv-$1/bin/python" -B $2)
}

# keep FROM TO WITH_VALUES NAME...: the optimized modules of these names, a folder each.
keep() {
    from=$1 to=$2 values=$3
    shift 3
    for name in "$@"; do
        rm -rf "${to:?}/$name"
        mkdir -p "$to/$name"
        for end in .hlo.pb .txt -buffer-assignment.txt -buffer-assignment-values.txt; do
            for f in "$from"/*".jit_$name.cpu_after_optimizations$end" "$from"/*".$name.cpu_after_optimizations$end"; do
                case $values$end in no-buffer-assignment-values.txt) continue ;; esac
                if [ -e "$f" ]; then cp "$f" "$to/$name/"; fi
            done
        done
    done
}

newest=0.12.0.1
few="loop declared_donated two_results typed either scanned"
rm -rf "$work/dumps"
dump $newest cpu_dumps.py "$work/dumps/$newest"
dump $newest cpu_nested.py "$work/dumps/nested"
keep "$work/dumps/$newest" "$here/../cpu" yes factor solve declared_kept two_results loop_condition branches scanned nested_loops
keep "$work/dumps/$newest" "$here/../cpu" no spectra declared declared_donated typed undeclared loop either big_constant ordered host barrier empty types
keep "$work/dumps/nested" "$here/../cpu" yes nested_results tuple_of_one attributes called asynchronous
# As older XLA printed it: the text lacks the computation that runs asynchronously.
dump $newest cpu_nested.py "$work/dumps/short" --xla_syntax_sugar_async_ops=true
keep "$work/dumps/short" "$here/../short" no asynchronous
for release in 0.4.13 0.4.20 0.4.30 0.5.3 0.7.2 0.10.2; do
    dump $release cpu_dumps.py "$work/dumps/$release"
    keep "$work/dumps/$release" "$here/../old/jax-$release" no $few
done
keep "$work/dumps/0.10.2" "$here/../old/jax-0.10.2" yes loop either
keep "$work/dumps/0.4.13" "$here/../old/jax-0.4.13" yes factor host branches

# One directory just as XLA left it. Its flags stand in the dump, so that they must name
# no folder of this machine. On a GPU, XLA also leaves prefixes with nothing but a
# configuration; the CPU's does not, so that they are added.
rm -rf "$here/../healthy"
environment 0.10.2
(cd "$here/.." && JAX_PLATFORMS=cpu XLA_FLAGS="--xla_dump_to=healthy --xla_dump_hlo_as_proto --xla_dump_hlo_as_text" \
    "$work/venv-0.10.2/bin/python" -B lab/cpu_healthy.py)
for prefix in module_0001.jit_iota module_0003.jit_reshape module_0005.jit_step module_0006.jit_convert_element_type; do
    printf 'replica_count: 1\nnum_partitions: 1\n' >"$here/../healthy/$prefix.config.pbtxt"
done
