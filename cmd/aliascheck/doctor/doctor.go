// Package doctor says what of aliascheck works on a machine, and what to install for the
// rest.
//
// In: what was found of Python, a driver, cards, tools. Out: rows of a table, each with
// the uses that it is needed for.
package doctor

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"aliascheck/cmd/aliascheck/compile"
)

// State is how a row stands.
type State string

// The states, in the table's words.
const (
	OK      State = "ok"
	Missing State = "missing" // something needs it
	Absent  State = "absent"  // only some programs need it
	Note    State = "note"
)

// Uses are what --need asks about.
func Uses() []string { return []string{"compile", "run", "gpu", "trace"} }

// Row is one line of the table.
type Row struct {
	Name   string   `json:"name"`
	State  State    `json:"state"`
	Detail string   `json:"detail"`
	Mend   string   `json:"mend,omitempty"`
	Needed []string `json:"needed_for,omitempty"`
}

// Found is what was looked for.
type Found struct {
	Machine   *compile.Machine
	Python    error // why there is no Machine
	Cards     []string
	Driver    error  // why no card can be used
	Sanitizer string // compute-sanitizer's path
	Library   string // libsanitizer-public.so's path
	CacheDir  string // where analysed kernels are remembered; empty: nowhere
	Cache     error  // why it cannot be used
}

// Rows judges what was found.
func Rows(f *Found) []Row {
	rows := python(f)
	driver := Row{Name: "driver and card", State: OK, Detail: strings.Join(f.Cards, "; "), Needed: []string{"gpu", "trace"}}
	if f.Driver != nil {
		driver.State, driver.Detail = Missing, f.Driver.Error()
		driver.Mend = "not needed to compile and to prove; a machine with an NVIDIA GPU confirms more"
	}
	rows = append(rows, driver)
	rows = append(rows, there("compute-sanitizer", f.Sanitizer, "--sanitize", "a CUDA toolkit has it"))
	library := there("sanitizer library", f.Library, "tracing calls on a card", pip(f, "sanitizer"))
	library.Needed = []string{"trace"}
	if library.State == Absent {
		library.State = Missing
	}
	rows = append(rows, library)
	cache := Row{Name: "our cache", State: OK, Detail: f.CacheDir}
	switch {
	case f.Cache != nil:
		cache.State, cache.Detail, cache.Mend = Note, f.Cache.Error()+": kernels are analysed anew each time", "--cache-dir DIR"
	case f.CacheDir == "":
		cache.State, cache.Detail = Note, "no home for caches: kernels are analysed anew each time"
	}
	return append(rows, cache)
}

// python are the rows about the user's Python.
func python(f *Found) []Row {
	if f.Machine == nil {
		return []Row{{Name: "Python", State: Missing, Detail: f.Python.Error(), Mend: "--python PYTHON that has JAX", Needed: []string{"compile", "run", "trace"}}}
	}
	m := f.Machine
	rows := []Row{{Name: "Python", State: OK, Detail: m.Python + ", " + m.Executable, Needed: []string{"compile", "run", "trace"}}}
	jax := Row{Name: "JAX", State: OK, Detail: m.JAX, Needed: []string{"compile", "run", "trace"}}
	switch {
	case m.JAX == "" || m.JAXlib == "":
		jax.State, jax.Detail, jax.Mend = Missing, "not installed", m.Pip["jax"]
	case m.Old:
		jax.State, jax.Detail, jax.Mend = Missing, m.JAX+" is too old to compile for absent GPUs: 0.5 or newer", m.Pip["jax"]
		jax.Needed = []string{"compile"}
	}
	plugin := Row{Name: "CUDA plugin", State: OK, Detail: m.Plugin, Needed: []string{"compile", "trace"}}
	switch {
	case m.Plugin == "":
		plugin.State, plugin.Detail, plugin.Mend = Missing, "not installed", m.Pip["plugin"]
	case !m.PluginFits:
		plugin.State, plugin.Detail, plugin.Mend = Missing, m.Plugin+" is not whole, or not for this JAX", m.Pip["plugin"]
	}
	ptxas := Row{Name: "ptxas", State: OK, Detail: m.Ptxas, Needed: []string{"compile"}}
	if m.Ptxas == "" {
		ptxas.State, ptxas.Detail, ptxas.Mend = Missing, "not found", m.Pip["ptxas"]
	}
	return append(rows, jax, plugin, ptxas,
		there("absl-py", m.Absl, "Pallas on Mosaic GPU", m.Pip["absl"]),
		there("Triton", m.Triton, "programs that use jax-triton", m.Pip["triton"]),
		there("jax-triton", m.JAXTriton, "programs that use it", m.Pip["triton"]),
		there("flatbuffers", m.Flatbuffers, "files of jax.export", m.Pip["flatbuffers"]),
		cacheOf(m), flagsOf(m))
}

