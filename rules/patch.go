package rules

import (
	"strconv"
	"strings"

	"aliascheck/hlo/kernel"
	"aliascheck/hlo/kernel/sources"
)

// Patch is a finding's mend as code: a few lines of Python as they probably stand, and
// as they should. They run as they are, with the names that they leave open: args are
// the call's operands, out_shape its result's shape, options what else the call is
// given, jt is jax_triton, pl is jax.experimental.pallas.
type Patch struct {
	Through string `json:"through"` // how the program makes the call: jax-triton, Pallas or ffi_call
	Before  string `json:"before"`
	After   string `json:"after"`
}

// The ways to a custom call.
const (
	throughTriton = "jax-triton"
	throughPallas = "Pallas"
	throughFFI    = "ffi_call"
)

// throughOf says how programs make calls of a target.
func throughOf(target string) string {
	switch kernel.NewSet(sources.All(), kernel.Options{}).Source(target) {
	case "triton":
		return throughTriton
	case "pallas", "mosaic":
		return throughPallas
	}
	return throughFFI
}

// Patch returns the rule's patch, fitted to a finding; nil where the rule has none for
// how its program makes the call.
func (r *Rule) Patch(f *Finding) *Patch {
	through := throughOf(f.Target)
	for _, p := range r.Patches {
		if p.Through == through {
			p.Before, p.After = p.fill(p.Before, f), p.fill(p.After, f)
			return &p
		}
	}
	return nil
}

// fill puts a finding's names where a rule's patch has $KERNEL, $TARGET, $OPERAND and
// $RESULT. Operands and results that are tuples are counted by their first array.
func (p *Patch) fill(text string, f *Finding) string {
	operand, result := "0", "0"
	if f.Operand != nil {
		operand = strconv.Itoa(*f.Operand)
	}
	if len(f.ResultIndex) > 0 {
		result = strconv.Itoa(f.ResultIndex[0])
	}
	name := f.Kernel
	if !identifier(name) {
		name = "kernel"
	}
	target := f.Target
	if strings.ContainsFunc(target, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("\"\\`", r) }) {
		target = "target"
	}
	return strings.NewReplacer("$KERNEL", name, "$TARGET", target, "$OPERAND", operand, "$RESULT", result).Replace(text)
}

// identifier reports whether a kernel's name is one in Python: what a dump has there can
// be anything.
func identifier(name string) bool {
	for i, r := range name {
		if r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return name != ""
}

// claimPatches let an operand with the wanted contents claim a result, made by an
// expression of the result's shape.
func claimPatches(contents string) []Patch {
	spare := "spare = jnp." + contents + "(out_shape.shape, out_shape.dtype)\n"
	return []Patch{
		{throughTriton,
			"out = jt.triton_call(*args, kernel=$KERNEL, **options)",
			spare + "out = jt.triton_call(*args, spare, kernel=$KERNEL, **options,\n" +
				"                     input_output_aliases={len(args): $RESULT})"},
		pallasClaim(contents),
		{throughFFI,
			`out = jax.ffi.ffi_call("$TARGET", out_shape)(*args)`,
			spare + `# the handler takes one more operand, and leaves it alone` + "\n" +
				"out = jax.ffi.ffi_call(\"$TARGET\", out_shape,\n                       input_output_aliases={len(args): $RESULT})(*args, spare)"},
	}
}

func pallasClaim(contents string) Patch {
	return Patch{throughPallas,
		"out = pl.pallas_call($KERNEL, out_shape=out_shape, **options)(*args)",
		"n = len(args)\n" +
			"spare = jnp." + contents + "(out_shape.shape, out_shape.dtype)\n" +
			"out = pl.pallas_call(lambda *refs: $KERNEL(*refs[:n], *refs[n + 1:]),\n" +
			"                     out_shape=out_shape, **options,\n" +
			"                     input_output_aliases={n: $RESULT})(*args, spare)"}
}

// undeclarePatches take a pair out of a call's declarations.
func undeclarePatches() []Patch {
	return []Patch{
		{throughTriton,
			"out = jt.triton_call(*args, kernel=$KERNEL, **options,\n                     input_output_aliases={$OPERAND: $RESULT})",
			"# the result gets memory of its own\nout = jt.triton_call(*args, kernel=$KERNEL, **options)"},
		{throughPallas,
			"out = pl.pallas_call($KERNEL, out_shape=out_shape, **options,\n                     input_output_aliases={$OPERAND: $RESULT})(*args)",
			"# the result gets memory of its own\nout = pl.pallas_call($KERNEL, out_shape=out_shape, **options)(*args)"},
		{throughFFI,
			"out = jax.ffi.ffi_call(\"$TARGET\", out_shape,\n                       input_output_aliases={$OPERAND: $RESULT})(*args)",
			"# the result gets memory of its own\nout = jax.ffi.ffi_call(\"$TARGET\", out_shape)(*args)"},
	}
}

// zeroPatches zero a result before the kernel runs.
func zeroPatches() []Patch {
	claim := claimPatches("zeros")
	return []Patch{
		{throughTriton, claim[0].Before, "out = jt.triton_call(*args, kernel=$KERNEL, **options,\n                     zeroed_outputs=($RESULT,))"},
		claim[1], claim[2],
	}
}

// untunePatches launch an autotuned kernel with one configuration.
func untunePatches(aliases string) []Patch {
	return []Patch{{throughTriton,
		"out = jt.triton_call(*args, kernel=$KERNEL, **options" + aliases + ")",
		"best = $KERNEL.configs[0]  # the one that you measured: no trials\n" +
			"out = jt.triton_call(*args, kernel=$KERNEL.fn, **options" + aliases + ",\n" +
			"                     num_warps=best.num_warps, num_stages=best.num_stages,\n" +
			"                     **best.kwargs)"}}
}
