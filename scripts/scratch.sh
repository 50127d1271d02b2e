#!/usr/bin/env bash
# scratch.sh BNCTL [STARTS]: builds docs/examples/service with a model of BNCTL, makes an image FROM scratch of both with
# buildah, and writes it as an OCI archive. It unpacks the image, and starts the service in a container of runc with
# processes, mounts and a user of its own, as often as STARTS (15) says: until the first picture is answered. It prints
# sizes and times as JSON, for docs/results/scratch.json; JSON=FILE keeps them. The container has the network of this
# machine and no limits. It needs Linux and root.
set -euo pipefail
bnctl=$(realpath "$1") starts=${2:-15}
cd "$(dirname "$(dirname "$(realpath "$0")")")"
command -v buildah >/dev/null && command -v runc >/dev/null || {
	echo "scratch: installing buildah and runc" >&2
	{ apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends buildah runc; } >&2
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root="buildah --storage-driver vfs --root $work/storage --runroot $work/run"
mkdir "$work/image" "$work/oci" "$work/bundle" "$work/bundle/root"
CGO_ENABLED=0 ${GO:-go} build -trimpath -ldflags "-s -w" -o "$work/image/service" ./docs/examples/service
"$bnctl" train --quiet --model lenet-bn --data glyphs:200 --epochs 1 -o "$work/model.bnm" >/dev/null
mv "$work/model.bnm" "$work/image/model.bnm"
chmod 644 "$work/image/model.bnm"
$root bud --quiet --isolation chroot -f docs/examples/service/Dockerfile -t service "$work/image" >/dev/null
$root push --quiet service "oci-archive:$work/image.tar" >/dev/null
tar xf "$work/image.tar" -C "$work/oci"
(cd "$work/bundle" && runc spec && mv config.json usual.json)
python3 - "$work" "$starts" "${JSON:-/dev/stdout}" data/testdata/progressive.jpg <<'END'
import gzip, json, os, shutil, socket, statistics, subprocess, sys, tarfile, time, urllib.request

work, starts, output, picture = sys.argv[1], int(sys.argv[2]), sys.argv[3], open(sys.argv[4], "rb").read()
read = lambda digest: os.path.join(work, "oci/blobs", digest.replace(":", "/"))
manifest = json.load(open(read(json.load(open(work + "/oci/index.json"))["manifests"][0]["digest"])))
image = json.load(open(read(manifest["config"]["digest"])))["config"]
for layer in manifest["layers"]:
    with tarfile.open(read(layer["digest"])) as files:
        names = sorted(n.lstrip("./") for n in files.getnames() if n.strip("./"))
        files.extractall(work + "/bundle/root")
assert names == ["model.bnm", "service"], names
assert image["Entrypoint"] == ["/service", ":8000", "/model.bnm"], image


def free():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def start(number):
    """The time to the first answer, the processor time of the service so far, and its largest resident memory."""
    address, name = "127.0.0.1:%d" % free(), "bnctl-scratch-%d-%d" % (os.getpid(), number)
    spec = json.load(open(work + "/bundle/usual.json"))
    spec["root"] = {"path": "root"}
    spec["process"].update(terminal=False, args=[image["Entrypoint"][0], address, image["Entrypoint"][2]], env=[],
                           user={"uid": 65532, "gid": 65532})
    spec["mounts"] = [m for m in spec["mounts"] if m["destination"] == "/proc"]
    spec["linux"]["namespaces"] = [n for n in spec["linux"]["namespaces"] if n["type"] not in ("network", "cgroup")]
    spec["linux"].pop("resources", None)
    json.dump(spec, open(work + "/bundle/config.json", "w"))
    began = time.monotonic()
    with open(work + "/log", "w") as log:
        container = subprocess.Popen(["runc", "run", "-b", work + "/bundle", name], stdin=subprocess.DEVNULL, stdout=log,
                                     stderr=log)
    try:
        while True:
            try:
                with urllib.request.urlopen("http://%s/classify" % address, picture, timeout=60) as answer:
                    assert len(json.load(answer)) == 3
                break
            except OSError:
                if container.poll() is not None or time.monotonic() > began + 60:
                    sys.exit("scratch: " + open(work + "/log").read())
                time.sleep(0.002)
        took = time.monotonic() - began
        pid = json.loads(subprocess.run(["runc", "state", name], check=True, capture_output=True).stdout)["pid"]
        stat = open("/proc/%d/stat" % pid).read().rsplit(")", 1)[1].split()
        used = (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK")
        resident = next(int(line.split()[1]) for line in open("/proc/%d/status" % pid) if line.startswith("VmHWM"))
    finally:
        subprocess.run(["runc", "kill", name, "KILL"], capture_output=True)
        container.wait()
    return took * 1000, used * 1000, resident / 1024


os.chmod(work, 0o755)
runs = [start(i) for i in range(starts)]
of = lambda i: "%.0f ms (least %.0f)" % (statistics.median(r[i] for r in runs), min(r[i] for r in runs))
size = lambda path: "%.1f" % (os.path.getsize(path) / 1e6)
packed = len(gzip.compress(open(work + "/image/service", "rb").read())) / 1e6
processor = next(line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name"))
json.dump({
    "processor": "%s, %d cores" % (processor, os.cpu_count()), "command": "make scratch", "measured": time.strftime("%Y-%m-%d"),
    "conditions": "lenet-bn; a container of runc with the image's two files, without environment; %d starts; load %.0f" % (
        starts, os.getloadavg()[0]),
    "columns": ["figure", "is"],
    "rows": [["image, an OCI archive", size(work + "/image.tar") + " MB"],
             ["binary (`-ldflags \"-s -w\"`), compressed", "%s, %.1f MB" % (size(work + "/image/service"), packed)],
             ["model", size(work + "/image/model.bnm") + " MB"],
             ["start to the first answer, processor time of the service", of(1)],
             ["start of the container to the first answer, by the clock", of(0)],
             ["resident", "%.0f MiB" % max(r[2] for r in runs)]]}, open(output, "w"), indent=1)
END
