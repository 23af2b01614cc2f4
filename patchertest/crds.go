package patchertest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

var documentEnd = regexp.MustCompile(`(?m)^---.*$`)

// ReadCRDs reads the CustomResourceDefinitions in YAML files; a directory stands for the .yaml and .yml files in it.
// Other documents are passed over. It is an error if a path cannot be read, a document is no YAML, or there is no CRD at all.
func ReadCRDs(paths ...string) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	var out []*apiextensionsv1.CustomResourceDefinition
	for _, path := range paths {
		files, err := yamlFiles(path)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			crds, err := readCRDFile(file)
			if err != nil {
				return nil, err
			}
			out = append(out, crds...)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("expected a CustomResourceDefinition in %s, found none; generate them with controller-gen crd", strings.Join(paths, ", "))
	}
	return out, nil
}

func yamlFiles(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read CRDs: %w", err)
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	var files []string
	for _, pattern := range []string{"*.yaml", "*.yml"} {
		matches, err := filepath.Glob(filepath.Join(path, pattern))
		if err != nil {
			return nil, err
		}
		files = append(files, matches...)
	}
	return files, nil
}

func readCRDFile(file string) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read CRDs: %w", err)
	}
	var out []*apiextensionsv1.CustomResourceDefinition
	for _, document := range documentEnd.Split(string(text), -1) {
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.Unmarshal([]byte(document), crd); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if crd.Kind == "CustomResourceDefinition" {
			out = append(out, crd)
		}
	}
	return out, nil
}
