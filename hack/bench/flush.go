package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"maps"
	"runtime"
	"syscall"
	"testing"
	"time"

	v1 "github.com/statuspatcher/statuspatcher/hack/bench/api/v1"
)

func overMemory(b *testing.B, s size, ch change, c contestant) {
	fixture := s.object()
	mutate := ch.make(fixture)
	m := newMemory(fixture, mutate)
	measure(b, c.new(m), fixture, mutate)
	report(b, m.requests, m.reads, m.wire)
}

func overWire(b *testing.B, s size, ch change, c contestant) {
	fixture := s.object()
	mutate := ch.make(fixture)
	w, cl, err := newWire(fixture, mutate)
	if err != nil {
		b.Fatal(err)
	}
	measure(b, c.new(cl), fixture, mutate)
	report(b, int(w.requests.Load()), int(w.reads.Load()), int(w.bytes.Load()))
}

// measure writes the status of a fresh object in each iteration.
func measure(b *testing.B, write writer, fixture *v1.Workload, mutate func(*v1.WorkloadStatus)) {
	ctx, obj := context.Background(), &v1.Workload{}
	b.ReportAllocs()
	b.ResetTimer()
	began := processTime()
	for range b.N {
		// The object shares what it holds with the fixture: no contestant and no mutate changes it in place.
		*obj = *fixture
		if err := write(ctx, obj, mutate); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(processTime()-began)/float64(b.N), "cpu-ns/op")
}

func report(b *testing.B, requests, reads, bytes int) {
	n := float64(b.N)
	b.ReportMetric(float64(requests)/n, "writes/op")
	b.ReportMetric(float64(reads)/n, "reads/op")
	b.ReportMetric(float64(bytes)/n, "wire-B/op")
}

// processTime is the CPU time of the whole process, its garbage collector included: a noisy neighbour takes wall time.
func processTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// samplesFile gets each sample in the format of go test -bench.
var samplesFile io.Writer = io.Discard

// flushTable measures each case in rounds, in which the contestants take turns.
func flushTable(table string, rounds int, over func(*testing.B, size, change, contestant)) ([]row, error) {
	if err := flag.Set("test.benchtime", "100ms"); err != nil {
		return nil, err
	}
	// Live memory, as a controller's cache is: a process without any collects garbage all the time, which costs those most
	// that allocate least.
	held := make([]byte, 64<<20)
	var rows []row
	for _, s := range sizes {
		for _, ch := range changes {
			samples, by := map[string][]sample{}, []string{}
			for round := range rounds {
				for _, c := range contestants {
					result := testing.Benchmark(func(b *testing.B) { over(b, s, ch, c) })
					if result.N == 0 {
						return nil, fmt.Errorf("%s/%s by %s failed", s.name, ch.name, c.name)
					}
					fmt.Fprintf(samplesFile, "Benchmark%s/case=%s-%s/by=%s\t%s\t%s\n", table, s.name, ch.name, c.name, result.String(), result.MemString())
					one := sample{"allocs/op": float64(result.AllocsPerOp()), "B/op": float64(result.AllocedBytesPerOp())}
					maps.Copy(one, result.Extra)
					samples[c.name] = append(samples[c.name], one)
					if round == 0 {
						by = append(by, c.name)
					}
				}
			}
			rows = append(rows, summarise(table, s.name+"/"+ch.name, by, samples)...)
		}
	}
	runtime.KeepAlive(held)
	return rows, nil
}
