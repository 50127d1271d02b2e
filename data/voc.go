package data

import (
	"context"
	"errors"
	"path"
	"strings"

	"github.com/bnctl/bnctl/data/images"
)

// vocClasses are the classes of the PASCAL VOC segmentation challenge, in the order of
// their numbers.
var vocClasses = []string{"background", "aeroplane", "bicycle", "bird", "boat", "bottle", "bus", "car", "cat",
	"chair", "cow", "diningtable", "dog", "horse", "motorbike", "person", "pottedplant", "sheep", "sofa",
	"train", "tvmonitor"}

// vocFolder returns the folder of VOC's layout that a file is in, or "" if it is in none.
func vocFolder(name string) string {
	in := path.Dir(name)
	for _, folder := range []string{"JPEGImages", "SegmentationClass", "ImageSets/Segmentation"} {
		if in == folder || strings.HasSuffix(in, "/"+folder) {
			return folder
		}
	}
	return ""
}

// openVOC opens voc:PATH: the training and validation data of one year.
func openVOC(ctx context.Context, s spec, opt Options) (Source, error) {
	t, err := openTree(ctx, s.path, func(name string) bool {
		folder := vocFolder(name)
		return folder != "" && (images.IsFileName(name) || folder == "ImageSets/Segmentation" && isList(name))
	})
	if err != nil {
		return nil, err
	}
	of := map[string][]member{}
	for _, m := range t.members {
		of[vocFolder(m.name)] = append(of[vocFolder(m.name)], m)
	}
	for _, folder := range []string{"JPEGImages", "SegmentationClass", "ImageSets/Segmentation"} {
		if len(of[folder]) == 0 {
			return nil, errors.Join(errors.New("there is no "+folder+", or nothing in it"), t.close())
		}
	}
	lists := map[Split]string{}
	if _, err := takeLists(of["ImageSets/Segmentation"], lists); err != nil {
		return nil, errors.Join(err, t.close())
	}
	pictures, err1 := keyFiles(of["JPEGImages"])
	masks, err2 := keyFiles(of["SegmentationClass"])
	l, err := pairs(pictures, masks).byLists(lists)
	if err = errors.Join(err1, err2, err); err != nil {
		return nil, errors.Join(err, t.close())
	}
	code := &maskCode{names: vocClasses}
	code.clear()
	for class := range vocClasses {
		code.values[class] = int16(class)
	}
	return newMasks(ctx, s, l, []*tree{t}, code, opt)
}
