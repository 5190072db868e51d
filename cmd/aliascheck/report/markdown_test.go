package report

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"aliascheck/rules"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"
)

func markdownOf(t *testing.T, r *rules.Report, o Options) string {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, Markdown(&out, r, o))
	return out.String()
}

// rendered is Markdown as GitHub shows it, before its own cleaning: HTML that a
// name smuggles in would stand in it.
func rendered(t *testing.T, text string) string {
	t.Helper()
	var out bytes.Buffer
	m := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(html.WithUnsafe()))
	require.NoError(t, m.Convert([]byte(text), &out))
	return out.String()
}

func TestMarkdown(t *testing.T) {
	text := markdownOf(t, sample(), Options{SrcRoot: "/home/me/project"})
	assert.True(t, strings.HasPrefix(text, Mark+"\n### aliascheck: 1 error, 1 warning, 1 note\n"))
	for _, want := range []string{
		"`tests/test_sort.py:81`", "`kernels/sort.py:52`", "12 equal calls", "`tests/test_sort.py::test_grad`",
		"**Not read whole:** `dump/module_0007.jit_f.hlo.pb`", "Not analysed: 1 call of `my_ffi_call`", "Stale: ",
	} {
		assert.Contains(t, text, want)
	}
	assert.Less(t, strings.Index(text, "AC201"), strings.Index(text, "AC301"))
	assert.Less(t, strings.Index(text, "AC301"), strings.Index(text, "AC202"))
	page := rendered(t, text)
	assert.Contains(t, page, "<strong>AC201 unsafe-in-place</strong>")
	assert.Contains(t, page, "not safe in place: 30% of it is read late.", "escapes must not be seen")
}

func TestMarkdownOfNothing(t *testing.T) {
	assert.Contains(t, markdownOf(t, &rules.Report{}, Options{}), "nothing found")
	broken := &rules.Report{Summary: rules.Summary{Incomplete: []rules.Incomplete{{Path: "x", Error: "cut off"}}}}
	assert.Contains(t, markdownOf(t, broken, Options{}), "the audit is not whole", "unknown is never clean")
}

func TestMarkdownFitsAComment(t *testing.T) {
	text := markdownOf(t, many(2000), Options{})
	assert.LessOrEqual(t, len(text), markdownLimit)
	assert.Greater(t, len(text), markdownLimit*8/10)
	assert.Contains(t, text, "of 2000 findings shown")

	r := many(1)
	r.Findings[0].Message = strings.Repeat("long ", markdownLimit)
	for range 1000 {
		r.Summary.Incomplete = append(r.Summary.Incomplete, rules.Incomplete{Path: strings.Repeat("p", 5000), Error: strings.Repeat("e", 5000)})
	}
	text = markdownOf(t, r, Options{})
	assert.LessOrEqual(t, len(text), markdownLimit)
	assert.Contains(t, text, "0 of 1 finding shown")
	assert.Contains(t, text, "more\n")
}

func TestMarkdownOfHostileNames(t *testing.T) {
	page := rendered(t, markdownOf(t, hostile(), Options{}))
	blocks := regexp.MustCompile(`(?s)<pre><code class="language-diff">(.*?)</code></pre>`)
	assert.Len(t, blocks.FindAllString(page, -1), 3)
	for _, block := range blocks.FindAllStringSubmatch(page, -1) { // where nobody is mentioned, and nothing becomes a link
		assert.NotContains(t, block[1], "<")
		assert.NotContains(t, block[1], "\x1b")
	}
	page = blocks.ReplaceAllString(page, "")
	for _, tag := range []string{"<script", "<img", "<a ", "<b>", "onclick=\"", "\x1b", "\u202e", "@team", "www.evil", "http://evil"} {
		for _, line := range strings.Split(page, "\n") {
			if at := strings.Index(line, tag); at >= 0 && !insideCode(line, at) {
				t.Errorf("%q came through in %s", tag, line)
			}
		}
	}
	assert.Equal(t, 3, strings.Count(page, "<details>"))
	assert.Equal(t, 3, strings.Count(page, "</details>"))
}

// insideCode reports whether a place of a rendered line stands in a code span,
// where nobody is mentioned and nothing becomes a link. Tags are refused there too.
func insideCode(line string, at int) bool {
	before := line[:at]
	return line[at] != '<' && strings.LastIndex(before, "<code>") > strings.LastIndex(before, "</code>")
}

func TestCodeSpans(t *testing.T) {
	for name, want := range map[string]string{
		"a": "`a`", "a`b": "``a`b``", "`": "`` ` ``", "a|b": "`a\\|b`", "": "", "a\nb": "`a\\x0ab`", " a": "`  a `",
	} {
		assert.Equal(t, want, code(name), "%q", name)
	}
}

func FuzzProseIsOnlyWords(f *testing.F) {
	for _, s := range []string{hostileName(), "1. a", "a *b* _c_ ~~d~~", "[x]: y", "![a](b)", "<a>", "\\<a>", "a@b.c", "- [ ] x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		page := rendered(t, "x "+prose(s)+" x")
		assert.True(t, strings.HasPrefix(page, "<p>x "), page)
		inner := strings.TrimSuffix(strings.TrimPrefix(page, "<p>"), "</p>\n")
		assert.NotContains(t, inner, "<", "of %q", s)
	})
}
