package launcher

import (
	"runtime"
	"strconv"
	"testing"
)

// TestRank reads the variables that launchers set.
func TestRank(t *testing.T) {
	for _, s := range said {
		t.Setenv(s.rank, "")
		t.Setenv(s.size, "")
	}
	for _, c := range []struct {
		rank, size string
		want, of   int
	}{{"", "", 0, 0}, {"0", "1", 0, 1}, {"3", "4", 3, 4}, {"4", "4", 0, 0}, {"-1", "4", 0, 0}, {"x", "4", 0, 0}} {
		t.Setenv("PMI_RANK", c.rank)
		t.Setenv("PMI_SIZE", c.size)
		if rank, size := Rank(); rank != c.want || size != c.of {
			t.Errorf("rank %q of %q is %d of %d, want %d of %d", c.rank, c.size, rank, size, c.want, c.of)
		}
		if Several() != (c.of > 1) {
			t.Errorf("%d ranks are several: %v", c.of, Several())
		}
	}
}

// TestHere reads how many ranks share this machine.
func TestHere(t *testing.T) {
	for _, name := range local {
		t.Setenv(name, "")
	}
	for text, want := range map[string]int{"": 1, "1": 1, "4": 4, "0": 1, "-2": 1, "x": 1} {
		t.Setenv("MPI_LOCALNRANKS", text)
		if got := here(); got != want {
			t.Errorf("%q: %d ranks, want %d", text, got, want)
		}
	}
}

// TestCores checks that ranks that are not bound share the cores, and that each has at least one.
func TestCores(t *testing.T) {
	for _, name := range local {
		t.Setenv(name, "")
	}
	if n := Cores(); n != runtime.NumCPU() {
		t.Errorf("alone: %d cores, want %d", n, runtime.NumCPU())
	}
	if parentCores() > runtime.NumCPU() {
		return // this test's process is bound to CPUs
	}
	for here := 1; here < 2*runtime.NumCPU()+2; here++ {
		t.Setenv("MPI_LOCALNRANKS", strconv.Itoa(here))
		if n := Cores(); n < 1 || n > 1 && n*here > runtime.NumCPU() || (n+1)*here <= runtime.NumCPU() {
			t.Errorf("%d ranks: %d of %d cores each", here, n, runtime.NumCPU())
		}
	}
}

// TestLimited checks that a cgroup's limit below the number of CPUs counts, but the variable GOMAXPROCS
// does not.
func TestLimited(t *testing.T) {
	for _, c := range []struct {
		cpus, procs int
		environment string
		want        int
	}{{64, 64, "", 64}, {64, 2, "", 2}, {64, 1, "1", 64}, {2, 8, "8", 2}} {
		if got := limited(c.cpus, c.procs, c.environment); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}
