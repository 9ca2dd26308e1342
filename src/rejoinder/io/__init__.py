"""Files in, files out: readers, writers, word vectors, judge folders. Nothing here reaches the network."""

from rejoinder.data.write import write
from rejoinder.io.given import examples_of, pairs_of, reply_sets_of
from rejoinder.io.read import read, read_audited, read_either, read_pairs, read_replies
from rejoinder.io.scales import with_scale

__all__ = [
    "examples_of",
    "pairs_of",
    "read",
    "read_audited",
    "read_either",
    "read_pairs",
    "read_replies",
    "reply_sets_of",
    "with_scale",
    "write",
]
