package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/statuspatcher/statuspatcher/generator"
)

// An outcome is what became of a source.
type outcome struct {
	source
	kinds []kind
	// generated are the kinds whose behaviour was tested, failed those that did not pass.
	generated, failed []string
	// verifying tells that generation is over.
	verifying bool
	// err is why nothing could be tried.
	err error
}

func (s source) try(root, work string) (o outcome) {
	o.source = s
	if o.err = os.MkdirAll(work, 0o777); o.err != nil {
		return o
	}
	from, err := s.download(os.TempDir())
	marked := work
	if err == nil && s.named {
		marked, err = from, s.requireModule(work, root)
	} else if err == nil {
		err = s.copyModule(from, work, root)
	}
	if err == nil {
		o.kinds, err = s.mark(marked)
	}
	if err == nil {
		err = o.resolveModules(work)
	}
	if err == nil {
		err = o.generate(work)
	}
	if err == nil {
		err = o.verify(work)
	}
	if err == nil {
		err = o.test(work)
	}
	o.err = err
	return o
}

// resolveModules lets the go command complete go.mod and go.sum.
func (o *outcome) resolveModules(work string) error {
	// Not go mod tidy, which downloads what the tests of all dependencies need.
	args := []string{"list", "-e", "-deps", "-f", "{{if .Error}}{{.Error}}{{end}}", self + "/patcher", self + "/hack/corpus/behaviour"}
	if !o.named {
		args = append(args, "./...")
	}
	for _, k := range o.kinds {
		args = append(args, k.pkg)
	}
	out, err := command(work, "go", args...)
	if err != nil {
		return fmt.Errorf("resolve: %w\n%s", err, out)
	}
	return nil
}

// generate runs the generator until it refuses nothing more.
func (o *outcome) generate(work string) error {
	for range len(o.kinds) + 1 {
		if !slices.ContainsFunc(o.kinds, func(k kind) bool { return k.refused == "" }) {
			return nil
		}
		var faults generator.Errors
		err := o.run(work)
		if err == nil {
			return nil
		}
		if !errors.As(err, &faults) {
			return err
		}
		for _, fault := range faults {
			if err := o.refuse(fault); err != nil {
				return err
			}
		}
	}
	return errors.New("the generator refuses for ever")
}

// verify holds that nothing is stale right after the generation, the copies of the statuses included.
func (o *outcome) verify(work string) error {
	if len(o.kinds) == 0 || !slices.ContainsFunc(o.kinds, func(k kind) bool { return k.refused == "" }) {
		return nil
	}
	o.verifying = true
	err := o.run(work)
	var faults generator.Errors
	errors.As(err, &faults)
	for _, name := range o.stale {
		found := slices.IndexFunc(faults, func(fault generator.Error) bool {
			return strings.HasPrefix(fault.Text, "DeepCopyInto of "+name+" does not copy ")
		})
		if found < 0 {
			return fmt.Errorf("verify did not find that DeepCopyInto of %s is stale: %w", name, err)
		}
		faults = slices.Delete(faults, found, found+1)
	}
	if err != nil && (len(o.stale) == 0 || len(faults) > 0) {
		return fmt.Errorf("verify: %w", err)
	}
	return nil
}

// run generates: with markers in one run, by name with a run for each API package.
func (o *outcome) run(work string) error {
	if !o.named {
		return generator.Run(generator.Options{Dir: work, Paths: []string{"./..."}, Verify: o.verifying}, io.Discard, io.Discard)
	}
	byPackage := map[string][]string{}
	for _, k := range o.kinds {
		if k.refused == "" {
			byPackage[k.pkg] = append(byPackage[k.pkg], k.String())
		}
	}
	for pkg, names := range byPackage {
		dir := path.Join("patchers", strings.TrimPrefix(pkg, o.module+"/"))
		if err := generator.Run(generator.Options{Dir: work, Types: names, OutputDir: dir, Verify: o.verifying}, io.Discard, io.Discard); err != nil {
			return err
		}
	}
	return nil
}

var named = regexp.MustCompile(`\b(?:the Status of (\w+)|^(\w+))\b`)

// refuse notes why a kind is refused, and goes on without it. An error that names no kind is a failure.
func (o *outcome) refuse(fault generator.Error) error {
	for _, match := range named.FindAllStringSubmatch(fault.Text, -1) {
		for i := range o.kinds {
			k := &o.kinds[i]
			if (k.name != match[1] && k.name != match[2]) || k.refused != "" || !k.in(fault) {
				continue
			}
			k.refused = fault.Text
			if o.named {
				return nil
			}
			return k.unmark()
		}
	}
	return fmt.Errorf("generate: %w", fault)
}

// in tells whether an error is about the package of a kind.
func (k kind) in(fault generator.Error) bool {
	return filepath.Base(filepath.Dir(fault.Pos.Filename)) == filepath.Base(filepath.Dir(k.file))
}

