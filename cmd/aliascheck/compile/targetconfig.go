package compile

import (
	"fmt"
	"strings"
)

// config writes a GPU as XLA's GpuTargetConfigProto, as XLA of JAX 0.11.2 writes it
// into dumps. Fields that an older XLA does not know are dropped when it says so.
func (g gpu) config() string {
	a := architectureOf(g.capability)
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("gpu_device_info {")
	for _, f := range []struct {
		name  string
		value int64
	}{
		{"threads_per_block_limit", 1024}, {"threads_per_warp", 32},
		{"shared_memory_per_block", 48 << 10}, {"shared_memory_per_core", int64(a.sharedPerCore)},
		{"threads_per_core_limit", int64(a.threadsPerCore)}, {"core_count", int64(g.cores)}, {"fpus_per_core", int64(a.fpusPerCore)},
		{"block_dim_limit_x", 1<<31 - 1}, {"block_dim_limit_y", 65535}, {"block_dim_limit_z", 65535},
		{"memory_bandwidth", int64(g.bandwidth * 1e9)}, {"l2_cache_size", g.l2},
		{"device_memory_size", g.memory}, {"shared_memory_per_block_optin", int64(a.sharedPerBlock)},
		{"registers_per_core_limit", 65536}, {"registers_per_block_limit", 65536},
	} {
		line("  %s: %d", f.name, f.value)
	}
	line("  clock_rate_ghz: %g", g.clock)
	line("  cuda_compute_capability {\n    major: %d\n    minor: %d", g.capability/10, g.capability%10)
	suffix := ""
	if g.capability >= 90 {
		line("    feature_extension: ACCELERATED_FEATURES")
		suffix = "a"
	}
	line("  }")
	b.WriteString(rates(g.capability, g.clock))
	line(`  driver_version: "13.0.0"
  runtime_version: "13.0.0"
  compile_time_toolkit_version: "13.0.0"
  dnn_version: "9.19.0"
  device_vendor: "NVIDIA Corporation"
  platform_version: "Compute Capability %d.%d%s"
  name: %q
  model_str: "sm_%d.%d%s with %dB RAM, %d cores, %.0fKHz clock, %.0fKHz mem clock, %dB L2$"
  numa_node: -1
  thread_dim_limit_x: 1024
  thread_dim_limit_y: 1024
  thread_dim_limit_z: 64
  device_address_bits: 64
  ecc_enabled: true
  mem_clock_ghz: %g
  reserved_shared_memory_per_block: 1024
  max_blocks_per_multiprocessor: %d
}
platform_name: "CUDA"
device_description_str: %q
runtime_version {
  major: 13
}`, g.capability/10, g.capability%10, suffix, g.device,
		g.capability/10, g.capability%10, suffix, g.memory, g.cores, g.clock*1e6, g.memoryClock*1e6, g.l2,
		g.memoryClock, a.blocksPerCore, g.device)
	return b.String()
}

// rate is how many units of a multiprocessor work on a type, and what each does a
// clock; key is XLA's PrimitiveType.
type rate struct{ key, units, ops int }

// rates are XLA's scalar and matrix units of an architecture, from the dump of an H200
// and the published description of a B200; others have none there.
func rates(capability int, clock float64) string {
	scalar, matrix, slower := hopperScalar(), hopperMatrix(), 1.8295201/1.98
	switch {
	case capability < 90, capability >= 120:
		return ""
	case capability >= 100:
		scalar, matrix, slower = blackwellScalar(), blackwellMatrix(), 1.8353101/1.965
	}
	var b strings.Builder
	write := func(name string, rates []rate, clock func(rate) float64) {
		fmt.Fprintf(&b, "  %s {\n", name)
		for _, r := range rates {
			fmt.Fprintf(&b, "    rate_infos { key: %d value { clock_rate_ghz: %g units_per_core: %d ops_per_clock: %d } }\n", r.key, clock(r), r.units, r.ops)
		}
		b.WriteString("  }\n")
	}
	write("scalar_unit_description", scalar, func(rate) float64 { return clock })
	write("matrix_unit_description", matrix, func(r rate) float64 {
		if r.key == f64 {
			return clock
		}
		return clock * slower
	})
	return b.String()
}

// XLA's PrimitiveType (xla/xla_data.proto).
const (
	s8, s32, u8            = 2, 4, 6
	u32, f16, f32, f64     = 8, 10, 11, 12
	bf16, f8e5m2           = 16, 19
	f8e4m3fn, f8e4m3b11    = 20, 23
	f8e5m2fnuz, f8e4m3fnuz = 24, 25
	f8e4m3, f8e3m4         = 28, 29
	f4e2m1fn, f8e8m0fnu    = 32, 33
)

func hopperScalar() []rate {
	return []rate{{s32, 64, 1}, {u32, 64, 1}, {f16, 128, 2}, {f32, 128, 1}, {f64, 64, 1}, {bf16, 128, 2}}
}

func hopperMatrix() []rate {
	return append(eightBits(1024), rate{f16, 4, 512}, rate{bf16, 4, 512}, rate{f32, 4, 256}, rate{f64, 4, 32})
}

func blackwellScalar() []rate {
	return []rate{{s32, 64, 1}, {u32, 64, 1}, {f16, 128, 1}, {f32, 128, 1}, {f64, 64, 1}, {bf16, 128, 1}}
}

func blackwellMatrix() []rate {
	return append(eightBits(2048), rate{f4e2m1fn, 4, 4096}, rate{f16, 4, 1024}, rate{bf16, 4, 1024}, rate{f32, 4, 512}, rate{f64, 4, 16})
}

// eightBits are the types that have the rate of eight bits, as the dump lists them.
func eightBits(ops int) []rate {
	var rates []rate
	for _, key := range []int{s8, u8, f8e5m2, f8e4m3fn, f8e4m3b11, f8e5m2fnuz, f8e4m3fnuz, f8e4m3, f8e3m4, f8e8m0fnu, 35, 36} {
		rates = append(rates, rate{key, 4, ops})
	}
	return rates
}
