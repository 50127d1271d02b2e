package data

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/data/images"
	"github.com/bnctl/bnctl/data/internal/names"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// A record of CIFAR-10's binary version is a label and 32 x 32 pixels, as a red, a green
// and a blue plane (https://www.cs.toronto.edu/~kriz/cifar.html).
const (
	cifarSide   = 32
	cifarPlane  = cifarSide * cifarSide
	cifarRecord = 1 + 3*cifarPlane
)

// cifarClasses are the classes by label. This is also their alphabetical order.
var cifarClasses = []string{
	"airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck",
}

// openCIFAR10 opens cifar10:PATH.
func openCIFAR10(ctx context.Context, s spec, opt Options) (Source, error) {
	if strings.EqualFold(path.Ext(s.path), ".bin") {
		return openCIFARFile(s)
	}
	isRecords := func(name string) bool { return path.Ext(name) == ".bin" }
	t, err := openTree(ctx, s.path, func(name string) bool { return isRecords(name) || images.IsFileName(name) })
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(t.members, func(m member) bool { return isRecords(m.name) }) {
		defer t.close()
		return openCIFARBatches(s, t.members)
	}
	p, err := treePictures(s, t, opt)
	if err != nil {
		return nil, err
	}
	if !slices.Equal(p.info.Classes, cifarClasses) {
		p.Close()
		return nil, problem.Advise(fmt.Sprintf("open it as folder:%s", s.path),
			"its class folders are %s, not those of CIFAR-10", names.First(p.info.Classes))
	}
	p.size = []int{cifarSide, cifarSide}
	if err := p.findShape(ctx, opt); err != nil {
		p.Close()
		return nil, err
	}
	p.info.Shape = []int{cifarSide, cifarSide, 3}
	return p, nil
}

// openCIFARFile opens one file of records, which has no splits.
func openCIFARFile(s spec) (Source, error) {
	if s.explicit {
		return nil, problem.Advise("leave the suffix off", "@%s: a single file has no parts", s.split)
	}
	file, err := readFile(s.path)
	if err != nil {
		return nil, err
	}
	m, err := readCIFAR(file)
	if err != nil {
		return nil, err
	}
	m.info.Kind = s.kind
	return m, nil
}

// openCIFARBatches opens the files of the requested split: data_batch_1.bin to data_batch_5.bin, or
// test_batch.bin.
func openCIFARBatches(s spec, members []member) (Source, error) {
	split, err := s.trainOrTest()
	if err != nil {
		return nil, err
	}
	names := []string{"test_batch.bin"}
	if split != Test {
		names = nil
		for i := range 5 {
			names = append(names, fmt.Sprintf("data_batch_%d.bin", i+1))
		}
	}
	var records []byte
	for _, name := range names {
		at := slices.IndexFunc(members, func(m member) bool { return path.Base(m.name) == name })
		if at < 0 {
			return nil, fmt.Errorf("member %s is missing", name)
		}
		file, err := members[at].read()
		if err == nil {
			err = checkCIFAR(file)
		}
		if err != nil {
			return nil, fmt.Errorf("member %s: %w", members[at].name, err)
		}
		records = append(records, file...)
	}
	m, err := readCIFAR(records)
	if err != nil {
		return nil, err
	}
	m.info.Kind, m.info.Split = s.kind, split
	return m, nil
}

// checkCIFAR returns an error if a file does not consist of valid records.
func checkCIFAR(file []byte) error {
	if len(file) == 0 {
		return fmt.Errorf("the file is empty")
	}
	if rest := len(file) % cifarRecord; rest != 0 {
		return fmt.Errorf("the file is cut short: %s are %s of %d and %d more",
			problem.Plural(len(file), "byte"), problem.Plural(len(file)/cifarRecord, "record"), cifarRecord, rest)
	}
	for i := 0; i < len(file); i += cifarRecord {
		if int(file[i]) >= len(cifarClasses) {
			return fmt.Errorf("record %d: label %d is out of range 0 to 9; is this CIFAR-10's binary version?",
				i/cifarRecord, file[i])
		}
	}
	return nil
}

// readCIFAR reads records into pictures.
func readCIFAR(file []byte) (*memory, error) {
	if err := checkCIFAR(file); err != nil {
		return nil, err
	}
	n := len(file) / cifarRecord
	x := tensor.New(tensor.U8, n, cifarSide, cifarSide, 3)
	labels := make([]int32, n)
	for i := range n {
		record := file[i*cifarRecord : (i+1)*cifarRecord]
		labels[i] = int32(record[0])
		interleave(x.Bytes[3*i*cifarPlane:3*(i+1)*cifarPlane], record[1:])
	}
	return &memory{x: x, labels: labels, info: pictureInfo(x, cifarClasses)}, nil
}

// interleave converts a red, a green and a blue plane to pixels.
func interleave(dst, planes []byte) {
	red, green, blue := planes[:cifarPlane], planes[cifarPlane:2*cifarPlane], planes[2*cifarPlane:]
	for p := range cifarPlane {
		dst[3*p], dst[3*p+1], dst[3*p+2] = red[p], green[p], blue[p]
	}
}
