package runner

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strconv"
)

// maxEnvironment bounds what is read of a process's environment, in bytes.
const maxEnvironment = 4 << 20

// leftBehind finds the processes that can still dump below a directory: those whose
// environment names it. A daemon that made itself a session of its own is found too, by
// what it was started with; one that was started without cannot dump there.
func leftBehind(dumps string) (list []straggler) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		folder := filepath.Join("/proc", e.Name())
		if environment, err := readStart(filepath.Join(folder, "environ"), maxEnvironment); err != nil || !bytes.Contains(environment, []byte(dumps)) {
			continue // another user's, or ended, or none of the run's
		}
		if state, err := readStart(filepath.Join(folder, "stat"), 4096); err != nil || ended(state) {
			continue
		}
		line, _ := readStart(filepath.Join(folder, "cmdline"), 4096)
		list = append(list, straggler{pid, string(bytes.TrimSpace(bytes.ReplaceAll(line, []byte{0}, []byte{' '})))})
	}
	return list
}

// ended reports whether a process is a zombie: its state stands behind its name, which is
// in parentheses and may hold any.
func ended(stat []byte) bool {
	rest := stat[bytes.LastIndexByte(stat, ')')+1:]
	return len(rest) > 1 && (rest[1] == 'Z' || rest[1] == 'X')
}

// readStart reads a file's first bytes, at most limit.
func readStart(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, limit))
}
