// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"cmp"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/ctl/show"
	"github.com/sled-fleet/sled/sledd/internal/wording"
)

// target returns server and credentials: those of --server, of --context, of SLED_SERVER, of SLED_CONTEXT or of the
// current context, whichever comes first. The token of a context is never sent to another server, and that of the
// environment never to the server of a context that has one.
func (a *app) target() (api.Config, error) {
	config := a.config
	if a.context != "" && config.Server != "" {
		return config, usagef("--context and --server exclude each other")
	}
	if config.Server != "" || a.context == "" && a.Getenv("SLED_SERVER") != "" {
		return config.FromEnvironment(a.Getenv), nil
	}
	all, err := readPlaces(a.Getenv)
	if err != nil {
		return config, &usageError{err: err}
	}
	name := cmp.Or(a.context, a.Getenv("SLED_CONTEXT"), all.Current)
	if name == "" {
		return config.FromEnvironment(a.Getenv), nil
	}
	found, err := all.find(name)
	if err != nil {
		return config, &usageError{err: err}
	}
	a.context, config.Server = name, found.Server
	if config.Token == "" && config.TokenFile == "" {
		config.TokenFile = found.TokenFile
	}
	config.CAFile = cmp.Or(config.CAFile, found.CA)
	return config.FromEnvironment(a.Getenv), nil
}

// inContext names the context in a question.
func (a *app) inContext() string {
	if a.context == "" {
		return ""
	}
	return " (context " + wording.Clean(a.context) + ")"
}

// placeRow is a context with its name.
type placeRow struct {
	Name    string `json:"name"`
	Current bool   `json:"current"`
	place
}

func (a *app) contextCommand() *cobra.Command {
	command := group("context", "Choose between fleets", a.contextListCommand(), a.contextSetCommand(),
		a.contextUseCommand(), a.contextDeleteCommand())
	command.Long = `A context is the server of a fleet, and the files with its CA and its token. The
current one is used unless --server, --context or SLED_SERVER is given.

Contexts are in ~/.config/sled/config.yaml, or in the file SLED_CONFIG.`
	command.Example = `  sledctl context set hall-b --server https://10.8.0.1 --ca hall-b.crt \
      --token-file hall-b.token
  sledctl context use hall-b
  sledctl --context hall-a status`
	return command
}

func (a *app) contextListCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List the contexts", Example: "  sledctl context list",
		Args: cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions, Annotations: printsNames,
		RunE: func(*cobra.Command, []string) error {
			all, err := readPlaces(a.Getenv)
			if err != nil {
				return err
			}
			rows := []placeRow{}
			for _, name := range all.names() {
				rows = append(rows, placeRow{Name: name, Current: name == all.Current, place: all.Contexts[name]})
			}
			return a.show(rows, func() {
				show.Table(a.Out, a.Screen, []show.Column[placeRow]{
					show.Col("name", func(r placeRow) string { return wording.Clean(r.Name) }).Wraps(16),
					show.Col("current", func(r placeRow) string { return wording.YesNo(r.Current) }),
					show.Col("server", func(r placeRow) string { return wording.Clean(r.Server) }).Wraps(24),
					show.Col("token file", func(r placeRow) string { return wording.Clean(r.TokenFile) }).Spare(),
					show.Col("ca", func(r placeRow) string { return wording.Clean(r.CA) }).Spare(),
				}, rows)
			})
		},
	}
}

func (a *app) contextSetCommand() *cobra.Command {
	return &cobra.Command{
		Use: "set NAME", Short: "Add or change a context",
		Long: `Stores --server, --ca and --token-file under a name. The first context becomes
the current one. A token is not stored, only the name of its file.`,
		Example: `  sledctl context set hall-b --server https://10.8.0.1 --ca hall-b.crt \
      --token-file hall-b.token`,
		Args: cobra.ExactArgs(1), ValidArgsFunction: a.completeContexts,
		RunE: func(_ *cobra.Command, args []string) error {
			if !placeName.MatchString(args[0]) {
				return usagef("context %q: expected letters, digits and . _ -, first a letter or digit", args[0])
			}
			if a.config.Token != "" {
				return usagef("a context holds no token: put it into a file that only you can read, and use --token-file")
			}
			return a.changeContexts(func(all *places) error {
				set := all.Contexts[args[0]]
				set.Server = cmp.Or(a.config.Server, set.Server)
				for _, file := range []struct {
					given string
					to    *string
				}{{a.config.CAFile, &set.CA}, {a.config.TokenFile, &set.TokenFile}} {
					if file.given == "" {
						continue
					}
					path, err := filepath.Abs(file.given)
					if err != nil {
						return err
					}
					*file.to = path
				}
				// The same checks as before a request, so that a slip is seen now.
				if _, err := api.New(api.Config{Server: set.Server, CAFile: set.CA, TokenFile: set.TokenFile}); err != nil {
					return &usageError{err: err}
				}
				all.Contexts[args[0]] = set
				all.Current = cmp.Or(all.Current, args[0])
				return nil
			})
		},
	}
}

func (a *app) contextUseCommand() *cobra.Command {
	return &cobra.Command{
		Use: "use NAME", Short: "Make a context the current one", Example: "  sledctl context use hall-b",
		Args: cobra.ExactArgs(1), ValidArgsFunction: a.completeContexts,
		RunE: func(_ *cobra.Command, args []string) error {
			return a.changeContexts(func(all *places) error {
				if _, err := all.find(args[0]); err != nil {
					return err
				}
				all.Current = args[0]
				return nil
			})
		},
	}
}

func (a *app) contextDeleteCommand() *cobra.Command {
	return &cobra.Command{
		Use: "delete NAME", Short: "Delete a context; the files it names stay",
		Example: "  sledctl context delete hall-b", Args: cobra.ExactArgs(1), ValidArgsFunction: a.completeContexts,
		RunE: func(_ *cobra.Command, args []string) error {
			return a.changeContexts(func(all *places) error {
				if _, ok := all.Contexts[args[0]]; !ok {
					_, err := all.find(args[0])
					return err
				}
				delete(all.Contexts, args[0])
				if all.Current == args[0] {
					all.Current = ""
				}
				return nil
			})
		},
	}
}

func (a *app) changeContexts(change func(*places) error) error {
	all, err := readPlaces(a.Getenv)
	if err != nil {
		return err
	}
	if err := change(&all); err != nil {
		return err
	}
	return all.write()
}

func (a *app) completeContexts(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	all, err := readPlaces(a.Getenv)
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return all.names(), cobra.ShellCompDirectiveNoFileComp
}
