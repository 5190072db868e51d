package compile

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Machine is what a Python has of what aliascheck needs; empty texts are not there. See
// python/aliascheck_doctor.py.
type Machine struct {
	Python         string            `json:"python"`
	Executable     string            `json:"executable"`
	JAX            string            `json:"jax"`
	JAXlib         string            `json:"jaxlib"`
	Old            bool              `json:"old"` // JAX is too old to compile
	Plugin         string            `json:"plugin"`
	PluginFits     bool              `json:"plugin_fits"` // its version is JAX's
	Ptxas          string            `json:"ptxas"`
	Absl           string            `json:"absl"`
	Triton         string            `json:"triton"`
	JAXTriton      string            `json:"jax_triton"`
	Flatbuffers    string            `json:"flatbuffers"`
	Pip            map[string]string `json:"pip"` // what installs what is missing
	CacheDirectory string            `json:"cache_directory"`
	CacheEnabled   bool              `json:"cache_enabled"`
	XLAFlags       string            `json:"xla_flags"`
}

// Probe asks a Python what it has.
func Probe(ctx context.Context, python string, env []string) (*Machine, error) {
	dir, err := os.MkdirTemp("", "aliascheck-doctor-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	scripts := filepath.Join(dir, "site-packages")
	if err := WriteScripts(scripts); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, python, filepath.Join(scripts, "aliascheck_doctor.py"))
	cmd.Env = withoutPython(env)
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		lines := strings.Split(strings.TrimSpace(said.String()), "\n")
		return nil, fmt.Errorf("%s: %w: %s", python, err, lines[len(lines)-1])
	}
	var m Machine
	if err := json.Unmarshal(out, &m); err != nil {
		return nil, fmt.Errorf("%s: what it says is no JSON: %w", python, err)
	}
	return &m, nil
}
