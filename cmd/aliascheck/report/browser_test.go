package report

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"aliascheck/rules"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// browserName finds a Chromium, or skips the test.
func browserName(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("a browser takes long: make test runs it")
	}
	for _, name := range []string{os.Getenv("CHROMIUM"), "chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); name != "" && err == nil {
			return path
		}
	}
	t.Skip("no Chromium was found (apt-get install chromium, or set CHROMIUM)")
	return ""
}

// page is an HTML report in a real browser.
type page struct {
	t   *testing.T
	ctx context.Context
	url string

	mu       sync.Mutex
	problems []string // exceptions, and what the console calls an error
}

// hangs is how long a browser may take before it counts as one that hangs: no test
// depends on how fast it is.
const hangs = 5 * time.Minute

// openPage writes a report as HTML and opens it in a browser of the given width.
func openPage(t *testing.T, r *rules.Report, o Options, width int64) *page {
	t.Helper()
	name := browserName(t)
	path := filepath.Join(t.TempDir(), "report.html")
	var out bytes.Buffer
	require.NoError(t, HTML(&out, r, o))
	require.NoError(t, os.WriteFile(path, out.Bytes(), 0o600))

	ctx, stop := chromedp.NewContext(context.Background(), chromedp.WithAllocatorOptions(
		chromedp.ExecPath(name), chromedp.NoSandbox, chromedp.Flag("disable-dev-shm-usage", true),
		chromedp.WSURLReadTimeout(hangs)))
	t.Cleanup(stop)
	ctx, stop = context.WithTimeout(ctx, hangs)
	t.Cleanup(stop)
	p := &page{t: t, ctx: ctx, url: (&url.URL{Scheme: "file", Path: path}).String()}
	require.NoError(t, chromedp.Listen(ctx, p.listen))
	_, err := chromedp.Call(ctx, log.Enable, cdp.Empty{})
	require.NoError(t, err)
	p.do(chromedp.EmulateViewport(width, 900), chromedp.Navigate(p.url))
	return p
}

func (p *page) listen(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		p.problems = append(p.problems, e.ExceptionDetails.Text+fmt.Sprint(e.ExceptionDetails.Exception))
	case *log.EventEntryAdded: // what the content security policy refuses is an error too
		if e.Entry.Level == log.EntryLevelError {
			p.problems = append(p.problems, e.Entry.Text)
		}
	}
}

func (p *page) do(actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	require.NoError(p.t, chromedp.Do(p.ctx, actions...))
}

// eval evaluates JavaScript in the page.
func eval[T any](p *page, script string) T {
	p.t.Helper()
	out, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](script, chromedp.EvalAwaitPromise))
	require.NoError(p.t, err)
	return out
}

func (p *page) text(selector string) string {
	p.t.Helper()
	return eval[string](p, fmt.Sprintf("document.querySelector(%q).innerText", selector))
}

// choose picks an option of a select as a user does.
func (p *page) choose(id, value string) {
	p.t.Helper()
	eval[bool](p, fmt.Sprintf(`(() => { const s = document.getElementById(%q); s.value = %q; s.dispatchEvent(new Event("change", {bubbles: true})); return s.value === %q; })()`, id, value, value))
}

func (p *page) theme(name string) {
	p.t.Helper()
	_, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}}})
	require.NoError(p.t, err)
	// The page hears of it, and draws, with one of the next frames.
	eval[bool](p, "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))")
}

// noProblems checks that the browser had nothing to complain about.
func (p *page) noProblems() {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	require.Empty(p.t, p.problems)
}

// shoot keeps a picture of the page where SCREENSHOTS names a directory.
func (p *page) shoot(name string) {
	p.t.Helper()
	dir := os.Getenv("SCREENSHOTS")
	if dir == "" {
		return
	}
	png, err := chromedp.Run(p.ctx, chromedp.FullScreenshot(100))
	require.NoError(p.t, err)
	require.NoError(p.t, os.MkdirAll(dir, 0o755))
	require.NoError(p.t, os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644))
}
