// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// place is a fleet that a person works with: where its sledd is, and the files with CA and token. A token itself is not
// kept here.
type place struct {
	Server    string `json:"server"`
	CA        string `json:"ca,omitempty"`
	TokenFile string `json:"token_file,omitempty"`
}

// places is the file of contexts.
type places struct {
	Current  string           `json:"current,omitempty"`
	Contexts map[string]place `json:"contexts"`

	path string
}

var placeName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// placesPath returns the path of the file: SLED_CONFIG, else sled/config.yaml in the user's folder of configurations.
func placesPath(getenv func(string) string) (string, error) {
	if path := getenv("SLED_CONFIG"); path != "" {
		return path, nil
	}
	if folder := getenv("XDG_CONFIG_HOME"); filepath.IsAbs(folder) {
		return filepath.Join(folder, "sled", "config.yaml"), nil
	}
	if home := getenv("HOME"); home != "" {
		return filepath.Join(home, ".config", "sled", "config.yaml"), nil
	}
	return "", errors.New("the environment has neither SLED_CONFIG nor HOME: the file of contexts is unknown")
}

// readPlaces reads the file; a missing one has no contexts.
func readPlaces(getenv func(string) string) (places, error) {
	found := places{Contexts: map[string]place{}}
	path, err := placesPath(getenv)
	if err != nil {
		return found, nil //nolint:nilerr // as if the file was missing: contexts are not required
	}
	found.path = path
	text, err := os.ReadFile(path) //nolint:gosec // the user names it
	if errors.Is(err, fs.ErrNotExist) {
		return found, nil
	}
	if err != nil {
		return found, fmt.Errorf("contexts: %w", err)
	}
	if err := yaml.UnmarshalStrict(text, &found); err != nil {
		return found, fmt.Errorf("%s: %w", path, err)
	}
	if found.Contexts == nil {
		found.Contexts = map[string]place{}
	}
	return found, nil
}

// write replaces the file as a whole; only the user can read it.
func (p places) write() error {
	if p.path == "" {
		return errors.New("the environment has neither SLED_CONFIG nor HOME: the file of contexts is unknown")
	}
	text, err := yaml.Marshal(p)
	if err != nil {
		return err
	}
	folder := filepath.Dir(p.path)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	file, err := os.CreateTemp(folder, ".config-*")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name()) //nolint:errcheck // renamed by then
	_, err = file.Write(text)
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), p.path)
}

// find returns a context by name. The error lists those that exist.
func (p places) find(name string) (place, error) {
	found, ok := p.Contexts[name]
	if !ok {
		known := strings.Join(p.names(), ", ")
		if known == "" {
			known = "none; make one with sledctl context set"
		}
		return found, fmt.Errorf("context %q does not exist: there are %s", name, known)
	}
	if found.Server == "" {
		return found, fmt.Errorf("%s: context %s has no server", p.path, name)
	}
	return found, nil
}

func (p places) names() []string { return slices.Sorted(maps.Keys(p.Contexts)) }
