package generator

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"sigs.k8s.io/controller-tools/pkg/genall"
	"sigs.k8s.io/controller-tools/pkg/markers"
)

// Options are one run of the generator, as the command line gives it.
type Options struct {
	// Dir is the directory that relative paths start from; empty for the current one.
	Dir string
	// Paths are the Go package patterns to look for markers in.
	Paths []string
	// Types are kinds that cannot be marked, each as an import path, a dot and a name.
	Types []string
	// OutputDir takes the file of all kinds, instead of a child directory of each API package.
	OutputDir string
	// OutputSame writes each file into the API package itself.
	OutputSame bool
	// HeaderFile is a file whose text starts each generated file.
	HeaderFile string
	// Year replaces " YEAR" in the text of HeaderFile.
	Year string
	// Tags are the build tags to read the packages with.
	Tags string
	// Verify writes nothing, and compares.
	Verify bool
	// RBAC is "strict" to make missing RBAC markers an error of Verify, where they are a note otherwise.
	RBAC string
}

// text is the value of an option that is taken as it is written, commas and all.
type text string

// ParseMarker takes the value unparsed.
func (t *text) ParseMarker(_, _, rest string) error {
	if rest == "" {
		return errors.New("the value is missing: write it after the equals sign")
	}
	*t = text(rest)
	return nil
}

// bare is an option without a value.
type bare struct{}

// ParseMarker refuses a value.
func (*bare) ParseMarker(_, _, rest string) error {
	if rest != "" {
		return fmt.Errorf("this option takes no value: remove =%s", rest)
	}
	return nil
}

// OptionsRegistry holds the options of the command line, with their help.
func OptionsRegistry() *markers.Registry {
	reg := &markers.Registry{}
	if err := genall.RegisterOptionsMarkers(reg); err != nil {
		panic(err) // the options of controller-tools itself
	}
	reg.AddHelp(genall.InputPathsMarker, markers.SimpleHelp("options", "lists the packages to look for markers in, as paths=./api/...; may be repeated."))
	for _, o := range []struct {
		name, summary string
		value         any
	}{
		{"types", "lists kinds that cannot be marked, as IMPORTPATH.KIND,IMPORTPATH.KIND; needs output:dir.", text("")},
		{"output:dir", "writes the patchers of one API package, or of types=, into this directory.", text("")},
		{"output:same", "writes the patchers into the API package itself, not into a child package.", bare{}},
		{"headerFile", "names a file whose text, usually a license, starts each generated file.", text("")},
		{"year", `replaces " YEAR" in the text of headerFile.`, text("")},
		{"tags", "lists build tags, separated by commas, to read the packages with.", text("")},
		{"verify", "writes nothing: it prints a diff of what is stale, and exits with 1 if anything is.", bare{}},
		{"rbac", "with the value strict makes verify fail when RBAC markers that the patchers need are missing.", text("")},
	} {
		def := markers.Must(markers.MakeDefinition(o.name, markers.DescribesPackage, o.value))
		if err := reg.Register(def); err != nil {
			panic(err) // a table above that is wrong
		}
		reg.AddHelp(def, markers.SimpleHelp("options", o.summary))
	}
	return reg
}

// ParseOptions reads the arguments of a command line, such as paths=./api/... verify. What it cannot read is a UsageError.
func ParseOptions(args []string) (Options, error) {
	var o Options
	reg := OptionsRegistry()
	given := map[string]bool{}
	for _, arg := range args {
		if err := o.parse(reg, arg); err != nil {
			return Options{}, err
		}
		name, _, hasValue := strings.Cut(strings.TrimPrefix(arg, "+"), "=")
		if hasValue && given[name] && name != "paths" && name != "types" {
			return Options{}, UsageError{fmt.Sprintf("%s= is given twice, and takes one value: remove one of the two", name)}
		}
		given[name] = true
	}
	return o, o.check()
}

