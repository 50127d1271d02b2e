package launcher

import (
	"io/fs"
	"math"
	"os"
	"path"
	"strconv"
	"strings"
)

// Quota returns the number of CPUs that cgroups allow this process, or +Inf without a limit. The result
// may be a fraction. It may also be below runtime.GOMAXPROCS, which Go never sets below two because of a
// cgroup.
func Quota() float64 { return quota }

var quota = quotaIn(os.DirFS("/"))

// quotaIn returns the quota in the file system root of a machine: the smallest quota of the process's
// cgroup and its parents, of cgroup version 2 or 1.
func quotaIn(root fs.FS) float64 {
	text, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return math.Inf(1)
	}
	least := math.Inf(1)
	for line := range strings.Lines(string(text)) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) != 3 {
			continue
		}
		for dir := path.Clean("/" + fields[2]); ; dir = path.Dir(dir) {
			switch {
			case fields[1] == "":
				least = min(least, quotaOf(root, "sys/fs/cgroup"+dir))
			case strings.Contains(","+fields[1]+",", ",cpu,"):
				least = min(least, quotaOf(root, "sys/fs/cgroup/cpu"+dir))
			}
			if dir == "/" {
				break
			}
		}
	}
	return least
}

// quotaOf returns the quota of one cgroup.
func quotaOf(root fs.FS, dir string) float64 {
	dir = path.Clean(dir)
	text, err := fs.ReadFile(root, path.Join(dir, "cpu.max")) // "QUOTA PERIOD" or "max PERIOD"
	if err != nil {
		n, _ := fs.ReadFile(root, path.Join(dir, "cpu.cfs_quota_us")) // -1: no limit
		per, _ := fs.ReadFile(root, path.Join(dir, "cpu.cfs_period_us"))
		text = []byte(string(n) + " " + string(per))
	}
	f := strings.Fields(string(text))
	if len(f) != 2 {
		return math.Inf(1)
	}
	n, err := strconv.ParseFloat(f[0], 64)
	period, e := strconv.ParseFloat(f[1], 64)
	if err != nil || e != nil || n <= 0 || period <= 0 {
		return math.Inf(1)
	}
	return n / period
}
