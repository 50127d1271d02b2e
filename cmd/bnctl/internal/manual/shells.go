package manual

import (
	"fmt"
	"io"
	"strings"
)

// shells has the function that writes the completion script for each shell.
var shells = map[string]func(io.Writer, command){"bash": bash, "zsh": zsh, "fish": fish}

// bash writes a completion function. It knows which commands may follow at each position, the flags of each
// command, and the words that complete some flags. Everywhere else readline completes the names of files.
func bash(w io.Writer, root command) {
	name := root.path[0]
	fmt.Fprintf(w, `# bash completion: source <(%[1]s completion bash)
_%[1]s() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} at=%[1]s i words=
	if [[ $cur == : || $prev == : ]]; then # behind csv: comes a file; readline takes : for a word
		[[ $cur == : ]] && cur=
		local IFS=$'\n'
		COMPREPLY=($(compgen -f -- "$cur"))
		return
	fi
	for ((i = 1; i < COMP_CWORD; i++)); do
		case "$at ${COMP_WORDS[i]}" in
`, name)
	root.walk(func(c command) {
		if len(c.path) > 1 {
			fmt.Fprintf(w, "\t\t%q) at=%q ;;\n", c.joined(" "), c.joined(" "))
		}
	})
	fmt.Fprint(w, "\t\tesac\n\tdone\n\tcase \"$at $prev\" in\n")
	root.walk(func(c command) {
		for _, f := range c.flags {
			if f.value == "" {
				continue
			}
			fmt.Fprintf(w, "\t%q) COMPREPLY=($(compgen -W %q -- \"$cur\")); return ;;\n",
				c.joined(" ")+" "+f.long(), strings.Join(f.words, " "))
		}
	})
	fmt.Fprint(w, "\tesac\n\tcase \"$at\" in\n")
	root.walk(func(c command) {
		fmt.Fprintf(w, "\t%q) words=%q ;;\n", c.joined(" "), strings.Join(c.words(), " "))
	})
	fmt.Fprintf(w, `	esac
	COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _%[1]s %[1]s
`, name)
}

// words returns the words that may follow a command.
func (c command) words() (words []string) {
	for _, s := range c.subcommands {
		words = append(words, s.path[len(s.path)-1])
	}
	for _, f := range c.flags {
		words = append(words, f.long())
	}
	return append(words, "--help")
}

// zsh writes a function for each command, which calls _arguments with the descriptions of commands and flags.
func zsh(w io.Writer, root command) {
	fmt.Fprintf(w, "#compdef %[1]s\n# zsh completion: %[1]s completion zsh >\"${fpath[1]}/_%[1]s\"\n",
		root.path[0])
	root.walk(func(c command) {
		fmt.Fprintf(w, "\n_%s() {\n\t_arguments -S \\\n", c.joined("_"))
		for _, f := range c.flags {
			fmt.Fprintf(w, "\t\t%s \\\n", zshQuote("*"+f.long()+"["+zshText(short(f.usage))+"]"+f.zshValue()))
		}
		fmt.Fprintf(w, "\t\t'--help[show help]' \\\n")
		if len(c.subcommands) == 0 {
			fmt.Fprint(w, "\t\t'*:file:_files'\n}\n")
			return
		}
		fmt.Fprintf(w, "\t\t'1: :->command' '*:: :->rest'\n\tcase $state in\n\tcommand)\n\t\tlocal -a commands=(\n")
		for _, s := range c.subcommands {
			fmt.Fprintf(w, "\t\t\t%s\n", zshQuote(s.path[len(s.path)-1]+":"+short(s.usage)))
		}
		fmt.Fprintf(w, "\t\t)\n\t\t_describe command commands ;;\n\trest)\n\t\tcase $words[1] in\n")
		for _, s := range c.subcommands {
			fmt.Fprintf(w, "\t\t%s) _%s ;;\n", s.path[len(s.path)-1], s.joined("_"))
		}
		fmt.Fprint(w, "\t\tesac ;;\n\tesac\n}\n")
	})
	fmt.Fprintf(w, "\n_%s \"$@\"\n", root.path[0])
}

// zshValue returns the description of a flag's value for _arguments.
func (f flag) zshValue() string {
	switch {
	case f.value == "":
		return ""
	case len(f.words) > 0:
		return ":" + f.value + ":(" + strings.ReplaceAll(strings.Join(f.words, " "), ":", `\:`) + ")"
	}
	return ":" + f.value + ":_files"
}

// zshText escapes the characters that would end a description.
func zshText(s string) string {
	return strings.NewReplacer("[", `\[`, "]", `\]`, ":", `\:`).Replace(s)
}

func zshQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// fish writes a line for each command and each flag.
func fish(w io.Writer, root command) {
	name := root.path[0]
	fmt.Fprintf(w, "# fish completion: %[1]s completion fish >~/.config/fish/completions/%[1]s.fish\n", name)
	root.walk(func(c command) {
		condition := "__fish_use_subcommand"
		for i, word := range c.path[1:] {
			if condition = "__fish_seen_subcommand_from " + word; i > 0 {
				condition = "__fish_seen_subcommand_from " + c.path[1] + "; and " + condition
			}
		}
		for _, s := range c.subcommands {
			condition2 := condition
			if len(c.path) > 1 {
				condition2 += "; and not __fish_seen_subcommand_from" + lastWords(c.subcommands)
			}
			fmt.Fprintf(w, "complete -c %s -f -n %s -a %s -d %s\n", name, fishQuote(condition2),
				s.path[len(s.path)-1], fishQuote(short(s.usage)))
		}
		for _, f := range c.flags {
			option := "-l " + f.name
			if len(f.name) == 1 {
				option = "-s " + f.name
			}
			if f.value != "" {
				option += " -r"
			}
			if len(f.words) > 0 {
				option += " -f -a " + fishQuote(strings.Join(f.words, " "))
			}
			fmt.Fprintf(w, "complete -c %s -n %s %s -d %s\n", name, fishQuote(condition), option,
				fishQuote(short(f.usage)))
		}
	})
}

func lastWords(list []command) (words string) {
	for _, c := range list {
		words += " " + c.path[len(c.path)-1]
	}
	return words
}

func fishQuote(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(s) + "'"
}

// short returns the first part of a usage, which fits into a menu.
func short(usage string) string {
	usage, _, _ = strings.Cut(usage, "; ")
	if r := []rune(usage); len(r) > 80 {
		return string(r[:79]) + "…"
	}
	return usage
}
