package cudarun

import (
	"os"
	"slices"
	"strings"
)

// workerEnvironment is what of this process's environment a worker needs: to find the
// driver and the card, and to start at all. A dump's kernel runs in it, and what else
// stands there (tokens, most of all) is none of its business.
func workerEnvironment() []string {
	return slices.DeleteFunc(os.Environ(), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		switch name {
		case "PATH", "HOME", "TMPDIR", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "GOCOVERDIR":
			return false
		}
		return !strings.HasPrefix(name, "CUDA_") && !strings.HasPrefix(name, "NVIDIA_") && !strings.HasPrefix(name, "ALIASCHECK_")
	})
}
