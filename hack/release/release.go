package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/semver"

	"github.com/statuspatcher/statuspatcher/hack/publish"
	"github.com/statuspatcher/statuspatcher/internal/typecheck"
)

// run releases the repository at dir.
func run(dir, version string, dryRun bool, out io.Writer) error {
	source := repository{dir: dir}
	branch, err := source.releasable(version)
	if err != nil {
		return err
	}
	temp, err := os.MkdirTemp("", "release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	clone, err := source.clone(filepath.Join(temp, "clone"), branch)
	if err != nil {
		return err
	}
	modules, err := clone.release(version)
	if err != nil {
		return err
	}
	if err := consume(temp, modules); err != nil {
		return err
	}
	var tags []string
	for _, m := range modules {
		tags = append(tags, m.Tag())
		fmt.Fprintf(out, "%-20s %s %s\n", m.Tag(), m.Path, m.Sum)
	}
	if dryRun {
		fmt.Fprintln(out, "dry run: the repository is unchanged")
		return nil
	}
	if _, err := source.git("pull", "--quiet", "--ff-only", "--tags", clone.dir, branch); err != nil {
		return err
	}
	fmt.Fprintf(out, "tagged; publish with:\n  git push --atomic origin %s %s\n", branch, strings.Join(tags, " "))
	return nil
}

// releasable returns the branch that is checked out, or says why it cannot be released at the version.
func (r repository) releasable(version string) (branch string, err error) {
	if semver.Canonical(version) != version || version == "" {
		return "", fmt.Errorf("%q is not a version: expected one such as v0.2.0 or v0.2.0-rc.1", version)
	}
	if branch, err = r.git("symbolic-ref", "--short", "HEAD"); err != nil {
		return "", fmt.Errorf("expected a branch to be checked out: %w", err)
	}
	if err := isReleaseBranch(branch, version); err != nil {
		return "", err
	}
	changes, err := r.git("status", "--porcelain")
	if err != nil {
		return "", err
	}
	if changes != "" {
		return "", fmt.Errorf("expected a clean work tree, found\n%s\ncommit or stash it: only commits are released", changes)
	}
	if err := r.isNew(version); err != nil {
		return "", err
	}
	return branch, r.hasChangelog(version)
}

// isReleaseBranch fails if releases of the version are not made from the branch: they are made from main, and patch releases of an older
// minor release from a branch of its own.
func isReleaseBranch(branch, version string) error {
	own := "release-" + strings.TrimPrefix(semver.MajorMinor(version), "v")
	if branch == "main" || branch == own {
		return nil
	}
	return fmt.Errorf("the branch %s is checked out, but %s is released from main or from %s: check out one of them", branch, version, own)
}

// isNew fails if a version of the same minor release is the same or later. Older minor releases get patch releases.
func (r repository) isNew(version string) error {
	tags, err := r.git("tag", "--list")
	if err != nil {
		return err
	}
	for tag := range strings.FieldsSeq(tags) {
		released := tag[strings.LastIndex(tag, "/")+1:]
		if semver.MajorMinor(released) == semver.MajorMinor(version) && semver.Compare(released, version) >= 0 {
			return fmt.Errorf("tag %s is not older than %s: choose a later version; a published version can never be replaced", tag, version)
		}
	}
	return nil
}

// hasChangelog fails if CHANGELOG.md says nothing about the version.
func (r repository) hasChangelog(version string) error {
	text, err := os.ReadFile(filepath.Join(r.dir, "CHANGELOG.md"))
	if err != nil {
		return err
	}
	section, found := changelogSection(string(text), version)
	switch {
	case !found:
		return fmt.Errorf("CHANGELOG.md has no section %q: say there what users have to know", "## "+version)
	case section == "":
		return fmt.Errorf("the section %q of CHANGELOG.md is empty: say there what users have to know", "## "+version)
	}
	return nil
}

// changelogSection returns what a changelog says under the heading of a version, without the headings of its parts.
func changelogSection(text, version string) (section string, found bool) {
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		switch {
		case len(fields) > 0 && fields[0] == "##":
			if found {
				return section, true
			}
			found = len(fields) > 1 && fields[1] == version
		case found && len(fields) > 0 && !strings.HasPrefix(fields[0], "#"):
			section += line
		}
	}
	return section, found
}

// typecheck fails if a published module does not compile: what is tagged can never be replaced. CI has vetted and tested the commit; to
// compile it here would be to compile all that it depends on.
func (r repository) typecheck() error {
	for _, dir := range publish.Dirs {
		if err := typecheck.Module(filepath.Join(r.dir, filepath.FromSlash(dir)), append(os.Environ(), "GOWORK=off"), "./..."); err != nil {
			return fmt.Errorf("the module in %q does not compile: %w", "./"+dir, err)
		}
	}
	return nil
}

// release commits the module files of the version, tags them, and goes back to those of development.
func (r repository) release(version string) ([]*publish.Module, error) {
	modules, err := publish.Modules(r.dir, version)
	if err != nil {
		return nil, err
	}
	if err := r.typecheck(); err != nil {
		return nil, err
	}
	for _, m := range modules {
		dir := filepath.Join(r.dir, filepath.FromSlash(m.Dir))
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, "go.mod"), m.GoMod, 0o644), os.WriteFile(filepath.Join(dir, "go.sum"), m.GoSum, 0o644))
	}
	if err != nil {
		return nil, err
	}
	const allowEmpty = "--allow-empty" // no published module may require another one
	if _, err := r.git("commit", "--quiet", "--all", allowEmpty, "-m", "release: "+version); err != nil {
		return nil, err
	}
	for _, m := range modules {
		if _, err := r.git("tag", "--annotate", "-m", m.Path+" "+version, m.Tag()); err != nil {
			return nil, err
		}
	}
	if err := r.isTagged(modules, version); err != nil {
		return nil, err
	}
	if _, err := r.git("checkout", "--quiet", "HEAD~", "--", "."); err != nil {
		return nil, err
	}
	_, err = r.git("commit", "--quiet", "--all", allowEmpty, "-m", "release: develop after "+version)
	return modules, err
}

// isTagged packs what is tagged and fails if it is not what go.sum files were written for.
func (r repository) isTagged(modules []*publish.Module, version string) error {
	tagged, err := publish.Modules(r.dir, version)
	if err != nil {
		return err
	}
	different := slices.IndexFunc(tagged, func(m *publish.Module) bool {
		return !slices.ContainsFunc(modules, func(other *publish.Module) bool { return other.Path == m.Path && other.Sum == m.Sum })
	})
	if different >= 0 {
		return fmt.Errorf("%s at %s has the hash %s, which is not what it was packed with: this is a bug of the release command",
			tagged[different].Path, version, tagged[different].Sum)
	}
	return nil
}
