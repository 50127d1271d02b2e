package main

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// tutorial represents a reader of docs/tutorial.md who types its commands.
type tutorial struct {
	t      *testing.T
	folder string
	server string // address of the server
}

// TestTutorial runs the commands of docs/tutorial.md in order. They must print the lines of the page, in
// which numbers may differ, and the model must be as good as the page claims.
func TestTutorial(t *testing.T) {
	if !isStory() {
		t.Skip("make check-story runs the tutorial, which trains resnet20")
	}
	page, err := os.ReadFile("../../docs/tutorial.md")
	if err != nil {
		t.Fatal(err)
	}
	u := &tutorial{t: t, folder: t.TempDir()}
	n := 0
	for _, block := range fences.FindAllString(string(page), -1) {
		block = strings.ReplaceAll(strings.Trim(block, "`\n"), "\\\n", " ")
		for part := range strings.SplitSeq("\n"+block, "\n$ ") {
			line, want, _ := strings.Cut(part, "\n")
			if strings.HasPrefix(part, "\n") || line == "" {
				continue // this block has no command, but the files of a folder
			}
			n++
			u.compare(line, u.typed(strings.Fields(line)), want)
		}
	}
	if n < 10 {
		t.Errorf("only %d commands were found", n)
	}
}

// typed runs a command line, and returns what it prints.
func (u *tutorial) typed(words []string) string {
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Dir = u.folder
	switch {
	case words[0] == "curl":
		return u.curl(words)
	case words[0] == "go":
		root, err := filepath.Abs("../..")
		if err != nil {
			u.t.Fatal(err)
		}
		cmd = exec.Command("go", "run", words[2], filepath.Join(u.folder, words[3]))
		cmd.Dir = root
	case words[1] == "serve":
		return u.serve(words)
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		u.t.Fatalf("%s: %v\n%s", strings.Join(words, " "), err, out)
	}
	return string(out)
}

// serve starts the server of a command on free ports.
func (u *tutorial) serve(words []string) string {
	cmd := exec.Command("bnctl", append(words[1:], "--http", "127.0.0.1:0", "--grpc", "127.0.0.1:0")...)
	cmd.Dir, cmd.Stderr = u.folder, os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		u.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		u.t.Fatal(err)
	}
	u.t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		cmd.Wait()
	})
	text := ""
	for r := bufio.NewReader(out); strings.Count(text, "\n") < 2; {
		line, err := r.ReadString('\n')
		if err != nil {
			u.t.Fatal(err)
		}
		text += line
	}
	address, err := url.Parse(strings.Fields(text)[0])
	if err != nil {
		u.t.Fatal(err)
	}
	u.server = address.Host
	return text
}

// curl sends the request that curl --data-binary @FILE URL would send to the server.
func (u *tutorial) curl(words []string) string {
	body, err := os.ReadFile(filepath.Join(u.folder, strings.TrimPrefix(words[2], "@")))
	if err != nil {
		u.t.Fatal(err)
	}
	address := strings.Replace(strings.Trim(words[3], "'"), "localhost:8000", u.server, 1)
	answer, err := http.Post(address, "application/x-www-form-urlencoded", bytes.NewReader(body))
	if err != nil {
		u.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		u.t.Fatalf("%s: %s, %v", address, answer.Status, err)
	}
	return string(text)
}

var (
	sums    = regexp.MustCompile(`[0-9a-f]{64}`)
	classes = regexp.MustCompile(`kernels \w+`)
	digits  = regexp.MustCompile(`[0-9]+`)
	blanks  = regexp.MustCompile(` +`)
	correct = regexp.MustCompile(`samples  accuracy ([0-9.]+) %`)
)

// skeleton removes those parts of a text that differ between machines.
func skeleton(text string) string {
	text = classes.ReplaceAllString(sums.ReplaceAllString(text, "#"), "kernels #")
	return blanks.ReplaceAllString(digits.ReplaceAllString(text, "#"), " ")
}

// compare checks that the printed text contains the lines of the page, in order. Three dots in the page match
// any text.
func (u *tutorial) compare(line, got, want string) {
	rest := skeleton(got)
	for shown := range strings.Lines(want) {
		parts := strings.Split(regexp.QuoteMeta(strings.TrimSpace(skeleton(shown))), regexp.QuoteMeta("..."))
		at := regexp.MustCompile("(?m)^ ?" + strings.Join(parts, ".*") + ".*$").FindStringIndex(rest)
		if shown = strings.TrimSpace(shown); shown == "..." {
			continue
		}
		if at == nil {
			u.t.Fatalf("%s: the page shows\n%s\nand it printed\n%s", line, shown, got)
		}
		rest = rest[at[1]:]
	}
	if m := correct.FindStringSubmatch(got); m != nil {
		if v, err := strconv.ParseFloat(m[1], 64); err != nil || v < 95 {
			u.t.Errorf("%s: %s %% right, want 95 at least", line, m[1])
		}
	}
}
