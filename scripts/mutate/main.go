// Mutate says which changes of a package its tests do not notice.
//
//	go run ./scripts/mutate [-every N] [-only PATTERN] [-run PATTERN] [-timeout D] ./bn [./collective ...]
//
// All mutants of a package are compiled into one test binary, which makes the
// one that the environment names: so a mutant costs a run of the tests, and no
// compilation. Lines on standard output are the survivors; then come the counts.
// Mutants are
//   - comparisons that take in, or leave out, the equal case, or are reversed;
//   - + for -, * for /, && for ||, and the other way round;
//   - conditions err != nil that are never met;
//   - assignments and calls that are left out.
//
// Constants, and what only speed depends on, are not told apart from the rest.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"go/build"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const variable = "BNCTL_MUTANT"

func main() {
	every := flag.Int("every", 1, "try one of so many mutants")
	only := flag.String("only", "", "try the mutants whose place, bn/async.go:90, matches a pattern")
	run := flag.String("run", "", "tests to run: go test -run")
	limit := flag.Duration("timeout", time.Minute, "a mutant that takes longer is killed")
	flag.Parse()
	if root, err := exec.Command("go", "env", "GOROOT").Output(); err == nil {
		build.Default.GOROOT = strings.TrimSpace(string(root))
	}
	places, err := regexp.Compile(*only)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(2)
	}
	for _, dir := range flag.Args() {
		if err := try(dir, *every, places, *run, *limit); err != nil {
			fmt.Fprintln(os.Stderr, "mutate:", err)
			os.Exit(1)
		}
	}
}

// try tries the mutants of one package.
func try(dir string, every int, only *regexp.Regexp, run string, limit time.Duration) error {
	p, err := mutate(dir)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	binary, err := p.compile(work)
	if err != nil {
		return err
	}
	noticed := func(mutant int) bool { return p.test(binary, mutant, run, limit) != nil }
	if err := p.test(binary, -1, run, limit); err != nil {
		return fmt.Errorf("%s: the tests fail without a mutant: %w", dir, err)
	}
	tried, survived := 0, 0
	for i, m := range p.mutants {
		if i%every != 0 || !only.MatchString(m.at) {
			continue
		}
		if tried++; !noticed(i) {
			survived++
			fmt.Printf("%s: %s\n", m.at, m.what)
		}
	}
	fmt.Printf("%s: %d of %d mutants tried, %d killed, %d survived\n", dir, tried, len(p.mutants),
		tried-survived,
		survived)
	return nil
}

// compile builds the tests of the package with all mutants in place of its files.
func (p *mutated) compile(work string) (binary string, err error) {
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	for name, source := range p.files {
		to := filepath.Join(work, filepath.Base(name))
		if err := os.WriteFile(to, source, 0o600); err != nil {
			return "", err
		}
		overlay.Replace[name] = to
	}
	b, err := json.Marshal(overlay)
	if err != nil {
		return "", err
	}
	list := filepath.Join(work, "overlay.json")
	if err := os.WriteFile(list, b, 0o600); err != nil {
		return "", err
	}
	binary = filepath.Join(work, "mutants.test")
	build := exec.Command("go", "test", "-c", "-vet=off", "-overlay", list, "-o", binary, p.dir)
	out, err := build.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return binary, nil
}

// test runs the tests with a mutant, none if it is -1. The error says that they fail.
func (p *mutated) test(binary string, mutant int, run string, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	c := exec.CommandContext(ctx, binary, "-test.short", "-test.failfast", "-test.run", run)
	c.Dir, c.WaitDelay = p.dir, time.Second
	c.Env = append(os.Environ(), variable+"="+strconv.Itoa(mutant), "GOMAXPROCS=1")
	return c.Run()
}
