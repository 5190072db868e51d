package triton

// TargetPallas names a custom call whose kernel is Triton code that XLA compiles itself,
// as JAX's Pallas hands it over: its backend_config has MLIR, and no PTX.
const TargetPallas = "__gpu$xla.gpu.triton"

// PallasName is the kernel's name in such a call's backend_config, empty where it has
// none.
func PallasName(config []byte) string {
	name, err := attribute(config, "name", nil)
	if err != nil {
		return ""
	}
	return string(name)
}
