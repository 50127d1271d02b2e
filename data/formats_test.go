package data

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"testing"

	"github.com/bnctl/bnctl/data/images"
	"github.com/bnctl/bnctl/data/internal/picturetest"
)

// The decoded pixels of PPMs, GIFs, animated WebPs, and TIFFs in CMYK and JPEG equal Pillow's, bit for bit.
// If a file has several pictures, the first is read.
func TestDecodeFormatsAsPillow(t *testing.T) {
	var want map[string]string
	for name, file := range picturetest.Goldens(t, "testdata/formats.tar.gz", &want) {
		got, err := images.Decode(t.Context(), file, false)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if picturetest.DigestOf(got.Bytes) != want[name] {
			t.Errorf("%s: %v, pixels %s, want %s", name, got, picturetest.DigestOf(got.Bytes), want[name])
		}
		if !images.IsFileName(name) {
			t.Errorf("%s does not count as a picture", name)
		}
		if !images.HasEnd(file) {
			t.Errorf("%s is taken for cut short", name)
		}
	}
}

// The pixels of TIFFs of every compression, photometric interpretation and fill order equal
// Pillow's.
func TestDecodeTIFFAsPillow(t *testing.T) {
	var want map[string]string
	files := picturetest.Goldens(t, "testdata/tiff.tar.gz", &want)
	if len(files) < 80 {
		t.Fatalf("%d files, want 80 or more", len(files))
	}
	for name, file := range files {
		got, err := images.Decode(t.Context(), file, false)
		if err != nil || picturetest.DigestOf(got.Bytes) != want[name] {
			t.Errorf("%s: %v, pixels %s, want %s (%v)", name, got, picturetest.DigestOf(got.Bytes), want[name], err)
		}
	}
}

// A mask in a fax, or in a TIFF with another fill order, has class 1 where its picture is white.
func TestMasksInFaxes(t *testing.T) {
	var want map[string]string
	files := picturetest.Goldens(t, "testdata/tiff.tar.gz", &want)
	code, err := newMaskCode(MaskOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"1-raw.tif", "1-group3.tif", "1-group4.tif", "1-group4-lsb.tif", "1-raw-lsb.tif"} {
		picture, err := images.Decode(t.Context(), files[name], false)
		if err != nil {
			t.Fatal(err)
		}
		got, err := code.decode(t.Context(), files[name])
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for i, class := range got.Bytes {
			if class != picture.Bytes[3*i]/255 {
				t.Fatalf("%s: pixel %d has class %d, and is %d", name, i, class, picture.Bytes[3*i])
			}
		}
	}
}

// A JPEG in CMYK without Adobe's segment is read as if it had one, as Pillow does.
func TestCMYKWithoutAdobe(t *testing.T) {
	file := mustRead(t, "testdata/cmyk.jpg")
	at := bytes.Index(file, []byte("\xff\xee"))
	if at < 0 {
		t.Fatal("there is no segment of Adobe")
	}
	without := append(bytes.Clone(file[:at]), file[at+2+int(binary.BigEndian.Uint16(file[at+2:])):]...)
	want, err := images.Decode(t.Context(), file, false)
	if err != nil {
		t.Fatal(err)
	}
	got, err := images.Decode(t.Context(), without, false)
	if err != nil || !bytes.Equal(got.Bytes, want.Bytes) {
		t.Errorf("other pixels: %v", err)
	}
}

