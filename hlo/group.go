package hlo

import (
	"slices"
	"strings"
)

// part is what group makes of a folder's files: a module, or something that should
// have been one.
type part struct {
	name       string // of the proto or the module's text; of what is wrong
	text       bool
	assignment string // of the text's buffer assignment
	values     string // of the list of used values beside it, empty: none
	archive    bool
	err        error // why it is no module
}

// group finds the modules among the files of one folder. A module's text counts only
// where it has no proto.
func group(files []file) []part {
	if !slices.ContainsFunc(files, func(f file) bool { return f.kind != proto && f.kind != noise }) {
		return alone(files)
	}
	protos, texts, assignments, lists := map[string]bool{}, map[string]string{}, map[string]string{}, map[string]string{}
	complete := map[string]bool{}
	for _, f := range files {
		switch f.kind {
		case proto:
			protos[f.stem] = true
			complete[f.module] = true
		case text:
			texts[f.stem] = f.name
			complete[f.module] = true
		case assignment:
			assignments[f.stem] = f.name
			complete[f.module] = true
		case values:
			lists[f.stem] = f.name
		}
	}
	var parts []part
	for _, f := range files {
		switch {
		case f.kind == proto:
			parts = append(parts, part{name: f.name})
		case protos[f.stem]:
		case f.kind == text && assignments[f.stem] == "":
			parts = append(parts, part{name: f.name, err: errNoAssignmentText})
		case f.kind == text:
			parts = append(parts, part{name: f.name, text: true, assignment: assignments[f.stem], values: lists[f.stem]})
		case f.kind == assignment && texts[f.stem] == "":
			parts = append(parts, part{name: f.name, err: errNoModuleText})
		}
	}
	return append(parts, unfinished(files, complete)...)
}

// alone is group where no file can belong to another, as in most folders.
func alone(files []file) []part {
	parts := make([]part, 0, len(files))
	for _, f := range files {
		if f.kind == proto {
			parts = append(parts, part{name: f.name})
		}
	}
	return parts
}

// unfinished finds modules that are there in an earlier stage only: one part each.
func unfinished(files []file, complete map[string]bool) []part {
	var parts []part
	seen := map[string]bool{}
	for _, f := range files {
		if f.kind != earlier {
			continue
		}
		key, done := stageOf(f.name, complete)
		if !done && !seen[key] {
			seen[key] = true
			parts = append(parts, part{name: f.name, err: errNotOptimized})
		}
	}
	return parts
}

// stageOf reports whether an earlier stage belongs to a module that is complete, and
// else under which name its like are counted. Stages of single passes have dots in
// their names, and so can modules: every prefix can be the module's name.
func stageOf(name string, complete map[string]bool) (string, bool) {
	key, dots := name, 0
	for i := range len(name) {
		if name[i] != '.' {
			continue
		}
		if complete[name[:i]] {
			return "", true
		}
		if dots++; dots == 2 {
			key = name[:i]
		}
	}
	return strings.Clone(key), false
}
