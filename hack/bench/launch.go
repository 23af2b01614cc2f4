package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// A process's peak memory is at least what its parent had when it started it, and the harness grows. So commands are
// measured by a fresh process of the harness, which has done nothing else.

// launchFlag asks the harness to run the command that follows it, and to print its sample.
const launchFlag = "-launch"

// launched runs a command by way of a fresh process.
func launched(dir string, env, command []string) (sample, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, append([]string{launchFlag}, command...)...)
	cmd.Dir, cmd.Env = dir, env
	var out, failure bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &failure
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, last(failure.String(), 2000))
	}
	var s sample
	return s, json.Unmarshal(out.Bytes(), &s)
}

// launch is the fresh process. CPU and peak memory include those of what the command starts in turn, such as go list.
func launch(command []string) error {
	if len(command) == 0 {
		return errors.New(launchFlag + " needs a command")
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	began := time.Now()
	if err := cmd.Run(); err != nil {
		return err
	}
	wall := time.Since(began)
	usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	return json.NewEncoder(os.Stdout).Encode(sample{
		"wall-s":  wall.Seconds(),
		"cpu-s":   time.Duration(usage.Utime.Nano() + usage.Stime.Nano()).Seconds(),
		"peak-MB": float64(usage.Maxrss) / 1024,
	})
}

func last(text string, n int) string { return text[max(0, len(text)-n):] }
