// Npm makes packages for npm from what goreleaser has built: @hist-cli/hist, which holds no program, and one package with the
// program for each platform. npm installs only the one that fits, so nothing is downloaded or run at install.
//
//	go run ./testing/npm dist dist/npm
//
// It writes one directory a package, for npm pack or npm publish; those of the platforms are published first.
package main

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

//go:embed hist.js
var starter []byte

const (
	scope      = "@hist-cli/"
	repository = "git+https://github.com/hist-cli/hist.git"
	about      = "Finds and repairs damage in the session files of AI coding agents"
)

// manifest is a package.json.
type manifest struct {
	Name                 string            `json:"name"`
	Version              string            `json:"version"`
	Description          string            `json:"description"`
	License              string            `json:"license"`
	Repository           map[string]string `json:"repository"`
	Bin                  map[string]string `json:"bin,omitempty"`
	Engines              map[string]string `json:"engines,omitempty"`
	OS                   []string          `json:"os,omitempty"`
	CPU                  []string          `json:"cpu,omitempty"`
	Files                []string          `json:"files"`
	OptionalDependencies map[string]string `json:"optionalDependencies,omitempty"`
	PublishConfig        map[string]string `json:"publishConfig"`
}

// artifact is what goreleaser writes about each file in artifacts.json.
type artifact struct {
	Path, Goos, Goarch, Type string
}

// nodeNames are Node's names of Go's systems and processors, where they differ.
var nodeNames = map[string]string{"windows": "win32", "amd64": "x64"}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "npm:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 2 {
		return errors.New("it takes goreleaser's directory and one to write to: npm dist dist/npm")
	}
	from, to := args[0], args[1]
	var built struct{ Version string }
	var artifacts []artifact
	if err := errors.Join(read(filepath.Join(from, "metadata.json"), &built), read(filepath.Join(from, "artifacts.json"), &artifacts)); err != nil {
		return err
	}
	platforms := map[string]string{}
	for _, a := range artifacts {
		if a.Type != "Binary" {
			continue
		}
		name, err := platform(a, built.Version, to)
		if err != nil {
			return err
		}
		platforms[name] = built.Version
	}
	if len(platforms) == 0 {
		return fmt.Errorf("%s names no program", filepath.Join(from, "artifacts.json"))
	}
	m := describe("hist", built.Version)
	m.Bin, m.Files = map[string]string{"hist": "bin/hist.js"}, []string{"bin/hist.js"}
	m.Engines, m.OptionalDependencies = map[string]string{"node": ">=18"}, platforms
	return write(filepath.Join(to, "hist"), m, "bin/hist.js", starter)
}

// platform writes the package that holds one program, and returns its name.
func platform(a artifact, version, to string) (string, error) {
	system, processor := nodeName(a.Goos), nodeName(a.Goarch)
	program := "bin/hist"
	if a.Goos == "windows" {
		program += ".exe"
	}
	m := describe("hist-"+system+"-"+processor, version)
	m.Description += fmt.Sprintf(": the program for %s on %s", a.Goos, a.Goarch)
	m.OS, m.CPU, m.Files = []string{system}, []string{processor}, []string{program}
	data, err := os.ReadFile(a.Path)
	if err != nil {
		return "", err
	}
	return m.Name, write(filepath.Join(to, m.Name[len(scope):]), m, program, data)
}

func nodeName(name string) string {
	if node, ok := nodeNames[name]; ok {
		return node
	}
	return name
}

func describe(name, version string) manifest {
	return manifest{
		Name: scope + name, Version: version, Description: about, License: "MIT",
		Repository: map[string]string{"type": "git", "url": repository}, PublishConfig: map[string]string{"access": "public"},
	}
}

// write makes a package's directory: its manifest, its only file, and the licence.
func write(dir string, m manifest, name string, data []byte) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	licence, err := os.ReadFile("LICENSE")
	if err != nil {
		return fmt.Errorf("it is run from the top of the repository: %w", err)
	}
	path := filepath.Join(dir, filepath.FromSlash(name))
	return errors.Join(
		os.MkdirAll(filepath.Dir(path), 0o755),
		os.WriteFile(path, data, 0o755),
		os.WriteFile(filepath.Join(dir, "package.json"), append(text, '\n'), 0o644),
		os.WriteFile(filepath.Join(dir, "LICENSE"), licence, 0o644),
	)
}

func read(path string, into any) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
