package samples_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/internal/regular"
	"github.com/bnctl/bnctl/internal/store"
	"github.com/bnctl/bnctl/internal/storetest"
	"github.com/bnctl/bnctl/objects/samples"
)

// picture returns a PNG of 8x8 pixels: a mask with the classes 0 and 1, or a colour picture.
func picture(t *testing.T, seed int, mask bool) []byte {
	t.Helper()
	m := image.NewRGBA(image.Rect(0, 0, 8, 8))
	g := image.NewGray(m.Rect)
	for i := range 64 {
		m.SetRGBA(i%8, i/8, color.RGBA{uint8(seed * 40), uint8(i * 3), uint8(seed + i), 255})
		g.SetGray(i%8, i/8, color.Gray{Y: uint8((seed + i) % 2)})
	}
	var b bytes.Buffer
	var err error
	if mask {
		err = png.Encode(&b, g)
	} else {
		err = png.Encode(&b, m)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// dataSets returns data sets of four pictures in each layout, as files by path. Names have spaces and
// accents.
func dataSets(t *testing.T) map[string][]byte {
	t.Helper()
	const xml = "<annotation><filename>%s.png</filename><size><width>8</width><height>8</height><depth>3</depth>" +
		"</size><object><name>%s</name><bndbox><xmin>1</xmin><ymin>2</ymin><xmax>5</xmax><ymax>6</ymax></bndbox>" +
		"</object></annotation>"
	files := map[string][]byte{
		"yolo/data.yaml":    []byte("train: images/train\nval: images/val\nnames: [cat, dog]\n"),
		"boxes/boxes.csv":   []byte("path,x1,y1,x2,y2,label\n"),
		"masks/classes.txt": []byte("0 ground\n1 thing\n"),
		"csv/labels.csv":    []byte("path,label,split\n"),
	}
	var coco [2][]string
	for i, name := range []string{"a b", "ünï cödé", "c+&=1", "漢字"} {
		split, class := []string{"train", "val"}[i/2], []string{"cat", "dog"}[i%2]
		content := picture(t, i, false)
		files["folder/"+split+"/"+class+"/"+name+".png"] = content
		files["csv/images/"+name+".png"] = content
		files["csv/labels.csv"] = fmt.Appendf(files["csv/labels.csv"], "%s.png,%s,%s\n", name, class, split)
		files["flow/"+split+"/"+name+".png"] = content
		table := "flow/" + split + "/_classes.csv"
		if files[table] == nil {
			files[table] = []byte("filename,cat,dog\n")
		}
		files[table] = fmt.Appendf(files[table], "%s.png,%d,%d\n", name, 1-i%2, i%2)
		files["masks/images/"+split+"/"+name+".png"] = content
		files["masks/masks/"+split+"/"+name+".png"] = picture(t, i, true)
		files["yolo/images/"+split+"/"+name+".png"] = content
		files["yolo/labels/"+split+"/"+name+".txt"] = fmt.Appendf(nil, "%d 0.5 0.5 0.25 0.5\n", i%2)
		files["boxes/images/"+name+".png"] = content
		files["boxes/boxes.csv"] = fmt.Appendf(files["boxes/boxes.csv"], "images/%s.png,1,2,4,6,%s\n", name, class)
		files["voc/JPEGImages/"+name+".png"] = content
		files["voc/Annotations/"+name+".xml"] = fmt.Appendf(nil, xml, strings.ReplaceAll(name, "&", "&amp;"), class)
		files["coco/"+split+"/"+name+".png"] = content
		coco[0] = append(coco[0], fmt.Sprintf(`{"id":%d,"file_name":"%s/%s.png","width":8,"height":8}`, i, split, name))
		coco[1] = append(coco[1], fmt.Sprintf(`{"id":%d,"image_id":%[1]d,"category_id":%d,"bbox":[1,2,3,4],"area":12,`+
			`"iscrowd":0}`, i, 1+i%2))
	}
	files["coco/annotations/instances_all.json"] = fmt.Appendf(nil,
		`{"images":[%s],"annotations":[%s],"categories":[{"id":1,"name":"cat"},{"id":2,"name":"dog"}]}`,
		strings.Join(coco[0], ","), strings.Join(coco[1], ","))
	files["shards/s-0.tar.gz"] = shardOf(t, files, "folder/train/")
	files["shards/s-1.tar.gz"] = shardOf(t, files, "folder/val/")
	return files
}

// shardOf returns the files below a folder as a gzipped tar archive.
func shardOf(t *testing.T, files map[string][]byte, folder string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for path, content := range files {
		name, below := strings.CutPrefix(path, folder)
		if !below {
			continue
		}
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(content))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(content); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// identity has the properties by which a recipe identifies a source, and the names of its samples.
type identity struct {
	kind, sum, classes string
	split              data.Split
	names              string
}

func identityOf(t *testing.T, spec string) (id identity) {
	t.Helper()
	src, err := samples.OpenData(t.Context(), spec, data.Options{Split: data.Train, EXIF: true})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	i := src.Info()
	id = identity{kind: i.Kind, classes: fmt.Sprint(i.Classes, i.Shape, i.LabelShape, i.Len), split: i.Split}
	if id.sum, err = src.Fingerprint(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	if named, ok := src.(interface{ Name(int) string }); ok {
		for n := range i.Len {
			id.names += named.Name(n) + "\n"
		}
	}
	return id
}

// TestStores opens each kind of data on disk and in a bucket. The samples, their order and their fingerprints
// must be the same.
func TestStores(t *testing.T) {
	dir, server := t.TempDir(), storetest.S3(t, "bucket")
	t.Setenv("AWS_ACCESS_KEY_ID", "id")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "key")
	t.Setenv("AWS_ENDPOINT_URL", server.URL)
	s, err := store.New(t.Context(), store.Options{Cache: filepath.Join(dir, "cache")})
	if err != nil {
		t.Fatal(err)
	}
	regular.SetRemote(s)
	t.Cleanup(func() { regular.SetRemote(nil) })
	for path, content := range dataSets(t) {
		for _, to := range []string{filepath.Join(dir, "set", path), "s3://bucket/a set/" + path} {
			if regular.RemoteOf(to) == nil {
				if err := os.MkdirAll(filepath.Dir(to), fs.ModePerm); err != nil {
					t.Fatal(err)
				}
			}
			if err := regular.WriteFile(to, 0o600, writeOf(content)); err != nil {
				t.Fatal(err)
			}
		}
	}
	server.SetDelay(20 * time.Millisecond)
	for _, spec := range []string{"folder:R/folder", "csv:R/csv/labels.csv", "csv:R/csv", "csv:R/flow",
		"masks:R/masks/images,R/masks/masks", "masks:R/masks/images,R/masks/masks,R/masks/classes.txt", "yolo:R/yolo",
		"voc:R/voc", "csv:R/boxes/boxes.csv", "csv:R/boxes", "coco:R/coco", "coco:R/coco/annotations/instances_all.json", "wds:R/shards",
		"wds:R/shards/s-{0..1}.tar.gz"} {
		t.Run(spec, func(t *testing.T) {
			want := identityOf(t, strings.ReplaceAll(spec, "R/", filepath.Join(dir, "set")+"/"))
			got := identityOf(t, strings.ReplaceAll(spec, "R/", "s3://bucket/a set/"))
			if got != want {
				t.Errorf("in a bucket %+v, on disk %+v", got, want)
			}
		})
	}
	for spec, want := range map[string]string{
		"csv:s3://bucket/nothing":        "the server answers",
		"csv:s3://bucket/a set/csv/x":    "the server answers",
		"coco:s3://bucket/a set/no.json": "the server answers",
		"yolo:s3://bucket/nothing":       "the server answers",
		"wds:s3://bucket/nothing":        "there is no .tar file here",
		"csv:" + server.URL + "/x.csv":   "the server answers",
	} {
		_, err := samples.OpenData(t.Context(), spec, data.Options{EXIF: true})
		if !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%s: %v; want %q", spec, err, want)
		}
	}
}

func writeOf(content []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	}
}
