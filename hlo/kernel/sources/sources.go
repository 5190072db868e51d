// Package sources lists where kernels come from.
package sources

import (
	"aliascheck/hlo/kernel"
	"aliascheck/hlo/kernel/mosaic"
	"aliascheck/hlo/kernel/pallas"
	"aliascheck/hlo/kernel/triton"
)

// All lists every source. The first that handles a call's target reads the call.
func All() []kernel.Source {
	return []kernel.Source{
		triton.Source(),
		pallas.Source(),
		mosaic.Source(),
	}
}
