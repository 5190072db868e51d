package report

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"aliascheck/rules"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func htmlOf(t *testing.T, r *rules.Report) string {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, HTML(&out, r, Options{SrcRoot: "/home/me/project"}))
	return out.String()
}

func TestHTMLNeedsNothingElse(t *testing.T) {
	text := htmlOf(t, sample())
	assert.Contains(t, text, "default-src 'none'")
	for _, tag := range []string{"<link", "<img", "<iframe", " src=", "@import", "url("} {
		assert.NotContains(t, text, tag)
	}
	assert.Empty(t, regexp.MustCompile(`(?i)https?://`).FindAllString(text, -1))
	assert.Equal(t, 1, strings.Count(text, "<script>"), "one script runs, the rest is data")
}

func TestHTMLOfNothing(t *testing.T) {
	assert.Contains(t, htmlOf(t, &rules.Report{}), "Nothing was found in 0 custom calls.")
	broken := &rules.Report{Summary: rules.Summary{Incomplete: []rules.Incomplete{{Path: "x", Error: "cut off"}}}}
	text := htmlOf(t, broken)
	assert.Contains(t, text, "1 input could not be read whole")
	assert.NotContains(t, text, "Nothing was found in 0 custom calls.<", "unknown is never clean")
}

func TestHTMLOfHostileNamesHasOneScript(t *testing.T) {
	text := htmlOf(t, hostile())
	assert.Equal(t, 1, strings.Count(text, "<script>"))
	assert.Equal(t, strings.Count(text, "<script"), strings.Count(text, "</script>"))
	assert.NotContains(t, text, "<img")
	assert.NotContains(t, text, "onerror=window.harmed=1>")
}

func TestMapKeepsTheCallsValuesWhenTheBudgetEnds(t *testing.T) {
	m := sampleMap(1000)
	budget := 0
	none := mapView(m, &budget)
	assert.Equal(t, []int{1, 2}, none.Roles)
	assert.Equal(t, 1000, none.Left)

	budget = 40 * (valueBytes + 10)
	some := mapView(m, &budget)
	assert.Greater(t, len(some.Names), 35)
	for i := range some.Names {
		assert.True(t, some.Roles[i] > 0 || some.From[i] <= m.Until && some.To[i] >= m.At, "what is alive at the call comes first")
	}
	budget = mapBudget
	all := mapView(m, &budget)
	assert.Len(t, all.Names, 1002)
	assert.Zero(t, all.Left)
}

// pixels counts the canvas's pixels of a colour of the style.
const pixels = `((name) => {
  const c = document.querySelector("canvas"), g = c.getContext("2d");
  const probe = document.createElement("canvas").getContext("2d");
  probe.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
  probe.fillRect(0, 0, 1, 1);
  const [r, gr, b] = probe.getImageData(0, 0, 1, 1).data;
  const d = g.getImageData(0, 0, c.width, c.height).data;
  let n = 0;
  for (let i = 0; i < d.length; i += 4) if (d[i] === r && d[i + 1] === gr && d[i + 2] === b) n++;
  return n;
})(%q)`

func TestPageDraws(t *testing.T) {
	p := openPage(t, sample(), Options{SrcRoot: "/home/me/project"}, 1280)
	assert.Equal(t, "1 error, 1 warning, 1 note", p.text(".verdict"))
	assert.Equal(t, "Unsafe in place: _sort_chunks", p.text("h2.title"), "the gravest is open")
	for _, color := range []string{"operand", "result", "conflict", "plain"} {
		assert.Greater(t, eval[int](p, fmt.Sprintf(pixels, color)), 100, color)
	}
	detail := p.text("#detail")
	for _, want := range []string{
		"tests/test_sort.py:81", "sort.py:40", "sort.py:52", "block (9, 0, 0), thread (0, 0, 0)", "NVIDIA H200",
		"11 of 12", "3,955,000 of 4,194,304 (94.3%)", "confined (8 multiprocessors)", "take operand 0 out of input_output_aliases",
		"tests/test_sort.py::test_grad", "suppress: [{code: AC201",
	} {
		assert.Contains(t, detail, want)
	}
	assert.Equal(t, 64, eval[int](p, `document.querySelectorAll(".cells span").length`))
	assert.Equal(t, "0", eval[string](p, `document.querySelector(".cells span").style.getPropertyValue("--heat")`))
	p.noProblems()
	p.shoot("desktop-light")
	p.theme("dark")
	assert.Greater(t, eval[int](p, fmt.Sprintf(pixels, "operand")), 100, "drawn again in the other theme")
	p.shoot("desktop-dark")
	p.do(chromedp.Click(chromedp.CSS("#theme")))
	assert.Equal(t, "light", eval[string](p, "document.documentElement.dataset.theme"))
	p.noProblems()
}

