package data

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/bnctl/bnctl/data/images"
	"github.com/bnctl/bnctl/data/internal/stream"
	"github.com/bnctl/bnctl/internal/regular"
	"github.com/bnctl/bnctl/problem"
)

// Shards are tar archives in the layout of WebDataset. The files of a sample have the same name up to the
// first dot, KEY, and follow one another. KEY.jpg is a picture. KEY.cls has the number or the name of its
// class, or KEY.json has it in the field "label". If there is neither, the folder of the picture is its
// class. A picture becomes the member CLASS/KEY.jpg, so that data in shards has the same order and the same
// fingerprint as the same data in folders.

// archiveEnding matches names that end like the name of an archive.
var archiveEnding = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\.(tar|tar\.gz|tgz|zip)$`)
})

// braces matches a range of numbers in the names of shards: {000000..000123}.
var braces = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{([0-9]+)\.\.([0-9]+)\}`) })

const (
	maxShards   = 100_000
	maxLabel    = 1 << 20 // largest size of a .cls or .json file, in bytes
	shardsAhead = 8       // number of shards that are fetched at the same time
	blockSize   = 512     // size of the blocks of a tar
)

// openShards opens wds:PATH.
func openShards(ctx context.Context, s spec, opt Options) (Source, error) {
	names, err := shardNames(s.path)
	if err != nil {
		return nil, err
	}
	t, numbered, err := readShards(ctx, names)
	if err != nil {
		return nil, err
	}
	if len(t.members) == 0 {
		return nil, errors.Join(errors.New("there is no picture in the shards"), t.close())
	}
	l, err := layoutOf(t.members)
	if err != nil {
		return nil, errors.Join(err, t.close())
	}
	classes := l.classes()
	if numbered > 0 {
		classes = numberNames(numbered)
	}
	p, err := newPictures(s, l, classes, opt)
	if err != nil {
		return nil, errors.Join(err, t.close())
	}
	p.close, p.info.Ignored = t.close, t.ignored
	p.info.Kind = "folder" // because the same samples in folders are the same data
	if err := p.findShape(ctx, opt); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// shardNames returns the paths or URLs of the shards that a path represents: a range in braces, one archive,
// or all .tar, .tar.gz and .tgz files of a folder in the order of their names.
func shardNames(text string) ([]string, error) {
	if m := braces().FindStringSubmatchIndex(text); m != nil {
		return inBraces(text, m)
	}
	if there, err := regular.Exists(text); strings.ContainsAny(text, "*?[") && !there && err == nil {
		return nil, problem.Advise("name the folder of the shards, or a range such as shard-{000000..000009}.tar",
			"there is no such file, and patterns are not expanded")
	}
	if isArchiveName(text) {
		return []string{text}, nil
	}
	var names []string
	if r := regular.RemoteOf(text); r != nil {
		for f, err := range r.Files(text) {
			if err != nil {
				return nil, regular.Reason(r.Name(text), err)
			}
			if isShardName(f.Name) {
				names = append(names, strings.TrimRight(text, "/")+"/"+f.Name)
			}
		}
	} else {
		entries, err := os.ReadDir(text)
		if err != nil {
			return nil, stream.WithoutPath(err)
		}
		for _, e := range entries {
			if isShardName(e.Name()) && !hidden(e.Name()) {
				names = append(names, filepath.Join(text, e.Name()))
			}
		}
	}
	if len(names) == 0 {
		return nil, problem.Advise("name a folder of shards, or a range such as shard-{000000..000009}.tar",
			"there is no .tar file here")
	}
	slices.Sort(names)
	return names, nil
}

// isShardName reports whether a name has the ending of a shard.
func isShardName(name string) bool {
	return isArchiveName(name) && !strings.HasSuffix(strings.ToLower(name), ".zip")
}

// inBraces returns a name for each number of the range in text. m has the position of the match of braces.
func inBraces(text string, m []int) ([]string, error) {
	first, last := text[m[2]:m[3]], text[m[4]:m[5]]
	from, err1 := strconv.Atoi(first)
	to, err2 := strconv.Atoi(last)
	if err1 != nil || err2 != nil || to < from || to-from >= maxShards {
		return nil, fmt.Errorf("{%s..%s} is no range of at most %d numbers", first, last, maxShards)
	}
	var names []string
	for n := from; n <= to; n++ {
		names = append(names, text[:m[0]]+fmt.Sprintf("%0*d", len(first), n)+text[m[1]:])
	}
	return names, nil
}

// shard is an open shard, with a list of its samples.
type shard struct {
	file     *os.File
	unpacked bool // file is a temporary file, which has to be removed
	samples  []shardSample
}

func (s *shard) close() {
	s.file.Close()
	if s.unpacked {
		os.Remove(s.file.Name()) // some systems permit this only after closing it
	}
}

// shardSample has the position of a sample's picture in the shard, and its label.
type shardSample struct {
	key, extension string
	offset, size   int64
	label          string // name of the class; "" if the folder is the class
	number         int    // number of the class, or -1 if the class is not a number
}

// readShards lists the pictures of several shards. If all labels are numbers, numbered is the number of
// classes, and otherwise 0.
func readShards(ctx context.Context, names []string) (t *tree, numbered int, err error) {
	shards := make([]*shard, len(names))
	failed := make([]error, len(names))
	slots := make(chan struct{}, shardsAhead)
	var wait sync.WaitGroup
	for i, name := range names {
		slots <- struct{}{}
		wait.Go(func() {
			defer func() { <-slots }()
			if failed[i] = context.Cause(ctx); failed[i] == nil {
				shards[i], failed[i] = openShard(name)
			}
		})
	}
	wait.Wait()
	t = &tree{close: func() error {
		for _, s := range shards {
			if s != nil {
				s.close()
			}
		}
		return nil
	}}
	for i, err := range failed {
		if err != nil {
			t.close() //nolint:errcheck // the files were read only
			return nil, 0, fmt.Errorf("shard %s: %w", names[i], stream.WithoutPath(err))
		}
	}
	if numbered, err = t.addShards(names, shards); err != nil {
		t.close() //nolint:errcheck // the files were read only
	}
	return t, numbered, err
}

// addShards adds the pictures of the shards to t, under the names that they would have in folders of classes.
func (t *tree) addShards(names []string, shards []*shard) (numbered int, err error) {
	labelled, all := 0, 0
	keys := map[string]string{}
	for _, s := range shards {
		for _, sample := range s.samples {
			all++
			if sample.number >= 0 {
				labelled++
				numbered = max(numbered, sample.number+1)
			}
		}
	}
	if labelled < all || numbered > maxClasses {
		numbered = 0
	}
	for i, s := range shards {
		for _, sample := range s.samples {
			name := sample.name(numbered)
			if other, twice := keys[name]; twice {
				return 0, problem.Advise("give each sample a key of its own", "%s and %s both have a sample %s", other,
					names[i], name)
			}
			keys[name] = names[i]
			if err := t.add(member{name: name, size: sample.size, read: s.reader(sample)}); err != nil {
				return 0, err
			}
		}
	}
	return numbered, nil
}

// name returns the name that the picture of the sample would have in folders of classes.
func (s shardSample) name(numbered int) string {
	switch {
	case s.label == "":
		return s.key + s.extension
	case numbered > 0:
		return numberNames(numbered)[s.number] + "/" + path.Base(s.key) + s.extension
	}
	return s.label + "/" + path.Base(s.key) + s.extension
}

// numberNames returns names for n numbered classes. Their alphabetical order is the order of their numbers.
func numberNames(n int) []string {
	numbersMutex.Lock()
	defer numbersMutex.Unlock()
	if len(numbers) != n {
		numbers = make([]string, n)
		for i := range numbers {
			numbers[i] = fmt.Sprintf("%0*d", len(strconv.Itoa(n-1)), i)
		}
	}
	return numbers
}

var (
	numbersMutex sync.Mutex
	numbers      []string // the result of the last call of numberNames
)

// reader returns a function that reads the picture of a sample from the shard.
func (s *shard) reader(sample shardSample) func() ([]byte, error) {
	return func() ([]byte, error) {
		b := make([]byte, sample.size)
		_, err := s.file.ReadAt(b, sample.offset)
		return b, stream.CutShort(stream.WithoutPath(err))
	}
}

// openShard opens a shard and lists its samples. The pictures stay in the file.
func openShard(name string) (*shard, error) {
	f, err := regular.Open(name)
	if err != nil {
		return nil, err
	}
	s := &shard{file: f}
	kind, err := archiveKind(f)
	if err == nil && kind == "gzip" {
		s, err = unpackShard(f)
		f.Close()
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	if s.samples, err = listShard(s.file); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// unpackShard unpacks a gzipped shard into a temporary file, because samples are read in any order. If the
// system permits it, the file is removed at once, and exists only while it is open.
func unpackShard(f *os.File) (*shard, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, stream.CutShort(err)
	}
	to, err := os.CreateTemp("", "bnctl-shard-*.tar")
	if err != nil {
		return nil, err
	}
	os.Remove(to.Name())
	s := &shard{file: to, unpacked: true}
	if _, err := io.Copy(to, &unpackLimit{r: z, remaining: unpackedLimit(info.Size())}); err != nil {
		s.close()
		var full *fs.PathError
		if errors.As(err, &full) {
			return nil, problem.Advise("unpack it with gunzip to a disk with more space, or set TMPDIR to one",
				"it cannot be unpacked in %s: %w", os.TempDir(), full.Err)
		}
		return nil, fmt.Errorf("it cannot be unpacked: %w", stream.CutShort(err))
	}
	_, err = to.Seek(0, io.SeekStart)
	return s, err
}

// listShard returns the samples of a tar archive.
func listShard(f io.ReadSeeker) ([]shardSample, error) {
	head := make([]byte, blockSize)
	n, err := io.ReadFull(f, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, err
	}
	if archiveIn(head[:n]) != "tar" {
		return nil, errors.New("this is neither a .tar nor a .tar.gz archive")
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	groups := map[string]*shardSample{}
	var order []string
	archive := tar.NewReader(f)
	last := "the start"
	for {
		h, err := archive.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("the archive breaks off after %s: %w", last, stream.CutShort(err))
		}
		name, err := memberName(h.Name)
		if err != nil {
			return nil, err
		}
		last = "member " + name
		if h.Typeflag != tar.TypeReg || hidden(name) {
			continue
		}
		if len(order) > maxMembers {
			return nil, fmt.Errorf("more than %d samples", maxMembers)
		}
		folder, base := path.Split(name)
		key, extension, _ := strings.Cut(base, ".")
		key = folder + key
		g := groups[key]
		if g == nil {
			g = &shardSample{key: key, number: -1}
			groups[key] = g
			order = append(order, key)
		}
		at, err := f.Seek(0, io.SeekCurrent)
		if err == nil {
			err = g.add(h, archive, at, strings.ToLower(extension), name)
		}
		if err != nil {
			return nil, fmt.Errorf("member %s: %w", name, err)
		}
	}
	if err := checkEnd(f, groups); err != nil {
		return nil, fmt.Errorf("the archive breaks off after %s: %w", last, err)
	}
	var samples []shardSample
	for _, key := range order {
		if g := groups[key]; g.extension != "" {
			samples = append(samples, *g)
		}
	}
	slices.SortStableFunc(samples, func(a, b shardSample) int { return cmp.Compare(a.key, b.key) })
	return samples, nil
}

// checkEnd returns an error unless every picture lies completely within the archive, and the archive ends
// with a block of zeros. archive/tar also accepts an archive that is truncated between two members.
func checkEnd(f io.ReadSeeker, groups map[string]*shardSample) error {
	size, err := f.Seek(-blockSize, io.SeekEnd)
	if err != nil {
		return io.ErrUnexpectedEOF
	}
	block := make([]byte, blockSize)
	if _, err := io.ReadFull(f, block); err != nil {
		return err
	}
	if len(bytes.Trim(block, "\x00")) > 0 {
		return io.ErrUnexpectedEOF
	}
	for _, g := range groups {
		if g.offset+g.size > size {
			return io.ErrUnexpectedEOF
		}
	}
	return nil
}

// add adds a file to its sample. It ignores files other than pictures and labels.
func (s *shardSample) add(h *tar.Header, content io.Reader, offset int64, extension, name string) error {
	switch {
	case images.IsFileName(name):
		if s.extension != "" {
			return problem.Advise("give each picture a key of its own", "the sample %s has two pictures", s.key)
		}
		s.extension, s.offset, s.size = strings.TrimPrefix(name, s.key), offset, h.Size
	case extension == "cls", extension == "json":
		b, err := readBounded(content, maxLabel)
		if err != nil {
			return stream.CutShort(err)
		}
		return s.setLabel(extension, b)
	}
	return nil
}

// setLabel sets the label from the content b of a .cls or .json file. It ignores JSON without the field
// "label".
func (s *shardSample) setLabel(extension string, b []byte) error {
	text := strings.TrimSpace(string(b))
	if extension == "json" {
		var with struct {
			Label json.RawMessage `json:"label"`
		}
		if err := json.Unmarshal(b, &with); err != nil {
			return err
		}
		if with.Label == nil || s.label != "" {
			return nil
		}
		if text = string(with.Label); strings.HasPrefix(text, `"`) {
			if err := json.Unmarshal(with.Label, &text); err != nil {
				return err
			}
		}
	}
	if text == "" || strings.ContainsAny(text, "/\\\n\x00") || hidden(text) {
		return fmt.Errorf("%.80q is neither the number nor the name of a class", text)
	}
	s.label = text
	if n, err := strconv.Atoi(text); err == nil && n >= 0 && n < maxClasses {
		s.number = n
	} else {
		s.number = -1
	}
	return nil
}
