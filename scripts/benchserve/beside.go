package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// side is one of the servers that are compared.
type side struct {
	name string
	*server
	asker
	rates []float64
	used  string
	loads []*outcome // loads at half the rate of the best peer
}

func (s *side) close() {
	if s.asker != nil {
		s.asker.close()
	}
	s.server.close()
}

// compare measures bnctl serve and other servers, the peers, and prints the results. Every server may use all
// cores. Peers get rows of float32, the input of their networks, and bnctl gets pixels.
func (b *bench) compare(n network) error {
	sides, err := b.sides(n)
	defer func() {
		for _, s := range sides {
			s.close()
		}
	}()
	if err != nil {
		return err
	}
	for range b.rounds {
		for _, s := range sides {
			before := s.use()
			out := closed(s, n.batch, b.turn)
			if err := out.clean(); err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			s.used = s.use().of(before, len(out.took))
			s.rates = append(s.rates, out.rate(b.turn, n.batch))
		}
	}
	bnctl, best := sides[0], sides[1]
	for _, s := range sides[1:] {
		if median(s.rates) > median(best.rates) {
			best = s
		}
	}
	half := median(best.rates) / 2
	for range b.rounds {
		for _, s := range []*side{bnctl, best} {
			s.loads = append(s.loads, load(s, nil, half, b.long(half), nil, 0))
		}
	}
	say(n.name, "images/s", "of it", "an image costs", "p50, p99, p99.9 at half the best peer's rate, ms")
	say("---", "---", "---", "---", "---")
	for _, s := range sides {
		rate := median(s.rates)
		say(s.name, fmt.Sprintf("%.1f", rate), fmt.Sprintf("%.2f", median(bnctl.rates)/rate), s.used, s.latency())
	}
	return nil
}

// latency describes the latency of the requests of all loads. It returns "" if there were no requests.
func (s *side) latency() string {
	if len(s.loads) == 0 {
		return ""
	}
	took, delays, each := []time.Duration{}, []time.Duration{}, ""
	for _, o := range s.loads {
		took, delays = append(took, o.took...), append(delays, o.delays...)
		each += fmt.Sprintf("; %s, %v", ms(o.quantile(0.99)), o)
	}
	slices.Sort(took)
	slices.Sort(delays)
	return fmt.Sprintf("%s, %s, %s (sent late by p99 %s%s)", ms(quantile(took, 0.5)), ms(quantile(took, 0.99)),
		ms(quantile(took, 0.999)), ms(quantile(delays, 0.99)), each)
}

// sides starts all servers. The first is bnctl's.
func (b *bench) sides(n network) (list []*side, err error) {
	path, err := b.shared(n)
	if err != nil {
		return nil, err
	}
	s, err := b.serve(path, n, nil)
	if err != nil {
		return nil, err
	}
	list = append(list, &side{name: "bnctl serve", server: s,
		asker: newHTTP(s, dialShared, n.pixels(), "Inference-Header-Content-Length: 0\r\n")})
	batch, edge := strconv.Itoa(n.batch), strconv.Itoa(n.shape[0])
	for _, threads := range []string{"1", "2"} {
		for _, words := range [][]string{
			{"ONNX Runtime", "behind Node's http", "node", "scripts/peers/serve_onnxruntime.js",
				filepath.Join(b.models, n.name+".onnx"), edge, threads, batch},
			{"PyTorch", "behind FastAPI and uvicorn", b.python, "scripts/peers/serve_torch.py", n.name, b.models,
				threads, batch},
		} {
			if !slices.Contains(strings.Split(b.theirs, ","), words[0]) {
				continue
			}
			s, err := b.peer(threads, words[2:])
			if err != nil {
				return list, fmt.Errorf("%s: %w", words[0], err)
			}
			list = append(list, &side{name: words[0] + " " + words[1] + ", threads: " + threads, server: s,
				asker: newHTTP(s, dialShared, n.floats(), "")})
		}
	}
	return list, nil
}

// peer starts another server, which prints its address when it is ready.
func (b *bench) peer(threads string, words []string) (*server, error) {
	env := []string{"NODE_PATH=" + b.modules, "OMP_NUM_THREADS=" + threads, "OPENBLAS_NUM_THREADS=" + threads,
		"PYTHONWARNINGS=ignore"}
	s, line, err := b.start(nil, env, words[0], words[1:]...)
	if err != nil {
		return nil, err
	}
	var said struct{ HTTP string }
	err = json.Unmarshal(line, &said)
	s.http, s.url = said.HTTP, "/"
	return s, err
}

// closed simulates clients until a duration is over. Each client sends its next request after the answer to
// its previous one. There are enough clients for three batches.
func closed(a asker, batch int, long time.Duration) *outcome {
	var all sync.WaitGroup
	out, began := &outcome{}, time.Now()
	for range 3 * batch {
		all.Go(func() {
			for due := time.Duration(0); due < long; due = time.Since(began) {
				out.ask(a, nil, began, due)
			}
		})
	}
	all.Wait()
	return out
}
