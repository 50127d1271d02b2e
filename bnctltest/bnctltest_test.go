package bnctltest_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/bnctltest"
	"github.com/bnctl/bnctl/inprocess"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/serialize"
)

// recorder is a test that may fail.
type recorder struct {
	testing.TB
	failure string
}

func (r *recorder) Helper()                           {}
func (r *recorder) Errorf(format string, args ...any) { r.failure = fmt.Sprintf(format, args...) }
func (r *recorder) Fatal(args ...any)                 { r.failure = fmt.Sprint(args...) }

// template returns the bytes of a template with weights from a seed.
func template(t *testing.T, name string, seed uint64) []byte {
	m, err := models.Build(name, models.Options{})
	if err == nil {
		err = models.Init(m, seed)
	}
	var b bytes.Buffer
	if err == nil {
		err = serialize.EncodeModel(&b, m)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// SameBits accepts the sum of a model. For any other sum it fails with a message that has the model's sum.
func TestSameBits(t *testing.T) {
	file := template(t, "lenet-bn", 1)
	r := &recorder{TB: t}
	bnctltest.SameBits(r, file, "")
	_, rest, ok := strings.Cut(r.failure, "the sum ")
	sum, _, _ := strings.Cut(rest, ",")
	if !ok || len(sum) != 64 {
		t.Fatalf("the failure is %q", r.failure)
	}
	bnctltest.SameBits(t, file, sum)
	r = &recorder{TB: t}
	if bnctltest.SameBits(r, template(t, "lenet-bn", 2), sum); r.failure == "" {
		t.Error("other weights have the same sum")
	}
	r = &recorder{TB: t}
	bnctltest.SameBits(r, filepath.Join(t.TempDir(), "missing.bnm"), sum)
	if !strings.Contains(r.failure, "missing.bnm") {
		t.Errorf("the failure is %q", r.failure)
	}
}

// The samples are the numbers of Knuth's generator MMIX, computed in Python:
//
//	s = 1
//	for i in range(6):
//		s = (s*6364136223846793005 + 1442695040888963407) % 2**64
//		print(s >> 56, (s >> 40)/2**23 - 1)
func TestInputs(t *testing.T) {
	p, err := inprocess.Load(template(t, "lenet-bn", 1), inprocess.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	got, want := bnctltest.Inputs(p)[0].Bytes[:6], []byte{108, 130, 165, 98, 203, 128}
	if !bytes.Equal(got, want) {
		t.Errorf("pixels %v, want %v", got, want)
	}
	q, err := inprocess.Load(template(t, "lenet-bn", 1), inprocess.Options{Arrays: true})
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	for i, want := range []float32{-0.15358173847198486, 0.018814802169799805, 0.2967187166213989,
		-0.23427331447601318, 0.590895414352417, 0.0010224580764770508} {
		if got := bnctltest.Inputs(q)[0].F32()[i]; got != want {
			t.Errorf("number %d is %v, want %v", i, got, want)
		}
	}
}
