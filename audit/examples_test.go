package main

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// TestEveryPackageHasAnExample: every package under pkg that others may import has an Example whose output is checked.
// Packages whose names end in "test" help the tests of others, and need none.
func TestEveryPackageHasAnExample(t *testing.T) {
	checked := 0
	err := filepath.WalkDir("../pkg", func(dir string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if d.Name() == "testdata" || strings.HasSuffix(d.Name(), "test") {
			return filepath.SkipDir
		}
		has, isPackage, err := example(dir)
		if err == nil && isPackage && !has {
			t.Errorf("%s has no Example with an \"// Output:\" comment: write one in its example_test.go", dir)
		}
		if isPackage {
			checked++
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if checked < 30 {
		t.Errorf("only %d packages were found", checked)
	}
}

// example tells whether the tests in a folder have an Example that runs, and whether the folder holds a package that
// others may import.
func example(dir string) (has, isPackage bool, err error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return false, false, err
	}
	var tests []*ast.File
	for _, name := range names {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			return false, false, err
		}
		if strings.HasSuffix(name, "_test.go") {
			tests = append(tests, file)
		} else {
			isPackage = isPackage || file.Name.Name != "main"
		}
	}
	for _, e := range doc.Examples(tests...) {
		has = has || e.Output != "" || e.EmptyOutput
	}
	return has, isPackage, nil
}
