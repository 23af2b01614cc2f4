package main

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// generatorTable runs both generators as processes, in turn, on the same copies of the same packages. controller-gen
// writes DeepCopy of every type, ours a patcher of every kind that is marked for one; both load and type-check.
func generatorTable(rounds int) ([]row, error) {
	work, err := os.MkdirTemp("", "bench-generator-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(work)
	patcherGen, controllerGen := filepath.Join(work, "statuspatcher-gen"), filepath.Join(work, "controller-gen")
	for path, pkg := range map[string]string{
		patcherGen:    "github.com/statuspatcher/statuspatcher/cmd/statuspatcher-gen",
		controllerGen: "sigs.k8s.io/controller-tools/cmd/controller-gen",
	} {
		if out, err := exec.Command("go", "build", "-C", "../..", "-o", path, pkg).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("building %s: %w\n%s", pkg, err, out)
		}
	}
	var rows []row
	for _, input := range inputs {
		// Each has a copy of its own, or controller-gen would load our output, which imports controller-runtime.
		dirs := map[string]string{}
		for who, suffix := range map[string]string{"statuspatcher-gen": "-ours", "controller-gen object": "-theirs"} {
			dirs[who] = filepath.Join(work, input.name+suffix)
			if err := input.write(dirs[who]); err != nil {
				return nil, fmt.Errorf("%s: %w", input.name, err)
			}
		}
		commands := map[string][]string{
			"statuspatcher-gen":     {patcherGen, "paths=./..."},
			"controller-gen object": {controllerGen, "object", "paths=./..."},
		}
		for _, state := range []string{"cold", "warm"} {
			n := rounds
			if state == "cold" { // one: it fills a build cache of its own
				n = 1
			}
			by := []string{"statuspatcher-gen", "controller-gen object"}
			samples := map[string][]sample{}
			for round := range n {
				for _, who := range by {
					cache := ""
					if state == "cold" {
						cache = filepath.Join(work, fmt.Sprintf("cache-%s-%d-%d", input.name, round, len(who)))
					}
					s, err := timed(dirs[who], cache, commands[who])
					if err != nil {
						return nil, fmt.Errorf("%s: %s: %w", input.name, who, err)
					}
					samples[who] = append(samples[who], s)
				}
			}
			measured := summarise("generator", input.name+"/"+state, by, samples)
			print(os.Stderr, measured) // the large inputs take minutes
			rows = append(rows, measured...)
		}
	}
	return rows, nil
}

// timed measures a command. What was current before, and is written all the same, counts as written.
func timed(dir, cache string, command []string) (sample, error) {
	env := append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
	if cache != "" {
		env = append(env, "GOCACHE="+cache)
	}
	before, err := files(dir)
	if err != nil {
		return nil, err
	}
	s, err := launched(dir, env, command)
	if err != nil {
		return nil, err
	}
	after, err := files(dir)
	if err != nil {
		return nil, err
	}
	s["written"] = float64(written(before, after))
	return s, nil
}

// files are the files below dir, each with when it was written.
func files(dir string) (map[string]time.Time, error) {
	found := map[string]time.Time{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			found[path] = info.ModTime()
		}
		return err
	})
	return found, err
}

// written counts the files that are new, and those that were written again.
func written(before, after map[string]time.Time) (n int) {
	for path, now := range after {
		if was, ok := before[path]; !ok || !was.Equal(now) {
			n++
		}
	}
	return n
}

// An input is a module with API types, all kinds of which are marked.
type input struct {
	name  string
	write func(dir string) error
}

var inputs = []input{
	{"example", copied("github.com/statuspatcher/statuspatcher", "examples/database-operator/api")},
	{"cluster-api", copied("sigs.k8s.io/cluster-api", "api")},
	{"k8s.io-api", copied("k8s.io/api", "")},
	{"1-kind", kinds(1)},
	{"10-kinds", kinds(10)},
	{"100-kinds", kinds(100)},
	{"1000-kinds", kinds(1000)},
}

// newModule is a module with the dependencies of this one.
func newModule(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		return err
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		return err
	}
	text := strings.Replace(string(mod), "module github.com/statuspatcher/statuspatcher/hack/bench", "module bench.example", 1)
	text = strings.Replace(text, "=> ../..", "=> "+root, 1)
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(text), 0o644); err != nil {
		return err
	}
	sum, err := os.ReadFile("go.sum")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "go.sum"), sum, 0o644)
}
