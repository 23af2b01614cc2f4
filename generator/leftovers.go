package generator

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
)

// stageName is a name beside a place for what is to be there. It keeps the go command from reading the file, and says whose it is.
func stageName(path string, n int) string {
	return filepath.Join(filepath.Dir(path), fmt.Sprintf(".%s.%d.%d.tmp", OutputName, os.Getpid(), n))
}

var stageNames = regexp.MustCompile(`^\.` + regexp.QuoteMeta(OutputName) + `\.(\d+)\.\d+\.tmp$`)

// sweep removes what runs that were killed have staged in the directories of these files and never moved to its place.
func sweep(paths []string) {
	for _, path := range paths {
		dir := filepath.Dir(path)
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue // there is no such directory yet
		}
		for _, entry := range entries {
			match := stageNames.FindStringSubmatch(entry.Name())
			if match == nil || !entry.Type().IsRegular() || running(match[1]) {
				continue
			}
			_ = os.Remove(filepath.Join(dir, entry.Name())) // one that stays does no harm
		}
	}
}

// running tells whether a process other than this one has the ID. This one has staged nothing yet.
func running(id string) bool {
	pid, err := strconv.Atoi(id)
	if err != nil || pid == os.Getpid() {
		return false
	}
	process, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	return !errors.Is(process.Signal(syscall.Signal(0)), os.ErrProcessDone)
}
