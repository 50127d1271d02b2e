//go:build mpi

package mpi_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bnctl/bnctl/device/fabric"
	"github.com/bnctl/bnctl/device/remote"
	"github.com/bnctl/bnctl/internal/fabrictest"
	"github.com/bnctl/bnctl/plugins/mpi"
)

// If one of these variables is set, this test binary is the plugin, or a rank that runs a case.
const (
	pluginKey = "BNCTL_DEVICE_PLUGIN"
	caseKey   = "BNCTL_FABRIC_CASE"
)

func TestMain(m *testing.M) {
	name := os.Getenv(caseKey)
	switch {
	case os.Getenv(pluginKey) != "":
		mpi.Main()
	case name != "":
		os.Exit(judge(name))
	default:
		os.Exit(m.Run())
	}
}

// judge makes this process a rank. It runs the named case, prints the error of the case and returns an exit
// code.
func judge(name string) int {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	open := func(ctx context.Context, size int) ([]fabric.Fabric, error) {
		f, err := remote.JoinFabric(ctx, remote.Command{Name: "mpi", Path: self, Timeout: time.Minute}, "")
		if err != nil {
			return nil, err
		}
		return []fabric.Fabric{f}, nil
	}
	switch name {
	case overFabric:
		err = pingFabric(self)
	case ofUplink:
		err = exchanged(self)
	case byLibrary:
		err = pingLibrary()
	default:
		err = judgeCase(name, open)
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

func judgeCase(name string, open fabrictest.Opener) error {
	cases := fabrictest.Cases()
	i := slices.IndexFunc(cases, func(c fabrictest.Case) bool { return c.Name == name })
	return cases[i].Run(context.Background(), only(open))
}

// only returns an Opener that opens fabrics of one size: the number of ranks that the launcher has started.
func only(open fabrictest.Opener) fabrictest.Opener {
	return func(ctx context.Context, size int) ([]fabric.Fabric, error) {
		if fmt.Sprint(size) != os.Getenv("BNCTL_FABRIC_SIZE") {
			return nil, nil
		}
		return open(ctx, size)
	}
}

// launchers are the commands that start ranks, one for each library.
var launchers = map[string][]string{
	"Open MPI": {"mpirun.openmpi", "--oversubscribe", "--mca", "mpi_yield_when_idle", "1"},
	"MPICH":    {"mpirun.mpich"},
}

// TestMPIIsAFabric runs every case under the launcher of every library.
func TestMPIIsAFabric(t *testing.T) {
	for library, command := range launchers {
		for _, c := range fabrictest.Cases() {
			for _, size := range c.Sizes {
				t.Run(fmt.Sprintf("%s/%s/%d", library, c.Name, size), func(t *testing.T) {
					args := append(slices.Clone(command[1:]), "-np", fmt.Sprint(size), os.Args[0])
					ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
					defer stop()
					cmd := exec.CommandContext(ctx, command[0], args...)
					cmd.Env = append(os.Environ(), caseKey+"="+c.Name, "BNCTL_FABRIC_SIZE="+fmt.Sprint(size),
						"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
					out, err := cmd.CombinedOutput()
					if err != nil {
						t.Errorf("%s: %v\n%s", c.Rule, err, strings.TrimSpace(string(out)))
					}
				})
			}
		}
	}
}
