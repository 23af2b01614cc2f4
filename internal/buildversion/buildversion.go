// Package buildversion says which build of a command is running.
package buildversion

import (
	"fmt"
	"runtime/debug"
	"strings"
)

// Line returns what a command prints for --version: its name, the version of its module, and, in a build from a checkout, the
// revision of the version control system.
func Line(command string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return command + " (devel)"
	}
	return line(command, info)
}

func line(command string, info *debug.BuildInfo) string {
	version := info.Main.Version
	if version == "" {
		version = "(devel)"
	}
	details := []string{}
	if revision := setting(info, "vcs.revision"); revision != "" {
		if setting(info, "vcs.modified") == "true" {
			revision += ", modified"
		}
		details = append(details, "revision "+revision)
	}
	details = append(details, info.GoVersion)
	return fmt.Sprintf("%s %s (%s)", command, version, strings.Join(details, ", "))
}

func setting(info *debug.BuildInfo, key string) string {
	for _, s := range info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}
