# Every target runs from a clean checkout. Only Go is needed for build, test and check.
# scripts/README.md says what each target and script does, and what it needs.

GO ?= go
# urfave/cli without its writers of Markdown and man pages, which nothing here uses.
TAGS = urfave_cli_no_docs
# Programs are built without cgo. With it, tests would compile net, and the 181 packages here that import it,
# a second time. The race detector and the emulation of AMX need it.
export CGO_ENABLED ?= 0
# How long the tests of a package may take. Waits end by themselves: this is for a test that never ends, and a
# busy machine is no fault.
PATIENT = -timeout 3h

.PHONY: build
build: ## bin/bnctl (static), the plugins for CUDA and OpenCL, the fabric for MPI
	CGO_ENABLED=0 $(GO) build -tags $(TAGS) -o bin/bnctl ./cmd/bnctl
	CGO_ENABLED=0 $(GO) build -o bin/bnctl-device-cuda ./plugins/cuda/bnctl-device-cuda
	CGO_ENABLED=0 $(GO) build -o bin/bnctl-device-opencl ./plugins/opencl/bnctl-device-opencl
	CGO_ENABLED=0 $(GO) build -o bin/bnctl-fabric-mpi ./plugins/mpi/bnctl-fabric-mpi

.PHONY: test
test: ## all tests that need nothing but Go
	$(GO) vet -tags $(TAGS) ./...
	$(GO) test -tags $(TAGS) -vet=off $(PATIENT) ./...

.PHONY: test-times
test-times: ## the processor time of make test by package and test function (TARGETS="test check", KEEP=FILE; Linux)
	$(GO) build -o bin/testtimes ./scripts/testtimes
	@bin/testtimes $(if $(KEEP),-keep $(KEEP)) $(MAKE) $(or $(TARGETS),test)

.PHONY: check
check: ## what CI runs in addition: the targets below; make -j2 -O check runs two at a time
check: check-style check-race check-machines check-kernels check-systems check-story check-proofs

.PHONY: check-style
check-style: ## gofmt and staticcheck
	test -z "$$(gofmt -l $$(git ls-files '*.go'))"
	GOGC=400 $(GO) tool staticcheck -tags $(TAGS) ./...

# Only kernels differ without assembly: what trains is tested where a test trains on the CPU device. The tests of
# kernels compare bits, so that numbers of other programs are left to make test.
.PHONY: check-kernels
check-kernels: ## kernels without assembly, and the contract for the sets of kernels that make test leaves out
	$(GO) test -vet=off $(PATIENT) -short -tags purego ./plugins/cpu/internal/kernel ./plugins/cpu/internal/convolution \
		./plugins/cpu/internal/operations ./plugins/cpu/internal/machine
	$(GO) test -vet=off $(PATIENT) -short -tags purego -run 'Order|OpsAgainstRef|ReplicaAlone' ./plugins/cpu/internal/cpu
	$(GO) test -vet=off $(PATIENT) -short -tags purego -run "^($$(sh scripts/cputests.sh train/*_test.go))$$" \
		-skip 'AsIn(PyTorch|Torchvision)$$' ./train
	BNCTL_CONFORMANCE=rest $(GO) test -vet=off $(PATIENT) -run Conformance ./plugins/cpu/internal/cpu

# Packages that start goroutines, without the tests that only compute, decode or unpack, or that compare a run with
# numbers of other programs.
COMPUTING = TestRef|TestClassCases.*|TestTorchvision.*|TestSameBitsAsProcesses|TestArchivesBad|TestBadArchives|TestBadZippedShards|TestCutArchives|$\
	TestMNISTBad|TestReal.*|TestReadNPYLarge|TestGlyphsAreLearnable|TestDecodeInStrips.*|TestBoxesMoveWithPixels|TestLetterboxOfAFile|$\
	TestThreeStepsAsInPyTorch|TestPixelNetsAsInTorchvision|TestRecompute(LeavesWhatIsFused|HalvesActivations)|TestStripUndoesWrap|$\
	TestFewImagesOverReplicas
# Detectors that differ in their networks and losses alone: TestDetectorsInEveryWay trains one of each.
DETECTORS = fcos|fcos,_replica|retinanet|retinanet_v2|ssd|ssd,_replica|yolox|yolox,_replica|frozen|repeat
.PHONY: check-race
check-race: ## the race detector
	CGO_ENABLED=1 $(GO) test -vet=off $(PATIENT) -race -short -skip '^($(COMPUTING))$$|^TestDetectorOnDevices$$/^($(DETECTORS))$$' \
		./device/collective ./data ./device/devicetest ./device/internal/shm ./parallel ./train ./inprocess ./bnctltest \
		./device/serve ./device/machine ./fleet

