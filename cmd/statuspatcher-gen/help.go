package main

import (
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"sigs.k8s.io/controller-tools/pkg/genall/help"
	prettyhelp "sigs.k8s.io/controller-tools/pkg/genall/help/pretty"
	"sigs.k8s.io/controller-tools/pkg/markers"

	"github.com/statuspatcher/statuspatcher/generator"
)

const usage = `Usage:
  statuspatcher-gen paths=PATTERN [OPTION...]
  statuspatcher-gen types=IMPORTPATH.KIND,... output:dir=DIR [OPTION...]

Generates a typed status patcher for each marked kind of a Kubernetes API.

Examples:
  # Mark a kind of your API, then write api/v1/v1status/zz_generated.statuspatcher.go
  statuspatcher-gen paths=./api/...

  # The same into the API package itself, or for one API package into another directory
  statuspatcher-gen paths=./api/... output:same
  statuspatcher-gen paths=./api/v1 output:dir=internal/v1status

  # Kinds that cannot be marked, because others own them
  statuspatcher-gen types=k8s.io/api/core/v1.Node,sigs.k8s.io/gateway-api/apis/v1.HTTPRoute output:dir=internal/foreignstatus

  # In CI: fail, and print a diff, when a generated file is stale
  statuspatcher-gen paths=./api/... verify

  # The markers, documented
  statuspatcher-gen -w

Flags:
  -h, --help            print this (up to -hhh for more detail, -hhhh for JSON)
  -w, --which-markers   print the markers (up to -www for more detail, -wwww for JSON)
      --version         print the version

Exit codes:
  0   done, or with verify: current
  1   wrong input, or with verify: stale
  2   wrong use
`

// printUsage prints the page for -h.
func printUsage(out io.Writer, level int) error {
	if level < jsonHelp {
		if _, err := io.WriteString(out, usage); err != nil {
			return err
		}
	}
	return printHelp(out, level, generator.OptionsRegistry(), help.SortByCategory)
}

// printMarkers prints the page for -w, as controller-gen does.
func printMarkers(out io.Writer, level int) error {
	return printHelp(out, level, generator.MarkerRegistry(), help.SortByCategory)
}

// Levels of detail, as in controller-gen.
const (
	summaryHelp = 1 + iota
	detailedHelp
	fullHelp
	jsonHelp
)

func printHelp(out io.Writer, level int, reg *markers.Registry, sorter help.SortGroup) error {
	pages := help.ByCategory(reg, sorter)
	if level >= jsonHelp {
		return json.NewEncoder(out).Encode(pages)
	}
	for _, page := range pages {
		slices.SortFunc(page.Markers, func(a, b help.MarkerDoc) int { return strings.Compare(a.Name+" "+a.Target, b.Name+" "+b.Target) })
		text := prettyhelp.MarkersSummary(page.Category, page.Markers)
		if level >= detailedHelp {
			text = prettyhelp.MarkersDetails(level == fullHelp, page.Category, page.Markers)
		}
		if err := writeSpan(out, text); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(out); err != nil {
			return err
		}
	}
	return nil
}

// writeSpan bridges a rename between the oldest and the newest controller-tools that this module builds with: WriteTo
// became Write. (An interface with either would not vet.)
func writeSpan(out io.Writer, span prettyhelp.Span) error {
	write := reflect.ValueOf(span).MethodByName("Write")
	if !write.IsValid() {
		write = reflect.ValueOf(span).MethodByName("WriteTo")
	}
	err, _ := write.Call([]reflect.Value{reflect.ValueOf(out)})[0].Interface().(error)
	return err
}
