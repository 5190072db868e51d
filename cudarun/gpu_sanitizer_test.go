//go:build linux

package cudarun

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A hazard of a Triton kernel has its line of Python.
func TestGPUSanitizerLines(t *testing.T) {
	openGPU(t)
	sanitizer, err := FindSanitizer()
	if err != nil {
		t.Skip(err)
	}
	plan := corpusPlans(t, "scale_apart", false)[0].Plan
	k := &plan.Kernels[0]
	k.Grid[0] *= 2 // past the end of both buffers, n says that it is all right
	k.Params[2].Scalar = u32(2 * binary.LittleEndian.Uint32(k.Params[2].Scalar))
	r, err := Sanitize(context.Background(), gpuOptions(), keepReports(t, sanitizer), "memcheck", &plan)
	require.NoError(t, err)
	assert.Positive(t, r.Errors)
	require.NotEmpty(t, r.Hazards)
	require.NotEmpty(t, r.Hazards[0].Places)
	text, err := json.MarshalIndent(r, "", " ")
	require.NoError(t, err)
	report(t, "lines.json", string(text))
	assert.Contains(t, r.Hazards[0].Places[0].File, "kernels.py", "%s", text)
	assert.Positive(t, r.Hazards[0].Places[0].Line)
}

// compute-sanitizer's warnings are read, and a clean kernel is clean.
func TestGPUSanitizer(t *testing.T) {
	openGPU(t)
	sanitizer, err := FindSanitizer()
	if err != nil {
		t.Skip(err)
	}
	sanitizer = keepReports(t, sanitizer)
	all := ""
	defer func() { report(t, "sanitizer.json", all) }()
	for _, c := range []struct {
		name, tool       string
		errors, warnings bool
	}{
		{"late_copy", "racecheck", false, true},
		{"scale_inplace", "racecheck", false, false},
		{"stray_read", "memcheck", true, false},
		{"scale_inplace", "memcheck", false, false},
		{"scale_inplace", "initcheck", false, false},
		{"scale_inplace", "synccheck", false, false},
		{"add", "initcheck", true, false},
	} {
		var plan Plan
		if c.name == "add" { // reads its result, which nobody wrote
			for _, k := range Controls() {
				if k.Plan.Kernels[0].Entry == c.name {
					plan = k.Plan
				}
			}
		} else {
			plan = corpusPlans(t, c.name, false)[0].Plan
		}
		r, err := Sanitize(context.Background(), gpuOptions(), sanitizer, c.tool, &plan)
		if !assert.NoError(t, err, "%s %s", c.name, c.tool) {
			continue
		}
		text, err := json.MarshalIndent(r, "", " ")
		require.NoError(t, err)
		all += c.name + " " + c.tool + "\n" + string(text) + "\n"
		assert.Equal(t, c.errors, r.Errors > 0, "%s %s: %s", c.name, c.tool, text)
		assert.Equal(t, c.warnings, r.Warnings > 0, "%s %s: %s", c.name, c.tool, text)
		assert.Equal(t, c.errors || c.warnings, len(r.Hazards) > 0, "%s %s: %s", c.name, c.tool, text)
	}
}

// keepReports wraps the tool so that its own report can be looked at afterwards.
func keepReports(t *testing.T, sanitizer string) string {
	folder := os.Getenv(reportVariable)
	if folder == "" {
		return sanitizer
	}
	wrapper := filepath.Join(t.TempDir(), "sanitizer")
	script := fmt.Sprintf("#!/bin/sh\n%s \"$@\"\ncode=$?\nfor a; do case \"$a\" in *.log) cat \"$a\" >> %s;; esac; done\nexit $code\n",
		sanitizer, filepath.Join(folder, "sanitizer.txt"))
	require.NoError(t, os.WriteFile(wrapper, []byte(script), 0o755))
	return wrapper
}
