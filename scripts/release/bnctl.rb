# The formula of Homebrew: brew install --formula ./bnctl.rb
class Bnctl < Formula
  desc "Trains batch-normalised networks on many devices, strips, predicts and serves"
  homepage "https://github.com/bnctl/bnctl"
  version "@VERSION@"
  license "Apache-2.0"

  on_macos do
    on_arm do
      url "https://github.com/bnctl/bnctl/releases/download/v@VERSION@/bnctl-@VERSION@-darwin-arm64.tar.gz"
      sha256 "@DARWIN_ARM64@"
    end
  end
  on_linux do
    on_intel do
      url "https://github.com/bnctl/bnctl/releases/download/v@VERSION@/bnctl-@VERSION@-linux-amd64.tar.gz"
      sha256 "@LINUX_AMD64@"
    end
    on_arm do
      url "https://github.com/bnctl/bnctl/releases/download/v@VERSION@/bnctl-@VERSION@-linux-arm64.tar.gz"
      sha256 "@LINUX_ARM64@"
    end
  end

  def install
    bin.install Dir["bnctl", "bnctl-*"]
    man1.install Dir["man/*"]
    bash_completion.install "completion/bnctl.bash" => "bnctl"
    zsh_completion.install "completion/bnctl.zsh" => "_bnctl"
    fish_completion.install "completion/bnctl.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/bnctl --version")
    system bin/"bnctl", "train", "--model", "mlp-bn", "--data", "glyphs:200", "--epochs", "1", "-o", testpath/"glyphs.bnm"
  end
end
