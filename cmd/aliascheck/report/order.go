package report

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"aliascheck/rules"
)

// bySeverity returns the findings, the gravest first, else in the report's order.
func bySeverity(list []rules.Finding) []*rules.Finding {
	out := make([]*rules.Finding, 0, len(list))
	for i := range list {
		out = append(out, &list[i])
	}
	slices.SortStableFunc(out, func(x, y *rules.Finding) int { return cmp.Compare(weight(x), weight(y)) })
	return out
}

// weight orders findings for a reader with little time: errors before warnings
// before notes, and the confirmed before the rest.
func weight(f *rules.Finding) int {
	w := 0
	switch f.Severity {
	case rules.Error:
	case rules.Warning:
		w = 2
	default:
		w = 4
	}
	if f.Confirmation != rules.Confirmed {
		w++
	}
	return w
}

// relative names a file relative to root, or to the working directory where no root is
// given, with forward slashes, where it lies below; else it is left as it is.
func relative(file, root string) string {
	file = filepath.ToSlash(file)
	if !strings.HasPrefix(file, "/") {
		return file
	}
	if abs, err := filepath.Abs(root); err == nil {
		root = abs
	}
	prefix := strings.TrimSuffix(filepath.ToSlash(root), "/") + "/"
	if rest, below := strings.CutPrefix(file, prefix); below {
		return rest
	}
	return file
}

// kernelOf names what a finding's call runs: its kernel, else its target. What is no
// call's is named by its value.
func kernelOf(f *rules.Finding) string {
	if len(f.Values) > 0 {
		return f.Values[0].Name
	}
	if f.Kernel != "" {
		return f.Kernel
	}
	return f.Target
}