# macOS on arm64 is built by check-systems: here only what has files for arm64 is vetted, with its tests.
.PHONY: check-machines
check-machines: ## arm64, and x86-64 with SSE2 alone, under qemu-user
	GOARCH=arm64 $(GO) vet $$(git ls-files '*_arm64*.go' '*_amd64*.go' | xargs -n 1 dirname | sort -u | sed 's|^|./|')
	GO=$(GO) sh scripts/machines.sh

.PHONY: check-systems
check-systems: ## builds for macOS, Windows and WebAssembly
	GO=$(GO) sh scripts/systems.sh

.PHONY: check-proofs
check-proofs: ## the contract's cases find mutants of GPU kernels, some of each (make test-mutants: all)
	BNCTL_PTX=few $(GO) test -vet=off $(PATIENT) -count=1 -run '^(TestMutants|TestBarriers)$$' ./plugins/cuda/internal/cuda

.PHONY: check-story
check-story: ## the demo and the tutorial, as a user runs them (a minute)
	BNCTL_STORY=full $(GO) test -vet=off $(PATIENT) -count=1 -run 'TestTutorial|TestScripts/^(demo|reproducereadme)$$' ./cmd/bnctl

# RECIPE picks the recipe: see scripts/README.md.
.PHONY: test-arm64
test-arm64: build ## README's recipe by an arm64 build under qemu-user: the same bytes (minutes)
	command -v qemu-aarch64 >/dev/null || { apt-get update -q && \
		DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends qemu-user; }
	GO=$(GO) sh scripts/arm64.sh bin/bnctl $(RECIPE)

# ARCHITECTURES picks some of them.
.PHONY: sums-architectures
sums-architectures: ## golden vectors, recipes, an int8 template and a prediction on amd64 (v1, v3), arm64, riscv64, ppc64le and s390x: one sum of each (minutes of one core for each; qemu-user)
	command -v qemu-riscv64 >/dev/null || { apt-get update -q && \
		DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends qemu-user; }
	GO=$(GO) bash scripts/architectures.sh $(ARCHITECTURES)

.PHONY: vectors vectors-check
vectors: ## the golden vectors of the folder spec, by device/ref
	$(GO) run ./scripts/vectors

vectors-check: ## the golden vectors are those that device/ref makes
	$(GO) run ./scripts/vectors -check

.PHONY: test-vectors
test-vectors: ## every bit of every result in spec, flipped: all are found; numpy computes the vectors again (five minutes of one core; Debian's python3-numpy; ONLY=int8/1 flips every bit of these vectors alone)
	BNCTL_MUTATIONS=$(or $(ONLY),all) $(GO) test $(PATIENT) -count=1 -v -run Mutations ./spec
	$(GO) test $(PATIENT) -count=1 -v ./docs/examples/vectors-numpy

.PHONY: test-activations
test-activations: ## exp, log, sigmoid, tanh, erf and the activations of all 2^32 float32: their error, and the kernels of this machine by bits (20 minutes; ONLY=gelu)
	BNCTL_ACTIVATIONS=$(or $(ACTIVATIONS),all) $(GO) test -timeout 24h -count=1 -v -run 'ActivationsOfAllNumbers/$(ONLY)' ./plugins/cpu/internal/kernel

# COUNT is the number of draws of every case, SEED the first.
.PHONY: test-division
test-division: ## every operation, divided over 1 to 5 threads in random ways, against the definitions by bits; every fault in a division must be found (half an hour; COUNT=20, SEED=1)
	BNCTL_DIVISION=$(or $(COUNT),20) BNCTL_SEED=$(or $(SEED),1) $(GO) test $(PATIENT) -count=1 -v -run TestDivision ./plugins/cpu/internal/cpu

.PHONY: sums-activations
sums-activations: build ## EfficientNet-B0, MobileNetV3-large and a network of all other activations, trained 10 steps: one sum on every device (minutes; PyTorch, PoCL, qemu-user)
	mkdir -p bin/networks && python3 -W ignore scripts/peers/networks.py bin/networks 32 efficientnet-b0 mobilenetv3-large
	ONLY='activations|train.onnx' NETWORKS=bin/networks bash scripts/sums.sh bin/bnctl . 100 cpu avx2:cpu purego:cpu arm64:cpu \
		threads1:cpu 2xcpu 3xcpu 4xcpu 5xcpu 6xcpu 7xcpu 8xcpu opencl:0 kill:cpu,opencl:0

.PHONY: sums-attention
sums-attention: build ## ConvNeXt-tiny, a ViT of 4 blocks and a network of group, layer and instance norm, trained 10 steps: one sum on every device (an hour; PyTorch, PoCL, qemu-user)
	mkdir -p bin/sequences && python3 -W ignore scripts/peers/networks.py bin/sequences 32 convnext-tiny vit-4
	ONLY='norms.graph|train.onnx' NETWORKS=bin/sequences bash scripts/sums.sh bin/bnctl . 100 cpu avx2:cpu purego:cpu arm64:cpu \
		threads1:cpu 2xcpu 3xcpu 4xcpu 5xcpu 6xcpu 7xcpu 8xcpu opencl:0 kill:cpu,opencl:0

