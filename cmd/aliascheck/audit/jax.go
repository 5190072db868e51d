package audit

import (
	"errors"
	"os"
	"slices"
	"time"

	"aliascheck/cmd/aliascheck/compile"
	"aliascheck/cudarun/jax"

	"github.com/spf13/cobra"
)

// jaxFlags say how calls are replayed in the user's own JAX.
type jaxFlags struct {
	python    string
	imports   []string
	noTrace   bool
	sanitizer string
	timeout   time.Duration
}

// Add adds the flags to a command.
func (j *jaxFlags) Add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&j.python, "python", "", "with --replay jax: the `PYTHON` that has JAX (default: the virtual environment's, else python3)")
	f.StringArrayVar(&j.imports, "import", nil, "with --replay jax: a Python `MODULE` that registers custom-call targets; may be repeated")
	f.BoolVar(&j.noTrace, "no-trace", false, "with --replay jax: replay only, trace nothing")
	f.StringVar(&j.sanitizer, "sanitizer-dir", "", "with --replay jax: the `DIR` of libsanitizer-public.so")
	f.DurationVar(&j.timeout, "jax-timeout", jax.DefaultSilence, "with --replay jax: a call that runs longer than this `TIME` hangs")
}

// Around lets the user's JAX be asked after the job's other engines. What it returns
// ends the workers. notes: what processes of a run noted of their targets is believed.
func (j *jaxFlags) Around(mode string, job *Job, notes bool) (end func(), err error) {
	if mode != "jax" {
		if len(j.imports) > 0 || j.noTrace || j.sanitizer != "" {
			return nil, errors.New("--import, --no-trace and --sanitizer-dir need --replay jax")
		}
		return func() {}, nil
	}
	if j.timeout <= 0 {
		return nil, errors.New("--jax-timeout: a time above 0 was expected")
	}
	dir, err := os.MkdirTemp("", "aliascheck-")
	if err != nil {
		return nil, err
	}
	python, err := compile.FindPython(j.python, os.Environ())
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	e := jax.NewEngine(jax.Options{
		Python: python, Imports: slices.Concat(j.imports, job.Config.ReplayImports), Trace: !j.noTrace,
		Library: j.sanitizer, Silence: j.timeout, Dir: dir,
	}, jax.EngineOptions{Notes: notes})
	job.Runner.Engines = append(job.Runner.Engines, e)
	job.anyCall = true
	return func() { _ = errors.Join(e.Close(), os.RemoveAll(dir)) }, nil
}
