package data

import (
	"bytes"
	"fmt"
	"testing"
)

// cifarRecords makes n records. Record i has the label i mod 10, and its pixel p is the colour (i+p, i+p+1,
// i+p+2).
func cifarRecords(n int) []byte {
	b := make([]byte, n*cifarRecord)
	for i := range n {
		record := b[i*cifarRecord:]
		record[0] = byte(i % 10)
		for p := range cifarPlane {
			for c := range 3 {
				record[1+c*cifarPlane+p] = byte(i + p + c)
			}
		}
	}
	return b
}

// cifarBatches returns the files of the binary version, below its usual folder.
func cifarBatches() []file {
	var files []file
	for i := range 5 {
		files = append(files, file{fmt.Sprintf("cifar-10-batches-bin/data_batch_%d.bin", 5-i), cifarRecords(5 - i)})
	}
	return append(files, file{"cifar-10-batches-bin/test_batch.bin", cifarRecords(2)},
		file{"cifar-10-batches-bin/batches.meta.txt", []byte("airplane\n")})
}

func TestCIFARBinary(t *testing.T) {
	files := cifarBatches()
	for _, path := range []string{
		unpack(t, files), unpack(t, files) + "/cifar-10-batches-bin",
		write(t, "c.tar.gz", gzipped(t, tarOf(t, files))),
	} {
		src := open(t, "cifar10:"+path, Options{})
		if info := src.Info(); info.Len != 15 || info.Classes[9] != "truck" || info.Shape[0] != 32 {
			t.Errorf("info = %+v", info)
		}
		// Sample 2 is the second record of data_batch_2.
		sample, err := src.Sample(t.Context(), 2)
		if err != nil || !bytes.Equal(sample.Bytes[:6], []byte{1, 2, 3, 2, 3, 4}) || label(t, src, 2)[0] != 1 {
			t.Errorf("sample 2 begins %d (%v), label %d", sample.Bytes[:6], err, label(t, src, 2))
		}
		if n := open(t, "cifar10:"+path+"@test", Options{}).Info().Len; n != 2 {
			t.Errorf("%d test samples, want 2", n)
		}
	}
	if src := open(t, "cifar10:"+write(t, "x.bin", cifarRecords(3)), Options{Split: Test}); src.Info().Len != 3 {
		t.Errorf("info = %+v, want 3 samples", src.Info())
	}
}

func TestCIFARFolders(t *testing.T) {
	var files, small []file
	for i, class := range cifarClasses {
		files = append(files, file{"train/" + class + "/0.png", pngOf(t, 32, 32, byte(i))})
		small = append(small, file{"train/" + class + "/0.png", pngOf(t, 31, 32, byte(i))})
	}
	src := open(t, "cifar10:"+write(t, "x.zip", zipOf(t, files)), Options{})
	sample, err := src.Sample(t.Context(), 9)
	if err != nil || sample.Bytes[0] != 9 || label(t, src, 9)[0] != 9 {
		t.Errorf("sample 9 = %v (%v), label %d", sample, err, label(t, src, 9))
	}
	_, err = Open(t.Context(), "cifar10:"+unpack(t, small), Options{})
	wantError(t, err, "10 of 10 files are bad", "member train/airplane/0.png", "member train/truck/0.png", "31 x 32",
		"want 32 x 32")
	_, err = Open(t.Context(), "cifar10:"+unpack(t, files[1:]), Options{})
	wantError(t, err, "automobile, bird", "folder:")
}

func TestCIFARBad(t *testing.T) {
	label := cifarRecords(3)
	label[cifarRecord] = 10
	for _, c := range []struct {
		name  string
		file  []byte
		wants []string
	}{
		{"empty", nil, []string{"empty"}},
		{"cut", cifarRecords(3)[:2*cifarRecord+7], []string{"2 records of 3073 and 7 more"}},
		{"label", label, []string{"record 1", "label 10"}},
	} {
		name := write(t, "x.bin", c.file)
		_, err := Open(t.Context(), "cifar10:"+name, Options{})
		t.Run(c.name, func(t *testing.T) { wantError(t, err, append(c.wants, name)...) })

		files := cifarBatches()
		files[3].content = c.file
		_, err = Open(t.Context(), "cifar10:"+write(t, "x.tar", tarOf(t, files)), Options{})
		t.Run(c.name+" member", func(t *testing.T) {
			wantError(t, err, append(c.wants, "member cifar-10-batches-bin/data_batch_2.bin")...)
		})
	}
	_, err := Open(t.Context(), "cifar10:"+unpack(t, cifarBatches()[1:]), Options{})
	wantError(t, err, "data_batch_5.bin is missing")
	_, err = Open(t.Context(), "cifar10:"+write(t, "x.bin", cifarRecords(1))+"@test", Options{})
	wantError(t, err, "single file")
}

func FuzzReadCIFAR(f *testing.F) {
	f.Add(cifarRecords(2))
	f.Add(cifarRecords(1)[:100])
	f.Fuzz(func(t *testing.T, file []byte) {
		m, err := readCIFAR(file)
		if err != nil {
			return
		}
		if m.info.Len*cifarRecord != len(file) || len(m.labels) != m.info.Len {
			t.Errorf("%d bytes became %d records", len(file), m.info.Len)
		}
	})
}
