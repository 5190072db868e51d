//go:build !linux

package runner

// leftBehind finds nothing where a process's environment cannot be read: there the
// command's process group is all that is waited for.
func leftBehind(string) []straggler { return nil }
