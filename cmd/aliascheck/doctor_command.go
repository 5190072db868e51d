package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"aliascheck/cmd/aliascheck/audit"
	"aliascheck/cmd/aliascheck/cli"
	"aliascheck/cmd/aliascheck/compile"
	"aliascheck/cmd/aliascheck/doctor"
	"aliascheck/cmd/aliascheck/report"
	"aliascheck/cudarun"
	"aliascheck/cudarun/jax"

	"github.com/spf13/cobra"
)

// doctorOptions are the flags of `aliascheck doctor`.
type doctorOptions struct {
	need   []string
	python string
	format string
}

func newDoctorCommand(a *cli.App) *cobra.Command {
	var o doctorOptions
	cmd := &cobra.Command{
		Use:   "doctor [flags]",
		Short: "Say what works on this machine, and what to install for the rest",
		Long: `doctor looks at the Python, JAX and its CUDA plugin, ptxas, Triton, the driver,
the cards and NVIDIA's sanitizer, and prints what is there, what is missing and
the line that installs it. Auditing a dump needs none of them.

Exit code: 0; 2 where something is missing that --need asked for.`,
		Example: `  aliascheck doctor
  aliascheck doctor --need compile --python .venv/bin/python`,
		Args: cli.Exactly(0, "doctor takes no arguments; --need says what must work"),
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), a) },
	}
	f := cmd.Flags()
	f.StringSliceVar(&o.need, "need", nil, "exit 2 where something is missing for these `USES`: "+strings.Join(doctor.Uses(), ", "))
	f.StringVar(&o.python, "python", "", "`PYTHON` that has JAX")
	f.StringVar(&o.format, "format", "text", "`FORMAT`: text or json")
	return cmd
}

func (o *doctorOptions) run(ctx context.Context, a *cli.App) error {
	for _, use := range o.need {
		if !slices.Contains(doctor.Uses(), use) {
			return fmt.Errorf("--need %q: one of %s was expected", use, strings.Join(doctor.Uses(), ", "))
		}
	}
	rows := doctor.Rows(o.find(ctx))
	var err error
	switch o.format {
	case "text":
		err = doctor.Write(a.Stdout, rows, report.Clean)
	case "json":
		e := json.NewEncoder(a.Stdout)
		e.SetIndent("", "  ")
		err = e.Encode(map[string]any{"schema_version": 1, "rows": rows})
	default:
		return fmt.Errorf("--format %q: text or json was expected", o.format)
	}
	if err != nil {
		return err
	}
	if len(doctor.Lacking(rows, o.need)) > 0 {
		return cli.ExitError(cli.ExitFailed)
	}
	return nil
}

// find looks at the machine.
func (o *doctorOptions) find(ctx context.Context) *doctor.Found {
	f := &doctor.Found{}
	python, err := compile.FindPython(o.python, os.Environ())
	if err == nil {
		f.Machine, err = compile.Probe(ctx, python, os.Environ())
	}
	f.Python = err
	f.Cards, f.Driver = cards(ctx)
	f.Sanitizer, _ = cudarun.FindSanitizer() // not there: the row says so
	if python != "" {
		f.Library, _ = jax.FindLibrary("", python)
	}
	f.CacheDir = (&audit.KernelFlags{}).Cache()
	f.Cache = usable(f.CacheDir)
	return f
}

// cards names the cards that kernels could be replayed on.
func cards(ctx context.Context) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	s, err := cudarun.Open(ctx, cudarun.Options{})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	var names []string
	for _, d := range s.Devices() {
		names = append(names, fmt.Sprintf("%s, compute capability %d.%d, driver %s", d.Name, d.Capability/10, d.Capability%10, d.Driver))
	}
	return names, nil
}

// usable says why a cache directory cannot be written to by us.
func usable(dir string) error {
	if dir == "" {
		return nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return errors.New(dir + " is no directory")
	}
	f, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		return errors.New(dir + " is not ours to write to")
	}
	f.Close()
	return os.Remove(f.Name())
}
