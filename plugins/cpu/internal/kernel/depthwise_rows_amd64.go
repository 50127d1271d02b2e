//go:build !purego

package kernel

// Tiles by the width and the stride of the kernel, with the most positions first.
var (
	rowsAVX512k3s1 = []depthwiseRowTile{depthwiseRowsAVX512k3s1p7, depthwiseRowsAVX512k3s1p4,
		depthwiseRowsAVX512k3s1p2, depthwiseRowsAVX512k3s1p1}
	rowsAVX512k3s2 = []depthwiseRowTile{depthwiseRowsAVX512k3s2p7, depthwiseRowsAVX512k3s2p4,
		depthwiseRowsAVX512k3s2p2, depthwiseRowsAVX512k3s2p1}
	rowsAVX512k5s1 = []depthwiseRowTile{depthwiseRowsAVX512k5s1p7, depthwiseRowsAVX512k5s1p4,
		depthwiseRowsAVX512k5s1p2, depthwiseRowsAVX512k5s1p1}
	rowsAVX512k5s2 = []depthwiseRowTile{depthwiseRowsAVX512k5s2p7, depthwiseRowsAVX512k5s2p4,
		depthwiseRowsAVX512k5s2p2, depthwiseRowsAVX512k5s2p1}

	rowsAVX2k3s1 = []depthwiseRowTile{depthwiseRowsAVX2k3s1p7, depthwiseRowsAVX2k3s1p4,
		depthwiseRowsAVX2k3s1p2, depthwiseRowsAVX2k3s1p1}
	rowsAVX2k3s2 = []depthwiseRowTile{depthwiseRowsAVX2k3s2p7, depthwiseRowsAVX2k3s2p4,
		depthwiseRowsAVX2k3s2p2, depthwiseRowsAVX2k3s2p1}
	rowsAVX2k5s1 = []depthwiseRowTile{depthwiseRowsAVX2k5s1p7, depthwiseRowsAVX2k5s1p4,
		depthwiseRowsAVX2k5s1p2, depthwiseRowsAVX2k5s1p1}
	rowsAVX2k5s2 = []depthwiseRowTile{depthwiseRowsAVX2k5s2p7, depthwiseRowsAVX2k5s2p4,
		depthwiseRowsAVX2k5s2p2, depthwiseRowsAVX2k5s2p1}
)

var (
	depthwiseRowsAVX512 = append([]depthwiseRowTiles{{lanes: 16,
		tiles: [2][2][]depthwiseRowTile{{rowsAVX512k3s1, rowsAVX512k3s2}, {rowsAVX512k5s1, rowsAVX512k5s2}}}},
		depthwiseRowsAVX2...)
	depthwiseRowsAVX2 = []depthwiseRowTiles{{lanes: 8,
		tiles: [2][2][]depthwiseRowTile{{rowsAVX2k3s1, rowsAVX2k3s2}, {rowsAVX2k5s1, rowsAVX2k5s2}}}}
)
