package manual

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

// example returns a program with commands of two levels, a flag with a list of words, and text that the three
// shells and troff would each misread if it were not quoted.
func example() *cli.App {
	return &cli.App{Name: "tool", Usage: "does it", Version: "1", HideVersion: true, HideHelpCommand: true,
		UsageText: "tool COMMAND",
		Flags:     []cli.Flag{&cli.BoolFlag{Name: "v", Usage: "tell more"}},
		Commands: []*cli.Command{
			{Name: "train", Usage: "it's [quick]: $HOME", Description: "Trains.\n\n   tool train -o x\n.dot",
				Flags: []cli.Flag{
					&cli.StringFlag{Name: "tail", Usage: "keep, pad, repeat or drop"},
					&cli.StringFlag{Name: "model", Usage: "`NAME` of the zoo"},
					&cli.StringFlag{Name: "output", Usage: "`FILE` to write"},
					&cli.BoolFlag{Name: "secret", Hidden: true}}},
			{Name: "data", Usage: "data", Subcommands: []*cli.Command{
				{Name: "info", Usage: "what is there", Flags: []cli.Flag{&cli.BoolFlag{Name: "masks"}}},
				Command()}},
			{Name: "hidden", Hidden: true},
			Command(),
		}}
}

func script(t *testing.T, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	app := example()
	app.Writer = &out
	if err := app.Run(append([]string{"tool", "completion"}, args...)); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestBashCompletes runs the completion script in bash, and compares the words that bash offers with the
// expected ones.
func TestBashCompletes(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("bash is not here")
	}
	source := script(t, "bash")
	for line, want := range map[string]string{
		"tool ":                            "train data completion -v --help",
		"tool tr":                          "train",
		"tool train --t":                   "--tail",
		"tool train --tail p":              "pad",
		"tool train --model resnet2":       "resnet20",
		"tool train --output ":             "",
		"tool -v data ":                    "info completion -v --help",
		"tool data info --":                "--masks --help",
		"tool train --sec":                 "",
		"tool data info --masks in":        "",
		"tool completion ":                 "bash zsh fish json man -v --help",
		"tool train --tail keep --m":       "--model",
		"tool train --tail csv : manual_t": "manual_test.go", // readline divides csv:manual_t in this way
	} {
		words := strings.Split(line, " ")
		run := source + "\nCOMP_WORDS=(" + strings.Join(words[:len(words)-1], " ") + " '" + words[len(words)-1] +
			"')\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_tool\necho \"${COMPREPLY[*]}\"\n"
		out, err := exec.Command("bash", "-c", run).CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != want {
			t.Errorf("%q offers %q (%v), want %q", line, got, err, want)
		}
	}
}

// If zsh and fish are installed, they must read their scripts without an error.
func TestShellsReadScripts(t *testing.T) {
	for shell, check := range map[string][]string{"zsh": {"-n"}, "fish": {"--no-execute"}} {
		file := filepath.Join(t.TempDir(), "script")
		if err := os.WriteFile(file, []byte(script(t, shell)), 0o600); err != nil {
			t.Fatal(err)
		}
		if path, err := exec.LookPath(shell); err == nil {
			if out, err := exec.Command(path, append(check, file)...).CombinedOutput(); err != nil {
				t.Errorf("%s: %v: %s", shell, err, out)
			}
		}
	}
	for shell, wants := range map[string][]string{
		"zsh": {"'train:it'\\''s [quick]: $HOME'", "'*--tail[keep, pad, repeat or drop]:VALUE:(keep pad repeat drop)'",
			"'*--output[FILE to write]:FILE:_files'", "info) _tool_data_info ;;"},
		"fish": {"complete -c tool -f -n '__fish_use_subcommand' -a train -d 'it\\'s [quick]: $HOME'",
			"-l tail -r -f -a 'keep pad repeat drop'", "-l model -r -f -a 'mlp-bn lenet-bn resnet20 "},
	} {
		got := script(t, shell)
		for _, want := range wants {
			if !strings.Contains(got, want) {
				t.Errorf("%s lacks %s:\n%s", shell, want, got)
			}
		}
		if strings.Contains(got, "secret") || strings.Contains(got, "hidden") {
			t.Errorf("%s offers what is hidden", shell)
		}
	}
}

func TestPages(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "man1")
	if got := script(t, "man", folder); !strings.HasPrefix(got, "wrote 16 pages to ") {
		t.Errorf("completion man says %q", got)
	}
	page, err := os.ReadFile(filepath.Join(folder, "tool-train.1"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{".TH \"TOOL-TRAIN\" 1", "tool\\-train \\- it's [quick]: $HOME\n", ".EX\n", "\\&.dot\n",
		".BI \"\\-\\-output \" FILE\nFILE to write\n"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	for _, args := range [][]string{{"man"}, {"man", "a", "b"}, {"bash", "x"}} {
		if err := example().Run(append([]string{"tool", "completion"}, args...)); err == nil {
			t.Errorf("completion %q is taken", args)
		}
	}
}

func TestTable(t *testing.T) {
	var root tableCommand
	if err := json.Unmarshal([]byte(script(t, "json")), &root); err != nil || root.Name != "tool" {
		t.Fatalf("%+v: %v", root, err)
	}
	train := root.Commands[0]
	if train.Name != "train" || len(train.Flags) != 3 { // the hidden flag is not in the list
		t.Fatalf("%+v", train)
	}
	tail := train.Flags[2]
	if tail.Name != "tail" || tail.Type != "string" || tail.Words[1] != "pad" || tail.Usage != "keep, pad, repeat or drop" {
		t.Errorf("%+v", tail)
	}
	if len(root.Commands) != 3 || root.Commands[1].Commands[0].Flags[0].Type != "bool" {
		t.Errorf("%+v", root.Commands)
	}
}
