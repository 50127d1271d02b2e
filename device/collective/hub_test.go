package collective

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bnctl/bnctl/tensor"
)

// contribution returns the reductions of a member that holds one replica.
func contribution(replica int, values ...float32) []Reduction {
	var list []Reduction
	for _, v := range values {
		part := Partial{Node{replica, replica + 1}, tensor.Of([]float32{v}, 1)}
		list = append(list, Reduction{Op: Sum, Partials: []Partial{part}, Result: tensor.New(tensor.F32, 1)})
	}
	return list
}

// meet runs one exchange of all ranks and returns the error of each rank.
func meet(t *testing.T, h *Hub, tags []Tag, values [][]Reduction) []error {
	t.Helper()
	errs := make([]error, len(values))
	var wait sync.WaitGroup
	for rank := range values {
		wait.Go(func() { errs[rank] = h.Member(rank).Start(t.Context(), tags[rank], values[rank])() })
	}
	wait.Wait()
	return errs
}

func TestHubReduces(t *testing.T) {
	const members = 3
	h := NewHub(members, members)
	for step := range uint64(5) {
		tag := Tag{Step: step, Name: "x"}
		var values [][]Reduction
		for rank := range members {
			values = append(values, contribution(rank, float32(rank+1), float32(step)))
		}
		for rank, err := range meet(t, h, []Tag{tag, tag, tag}, values) {
			if err != nil {
				t.Fatal(err)
			}
			a, b := values[rank][0].Result.F32()[0], values[rank][1].Result.F32()[0]
			if a != 6 || b != 3*float32(step) {
				t.Errorf("step %d: rank %d got %g and %g, want 6 and %d", step, rank, a, b, 3*step)
			}
		}
	}
}

// TestHubWithoutRows checks that a value that is absent on all ranks becomes zeros.
func TestHubWithoutRows(t *testing.T) {
	result := tensor.Of([]float32{5}, 1)
	h := NewHub(1, 1)
	err := h.Member(0).Start(t.Context(), Tag{}, []Reduction{
		{Op: Sum, Partials: []Partial{{Node: Node{0, 1}}}, Result: result}})()
	if err != nil || result.F32()[0] != 0 {
		t.Errorf("result %g, error %v, want 0", result.F32()[0], err)
	}
}

func TestHubDisagreement(t *testing.T) {
	tag := Tag{Step: 3, Name: "bn1"}
	other := tag
	other.Sequence = 1
	moments := []Reduction{{Op: MergeMoments, Partials: []Partial{{Node: Node{1, 2}}},
		Result: tensor.New(tensor.F64, 3)}}
	wide := contribution(1, 1)
	wide[0].Result = tensor.New(tensor.F32, 2)
	for _, c := range []struct {
		what  string
		tag   Tag
		first []Reduction
		last  []Reduction
		says  string
	}{
		{"another tag", other, contribution(0, 1), contribution(1, 1), "while others are at"},
		{"more values", tag, contribution(0, 1), contribution(1, 1, 2), "different values"},
		{"fewer values", tag, contribution(0, 1, 2), contribution(1, 1), "different values"},
		{"values against none", tag, nil, contribution(1, 1), "different values"},
		{"another reduction", tag, contribution(0, 1), moments, "different values"},
		{"a result of another shape", tag, contribution(0, 1), wide, "result is"},
		{"the same replica", tag, contribution(0, 1), contribution(0, 1), "two parts"},
	} {
		errs := meet(t, NewHub(2, 2), []Tag{tag, c.tag}, [][]Reduction{c.first, c.last})
		for rank, err := range errs {
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: rank %d got %v, want an error with %q", c.what, rank, err, c.says)
			}
		}
	}
}

func TestHubAbort(t *testing.T) {
	h := NewHub(2, 2)
	cause := errors.New("device 1 was lost")
	done := make(chan error)
	go func() { done <- h.Member(0).Start(t.Context(), Tag{}, contribution(0, 1))() }()
	h.Abort(cause)
	h.Abort(errors.New("too late"))
	for _, err := range []error{<-done, h.Member(1).Start(t.Context(), Tag{}, nil)()} {
		if !errors.Is(err, Aborted) || !errors.Is(err, cause) {
			t.Errorf("error %v, want one that wraps %v and %v", err, Aborted, cause)
		}
	}
}

func TestHubContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- NewHub(2, 2).Member(0).Start(ctx, Tag{}, contribution(0, 1))() }()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}

// TestHubLanes checks that lanes are independent: moments are exchanged while an exchange of
// gradients waits, and each lane has a separate order.
func TestHubLanes(t *testing.T) {
	h := NewHub(2, 2)
	gradients := Tag{Lane: Gradients, Name: "w"}
	mine, theirs := contribution(0, 1), contribution(1, 2)
	early := h.Member(0).Start(t.Context(), gradients, mine)
	if got := h.Missing(); !slices.Equal(got, []int{1}) {
		t.Errorf("missing %v, want rank 1", got)
	}
	for n := range uint64(3) {
		tag := Tag{Sequence: n, Name: "m"}
		for _, err := range meet(t, h, []Tag{tag, tag}, [][]Reduction{contribution(0, 1), contribution(1, 1)}) {
			if err != nil {
				t.Error(err)
			}
		}
	}
	if err := errors.Join(h.Member(1).Start(t.Context(), gradients, theirs)(), early()); err != nil {
		t.Fatal(err)
	}
	if mine[0].Result.F32()[0] != 3 || theirs[0].Result.F32()[0] != 3 {
		t.Errorf("gradients are %g and %g, want 3", mine[0].Result.F32()[0], theirs[0].Result.F32()[0])
	}
	if err := h.Member(0).Start(t.Context(), Tag{Lane: Lanes}, nil)(); err == nil {
		t.Error("an exchange in a lane that there is not works")
	}
}
