"""Writes sampling.json: the samples that epochs draw by weights, as in docs/numerics.md, in plain Python.

    python3 data/testdata/sampling.py > data/testdata/sampling.json
"""
import bisect
import itertools
import json


def philox(counter, key):
    """Return a block of Philox4x32-10 (Salmon and others 2011)."""
    c, k = list(counter), list(key)
    for _ in range(10):
        a, b = c[0] * 0xD2511F53, c[2] * 0xCD9E8D57
        c = [b >> 32 ^ c[1] ^ k[0], b & 0xFFFFFFFF, a >> 32 ^ c[3] ^ k[1], a & 0xFFFFFFFF]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c


def epoch(seed, number, weights):
    """Return the samples of an epoch, and for each how often it was drawn before in the epoch."""
    key = philox([9, 0, 0, 0], [seed & 0xFFFFFFFF, seed >> 32])[:2]
    sums = list(itertools.accumulate(map(float, weights)))
    samples, times, again = [], [0] * len(weights), []
    for k in range(len(weights)):
        high, low = philox([0, number, k, 0], key)[:2]
        u = ((high << 32 | low) >> 11) * 2.0 ** -53
        i = bisect.bisect_right(sums, u * sums[-1])
        samples.append(i)
        again.append(times[i])
        times[i] += 1
    return samples, again


if __name__ == "__main__":
    cases = []
    for seed, number, weights in [
        (0, 0, [1] * 12), (7, 3, [0, 1, 0, 2.5, 0.1, 0]), (2 ** 40 + 5, 1, [0.1] * 9 + [5]), (1, 0, [3]),
        (9, 2, [0, 0, 1e-30, 0]),
    ]:
        samples, again = epoch(seed, number, weights)
        cases.append({"seed": seed, "epoch": number, "weights": weights, "samples": samples, "again": again})
    print("[" + ",\n".join(map(json.dumps, cases)) + "]")
