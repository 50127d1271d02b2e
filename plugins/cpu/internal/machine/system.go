package machine

import (
	"bufio"
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// Unknown is assumed if the system provides no information about the machine: a core of a
// current server.
var Unknown = Description{Processor: runtime.GOARCH, Cores: 1, Present: 1, L1: Cache{48 << 10, 1},
	L2: Cache{1 << 20, 1}, L3: Cache{32 << 20, 8}}

// System returns the description of this machine, read from the system now. It respects CPU
// masks and cgroup limits, as the Go runtime sees them.
func System() Description {
	return describe(os.DirFS("/"), runtime.GOMAXPROCS(0), runtime.NumCPU())
}

// describe returns the description of a machine from a tree of files. cores is
// the number of cores that may be used, seen the number visible to the process.
func describe(root fs.FS, cores, seen int) Description {
	d := Unknown
	d.Processor, d.Cores, d.Present = processor(root), cores, seen
	all := cpus(root)
	d.Present = max(d.Present, len(all))
	found := map[string][]Cache{}
	for _, cpu := range sample(all) {
		for level, c := range caches(root, cpu) {
			found[level] = append(found[level], c)
		}
	}
	d.take("L1", &d.L1, found["1"])
	d.take("L2", &d.L2, found["2"])
	if len(found["3"]) == 0 && len(found["2"]) > 0 {
		d.L3 = Cache{} // the system lists caches, but not an L3
	} else {
		d.take("L3", &d.L3, found["3"])
	}
	return d
}

// take sets c to the smallest cache with this name among the sampled cores. If cores differ, work is
// divided so that it suits all of them.
func (d *Description) take(name string, c *Cache, caches []Cache) {
	if len(caches) == 0 {
		d.Assumed = append(d.Assumed, fmt.Sprintf("%s is %s; the system does not say", name, *c))
		return
	}
	least := func(a, b Cache) int { return a.PerCore() - b.PerCore() }
	*c = slices.MinFunc(caches, least)
	if slices.MaxFunc(caches, least).PerCore() != c.PerCore() {
		d.Assumed = append(d.Assumed, fmt.Sprintf("%s is %s; cores differ, and this is the smallest", name, *c))
	}
}

// cpus returns the folders that describe the cores of the system.
func cpus(root fs.FS) []string {
	all, _ := fs.Glob(root, "sys/devices/system/cpu/cpu[0-9]*") // no error, because the pattern is valid
	return all
}

// sample returns a few cores with large distances between them, because adjacent cores are often of the same
// kind.
func sample(cpus []string) []string {
	const most = 8
	if len(cpus) <= most {
		return cpus
	}
	few := make([]string, most)
	for i := range few {
		few[i] = cpus[i*(len(cpus)-1)/(most-1)]
	}
	return few
}

// caches returns the data caches of a core, by level.
func caches(root fs.FS, cpu string) map[string]Cache {
	found := map[string]Cache{}
	folders, _ := fs.Glob(root, cpu+"/cache/index*")
	for _, f := range folders {
		c := Cache{bytesOf(text(root, f+"/size")), listed(text(root, f+"/shared_cpu_list"))}
		if kind := text(root, f+"/type"); kind != "Instruction" && c.Bytes > 0 {
			found[text(root, f+"/level")] = c
		}
	}
	return found
}

// text returns the contents of a file, or "" if it does not exist.
func text(root fs.FS, path string) string {
	b, _ := fs.ReadFile(root, path)
	return strings.TrimSpace(string(b))
}

// mostCache is far more bytes than any cache has.
const mostCache = 1 << 34

// bytesOf returns a size like "512K" or "32M" in bytes, or 0 if s is not a size.
func bytesOf(s string) int {
	number, unit := strings.TrimRight(s, "KMG"), 1
	switch strings.TrimPrefix(s, number) {
	case "K":
		unit = 1 << 10
	case "M":
		unit = 1 << 20
	case "G":
		unit = 1 << 30
	}
	n, err := strconv.Atoi(number)
	if err != nil || n < 0 || n > mostCache/unit {
		return 0
	}
	return n * unit
}

// listed returns how many numbers are in a list like "0-3,8". It returns at least 1.
func listed(s string) (n int) {
	for item := range strings.SplitSeq(s, ",") {
		from, to, isRange := strings.Cut(item, "-")
		a, errA := strconv.Atoi(from)
		b, errB := strconv.Atoi(to)
		switch {
		case errA == nil && !isRange:
			n++
		case errA == nil && errB == nil && b >= a && b-a < 1<<20:
			n += b - a + 1
		}
	}
	return max(n, 1)
}

// processor returns the name that the processor reports.
func processor(root fs.FS) string {
	b, _ := fs.ReadFile(root, "proc/cpuinfo")
	for s := bufio.NewScanner(bytes.NewReader(b)); s.Scan(); {
		if name, ok := strings.CutPrefix(s.Text(), "model name"); ok {
			return strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(name), ":"))
		}
	}
	return Unknown.Processor
}
