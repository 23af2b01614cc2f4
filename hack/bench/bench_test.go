package main

import (
	"io"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/statuspatcher/statuspatcher/generator"
)

// BenchmarkFlush captures and flushes on a client in memory.
func BenchmarkFlush(b *testing.B) { eachCase(b, overMemory) }

// BenchmarkRequest captures and flushes through a real client, down to the bytes on the wire.
func BenchmarkRequest(b *testing.B) { eachCase(b, overWire) }

func eachCase(b *testing.B, over func(*testing.B, size, change, contestant)) {
	for _, s := range sizes {
		for _, ch := range changes {
			for _, c := range contestants {
				b.Run("size="+s.name+"/change="+ch.name+"/by="+c.name, func(b *testing.B) { over(b, s, ch, c) })
			}
		}
	}
}

// BenchmarkGenerate runs the generator in this process, for a profile of it: -bench Generate -cpuprofile cpu.out. What
// the processes take that it starts, go list and the compiler, is no part of the profile, and is reported beside it.
func BenchmarkGenerate(b *testing.B) {
	for _, in := range inputs {
		b.Run(in.name, func(b *testing.B) {
			dir := filepath.Join(b.TempDir(), "api")
			if err := in.write(dir); err != nil {
				b.Fatal(err)
			}
			b.Setenv("GOWORK", "off")
			b.Setenv("GOFLAGS", "-mod=mod")
			options, err := generator.ParseOptions([]string{"paths=./..."})
			if err != nil {
				b.Fatal(err)
			}
			options.Dir = dir
			own, children := processTime(), childrenTime(b)
			for range b.N {
				if err := generator.Run(options, io.Discard, io.Discard); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric((processTime()-own).Seconds()/float64(b.N), "own-cpu-s/op")
			b.ReportMetric((childrenTime(b)-children).Seconds()/float64(b.N), "children-cpu-s/op")
		})
	}
}

func childrenTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
