package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Names of environment variables. The first has the number of the mutant to make, plus one. The second has a
// file, to which a run without a mutant appends the numbers of the mutants that it reaches.
const (
	chosen  = "BNCTL_MUTANT"
	reached = "BNCTL_MUTANTS_REACHED"
)

// test is one test function.
type test struct {
	binary binary
	name   string
	took   time.Duration
}

// suite has the tests that reach each mutant, the time limit per mutant and, for each place in the code, the
// test that last noticed a mutant there.
type suite struct {
	limit  time.Duration
	reach  map[int][]test
	killer sync.Map // name of a test, by the position of a mutant
	mu     sync.Mutex
	record map[string]record // records of tests, by file of the mutants and name of the test
}

// record has the number of mutants that a test ran with, and the number of these that it noticed.
type record struct{ run, noticed int }

// promising returns the tests in another order: first those that have noticed the most mutants of a file in
// proportion to their running time.
func (s *suite) promising(tests []test, file string) []test {
	s.mu.Lock()
	defer s.mu.Unlock()
	worth := func(t test) float64 {
		r := s.record[file+t.name]
		return float64(r.noticed+1) / float64(r.run+2) / (t.took + 50*time.Millisecond).Seconds()
	}
	tests = slices.Clone(tests)
	slices.SortStableFunc(tests, func(a, b test) int { return cmp.Compare(worth(b), worth(a)) })
	return tests
}

// result records that tests ran with a mutant of a file. noticed is the test that noticed the mutant, or "".
func (s *suite) result(file string, names []string, noticed string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range names {
		r := s.record[file+name]
		if name == noticed {
			r.noticed++
		}
		if name == noticed || noticed == "" { // if another test noticed the mutant, this test may not have run
			s.record[file+name] = record{r.run + 1, r.noticed}
		}
	}
}

// tests compiles the test binaries and runs each test once, without a mutant.
func (w *wanted) tests(p *mutated, work string) (*suite, error) {
	overlay, err := p.overlay(work)
	if err != nil {
		return nil, err
	}
	s := &suite{limit: w.limit, reach: map[int][]test{}, record: map[string]record{}}
	for i, dir := range append([]string{p.dir}, w.args...) {
		b := binary{dir, filepath.Join(work, strconv.Itoa(i)+".test")}
		build := exec.Command("go", "test", "-c", "-vet=off", "-overlay", overlay, "-o", b.path, dir)
		if out, err := build.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%w\n%s", err, out)
		}
		if err := w.reached(s, b, work); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// overlay writes the mutated files, and a list for go build of the files that they replace.
func (p *mutated) overlay(work string) (string, error) {
	list := struct{ Replace map[string]string }{map[string]string{}}
	for name, source := range p.files {
		to := filepath.Join(work, filepath.Base(name))
		if err := os.WriteFile(to, source, 0o600); err != nil {
			return "", err
		}
		list.Replace[name] = to
	}
	b, err := json.Marshal(list)
	if err != nil {
		return "", err
	}
	path := filepath.Join(work, "overlay.json")
	return path, os.WriteFile(path, b, 0o600)
}

// reached runs the tests of a binary one by one, and records the mutants that they reach.
func (w *wanted) reached(s *suite, b binary, work string) error {
	list := exec.Command(b.path, "-test.list", ".")
	list.Dir = b.dir
	out, err := list.Output()
	if err != nil {
		return err
	}
	for _, name := range strings.Fields(string(out)) {
		if strings.HasPrefix(name, "Benchmark") || w.skip.MatchString(name) {
			continue
		}
		file := filepath.Join(work, "reached")
		os.Remove(file)
		took, err := b.run(-1, file, w.slow, name)
		if err == nil && took > w.slow {
			err = fmt.Errorf("it takes %v", took.Round(time.Millisecond))
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "mutate: %s is not used: without a mutant: %v\n", name, err)
			continue
		}
		numbers, err := os.ReadFile(file)
		if err != nil && !os.IsNotExist(err) {
			return err
		}
		for _, number := range slices.Compact(slices.Sorted(strings.FieldsSeq(string(numbers)))) {
			n, err := strconv.Atoi(number)
			if err != nil {
				return err
			}
			s.reach[n] = append(s.reach[n], test{b, name, took})
		}
	}
	return nil
}

// notice reports whether a test fails with a mutant. First it runs the test that noticed another mutant in
// the same function. Then it runs other tests until the time limit, the most promising ones first, and at
// least one. Quick tests run together in one process.
func (s *suite) notice(mutant int, position string) bool {
	file, _, _ := strings.Cut(position, " ")
	of, last := s.promising(s.reach[mutant], file), ""
	if name, ok := s.killer.Load(position); ok {
		last = name.(string)
	}
	if i := slices.IndexFunc(of, func(t test) bool { return t.name == last }); i >= 0 {
		of = slices.Concat(of[i:i+1], of[:i], of[i+1:])
	}
	for left := s.limit; len(of) > 0 && left > 0; {
		n, took, names := 0, time.Duration(0), []string{}
		for n < len(of) && of[n].binary == of[0].binary && (n == 0 || names[0] != last &&
			took+of[n].took < time.Second) {
			took, names = took+of[n].took, append(names, of[n].name)
			n++
		}
		var f *failure
		if _, err := of[0].binary.run(mutant, "", took, names...); errors.As(err, &f) {
			s.killer.Store(position, f.test)
			s.result(file, names, f.test)
			return true
		}
		s.result(file, names, "")
		of, left = of[n:], left-took
	}
	return false
}

// names lists the names of tests, or only the first names if there are many.
func names(tests []test) string {
	const most = 5
	var all []string
	for _, t := range tests[:min(len(tests), most)] {
		all = append(all, t.name)
	}
	if n := len(tests) - most; n > 0 {
		all = append(all, fmt.Sprintf("and %d more", n))
	}
	return strings.Join(all, " ")
}
