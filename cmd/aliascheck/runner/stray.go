package runner

import (
	"io/fs"
	"path/filepath"
	"strings"
)

// strays lists the protos of modules below dumps that no process's directory has under a
// name that XLA gives: nobody audits them, so that they must be named.
func (w *watcher) strays() (list []string, err error) {
	err = filepath.WalkDir(w.dumps, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		below, _ := filepath.Rel(w.dumps, path)
		if e.IsDir() {
			if below == pythonDir {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(strings.TrimSuffix(e.Name(), ".gz"), ".hlo.pb") {
			return nil
		}
		if strings.Count(below, string(filepath.Separator)) != 1 || w.stages.strange(e.Name()) {
			list = append(list, path)
		}
		return nil
	})
	return list, err
}

// strange reports whether a proto has a name that XLA gives to none: no number, or one
// that the audit cannot take, or the stage after optimization in a form of its own.
func (s stages) strange(name string) bool {
	number, _, final := s.parse(name)
	return number < 0 || !final && strings.Contains(name, "after_optimizations.hlo.pb")
}
