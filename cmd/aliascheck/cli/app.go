// Package cli is what all commands have in common: streams, exit codes, help, terminals,
// and files that are whole or not there.
package cli

import (
	"fmt"
	"io"

	"aliascheck/rules"
)

// Exit codes. A gate must never read an unreadable dump as clean: 2 outranks 1.
const (
	ExitClean    = 0
	ExitFindings = 1
	ExitFailed   = 2 // the audit is not whole, or could not run
)

// App is what every command has: where to read and write, and what this build calls itself.
type App struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Version        string
}

// Tool is what a report says of its maker.
func (a *App) Tool() rules.Tool { return rules.Tool{Name: "aliascheck", Version: a.Version} }

// ExitError ends the program with a code; what there was to say has been said.
type ExitError int

func (e ExitError) Error() string { return fmt.Sprintf("exit code %d", int(e)) }
