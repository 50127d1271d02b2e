package remote

import (
	"slices"
	"strings"
)

// What plugins find of the host's environment. The rest stays out: what MPI or
// a batch system says to the host is not said to each of its plugins. A plugin that links a library
// with MPI in it would take itself for the rank that the host is, and wait for the others.
//
// The lists have what a process needs to find its home, its libraries and its hardware: the user and
// the locale, the dynamic linker, the runtimes of Go and Python, and the drivers of GPUs.
var (
	passed = []string{"HOME", "LANG", "LANGUAGE", "LOGNAME", "PATH", "SHELL", "SYSTEMROOT", "TEMP", "TERM",
		"TMP", "TMPDIR", "TZ", "USER", "VIRTUAL_ENV"}
	passedPrefixes = []string{"BNCTL_", "CONDA_", "CUDA_", "CUDNN_", "DYLD_", "GO", "HIP_", "LC_", "LD_",
		"NCCL_", "NVIDIA_", "OCL_", "OMP_", "POCL_", "PYTHON", "ROCR_", "XDG_"}
)

// environment returns the environment of a plugin: what is passed of the
// host's, then more, the later winning.
func environment(host []string, more ...string) []string {
	var out []string
	for _, kv := range host {
		key, _, _ := strings.Cut(kv, "=")
		prefixed := slices.ContainsFunc(passedPrefixes, func(p string) bool { return strings.HasPrefix(key, p) })
		if prefixed || slices.Contains(passed, key) {
			out = append(out, kv)
		}
	}
	return append(out, more...)
}
