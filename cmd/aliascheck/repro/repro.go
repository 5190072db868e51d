// Package repro writes what an issue about XLA's buffer assignment needs: the module, the
// two values that are in one another's way, how long each is needed, and a picture of the
// memory.
package repro

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"aliascheck/cmd/aliascheck/report"
	"aliascheck/rules"
)

// maxCopy bounds the files that are copied, in bytes each: a dump's constants can be
// gigabytes.
const maxCopy = 256 << 20

// Write fills a folder, which it makes, with conflict.md, map.html and the files of the
// finding's module. It returns what it wrote.
func Write(dir string, f *rules.Finding, tool rules.Tool) ([]string, error) {
	if len(f.Values) == 0 {
		return nil, fmt.Errorf("%s is about a custom call; --write-repro is for what XLA itself laid in one place (AC107, AC108)", f.Code)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	copied, err := copyModule(dir, f.Path)
	if err != nil {
		return nil, err
	}
	var page, words bytes.Buffer
	r := &rules.Report{SchemaVersion: rules.SchemaVersion, Tool: tool, Findings: []rules.Finding{*f}}
	r.Summary.Modules = 1
	switch f.Severity {
	case rules.Error:
		r.Summary.Errors = 1
	case rules.Warning:
		r.Summary.Warnings = 1
	default:
		r.Summary.Notes = 1
	}
	if err := report.HTML(&page, r, report.Options{}); err != nil {
		return nil, err
	}
	describe(&words, f, tool, dir, copied)
	wrote := copied
	for name, data := range map[string][]byte{"map.html": page.Bytes(), "conflict.md": words.Bytes()} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			return nil, err
		}
		wrote = append(wrote, name)
	}
	slices.Sort(wrote)
	return wrote, nil
}

// copyModule copies the files of a module that lies in a folder: what XLA was given, what
// became of it, and the assignment. Of a member of an archive nothing is copied.
func copyModule(dir, path string) ([]string, error) {
	base := filepath.Base(path)
	stage := strings.Index(base, "after_optimizations")
	if stage < 0 || strings.Contains(path, "!/") {
		return nil, nil
	}
	// module_0001.jit_step.sm_9.0a_gpu_after_optimizations.hlo.pb: all up to the stage's name
	prefix := base[:stage]
	if at := strings.LastIndex(prefix, ".sm_"); at >= 0 {
		prefix = prefix[:at+1]
	} else if at := strings.LastIndexByte(prefix, '.'); at >= 0 {
		prefix = prefix[:at+1]
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	var copied []string
	for _, e := range entries {
		name := e.Name()
		if !strings.HasPrefix(name, prefix) || !e.Type().IsRegular() || !wanted(name[len(prefix):]) {
			continue
		}
		if info, err := e.Info(); err != nil || info.Size() > maxCopy {
			continue
		}
		if err := copyFile(filepath.Join(dir, name), filepath.Join(filepath.Dir(path), name)); err != nil {
			return nil, err
		}
		copied = append(copied, name)
	}
	return copied, nil
}

// wanted tells the stages of a module that an issue needs.
func wanted(stage string) bool {
	return strings.Contains(stage, "after_optimizations") && !strings.Contains(stage, "live-range") && !strings.Contains(stage, "memory-usage") ||
		strings.HasPrefix(stage, "before_optimizations.")
}

func copyFile(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there already: name a new folder", to)
	}
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		out.Close()
		return err
	}
	return out.Close()
}

