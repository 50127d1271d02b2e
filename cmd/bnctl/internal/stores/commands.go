package stores

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/cmd/bnctl/internal/commandline"
	"github.com/bnctl/bnctl/cmd/bnctl/internal/pretrained"
	"github.com/bnctl/bnctl/internal/regular"
	"github.com/bnctl/bnctl/internal/store"
	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/problem"
)

// Commands returns those subcommands of "models" that are about files on other machines.
func Commands(output func(*cli.Context) Output) []*cli.Command {
	run := func(f func(*cli.Context, Output) error) cli.ActionFunc {
		return func(c *cli.Context) error { return f(c, output(c)) }
	}
	return []*cli.Command{
		{Name: "pull", Usage: "fetch weights or a model into the cache, and print where they are",
			ArgsUsage: "SOURCE...",
			Description: `   bnctl models pull torchvision:resnet18
   bnctl models pull hf:timm/resnet18.a1_in1k
   bnctl models pull https://example.org/net.onnx s3://bucket/net.bnm oci://registry/net:v1

Sources and credentials: docs/stores.md.`,
			Action: run(pull)},
		{Name: "cache", Usage: "the files that were fetched from other machines",
			Description: `   bnctl models cache list
   bnctl models cache remove all`,
			Subcommands: []*cli.Command{
				{Name: "list", Usage: "each file with its source, size and SHA-256",
					Description: `   bnctl models cache list
   bnctl models cache list --json`, Action: run(list)},
				{Name: "remove", Usage: "remove files from the cache: by source or SHA-256, or all",
					ArgsUsage: "SOURCE|SHA256|all...",
					Description: `   bnctl models cache remove torchvision:resnet18
   bnctl models cache remove all`, Action: run(remove)},
			}},
	}
}

// pulled is the event that reports a fetched file.
type pulled struct {
	Source string `json:"source"`
	Path   string `json:"path"`
	Sum    string `json:"sha256,omitempty"`
}

func pull(c *cli.Context, out Output) error {
	if c.NArg() == 0 {
		return commandline.Misuse("models pull needs SOURCE, for example torchvision:resnet18")
	}
	for _, source := range c.Args().Slice() {
		r, ok := regular.RemoteOf(source).(*store.Store)
		if !ok {
			return problem.New("", "", source+" is not on another machine",
				"write torchvision:NAME, hf:OWNER/NAME, https://, s3://, gs:// or oci://")
		}
		path, sum, err := r.Pull(source)
		if err == nil {
			err = pretrained.Complete(&modelfile.Options{}, source, true) // this fetches the configs too
		}
		if err != nil {
			return err
		}
		out.Event("pulled", pulled{store.Redact(source), path, sum})
		out.Result("%s  %s", sum, path)
	}
	return nil
}

func list(c *cli.Context, out Output) error {
	if c.NArg() > 0 {
		return commandline.Misuse("models cache list accepts no argument %q", c.Args().First())
	}
	s, err := open(c)
	if err != nil {
		return err
	}
	files, others, err := s.Cached()
	if err != nil {
		return err
	}
	for _, f := range files {
		out.Event("cached", f)
		out.Result("%s  %10s  %s", f.Sum, megabytes(f.Size), f.URL)
	}
	out.Result("%s in %s; %s of data and of downloads that are not complete", problem.Plural(len(files), "file"),
		s.Folder(), megabytes(others))
	return nil
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }

func remove(c *cli.Context, out Output) error {
	if c.NArg() == 0 {
		return commandline.Misuse("models cache remove needs SOURCE, a SHA-256, or all")
	}
	s, err := open(c)
	if err != nil {
		return err
	}
	for _, text := range c.Args().Slice() {
		n, err := s.Remove(text)
		if err != nil {
			return err
		}
		if n == 0 && text != "all" {
			return problem.Failure("", "the cache has no file of "+store.Redact(text),
				"models cache list shows its files")
		}
		out.Event("removed", map[string]any{"source": store.Redact(text), "files": n})
		out.Result("%s removed", problem.Plural(n, "file"))
	}
	return nil
}