// there is the row of what some programs need.
func there(name, what, use, mend string) Row {
	if what == "" {
		return Row{Name: name, State: Absent, Detail: "not found; for " + use, Mend: mend}
	}
	return Row{Name: name, State: OK, Detail: what}
}

func pip(f *Found, what string) string {
	if f.Machine == nil {
		return ""
	}
	return f.Machine.Pip[what]
}

// cacheOf says whether JAX keeps compiled programs: those leave no dump.
func cacheOf(m *compile.Machine) Row {
	r := Row{Name: "persistent cache", State: OK, Detail: "off"}
	if m.CacheDirectory != "" && m.CacheEnabled {
		r.State = Note
		r.Detail = "on, in " + m.CacheDirectory + ": a program that comes out of it leaves no dump"
		r.Mend = "`aliascheck run` and `compile` turn it off; for dumps of your own JAX_ENABLE_COMPILATION_CACHE=false"
	}
	return r
}

func flagsOf(m *compile.Machine) Row {
	if m.XLAFlags == "" {
		return Row{Name: "XLA_FLAGS", State: OK, Detail: "not set"}
	}
	r := Row{Name: "XLA_FLAGS", State: Note, Detail: m.XLAFlags}
	if strings.Contains(m.XLAFlags, "xla_dump_hlo_module_re") {
		r.Detail += ": only some modules are dumped"
	}
	return r
}

// Lacking are the rows that a use needs and that are missing.
func Lacking(rows []Row, uses []string) []Row {
	var out []Row
	for _, r := range rows {
		if r.State == Missing && slices.ContainsFunc(uses, func(use string) bool { return slices.Contains(r.Needed, use) }) {
			out = append(out, r)
		}
	}
	return out
}

// Write prints the table, and what works: all in words, no colours needed.
func Write(w io.Writer, rows []Row, clean func(string) string) error {
	name := 0
	for _, r := range rows {
		name = max(name, len(r.Name))
	}
	var b strings.Builder
	for _, r := range rows {
		fmt.Fprintf(&b, "%-*s  %-7s  %s\n", name, r.Name, r.State, clean(r.Detail))
		if r.Mend != "" && r.State != OK {
			fmt.Fprintf(&b, "%-*s           %s\n", name, "", clean(r.Mend))
		}
	}
	b.WriteString("\n")
	for _, use := range []struct{ name, what string }{
		{"compile", "`aliascheck compile`: programs for GPUs that need not be here"},
		{"run", "`aliascheck run -- COMMAND`: what your command compiles"},
		{"gpu", "--replay gpu: kernels on a card"},
		{"trace", "tracing any call on a card"},
	} {
		state := "works"
		if lack := Lacking(rows, []string{use.name}); len(lack) > 0 {
			var names []string
			for _, r := range lack {
				names = append(names, r.Name)
			}
			state = "lacks " + strings.Join(names, ", ")
		}
		fmt.Fprintf(&b, "%s: %s\n", use.what, state)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
