// SPDX-License-Identifier: Apache-2.0

package api

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestConfigThatCannotWorkIsNamed(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := "https://10.77.0.1"
	for name, test := range map[string]struct {
		config Config
		want   string
	}{
		"no server":       {Config{}, "SLED_SERVER"},
		"no scheme":       {Config{Server: "10.77.0.1"}, "expected https://ADDRESS"},
		"other scheme":    {Config{Server: "ftp://10.77.0.1"}, "expected https://ADDRESS"},
		"no path":         {Config{Server: "unix:sledd.sock"}, "expected https://ADDRESS"},
		"password":        {Config{Server: "https://u:hidden@10.77.0.1"}, "expected https://ADDRESS and nothing else"},
		"clear text":      {Config{Server: "http://10.77.0.1"}, "in clear"},
		"no token file":   {Config{Server: good, TokenFile: filepath.Join(dir, "none")}, "token file"},
		"empty file":      {Config{Server: good, TokenFile: write("empty", "\n")}, "is empty"},
		"token of lines":  {Config{Server: good, Token: "a\nb"}, "control character"},
		"no CA file":      {Config{Server: good, CAFile: filepath.Join(dir, "none")}, "CA file"},
		"CA of no PEM":    {Config{Server: good, CAFile: write("ca", "x")}, "no certificate in PEM"},
		"CA text, no PEM": {Config{Server: good, CA: []byte("x")}, "no certificate in PEM"},
	} {
		_, err := New(test.config)
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}

func TestConfigFromEnvironment(t *testing.T) {
	environment := map[string]string{"SLED_SERVER": "https://a", "SLED_TOKEN": "t", "SLED_TOKEN_FILE": "f", "SLED_CA": "c"}
	getenv := func(name string) string { return environment[name] }
	got := Config{}.FromEnvironment(getenv)
	if got.Server != "https://a" || got.Token != "t" || got.TokenFile != "f" || got.CAFile != "c" {
		t.Errorf("%+v", got)
	}
	got = Config{Server: "https://b", TokenFile: "mine", CA: []byte("x")}.FromEnvironment(getenv)
	if got.Server != "https://b" || got.Token != "" || got.TokenFile != "mine" || got.CAFile != "" {
		t.Errorf("what was given was mixed with the environment: %+v", got)
	}
}

func TestConfigDefaults(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	client, err := New(Config{Server: "http://[::1]:9470/", TokenFile: file})
	if err != nil {
		t.Fatal(err)
	}
	if client.Server() != "http://[::1]:9470" || client.token != "secret" || client.timeout != 30*time.Second ||
		client.agent != "sled-client" {
		t.Errorf("%+v", client)
	}
}
