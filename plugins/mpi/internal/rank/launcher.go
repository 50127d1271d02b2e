package rank

import (
	"os"
	"strings"

	"github.com/bnctl/bnctl/device/fabric/launcher"
	"github.com/bnctl/bnctl/problem"
)

// The libraries of the two families, by the names that distributions and
// vendors give them.
var (
	openMPI = []string{"libmpi.so.40", "libmpi.so.80", "libmpi.so"}
	mpich   = []string{"libmpich.so.12", "libmpi.so.12", "libmpi_mpich.so.12", "libmpich.so"}
)

// libraries returns the libraries to try, best first: the launcher's libraries.
func libraries() []string {
	if isOpenMPI() {
		return openMPI
	}
	return mpich
}

// isOpenMPI reports whether the environment is of Open MPI's mpirun, or of a launcher that
// uses PMIx, as Open MPI does.
func isOpenMPI() bool {
	switch {
	case os.Getenv("OMPI_COMM_WORLD_SIZE") != "":
		return true
	case os.Getenv("PMI_FD") != "" || os.Getenv("PMI_PORT") != "" || os.Getenv("PALS_RANKID") != "":
		return false
	case os.Getenv("SLURM_MPI_TYPE") != "":
		return strings.HasPrefix(os.Getenv("SLURM_MPI_TYPE"), "pmix")
	}
	return os.Getenv("PMIX_RANK") != "" || os.Getenv("PMI_RANK") == ""
}

// checkSize refuses a library that has not found the launcher: with it each rank
// is alone.
func checkSize(name string, got int) error {
	if _, want := launcher.Rank(); want > 0 && want != got {
		return problem.Advise("start with its own, or name the right one: {fabric} mpi:PATH",
			"%s sees %d rank(s), and the launcher has started %d: it belongs to another launcher", name, got, want)
	}
	return nil
}
