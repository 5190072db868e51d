package driver

import (
	"os"
	"strings"
)

// driverRelease is the driver's own version ("580.159.03"), "" where the kernel
// module does not tell.
func driverRelease() string {
	b, err := os.ReadFile("/sys/module/nvidia/version")
	if err == nil {
		return strings.TrimSpace(string(b))
	}
	b, err = os.ReadFile("/proc/driver/nvidia/version")
	if err != nil {
		return ""
	}
	for _, word := range strings.Fields(string(b)) {
		if parts := strings.Split(word, "."); len(parts) >= 2 && strings.Trim(word, "0123456789.") == "" {
			return word
		}
	}
	return ""
}
