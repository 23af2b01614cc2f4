package generator

import (
	"bytes"
	"regexp"
	"strings"
)

// A verdict is what a line of a comment is to the generator.
type verdict int

const (
	none verdict = iota
	ok
	misspelt
)

// prefix is what the names of all markers start with.
const prefix = "statuspatcher"

// judge tells whether a line is a marker of ours, or was meant to be one.
func judge(content string) verdict {
	text, plus := strings.CutPrefix(content, "+")
	switch {
	case plus && strings.HasPrefix(text, prefix+":"):
		return ok
	case plus && meant(markerName(text)), !plus && withoutPlus.MatchString(content) && meant(markerName(content)):
		return misspelt
	}
	return none
}

// withoutPlus matches a line that reads like a marker from end to end. Prose may well start with our name and a colon.
var withoutPlus = regexp.MustCompile(`^[\w.-]+\s*:\s*[\w.:-]+\s*(=\s*\S*)?$`)

// markerName is the part of a marker before its value.
func markerName(text string) string {
	name, _, assigned := strings.Cut(text, "=")
	words := strings.Fields(name)
	switch {
	case len(words) == 0:
		return ""
	case assigned && len(words) <= 3:
		return strings.Join(words, "")
	case len(words) > 1 && strings.HasSuffix(words[0], ":"): // statuspatcher: generate
		return words[0] + words[1]
	}
	return words[0]
}

// meant tells whether one to three successive parts of a marker's name are our prefix but for two slips, such as a letter too
// many, too few or wrong, or two of them swapped; or start with our prefix but for one slip.
func meant(name string) bool {
	parts := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return strings.ContainsRune(":.-_/", r) })
	for i := range parts {
		word := ""
		for _, part := range parts[i:min(i+3, len(parts))] {
			if word += part; len(word) > 3*len(prefix) {
				break
			}
			if near(word, 2) || startsNear(word) {
				return true
			}
		}
	}
	return false
}

// near tells whether a word is at most so many slips away from our prefix.
func near(word string, slips int) bool {
	if len(word) < len(prefix)-slips || len(word) > len(prefix)+slips {
		return false
	}
	return distance(word, prefix) <= slips
}

func startsNear(word string) bool {
	for n := len(prefix) - 1; n <= min(len(prefix)+1, len(word)-1); n++ {
		if near(word[:n], 1) {
			return true
		}
	}
	return false
}

// distance is the number of letters to insert, remove, replace, or swap with the next one, each at most once, that makes b of a.
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			replace := last[j-1]
			if a[i-1] != b[j-1] {
				replace++
			}
			row[j] = min(row[j-1]+1, last[j]+1, replace)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

// maybeMarked is a cheap test for a file with markers, misspelt ones included: it looks at text, not at comments.
func maybeMarked(content []byte) bool {
	for at := bytes.IndexByte(content, '+'); at >= 0; at = next(content, at, '+') {
		if before := bytes.TrimRight(content[:at], " \t"); len(before) > 0 && !bytes.ContainsRune([]byte("/*\n"), rune(before[len(before)-1])) {
			continue
		}
		if judge(markerLine(content[at:])) != none {
			return true
		}
	}
	for at := bytes.IndexByte(content, ':'); at >= 0; at = next(content, at, ':') {
		start := bytes.LastIndexByte(content[:at], '\n') + 1
		if comment := bytes.Index(content[start:at], []byte("//")); comment >= 0 && judge(markerLine(content[start+comment+2:])) != none {
			return true
		}
	}
	return false
}

// next is the place of the next such byte after a place; -1 for none.
func next(content []byte, at int, b byte) int {
	further := bytes.IndexByte(content[at+1:], b)
	if further < 0 {
		return -1
	}
	return at + 1 + further
}

// markerLine is the rest of a line, as a comment has it.
func markerLine(content []byte) string {
	line, _, _ := bytes.Cut(content, []byte("\n"))
	return strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(string(line)), "*/"))
}