# DATA has cifar10/.
.PHONY: sums-feed
sums-feed: build ## augmentation, mixing, class weights and the losses of several labels and of numbers: one sum on every device, rank, accumulation and resume (an hour; PoCL, Open MPI, qemu-user)
	COMMAND='make sums-feed' ONLY='randaugment|trivial' bash scripts/sums.sh bin/bnctl $(or $(DATA),../shared/data) 100 cpu avx2:cpu purego:cpu arm64:cpu threads1:cpu \
		2xcpu 3xcpu 4xcpu 5xcpu 6xcpu 7xcpu 8xcpu opencl:0 kill:cpu,opencl:0 ranks2:cpu ranks3:2xcpu ranks4:cpu accumulate2:cpu resumed:3xcpu

# DATA has bccd.tar.gz.
.PHONY: sums-detectors
sums-detectors: build ## all kinds of detectors, trained 3 steps on pictures of blood cells: one sum on every kind of device, rank, stages and resume (PoCL, Open MPI, qemu-user; half an hour; goes on where it was ended)
	COMMAND='make sums-detectors' ONLY='$(or $(ONLY),bccd)' SUMS=$(or $(SUMS),bin/sums-detectors) bash scripts/sums.sh bin/bnctl $(or $(DATA),../shared/data) \
		100 cpu 2xcpu 3xcpu opencl:0 cpu,opencl:0 kill:cpu,opencl:0 resumed:2xcpu stages2:2xcpu ranks2:cpu avx2:cpu allarm64:cpu

# ONLY and JSON: see scripts/README.md.
.PHONY: sums-zoo
sums-zoo: build ## every network of the zoo at its published size, 3 rows and 1, trained and predicting: one sum on 1 and 2 threads and devices (many hours; SHORT=1: 1 step instead of 2, and three ways instead of five; goes on where it was ended)
	COMMAND="make sums-zoo$(if $(SHORT), SHORT=1)" ZOO=$(if $(SHORT),short,1) SUMS=$(or $(SUMS),bin/sums-zoo) bash scripts/sums.sh bin/bnctl . 100 \
		threads1:cpu threads2:cpu threads2:2xcpu $(if $(SHORT),,threads1:2xcpu avx2:cpu)

.PHONY: sums-int8
sums-int8: build ## the logits of 1,000 pictures by a small int8 template: one sum with every kernel and device (PoCL, qemu-user; the interpreter of PTX takes minutes)
	PATH="$(CURDIR)/bin:$$PATH" bash scripts/int8sums.sh bin/bnctl $(WAYS)

.PHONY: sums-qdq
sums-qdq: build ## files in QDQ form, one of each pattern and random ones: the bits of the rule in NumPy with every kernel and device (WAYS=, JSON=FILE; PoCL, qemu-user; half an hour)
	sh scripts/peers.sh >/dev/null && PATH="$(CURDIR)/bin:$$PATH" JSON=$(JSON) /usr/bin/python3 scripts/peers/qdqsums.py bin/bnctl $(WAYS)

.PHONY: sums-qat
sums-qat: build ## training for int8 on 1, 2 and 3 devices, with OpenCL, killed and resumed: one template, and the loss of the last epoch is the template's (DEVICES=; minutes)
	PATH="$(CURDIR)/bin:$$PATH" bash scripts/qatsums.sh bin/bnctl

.PHONY: layers-qdq
layers-qdq: build ## each layer of FILE, in QDQ form or with DynamicQuantizeLinear, alone and from the same numbers, beside ONNX Runtime: the bytes that differ (LAYERS=, INPUT=; minutes)
	NODE_PATH=$$(sh scripts/peers.sh) /usr/bin/python3 scripts/peers/qdqlayers.py bin/bnctl $(FILE) $(LAYERS)

.PHONY: bench-qdq
bench-qdq: build ## speed of the quantised files in the folder FILES on one thread, beside ONNX Runtime and --qdq float, in turn (ROUNDS=5, JSON=FILE; half an hour on an idle machine)
	NODE_PATH=$$(sh scripts/peers.sh) ROUNDS=$(or $(ROUNDS),5) /usr/bin/python3 scripts/peers/qdqtable.py bin/bnctl $(FILES) $(JSON)

.PHONY: bytes-qdq
bytes-qdq: build ## bytes of ONNX Runtime that differ from the rule, by pattern, which needs VNNI (COUNT=, JSON=FILE; minutes)
	NODE_PATH=$$(sh scripts/peers.sh) /usr/bin/python3 scripts/peers/qdqbytes.py bin/bnctl $(or $(COUNT),40) $(JSON)

.PHONY: survey-qdq
survey-qdq: build ## quantised ONNX files in the folder FILES beside ONNX Runtime: layers in bytes, differences, sums, speed (SPEED=0 without, JSON=FILE)
	NODE_PATH=$$(sh scripts/peers.sh) SPEED=$(or $(SPEED),1) /usr/bin/python3 scripts/peers/qdqtable.py bin/bnctl $(FILES) $(JSON)

