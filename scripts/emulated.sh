#!/usr/bin/env bash
# emulated.sh PROCESSOR FOLDER COMMAND: copies FOLDER into a Linux that Bochs emulates with one
# PROCESSOR (corei7_skylake_x has AVX-512; `bochs --help cpu` lists them), runs COMMAND there by
# busybox's shell, prints what it prints and exits as it does. Programs in FOLDER are static
# (CGO_ENABLED=0). Installs, on Debian: bochs, a kernel, busybox, isolinux, genisoimage, cpio.
# Debian's Bochs is built with its debugger and computes floating point in software: hundreds of
# times slower than the machine. BOCHS names another build; MB is the memory (default 2000).
set -euo pipefail
processor=$1 folder=$(realpath "$2") command=$3
work=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$work"' EXIT

need=(bochs isolinux syslinux-common genisoimage cpio busybox-static linux-image-amd64)
dpkg -s "${need[@]}" >/dev/null 2>&1 || {
	apt-get update -q
	DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${need[@]}"
} >"$work/apt" 2>&1 || { cat "$work/apt" >&2; exit 1; }

guest=$work/guest
mkdir -p "$work/iso" "$guest"/{bin,proc,sys,dev,tmp}
cp -rL "$folder" "$guest/folder"
cp "$(command -v busybox)" "$guest/bin/busybox"
printf '%s\n' "$command" >"$guest/command"
cat >"$guest/init" <<'END'
#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/folder:/bin HOME=/tmp
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev; mount -t tmpfs tmp /tmp
mkdir /dev/shm; mount -t tmpfs shm /dev/shm
cd /folder
sh /command
echo "exit status $?"
sleep 1
poweroff -f
END
chmod +x "$guest/init"
(cd "$guest" && find . | cpio -o -H newc 2>/dev/null) >"$work/iso/initrd"
cp "$(printf '%s\n' /boot/vmlinuz-* | tail -n 1)" "$work/iso/vmlinuz"
cp /usr/lib/ISOLINUX/isolinux.bin /usr/lib/syslinux/modules/bios/ldlinux.c32 "$work/iso/"
cat >"$work/iso/isolinux.cfg" <<'END'
default linux
label linux
 kernel vmlinuz
 append initrd=initrd console=ttyS0 quiet loglevel=0 nosmp mitigations=off tsc=reliable random.trust_cpu=on
END
genisoimage -quiet -o "$work/boot.iso" -b isolinux.bin -c boot.cat -no-emul-boot -boot-load-size 4 \
	-boot-info-table -iso-level 4 "$work/iso"
display='rfb, options="timeout=0"'
[ -z "${BOCHS:-}" ] || display=nogui
cat >"$work/bochsrc" <<END
display_library: $display
megs: ${MB:-2000}
cpu: model=$processor, ips=100000000, count=1
romimage: file=/usr/share/bochs/BIOS-bochs-latest
vgaromimage: file=/usr/share/bochs/VGABIOS-lgpl-latest
ata0-master: type=cdrom, path=$work/boot.iso, status=inserted
boot: cdrom
clock: sync=none
com1: enabled=1, mode=file, dev=$work/serial
log: $work/log
END
touch "$work/serial"
tail -f "$work/serial" & # print the machine's output while it runs
if [ -n "${BOCHS:-}" ]; then
	"$BOCHS" -q -f "$work/bochsrc" >"$work/bochs" 2>&1 </dev/null || true
else
	echo c >"$work/go" # the debugger waits for it
	sleep infinity | bochs -q -f "$work/bochsrc" -rc "$work/go" >"$work/bochs" 2>&1 || true
fi
sleep 1
status=$(tr -d '\r' <"$work/serial" | sed -n 's/^exit status \([0-9]*\)$/\1/p' | tail -n 1)
[ -n "$status" ] || { tail -n 3 "$work/bochs" "$work/log" >&2; exit 1; }
exit "$status"
