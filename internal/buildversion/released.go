package buildversion

import (
	"runtime/debug"
	"strings"
)

// Released returns the version that go install has installed, or "" in a build from a checkout.
func Released() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	return released(info)
}

func released(info *debug.BuildInfo) string {
	version := info.Main.Version
	if version == "(devel)" || strings.HasSuffix(version, "+dirty") || setting(info, "vcs.revision") != "" {
		return ""
	}
	return version
}
