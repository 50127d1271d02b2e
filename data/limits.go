package data

// Limits on what comes from outside. Whatever exceeds one is refused with the
// number and the limit, before memory is taken for it.
const (
	MaxFileBytes    = 256 << 20  // one file of a data set, or one member of an archive
	MaxPixels       = 1 << 26    // one picture, width times height
	FreePixels      = 1 << 22    // of a picture, however few bytes its file has
	MaxArchiveBytes = 4 << 30    // the members that are kept of one tar, unpacked
	MaxArchiveRatio = 200        // unpacked to packed size of a compressed tar or IDX file
	MaxMembers      = 20_000_000 // files of one folder or archive
	MaxFolderDepth  = 16         // folders below one another (links may form a ring)
	MaxHeaderBytes  = 64 << 10   // the header of an .npy file
	MaxSizesChecked = 100_000    // pictures whose size is looked at when a folder is opened
	MaxClasses      = 1 << 20    // classes of a pair of arrays

	// MaxPixelsPerByte is twice what PNG can pack, of eight bits each.
	MaxPixelsPerByte = 2048
	// MaxBlockVisits is twice what libjpeg's progressive script has for the
	// largest picture, and takes some five seconds.
	MaxBlockVisits = 1 << 25

	// DefaultCacheBytes holds CIFAR-10 six times.
	DefaultCacheBytes = 1 << 30
)
