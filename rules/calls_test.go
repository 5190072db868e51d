package rules

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestCallsAreOneListInJSON: the calls of all modules in a flat list, which falls into
// the same modules when it is read.
func TestCallsAreOneListInJSON(t *testing.T) {
	calls := Calls{
		{{Path: "a", Module: "m", Instruction: "x"}, {Path: "a", Module: "m", Instruction: "y"}},
		{{Path: "a", Module: "n", Instruction: "x"}},
		{{Path: "b", Module: "n", Instruction: "x"}},
	}
	data, err := json.Marshal(calls)
	require.NoError(t, err)
	var flat []Call
	require.NoError(t, json.Unmarshal(data, &flat))
	require.Len(t, flat, calls.Len())
	n := 0
	for c := range calls.All() {
		assert.Equal(t, *c, flat[n])
		n++
	}
	assert.Equal(t, calls.Len(), n)

	var back Calls
	require.NoError(t, json.Unmarshal(data, &back))
	assert.Equal(t, calls, back)

	data, err = json.Marshal(Calls(nil))
	require.NoError(t, err)
	assert.Equal(t, "[]", string(data), "no calls are an empty list, not null")
	assert.Error(t, json.Unmarshal([]byte(`{}`), &back))
}
