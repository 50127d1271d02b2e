package data

// Limits on data from outside. Data that exceeds a limit is refused before memory is allocated for it. The
// error has the number and the limit.
const (
	maxFileBytes    = 256 << 20  // one file of a data set, or one member of an archive
	maxArchiveBytes = 4 << 30    // all wanted files of one tar together, unpacked
	maxArchiveRatio = 200        // unpacked to packed size of a compressed tar or IDX file
	maxMembers      = 20_000_000 // files of one folder or archive
	maxFolderDepth  = 16         // depth of folders (links may form a ring)
	maxHeaderBytes  = 64 << 10   // the header of an .npy file
	maxSizesChecked = 100_000    // if a folder has more pictures, not all are checked when it is opened
	maxClasses      = 1 << 20    // classes of labels in .npy files

	// defaultCacheBytes is enough for six copies of CIFAR-10.
	defaultCacheBytes = 1 << 30
)

// checksAllSizes reports whether all n pictures are checked when a source is opened. If there are more than
// maxSizesChecked pictures, they are not, because that would need minutes; their faults are reported when
// they are read. But if bad files may be left out, they must be known before the first batch. Then all
// pictures are checked.
func (o Options) checksAllSizes(n int) bool { return n <= maxSizesChecked || o.SkipBad != 0 }
