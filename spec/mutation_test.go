package spec

import (
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/bnctl/bnctl/device/ref"
)

// sampled is the number of bits of a file that are flipped. BNCTL_MUTATIONS=all, or a prefix of the vector's
// name, flips all bits.
const sampled = 6

// A changed bit in any file of results is found without the sums, unless it only changes the payload of a
// NaN. make test-vectors flips all bits.
func TestMutations(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 57))
	d := opened(t, ref.Provider{})
	files, flips, payloads := 0, 0, 0
	for _, v := range all(t) {
		got, err := v.Compute(t.Context(), d)
		if err != nil {
			t.Fatal(err)
		}
		for i := range v.Results {
			name := path.Join(path.Dir(v.Name), v.Results[i].File)
			original, err := fs.ReadFile(os.DirFS("."), name)
			if err != nil {
				t.Fatal(err)
			}
			one := *v // the other results are unchanged and remain equal
			one.Results = slices.Clone(v.Results[i : i+1])
			files++
			for _, bit := range flipped(r, v.Name, 8*len(original)) {
				original[bit/8] ^= 1 << (bit % 8)
				err := one.Results[0].decode(original)
				original[bit/8] ^= 1 << (bit % 8)
				if err == nil && isPayload(v.Results[i].Array, one.Results[0].Array, bit, len(original)) {
					payloads++
					continue
				}
				differences, wrong := []Difference(nil), error(nil)
				if err == nil {
					differences, wrong = one.Compare(got[i : i+1])
				}
				if flips++; err == nil && wrong == nil && len(differences) == 0 {
					t.Errorf("%s: bit %d of byte %d changed, and no comparison found it", name, bit%8, bit/8)
				}
			}
		}
	}
	t.Logf("%d files, %d flips found, %d payloads of NaN", files, flips, payloads)
}

// flipped returns the bits of a file of a vector that are flipped, one at a time.
func flipped(r *rand.Rand, vector string, bits int) []int {
	var all []int
	if of := os.Getenv("BNCTL_MUTATIONS"); of == "all" || of != "" && strings.HasPrefix(vector, of) {
		for i := range bits {
			all = append(all, i)
		}
		return all
	}
	for range sampled {
		all = append(all, r.IntN(bits))
	}
	return append(all, bits-1-r.IntN(min(bits, 256))) // one of the last bits, which belong to the elements
}

// isPayload reports whether a bit belongs to an element that is NaN before and after.
func isPayload(before, after Array, bit, size int) bool {
	at := bit/8 - (size - len(before.tensor.Bytes))
	if at < 0 {
		return false
	}
	i := at / before.tensor.DType.Size()
	return isNaN(before.tensor, i) && isNaN(after.tensor, i)
}

// Files that belong to no vector, and vectors with names that differ from their files, are found.
func TestUnlistedFiles(t *testing.T) {
	files := copied(t, "fma/1/relu/every-kind-of-number")
	files["fma/1/relu/other.json"] = &fstest.MapFile{Data: files["fma/1/relu/every-kind-of-number.json"].Data}
	if _, err := Open(files); err == nil {
		t.Error("a description without a sum was accepted")
	}
}
