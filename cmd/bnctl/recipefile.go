package main

import (
	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/cmd/bnctl/internal/commandline"
	"github.com/bnctl/bnctl/cmd/bnctl/internal/recipefile"
	"github.com/bnctl/bnctl/models"
)

// flagsOfFiles returns the flags that a recipe file may set.
func flagsOfFiles() recipefile.Flags {
	return recipefile.Flags{Recipe: recipeFlags(), Run: runFlags(), Check: commandline.CheckValue}
}

// applyRecipeFile sets the flags in the file of --recipe that are not set on the command line, and then the
// flags in --preset that are still not set. It returns the text of the preset, or nil without one.
func applyRecipeFile(c *cli.Context) (preset []byte, err error) {
	if path := c.String("recipe"); path != "" {
		f, err := recipefile.Read(path)
		if err != nil {
			return nil, err
		}
		if err := flagsOfFiles().Apply(c, f); err != nil {
			return nil, misuse("%s: %v", path, err)
		}
	}
	if !c.IsSet("preset") {
		return nil, nil
	}
	if c.IsSet("resume") && c.String("resume") != "auto" {
		return nil, misadvise("leave it out", "--preset means nothing here: the checkpoint has its recipe")
	}
	f, text, err := recipefile.Preset(c.String("preset"))
	if err != nil {
		return nil, err
	}
	f.Without(c.IsSet)
	return text, flagsOfFiles().Apply(c, f)
}

// printRecipe prints the flags that are set in the form of a recipe file, with the comments of a preset.
func printRecipe(c *cli.Context, preset []byte) error {
	f := flagsOfFiles().Given(c)
	_, err := outputOf(c).stdout.Write([]byte(f.Text(preset)))
	return err
}

// checkPreset returns an error if the preset finetune is used without weights to start from.
func checkPreset(c *cli.Context, resumed bool) error {
	if c.String("preset") != "finetune" || resumed || c.String("init") != "" {
		return nil
	}
	if _, err := models.Lookup(c.String("model")); err != nil {
		return nil // the model is a file, which has weights
	}
	return misadvise("name some with --init FILE or --model FILE, or use --preset photos",
		"--preset finetune continues from weights, and a new %s has no weights", c.String("model"))
}