.PHONY: test-steps
test-steps: build ## one training step of every network beside PyTorch, which it installs (half an hour; goes on where it was ended)
	sh scripts/peers.sh >/dev/null && mkdir -p bin/steps && /usr/bin/python3 -W ignore scripts/peers/steps.py bin/steps bin/bnctl

# The packages in which the class of the kernels changes results. None of them imports net, which cgo compiles again
# with all packages above it.
COMPUTES = ./plugins/cpu/internal/kernel ./plugins/cpu/internal/convolution ./plugins/cpu/internal/operations \
	./plugins/cpu/internal/cpu ./plugins/cpu/internal/machine

.PHONY: test-amx
test-amx: ## kernels and CPU device in class amx (Linux, gcc, AVX512_BF16)
	$(GO) test -C plugins/cpu/internal/kernel/_asm .
	CGO_ENABLED=1 $(GO) vet -tags amxemulation ./plugins/cpu/internal/...
	if grep -qw amx_bf16 /proc/cpuinfo; then $(GO) test -vet=off $(PATIENT) ./plugins/cpu/...; \
		else CGO_ENABLED=1 $(GO) test -vet=off $(PATIENT) -tags amxemulation $(COMPUTES); fi

.PHONY: test-opencl
test-opencl: build ## the OpenCL device on PoCL, which it installs (Debian)
	clinfo -l 2>/dev/null | grep -q Device || { apt-get update -q && \
		DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends clinfo pocl-opencl-icd ocl-icd-libopencl1; }
	$(GO) vet -tags opencl ./plugins/opencl/...
	$(GO) test -vet=off $(PATIENT) -tags opencl ./plugins/opencl/...
	bash scripts/stagesopencl.sh bin/bnctl

.PHONY: bench-opencl
bench-opencl: ## networks on the OpenCL device beside the CPU device (minutes)
	$(GO) test $(PATIENT) -tags opencl -run '^$$' -bench Networks -benchtime 1x ./plugins/opencl/internal/opencl

.PHONY: kernel-table
kernel-table: ## the kernels of GPUs, estimated from their PTX
	@$(GO) run ./scripts/kerneltable

.PHONY: test-mpi
test-mpi: build ## ranks under Open MPI and MPICH, which it installs (Debian)
	command -v mpirun.openmpi >/dev/null && command -v mpirun.mpich >/dev/null || { apt-get update -q && \
		DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends \
		openmpi-bin libopenmpi3 mpich libmpich12; }
	$(GO) vet -tags mpi ./plugins/mpi/...
	$(GO) test $(PATIENT) -count=1 -tags mpi ./plugins/mpi/...
	bash scripts/mpi.sh short bin/bnctl

.PHONY: sweep-mpi
sweep-mpi: build ## twelve recipes on 1 to 4 ranks, killed and resumed (half an hour)
	bash scripts/mpi.sh sweep bin/bnctl

.PHONY: bench-mpi
bench-mpi: build ## what messages, exchanges and steps of ranks cost (three minutes)
	$(GO) test -tags mpi -c -o bin/mpi.test ./plugins/mpi
	$(GO) build -o bin/turns ./scripts/turns
	bash scripts/costmpi.sh bin/bnctl bin/mpi.test bin/turns

.PHONY: test-ptx
test-ptx: ## the CUDA device on an interpreter of PTX: all conformance cases (minutes)
	BNCTL_PTX=full $(GO) test $(PATIENT) -count=1 ./plugins/cuda/...

.PHONY: test-mutants
test-mutants: ## one ulp planted in each store of a GPU kernel, and each barrier removed, must be found (minutes)
	BNCTL_PTX=mutants $(GO) test $(PATIENT) -count=1 -v -run "TestMutants|TestBarriers" ./plugins/cuda/internal/cuda

.PHONY: cuda-binary
cuda-binary: ## bin/cuda.test, for a machine with an NVIDIA GPU
	$(GO) vet -tags cuda ./plugins/cuda/internal/cuda
	CGO_ENABLED=0 $(GO) test -tags cuda -c -o bin/cuda.test ./plugins/cuda/internal/cuda
	bin/cuda.test -test.run TestBinary

.PHONY: gpu-kit
gpu-kit: ## bin/gpu-kit: what scripts/gpu.sh needs on a machine with an NVIDIA GPU, for a run of six minutes (Python)
	GO=$(GO) bash scripts/gpukit.sh bin/gpu-kit

.PHONY: test-gpu-kit
test-gpu-kit: gpu-kit ## that run on the CPU, with tiny limits: every step has its line
	bash scripts/gputest.sh bin/gpu-kit bin/gpu-test

.PHONY: test-cuda
test-cuda: cuda-binary ## conformance, cases and training by bits, with an NVIDIA GPU
	bin/cuda.test -test.run Hardware -test.v -test.timeout 60m

