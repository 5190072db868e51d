package audit

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"aliascheck/rules/confirm"
	"aliascheck/rules/emulate"
	"aliascheck/rules/ptx"
	"aliascheck/rules/replay"

	"github.com/spf13/cobra"
)

// KernelFlags say how kernels are run.
type KernelFlags struct {
	Steps           int64
	Memory          int64
	time            time.Duration
	all             time.Duration // for all kernels together
	sample          int
	operands        []string
	cacheDir        string
	CacheBytes      int64
	NoCache         bool
	requireAnalysis bool
}

// Add adds the flags to a command.
func (k *KernelFlags) Add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.Int64Var(&k.Steps, "max-steps", ptx.DefaultSteps, "most thread-instructions, `N`, of one launch on the PTX machine")
	f.Int64Var(&k.Memory, "max-kernel-bytes", ptx.DefaultMemory, "most `BYTES` of memory for one launch on the PTX machine")
	f.DurationVar(&k.time, "max-kernel-time", time.Minute, "most `TIME` for one kernel on the PTX machine")
	f.DurationVar(&k.all, "max-time", time.Hour, "most `TIME` for all kernels of an audit; those left over are not analysed (0: no limit)")
	f.IntVar(&k.sample, "sample-blocks", 0, "run about `N` blocks of a launch; its verdicts are never complete (0: all)")
	f.StringArrayVar(&k.operands, "operand", nil, "contents of an operand, as `CALL:N=FILE.npy`; may be repeated")
	f.StringVar(&k.cacheDir, "cache-dir", "", "`DIR` that remembers analysed kernels (default: aliascheck in the user's cache)")
	f.Int64Var(&k.CacheBytes, "max-cache-bytes", emulate.DefaultCacheBytes, "about the most `BYTES` to keep in the cache directory; what was not used for longest goes first")
	f.BoolVar(&k.NoCache, "no-cache", false, "remember nothing across runs")
	f.BoolVar(&k.requireAnalysis, "require-analysis", false, "exit 2 where a kernel could not be analysed, or a pair that is declared or shares memory stays unknown")
}

// check says which flag has a value that it must not have.
func (k *KernelFlags) check() error {
	switch {
	case k.Steps < 1:
		return fmt.Errorf("--max-steps %d: at least 1 was expected", k.Steps)
	case k.Memory < 1:
		return fmt.Errorf("--max-kernel-bytes %d: at least 1 was expected", k.Memory)
	case k.time < 0:
		return fmt.Errorf("--max-kernel-time %v: a time of 0 or more was expected", k.time)
	case k.all < 0:
		return fmt.Errorf("--max-time %v: a time of 0 or more was expected", k.all)
	case k.CacheBytes < 1:
		return fmt.Errorf("--max-cache-bytes %d: at least 1 was expected; --no-cache keeps nothing", k.CacheBytes)
	case k.sample < 0:
		return fmt.Errorf("--sample-blocks %d: a number from 0 on was expected", k.sample)
	}
	return nil
}

// Runner makes what runs the kernels: the PTX machine of a build of this version.
func (k *KernelFlags) Runner(version string) (*confirm.Runner, error) {
	if err := k.check(); err != nil {
		return nil, err
	}
	var files []replay.OperandFile
	for _, flag := range k.operands {
		file, err := replay.ParseOperandFile(flag)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	var snapshots replay.Snapshots
	runner := confirm.New(emulate.New(emulate.Options{
		Budget:       ptx.Budget{Steps: k.Steps, Memory: k.Memory},
		SampleBlocks: k.sample,
		Time:         k.time,
		CacheDir:     k.Cache(),
		CacheBytes:   k.CacheBytes,
		Version:      buildStamp(version),
	}))
	runner.Operands = replay.OperandSource{Lookups: []replay.OperandLookup{replay.FromFiles(files), snapshots.Lookup}}
	return runner, nil
}

// Cache is the directory that remembers analysed kernels; empty for none. A machine
// without a home for caches goes without: it costs time, nothing else.
func (k *KernelFlags) Cache() string {
	if k.NoCache {
		return ""
	}
	if k.cacheDir != "" {
		return k.cacheDir
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "aliascheck")
}

// buildStamp tells builds apart whose version is the same: what one build remembers
// another must not believe.
func buildStamp(version string) string {
	stamp := version
	if path, err := os.Executable(); err == nil {
		if info, err := os.Stat(path); err == nil {
			stamp += fmt.Sprintf(" %d %d", info.Size(), info.ModTime().UnixNano())
		}
	}
	return stamp
}
