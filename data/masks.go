package data

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/bnctl/bnctl/data/augmentation"
	"github.com/bnctl/bnctl/data/images"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// masks is a source of pictures and masks, which are decoded when they are needed.
type masks struct {
	*pictures
	code   *maskCode
	labels *cache
}

// openMasks opens masks:IMAGES,MASKS[,TABLE].
func openMasks(ctx context.Context, s spec, opt Options) (Source, error) {
	paths := strings.Split(s.path, ",")
	if len(paths) != 2 && len(paths) != 3 {
		return nil, fmt.Errorf("%w: want two paths, or three: masks:IMAGES,MASKS,TABLE", ErrSpec)
	}
	code, err := newMaskCode(opt.Masks)
	if err != nil {
		return nil, err
	}
	if len(paths) == 3 {
		if opt.Masks != (MaskOptions{}) {
			return nil, opt.Masks.idle("masks with a table, which says it")
		}
		if code, err = readMaskTable(paths[2]); err != nil {
			return nil, err
		}
	}
	var trees [2]*tree
	for i := range trees {
		keep := func(name string) bool { return images.IsFileName(name) || isList(name) }
		trees[i], err = openTree(ctx, paths[i], keep)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", paths[i], err), closeAll(trees[:i]))
		}
	}
	l, err := maskLayout(trees)
	if err != nil {
		return nil, errors.Join(err, closeAll(trees[:]))
	}
	return newMasks(ctx, s, l, trees[:], code, opt)
}

func closeAll(trees []*tree) (err error) {
	for _, t := range trees {
		err = errors.Join(err, t.close())
	}
	return err
}

// maskLayout pairs the pictures of the first tree with the masks of the second.
func maskLayout(trees [2]*tree) (layout, error) {
	lists := map[Split]string{}
	var all [2][]keyedFile
	for i, t := range trees {
		members, err := takeLists(t.members, lists)
		if err != nil {
			return layout{}, err
		}
		if all[i], err = keyFiles(members); err != nil {
			return layout{}, err
		}
	}
	l := pairs(all[0], all[1])
	if len(lists) > 0 {
		return l.byLists(lists)
	}
	return l, nil
}

// newMasks returns a source of the split that s requests. It owns the trees, and closes them if it returns an
// error.
func newMasks(ctx context.Context, s spec, l layout, trees []*tree, code *maskCode, opt Options) (
	Source, error) {
	fail := func(err error) (Source, error) { return nil, errors.Join(err, closeAll(trees)) }
	samples, split, err := l.pick(s)
	if err != nil {
		return fail(err)
	}
	holdUnchanged(samples)
	p := &pictures{samples: samples, cache: newCache(len(samples), opt), exif: opt.EXIF,
		close: func() error { return closeAll(trees) }, prefix: s.String() + ": member "}
	p.info = Info{Kind: s.kind, Split: split, Len: len(samples), DType: tensor.U8, Labelled: true,
		Masks: true, Classes: code.names, Decoder: images.DecoderVersion, EXIF: opt.EXIF, Kinds: kindsOf(samples)}
	p.info.requested, p.info.formats = s.requested(split), []*formatSet{{}}
	p.info.Ignored, p.info.Empty = trees[0].ignored, trees[0].empty
	m := &masks{pictures: p, code: code}
	if err := m.survey(ctx, l, opt); err != nil {
		return fail(err)
	}
	if opt.CacheBytes == 0 {
		opt.CacheBytes = defaultCacheBytes / 4 // the pictures have a separate cache
	}
	m.labels = newCache(m.info.Len, opt)
	return m, nil
}

// survey checks all pictures and masks: their sizes, whether each has a partner, and whether some pixel has a
// class. It also finds the number of classes. If there are very many pictures and the classes are known, it
// does nothing.
func (m *masks) survey(ctx context.Context, l layout, opt Options) error {
	if !opt.checksAllSizes(len(m.samples)) && m.code.names != nil {
		return nil
	}
	defer m.readInOrder(ctx, 1)()
	var mu sync.Mutex
	seen, sizes := [256]bool{}, map[[2]int]bool{}
	bad, err := m.badFiles(ctx, func(i int) error {
		h, w, err := m.sizeOfPair(ctx, i, opt)
		if err != nil {
			return err
		}
		mask, err := m.readMask(ctx, m.samples[i])
		if err == nil && !slices.Equal(mask.Shape, []int{h, w}) {
			err = m.misfit(ctx, m.samples[i], mask.Shape, []int{h, w})
		}
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		sizes[[2]int{h, w}] = true
		for _, class := range mask.Bytes {
			seen[class] = true
		}
		return nil
	})
	if err == nil {
		err = m.removeBad(bad, opt)
	}
	if err != nil {
		return err
	}
	for size := range sizes {
		if len(sizes) == 1 {
			m.info.Shape, m.info.LabelShape = []int{size[0], size[1], 3}, []int{size[0], size[1]}
		}
	}
	if err := m.count(ctx, l, seen, opt); err != nil {
		return err
	}
	for class, name := range m.info.Classes {
		if !seen[class] {
			m.info.Absent = append(m.info.Absent, name)
		}
	}
	return nil
}

