package runner

import (
	"os"
	"path/filepath"
	"strings"
)

// environment is a child's environment: NAME=VALUE strings, the last of a name wins.
type environment []string

func (e environment) get(name string) string {
	for i := len(e) - 1; i >= 0; i-- {
		if n, v, ok := strings.Cut(e[i], "="); ok && n == name {
			return v
		}
	}
	return ""
}

func (e environment) set(name, value string) environment {
	out := make(environment, 0, len(e)+1)
	for _, entry := range e {
		if !strings.HasPrefix(entry, name+"=") {
			out = append(out, entry)
		}
	}
	return append(out, name+"="+value)
}

// prepend puts value before what name holds, with sep between.
func (e environment) prepend(name, value, sep string) environment {
	if old := e.get(name); old != "" {
		value += sep + old
	}
	return e.set(name, value)
}

// childEnvironment is env with what a dumping child needs. dumps is the directory
// below which every process dumps, python the one with the embedded modules, empty
// when the child is to run without them.
func childEnvironment(env []string, flags dumpFlags, dumps, shared, python string, target *Target) environment {
	e := environment(env).
		set("XLA_FLAGS", flags.withDump(shared)).
		set("JAX_ENABLE_COMPILATION_CACHE", "false")
	if target != nil {
		// What is compiled for the target says itself where its dump goes; nobody wants the CPU's.
		e = e.set("XLA_FLAGS", flags.withoutDump()).
			set("ALIASCHECK_TARGET", target.Name).
			set("ALIASCHECK_TARGET_CONFIG", filepath.Join(python, targetConfig))
	}
	if python == "" {
		return e
	}
	return e.
		set("ALIASCHECK_DUMPS", dumps).
		prepend("PYTHONPATH", python, string(os.PathListSeparator)).
		prepend("PYTEST_ADDOPTS", "-p aliascheck_pytest", " ")
}