// describe writes the text.
func describe(w io.Writer, f *rules.Finding, tool rules.Tool, dir string, copied []string) {
	fmt.Fprintf(w, "# %s: %s\n\n%s\n\n", report.Clean(f.Module), strings.ReplaceAll(f.Rule, "-", " "), report.Clean(f.Message))
	fmt.Fprintf(w, "| | value | instruction | slice | needed from | to | made at |\n| --- | --- | --- | --- | --- | --- | --- |\n")
	for i := range f.Values {
		v := &f.Values[i]
		from, to, made := "the start", "the end", ""
		if v.From != "" {
			from = v.From
		}
		if v.To != "" {
			to = v.To
		}
		if v.Source != nil {
			made = fmt.Sprintf("%s:%d", v.Source.File, v.Source.Line)
		}
		fmt.Fprintf(w, "| %s | `%s` | `%s%s` | allocation %d, bytes %d to %d | `%s` | `%s` | %s |\n", v.Role, cell(v.Name), cell(v.Instruction), rules.IndexText(v.Index),
			v.Slice.Allocation, v.Slice.Offset, v.Slice.Offset+v.Slice.Size, cell(from), cell(to), cell(made))
	}
	for _, r := range f.Related {
		fmt.Fprintf(w, "\n- %s: `%s` %s", cell(r.Role), cell(r.Instruction), cell(r.Text))
	}
	if f.Source != nil {
		fmt.Fprintf(w, "\n- Python: %s:%d %s", cell(f.Source.File), f.Source.Line, cell(f.Source.Function))
	}
	fmt.Fprintf(w, "\n\nWhat avoids it: %s.\n", report.Clean(f.Fix))
	for _, name := range copied {
		switch {
		case strings.HasSuffix(name, "after_optimizations.txt"):
			fmt.Fprintf(w, "\n## Its instructions in the optimized module\n\n")
			excerpt(w, filepath.Join(dir, name), instructionsOf(f))
		case strings.HasSuffix(name, "-buffer-assignment.txt"):
			fmt.Fprintf(w, "\n## Its allocation\n\n")
			allocation(w, filepath.Join(dir, name), f.Values[0].Slice.Allocation)
		}
	}
	fmt.Fprintf(w, "\nFiles: map.html (the memory over the schedule)")
	for _, name := range copied {
		fmt.Fprintf(w, ", %s", report.Clean(name))
	}
	fmt.Fprintf(w, ".\nFound by %s %s, fingerprint %s.\n", tool.Name, tool.Version, report.Clean(f.Fingerprint))
}

// cell is a name that stands in a table.
func cell(s string) string { return strings.NewReplacer("|", "\\|", "`", "'").Replace(report.Clean(s)) }

// instructionsOf are the instructions that a finding names.
func instructionsOf(f *rules.Finding) map[string]bool {
	names := map[string]bool{f.Instruction: true}
	for i := range f.Values {
		v := &f.Values[i]
		names[v.Instruction], names[v.From], names[v.To] = true, true, true
	}
	for _, r := range f.Related {
		names[r.Instruction] = true
	}
	delete(names, "")
	return names
}

const (
	maxLine  = 600 // characters of a line that are shown
	maxLines = 200 // lines of an allocation
)

// excerpt shows the module's head, and of its computations the lines of these
// instructions and the roots of those that have any, in their order.
func excerpt(w io.Writer, path string, names map[string]bool) {
	fmt.Fprintln(w, "```")
	defer fmt.Fprintln(w, "```")
	var head, root string
	shown, entry := false, false
	each(path, func(line string) bool {
		trimmed := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "HloModule "):
			show(w, line)
		case strings.HasSuffix(trimmed, "{") && !strings.HasPrefix(line, " "):
			head, shown, entry = line, false, strings.HasPrefix(line, "ENTRY ")
		case trimmed == "}" && !strings.HasPrefix(line, " ") && shown:
			if root != "" {
				show(w, root)
			}
			show(w, "}")
			shown = false
		default:
			isRoot := strings.HasPrefix(trimmed, "ROOT ")
			name, _, ok := strings.Cut(strings.TrimPrefix(trimmed, "ROOT "), " = ")
			if isRoot {
				root = ""
			}
			if !ok || !names[strings.TrimPrefix(name, "%")] {
				if isRoot && entry {
					root = line
				}
				return true
			}
			if !shown {
				show(w, head)
				shown = true
			}
			show(w, line)
		}
		return true
	})
}

// allocation shows what the assignment puts into one allocation.
func allocation(w io.Writer, path string, number int64) {
	fmt.Fprintln(w, "```")
	defer fmt.Fprintln(w, "```")
	lines, inside := 0, false
	each(path, func(line string) bool {
		if strings.HasPrefix(line, "allocation ") {
			inside = strings.HasPrefix(line, fmt.Sprintf("allocation %d:", number))
		} else if !strings.HasPrefix(line, " ") {
			inside = false
		}
		if inside {
			if lines++; lines > maxLines {
				fmt.Fprintln(w, "…")
				return false
			}
			show(w, line)
		}
		return true
	})
}

func show(w io.Writer, line string) {
	if r := []rune(line); len(r) > maxLine {
		line = string(r[:maxLine]) + "…"
	}
	fmt.Fprintln(w, report.Clean(line))
}

// each gives the lines of a text until it is told to stop; lines of constants may be long.
func each(path string, line func(string) bool) {
	f, err := os.Open(path)
	if err != nil {
		return // it was copied a moment ago
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	s.Buffer(make([]byte, 1<<16), maxCopy)
	for s.Scan() && line(s.Text()) {
	}
}
