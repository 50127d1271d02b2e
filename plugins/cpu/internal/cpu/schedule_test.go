package cpu

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/device"
)

// groupsOf returns the nodes of every group of a program's only function.
func groupsOf(t *testing.T, c opCase) string {
	t.Helper()
	x, err := openSet(t, "auto", 1).Load(context.Background(), program(t, c),
		device.Capacity{Rows: 1, Replicas: 1})
	if err != nil {
		t.Fatal(err)
	}
	s := ""
	for _, nodes := range runnerOf(x).functions["predict"].Groups() {
		s += fmt.Sprint(nodes)
	}
	return s
}

func TestSchedule(t *testing.T) {
	const conv = "state w f32[4,4,3,3] constant\nstate g f32[4] constant\nstate b f32[4] constant\n"
	for _, c := range []struct{ name, state, inputs, body, want string }{
		{"rows go together", conv, "x rows f32[4,8,8]",
			"y = conv(x, @w, pad=[1,1,1,1]); r = sigmoid(y); z = add(r, x)", "[0 1 2]"},
		{"what follows a convolution is part of it", conv, "x rows f32[4,8,8]",
			"y = conv(x, @w, pad=[1,1,1,1]); a = add(x, y); z = relu(a)", "[0]"},
		{"a batch norm is part of a convolution", conv, "x rows f32[4,8,8]",
			"y = conv(x, @w, pad=[1,1,1,1]); n = batch_norm(y, @g, @b, @b, @g); z = relu6(n)", "[0]"},
		{"a batch norm whose numbers are computed is not", conv, "x rows f32[4,8,8]",
			"h = add(@g, @g); y = conv(x, @w, pad=[1,1,1,1]); n = batch_norm(y, @g, @b, @b, h)", "[1][0][2]"},
		{"a batch norm of what is read twice is not", conv, "x rows f32[4,8,8]",
			"y = conv(x, @w, pad=[1,1,1,1]); n = batch_norm(y, @g, @b, @b, @g); z = add(n, y)", "[0 1]"},
		{"what follows an activation is not part of what it ends", conv, "x rows f32[4,8,8]",
			"y = conv(x, @w, pad=[1,1,1,1]); r = relu(y); z = add(r, x)", "[0 1]"},
		{"what follows a normalisation is part of it", conv, "x rows f32[4,8,8]",
			"m = moments(x); n = normalise(x, m, @g, @b, over=\"replica\"); a = add(n, x); z = relu6(a)", "[0][1]"},
		{"moments are there when the rows are through", conv, "x rows f32[4,8,8]",
			"y = conv(x, @w, pad=[1,1,1,1]); m = moments(y); n = normalise(y, m, @g, @b, over=\"replica\"); z = " +
				"relu(n)", "[0 1][2]"},
		{"weight gradients are put off", conv, "x rows f32[4,8,8], dy rows f32[4,8,8]",
			"r = relu(dy); w = conv_grad_weight(x, r, pad=[1,1,1,1], kernel=[3,3]); z = add(r, x)", "[0 2][1]"},
		{"a sum over rows is waited for", "", "x rows f32[4]",
			"r = relu(x); s = sum_rows(r); z = mul(r, s)", "[0][1][2]"},
		{"all-reduces are one exchange", "", "x rows f32[4]",
			"s = sum_rows(x); u = channel_sum(x); v = all_reduce(s); w = all_reduce(u); z = mul(x, w)",
			"[0][1][2 3][2 3][4]"},
		{"an exchange begins, what is besides is done, it is waited for", "", "x rows f32[4]",
			"r = relu(x); w = dense_grad_weight(x, r); s = channel_sum(r); v = all_reduce(s); z = mul(x, v)",
			"[0][2][3][1][3][4]"},
		{"what an exchange needs comes before", "", "x rows f32[4]",
			"s = sum_rows(x); u = dense_grad_weight(x, x); v = all_reduce(s); z = mul(x, v)", "[0][2][1][2][3]"},
		{"gradients begin in the order of the program", "", "x rows f32[4]",
			"s = sum_rows(x); g = all_reduce(s); u = channel_sum(x); v = all_reduce(u); z = mul(x, v)",
			"[0][1][2][3][3][4]"},
	} {
		if got := groupsOf(t, opCase{c.name, c.state, c.inputs,
			strings.ReplaceAll(c.body, "; ", "\n") + "\n"}); got != c.want {
			t.Errorf("%s: groups %s, want %s", c.name, got, c.want)
		}
	}
}