.PHONY: bench-cuda
bench-cuda: build ## images/s of two networks, with an NVIDIA GPU
	for mode in infer train; do for network in resnet50 mobilenetv2; do \
		bin/bnctl bench $$network --mode $$mode --batch 64 --devices cuda:0 || exit 1; done; done

.PHONY: chaos-mpi
chaos-mpi: build ## machines in namespaces, devices and ranks killed (Linux, root, half an hour)
	bash scripts/chaosmpi.sh bin/bnctl

# RUNS, ONLY, SEED, KEEP: see scripts/chaosmachines.sh.
.PHONY: chaos-machines
chaos-machines: build ## a host and machines that join, leave, are killed and cut off, over two slow networks: one template for each of 12 recipes (Linux, root, an hour; goes on where it was ended)
	$(GO) build -o bin/slowlink ./scripts/slowlink
	bash scripts/chaosmachines.sh bin/bnctl bin/slowlink

# JSON, ONLY: see scripts/benchmachines.py.
.PHONY: bench-machines
bench-machines: build ## three machines of half a core each, resnet20 and resnet50 at 64x64, beside a model of the step (Linux, root, ten minutes)
	$(GO) build -o bin/slowlink ./scripts/slowlink
	python3 scripts/benchmachines.py bin/bnctl bin/slowlink

