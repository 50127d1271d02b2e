package remote

import (
	"slices"
	"strings"
)

// The variables of the host's environment that plugins inherit. All others are removed. A
// plugin must not see the variables that MPI or a batch system sets for the host: if the
// plugin linked a library that uses MPI, the library would identify itself as the host's
// rank and wait for the others.
//
// The lists have the variables by which a process finds its home, its libraries and its
// hardware: the user and the locale, the dynamic linker, the runtimes of Go and Python, and
// the drivers of GPUs.
var (
	passed = []string{"HOME", "LANG", "LANGUAGE", "LOGNAME", "PATH", "SHELL", "SYSTEMROOT", "TEMP", "TERM",
		"TMP", "TMPDIR", "TZ", "USER", "VIRTUAL_ENV"}
	passedPrefixes = []string{"BNCTL_", "CONDA_", "CUDA_", "CUDNN_", "DYLD_", "GO", "HIP_", "LC_", "LD_",
		"NCCL_", "NVIDIA_", "OCL_", "OMP_", "POCL_", "PYTHON", "ROCR_", "XDG_"}
)

// environment returns the environment of a plugin: the inherited variables of the host's
// environment, then more. Later entries win.
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
