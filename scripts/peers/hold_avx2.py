"""hold_avx2.py LIBRARY: holds ONNX Runtime to AVX2, in a copy of its library.

ONNX Runtime has no setting for the instructions that it uses. It asks the processor,
and the system by XGETBV: bits 5 to 7 of its answer say that AVX-512's registers are
kept. In the copy every XGETBV is an instruction that sets the answer's first byte
to 7: x87, SSE and AVX.
"""
import sys

XGETBV, ANSWER = b"\x0f\x01\xd0", b"\xb0\x07\x90"  # mov al, 7; nop
ADD = b"\x83\xe0"  # before these bytes they are the end of "and eax, 15" and "add eax, edx"
SITES = 3  # of 1.30.0


def main():
    with open(sys.argv[1], "rb") as f:
        library = bytearray(f.read())
    sites, at = [], library.find(XGETBV)
    while at >= 0:
        if library[at - 2:at] != ADD:
            sites.append(at)
        at = library.find(XGETBV, at + 1)
    if len(sites) != SITES:
        sys.exit(f"hold_avx2: {sys.argv[1]}: {len(sites)} places look like XGETBV, want {SITES}: another version?")
    for at in sites:
        library[at:at + 3] = ANSWER
    with open(sys.argv[1], "wb") as f:
        f.write(library)


main()
