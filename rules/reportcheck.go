package rules

import (
	"fmt"
	"slices"

	"aliascheck/hlo"
)

// Check says what is wrong with a report that was read from a file. A report that
// passes can be written in every format.
func (r *Report) Check() error {
	if r.SchemaVersion != SchemaVersion {
		return fmt.Errorf("schema version %d, and this aliascheck knows %d", r.SchemaVersion, SchemaVersion)
	}
	s := &r.Summary
	for _, n := range [...]int{s.Modules, s.CustomCalls, s.Analysed, s.Library, s.Declared, s.Deselected, s.Errors, s.Warnings, s.Notes, s.Suppressed} {
		if n < 0 {
			return fmt.Errorf("summary: a count is negative")
		}
	}
	for n := range s.Unanalysed {
		if s.Unanalysed[n].Calls < 0 {
			return fmt.Errorf("summary: unanalysed %d: a count is negative", n)
		}
	}
	for n := range s.Unknown {
		if s.Unknown[n].Calls < 0 {
			return fmt.Errorf("summary: unknown %d: a count is negative", n)
		}
	}
	for n := range s.NotAudited {
		if s.NotAudited[n].Calls < 0 {
			return fmt.Errorf("summary: not audited %d: a count is negative", n)
		}
	}
	for n := range r.Suppressed {
		if err := r.Suppressed[n].check(); err != nil {
			return fmt.Errorf("suppressed %d: %w", n, err)
		}
	}
	for n := range r.Findings {
		if err := r.Findings[n].check(); err != nil {
			return fmt.Errorf("finding %d: %w", n, err)
		}
	}
	return nil
}

func (f *Finding) check() error {
	switch {
	case f.Code == "" || f.Fingerprint == "":
		return fmt.Errorf("it has no code, or no fingerprint")
	case f.Severity.rank() == 0:
		return fmt.Errorf("severity %q", f.Severity)
	case f.Calls < 0:
		return fmt.Errorf("its number of calls is negative")
	case f.OperandSlice != nil && f.Operand == nil:
		return fmt.Errorf("the slice of an operand, and no operand")
	case !sound(f.OperandSlice) || !sound(f.ResultSlice):
		return fmt.Errorf("a slice has negative numbers, or numbers that no memory has")
	}
	if f.Source.unsound() || slices.ContainsFunc(f.Callers, func(s Source) bool { return s.unsound() }) {
		return fmt.Errorf("a stack names a frame that it has not")
	}
	for _, r := range f.Related {
		if !sound(r.Slice) {
			return fmt.Errorf("the slice of a related place has negative numbers, or numbers that no memory has")
		}
	}
	for i := range f.Values {
		if !sound(&f.Values[i].Slice) {
			return fmt.Errorf("the slice of a value has negative numbers, or numbers that no memory has")
		}
	}
	if f.Map != nil {
		return f.Map.check()
	}
	return nil
}

func (m *MemoryMap) check() error {
	if m.Steps < 0 || m.Size < 0 || m.At < 0 || m.Until < m.At || m.LeftOut < 0 {
		return fmt.Errorf("the memory map has negative numbers")
	}
	for n := range m.Values {
		v := &m.Values[n]
		if !sound(&hlo.Slice{Offset: v.Offset, Size: v.Size}) || v.From < 0 || v.To < v.From {
			return fmt.Errorf("value %d of the memory map has negative numbers, or numbers that no memory has", n)
		}
	}
	return nil
}

// maxMemory is more than any device has; below it no sum of two sizes overflows.
const maxMemory = 1 << 56

// unsound reports whether a source speaks of frames that its stack has not.
func (s *Source) unsound() bool {
	return s != nil && slices.ContainsFunc(s.Own, func(n int) bool { return n < 0 || n >= len(s.Stack) })
}

func sound(s *hlo.Slice) bool {
	return s == nil || s.Offset >= 0 && s.Size >= 0 && s.Offset < maxMemory && s.Size < maxMemory
}
