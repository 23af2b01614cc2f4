// Package markdown reads what the tests of the documents need: fenced code blocks and links.
package markdown

import (
	"regexp"
	"strings"
)

// Block is one fenced code block.
type Block struct {
	// Language is the first word after the fence: go, sh, yaml.
	Language string
	// Options are the further words, key=value. They are not rendered.
	Options map[string]string
	Text    string
	// Line is where in the document the text begins, counted from 1.
	Line int
}

// Blocks returns the fenced code blocks of a document, in order.
func Blocks(document []byte) (blocks []Block) {
	var open *Block
	for i, line := range strings.SplitAfter(string(document), "\n") {
		info, fence := strings.CutPrefix(strings.TrimSpace(line), "```")
		switch {
		case fence && open == nil:
			open = newBlock(info, i+2)
		case fence:
			blocks, open = append(blocks, *open), nil
		case open != nil:
			open.Text += line
		}
	}
	return blocks
}

func newBlock(info string, line int) *Block {
	block := &Block{Options: map[string]string{}, Line: line}
	for i, word := range strings.Fields(info) {
		if key, value, found := strings.Cut(word, "="); found {
			block.Options[key] = value
		} else if i == 0 {
			block.Language = word
		}
	}
	return block
}

var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// Links returns the targets of the inline links of a document, outside of code blocks.
func Links(document []byte) (targets []string) {
	code := false
	for line := range strings.Lines(string(document)) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			code = !code
			continue
		}
		for _, match := range link.FindAllStringSubmatch(line, -1) {
			if !code {
				targets = append(targets, match[1])
			}
		}
	}
	return targets
}
