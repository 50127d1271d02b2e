// Package launcher reads from the environment whether a launcher (mpirun,
// mpiexec, srun and others) has started this process as one of several ranks.
//
// Use it at the start of a program, to decide whether the process joins a run
// of several ranks.
package launcher

import (
	"os"
	"strconv"
)

// said lists the variables that launchers set to the rank of a process and the number of
// ranks.
var said = []struct{ rank, size string }{
	{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, // Open MPI
	{"PMI_RANK", "PMI_SIZE"},                         // MPICH, Intel MPI, srun --mpi=pmi2
	{"PALS_RANKID", "PALS_SIZE"},                     // Cray
	{"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"},         // srun; the second one is not set in batch scripts
	{"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"},   // MVAPICH
}

// Rank returns the rank of this process and the number of ranks; 0 and 0 if no
// launcher has started it.
func Rank() (rank, size int) {
	for _, s := range said {
		r, err1 := strconv.Atoi(os.Getenv(s.rank))
		n, err2 := strconv.Atoi(os.Getenv(s.size))
		if err1 == nil && err2 == nil && r >= 0 && r < n {
			return r, n
		}
	}
	return 0, 0
}

// Several reports whether this process is one of several ranks.
func Several() bool {
	_, size := Rank()
	return size > 1
}

// local lists the variables that launchers set to the number of ranks on this machine.
var local = []string{"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "MV2_COMM_WORLD_LOCAL_SIZE"}

// here returns the number of ranks that a launcher has started on this machine, at least 1. They
// share its cores.
func here() int {
	for _, name := range local {
		if n, err := strconv.Atoi(os.Getenv(name)); err == nil && n > 0 {
			return n
		}
	}
	return 1
}
