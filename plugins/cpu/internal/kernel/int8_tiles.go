package kernel

import "unsafe"

// int8Kernels is the assembly of Int8.
type int8Kernels struct {
	column int   // number of adjacent channels in packed weights
	offset int32 // number that is subtracted from each byte before multiplication
	tiles  []int8Tiles
	matrix *int8Matrix // nil: tiles of vectors compute everything
	// store converts sums [positions][PanelLanes] to bytes.
	store func(out *byte, outs, sums *int32, by *float32, most float32, zero, least, channels, positions int)

	lanes     int  // number of channels of a block of DepthwiseInt8, and of bytes in a register
	words     bool // depthwise weights are 16-bit words, with even and odd taps stored separately
	depthwise func(out *byte, outs *int32, in *byte, pad int, offs *int32, offStep, taps, quads int, w *int8,
		start *int32, by *float32, most float32, zero, least, width, chunk, advance int, runs *int32, positions int,
		at *[mostTapsInt8]uintptr, spare *byte)
	// byTap does the same as depthwise for weights [block][tap][lanes], a position at a time.
	byTap func(out *byte, outs *int32, in *byte, pad int, offs *int32, offStep, taps int, w *int8, start *int32,
		by *float32, most float32, zero, least, width, positions int, at *[mostTapsInt8]uintptr, spare *byte)
	int8Bytes
}

// int8Bytes is the assembly for elementwise operations on bytes, in whole registers.
type int8Bytes struct {
	add      func(y, a, b *byte, aBy, bBy, most float32, aZero, bZero, zero, least, vectors int)
	addJoint func(y, a, b *byte, aBy, bBy, at, most float32, zero, least, vectors int)
	quantize func(y *byte, x *float32, scale, most float32, zero, vectors int)
	maxPool  func(y, x *byte, pixels *int32, taps, vectors int)
	sum      func(sums *int32, x *byte, step, pixels, vectors int) // a vector is half a register
	gate     func(y, a *byte, gate *float32, by, at, most float32, aZero, zero, least, vectors int)

	// The following are nil on processors without assembly for them.
	maxPool16  func(y, x *byte, pixels *int32, taps, vectors int) // like maxPool, for vectors of 16 bytes
	mul        func(y, a, b *byte, by, at, most float32, aZero, bZero, zero, least, vectors int)
	dequantize func(y *float32, x *byte, scale float32, zero, vectors int)
}

// int8Tiles are the micro-kernels for the given number of channels, the one with the most positions first.
type int8Tiles struct {
	width int
	tiles []sizedInt8
}

// sizedInt8 is the micro-kernel for the given number of positions.
type sizedInt8 struct {
	positions int
	tile      int8Tile
}

// int8Tile computes the sums of the given number of register blocks of positions by channels,
// one after the other, at sums [positions][PanelLanes]. pad is the offset of the run of
// padding from in; steps are in bytes.
type int8Tile func(sums *int32, in *byte, pad int, offs *int32, offStep, taps, quads int, w *int8,
	wStep int, start *int32, tiles int)

// products computes the sums of positions [from, to) and a column of a panel. It uses tiles with the most
// channels that fit, and of these the tiles with the most positions.
func (c *int8Call) products(choice []int8Tiles, weights []int8, channel, column, lanes, from, to int) {
	for at := 0; at < lanes; at += choice[0].width {
		for choice[0].width > lanes-at {
			choice = choice[1:]
		}
		tiles := choice[0].tiles
		for p := from; p < to; {
			for len(tiles) > 1 && tiles[0].positions > to-p {
				tiles = tiles[1:]
			}
			n := (to - p) / tiles[0].positions
			sums := &c.spare.sums[(p-from)*PanelLanes+column+at]
			c.call(tiles[0].tile, sums, weights[at*quadLen:], lanes, channel+column+at, p, n)
			p += n * tiles[0].positions
		}
	}
}

// call runs tiles that begin at position p.
func (c *int8Call) call(tile int8Tile, sums *int32, weights []int8, lanes, channel, p, tiles int) {
	var offs *int32
	if c.Taps > 0 {
		offs = &c.Int8.in[p]
	}
	in := bytesAt(c.in)
	pad := int(uintptr(unsafe.Pointer(bytesAt(c.pad))) - uintptr(unsafe.Pointer(in)))
	tile(sums, in, pad, offs, 4*len(c.Out), c.Taps, c.quads(), unsafe.SliceData(weights), quadLen*lanes,
		&c.Start[channel], tiles)
}
