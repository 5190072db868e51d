package runner

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// openTerminal makes a pseudo terminal: what a user types into, and what a command reads.
func openTerminal(t *testing.T) (user, command *os.File) {
	user, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo terminals here: %v", err)
	}
	t.Cleanup(func() { user.Close() })
	number, err := unix.IoctlGetUint32(int(user.Fd()), unix.TIOCGPTN)
	require.NoError(t, err)
	require.NoError(t, unix.IoctlSetPointerInt(int(user.Fd()), unix.TIOCSPTLCK, 0))
	command, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	return user, command
}

func startOnTerminal(t *testing.T, script string) (cmd *exec.Cmd, user *os.File, next func() string) {
	user, command := openTerminal(t)
	cmd = exec.Command(os.Args[0], "sh", "-c", script)
	cmd.Env = append(os.Environ(), asRunner+"=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = command, command, command
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	require.NoError(t, cmd.Start())
	require.NoError(t, command.Close())
	lines := bufio.NewScanner(user)
	return cmd, user, func() string {
		for lines.Scan() {
			// The terminal echoes what is typed at it.
			if line := strings.TrimSpace(strings.NewReplacer("^C", "", "^Z", "").Replace(lines.Text())); line != "" {
				return line
			}
		}
		return "(closed)"
	}
}

func TestCtrlCReachesTheCommandOnce(t *testing.T) {
	cmd, user, next := startOnTerminal(t, `n=0; trap 'n=$((n+1))' INT; echo ready
		until [ $n -gt 0 ]; do sleep 0.02; done; sleep 0.2; read line; echo "$n $line"; exit 7`)
	require.Equal(t, "ready", next())
	_, err := user.WriteString("\x03")
	require.NoError(t, err)
	_, err = user.WriteString("typed\n")
	require.NoError(t, err)
	got := next()
	if got == "typed" {
		got = next()
	}
	assert.Equal(t, "1 typed", got, "the command owns the terminal: it gets Ctrl-C once and reads what is typed")
	assert.Equal(t, "code 7 error <nil>", next(), "and then aliascheck may write to it again")
	assert.Error(t, cmd.Wait())
}

func TestCtrlZStopsTheCommandAndItsRunner(t *testing.T) {
	// A script that starts processes could be stopped in the middle of a vfork, which
	// waits for the child's exec and so for ever.
	cmd, user, next := startOnTerminal(t, `trap 'echo continued; exit 5' CONT; echo ready; read line`)
	require.Equal(t, "ready", next())
	_, err := user.WriteString("\x1a")
	require.NoError(t, err)
	var status syscall.WaitStatus
	_, err = syscall.Wait4(cmd.Process.Pid, &status, syscall.WUNTRACED, nil)
	require.NoError(t, err)
	require.True(t, status.Stopped(), "a shell would now give its prompt")
	require.NoError(t, cmd.Process.Signal(syscall.SIGCONT))
	assert.Equal(t, "continued", next())
	assert.Equal(t, "code 5 error <nil>", next())
	assert.Error(t, cmd.Wait())
}
