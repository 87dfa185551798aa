"""XML documents of the data folder: NITF of the YFilter release, XMark, records of DBLP, articles in JATS."""

from __future__ import annotations

import gzip
import re
import tarfile
from pathlib import Path

from benchmarks.data import folder
from benchmarks.measuring import scaled

NITF_DTD, AUCTION_DTD = "xml/dtds/nitf-2-5.dtd", "xml/dtds/auction.dtd"
RELEASED_FILTERS = "xml/nitf_queries_500000.txt.gz"


def nitf() -> list[bytes]:
    return unpacked("xml/nitf_docs_100.tar.gz")


def jats() -> list[bytes]:
    return unpacked("xml/elife_jats_100.tar.gz")


def xmark() -> list[bytes]:
    return [unzipped("xml/xmark_auction_0.001.xml.gz")]


def dblp() -> list[bytes]:
    """The records of the excerpt, each a document of its own in UTF-8."""
    text = unzipped("bibliography/dblp_excerpt.xml.gz").decode("iso-8859-1")
    records = re.findall(
        r"<(article|inproceedings|incollection|book|phdthesis|www|proceedings)(\s[^>]*>.*?</\1>)", text, re.S
    )
    whole = [f"<{kind}{rest}".encode() for kind, rest in records]
    return whole[: scaled(2_000, least=200)]


def unzipped(file: str) -> bytes:
    with gzip.open(folder() / file) as opened:
        return opened.read()


def lines(file: str) -> list[str]:
    return [line.strip() for line in unzipped(file).decode().splitlines() if line.strip()]


def unpacked(file: str) -> list[bytes]:
    """The files of an archive, in the order of their names."""
    found: dict[str, bytes] = {}
    with tarfile.open(folder() / file) as archive:
        for member in archive:
            opened = archive.extractfile(member)
            if opened is not None and Path(member.name).suffix == ".xml":
                found[member.name] = opened.read()
    return [found[name] for name in sorted(found)]
