package diff

import (
	"context"
	"slices"

	"aliascheck/hlo"
	"aliascheck/rules"

	"golang.org/x/sync/errgroup"
)

// moduleFacts are the facts of one module, or why it could not be read.
type moduleFacts struct {
	number int // in the order of the dump
	err    string
	ids    []Identity
	states []*variant
	found  []Found
}

// Options say how a dump is read.
type Options struct {
	Limits  hlo.Limits
	Jobs    int                   // modules at the same time
	Auditor func() *rules.Auditor // makes what judges them, one a worker
	Step    func()                // is called after each module, by one goroutine
}

// Read reads the facts of every call of a dump, with several workers. What cannot be
// read is noted; an error is ctx's.
func Read(ctx context.Context, o Options, path string) (*Dump, error) {
	type numbered struct {
		number int
		src    hlo.Source
	}
	g, ctx := errgroup.WithContext(ctx)
	sources, results := make(chan numbered), make(chan moduleFacts)
	g.Go(func() error {
		defer close(sources)
		n := 0
		for src, err := range hlo.Find([]string{path}, o.Limits) {
			n++
			if err != nil {
				results <- moduleFacts{number: n, err: src.Path + ": " + err.Error()}
				continue
			}
			select {
			case sources <- numbered{n, src}:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		return nil
	})
	for range o.Jobs {
		g.Go(func() error {
			w := &factWorker{reader: hlo.NewReader(o.Limits), auditor: o.Auditor(), facts: newFactReader()}
			for s := range sources {
				m := w.read(ctx, s.src)
				if ctx.Err() != nil {
					return context.Cause(ctx)
				}
				m.number = s.number
				results <- m
			}
			return nil
		})
	}
	var all []moduleFacts
	collected := make(chan struct{})
	go func() {
		defer close(collected)
		for m := range results {
			all = append(all, m)
			o.Step()
		}
	}()
	err := g.Wait()
	close(results)
	<-collected
	return join(all), err
}

// join puts the modules of a dump together, in their order.
func join(all []moduleFacts) *Dump {
	slices.SortFunc(all, func(x, y moduleFacts) int { return x.number - y.number })
	d := &Dump{variants: map[Identity][]*variant{}, foundAt: map[sameFinding]int{}}
	for _, m := range all {
		if m.err != "" {
			d.incomplete = append(d.incomplete, m.err)
			continue
		}
		d.modules++
		d.addFindings(m.found)
		for n, id := range m.ids {
			d.add(id, m.states[n])
		}
	}
	return d
}

// factWorker reads modules one after the other, in the same memory.
type factWorker struct {
	reader  *hlo.Reader
	auditor *rules.Auditor
	facts   factReader
}

func (w *factWorker) read(ctx context.Context, src hlo.Source) moduleFacts {
	m, err := w.reader.Read(src)
	if err != nil {
		return moduleFacts{err: src.Path + ": " + err.Error()}
	}
	judged := w.auditor.Module(ctx, m)
	if ctx.Err() != nil {
		return moduleFacts{}
	}
	found := map[string]string{}
	for i := range judged.Findings {
		f := &judged.Findings[i]
		found[f.Fingerprint] = f.Code + " " + f.Rule + " (" + string(f.Severity) + ")"
	}
	out := moduleFacts{found: memoryFindings(judged.Findings)}
	for n, c := range w.facts.alias.Calls(m) {
		call := &judged.Calls[n] // the auditor goes through the calls in the same order
		file, function := w.auditor.Place(m, c.Instruction)
		out.ids = append(out.ids, Identity{
			Module: judged.Name, Target: call.Target, Kernel: call.Kernel,
			Shapes: shapesOf(&c), File: file, Function: function,
		})
		f := w.facts.facts(&c, call, found)
		out.states = append(out.states, &variant{facts: f, key: f.key(), path: judged.Path, instruction: call.Instruction, calls: 1})
	}
	return out
}
