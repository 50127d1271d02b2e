package data

// Limits on what comes from outside. Whatever exceeds one is refused with the
// number and the limit, before memory is taken for it.
const (
	maxFileBytes    = 256 << 20  // one file of a data set, or one member of an archive
	maxPixels       = 1 << 26    // one picture, width times height
	freePixels      = 1 << 22    // of a picture, however few bytes its file has
	maxArchiveBytes = 4 << 30    // the members that are kept of one tar, unpacked
	maxArchiveRatio = 200        // unpacked to packed size of a compressed tar or IDX file
	maxMembers      = 20_000_000 // files of one folder or archive
	maxFolderDepth  = 16         // folders below one another (links may form a ring)
	maxHeaderBytes  = 64 << 10   // the header of an .npy file
	maxSizesChecked = 100_000    // pictures whose size is looked at when a folder is opened
	maxClasses      = 1 << 20    // classes of a pair of arrays

	// maxPixelsPerByte is twice what PNG can pack, of eight bits each.
	maxPixelsPerByte = 2048
	// maxBlockVisits is twice what libjpeg's progressive script has for the
	// largest picture, and takes some five seconds.
	maxBlockVisits = 1 << 25

	// defaultCacheBytes holds CIFAR-10 six times.
	defaultCacheBytes = 1 << 30
)

// checksAllSizes reports whether all of n pictures are looked at when a source is
// opened. Of more than maxSizesChecked they are not, for it takes minutes: their
// faults are found, by name, when their turn comes. Those that may be left out
// have to be known before the first batch, whatever it takes.
func (o Options) checksAllSizes(n int) bool { return n <= maxSizesChecked || o.SkipBad != 0 }