// The classes of masks equal the values that NumPy reads, whatever the format.
func TestMaskFormatsAsNumPy(t *testing.T) {
	var want map[string]string
	code, err := newMaskCode(MaskOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for name, file := range picturetest.Goldens(t, "testdata/masks.tar.gz", &want) {
		got, err := code.decode(t.Context(), file)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		text := make([]byte, len(got.Bytes))
		for i, class := range got.Bytes {
			text[i] = '0' + class
		}
		if string(text) != want[name] {
			t.Errorf("%s: %s, want %s", name, text, want[name])
		}
	}
	for _, c := range []struct {
		name, want string
		file       []byte
	}{
		{"JPEG in TIFF", "whose compression changes pixels", jpegTIFF(t, 16, 16, 16, 16)},
		{"PPM", "it is a PPM; masks are PNG, GIF, BMP, TIFF or PGM", []byte("P6 1 1 255 abc")},
		{"PGM of 16 bits", "a PGM of numbers up to 255", []byte("P5 1 1 65535 ab")},
	} {
		_, err := code.decode(t.Context(), c.file)
		t.Run(c.name, func(t *testing.T) { wantError(t, err, c.want) })
	}
}

// jpegTIFF returns a grey TIFF of w x h pixels with tiles in JPEG. The tile in column i of row k has the grey
// 40 k + 10 i.
func jpegTIFF(t *testing.T, w, h, tileW, tileH int) []byte {
	t.Helper()
	across, down := (w+tileW-1)/tileW, (h+tileH-1)/tileH
	var tiles []byte
	var offsets, counts []uint32
	const head = 8 + 2 + 9*12 + 4
	for k := range down {
		for i := range across {
			img := image.NewGray(image.Rect(0, 0, tileW, tileH))
			for j := range img.Pix {
				img.Pix[j] = byte(40*k + 10*i)
			}
			var b bytes.Buffer
			if err := jpeg.Encode(&b, img, &jpeg.Options{Quality: 100}); err != nil {
				t.Fatal(err)
			}
			offsets, counts = append(offsets, uint32(head+len(tiles))), append(counts, uint32(b.Len()))
			tiles = append(tiles, b.Bytes()...)
		}
	}
	n := uint32(len(offsets))
	place := [2]uint32{offsets[0], counts[0]}
	if n > 1 {
		place = [2]uint32{uint32(head + len(tiles)), uint32(head+len(tiles)) + 4*n}
		for _, v := range append(offsets, counts...) {
			tiles = binary.LittleEndian.AppendUint32(tiles, v)
		}
	}
	return picturetest.TIFF([][3]uint32{{256, 1, uint32(w)}, {257, 1, uint32(h)}, {258, 1, 8},
		{259, 1, 7}, {262, 1, 1},
		{322, 1, uint32(tileW)}, {323, 1, uint32(tileH)}, {324, n, place[0]}, {325, n, place[1]}}, tiles)
}

// Tiles in JPEG may extend beyond the picture of a TIFF.
func TestTilesOfJPEG(t *testing.T) {
	got, err := images.Decode(t.Context(), jpegTIFF(t, 40, 20, 16, 16), false)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range [][2]int{{0, 0}, {17, 3}, {39, 15}, {5, 16}, {33, 19}} {
		want := byte(40*(p[1]/16) + 10*(p[0]/16))
		if v := got.Bytes[3*(p[1]*40+p[0])]; v != want {
			t.Errorf("pixel %v is %d, want %d", p, v, want)
		}
	}
}

// Faults in files of these formats are reported, and sizes are checked against the limits before anything is
// decoded.
func TestFormatsRefused(t *testing.T) {
	var digests map[string]string
	files := picturetest.Goldens(t, "testdata/formats.tar.gz", &digests)
	var small bytes.Buffer
	dot := image.NewPaletted(image.Rect(0, 0, 4, 4), color.Palette{color.Black})
	if err := gif.Encode(&small, dot, nil); err != nil {
		t.Fatal(err)
	}
	large := bytes.Clone(small.Bytes())
	binary.LittleEndian.PutUint16(large[6:], 65535)
	binary.LittleEndian.PutUint16(large[8:], 1024)
	animated := files["webp/placed.webp"]
	outside := bytes.Clone(animated)
	outside[bytes.Index(outside, []byte("ANMF"))+8] = 200
	other := bytes.Clone(animated)
	other[bytes.Index(other, []byte("ANMF"))+14]++
	for _, c := range []struct {
		name, want string
		file       []byte
	}{
		{"PPM cut", "PPM: the file is cut short", files["ppm/p6.ppm"][:60]},
		{"PPM header", "PPM: the file is cut short", []byte("P6 7 ")},
		{"PPM of letters", `PPM: "seven", want a number`, []byte("P6 seven 5 255 ")},
		{"PPM of nothing", "want a size above 0", []byte("P6 0 5 255 ")},
		{"PPM too white", "at most 65535", []byte("P6 7 5 65536 ")},
		{"PPM of a head", "PPM of 60000 x 60000 pixels; at most 67108864", []byte("P6 60000 60000 255 ")},
		{"PPM of a head within", "PPM: the file is cut short", []byte("P6 8000 8000 255 ")},
		{"PPM above", "a sample of 300", []byte("P3 1 1 255 300 1 2")},
		{"GIF cut", "GIF", files["gif/one.gif"][:200]},
		{"GIF of a head", "65535 x 1024 pixels in 36 bytes", large[:len(large)-1]},
		{"WebP outside", "of a canvas of", outside},
		{"WebP of another size", "said to be of", other},
		{"CMYK of 5", "CMYK of 5 samples", picturetest.TIFF([][3]uint32{{256, 1, 4}, {257, 1, 4}, {258, 1, 8},
			{259, 1, 1}, {262, 1, 5}, {277, 1, 5}}, nil)},
		{"planes", "a plane for each colour", picturetest.TIFF([][3]uint32{{256, 1, 4}, {257, 1, 4}, {258, 1, 8}, {259, 1, 1},
			{262, 1, 2}, {273, 1, 8}, {277, 1, 3}, {279, 1, 48}, {284, 1, 2}}, make([]byte, 48))},
		{"JPEG without strips", "strips or tiles: 0, want 1", picturetest.GreyTIFF(4, 4, 7, nil, nil)},
		{"JPEG of huge tiles", "strips or tiles of", picturetest.GreyTIFF(4, 4, 7, [][3]uint32{{322, 1, 1 << 20}, {323, 1, 1 << 20},
			{324, 1, 8}, {325, 1, 8}}, nil)},
		{"JPEG of large tiles", "pixels for a picture of 16", picturetest.GreyTIFF(4, 4, 7, [][3]uint32{{322, 1, 1 << 12},
			{323, 1, 1 << 12}, {324, 1, 8}, {325, 1, 8}}, nil)},
		{"JPEG beyond", "cut short", picturetest.GreyTIFF(4, 4, 7, [][3]uint32{{273, 1, 1 << 20}, {279, 1, 20}}, nil)},
	} {
		_, err := images.Decode(t.Context(), c.file, false)
		t.Run(c.name, func(t *testing.T) { wantError(t, err, c.want) })
	}
}

// If a JPEG, PNG, WebP or GIF is truncated, this is found when the folder is opened, without decoding the
// other files.
func TestCutPictureIsFoundAtOnce(t *testing.T) {
	var digests map[string]string
	files := picturetest.Goldens(t, "testdata/pictures.tar.gz", &digests)
	for name, file := range picturetest.Goldens(t, "testdata/formats.tar.gz", &digests) {
		files[name] = file
	}
	photo := files["photographs/one.jpeg"]
	for name, whole := range map[string][]byte{"a.jpg": photo, "a.webp": files["webp/whole.webp"],
		"a.gif": files["gif/one.gif"], "a.png": pngOf(t, 40, 30, 9)} {
		dir := unpack(t, []file{{"cat/1.jpg", photo}, {"cat/" + name, whole[:len(whole)*2/3]}})
		_, err := Open(t.Context(), "folder:"+dir, Options{})
		t.Run(name, func(t *testing.T) { wantError(t, err, "1 of 2 files are bad", "member cat/"+name) })
	}
	// If only the end marker is missing, decoders accept the file.
	dir := unpack(t, []file{{"cat/1.jpg", photo[:len(photo)-2]}})
	open(t, "folder:"+dir, Options{})
}

// FuzzDecodeFormats: for any bytes, the decoders of pictures and masks return. They yield the number of rows
// that the file's header declares, or an error.
func FuzzDecodeFormats(f *testing.F) {
	for _, archive := range []string{"formats.tar.gz", "masks.tar.gz"} {
		var about map[string]string
		for _, file := range picturetest.Goldens(f, "testdata/"+archive, &about) {
			f.Add(file)
		}
	}
	code, err := newMaskCode(MaskOptions{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		h, w, err := images.Size(t.Context(), file, false)
		if err != nil || h*w > 1<<16 {
			return
		}
		if got, err := images.Decode(t.Context(), file, true); err == nil && len(got.Bytes) != 3*h*w {
			t.Errorf("%v of a file of %d x %d", got, w, h)
		}
		if got, err := code.decode(t.Context(), file); err == nil && len(got.Bytes) != h*w {
			t.Errorf("a mask %v of a file of %d x %d", got, w, h)
		}
		images.HasEnd(file)
	})
}
