// Command wheel packs one build of aliascheck as a Python wheel: the binary as a script,
// the manual page and the completions as data. The same input gives the same bytes.
// Format: packaging.python.org, "Binary distribution format" (PEP 427) and "Core metadata
// specifications"; names of platforms: PEP 600 (manylinux), PEP 656 (musllinux).
package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "wheel:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	f := flag.NewFlagSet("wheel", flag.ContinueOnError)
	binary := f.String("binary", "", "the program")
	files := f.String("files", "", "folder with LICENSE, README.md, man and completion")
	platform := f.String("platform", "", "linux/amd64, ...; linux-static/... for a build without a C library")
	release := f.String("version", "", "v1.2.3")
	date := f.Int64("date", 0, "of everything in it, in seconds since 1970")
	to := f.String("to", "dist", "folder")
	if err := f.Parse(args); err != nil {
		return err
	}
	version, err := pythonVersion(*release)
	if err != nil {
		return err
	}
	tag, ok := tags()[*platform]
	if !ok {
		return fmt.Errorf("no wheels are made for %q", *platform)
	}
	w := newWheel("aliascheck-"+version, time.Unix(max(*date, 315532800), 0)) // zip begins with 1980
	if err := w.fill(*binary, *files, version, tag); err != nil {
		return err
	}
	name := filepath.Join(*to, "aliascheck-"+version+"-py3-none-"+tag+".whl")
	if err := os.WriteFile(name, w.bytes(), 0o644); err != nil {
		return err
	}
	fmt.Println(name)
	return nil
}

// tags are the platforms of wheels, by Go's names. Go's own limits are Linux 3.2 and
// macOS 12; the builds that load a driver's library link to glibc, of any age.
func tags() map[string]string {
	return map[string]string{
		"linux/amd64":        "manylinux_2_17_x86_64.manylinux2014_x86_64",
		"linux/arm64":        "manylinux_2_17_aarch64.manylinux2014_aarch64",
		"linux-static/amd64": "musllinux_1_1_x86_64",
		"linux-static/arm64": "musllinux_1_1_aarch64",
		"darwin/amd64":       "macosx_12_0_x86_64",
		"darwin/arm64":       "macosx_12_0_arm64",
	}
}

// pythonVersion is a release's name as Python has it (PEP 440): v1.2.3-rc.1 is 1.2.3rc1,
// and what a revision between releases is called is a development version.
func pythonVersion(release string) (string, error) {
	m := regexp.MustCompile(`^v(\d+\.\d+\.\d+)(?:-(.+))?$`).FindStringSubmatch(release)
	if m == nil {
		return "", fmt.Errorf("-version %q: v1.2.3 was expected", release)
	}
	if m[2] == "" {
		return m[1], nil
	}
	if pre := regexp.MustCompile(`^(alpha|beta|rc)\.?(\d+)$`).FindStringSubmatch(m[2]); pre != nil {
		return m[1] + map[string]string{"alpha": "a", "beta": "b", "rc": "rc"}[pre[1]] + pre[2], nil
	}
	local := regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(strings.ToLower(strings.TrimPrefix(m[2], "dev.")), ".")
	return m[1] + ".dev0+" + strings.Trim(local, "."), nil
}

// wheel is an archive with the record of its files.
type wheel struct {
	buffer bytes.Buffer
	zip    *zip.Writer
	date   time.Time
	name   string // NAME-VERSION
	record strings.Builder
	err    error // the first
}

func newWheel(name string, date time.Time) *wheel {
	w := &wheel{date: date.UTC(), name: name}
	w.zip = zip.NewWriter(&w.buffer)
	return w
}

// fill writes all files of a wheel; the record of them is the last.
func (w *wheel) fill(binary, files, version, tag string) error {
	program, err := os.ReadFile(binary)
	if err != nil {
		return err
	}
	readme, err := os.ReadFile(filepath.Join(files, "README.md"))
	if err != nil {
		return err
	}
	w.add(w.name+".data/scripts/aliascheck", program, 0o755)
	for _, f := range dataFiles() {
		text, err := os.ReadFile(filepath.Join(files, f[0]))
		if err != nil {
			return err
		}
		w.add(w.name+".data/data/share/"+f[1], text, 0o644)
	}
	license, err := os.ReadFile(filepath.Join(files, "LICENSE"))
	if err != nil {
		return err
	}
	info := w.name + ".dist-info/"
	w.add(info+"licenses/LICENSE", license, 0o644)
	w.add(info+"METADATA", append([]byte(metadata(version)), readme...), 0o644)
	var kinds strings.Builder
	for p := range strings.SplitSeq(tag, ".") {
		fmt.Fprintf(&kinds, "Tag: py3-none-%s\n", p)
	}
	w.add(info+"WHEEL", []byte("Wheel-Version: 1.0\nGenerator: aliascheck\nRoot-Is-Purelib: false\n"+kinds.String()), 0o644)
	w.record.WriteString(info + "RECORD,,\n")
	w.put(info+"RECORD", []byte(w.record.String()), 0o644)
	if w.err != nil {
		return w.err
	}
	return w.zip.Close()
}

// dataFiles are the files beside the program: in the release, and below share.
func dataFiles() [][2]string {
	return [][2]string{
		{"man/aliascheck.1", "man/man1/aliascheck.1"},
		{"completion/aliascheck.bash", "bash-completion/completions/aliascheck"},
		{"completion/aliascheck.zsh", "zsh/site-functions/_aliascheck"},
		{"completion/aliascheck.fish", "fish/vendor_completions.d/aliascheck.fish"},
	}
}

// metadata names what the engines need that aliascheck is not: JAX that compiles for
// GPUs, and NVIDIA's library that traces accesses on one.
func metadata(version string) string {
	return "Metadata-Version: 2.4\nName: aliascheck\nVersion: " + version + "\n" +
		"Summary: Find custom calls of JAX programs that share memory which they should not\n" +
		"License-Expression: Apache-2.0\nLicense-File: LICENSE\nRequires-Python: >=3.9\n" +
		"Classifier: Environment :: GPU :: NVIDIA CUDA\nClassifier: Topic :: Software Development :: Quality Assurance\n" +
		"Provides-Extra: compile\n" +
		"Requires-Dist: jax>=0.10; extra == 'compile'\n" +
		"Requires-Dist: jax-cuda12-plugin>=0.10; extra == 'compile'\n" +
		"Requires-Dist: nvidia-cuda-nvcc-cu12; extra == 'compile'\n" +
		"Requires-Dist: absl-py; extra == 'compile'\n" +
		"Requires-Dist: flatbuffers; extra == 'compile'\n" +
		"Provides-Extra: trace\n" +
		"Requires-Dist: nvidia-cuda-sanitizer-api; extra == 'trace'\n" +
		"Description-Content-Type: text/markdown\n\n"
}

// add writes a file and its line of the record.
func (w *wheel) add(name string, data []byte, mode fs.FileMode) {
	w.put(name, data, mode)
	sum := sha256.Sum256(data)
	fmt.Fprintf(&w.record, "%s,sha256=%s,%d\n", name, base64.RawURLEncoding.EncodeToString(sum[:]), len(data))
}

func (w *wheel) put(name string, data []byte, mode fs.FileMode) {
	if w.err != nil {
		return
	}
	h := &zip.FileHeader{Name: path.Clean(name), Method: zip.Deflate, Modified: w.date}
	h.SetMode(mode)
	out, err := w.zip.CreateHeader(h)
	if err == nil {
		_, err = out.Write(data)
	}
	w.err = err
}

func (w *wheel) bytes() []byte { return w.buffer.Bytes() }
