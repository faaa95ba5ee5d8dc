package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	pin    = regexp.MustCompile(`^([A-Za-z0-9._-]+)==([^ ;\\]+)( ; [^\\]*)?( \\)?$`)
	hashes = regexp.MustCompile(`^    --hash=sha256:[0-9a-f]{64}( \\)?$`)
)

// name returns the name of a Python package in the form in which package indexes compare names (PEP 503).
func name(text string) string {
	return strings.ToLower(regexp.MustCompile(`[-_.]+`).ReplaceAllString(text, "-"))
}

// locked reads a lock file, and returns the versions of each package. The test fails if a version has no hash, or if a
// line is neither a version nor a hash.
func locked(t *testing.T, file string) map[string][]string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v: run `make lock`", err)
	}
	versions, bare := map[string][]string{}, ""
	for i, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		if found := pin.FindStringSubmatch(line); found != nil {
			if bare != "" {
				t.Errorf("%s: %s has no hash", file, bare)
			}
			bare = found[1]
			versions[name(bare)] = append(versions[name(bare)], found[2])
		} else if hashes.MatchString(line) {
			bare = ""
		} else {
			t.Errorf("%s:%d is neither a version nor a hash: %q", file, i+1, line)
		}
	}
	if bare != "" {
		t.Errorf("%s: %s has no hash", file, bare)
	}
	return versions
}

func TestLockFilesCoverTheRequirements(t *testing.T) {
	requirement := regexp.MustCompile(`^([A-Za-z0-9._-]+)(==([^ ;]+))?(; .*)?$`)
	for _, file := range []string{
		"../jupyter", "../npm", "../uv", "../../bench/peer", "../../docker/hub", "../../docker/person",
		"../../docker/compose",
	} {
		versions := locked(t, file+".lock")
		text, err := os.ReadFile(file + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			line = strings.TrimSpace(line)
			if strings.HasPrefix(line, "#") || line == "" {
				continue
			}
			found := requirement.FindStringSubmatch(line)
			if found == nil {
				t.Errorf("%s.txt: %q is no requirement that this test knows", file, line)
			} else if have := versions[name(found[1])]; len(have) == 0 || found[3] != "" && !slices.Contains(have, found[3]) {
				t.Errorf("%s.lock has %s %q, want %q: run `make lock`", file, found[1], have, found[3])
			}
		}
	}
}

// TestLockFilesAgree compares the lock files jupyter.lock, person.lock and hub.lock. The packages in person.lock, which
// a hub needs for each person, are installed into the same environment as those in jupyter.lock. So packages that are
// in both files must have the same versions. The version of JupyterHub must be the same in person.lock and hub.lock.
func TestLockFilesAgree(t *testing.T) {
	notebooks := locked(t, "../jupyter.lock")
	for packet, versions := range locked(t, "../../docker/person.lock") {
		if have, ok := notebooks[packet]; ok && strings.Join(have, " ") != strings.Join(versions, " ") {
			t.Errorf("%s is %q for notebooks and %q for people of a hub: run `make lock`", packet, have, versions)
		}
	}
	hub, people := locked(t, "../../docker/hub.lock")["jupyterhub"], locked(t, "../../docker/person.lock")["jupyterhub"]
	if strings.Join(hub, " ") != strings.Join(people, " ") {
		t.Errorf("jupyterhub is %q for the hub and %q for its people", hub, people)
	}
}

// TestToolsHaveSums checks that the source code has a checksum for the module of each tool. If go.sum has a checksum
// for the same version of the module, both checksums must be equal.
func TestToolsHaveSums(t *testing.T) {
	sums, err := os.ReadFile("../../go.sum")
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range append(slices.Clone(tools), gopls) {
		_, after, ok := strings.Cut(string(sums), "\n"+tool.module+" "+tool.version+" ")
		if sum, _, _ := strings.Cut(after, "\n"); ok && sum != tool.sum || !strings.HasPrefix(tool.sum, "h1:") {
			t.Errorf("the sum of %s is %q here and %q in go.sum", tool.module, tool.sum, sum)
		}
	}
}

// TestBuildRefusesAnotherSum checks that a tool is not built if the checksum of its module differs from the checksum in
// the source code.
func TestBuildRefusesAnotherSum(t *testing.T) {
	p := checkout(t)
	other := tools[1]
	other.sum = "h1:" + strings.Repeat("0", 43) + "="
	if err := p.build(other); err == nil || !strings.Contains(err.Error(), "want "+other.sum) {
		t.Errorf("%v, want an error that names the wanted sum", err)
	}
	if _, err := os.Stat(filepath.Join(p.venv, "bin", other.name)); err == nil {
		t.Error("it was built")
	}
}

func TestCompletionCanBeLeftOut(t *testing.T) {
	p := checkout(t)
	binary := filepath.Join(p.venv, "bin", gopls.name)
	if err := os.MkdirAll(filepath.Dir(binary), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(binary, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time there is none
		if err := p.completion(false); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(binary); !os.IsNotExist(err) {
			t.Errorf("gopls is still there: %v", err)
		}
	}
}

// TestPipRefusesAnotherHash checks that pip refuses a wheel whose hash is not in the lock file, and installs nothing.
func TestPipRefusesAnotherHash(t *testing.T) {
	system, err := findPython()
	if err != nil {
		t.Skip(err)
	}
	p := checkout(t)
	if err := p.run(p.project, system, "-m", "venv", p.venv); err != nil {
		t.Fatal(err)
	}
	wheels := t.TempDir()
	if err := p.run(wheels, system, "-c", wheelMaker); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PIP_NO_INDEX", "1")
	t.Setenv("PIP_FIND_LINKS", wheels)
	file := filepath.Join(p.project, "thing.lock")
	lock := "thing==1 \\\n    --hash=sha256:" + strings.Repeat("0", 64) + "\n"
	if err := os.WriteFile(file, []byte(lock), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := p.pip(file); err == nil || !strings.Contains(err.Error(), "DO NOT MATCH THE HASHES") {
		t.Errorf("%v, want pip's refusal", err)
	}
	if left, _ := filepath.Glob(filepath.Join(p.venv, "lib", "*", "site-packages", "thing*")); left != nil {
		t.Errorf("installed %q", left)
	}
}

// wheelMaker is a Python script that writes the smallest wheel that pip accepts.
const wheelMaker = `
import zipfile
with zipfile.ZipFile("thing-1-py3-none-any.whl", "w") as z:
    z.writestr("thing.py", "")
    z.writestr("thing-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: thing\nVersion: 1\n")
    z.writestr("thing-1.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    z.writestr("thing-1.dist-info/RECORD", "")
`
