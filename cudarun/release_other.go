//go:build !linux

package cudarun

// driverRelease is known on Linux only.
func driverRelease() string { return "" }
