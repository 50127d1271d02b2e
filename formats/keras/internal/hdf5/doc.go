// Package hdf5 reads the part of HDF5 that Keras has ever written: superblock 0, object
// headers 1, groups as symbol tables, contiguous and compact data sets of plain numbers,
// and attributes of numbers and strings of fixed or variable length. Everything else in a
// file is rejected by its name.
//
// The source of every offset here is the "HDF5 File Format Specification Version 2.0". The
// comments give its section numbers.
//
// Nothing in a file is trusted. Every address and length is checked against the available
// bytes. B-trees, headers and heaps that lead back to themselves are errors. The work for a
// file is bounded by its size: all structures together, overlapping or not, may use at most
// eight times the bytes of a small file, and not much more than half the bytes of a large
// one. The elements of data sets stay in the file until they are requested.
package hdf5

// Limits on the contents of a file.
const (
	maxRank     = 8        // axes of a data space
	maxDepth    = 16       // levels of a B-tree, links in a path
	maxMessages = 1 << 16  // messages of one object header
	maxText     = 64 << 20 // bytes of one string
	spareBudget = 1 << 20  // bytes of structures that any file may have, however small
	mostBudget  = 12 << 20 // bytes of structures in addition to half the size of the file

	superblockSize = 96 // bytes of a superblock of version 0
)

// signature opens every HDF5 file (III.A).
const signature = "\x89HDF\r\n\x1a\n"

// Is reports whether b begins like an HDF5 file.
func Is(b []byte) bool { return len(b) >= len(signature) && string(b[:len(signature)]) == signature }
