package inprocess_test

import (
	"context"
	"testing"

	"github.com/bnctl/bnctl/device/fabric"
	"github.com/bnctl/bnctl/internal/fabrictest"
	"github.com/bnctl/bnctl/internal/inprocess"
)

func TestFabric(t *testing.T) {
	open := func(_ context.Context, size int) ([]fabric.Fabric, error) { return inprocess.New(size), nil }
	for _, c := range fabrictest.Cases() {
		t.Run(c.Name, func(t *testing.T) {
			if err := c.Run(t.Context(), open); err != nil {
				t.Errorf("%s\n%v", c.Rule, err)
			}
		})
	}
}