// test compiles, vets and tries the behaviour of every kind that was generated, in one test binary: linking is what takes time.
func (o *outcome) test(work string) error {
	var dirs []string
	err := filepath.WalkDir(work, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Name() == generator.OutputName {
			dir, relErr := filepath.Rel(work, filepath.Dir(path))
			if relErr != nil {
				return relErr
			}
			dirs = append(dirs, "./"+filepath.ToSlash(dir))
			var names []string
			names, err = writeChecks(path)
			o.generated = append(o.generated, names...)
		}
		return err
	})
	if err != nil || len(dirs) == 0 {
		return err
	}
	module := o.module
	if o.named {
		module = "corpus.example/" + o.name
	}
	if err := writeTest(work, module, dirs); err != nil {
		return err
	}
	if out, err := command(work, "go", append([]string{"vet", "./" + testDir}, dirs...)...); err != nil {
		return fmt.Errorf(vetting+"%w\n%s", err, out)
	}
	out, err := command(work, "go", "test", "-vet=off", "-v", "./"+testDir)
	for _, match := range failures.FindAllStringSubmatch(out, -1) {
		o.failed = append(o.failed, match[1])
	}
	if err != nil && len(o.failed) == 0 || len(o.failed) > 0 {
		fmt.Fprintln(os.Stderr, out)
		err = nil
	}
	if passed := len(passes.FindAllString(out, -1)); passed+len(o.failed) != len(o.generated) {
		return fmt.Errorf("%d kinds are generated, and the behaviour of %d was tried\n%s", len(o.generated), passed+len(o.failed), out)
	}
	return err
}

var (
	failures  = regexp.MustCompile(`(?m)^        --- FAIL: TestCorpus/(\S+)`)
	passes    = regexp.MustCompile(`(?m)^        --- PASS: TestCorpus/(\S+)`)
	kindVars  = regexp.MustCompile(`(?m)^var (\w+) = &patcher\.Kind\[\*\w+\.(\w+), `)
	clauses   = regexp.MustCompile(`(?m)^package (\w+)`)
	generated = regexp.MustCompile(`(?m)^func \(c \*(\w+)StatusClient\) Fetch\(.*\) \(\*([\w.]+), `)
)

// vetting starts the error of go vet.
const vetting = "vet: "

// testDir is the package that runs the checks of all others.
const testDir = "corpustest"

// writeTest writes the test that runs the checks of every generated package.
func writeTest(work, module string, dirs []string) error {
	var imports, calls strings.Builder
	for i, dir := range dirs {
		dir = strings.TrimPrefix(dir, "./")
		fmt.Fprintf(&imports, "\tp%d %q\n", i, module+"/"+dir)
		fmt.Fprintf(&calls, "\tt.Run(%q, p%d.CheckAll)\n", strings.ReplaceAll(dir, "/", "."), i)
	}
	test := fmt.Sprintf("package %s\n\nimport (\n\t\"testing\"\n\n%s)\n\nfunc TestCorpus(t *testing.T) {\n%s}\n", testDir, imports.String(), calls.String())
	if err := os.MkdirAll(filepath.Join(work, testDir), 0o777); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(work, testDir, "corpus_test.go"), []byte(test), 0o666)
}

// writeChecks writes, beside one generated file, the function that checks its kinds.
func writeChecks(path string) (names []string, err error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	objects := map[string]string{}
	for _, match := range generated.FindAllStringSubmatch(string(content), -1) {
		objects[match[1]] = match[2]
	}
	var calls strings.Builder
	imports := map[string]bool{}
	for _, match := range kindVars.FindAllStringSubmatch(string(content), -1) {
		variable, name := match[1], match[2]
		names = append(names, name)
		pkg, _, _ := strings.Cut(objects[name], ".")
		imports[importOf(string(content), pkg)] = true
		fmt.Fprintf(&calls, "\tbehaviour.Check(t, %s, func(c client.Client) behaviour.Fetch[*%s, *%sStatusPatcher] { return New%sStatusClient(c, c).Fetch })\n", variable, objects[name], name, name)
	}
	var specs strings.Builder
	for _, spec := range slices.Sorted(keys(imports)) {
		fmt.Fprintf(&specs, "\t%s\n", spec)
	}
	test := fmt.Sprintf("package %s\n\nimport (\n\t\"testing\"\n\n\t\"sigs.k8s.io/controller-runtime/pkg/client\"\n\t\"%s/hack/corpus/behaviour\"\n%s)\n\nfunc CheckAll(t *testing.T) {\n%s}\n",
		clauses.FindStringSubmatch(string(content))[1], self, specs.String(), calls.String())
	return names, os.WriteFile(filepath.Join(filepath.Dir(path), "corpus.go"), []byte(test), 0o666)
}

// importOf is the import spec that gives a package a name.
func importOf(content, name string) string {
	for line := range strings.Lines(content) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, name+` "`) || strings.HasPrefix(line, `"`) && strings.HasSuffix(line, "/"+name+`"`) {
			return line
		}
	}
	return ""
}

func keys(set map[string]bool) func(func(string) bool) {
	return func(yield func(string) bool) {
		for key := range set {
			if !yield(key) {
				return
			}
		}
	}
}
