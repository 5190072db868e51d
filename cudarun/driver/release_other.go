//go:build !linux

package driver

// driverRelease is known on Linux only.
func driverRelease() string { return "" }