// misfit returns the error for a mask that has another size than its picture. Perhaps only one of them was
// turned; then the error states so.
func (m *masks) misfit(ctx context.Context, s sampleFile, mask, picture []int) error {
	text := fmt.Sprintf("its mask %s is of %d x %d pixels, and it is of %d x %d", s.mask.name, mask[1], mask[0],
		picture[1], picture[0])
	file, err := s.read()
	if err != nil {
		return err
	}
	if h, w, err := images.Size(ctx, file, !m.exif); err != nil || !slices.Equal(mask, []int{h, w}) {
		return errors.New(text)
	}
	if m.exif {
		return problem.Failure("", text+", turned as its EXIF orientation says", "the mask fits with {exif} ignore")
	}
	return problem.Failure("", text+" unless its EXIF orientation is applied", "add {exif} apply")
}

// sizeOfPair returns the size of picture i, and checks that it has a mask.
func (m *masks) sizeOfPair(ctx context.Context, i int, opt Options) (h, w int, err error) {
	switch s := m.samples[i]; {
	case s.read == nil:
		return 0, 0, errors.New("there is no picture of this name")
	case s.mask.read == nil:
		return 0, 0, errors.New("there is no mask of this name")
	}
	return m.sizeOf(ctx, i, opt)
}

// count finds the number of classes. If the options do not set it, it is the number of classes in the masks
// of all splits. It is an error if the masks have no class.
func (m *masks) count(ctx context.Context, l layout, seen [256]bool, opt Options) error {
	if !slices.Contains(seen[:augmentation.Ignored], true) {
		return problem.Failure("", "every pixel of every mask is ignored", "{ignore} says what is")
	}
	if m.code.names != nil {
		return nil
	}
	for _, split := range l.splits {
		for _, s := range split {
			if mask, err := m.readMask(ctx, s); err == nil { // a bad mask is an error when its split is opened
				for _, class := range mask.Bytes {
					seen[class] = true
				}
			}
		}
	}
	classes := augmentation.Ignored
	for !seen[classes-1] {
		classes--
	}
	if classes == 1 {
		text, advice := "the masks hold 0 alone: there is one class", ""
		if seen[augmentation.Ignored] && opt.Masks.Ignore == "" {
			text = "the masks hold 0 and 255 alone: 255 may be a class, or say that a pixel is ignored"
			advice = "say which with {mask-values} 0,255 or {ignore} 255"
		}
		if opt.Masks.Ignore == "" {
			return problem.Failure("", text, advice)
		}
	}
	for class := range max(classes, 2) {
		m.info.Classes = append(m.info.Classes, strconv.Itoa(class))
	}
	m.code.names = m.info.Classes
	return nil
}

// readMask returns the classes of a sample's pixels.
func (m *masks) readMask(ctx context.Context, s sampleFile) (tensor.Tensor, error) {
	if s.mask.read == nil {
		return tensor.Tensor{}, errors.New("there is no mask of this name")
	}
	file, err := s.mask.read()
	var t tensor.Tensor
	if err == nil {
		t, err = m.code.decode(ctx, file)
	}
	if err != nil {
		return t, fmt.Errorf("mask %s: %w", s.mask.name, err)
	}
	return t, nil
}

// decodeMask is readMask for sample i. It also checks that the classes exist.
func (m *masks) decodeMask(ctx context.Context, i int) (tensor.Tensor, error) {
	t, err := m.readMask(ctx, m.samples[i])
	if err == nil {
		for at, class := range t.Bytes {
			if int(class) >= len(m.info.Classes) && class != augmentation.Ignored {
				err = fmt.Errorf("mask %s: pixel %d, %d is %d: there were %s when the source was opened",
					m.samples[i].mask.name, at%t.Shape[1], at/t.Shape[1], class,
					problem.Plural(len(m.info.Classes), "class"))
				break
			}
		}
	}
	if err != nil {
		return t, m.wrap(i, err)
	}
	return t, nil
}

func (m *masks) mask(ctx context.Context, i int) (tensor.Tensor, error) {
	return m.labels.get(i, func(i int) (tensor.Tensor, error) { return m.decodeMask(ctx, i) })
}

// Label implements Source.
func (m *masks) Label(ctx context.Context, i int) ([]int32, error) {
	mask, err := m.mask(ctx, i)
	if err != nil {
		return nil, err
	}
	label := make([]int32, len(mask.Bytes))
	for at, class := range mask.Bytes {
		if label[at] = int32(class); class == augmentation.Ignored {
			label[at] = -1
		}
	}
	return label, nil
}

// Fingerprint implements Source.
func (m *masks) Fingerprint(ctx context.Context) (string, error) {
	ofPictures, err := m.pictures.Fingerprint(ctx)
	if err != nil {
		return "", err
	}
	step := m.hashed()
	contents := make([][sha256.Size]byte, (m.info.Len+step-1)/step)
	err = eachSample(len(contents), func(k int) error {
		mask, err := m.mask(ctx, k*step)
		contents[k] = sha256.Sum256(mask.Bytes)
		return errors.Join(err, ctx.Err())
	})
	h := newFingerprint(m.info)
	h.text(ofPictures)
	for _, c := range contents {
		h.Write(c[:])
	}
	return h.sum(), err
}