func TestPageFilters(t *testing.T) {
	p := openPage(t, sample(), Options{}, 1280)
	rows := `[...document.querySelectorAll(".row .sev")].map((e) => e.textContent).join(" ")`
	assert.Equal(t, "AC201 AC301 AC202", eval[string](p, rows))
	for _, test := range []struct{ id, value, rows string }{
		{"by-code", "=AC301", "AC301"},
		{"by-kernel", "=k", "AC202"},
		{"by-module", "=jit_sort", "AC201 AC301"},
		{"by-confirmation", "=confirmed", "AC201"},
		{"by-severity", "=note", "AC202"},
		{"by-test", "=tests/test_sort.py::test_grad", "AC201"},
		{"by-test", "=", "AC301 AC202"},
	} {
		p.choose(test.id, test.value)
		assert.Equal(t, test.rows, eval[string](p, rows), test.id)
		p.choose(test.id, "")
	}
	assert.Equal(t, "3 findings", p.text("#count"))
	p.do(chromedp.SendKeys(chromedp.CSS("#search"), "autotuner save"))
	assert.Equal(t, "AC301", eval[string](p, rows))
	assert.Equal(t, "1 of 3 findings", p.text("#count"))
	p.do(chromedp.SendKeys(chromedp.CSS("#search"), "zzz"))
	assert.Equal(t, "No finding fits these filters.", p.text(".nothing"))
	p.do(chromedp.Click(chromedp.CSS("#reset")))
	assert.Equal(t, "AC201 AC301 AC202", eval[string](p, rows))
	p.do(chromedp.Click(chromedp.CSS(`.code-filter[data-code="AC202"]`)))
	assert.Equal(t, "AC202", eval[string](p, rows))
	p.noProblems()
}

func TestPageLinks(t *testing.T) {
	p := openPage(t, sample(), Options{}, 1280)
	assert.Equal(t, "", eval[string](p, "location.hash"))
	p.do(chromedp.Click(chromedp.CSS("#row-1")))
	assert.Equal(t, "#f-warning", eval[string](p, "location.hash"))
	assert.Contains(t, p.text("h2.title"), "Autotune not restored")
	p.do(chromedp.NavigateBack())
	p.do(chromedp.Navigate("about:blank"), chromedp.Navigate(p.url+"#f-note"))
	assert.Contains(t, p.text("h2.title"), "Unclaimed result")
	assert.Equal(t, "true", eval[string](p, `document.getElementById("row-2").getAttribute("aria-selected")`))
	p.do(chromedp.Navigate("about:blank"), chromedp.Navigate(p.url+"#no-such-finding"))
	assert.Contains(t, p.text("h2.title"), "Unsafe in place")
	p.noProblems()
}

// Who follows a link finds the row in the list, however long that is.
func TestPageLinkScrollsTheList(t *testing.T) {
	r := many(400)
	p := openPage(t, r, Options{}, 1280)
	last := r.Findings[len(r.Findings)-1].Fingerprint
	p.do(chromedp.Navigate("about:blank"), chromedp.Navigate(p.url+"#"+last))
	assert.True(t, eval[bool](p, `(() => {
		const box = document.getElementById("list").getBoundingClientRect(), row = document.querySelector('.row[aria-selected="true"]').getBoundingClientRect();
		return row.top >= box.top - 1 && row.bottom <= box.bottom + 1; })()`))
	p.noProblems()
}

// Each count has the colour of what it counts.
func TestPageCountsBySeverity(t *testing.T) {
	r := sample()
	more := r.Findings[1]
	more.Fingerprint, more.Severity = "f-more", rules.Note
	r.Findings = append(r.Findings, more)
	text := htmlOf(t, r)
	assert.Contains(t, text, `<span class="count error" title="1 error">1</span> <span class="count note" title="1 note">1</span>`)
}

func TestPageCopies(t *testing.T) {
	p := openPage(t, sample(), Options{}, 1280)
	for _, name := range []string{"clipboard-read", "clipboard-write"} {
		_, err := chromedp.CallBrowser(p.ctx, browser.SetPermission, browser.SetPermissionParams{
			Permission: &browser.PermissionDescriptor{Name: name}, Setting: browser.PermissionSettingGranted})
		require.NoError(t, err)
	}
	copied := func() string { return eval[string](p, "navigator.clipboard.readText()") }
	p.do(chromedp.Click(chromedp.CSS("#copy-link")), chromedp.WaitVisible(chromedp.CSS("#toast.on")))
	assert.Equal(t, p.url+"#f-error", copied())
	p.do(chromedp.Click(chromedp.CSS(".snippet .copy")), chromedp.WaitVisible(chromedp.CSS("#toast.on")))
	assert.True(t, strings.HasPrefix(copied(), "suppress: [{code: AC201, kernel: "), copied())
	p.do(chromedp.Click(chromedp.CSS(".at .copy")))
	assert.Equal(t, "/home/me/project/tests/test_sort.py:81", copied())

	// Without the clipboard API the old way has to do.
	eval[bool](p, `Object.defineProperty(navigator, "clipboard", {value: undefined}), window.old = "", document.addEventListener("copy", () => { window.old = document.activeElement.value; }), true`)
	p.do(chromedp.Click(chromedp.CSS(".snippet .copy")), chromedp.WaitVisible(chromedp.CSS("#toast.on")))
	assert.True(t, strings.HasPrefix(eval[string](p, "window.old"), "suppress: [{code: AC201"))
	p.noProblems()
}

