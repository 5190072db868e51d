package compile

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"aliascheck/hlo"
)

// Target is a GPU to compile for.
type Target struct {
	Name   string
	Config string // stream_executor.GpuTargetConfigProto as text
}

// gpu is what XLA is told of a GPU. Where the numbers are from stands beside each row
// of gpus; those that all of an architecture share are in architecture.
type gpu struct {
	name, device string
	capability   int     // 90 for 9.0
	cores        int     // multiprocessors
	bandwidth    float64 // of its memory, GB/s
	l2           int64   // cache, bytes
	clock        float64 // of the multiprocessors, GHz
	memoryClock  float64 // GHz
	memory       int64   // bytes
}

// gpus lists the targets by their names. "spec" is XLA's published description,
// xla/backends/gpu/target_config/specs/NAME.txtpb of openxla/xla; "dump" is what XLA
// wrote on such a card (*.gpu_target_config.pbtxt); "data sheet" is NVIDIA's.
func gpus() []gpu {
	const mib, gib = 1 << 20, 1 << 30
	return []gpu{
		// spec v100: Tesla V100-SXM2-16GB.
		{"v100", "Tesla V100-SXM2-16GB", 70, 80, 898.048, 6 * mib, 1.53, 0.877, 16935682048},
		// spec a100_sxm_80.
		{"a100", "NVIDIA A100-SXM4-80GB", 80, 108, 2039.04, 40 * mib, 1.41, 1.593, 85100068864},
		// data sheet L4 (AD104): 58 multiprocessors, 48 MB of L2, 24 GB at 300 GB/s, boost 2040 MHz.
		{"l4", "NVIDIA L4", 89, 58, 300.096, 48 * mib, 2.04, 6.251, 24 * gib},
		// data sheet L40S (AD102): 142 multiprocessors, 96 MB of L2, 48 GB at 864 GB/s, boost 2520 MHz.
		{"l40s", "NVIDIA L40S", 89, 142, 864.096, 96 * mib, 2.52, 9.001, 48 * gib},
		// spec h100_sxm.
		{"h100", "NVIDIA H100 80GB HBM3", 90, 132, 3352.32, 50 * mib, 1.98, 2.619, 84942979072},
		// dump: JAX 0.11.2 on an H200, driver 580.159.
		{"h200", "NVIDIA H200", 90, 132, 4814.304, 60 * mib, 1.98, 3.201, 150109880320},
		// data sheet GH200 (H100 with 96 GB of HBM3 at 4 TB/s); the chip's own numbers as spec h100_sxm.
		{"gh200", "NVIDIA GH200 480GB", 90, 132, 4022.784, 60 * mib, 1.98, 2.619, 96 * gib},
		// spec b200.
		{"b200", "NVIDIA B200", 100, 148, 7672.32, 132644864, 1.965, 3.996, 191514411008},
		// spec gb200.
		{"gb200", "NVIDIA GB200", 100, 152, 7928.064, 135528448, 2.062, 3.996, 197897748480},
		// spec b300.
		{"b300", "NVIDIA B300", 103, 158, 7936, 135528448, 1.965, 3.996, 297021865984},
		// data sheet GeForce RTX 4090 (AD102): 128 multiprocessors, 72 MB of L2, 24 GB at 1008 GB/s, boost 2520 MHz.
		{"rtx4090", "NVIDIA GeForce RTX 4090", 89, 128, 1008.096, 72 * mib, 2.52, 10.501, 24 * gib},
		// data sheet GeForce RTX 5090 (GB202): 170 multiprocessors, 96 MB of L2, 32 GB at 1792 GB/s, boost 2407 MHz.
		{"rtx5090", "NVIDIA GeForce RTX 5090", 120, 170, 1792.128, 96 * mib, 2.407, 14.001, 32 * gib},
	}
}

// architecture is what the CUDA C++ Programming Guide says of a compute capability
// (table "Technical Specifications per Compute Capability").
type architecture struct {
	sharedPerCore  int // bytes of shared memory of a multiprocessor
	sharedPerBlock int // bytes a block may have where it opts in
	threadsPerCore int
	blocksPerCore  int
	fpusPerCore    int // 32-bit units
}

func architectureOf(capability int) architecture {
	const kib = 1024
	switch {
	case capability < 80:
		return architecture{96 * kib, 96 * kib, 2048, 32, 64}
	case capability == 80:
		return architecture{164 * kib, 163 * kib, 2048, 32, 64}
	case capability < 90:
		return architecture{100 * kib, 99 * kib, 1536, 24, 128}
	case capability < 120:
		return architecture{228 * kib, 227 * kib, 2048, 32, 128}
	}
	return architecture{100 * kib, 99 * kib, 1536, 24, 128}
}

// Names lists the targets that there are.
func Names() []string {
	var names []string
	for _, g := range gpus() {
		names = append(names, g.name)
	}
	return names
}

// Lookup finds targets by name. The error names the ones that there are.
func Lookup(names []string) ([]Target, error) {
	var found []Target
	for _, name := range names {
		name = strings.ToLower(strings.TrimSpace(name))
		n := slices.IndexFunc(gpus(), func(g gpu) bool { return g.name == name })
		if n < 0 {
			return nil, fmt.Errorf("target %q: one of %s was expected, or --target-config FILE", name, strings.Join(Names(), ", "))
		}
		if !slices.ContainsFunc(found, func(t Target) bool { return t.Name == name }) {
			found = append(found, Target{Name: name, Config: gpus()[n].config()})
		}
	}
	return found, nil
}

// maxConfig bounds a target configuration, in bytes.
const maxConfig = 1 << 20

// FromFile is the target that a file describes, named after it.
func FromFile(path string) (Target, error) {
	f, _, err := hlo.OpenRegular(path)
	if err != nil {
		return Target{}, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxConfig+1))
	if err != nil {
		return Target{}, err
	}
	if len(text) > maxConfig {
		return Target{}, fmt.Errorf("%s: longer than 1 MiB", path)
	}
	if !strings.Contains(string(text), "cuda_compute_capability") {
		return Target{}, fmt.Errorf("%s: no target configuration of a CUDA GPU: it names no cuda_compute_capability", path)
	}
	name, _, _ := strings.Cut(filepath.Base(path), ".gpu_target_config")
	name = strings.TrimSuffix(name, filepath.Ext(name))
	return Target{Name: strings.Map(plain, name), Config: string(text)}, nil
}

// plain keeps what may stand in the name of a directory.
func plain(r rune) rune {
	if r == '-' || r == '_' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
		return r
	}
	return '_'
}
