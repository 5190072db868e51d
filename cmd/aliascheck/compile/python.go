package compile

import (
	"embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// python holds what the user's Python runs. The go command embeds files into package
// variables only; nothing ever writes to this one.
//
//go:embed python/*.py
var python embed.FS

// WriteScripts puts the Python side into dir, which it makes.
func WriteScripts(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
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

// FindPython is the interpreter to use: the one that was named, else the active virtual
// environment's, else that of .venv in the current directory, else python3.
func FindPython(named string, env []string) (string, error) {
	if named != "" {
		path, err := exec.LookPath(named)
		if err != nil {
			return "", fmt.Errorf("--python %s: there is no such program", named)
		}
		return filepath.Abs(path)
	}
	var places []string
	for _, e := range env {
		if dir, ok := strings.CutPrefix(e, "VIRTUAL_ENV="); ok && dir != "" {
			places = append(places, filepath.Join(dir, "bin", "python"))
		}
	}
	for _, place := range append(places, filepath.Join(".venv", "bin", "python")) {
		if path, err := exec.LookPath(place); err == nil {
			return filepath.Abs(path)
		}
	}
	path, err := exec.LookPath("python3")
	if err != nil {
		return "", errors.New("there is no python3 on the PATH: --python PYTHON names the one that has JAX")
	}
	return filepath.Abs(path)
}