func TestPageObeysTheKeyboard(t *testing.T) {
	p := openPage(t, sample(), Options{}, 1280)
	// Not KeyEvent, which types the character although the page took the key.
	eval[bool](p, `document.body.dispatchEvent(new KeyboardEvent("keydown", {key: "/", bubbles: true}))`)
	assert.Equal(t, "search", eval[string](p, "document.activeElement.id"))
	p.do(chromedp.KeyEvent(kb.Escape))
	assert.Equal(t, "list", eval[string](p, "document.activeElement.id"))
	p.do(chromedp.KeyEvent(kb.ArrowDown))
	assert.Contains(t, p.text("h2.title"), "Autotune not restored")
	assert.Equal(t, "row-1", eval[string](p, `document.getElementById("list").getAttribute("aria-activedescendant")`))
	p.do(chromedp.KeyEvent(kb.End))
	assert.Contains(t, p.text("h2.title"), "Unclaimed result")
	p.do(chromedp.KeyEvent(kb.Home), chromedp.KeyEvent(kb.Enter))
	assert.Equal(t, "detail", eval[string](p, "document.activeElement.id"))

	p.do(chromedp.Focus(chromedp.CSS("canvas")), chromedp.KeyEvent("n"))
	assert.Contains(t, p.text(".tip"), "p0 (operand): bytes 0 to 16,777,216 (16 MiB)")
	before := p.text(".readout")
	p.do(chromedp.KeyEvent("+"))
	assert.NotEqual(t, before, p.text(".readout"))
	p.do(chromedp.KeyEvent("0"))
	assert.Equal(t, "64 MiB × 80 steps", p.text(".readout"))
	p.noProblems()
}

func TestPageFitsAPhone(t *testing.T) {
	p := openPage(t, sample(), Options{SrcRoot: "/home/me/project"}, 390)
	width := `document.documentElement.scrollWidth`
	visible := func(selector string) bool {
		return eval[bool](p, fmt.Sprintf("document.querySelector(%q).offsetParent !== null", selector))
	}
	assert.LessOrEqual(t, eval[int](p, width), 390)
	assert.False(t, visible("#detail"), "the list comes first")
	p.shoot("phone-list-light")
	p.do(chromedp.Click(chromedp.CSS("#row-0")))
	assert.True(t, visible("#detail"))
	assert.False(t, visible("#list"))
	assert.LessOrEqual(t, eval[int](p, width), 390)
	assert.Greater(t, eval[int](p, fmt.Sprintf(pixels, "operand")), 100)
	p.shoot("phone-detail-light")
	p.theme("dark")
	p.shoot("phone-detail-dark")
	p.do(chromedp.Click(chromedp.CSS(".back")))
	assert.True(t, visible("#list"))
	assert.Equal(t, "", eval[string](p, "location.hash"))
	p.shoot("phone-list-dark")
	p.do(chromedp.NavigateBack())
	assert.True(t, visible("#detail"), "back from the list is the finding again")
	p.noProblems()
}

func TestPageOfHostileNames(t *testing.T) {
	p := openPage(t, hostile(), Options{}, 1280)
	for n := range 3 {
		p.do(chromedp.Click(chromedp.CSS(fmt.Sprintf("#row-%d", n))))
		assert.Contains(t, p.text("#detail"), "<img src=x onerror=window.harmed=1>", "it is shown as text")
	}
	assert.False(t, eval[bool](p, "'harmed' in window"))
	assert.Zero(t, eval[int](p, `document.querySelectorAll("img, #detail script, [onclick]").length`))
	assert.NotContains(t, p.text("body"), "\u202e")
	assert.LessOrEqual(t, eval[int](p, `document.documentElement.scrollWidth`), 1280, "a long name breaks no layout")
	p.noProblems()
	p.shoot("hostile")
}

func TestPageOfManyDoesNotChoke(t *testing.T) {
	r := many(5000)
	r.Findings[4999].Map = sampleMap(50_000)
	p := openPage(t, r, Options{}, 1280)
	assert.Equal(t, "5,000 findings", p.text("#count"))
	assert.Contains(t, eval[string](p, `document.querySelector("canvas").getAttribute("aria-label")`), "50,002 values")
	assert.Greater(t, eval[int](p, fmt.Sprintf(pixels, "operand")), 100)
	assert.Less(t, eval[int](p, `document.querySelectorAll(".row").length`), 500, "rows are made as they are scrolled to")
	p.do(chromedp.Focus(chromedp.CSS("canvas")), chromedp.KeyEvent("0"))
	assert.Equal(t, "64 MiB × 100,000 steps", p.text(".readout"))
	assert.Greater(t, eval[int](p, fmt.Sprintf(pixels, "operand")), 100)
	p.shoot("many")
	p.do(chromedp.Navigate("about:blank"), chromedp.Navigate(p.url+fmt.Sprintf("#%020x", 4998)))
	assert.Equal(t, "a.py:4999", p.text(".at code"), "the last one is found by its link")
	p.noProblems()
}
