package main

import (
	"fmt"
	"os"
	"testing"
	"time"

	"aliascheck/cmd/aliascheck/audit"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestProgressOnTerminals draws the line where a terminal knows escape sequences, and
// prints nothing where it does not.
func TestProgressOnTerminals(t *testing.T) {
	user, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo terminals here: %v", err)
	}
	defer user.Close()
	number, err := unix.IoctlGetUint32(int(user.Fd()), unix.TIOCGPTN)
	require.NoError(t, err)
	require.NoError(t, unix.IoctlSetPointerInt(int(user.Fd()), unix.TIOCSPTLCK, 0))
	terminal, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	defer terminal.Close()

	draw := func() {
		p := audit.NewProgress(terminal, false)
		p.Start = p.Start.Add(-time.Minute)
		p.Step()
		p.Clear()
		_, err := terminal.WriteString("|")
		require.NoError(t, err)
	}
	shown := func() string {
		text, one := "", make([]byte, 1)
		for {
			_, err := user.Read(one)
			require.NoError(t, err)
			if one[0] == '|' {
				return text
			}
			text += string(one)
		}
	}
	t.Setenv("TERM", "dumb")
	draw()
	assert.Empty(t, shown())
	t.Setenv("TERM", "xterm")
	draw()
	assert.Regexp(t, `^\r\x1b\[K1 modules?, \d+ s\r\x1b\[K$`, shown())
}
