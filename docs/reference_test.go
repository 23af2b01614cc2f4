package docs

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/statuspatcher/statuspatcher/hack/markdown"
)

// deadLinks returns the links of a document to files, or to headings in them, that are not there. Other hosts are not asked.
func deadLinks(path string, text []byte) (errs []error) {
	for _, target := range markdown.Links(text) {
		file, heading, _ := strings.Cut(target, "#")
		if strings.Contains(target, "://") {
			continue
		}
		linked := text
		if file != "" {
			file = filepath.Join(filepath.Dir(path), file)
			if _, err := os.Stat(file); err != nil {
				errs = append(errs, fmt.Errorf("the link to %s leads nowhere", target))
			}
			linked, _ = os.ReadFile(file) // a directory has no headings
		}
		if heading != "" && !slices.Contains(anchors(linked), heading) {
			errs = append(errs, fmt.Errorf("the link to %s leads to no heading", target))
		}
	}
	return errs
}

var (
	headingLine = regexp.MustCompile(`(?m)^#+ (.*)$`)
	notInAnchor = regexp.MustCompile(`[^a-z0-9 _-]`)
)

// anchors are what GitHub makes of the headings of a document.
func anchors(text []byte) (all []string) {
	for _, match := range headingLine.FindAllStringSubmatch(string(text), -1) {
		plain := notInAnchor.ReplaceAllString(strings.ToLower(match[1]), "")
		all = append(all, strings.ReplaceAll(plain, " ", "-"))
	}
	return all
}

var (
	ruleRow  = regexp.MustCompile(`(?m)^\| (S\d\d) \|(.*)$`)
	testName = regexp.MustCompile("`(Test[A-Za-z0-9_]+)`")
	testFunc = regexp.MustCompile(`(?m)^func (Test[A-Za-z0-9_]+)\(`)
)

// rulesWithoutTests counts the rules, and returns those that name no test, or one that is not there.
func rulesWithoutTests(rules []byte, tests map[string]bool) (found int, errs []error) {
	for _, row := range ruleRow.FindAllStringSubmatch(string(rules), -1) {
		found++
		named := testName.FindAllStringSubmatch(row[2], -1)
		if len(named) == 0 {
			errs = append(errs, fmt.Errorf("%s names no test", row[1]))
		}
		for _, name := range named {
			if !tests[name[1]] {
				errs = append(errs, fmt.Errorf("%s names %s, which is not there", row[1], name[1]))
			}
		}
	}
	return found, errs
}

// testNames returns the names of all tests of the module.
func testNames(t *testing.T) map[string]bool {
	names := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() && (entry.Name() == ".git" || entry.Name() == "bin") {
			return skipOr(err)
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		source, err := os.ReadFile(path)
		for _, match := range testFunc.FindAllSubmatch(source, -1) {
			names[string(match[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func skipOr(err error) error {
	if err != nil {
		return err
	}
	return fs.SkipDir
}

var (
	generatedSection = regexp.MustCompile(`(?s)\n## What is generated\n.*?\n## `)
	generatedName    = regexp.MustCompile("`([A-Z]\\w+)(?:\\([^`]*\\))?`")
)

// notGenerated counts the functions and methods that the README says are generated, and returns those that are not.
func notGenerated(readme, generated []byte) (found int, errs []error) {
	for _, row := range strings.Split(string(generatedSection.Find(readme)), "\n| `")[1:] {
		names, _, _ := strings.Cut("`"+row, " |")
		for _, match := range generatedName.FindAllStringSubmatch(names, -1) {
			found++
			if !regexp.MustCompile(`(?m)^func .*\b` + match[1] + `\(`).Match(generated) {
				errs = append(errs, fmt.Errorf("%s is not generated", match[1]))
			}
		}
	}
	return found, errs
}

// auditTable is the audit of the handwritten operator, without what is all right.
func auditTable(dir string) (string, error) {
	tool := filepath.Join(dir, "statuspatcher-lint")
	if out, err := exec.Command("go", "build", "-o", tool, "github.com/statuspatcher/statuspatcher/cmd/statuspatcher-lint").CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	cmd := exec.Command(tool, "-audit", "-format=markdown", "./handwritten-operator/...")
	cmd.Dir = filepath.Join(root, "examples")
	out, err := cmd.Output()
	if err != nil {
		return "", err
	}
	table, _, found := strings.Cut(string(out), "### OK")
	if !found {
		return "", fmt.Errorf("expected a section OK, found\n%s", out)
	}
	return strings.TrimSpace(strings.TrimPrefix(table, "### To fix\n")), nil
}
