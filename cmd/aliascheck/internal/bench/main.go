// Bench measures whole audits: the process from its start to its end, verdicts and
// JSON included, in turn with the floor and with a peer.
//
//	bench -binary aliascheck -tree DIR [-literal DIR] [-peer 'python3 peer.py'] [-runs 7]
//
// The floor is read() of the same bytes through one reused buffer. The peer does the
// same parse and nothing else. Figures are medians of runs that were interleaved:
// the machine's drift hits all of them alike.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

type options struct {
	binary, tree, literal, peer string
	runs                        int
}

func run() error {
	var o options
	flag.StringVar(&o.binary, "binary", "bin/aliascheck", "the aliascheck to measure")
	flag.StringVar(&o.tree, "tree", "", "folder of modules, from benchtree")
	flag.StringVar(&o.literal, "literal", "", "folder of one module with a huge literal")
	flag.StringVar(&o.peer, "peer", "", "command that parses the tree it is given")
	flag.IntVar(&o.runs, "runs", 7, "runs of each")
	flag.Parse()
	if err := o.measureTree(); err != nil || o.literal == "" {
		return err
	}
	return o.measureLiteral()
}

// figure is what one process took.
type figure struct {
	wall, cpu time.Duration
	peak      int64 // bytes
}

// audit runs the audit on a folder. Its findings are no failure of the benchmark.
func (o *options) audit(folder string, jobs int) (figure, error) {
	return measure(o.binary, "--replay", "off", "--format", "json", "--quiet", fmt.Sprintf("--jobs=%d", jobs), folder)
}

func measure(name string, args ...string) (figure, error) {
	cmd := exec.Command(name, args...)
	cmd.Stdout = io.Discard
	cmd.Stderr = os.Stderr
	start := time.Now()
	err := cmd.Run()
	wall := time.Since(start)
	if code := cmd.ProcessState.ExitCode(); err != nil && code != 1 {
		return figure{}, fmt.Errorf("%s: %w", name, err)
	}
	usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	return figure{wall, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), usage.Maxrss << 10}, nil
}

// floor reads every file of a folder through one buffer.
func floor(folder string) (time.Duration, int64, error) {
	buf := make([]byte, 1<<20)
	total := int64(0)
	start := time.Now()
	files, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil {
		return 0, 0, err
	}
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			return 0, 0, err
		}
		for {
			n, err := f.Read(buf)
			total += int64(n)
			if err == io.EOF {
				break
			}
			if err != nil {
				return 0, 0, err
			}
		}
		f.Close()
	}
	return time.Since(start), total, nil
}

// series are the interleaved figures of one way.
type series struct {
	walls []time.Duration
	peak  int64
}

func (s *series) add(f figure) {
	s.walls = append(s.walls, f.wall)
	s.peak = max(s.peak, f.peak)
}

func median(list []time.Duration) time.Duration {
	slices.Sort(list)
	return list[len(list)/2]
}

func (o *options) measureTree() error {
	var floors []time.Duration
	var one, two, peer series
	var bytes int64
	for n := range o.runs + 1 { // the first warms the cache and does not count
		d, total, err := floor(o.tree)
		if err != nil {
			return err
		}
		a, err := o.audit(o.tree, 1)
		if err != nil {
			return err
		}
		b, err := o.audit(o.tree, 2)
		if err != nil {
			return err
		}
		if n == 0 {
			bytes = total
			continue
		}
		floors = append(floors, d)
		one.add(a)
		two.add(b)
		if fields := strings.Fields(o.peer); len(fields) > 0 && n <= 3 {
			p, err := measure(fields[0], append(fields[1:], o.tree)...)
			if err != nil {
				return err
			}
			peer.add(p)
		}
	}
	base := median(floors)
	fmt.Printf("%.1f MB, medians of %d interleaved runs\n", float64(bytes)/1e6, o.runs)
	row := func(name string, d time.Duration, peak int64) {
		fmt.Printf("%-22s %8.0f ms %8.0f MB/s %6.3f of the floor", name, ms(d), float64(bytes)/1e6/d.Seconds(), float64(base)/float64(d))
		if peak > 0 {
			fmt.Printf(" %6.1f MiB", float64(peak)/(1<<20))
		}
		fmt.Println()
	}
	row("read(), the floor", base, 0)
	w := median(one.walls)
	row("audit, one worker", w, one.peak)
	v := median(two.walls)
	row("audit, two workers", v, two.peak)
	fmt.Printf("two workers: %.2f times one\n", float64(w)/float64(v))
	if len(peer.walls) > 0 {
		p := median(peer.walls)
		row("peer", p, peer.peak)
		fmt.Printf("audit: %.1f times the peer's speed\n", float64(p)/float64(w))
	}
	return nil
}

func (o *options) measureLiteral() error {
	var floors []time.Duration
	var audits series
	for n := range o.runs + 1 {
		d, _, err := floor(o.literal)
		if err != nil {
			return err
		}
		a, err := o.audit(o.literal, 1)
		if err != nil {
			return err
		}
		if n > 0 {
			floors = append(floors, d)
			audits.add(a)
		}
	}
	base, w := median(floors), median(audits.walls)
	fmt.Printf("module with a huge literal: read() %.1f ms, audit %.1f ms (%.2f of reading), %.1f MiB\n",
		ms(base), ms(w), float64(w)/float64(base), float64(audits.peak)/(1<<20))
	return nil
}

func ms(d time.Duration) float64 { return d.Seconds() * 1e3 }
