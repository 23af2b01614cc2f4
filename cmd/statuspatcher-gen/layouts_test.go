package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/mod/modfile"
)

// apiModule turns api/ into a module of its own that requires no more than types need, and the controller's module requires it.
func apiModule(t *testing.T) *testModule {
	t.Helper()
	m := operator(t)
	api, err := modfile.Parse("go.mod", []byte(m.read("go.mod")), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"sigs.k8s.io/controller-runtime", "sigs.k8s.io/controller-tools"} {
		if err := api.DropRequire(path); err != nil {
			t.Fatal(err)
		}
	}
	for _, require := range api.Require {
		if strings.HasPrefix(require.Mod.Path, "github.com/statuspatcher/") {
			if err := api.DropRequire(require.Mod.Path); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, tool := range api.Tool {
		if err := api.DropTool(tool.Path); err != nil {
			t.Fatal(err)
		}
	}
	if err := api.AddModuleStmt("example.com/app/api"); err != nil {
		t.Fatal(err)
	}
	api.Cleanup()
	content, err := api.Format()
	if err != nil {
		t.Fatal(err)
	}
	m.write("api/go.mod", string(content))
	m.write("api/go.sum", m.read("go.sum"))
	m.mustRun("go", "mod", "edit", "-require=example.com/app/api@v0.0.0", "-replace=example.com/app/api=./api")
	m.replace("controller/cell.go", "example.com/app/api/v1/v1status", "example.com/app/internal/v1status")
	return m
}

// TestAPIModule: no package is written into a module that could not build it; into the controllers' module it is.
func TestAPIModule(t *testing.T) {
	t.Parallel()
	const (
		patcher  = "github.com/statuspatcher/statuspatcher/patcher"
		lacks    = "would go into module example.com/app/api, which does not require " + patcher + " and could not build them: "
		v1       = "run statuspatcher-gen paths=./api/v1 output:dir=internal/v1status"
		v2       = "run statuspatcher-gen paths=./api/v2 output:dir=internal/v2status"
		get      = "run go get " + patcher + " in api"
		ownCosts = "; or, if everybody who imports this module may download sigs.k8s.io/controller-runtime too, " + get + "\n"
	)
	for _, tt := range []struct {
		name   string
		change func(m *testModule)
		args   []string
		want   []string
	}{
		{"no controller-runtime", func(*testModule) {}, nil,
			[]string{"api/v1/types.go:", lacks + "generate them into the module of your controllers: " + v1 + ownCosts, v2 + ownCosts}},
		{"controller-runtime for its scheme package", requireControllerRuntime, nil,
			[]string{"api/v1/types.go:", lacks + get + ", or generate them into the module of your controllers: " + v1 + "\n", v2 + "\n"}},
		{"into the API package itself", requireControllerRuntime, []string{"output:same"}, []string{lacks + get}},
		{"the root module has no runtime either", func(m *testModule) {
			requireControllerRuntime(m)
			m.mustRun("go", "mod", "edit", "-droprequire="+patcher)
		}, nil, []string{lacks + get + ", or generate them into the module of your controllers: " + v1 + ", and go get " + patcher + "\n"}},
		{"a replace is no requirement", func(m *testModule) {
			requireControllerRuntime(m)
			m.mustRun("go", "-C", "api", "mod", "edit", "-replace="+patcher+"="+filepath.Join(root(t), "patcher"))
		}, nil, []string{lacks + get}},
		{"vendored", func(m *testModule) {
			requireControllerRuntime(m)
			m.write("controller/cell.go", "package controller\n\nimport (\n\t_ \"example.com/app/api/v1\"\n\t_ \""+patcher+"\"\n)\n")
			m.mustRun("go", "mod", "vendor")
		}, nil, []string{lacks + get}},
		{"two groups of one version", func(m *testModule) {
			m.write("api/store/v1/types.go", m.read("api/v1/types.go"))
			m.write("api/store/v1/zz_generated.deepcopy.go", m.read("api/v1/zz_generated.deepcopy.go"))
		}, nil, []string{v1, "run statuspatcher-gen paths=./api/store/v1 output:dir=internal/store/v1status"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := apiModule(t)
			tt.change(m)
			before := m.tree()
			for _, args := range [][]string{{"paths=./api/..."}, {"paths=./api/...", "verify"}} {
				exit, _, stderr := m.generate(append(args, tt.args...)...)
				if exit != exitWrong {
					t.Errorf("%v: exit %d", args, exit)
				}
				for _, want := range tt.want {
					if !strings.Contains(stderr, want) {
						t.Errorf("%v: no %q in\n%s", args, want, stderr)
					}
				}
			}
			if diff := cmp.Diff(before, m.tree()); diff != "" {
				t.Errorf("files were changed:\n%s", diff)
			}
		})
	}
}

// requireControllerRuntime gives the API module what many have for the scheme package.
func requireControllerRuntime(m *testModule) {
	m.Helper()
	m.mustRun("go", "-C", "api", "mod", "edit", "-require=sigs.k8s.io/controller-runtime@v0.22.5")
}

// TestAPIModuleCommands: the commands that the errors name make it work, whichever module they are for and wherever they run.
func TestAPIModuleCommands(t *testing.T) {
	t.Parallel()
	t.Run("into the module of the controllers", func(t *testing.T) {
		t.Parallel()
		m := apiModule(t)
		if exit, _, stderr := m.generate("paths=./..."); exit != exitWrong || !strings.Contains(stderr, "statuspatcher-gen paths=./api/v1 output:dir=internal/v1status\n") {
			t.Errorf("paths=./...: exit %d\n%s", exit, stderr)
		}
		m.mustGenerate("paths=./api/v1", "output:dir=internal/v1status")
		m.mustGenerate("paths=./api/v2", "output:dir=internal/v2status")
		m.mustRun("go", "vet", "./...")
		m.mustGenerate("paths=./api/v1", "output:dir=internal/v1status", "verify")
		m.mustRun("go", "mod", "vendor")
		m.mustTypecheckVendored()
		m.mustGenerate("paths=./api/v1", "output:dir=internal/v1status", "verify")
	})
	t.Run("by name", func(t *testing.T) {
		t.Parallel()
		m := apiModule(t)
		m.mustGenerate("types=example.com/app/api/v1.Cell", "output:dir=internal/v1status")
		m.mustRun("go", "vet", "./...")
	})
	t.Run("into the API's, with the runtime", func(t *testing.T) {
		t.Parallel()
		m := apiModule(t)
		m.mustRun("go", "-C", "api", "mod", "edit", "-require=github.com/statuspatcher/statuspatcher/patcher@v0.0.0", "-replace=github.com/statuspatcher/statuspatcher/patcher="+filepath.Join(root(t), "patcher"))
		if exit, _, stderr := m.generate("paths=./..."); exit != exitWrong || !strings.Contains(stderr, "run statuspatcher-gen paths=./api/v1\n") {
			t.Errorf("paths=./...: exit %d\n%s", exit, stderr)
		}
		m.mustGenerate("paths=./api/...")
		m.mustRun("go", "-C", "api", "vet", "./...")
	})
	t.Run("started in the API's", func(t *testing.T) {
		t.Parallel()
		m := apiModule(t)
		inside := &testModule{TB: t, dir: filepath.Join(m.dir, "api")}
		if exit, _, stderr := inside.generate("paths=./..."); exit != exitWrong || !strings.Contains(stderr, "run statuspatcher-gen paths=./api/v1 output:dir=internal/v1status in "+m.dir+";") {
			t.Errorf("exit %d\n%s", exit, stderr)
		}
	})
	t.Run("beside the module of the controllers", func(t *testing.T) {
		t.Parallel()
		m := apiModule(t)
		operator := &testModule{TB: t, dir: filepath.Join(m.dir, "operator")}
		for _, name := range []string{"go.mod", "go.sum"} {
			operator.write(name, strings.ReplaceAll(m.read(name), "=> ./api", "=> ../api"))
			if err := os.Remove(filepath.Join(m.dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		if exit, _, stderr := operator.generate("paths=../api/..."); exit != exitWrong || !strings.Contains(stderr, "run statuspatcher-gen paths=../api/v1 output:dir=internal/v1status;") {
			t.Errorf("exit %d\n%s", exit, stderr)
		}
		operator.mustGenerate("paths=../api/v1", "output:dir=internal/v1status")
		operator.mustRun("go", "vet", "./...")
	})
}

// TestRuntimeComesLast: in the module of the controllers the runtime may be required after the first generation. Verify is for
// what is complete.
func TestRuntimeComesLast(t *testing.T) {
	t.Parallel()
	m := operator(t)
	m.mustRun("go", "mod", "edit", "-droprequire=github.com/statuspatcher/statuspatcher/patcher")
	const lacks = "does not require github.com/statuspatcher/statuspatcher/patcher"
	exit, _, stderr := m.generate("paths=./api/...")
	if exit != exitDone || !m.exists(generatedFile) || stderr != "note: module example.com/app "+lacks+", which generated code imports: run go get github.com/statuspatcher/statuspatcher/patcher\n" {
		t.Errorf("exit %d\n%s", exit, stderr)
	}
	if exit, _, stderr := m.generate("paths=./api/...", "verify"); exit != exitWrong || !strings.Contains(stderr, lacks+" and could not build them: run go get github.com/statuspatcher/statuspatcher/patcher\n") {
		t.Errorf("verify: exit %d\n%s", exit, stderr)
	}
}

// TestOutputModuleWithoutAPI: the module of output:dir= does not require the API's, unless a workspace puts them together.
func TestOutputModuleWithoutAPI(t *testing.T) {
	m := apiModule(t)
	m.mustRun("go", "mod", "edit", "-droprequire=example.com/app/api", "-dropreplace=example.com/app/api")
	refused := func() {
		t.Helper()
		exit, _, stderr := m.generate("paths=./api/v1", "output:dir=internal/v1status")
		if exit != exitWrong || !strings.Contains(stderr, "which does not require example.com/app/api") || m.exists("internal") {
			t.Errorf("exit %d\n%s", exit, stderr)
		}
	}
	refused()
	m.write("go.work", "go 1.26.0\n\nuse (\n\t.\n\t./api\n)\n")
	refused() // with GOWORK=off, as here, it counts for nothing
	t.Setenv("GOWORK", "")
	m.mustGenerate("paths=./api/v1", "output:dir=internal/v1status")
}

// TestWorkspaceWithoutRuntime: a workspace lets the API's module use what the controllers' requires, and whoever imports the API
// elsewhere has nothing of that. If the runtime itself is in the workspace, it is being developed there.
func TestWorkspaceWithoutRuntime(t *testing.T) {
	m := apiModule(t)
	requireControllerRuntime(m)
	t.Setenv("GOWORK", "")
	m.write("go.work", "go 1.26.0\n\nuse (\n\t.\n\t./api\n)\n")
	exit, _, stderr := m.generate("paths=./api/...")
	if exit != exitWrong || !strings.Contains(stderr, "run go get github.com/statuspatcher/statuspatcher/patcher in api, or") || m.exists("api/v1/v1status") {
		t.Errorf("exit %d\n%s", exit, stderr)
	}
	m.write("go.work", "go 1.26.0\n\nuse (\n\t.\n\t./api\n\t"+filepath.Join(root(t), "patcher")+"\n)\n")
	m.mustGenerate("paths=./api/...")
}

// TestSharedOutputDir: a run does not take away what another run has written to its output:dir.
func TestSharedOutputDir(t *testing.T) {
	for _, tt := range []struct {
		name          string
		first, second []string
		refused       bool
	}{
		{"two API packages", []string{"paths=./api/v1"}, []string{"paths=./api/v2"}, true},
		{"two lists of types", []string{"types=k8s.io/api/core/v1.Node"}, []string{"types=k8s.io/api/core/v1.Pod"}, true},
		{"types and an API package", []string{"types=k8s.io/api/core/v1.Node"}, []string{"paths=./api/v1"}, true},
		{"an API package and types", []string{"paths=./api/v1"}, []string{"types=k8s.io/api/core/v1.Node"}, true},
		{"types and a package without markers", []string{"types=k8s.io/api/core/v1.Node"}, []string{"paths=./controller"}, true},
		{"a longer list", []string{"types=k8s.io/api/core/v1.Node"}, []string{"types=k8s.io/api/core/v1.Node,k8s.io/api/core/v1.Pod"}, false},
		{"a shorter list", []string{"types=k8s.io/api/core/v1.Node,k8s.io/api/core/v1.Pod"}, []string{"types=k8s.io/api/core/v1.Pod"}, false},
		{"the same again", []string{"paths=./api/v1"}, []string{"paths=./api/v1"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := operator(t)
			m.mustGenerate(append(tt.first, "output:dir=internal/out")...)
			const file = "internal/out/zz_generated.statuspatcher.go"
			before := m.read(file)
			for _, args := range [][]string{append(tt.second, "output:dir=internal/out", "verify"), append(tt.second, "output:dir=internal/out")} {
				exit, _, stderr := m.generate(args...)
				if !m.exists(file) {
					t.Fatalf("%v: the file of the first run is gone", args)
				}
				if tt.refused && (exit != exitWrong || m.read(file) != before || stderr == "") {
					t.Errorf("%v: exit %d\n%s", args, exit, stderr)
				}
				if !tt.refused && exit == exitWrong && !strings.Contains(stderr, "stale") {
					t.Errorf("%v: exit %d\n%s", args, exit, stderr)
				}
			}
		})
	}
}

// TestMovedPackage: after git mv api/v1 api/v1beta1 what was generated for the old place goes, and verify misses it.
func TestMovedPackage(t *testing.T) {
	for _, output := range []string{"", "output:dir=internal/out"} {
		t.Run(output, func(t *testing.T) {
			t.Parallel()
			m := operator(t)
			args := func(paths string, more ...string) []string {
				return append(append([]string{"paths=" + paths}, strings.Fields(output)...), more...)
			}
			m.mustGenerate(args("./api/v1")...)
			if err := os.Rename(filepath.Join(m.dir, "api/v1"), filepath.Join(m.dir, "api/v1beta1")); err != nil {
				t.Fatal(err)
			}
			m.replace("api/v1beta1/types.go", "package v1\n", "package v1beta1\n")
			m.replace("api/v1beta1/zz_generated.deepcopy.go", "package v1\n", "package v1beta1\n")
			if exit, _, _ := m.generate(args("./api/v1beta1", "verify")...); exit != exitWrong {
				t.Errorf("verify: exit %d", exit)
			}
			m.mustGenerate(args("./api/v1beta1")...)
			if m.exists("api/v1beta1/v1status") {
				t.Error("the package of the old place stays")
			}
			m.mustGenerate(args("./api/v1beta1", "verify")...)
			m.mustRun("go", "vet", "./api/v1beta1/...")
		})
	}
}

// TestAtOnce runs the command in several processes on one module: each succeeds, and every file is whole.
func TestAtOnce(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	m := operator(t)
	m.mustGenerate("paths=./...")
	want := m.read(generatedFile)
	for range 4 {
		for _, dir := range []string{"api/v1/v1status", "api/v2/v2status"} {
			if err := os.RemoveAll(filepath.Join(m.dir, dir)); err != nil {
				t.Fatal(err)
			}
		}
		var group sync.WaitGroup
		for range 4 {
			group.Go(func() {
				cmd := exec.Command(self, "paths=./...")
				cmd.Dir = m.dir
				cmd.Env = append(os.Environ(), "STATUSPATCHER_GEN_RUN=1")
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Errorf("%v\n%s", err, out)
				}
			})
		}
		group.Wait()
		if m.read(generatedFile) != want {
			t.Fatal("the file is not what one run writes")
		}
		if left, _ := filepath.Glob(filepath.Join(m.dir, "api/v1/v1status/.*")); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
}

// TestBuildConstraints: the generated package is there exactly where its types are.
func TestBuildConstraints(t *testing.T) {
	for _, tt := range []struct {
		name, header, output, want string
	}{
		{"the API's", "", "", "//go:build enterprise\n"},
		{"the API's, in the package itself", "", "output:same", "//go:build enterprise && !ignore_autogenerated\n"},
		{"with a header that has one", "//go:build !tiny\n\n// Copyright\n", "", "//go:build !tiny && enterprise\n"},
		{"in the package itself, with a header that has one", "//go:build !tiny\n\n// Copyright\n", "output:same", "//go:build !tiny && enterprise && !ignore_autogenerated\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := operator(t)
			for _, name := range []string{"api/v1/types.go", "api/v1/zz_generated.deepcopy.go"} {
				m.write(name, "//go:build enterprise\n\n"+strings.TrimPrefix(m.read(name), "//go:build !ignore_autogenerated\n"))
			}
			m.write("controller/cell.go", "package controller\n")
			args := append([]string{"paths=./api/v1", "tags=enterprise"}, strings.Fields(tt.output)...)
			if tt.header != "" {
				m.write("header.txt", tt.header)
				args = append(args, "headerFile=header.txt")
			}
			m.mustGenerate(args...)
			file := generatedFile
			if tt.output != "" {
				file = "api/v1/zz_generated.statuspatcher.go"
			}
			content := m.read(file)
			if !strings.HasPrefix(content, tt.want) || strings.Count(content, "//go:build") != 1 {
				t.Errorf("it starts with\n%.200s", content)
			}
			m.mustRun("go", "vet", "-tags=enterprise", "./api/v1/...")
			m.mustRun("go", "vet", "./...")
			m.mustGenerate(append(args, "verify")...)
			m.mustGenerate(args...)
		})
	}
}

// otherSystem is one that the tests do not run on.
func otherSystem() string {
	if runtime.GOOS == "windows" {
		return "linux"
	}
	return "windows"
}

// disk is a source file of package v1 with one more kind.
func disk(m *testModule) string {
	return strings.NewReplacer("package v2\n", "package v1\n", "Cell", "Disk", "// +statuspatcher:generate=true\n", "",
		"// +kubebuilder:object:root=true\n", "// +statuspatcher:generate=true\n// +kubebuilder:object:root=true\n").Replace(m.read("api/v2/types.go"))
}

// TestPlatforms: what is generated builds on every platform on which its package does, and takes no patcher from another one.
func TestPlatforms(t *testing.T) {
	other := otherSystem()
	const kind = "// Cell is a kind.\n"
	move := func(m *testModule, to string) {
		m.Helper()
		for from, name := range map[string]string{"types": "types", "zz_generated.deepcopy": "zz_deepcopy"} { // Go looks for the platform before the first dot
			m.write("api/v1/"+name+to, m.read("api/v1/"+from+".go"))
			if err := os.Remove(filepath.Join(m.dir, "api/v1", from+".go")); err != nil {
				m.Fatal(err)
			}
		}
		m.write("api/v1/doc.go", "package v1\n")
		m.write("controller/cell.go", "package controller\n")
	}
	for _, tt := range []struct {
		name   string
		change func(m *testModule)
		output string
		starts string // what the generated file starts with, if it is generated
		fails  string
	}{
		{"by the name of the file", func(m *testModule) { move(m, "_"+runtime.GOOS+".go") }, "", "//go:build " + runtime.GOOS + "\n", ""},
		{"by name, in the package itself", func(m *testModule) { move(m, "_"+runtime.GOOS+".go") }, "output:same", "//go:build " + runtime.GOOS + " && !ignore_autogenerated\n", ""},
		{"by system and architecture", func(m *testModule) { move(m, "_"+runtime.GOOS+"_"+runtime.GOARCH+".go") }, "", "//go:build " + runtime.GOOS + " && " + runtime.GOARCH + "\n", ""},
		{"by architecture", func(m *testModule) { move(m, "_"+runtime.GOARCH+".go") }, "", "//go:build " + runtime.GOARCH + "\n", ""},
		{"by a line", func(m *testModule) {
			move(m, "_it.go")
			for _, name := range []string{"types_it.go", "zz_deepcopy_it.go"} {
				m.write("api/v1/"+name, "//go:build !"+other+"\n\n"+strings.TrimPrefix(m.read("api/v1/"+name), "//go:build !ignore_autogenerated\n"))
			}
		}, "", "//go:build !" + other + "\n", ""},
		{"a name that only looks like a platform's", func(m *testModule) { move(m, "_unix.go") }, "", "// Code generated", ""},
		{"a word before a platform", func(m *testModule) { move(m, "_v1_"+runtime.GOOS+".go") }, "", "//go:build " + runtime.GOOS + "\n", ""},
		{"for a version of Go", func(m *testModule) {
			m.write("api/v1/types.go", "//go:build go1.20\n\n"+m.read("api/v1/types.go"))
		}, "", "//go:build go1.20\n", ""},
		{"one kind of two, but for a generator's tag", func(m *testModule) {
			m.write("api/v1/disk.go", "//go:build !goverter\n\n"+disk(m))
		}, "", "//go:build !goverter\n", ""},
		{"one kind of two", func(m *testModule) {
			m.write("api/v1/disk_"+runtime.GOOS+".go", disk(m))
		}, "", "", "Disk is built only under //go:build " + runtime.GOOS + ", and Cell everywhere, but the patchers of both would be in one file: move one of them into a package of its own"},
		{"a status for each platform", func(m *testModule) {
			types := m.read("api/v1/types.go")
			at, end := strings.Index(types, "// CellStatus is"), strings.Index(types, kind)
			status := "package v1\n\nimport metav1 \"k8s.io/apimachinery/pkg/apis/meta/v1\"\n\n" + types[at:end]
			m.write("api/v1/types.go", types[:at]+types[end:])
			m.write("api/v1/status_"+runtime.GOOS+".go", status)
			m.write("api/v1/status_"+other+".go", strings.Replace(status, "\tPhase string", "\tRegistry string `json:\"registry,omitempty\"`\n\tPhase string", 1))
		}, "", "", "build constraints choose between this CellStatus and the one in api/v1/status_" + other + ".go"},
		{"for another platform", func(m *testModule) { move(m, "_"+other+".go") }, "", "", "types_" + other + ".go:26:4: this file is built only under //go:build " + other + ", so +statuspatcher:generate=true is not read on " + runtime.GOOS + ": run statuspatcher-gen with GOOS=" + other},
		{"a package that is marked, with kinds for another platform", func(m *testModule) {
			m.write("api/v2/more_"+other+".go", "package v2\n\n// Disk is a kind.\n//\n// +kubebuilder:subresource:status\ntype Disk struct{}\n")
		}, "", "", "api/v2/more_" + other + ".go:5:4: package v2 is marked, and this kind is there only under //go:build " + other},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := operator(t)
			tt.change(m)
			before := m.tree()
			args := append([]string{"paths=./api/..."}, strings.Fields(tt.output)...)
			exit, _, stderr := m.generate(args...)
			if tt.fails != "" {
				if diff := cmp.Diff(before, m.tree()); exit != exitWrong || !strings.Contains(stderr, tt.fails) || diff != "" {
					t.Errorf("exit %d, want %q\n%s%s", exit, tt.fails, stderr, diff)
				}
				return
			}
			if exit != exitDone || stderr != "" {
				t.Fatalf("exit %d\n%s", exit, stderr)
			}
			file := generatedFile
			if tt.output != "" {
				file = "api/v1/zz_generated.statuspatcher.go"
			}
			if content := m.read(file); !strings.HasPrefix(content, tt.starts) {
				t.Errorf("it starts with\n%.200s", content)
			}
			m.mustRun("go", "vet", "./api/...")
			if strings.Contains(tt.starts, runtime.GOOS) || strings.Contains(tt.starts, other) || strings.Contains(tt.starts, runtime.GOARCH) {
				m.mustRun("env", "GOOS="+other, "GOARCH="+map[string]string{"amd64": "arm64", "arm64": "amd64"}[runtime.GOARCH], "go", "build", "./api/v1/...")
			}
			m.mustGenerate(append(args, "verify")...)
		})
	}
}

// TestCRLF: a checkout with the ends of lines of Windows is current, and where it is stale the diff shows what differs.
func TestCRLF(t *testing.T) {
	t.Parallel()
	m := operator(t)
	m.write("header.txt", "// Copyright\r\n// All rights reserved\r\n")
	m.mustGenerate("paths=./...", "headerFile=header.txt")
	if strings.Contains(m.read(generatedFile), "\r") {
		t.Error("the header's ends of lines are in the file")
	}
	for _, name := range []string{generatedFile, "api/v1/types.go", "api/v2/types.go", "api/v2/v2status/zz_generated.statuspatcher.go"} {
		m.write(name, strings.ReplaceAll(m.read(name), "\n", "\r\n"))
	}
	m.mustGenerate("paths=./...", "headerFile=header.txt", "verify")
	before := m.tree()
	m.mustGenerate("paths=./...", "headerFile=header.txt")
	if after := m.tree(); after[filepath.Join(m.dir, generatedFile)] != before[filepath.Join(m.dir, generatedFile)] {
		t.Error("a file that is current was written")
	}
	m.replace("api/v1/types.go", "Phase string", "Stage string")
	exit, stdout, _ := m.generate("paths=./...", "headerFile=header.txt", "verify")
	if exit != exitWrong || !strings.Contains(stdout, "+\t\tStage") || strings.Count(stdout, "\n-") > 12 {
		t.Errorf("exit %d, %d lines removed\n%s", exit, strings.Count(stdout, "\n-"), stdout)
	}
}

// TestSymlink: "..." does not go through symbolic links, as in the go command; the target has a name of its own.
func TestSymlink(t *testing.T) {
	t.Parallel()
	m := operator(t)
	if err := os.Rename(filepath.Join(m.dir, "api"), filepath.Join(m.dir, "apis")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("apis", filepath.Join(m.dir, "api")); err != nil {
		t.Fatal(err)
	}
	if exit, _, stderr := m.generate("paths=./api/..."); exit != exitWrong || !strings.Contains(stderr, "api is a symbolic link, which ... does not follow, as in the go command: write paths=./apis/...") {
		t.Errorf("exit %d\n%s", exit, stderr)
	}
	m.mustGenerate("paths=./apis/...")
}

// TestInternalAPI: an API below internal/, in the places from which it can be imported.
func TestInternalAPI(t *testing.T) {
	t.Parallel()
	m := operator(t)
	if err := os.Rename(filepath.Join(m.dir, "api"), filepath.Join(m.dir, "internal")); err != nil {
		t.Fatal(err)
	}
	m.replace("controller/cell.go", "example.com/app/api/v1", "example.com/app/internal/v1")
	m.mustGenerate("paths=./...")
	m.mustRun("go", "vet", "./...")
}

// TestVendor: the packages are read from vendor/, and nothing is generated there.
func TestVendor(t *testing.T) {
	t.Parallel()
	m := operator(t)
	m.mustGenerate("paths=./...")
	m.mustRun("go", "mod", "vendor")
	m.replace("api/v1/types.go", "Phase string", "Stage string")
	m.mustGenerate("paths=./...")
	if err := m.typecheckVendored(); err == nil || !strings.Contains(err.Error(), "Status.Phase undefined") {
		t.Errorf("control: the controller still uses the field that is gone: %v", err)
	}
	m.replace("controller/cell.go", "Status.Phase", "Status.Stage")
	m.mustTypecheckVendored()
}

// TestProse holds that a comment which mentions the project is not taken for a marker.
func TestProse(t *testing.T) {
	t.Parallel()
	m := operator(t)
	m.write("api/v1/notes.go", "package v1\n\n// statuspatcher: this kind is the oldest one, see statuspatcher:generate.\ntype Notes struct{}\n")
	m.mustGenerate("paths=./...")
}

// TestStaleShape: the compile error after a change of a type says what to run.
func TestStaleShape(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, old, new string }{
		{"a field more", "\tPhase string", "\tReason string `json:\"reason,omitempty\"`\n\tPhase string"},
		{"a field less", "\tNames []string `json:\"names,omitempty\"`\n", ""},
		{"another tag", "`json:\"phase,omitempty\"`", "`json:\"phase\"`"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := operator(t)
			m.mustGenerate("paths=./api/v1")
			m.replace("api/v1/types.go", tt.old, tt.new)
			m.write("api/v1/zz_generated.deepcopy.go", strings.ReplaceAll(m.read("api/v1/zz_generated.deepcopy.go"), "out.Names = append([]string(nil), in.Names...)", ""))
			if out, err := m.command("go", "build", "./api/v1/..."); err == nil || !strings.Contains(out, "as runStatuspatcherGenForCellStatus value") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// TestStaleDeepCopy: verify fails on a DeepCopyInto of the user's that omits a field, and a run, which may come before the
// other generator's, does not.
func TestStaleDeepCopy(t *testing.T) {
	t.Parallel()
	m := operator(t)
	m.mustGenerate("paths=./...")
	m.mustGenerate("paths=./...", "verify")
	m.replace("api/v1/zz_generated.deepcopy.go", "\tout.Names = append([]string(nil), in.Names...)\n", "")
	m.mustGenerate("paths=./...")
	exit, _, stderr := m.generate("paths=./...", "verify")
	if exit != exitWrong || !strings.Contains(stderr, "api/v1/zz_generated.deepcopy.go:26:1: DeepCopyInto of CellStatus does not copy Names, so a change in place would not be seen, and not be written: run controller-gen object\n") {
		t.Errorf("exit %d\n%s", exit, stderr)
	}
}

// TestStaleDeepCopyElsewhere: of a method in another module there is a note, since the user cannot generate it again.
func TestStaleDeepCopyElsewhere(t *testing.T) {
	t.Parallel()
	m := operator(t)
	m.write("shared/go.mod", "module example.com/shared\n\ngo 1.26\n")
	m.write("shared/types.go", "package shared\n\ntype Metadata struct {\n\tARN *string\n\tRegion *string\n}\n\nfunc (in *Metadata) DeepCopyInto(out *Metadata) {\n\t*out = *in\n\tif in.ARN != nil {\n\t\tin, out := &in.ARN, &out.ARN\n\t\t*out = new(string)\n\t\t**out = **in\n\t}\n}\n")
	m.mustRun("go", "mod", "edit", "-require=example.com/shared@v0.0.0", "-replace=example.com/shared=./shared")
	m.replace("api/v1/types.go", "import metav1 \"k8s.io/apimachinery/pkg/apis/meta/v1\"", "import (\n\t\"example.com/shared\"\n\tmetav1 \"k8s.io/apimachinery/pkg/apis/meta/v1\"\n)")
	m.replace("api/v1/types.go", "\tPhase string", "\tMetadata *shared.Metadata `json:\"metadata,omitempty\"`\n\tPhase string")
	m.replace("api/v1/zz_generated.deepcopy.go", "\tout.Names = append", "\tif in.Metadata != nil {\n\t\tin.Metadata.DeepCopyInto(out.Metadata)\n\t}\n\tout.Names = append")
	for _, args := range [][]string{{"paths=./..."}, {"paths=./...", "verify"}} {
		exit, _, stderr := m.generate(args...)
		if exit != exitDone || !strings.Contains(stderr, "note: shared/types.go:8: DeepCopyInto of Metadata does not copy Region") || !strings.Contains(stderr, "report this to example.com/shared@v0.0.0") {
			t.Errorf("%v: exit %d\n%s", args, exit, stderr)
		}
	}
}

// TestStrictRBAC: the missing markers are an error of verify.
func TestStrictRBAC(t *testing.T) {
	for _, tt := range []struct {
		name, markers, want string
	}{
		{"none", "", "resources=cells/status,verbs=get;patch"},
		{"of another group", "groups=apps,resources=deployments,verbs=get", "resources=cells/status,verbs=get;patch"},
		{"one verb is missing", "groups=app.example.com,resources=cells;cells/status,verbs=get", "resources=cells/status,verbs=patch"},
		{"all there", "groups=app.example.com,resources=cells;cells/status,verbs=get;patch", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := operator(t)
			if tt.markers != "" {
				m.replace("controller/cell.go", "// Reconcile runs", "// +kubebuilder:rbac:"+tt.markers+"\n\n// Reconcile runs")
			}
			m.generate("paths=./...")
			exit, _, stderr := m.generate("paths=./...", "verify", "rbac=strict")
			if tt.want == "" && (exit != exitDone || stderr != "") || tt.want != "" && (exit != exitWrong || !strings.Contains(stderr, tt.want)) {
				t.Errorf("exit %d\n%s", exit, stderr)
			}
		})
	}
}

// TestMarshalJSON: a status that writes its JSON itself is not trimmed, because its fields may say something together.
func TestMarshalJSON(t *testing.T) {
	t.Parallel()
	m := operator(t)
	m.mustGenerate("paths=./...")
	if !strings.Contains(m.read(generatedFile), "trimCellStatus") {
		t.Error("control: the status is not trimmed")
	}
	m.write("api/v1/json.go", "package v1\n\nfunc (in CellStatus) MarshalJSON() ([]byte, error) { return []byte(\"{}\"), nil }\n")
	m.mustGenerate("paths=./...")
	if strings.Contains(m.read(generatedFile), "trimCellStatus") {
		t.Error("the status is trimmed")
	}
}

// TestOutputDirIsTheAPIPackage: output:dir= with the directory of the API package, under whatever name, is output:same.
func TestOutputDirIsTheAPIPackage(t *testing.T) {
	t.Parallel()
	m := operator(t)
	if exit, _, stderr := m.generate("paths=./api/v1", "output:same"); exit != exitDone {
		t.Fatalf("exit %d\n%s", exit, stderr)
	}
	const output = "api/v1/zz_generated.statuspatcher.go"
	want := m.read(output)
	if err := os.Symlink("api", filepath.Join(m.dir, "linked")); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"api/v1", "./api/v1/", "api/../api/v1", filepath.Join(m.dir, "api", "v1"), "linked/v1"} {
		if err := os.Remove(filepath.Join(m.dir, output)); err != nil {
			t.Fatal(err)
		}
		if exit, _, stderr := m.generate("paths=./api/v1", "output:dir="+dir); exit != exitDone {
			t.Fatalf("%s: exit %d\n%s", dir, exit, stderr)
		}
		if diff := cmp.Diff(want, m.read(output)); diff != "" {
			t.Errorf("%s: (-output:same +output:dir)\n%s", dir, diff)
		}
	}
}

// TestOutputDirNamedMain: nothing can import package main, so a new package gets another name.
func TestOutputDirNamedMain(t *testing.T) {
	t.Parallel()
	m := operator(t)
	if exit, _, stderr := m.generate("paths=./api/v1", "output:dir=main"); exit != exitDone {
		t.Fatalf("exit %d\n%s", exit, stderr)
	}
	if content := m.read("main/zz_generated.statuspatcher.go"); !strings.Contains(content, "\npackage statusmain\n") {
		t.Errorf("the package is not called statusmain:\n%.400s", content)
	}
}
