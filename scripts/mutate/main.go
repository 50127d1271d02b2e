// Mutate changes a package in many ways, one at a time, and lists those changes that its tests do not notice.
// A changed package is called a mutant.
//
//	go run ./scripts/mutate [-with PACKAGES] [-every N] [-only PATTERN] [-again FILE]
//		[-skip PATTERN] [-slow D] [-most D] [-at-once N] ./bn [...]
//
// All mutants of a package are compiled into one test binary, and an environment variable selects one. So a
// mutant costs a run of tests, but no compilation. First every test runs once by itself, and the mutants that
// it reaches are recorded. A mutant is then run with these tests only, until one fails. The tests that have
// found the most mutants of the file per second run first. -with adds the tests of packages that use the
// mutated package. Two runs of this program are quicker than one: a first run with -most 1s, and a second run
// with -again, which names a file with the output of the first, and with more time or packages.
//
// The lines on standard output are survivors: mutants that no test notices. Mutants with a reason in
// survivors.txt are not printed. The counts follow. Mutants are
//   - comparisons that include, or exclude, the equal case, or are reversed;
//   - + for -, * for /, && for ||, and the other way round;
//   - conditions err != nil that are never met;
//   - assignments and calls that are left out.
//
// Constants, and code that only affects speed, are treated like all other code.
package main

import (
	"flag"
	"fmt"
	"go/build"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// wanted has the values of the flags.
type wanted struct {
	every       int
	only, skip  *regexp.Regexp
	args        []string
	slow, limit time.Duration
	atOnce      int
	reasons     map[string]string
	keys        map[string]bool // keys of the mutants to try; nil: all mutants
}

func main() {
	w := wanted{only: regexp.MustCompile(""), skip: regexp.MustCompile("^$")}
	flag.IntVar(&w.every, "every", 1, "try every n-th mutant")
	flag.Func("only", "try the mutants whose place, bn/async.go:90, matches a pattern", pattern(&w.only))
	flag.Func("skip", "tests not to run", pattern(&w.skip))
	flag.Func("with", "packages whose tests run too, with commas", func(s string) error {
		w.args = strings.Split(s, ",")
		return nil
	})
	flag.IntVar(&w.atOnce, "at-once", 1, "mutants that are tried at the same time")
	flag.DurationVar(&w.slow, "slow", time.Minute, "a test that takes longer is not used")
	flag.DurationVar(&w.limit, "most", time.Hour, "how long the tests of a mutant may take together")
	flag.Func("again", "try the mutants that the output of a former run names", func(path string) (err error) {
		w.keys, err = survivors(path)
		return err
	})
	known := flag.String("known", "scripts/mutate/survivors.txt", "reasons of known survivors")
	flag.Parse()
	if root, err := exec.Command("go", "env", "GOROOT").Output(); err == nil {
		build.Default.GOROOT = strings.TrimSpace(string(root))
	}
	var err error
	if w.reasons, err = reasons(*known); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
	for _, dir := range flag.Args() {
		if err := w.try(dir); err != nil {
			fmt.Fprintln(os.Stderr, "mutate:", err)
			os.Exit(1)
		}
	}
}

// pattern returns a function that parses the value of a flag as a pattern and stores it in p.
func pattern(p **regexp.Regexp) func(string) error {
	return func(s string) (err error) {
		*p, err = regexp.Compile(s)
		return err
	}
}

// try tries the mutants of one package.
func (w *wanted) try(dir string) error {
	p, err := mutate(dir)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	suite, err := w.tests(p, work)
	if err != nil {
		return err
	}
	tried := w.chosen(p)
	var killed, explained atomic.Int32
	w.each(tried, func(i int) {
		m := p.mutants[i]
		if suite.notice(i, m.position()) {
			killed.Add(1)
		} else if w.reasons[m.key()] != "" {
			explained.Add(1)
		} else {
			fmt.Printf("%s\t%s\t%s\n", m.at, m.key(), names(suite.reach[i]))
		}
	})
	fmt.Printf("%s: %d of %d mutants tried, %d killed, %d survive for a reason, %d without\n", dir, len(tried),
		len(p.mutants), killed.Load(), explained.Load(), len(tried)-int(killed.Load()+explained.Load()))
	return nil
}

// each calls try for mutants, in parallel up to the number that the flags set.
func (w *wanted) each(numbers []int, try func(int)) {
	next := make(chan int)
	var workers sync.WaitGroup
	for range w.atOnce {
		workers.Go(func() {
			for i := range next {
				try(i)
			}
		})
	}
	for _, i := range numbers {
		next <- i
	}
	close(next)
	workers.Wait()
}

// chosen returns the numbers of the mutants that the flags select.
func (w *wanted) chosen(p *mutated) (numbers []int) {
	for i, m := range p.mutants {
		if i%w.every == 0 && w.only.MatchString(m.at) && (w.keys == nil || w.keys[m.key()]) {
			numbers = append(numbers, i)
		}
	}
	return numbers
}
