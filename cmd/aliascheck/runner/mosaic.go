package runner

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"aliascheck/hlo/kernel/mosaic"
)

// mosaicDir is where Mosaic GPU writes what it made of a process's kernels.
const mosaicDir = "mosaic"

// maxMosaicLog bounds a log that is cut, in bytes.
const maxMosaicLog = 256 << 20

// trim deletes what a process has dumped of its kernels that no audit needs, while it
// goes on: a kernel of Mosaic GPU comes with a MB of passes, of which the last tell how
// it is launched, and XLA writes LLVM's code beside each PTX. Nobody reads these files
// but the audit, so that trouble with one is no reason to stop.
func (p *process) trim() {
	for _, name := range p.names {
		if strings.HasSuffix(name, ".ll") || strings.HasSuffix(name, ".triton-to-llvm.txt") {
			_ = os.Remove(filepath.Join(p.dir, name))
		}
	}
	dir := filepath.Join(p.dir, mosaicDir)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		name, path := e.Name(), filepath.Join(dir, e.Name())
		switch {
		case !e.Type().IsRegular(), strings.HasSuffix(name, ".ptx"):
		case !strings.HasSuffix(name, ".mlir-passes.log"):
			_ = os.Remove(path)
		case !p.trimmed[name]:
			if trimLog(path) {
				if p.trimmed == nil {
					p.trimmed = map[string]bool{}
				}
				p.trimmed[name] = true
			}
		}
	}
}

// trimLog cuts a log that nobody writes any more, and puts it in the old one's place: who
// opened that goes on with it.
func trimLog(path string) bool {
	info, err := os.Stat(path)
	if err != nil || info.Size() > maxMosaicLog || time.Since(info.ModTime()) < time.Second {
		return false
	}
	log, err := os.ReadFile(path)
	if err != nil {
		return false
	}
	text, ok := mosaic.Trim(log)
	if !ok {
		return false
	}
	cut := path + ".cut"
	if os.WriteFile(cut, text, 0o666) != nil || os.Rename(cut, path) != nil {
		_ = os.Remove(cut)
		return false
	}
	return true
}

// dropMosaic deletes a process's kernels once none of its modules is kept.
func (p *process) dropMosaic(drop func(*module) bool) {
	for _, m := range p.modules {
		if !drop(m) {
			return
		}
	}
	_ = os.RemoveAll(filepath.Join(p.dir, mosaicDir))
}
