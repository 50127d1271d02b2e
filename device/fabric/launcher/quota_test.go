package launcher

import (
	"math"
	"testing"
	"testing/fstest"
)

// TestQuota reads the limits of cgroups of both versions and of their parents.
func TestQuota(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	for name, c := range map[string]struct {
		files fstest.MapFS
		want  float64
	}{
		"no cgroups": {nil, math.Inf(1)},
		"version 2": {fstest.MapFS{"proc/self/cgroup": file("0::/pod/a\n"),
			"sys/fs/cgroup/pod/a/cpu.max": file("50000 100000\n"), "sys/fs/cgroup/cpu.max": file("max 100000\n")}, 0.5},
		"the one above": {fstest.MapFS{"proc/self/cgroup": file("0::/pod/a\n"),
			"sys/fs/cgroup/pod/a/cpu.max": file("max 100000\n"), "sys/fs/cgroup/pod/cpu.max": file("150000 100000\n")}, 1.5},
		"no limit": {fstest.MapFS{"proc/self/cgroup": file("0::/\n"), "sys/fs/cgroup/cpu.max": file("max 100000\n")},
			math.Inf(1)},
		"version 1": {fstest.MapFS{"proc/self/cgroup": file("3:cpuset:/\n2:cpu,cpuacct:/m\n1:name=systemd:/x\n"),
			"sys/fs/cgroup/cpu/m/cpu.cfs_quota_us":  file("1000\n"),
			"sys/fs/cgroup/cpu/m/cpu.cfs_period_us": file("2000\n"),
			"sys/fs/cgroup/cpu/cpu.cfs_quota_us":    file("-1\n"),
			"sys/fs/cgroup/cpu/cpu.cfs_period_us":   file("100000\n")}, 0.5},
		"nonsense": {fstest.MapFS{"proc/self/cgroup": file("x\n0::/\n"), "sys/fs/cgroup/cpu.max": file("-3 0\n")},
			math.Inf(1)},
	} {
		if got := quotaIn(c.files); got != c.want {
			t.Errorf("%s: %v CPUs, want %v", name, got, c.want)
		}
	}
}
