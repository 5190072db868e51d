package runner

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"aliascheck/hlo"
)

// maxFlagFile bounds a file that XLA_FLAGS names, in bytes.
const maxFlagFile = 1 << 20

// flag is one flag of XLA_FLAGS, its value without quotes.
type flag struct {
	name     string // without dashes
	value    string
	hasValue bool
}

// dumpFlags is what the user's XLA_FLAGS say, read as XLA reads them.
type dumpFlags struct {
	kept    []flag   // for the child, beside ours
	dumpTo  string   // the user's own --xla_dump_to, empty without one
	notes   []string // what was changed or limits the audit: for standard error
	partial string   // why the dumps cannot be whole, empty when they are
}

// readFlags parses the value of XLA_FLAGS: flags, or the name of a file of flags
// (xla/parse_flags_from_env.cc). A file that cannot be read is an error: XLA ends
// the process over it.
func readFlags(value string) (dumpFlags, error) {
	value = strings.Trim(value, flagSpace)
	if value != "" && value[0] != '-' {
		text, err := readFlagFile(value)
		if err != nil {
			return dumpFlags{}, fmt.Errorf("XLA_FLAGS names a file: %w", err)
		}
		value = text
	}
	flags, rest := splitFlags(value)
	d := sortFlags(flags)
	if rest != "" {
		d.notes = append(d.notes, fmt.Sprintf("XLA stops reading XLA_FLAGS at %q: what follows has no effect", clip(rest, 40)))
	}
	return d, nil
}

func readFlagFile(path string) (string, error) {
	f, _, err := hlo.OpenRegular(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFlagFile+1))
	if err != nil {
		return "", err
	}
	if len(text) > maxFlagFile {
		return "", fmt.Errorf("%s: %w", path, errors.New("longer than 1 MiB"))
	}
	return string(text), nil
}

const flagSpace = " \t\r\n"

// splitFlags cuts s into flags by XLA's rules: a flag starts with a dash, a value
// may stand in quotes right after its equals sign, a backslash escapes within double
// quotes only, and the first word that is no flag ends the reading. It returns
// what was not read.
func splitFlags(s string) (flags []flag, rest string) {
	s = strings.TrimLeft(s, flagSpace)
	for s != "" && s[0] == '-' {
		n := 0
		for n < len(s) && isFlagChar(s[n]) {
			n++
		}
		f := flag{name: strings.TrimLeft(s[:n], "-")}
		if n+1 < len(s) && s[n] == '=' && (s[n+1] == '"' || s[n+1] == '\'') {
			f.hasValue = true
			f.value, s = unquote(s[n+1:])
		} else {
			end := strings.IndexAny(s[n:], flagSpace)
			if end < 0 {
				end = len(s) - n
			}
			tail := s[n : n+end]
			s = s[n+end:]
			var more string
			more, f.value, f.hasValue = strings.Cut(tail, "=")
			f.name += more
		}
		flags = append(flags, f)
		s = strings.TrimLeft(s, flagSpace)
	}
	return flags, s
}

func isFlagChar(c byte) bool {
	return c == '-' || c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// unquote reads the quoted string that s starts with, and returns what follows.
func unquote(s string) (value, rest string) {
	quote := s[0]
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		c := s[i]
		if c == quote {
			return b.String(), s[i+1:]
		}
		if c == '\\' && quote == '"' && i+1 < len(s) {
			i++
			c = s[i]
		}
		b.WriteByte(c)
	}
	return b.String(), ""
}

// sortFlags takes out the flags that decide where and how dumps are written, and
// keeps the rest.
func sortFlags(flags []flag) dumpFlags {
	var d dumpFlags
	for _, f := range flags {
		switch f.name {
		case "xla_dump_to":
			d.dumpTo = f.value
		case "xla_dump_hlo_as_proto":
			// Ours says the same.
		case "xla_dump_emitter_re":
			d.kept = append(d.kept, f)
			if !strings.Contains(f.value, "ptx") && f.value != ".*" {
				d.notes = append(d.notes, fmt.Sprintf("XLA_FLAGS has %s: ours, =ptx, takes its place where XLA knows it", f))
			}
		case "xla_dump_compress_protos", "xla_dump_hlo_to_subfolder", "xla_dump_include_timestamp", "xla_dump_max_hlo_modules":
			d.notes = append(d.notes, fmt.Sprintf("left out of XLA_FLAGS for this run: %s (the audit needs every module under its plain name)", f))
		case "xla_dump_hlo_module_re":
			d.kept = append(d.kept, f)
			d.partial = fmt.Sprintf("XLA_FLAGS has %s: no other module is dumped or audited", f)
			d.notes = append(d.notes, d.partial)
		case "xla_dump_disable_metadata":
			d.kept = append(d.kept, f)
			d.notes = append(d.notes, fmt.Sprintf("XLA_FLAGS has %s: findings will not name their Python lines", f))
		default:
			d.kept = append(d.kept, f)
		}
	}
	return d
}

// withoutDump composes XLA_FLAGS of the user's flags alone.
func (d dumpFlags) withoutDump() string {
	var all []string
	for _, f := range d.kept {
		all = append(all, f.String())
	}
	return strings.Join(all, " ")
}

// withDump composes XLA_FLAGS for a child: the user's flags, then ours, which win.
func (d dumpFlags) withDump(dir string) string {
	var b strings.Builder
	for _, f := range d.kept {
		b.WriteString(f.String())
		b.WriteByte(' ')
	}
	b.WriteString(flag{name: "xla_dump_to", value: dir, hasValue: true}.quoted())
	b.WriteString(" --xla_dump_hlo_as_proto")
	return b.String()
}

// String writes a flag as XLA reads it back, with quotes only where it needs them.
func (f flag) String() string {
	if !f.hasValue {
		return "--" + f.name
	}
	// XLA takes quotes for quotes only after a name of plain characters.
	plain := strings.IndexFunc(f.name, func(r rune) bool { return r > 127 || !isFlagChar(byte(r)) }) < 0
	if plain && strings.ContainsAny(f.value, flagSpace+`"'\`) {
		return f.quoted()
	}
	return "--" + f.name + "=" + f.value
}

func (f flag) quoted() string {
	escape := strings.NewReplacer(`\`, `\\`, `"`, `\"`)
	return "--" + f.name + `="` + escape.Replace(f.value) + `"`
}

func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:n] + "..."
}
