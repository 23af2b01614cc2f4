package docs

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// elsewhere are the commands of documents that these tests do not run, and why. The block names the file that runs them.
var elsewhere = map[string]string{
	"make generate":    "it writes to the checkout",
	"make verify":      "it writes to the checkout, and compares",
	"make test":        "these tests are part of it",
	"make test-latest": "these tests are part of it",
	"make oldest-go":   "downloads Go toolchains",
	"make lint":        "a job of its own",
	"make demo":        "half a minute on a real API server",
	"make corpus":      "downloads public APIs, and compiles what is generated for them",
	"make lint-corpus": "downloads well-known operators, and loads them whole",
	"make wrap-corpus": "downloads well-known operators, and runs their tests",
	"make fuzz":        "a minute for each kind",
	"make bench":       "each contestant many times over",
	"cd hack/bench && GOWORK=off go test -run '^$' -bench Generate/cluster-api -benchtime 20x -cpuprofile cpu.out": "builds what it measures first",
	"make lint-golangci": "builds golangci-lint",
}

// runElsewhere requires that each command of a script is declared, and is in the file that runs it.
func runElsewhere(file, script string) error {
	runs, err := commandsOf(file)
	if err != nil {
		return err
	}
	for _, command := range plain(script) {
		if elsewhere[command] == "" {
			return fmt.Errorf("%s is not among the commands that run elsewhere", command)
		}
		if !slices.Contains(runs, command) {
			return fmt.Errorf("%s does not run %s", file, command)
		}
	}
	return nil
}

// plain returns the commands of a script without comments and variables: make a b is make a, make b.
func plain(script string) (commands []string) {
	for line := range strings.Lines(script) {
		line, _, _ = strings.Cut(line, "#")
		targets, isMake := strings.CutPrefix(strings.TrimSpace(line), "make ")
		switch {
		case isMake:
			targets = regexp.MustCompile(`\w+=('[^']*'|\S*)|>.*`).ReplaceAllString(targets, "")
			for _, target := range strings.Fields(targets) {
				commands = append(commands, "make "+target)
			}
		case strings.TrimSpace(line) != "":
			commands = append(commands, strings.TrimSpace(line))
		}
	}
	return commands
}

// commandsOf returns the commands that a script or a workflow runs, and those that the Makefile's targets run in turn.
func commandsOf(file string) (commands []string, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if filepath.Ext(file) == ".yml" {
		var w workflow
		if err := yaml.Unmarshal(text, &w); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		text = []byte(strings.Join(w.commands(), "\n"))
	}
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		return nil, err
	}
	commands = plain(string(text))
	for i := 0; i < len(commands); i++ {
		if target, isMake := strings.CutPrefix(commands[i], "make "); isMake {
			commands = append(commands, submakes(string(makefile), target)...)
		}
	}
	return commands, nil
}

// submakes returns the targets that the recipe of a target makes.
func submakes(makefile, target string) (commands []string) {
	_, recipe, _ := strings.Cut(makefile, "\n"+target+":")
	recipe, _, _ = strings.Cut(recipe, "\n\n")
	for _, match := range regexp.MustCompile(`\$\(MAKE\) (?:--\S+ )*(\S+)`).FindAllStringSubmatch(recipe, -1) {
		commands = append(commands, "make "+match[1])
	}
	return commands
}
