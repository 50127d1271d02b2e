#!/bin/sh
# enter.sh DIR COMMAND...: runs a command in the system that debian13.sh made, in the folder of peers, which is /peers
# there; the folder $MODELS is /models. The mounts are the process's own: removing DIR later harms nothing else.
# The preload of sleef is for torch.compile: without it, its check of the processor fails, and its code is scalar.
dir=$1
shift
mkdir -p "$dir/peers" "$dir/models"
DIR=$dir PEERS=$(cd "$(dirname "$0")/peers" && pwd) MODELS=${MODELS:-$dir/models}
export DIR PEERS MODELS
exec unshare --mount --propagation private sh -c '
	mount --bind /proc "$DIR/proc" && mount --bind /dev "$DIR/dev" && mount --bind "$PEERS" "$DIR/peers" &&
		mount --bind "$MODELS" "$DIR/models" && exec chroot "$DIR" /usr/bin/env -i -C /peers PATH=/usr/bin:/bin \
		HOME=/tmp LANG=C.UTF-8 OMP_NUM_THREADS="${OMP_NUM_THREADS:-1}" OPENBLAS_NUM_THREADS="${OMP_NUM_THREADS:-1}" \
		ONEDNN_MAX_CPU_ISA="${ONEDNN_MAX_CPU_ISA:-DEFAULT}" ${ATEN_CPU_CAPABILITY:+ATEN_CPU_CAPABILITY=$ATEN_CPU_CAPABILITY} \
		LD_PRELOAD=libsleef.so.3 PYTHONWARNINGS=ignore PYTHONDONTWRITEBYTECODE=1 "$@"' sh "$@"
