package selftest

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A control that fails fails the command.
func TestAControlThatFailsFails(t *testing.T) {
	var out bytes.Buffer
	rows := []row{{engine: "E", name: "good", code: "AC1", found: true, ok: true}, {engine: "E", name: "bad", code: "AC2", said: "nothing"}}
	err := write(&out, rows, []string{"GPU: none"})
	assert.EqualError(t, err, "selftest: 1 of 2 controls failed")
	assert.Regexp(t, `E +good +AC1 +be found +ok\n`, out.String())
	assert.Regexp(t, `E +bad +AC2 +not be found +FAILED: nothing\n`, out.String())
	assert.Contains(t, out.String(), "not here: GPU: none\n")
	assert.NoError(t, write(&out, rows[:1], nil))
}
