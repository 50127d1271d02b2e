package data

// Limits on external data. Data that exceeds a limit is refused with the number and the limit, before
// memory is allocated for it.
const (
	maxFileBytes    = 256 << 20  // one file of a data set, or one member of an archive
	maxArchiveBytes = 4 << 30    // the retained members of one tar, unpacked
	maxArchiveRatio = 200        // unpacked to packed size of a compressed tar or IDX file
	maxMembers      = 20_000_000 // files of one folder or archive
	maxFolderDepth  = 16         // depth of folders (links may form a ring)
	maxHeaderBytes  = 64 << 10   // the header of an .npy file
	maxSizesChecked = 100_000    // if a folder has more pictures, not all are checked when it is opened
	maxClasses      = 1 << 20    // classes of a pair of arrays

	// defaultCacheBytes is enough for six copies of CIFAR-10.
	defaultCacheBytes = 1 << 30
)

// checksAllSizes reports whether all n pictures are checked when a source is opened. More than
// maxSizesChecked pictures are not, because that would need minutes. Their faults are reported by name
// when they are read. If bad files may be left out, they must be known before the first batch, so all
// are checked regardless of the time.
func (o Options) checksAllSizes(n int) bool { return n <= maxSizesChecked || o.SkipBad != 0 }