func (o *Options) parse(reg *markers.Registry, arg string) error {
	raw := "+" + strings.TrimPrefix(arg, "+")
	def := reg.Lookup(raw, markers.DescribesPackage)
	// The registry takes the name before a colon for a marker with fields; none of ours has any.
	if name, _, _ := strings.Cut(raw[1:], "="); def == nil || def.Name != name {
		return UsageError{fmt.Sprintf("unknown option %q: %sthe options are %s", arg, meantOption(reg, arg), strings.Join(optionNames(reg), ", "))}
	}
	if name, value, _ := strings.Cut(raw, "="); name == "+paths" && value == "" {
		return UsageError{fmt.Sprintf("option %q: the value is missing: write paths=./api/...", arg)}
	}
	value, err := def.Parse(raw)
	if err != nil {
		return UsageError{fmt.Sprintf("option %q: %v", arg, err)}
	}
	switch def.Name {
	case "paths":
		o.Paths = append(o.Paths, value.(genall.InputPaths)...)
	case "types":
		o.Types = append(o.Types, list(value)...)
	case "output:dir":
		o.OutputDir = string(value.(text))
	case "output:same":
		o.OutputSame = true
	case "headerFile":
		o.HeaderFile = string(value.(text))
	case "year":
		o.Year = string(value.(text))
	case "tags":
		o.Tags = strings.Join(list(value), ",")
	case "rbac":
		o.RBAC = string(value.(text))
	case "verify":
		o.Verify = true
	}
	return nil
}

// meantOption asks whether another option was meant, if one is near.
func meantOption(reg *markers.Registry, arg string) string {
	name, value, _ := strings.Cut(strings.TrimLeft(arg, "-+"), "=")
	for _, option := range optionNames(reg) {
		if known := strings.TrimSuffix(option, "="); distance(strings.ToLower(name), strings.ToLower(known)) > min(2, len(known)/3) {
			continue
		} else if known != option && value != "" {
			option += value
		}
		return fmt.Sprintf("did you mean %s? ", option)
	}
	if strings.HasPrefix(arg, ".") || strings.HasSuffix(arg, "/...") {
		return fmt.Sprintf("did you mean paths=%s? ", arg)
	}
	return ""
}

// optionNames are the options, as they are written.
func optionNames(reg *markers.Registry) []string {
	var out []string
	for _, def := range reg.AllDefinitions() {
		if name := def.Name; def.Output == reflect.TypeFor[bare]() {
			out = append(out, name)
		} else {
			out = append(out, name+"=")
		}
	}
	slices.Sort(out)
	return out
}

func list(value any) []string {
	var out []string
	for item := range strings.FieldsFuncSeq(string(value.(text)), func(r rune) bool { return strings.ContainsRune(",; {}", r) }) {
		out = append(out, item)
	}
	return out
}

func (o *Options) check() error {
	switch {
	case len(o.Paths) == 0 && len(o.Types) == 0:
		return UsageError{"nothing to read: give paths=./api/... or types=IMPORTPATH.KIND"}
	case len(o.Paths) > 0 && len(o.Types) > 0:
		return UsageError{"paths= and types= cannot be combined: run the command with paths= for the kinds that you mark, and again with types= for those that you cannot mark"}
	case len(o.Types) > 0 && o.OutputDir == "":
		return UsageError{"types= requires output:dir=DIR, because the packages of these kinds belong to others"}
	case o.Year != "" && o.HeaderFile == "":
		return UsageError{fmt.Sprintf("year=%s requires headerFile=, the file in whose text the year goes: add headerFile=, or remove year=", o.Year)}
	case o.RBAC != "" && o.RBAC != "strict":
		return UsageError{fmt.Sprintf("rbac=%s: the only valid value is strict", o.RBAC)}
	case o.RBAC != "" && !o.Verify:
		return UsageError{"rbac=strict requires verify: add verify, or remove rbac=strict; a run without verify prints missing RBAC markers as a note"}
	case o.OutputDir != "" && o.OutputSame:
		return UsageError{"output:dir and output:same cannot be combined: remove one of them"}
	}
	for i, name := range o.Types {
		if slices.Contains(o.Types[:i], name) {
			return UsageError{fmt.Sprintf("types= lists %s twice: remove one of the two", name)}
		}
		if path, kind := splitType(name); path == "" || kind == "" {
			return UsageError{fmt.Sprintf("types=%s: expected an import path, a dot and a kind, as in types=k8s.io/api/core/v1.Node", name)}
		}
	}
	return nil
}

// splitType takes k8s.io/api/core/v1.Node apart.
func splitType(name string) (path, kind string) {
	slash := strings.LastIndexByte(name, '/')
	dot := strings.LastIndexByte(name, '.')
	if dot <= slash {
		return "", ""
	}
	return name[:dot], name[dot+1:]
}
