package runner

import (
	"embed"
	"os"
	"path/filepath"
)

// python holds what a Python process under `run` imports. The go command embeds
// files into package variables only; nothing ever writes to this one.
//
//go:embed python/*.py
var python embed.FS

// writePython puts the embedded modules into dir, which it makes.
func writePython(dir string) error {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	entries, err := python.ReadDir("python")
	if err != nil {
		return err
	}
	for _, e := range entries {
		text, err := python.ReadFile("python/" + e.Name())
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, e.Name()), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
