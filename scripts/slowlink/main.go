// Slowlink forwards TCP connections like a slow network: every byte arrives after a delay, and the bytes per
// second in each direction are limited. It is for systems where the command tc cannot delay packets.
//
//	slowlink [-delay 20ms] [-rate 12500000] FROM TO
//
// FROM is the address where it listens, and TO is the address that it connects to. All connections share the
// rate. Bytes wait in a queue of 256 KiB for each direction of a connection, as in a small switch, and the
// sender waits while it is full.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"
)

func main() {
	delay := flag.Duration("delay", 0, "`TIME` that each byte takes")
	rate := flag.Float64("rate", 0, "`BYTES` a second in each direction; 0: no limit")
	flag.Parse()
	if flag.NArg() != 2 {
		flag.Usage()
		os.Exit(2)
	}
	listener, err := net.Listen("tcp", flag.Arg(0))
	if err == nil {
		fmt.Println(listener.Addr())
		err = serve(listener, flag.Arg(1), newWay(*delay, *rate), newWay(*delay, *rate))
	}
	fmt.Fprintln(os.Stderr, "slowlink:", err)
	os.Exit(1)
}

// serve forwards each connection that a listener accepts to an address.
func serve(listener net.Listener, to string, there, back *way) error {
	for {
		client, err := listener.Accept()
		if err != nil {
			return err
		}
		go func() {
			defer client.Close()
			server, err := net.Dial("tcp", to)
			if err != nil {
				return
			}
			defer server.Close()
			for _, c := range []net.Conn{client, server} { // otherwise the system would queue megabytes here
				_ = c.(*net.TCPConn).SetReadBuffer(queueBytes / 2)
				_ = c.(*net.TCPConn).SetWriteBuffer(queueBytes / 2)
			}
			var both sync.WaitGroup
			both.Go(func() { there.copy(server, client) })
			both.Go(func() { back.copy(client, server) })
			both.Wait()
		}()
	}
}

// way is one direction of the simulated network.
type way struct {
	delay time.Duration
	rate  float64 // bytes a second; 0: no limit
	mu    sync.Mutex
	free  time.Time // time when all previous bytes have been sent
}

// queueBytes is the length of the queue of a connection.
const queueBytes = 256 << 10

func newWay(delay time.Duration, rate float64) *way { return &way{delay: delay, rate: rate} }

// send returns the time of arrival of n bytes that are sent now.
func (w *way) send(n int, now time.Time) time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.free.Before(now) {
		w.free = now
	}
	if w.rate > 0 {
		w.free = w.free.Add(time.Duration(float64(n) / w.rate * float64(time.Second)))
	}
	return w.free.Add(w.delay)
}

// packet is some bytes that have been sent and have not arrived.
type packet struct {
	buffer *[packetBytes]byte
	length int
	at     time.Time // time of arrival
}

// packetBytes is the maximum size of a packet.
const packetBytes = 32 << 10

var buffers = sync.Pool{New: func() any { return new([packetBytes]byte) }}

// slots returns the number of packets that may be on their way or in the queue.
func (w *way) slots() int {
	if w.rate == 0 {
		return 64
	}
	return (int(w.rate*w.delay.Seconds()) + queueBytes) / packetBytes
}

// copy forwards bytes until one side closes its connection, and then closes the other side.
func (w *way) copy(to, from net.Conn) {
	packets := make(chan packet, w.slots())
	slots := make(chan struct{}, w.slots())
	var writer sync.WaitGroup
	writer.Go(func() {
		for p := range packets {
			time.Sleep(time.Until(p.at))
			<-slots
			if _, err := to.Write(p.buffer[:p.length]); err != nil {
				from.Close()
			}
			buffers.Put(p.buffer)
		}
		to.Close()
	})
	for {
		slots <- struct{}{}
		b := buffers.Get().(*[packetBytes]byte)
		n, err := from.Read(b[:])
		if n > 0 {
			packets <- packet{b, n, w.send(n, time.Now())}
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				to.Close()
			}
			break
		}
	}
	close(packets)
	writer.Wait()
}
