package scaffold

import (
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// linter adds the lint rule to golangci-lint, as a module plugin. A project that runs golangci-lint without plugins is left alone: it has
// the target status-lint.
func (p *project) linter() {
	if _, ok := p.files[".custom-gcl.yml"]; !ok {
		return
	}
	p.tryEdit(".custom-gcl.yml", p.addPlugin)
	p.tryEdit(".golangci.yml", enableRule)
}

func (p *project) addPlugin(text string) (string, error) {
	if strings.Contains(text, Module+"/lint/gclplugin") {
		return text, nil
	}
	version := p.version
	if version == "" {
		version = "latest"
	}
	return insertInto(text, fmt.Sprintf(`# statuspatcher bans status writes that no optimistic lock protects
- module: %q
  import: %q
  version: %s
`, Module, Module+"/lint/gclplugin", version), "plugins")
}

func enableRule(text string) (string, error) {
	if strings.Contains(text, "statuspatcher") {
		return text, nil
	}
	text, err := insertInto(text, "- statuspatcher\n", "linters", "enable")
	if err != nil {
		return "", err
	}
	return insertInto(text, `statuspatcher:
  type: "module"
  description: Bans handwritten status writes.
  settings:
    ban: true
`, "linters", "settings", "custom")
}

// insertInto inserts lines at the end of the list or map that a path of keys leads to, and changes nothing else of a YAML document.
func insertInto(text, lines string, path ...string) (string, error) {
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(text), &document); err != nil {
		return "", err
	}
	if len(document.Content) == 0 {
		return "", errors.New("the document is empty")
	}
	node := document.Content[0]
	for _, key := range path {
		if node = valueOf(node, key); node == nil {
			return "", fmt.Errorf("expected %s, add by hand:\n%s", strings.Join(path, "."), lines)
		}
	}
	if len(node.Content) == 0 || node.Style&yaml.FlowStyle != 0 {
		return "", fmt.Errorf("expected entries of %s, each on a line of its own; add by hand:\n%s", strings.Join(path, "."), lines)
	}
	indent := strings.Repeat(" ", columnOf(text, node)-1)
	all := strings.SplitAfter(strings.TrimRight(text, "\n")+"\n", "\n")
	at := lastLine(node)
	inserted := indent + strings.ReplaceAll(strings.TrimRight(lines, "\n"), "\n", "\n"+indent) + "\n"
	return strings.Join(all[:at], "") + inserted + strings.Join(all[at:], ""), nil
}

// columnOf returns the column of the entries of a node. That of a list's entry is behind its dash.
func columnOf(text string, node *yaml.Node) int {
	first := node.Content[0]
	if node.Kind != yaml.SequenceNode {
		return first.Column
	}
	line := strings.SplitAfter(text, "\n")[first.Line-1]
	return strings.Index(line, "-") + 1
}

func valueOf(node *yaml.Node, key string) *yaml.Node {
	if node.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == key {
			return node.Content[i+1]
		}
	}
	return nil
}

// lastLine returns the last line of a node, from 1.
func lastLine(node *yaml.Node) int {
	last := node.Line
	if node.Kind == yaml.ScalarNode && node.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		last += strings.Count(node.Value, "\n")
	}
	for _, child := range node.Content {
		last = max(last, lastLine(child))
	}
	return last
}
