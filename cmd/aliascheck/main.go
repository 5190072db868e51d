// Command aliascheck audits what XLA dumps for custom calls that share memory
// which they should not. Its command line and exit codes: README.md.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// Exit codes. A gate must never read an unreadable dump as clean: 2 outranks 1.
const (
	exitClean    = 0
	exitFindings = 1
	exitFailed   = 2 // the audit is not whole, or could not run
)

// app is what every command has: where to read and write.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
}

// exitError ends the program with a code; what there was to say has been said.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// run is the whole program: it returns the exit code.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	boundGarbage()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	a := &app{stdin: stdin, stdout: stdout, stderr: stderr}
	root := newRootCommand(a)
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	var code exitError
	switch {
	case err == nil:
		return exitClean
	case errors.As(err, &code):
		return int(code)
	}
	fmt.Fprintf(stderr, "aliascheck: %v\n", err)
	return exitFailed
}
