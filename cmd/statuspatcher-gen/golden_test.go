package main

import (
	"os"
	"testing"

	"golang.org/x/tools/txtar"
)

// setFile puts a file into an archive, in its place if it is there.
func setFile(archive *txtar.Archive, name, content string) {
	for i := range archive.Files {
		if archive.Files[i].Name == name {
			archive.Files[i].Data = []byte(content)
			return
		}
	}
	archive.Files = append(archive.Files, txtar.File{Name: name, Data: []byte(content)})
}

func writeArchive(t testing.TB, name string, archive *txtar.Archive) {
	t.Helper()
	if err := os.WriteFile(name, txtar.Format(archive), 0o666); err != nil {
		t.Fatal(err)
	}
}
