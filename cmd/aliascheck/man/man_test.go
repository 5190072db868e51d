package man

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestRoffKeepsTextAsItIs(t *testing.T) {
	for in, want := range map[string]string{
		"a-b":      `a\-b`,
		`c:\d`:     `c:\ed`,
		".x 'y' `": `\&.x \(aqy\(aq \(ga`,
	} {
		assert.Equal(t, want, roff(in))
	}
}