.PHONY: check-manifests
check-manifests: ## manifests of server/deploy against the types of Kubernetes, and units against systemd's
	cd scripts/manifests && $(GO) test -count=1 .
	@if command -v systemd-analyze >/dev/null; then dir=$$(mktemp -d); for unit in server/deploy/*.service; do \
		sed 's|^ExecStart=/usr/bin/bnctl|ExecStart=/bin/true|' $$unit >$$dir/$${unit##*/}; \
		systemd-analyze verify --man=no $$dir/$${unit##*/} || exit 1; done; rm -r $$dir; \
		else echo "units: systemd-analyze is missing, so they are not checked"; fi

.PHONY: test-machine-serve
test-machine-serve: build ## predict, eval and serve on other machines, which join, are killed and leave: no answer lost or changed
	python3 scripts/machineserve.py bin/bnctl

.PHONY: test-machine-languages
test-machine-languages: build ## the example devices in Python and Node.js behind devices serve: the template of the same devices here
	bash scripts/machinelanguages.sh bin/bnctl

.PHONY: test-peers
test-peers: ## goldens and formats against PyTorch and others, which it installs
	NODE_PATH=$$(sh scripts/peers.sh) BNCTL_PEERS=1 $(GO) test $(PATIENT) -count=1 -run Peer ./...

.PHONY: test-random-graphs
test-random-graphs: build ## COUNT=200 random modules of PyTorch and graphs of ONNX from SEED=0 on, beside ONNX Runtime (seconds each)
	NODE_PATH=$$(sh scripts/peers.sh) nice /usr/bin/python3 scripts/peers/randomgraphs.py bin/bnctl $(or $(COUNT),200) $(or $(SEED),0)

.PHONY: test-detectors
test-detectors: build ## boxes of detectors in ONNX, of the repositories in FOLDER and made by PyTorch, beside ONNX Runtime (JSON=FILE; minutes)
	NODE_PATH=$$(sh scripts/peers.sh) /usr/bin/python3 -W ignore scripts/peers/detectors.py $(or $(FOLDER),.) bin/bnctl > $(or $(JSON),/dev/null)

.PHONY: bench-detectors
bench-detectors: build ## pictures through detectors with their suppression, beside ONNX Runtime (ROUNDS=9, JSON=FILE; minutes)
	NODE_PATH=$$(sh scripts/peers.sh) /usr/bin/python3 -W ignore scripts/peers/detectorspeed.py bin/bnctl python $(JSON)

.PHONY: test-random-recipes
test-random-recipes: build ## COUNT=50 random modules, optimizers, losses and schedules from SEED=0 on, trained beside PyTorch
	NODE_PATH=$$(sh scripts/peers.sh) nice /usr/bin/python3 scripts/peers/randomrecipes.py bin/bnctl $(or $(COUNT),50) $(or $(SEED),0)

.PHONY: test-strangers
test-strangers: build ## ten networks of PyTorch's users, through ONNX and models draft into training and back (PyTorch 1.13 and 2.6, minutes)
	sh scripts/peers.sh >/dev/null
	bash scripts/strangers.sh bin/bnctl bin/strangers

.PHONY: test-qdq
test-qdq: build ## 2,000 random graphs in QDQ form beside the rule in NumPy and ONNX Runtime, which it installs (COUNT=, SEED=, JSON=FILE; minutes)
	NODE_PATH=$$(sh scripts/peers.sh) /usr/bin/python3 scripts/peers/qdqgraphs.py bin/bnctl $(or $(COUNT),2000) $(or $(SEED),1) \
		$(if $(JSON),--json $(JSON))

.PHONY: test-view
test-view: build ## the view of a run in tmux, which it installs: four sizes, resized in mid-run, stopped (a minute)
	command -v tmux >/dev/null || { apt-get update -q && \
		DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends tmux; }
	bash scripts/view.sh bin/bnctl bin/view

.PHONY: picture-view
picture-view: build ## docs/view.svg, of a run that it makes, in which a device is killed (Linux, a minute)
	bash scripts/viewpicture.sh bin/bnctl cmd/bnctl/internal/view/testdata/run.jsonl
	$(GO) test -count=1 -run Picture ./cmd/bnctl/internal/view -keep

.PHONY: test-node-cases
test-node-cases: ## ONNX's backend cases of single operators, in a Debian 13
	mkdir -p bin/node-cases
	MODELS=$(CURDIR)/bin/node-cases sh scripts/enter.sh "$$(sh scripts/debian13.sh)" python3 - /models <formats/onnx/testdata/node_cases.py
	BNCTL_NODE_CASES=$(CURDIR)/bin/node-cases $(GO) test -count=1 -v -run TestNodeCases ./formats/onnx

# ROWS, ONLY, WITHOUT, PYTHON, ISA, PATIENCE and JSON: see scripts/README.md.
.PHONY: bench-peers
bench-peers: build ## speed beside ONNX Runtime, oneDNN and PyTorch, which it installs
	$(GO) run ./scripts/benchpeers -models "$$(sh scripts/peers.sh models)" -modules "$$(sh scripts/peers.sh $(ISA))" -isa "$(ISA)" \
		-debian13 "$$(sh scripts/debian13.sh)" -python "$(or $(PYTHON),/usr/bin/python3)" -rows "$(ROWS)" -only "$(ONLY)" -without "$(WITHOUT)" -patience $(or $(PATIENCE),5m) -json "$(JSON)"

# NETWORKS=resnet20 picks networks.
.PHONY: bench-serve
bench-serve: build ## serve under open-loop load (Linux, 8 minutes)
	$(GO) build -o bin/benchserve ./scripts/benchserve
	taskset -c 0 bin/benchserve -device 1 $(if $(NETWORKS),-networks "$(NETWORKS)")

.PHONY: bench-serve-peers
bench-serve-peers: build ## serve beside Node and FastAPI, which it installs (6 minutes)
	/usr/bin/python3 -c 'import fastapi, uvicorn' 2>/dev/null || { apt-get update -q && \
		DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends python3-fastapi python3-uvicorn python3-httptools; }
	$(GO) build -o bin/benchserve ./scripts/benchserve
	bin/benchserve -peers -models "$$(sh scripts/peers.sh models)" -modules "$$(sh scripts/peers.sh)" \
		$(if $(NETWORKS),-networks "$(NETWORKS)")

# CIFAR, SEED, EPOCHS and MODEL: see scripts/newuser.sh.
.PHONY: new-user
new-user: build ## a folder of photos from data info to serve, with the time of each step (minutes)
	bash scripts/newuser.sh bin/bnctl $(or $(CIFAR),../shared/data/cifar10/cifar10-jpg.tar.gz)

.PHONY: photos
photos: build ## the preset for photos beside PyTorch's recipes, three seeds each, and the time of each step of new-user (half an hour; SEEDS, JSON=FILE, TIMES=FILE)
	bash scripts/photos.sh bin/bnctl $(or $(CIFAR),../shared/data/cifar10/cifar10-jpg.tar.gz) $(SEEDS)

.PHONY: finetune
finetune: build ## resnet18 and efficientnet-b0, trained on with weights of other classes, beside PyTorch, three seeds (half an hour; JSON=FILE; goes on where it was ended)
	sh scripts/peers.sh >/dev/null && mkdir -p bin/finetune && $(or $(PYTHON),/usr/bin/python3) -W ignore scripts/peers/finetune.py bin/bnctl \
		$(or $(CIFAR),../shared/data/cifar10/cifar10-jpg.tar.gz) bin/finetune $(SEEDS)

.PHONY: int8-accuracy
int8-accuracy: build ## three published networks in int8 beside float32 on the 10,000 test pictures of CIFAR-10 (JSON=FILE)
	sh scripts/int8accuracy.sh bin/bnctl $(or $(DATA),../shared/data) $(JSON)

.PHONY: int8-training
int8-training: build ## a small network of depthwise layers on CIFAR-10 and on cells cut out of photos: float32, quantised, and trained for int8 by bnctl and by PyTorch, three seeds (an hour; JSON=FILE, EPOCHS=10, QAT_EPOCHS=3, TRAINED=1000, HELD=500, SEEDS='0 1 2'; goes on where it was ended)
	sh scripts/peers.sh >/dev/null && $(or $(PYTHON),/usr/bin/python3) -W ignore scripts/peers/int8training.py bin/bnctl $(or $(DATA),../shared/data) \
		bin/int8-training "$(or $(SEEDS),0 1 2)"

.PHONY: results
results: ## the tables of docs/results and README.md, from docs/results/*.json
	$(GO) run ./scripts/results

.PHONY: bench
bench: ## kernels, devices and the wire
	$(GO) test -run '^$$' -bench . -benchtime 0.3s ./plugins/cpu/... ./device/... ./data

.PHONY: generate
generate: ## generated code; must leave the tree clean
	$(GO) generate ./...

.PHONY: generate-check
generate-check: ## generated code is what its generators make
	GO=$(GO) sh scripts/generated.sh

.PHONY: sweep
sweep: build ## one template per recipe in every mode and placement (minutes)
	bash scripts/sweep.sh bin/bnctl

.PHONY: sweep-stages
sweep-stages: build ## ten random recipes over random cuts, by bytes (RECIPES=, SEED=, MODELS=; minutes)
	bash scripts/sweepstages.sh bin/bnctl $(or $(RECIPES),10) $(or $(SEED),1)

.PHONY: stages-memory
stages-memory: build ## a batch that a device with a limit of memory refuses, trained by two as stages (Linux, root; NETWORK=, BATCH=, MIB=)
	CGO_ENABLED=0 $(GO) build -o bin/bnctl-device-cpu ./plugins/cpu/bnctl-device-cpu
	bash scripts/stagesmemory.sh bin/bnctl bin/bnctl-device-cpu $(or $(NETWORK),resnet50) $(or $(BATCH),32) $(or $(MIB),2000)
	$(if $(NETWORK),,STAGES=2 bash scripts/stagesmemory.sh bin/bnctl bin/bnctl-device-cpu vgg16-bn 32 5200)

.PHONY: chaos
chaos: ## 100 devices and 10 hosts killed, the same template (minutes)
	BNCTL_CHAOS=full $(GO) test -count=1 -run TestKilledAtEveryCall -v $(PATIENT) ./train
	BNCTL_CHAOS=full $(GO) test -count=1 -run TestChaos -v -timeout 30m ./cmd/bnctl

.PHONY: leak
leak: ## goroutines, files, threads and memory do not grow (minutes)
	BNCTL_LEAK=full $(GO) test -count=1 -run TestNothingGrows -v $(PATIENT) ./cmd/bnctl

.PHONY: serve-long
serve-long: ## interleavings, reloads, malformed requests, slow clients (2 minutes)
	BNCTL_SERVE=full $(GO) test -count=1 -run "Killed|Reloads|Malformed" -v $(PATIENT) ./server

.PHONY: test-web
test-web: build ## the page of serve in headless Chromium, which it installs (Debian, npm)
	rm -rf bin/web && mkdir -p bin/web/models && bin/bnctl demo --quiet --keep bin/web && mv bin/web/glyphs.bnm bin/web/models
	bin/bnctl train --quiet --model unet-bn --data shapes:500 --val shapes:50@test --epochs 4 --batch 10 \
		--optimizer adamw --lr 0.003 --class-weights median -o bin/web/scenes.bnm
	mv bin/web/scenes.bnm bin/web/models
	NODE_PATH=$$(sh scripts/web.sh) node scripts/web/page.js bin/bnctl bin/web/models bin/web/page.png

.PHONY: test-report
test-report: build ## pages of runs in headless Chromium, light and dark, 400 and 1200 pixels; the picture of docs/report.md (Debian, npm)
	rm -rf bin/report && mkdir -p bin/report
	for bn in sync replica; do (cd bin/report && ../bnctl train --quiet --model lenet-bn --data glyphs:1500 --val glyphs:500@test --epochs 4 \
		--bn $$bn --devices 2xcpu --log-dir $$bn -o $$bn.bnm) || exit 1; done
	cd bin/report && ../bnctl report sync replica -o compare.html
	cd bin/report && ../bnctl train --quiet --model unet-bn --data shapes:60 --val shapes:30@test --epochs 1 --batch 10 --log-dir masks -o masks.bnm
	bin/bnctl study bn --quiet -o docs/study --measure nothing
	NODE_PATH=$$(sh scripts/web.sh) node scripts/web/report.js bin/report bin/report/sync/report.html bin/report/compare.html \
		bin/report/masks/report.html docs/study/index.html

.PHONY: test-wasm
test-wasm: build ## 12 networks under wazero (wasip1): the outputs of the command, by every bit (a minute)
	cd scripts/wasm && $(GO) test -count=1 -v $(PATIENT) -run TestWasip1 .

.PHONY: page
page: ## bin/bnctl.html: predictions in a browser, offline, in one file
	mkdir -p bin && $(GO) run ./scripts/browserpage bin/bnctl.html

.PHONY: test-page
test-page: build ## the page of make page in headless Chromium, which it installs (Debian, npm): the outputs of the command, by every bit
	export NODE_PATH=$$(sh scripts/web.sh) && cd scripts/wasm && $(GO) test -count=1 -v $(PATIENT) -run TestPage .

# JSON=FILE keeps the figures.
.PHONY: scratch
scratch: build ## docs/examples/service in an image FROM scratch: its size, and 15 starts in a container (Debian, root, a minute)
	GO=$(GO) bash scripts/scratch.sh bin/bnctl

.PHONY: test-container
test-container: build ## the image of server/deploy/Dockerfile (Debian, root)
	sh scripts/container.sh bin/bnctl

.PHONY: fuzz
fuzz: ## every reader of foreign bytes for 10 CPU-minutes, two at a time
	bash scripts/fuzz.sh 10

.PHONY: wheel
wheel: build ## the Python wheel of this machine in bin/wheels
	GO=$(GO) bash scripts/release/wheel.sh bin/wheels

.PHONY: test-python
test-python: build ## the Python package: mypy, and its tests with the programs of bin (Debian: python3-pytest-xdist, mypy, python3-nbclient)
	/usr/bin/python3 -c 'import pytest, xdist, mypy, nbclient, ipykernel, numpy' 2>/dev/null || { apt-get update -q && \
		DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends \
		python3-pytest python3-pytest-xdist mypy python3-nbclient python3-ipykernel python3-numpy python3-pil python3-venv; }
	/usr/bin/python3 python/generate.py bin/bnctl --check
	cd python && /usr/bin/python3 -m mypy
	cd python && /usr/bin/python3 -m pytest -q -n 4

# SEEDS=1 trains the first seed alone.
.PHONY: study-detection
study-detection: build ## batch norm of yolox-nano with 2 pictures per replica, synchronised, frozen later, and by replica: AP50 over three seeds into docs/study-detect (SEEDS; goes on where it was ended; half an hour)
	bin/bnctl study bn --task detect --data voc:$(or $(BCCD),../shared/data/bccd.tar.gz) --val voc:$(or $(BCCD),../shared/data/bccd.tar.gz)@val \
		--size 128x160 --epochs 15 --seeds $(or $(SEEDS),1,2,3) --threads 1 --devices cpu -o docs/study-detect

.PHONY: bench-detection
bench-detection: build ## yolox-nano on pictures of blood cells beside PyTorch 2.6: AP50 over three seeds (SEEDS, EPOCHS, SIDES, JSON=FILE; goes on where it was ended; hours on a busy machine)
	mkdir -p bin/bccd && dir=$$(sh scripts/debian13.sh) && MODELS=$(CURDIR)/bin/bccd JSON=$(or $(JSON),$(if $(EPOCHS),,docs/results/bccd.json)) \
		python3 scripts/peers/bccd.py bin/bnctl \
		$(or $(BCCD),../shared/data/bccd.tar.gz) bin/bccd sh scripts/enter.sh $$dir python3 /peers/detector.py /models

# SYSTEMS='debian13 arm64' picks systems.
.PHONY: test-python-systems
test-python-systems: build ## the Python wheel in fresh environments of Debian 12, Debian 13 and arm64, without network (Debian, root, minutes)
	GO=$(GO) sh scripts/pythonsystems.sh bin/bnctl $(SYSTEMS)

# A machine without other load. Priorities of real time do not replace it: threads that wait for each other then hang.
.PHONY: bench-python
bench-python: build ## Model.predict beside bnctl bench and ONNX Runtime's Python package (ROUNDS=3; minutes)
	rm -f bin/mobilenetv2.bnm
	dir=$$(sh scripts/debian13.sh) && models=$$(sh scripts/peers.sh models) && bin/bnctl strip $$models/mobilenetv2.pth --arch mobilenetv2 \
		--preprocess imagenet -o bin/mobilenetv2.bnm >/dev/null && MODELS=$$models BNCTL=bin/bnctl PYTHONPATH=python /usr/bin/python3 \
		python/bench.py bin/mobilenetv2.bnm $(or $(ROUNDS),3) sh scripts/enter.sh $$dir python3 /peers/onnxruntime.py /models 2>/dev/null

.PHONY: vulnerabilities
vulnerabilities: ## published vulnerabilities that code of the programs reaches, with the release's version of Go (minutes)
	GO=$(GO) bash scripts/vulnerabilities.sh

.PHONY: release
release: ## a release of the commit and its tag in bin/release: archives, SBOMs, packages, images, sums; KEY=FILE signs (Debian, root)
	GO=$(GO) bash scripts/release/release.sh bin/release

.PHONY: test-release
test-release: ## the release twice, in two folders and on two days; binaries, package, signature and go install tried (Debian, root, half an hour)
	GO=$(GO) bash scripts/release/test.sh bin/release-trial

.PHONY: first-hour
first-hour: ## a new user with the release alone, RELEASE=FOLDER: install, demo, own photos, own network, serve (minutes; PyTorch)
	bash scripts/release/firsthour.sh $(or $(RELEASE),bin/release) $(or $(CIFAR),../shared/data/cifar10/cifar10-jpg.tar.gz)
