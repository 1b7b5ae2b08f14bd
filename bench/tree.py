#!/usr/bin/env python3
"""What an iteration costs on R ranks: a simulation of the tree of sums, and the formula that stands for it.

    bench/tree.py [--latency 2e-6] [--bandwidth 1e10] [--row 1e-6] [--parameters 2000] [--batch 8192]
    bench/tree.py --epoch 1e9 ...       seconds of an epoch over so many rows instead

Ranks hold the virtual shards of a batch (64 at most) as src/engine/team_sums.c shares them out; each computes its rows, the sums climb
the fixed tree, and the root goes to all by a binary tree of messages (src/base/team.c). A rank does one thing at a time; a message of m
bytes keeps its sender and its receiver busy for latency + m / bandwidth, and cannot be received before it is sent. The formula is

    rows of the largest share x row  +  (levels of the tree between ranks + log2 ranks) x (latency + m / bandwidth)

and the two must agree to a quarter, or the program ends with status 1: the simulation has the waiting that the formula leaves out.
"""
import argparse
import math
import sys

SHARDS, ROWS_OF_SHARD = 64, 128


def owner(ranks, shards, shard):
    """The rank that holds a shard, as in team_sums.c."""
    at = shard * (SHARDS // shards)
    return min(((at + 1) * ranks - 1) // SHARDS, ranks - 1)


def shard_count(batch):
    """A power of two, one for every 128 rows."""
    count = 1
    while count < SHARDS and batch // (2 * count) >= ROWS_OF_SHARD:
        count *= 2
    return count


def simulate(how, ranks):
    """Seconds until the last rank has the sum."""
    shards = shard_count(how.batch)
    message = how.latency + (16 + 4 * how.parameters) / how.bandwidth
    held = [0] * ranks
    for v in range(shards):
        held[owner(ranks, shards, v)] += 1
    if shards == 1:
        return how.batch * how.row  # every rank computes all of it
    clock = [how.batch / shards * mine * how.row for mine in held]

    def send(sender, receiver):
        begin = max(clock[sender], clock[receiver])
        clock[sender] = clock[receiver] = begin + message

    half = 1
    while half < shards:
        for first in range(0, shards, 2 * half):
            left, right = owner(ranks, shards, first), owner(ranks, shards, first + half)
            if left != right:
                send(right, left)
        half *= 2
    root = owner(ranks, shards, 0)
    bit = 1
    while bit < ranks:
        bit *= 2
    bit //= 2
    while bit > 0:  # whoever has it gives it to who is `bit` further on
        for own in range(0, ranks, 2 * bit):
            if own + bit < ranks:
                send((own + root) % ranks, (own + bit + root) % ranks)
        bit //= 2
    return max(clock)


def formula(how, ranks):
    shards = shard_count(how.batch)
    if shards == 1:
        return how.batch * how.row
    message = how.latency + (16 + 4 * how.parameters) / how.bandwidth
    parts = min(ranks, shards)
    largest = math.ceil(shards / parts) * how.batch / shards
    return largest * how.row + (math.ceil(math.log2(parts)) + math.ceil(math.log2(ranks))) * message


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--latency", type=float, default=2e-6, help="seconds of an empty message")
    parser.add_argument("--bandwidth", type=float, default=1e10, help="bytes a second")
    parser.add_argument("--row", type=float, default=1e-6, help="seconds of a row on one rank, all sweeps")
    parser.add_argument("--parameters", type=int, default=2000)
    parser.add_argument("--batch", type=int, default=8192)
    parser.add_argument("--epoch", type=float, help="rows of an epoch: its seconds instead of an iteration's")
    parser.add_argument("--ranks", default="1,2,4,8,16,32,64,256,1000,10000")
    how = parser.parse_args()
    times = how.epoch / how.batch if how.epoch else 1
    alone, agree = simulate(how, 1), True
    print("| ranks | seconds, simulated | by the formula | times faster | share of computing |")
    print("| --- | --- | --- | --- | --- |")
    for ranks in map(int, how.ranks.split(",")):
        seconds, short = simulate(how, ranks), formula(how, ranks)
        agree = agree and abs(seconds - short) <= 0.25 * seconds
        computing = alone / min(ranks, shard_count(how.batch)) / seconds if shard_count(how.batch) > 1 else 1.0
        print(f"| {ranks} | {times * seconds:.3g} | {times * short:.3g} | {alone / seconds:.1f} | {computing:.2f} |")
    if not agree:
        sys.exit("the formula is off by more than a quarter")


if __name__ == "__main__":
    main()
