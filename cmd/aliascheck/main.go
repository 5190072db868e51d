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

	"aliascheck/cmd/aliascheck/cli"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run is the whole program: it returns the exit code.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	boundGarbage()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	a := &cli.App{Stdin: stdin, Stdout: stdout, Stderr: stderr, Version: version()}
	root := newRootCommand(a)
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	var code cli.ExitError
	switch {
	case err == nil:
		return cli.ExitClean
	case errors.As(err, &code):
		return int(code)
	}
	fmt.Fprintf(stderr, "aliascheck: %v\n", err)
	return cli.ExitFailed
}
