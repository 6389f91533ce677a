"""Just enough of ClickHouse's SQL to tell a statement from the data that follows it."""

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass

_TOKEN = re.compile(
    rb"""
      (?P<space> \s+ | --[^\n]* | \#[ !][^\n]* | /\*.*?\*/ )
    | (?P<word>  [A-Za-z_][A-Za-z0-9_]* )
    | (?P<other> '(?:[^'\\]|\\.|'')*' | "(?:[^"\\]|\\.|"")*" | `(?:[^`\\]|\\.|``)*`
               | \$(?P<tag>\w*)\$.*?\$(?P=tag)\$ | [0-9][0-9A-Za-z_.]* )
    | (?P<mark>  . )
    """,
    re.DOTALL | re.VERBOSE,
)
_DATA_START = re.compile(rb"[ \t\f]*;?\r?\n?")
_NAME_FOLLOWS = frozenset({b"INTO", b"TABLE", b"FROM", b"FUNCTION", b".", b"AS"})
_INSERT_SOURCES = frozenset({b"SELECT", b"WITH", b"WATCH"})
_NOT_A_CLAUSE = frozenset({b",", b".", b"SELECT"})
_CLAUSE_ENDS = frozenset({b";", b"SETTINGS", b"INTO"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """What a text says before it is run.

    Attributes
    ----------
    format_name
        Of the last `FORMAT` clause; None without one.
    head
        For an insert whose data follow in the text: all before `FORMAT` or `VALUES`.
    data_offset
        First byte of that data.
    touches_client_file
        `INTO OUTFILE` or `FROM INFILE`: a client does that, a server must not.
    """

    format_name: str | None
    head: bytes | None = None
    data_offset: int | None = None
    touches_client_file: bool = False


def read_statement(text: bytes) -> Statement:
    """Statement at the start of `text`; linear in its length."""
    tokens = _tokens(text)
    first = next(tokens, None)
    if first is not None and first[0] == b"INSERT":
        return _read_insert(text, tokens)
    return _read_other(text, tokens)


def _tokens(text: bytes) -> Iterator[tuple[bytes, int, int]]:
    """Upper-case word or mark, its start and its end; only those outside all brackets."""
    depth = 0
    for found in _TOKEN.finditer(text):
        kind = found.lastgroup
        if kind == "space":
            continue
        token = found[0].upper() if kind == "word" else found[0] if kind == "mark" else b"''"
        if token in {b")", b"]", b"}"}:
            depth = max(0, depth - 1)
        if depth == 0:
            yield token, found.start(), found.end()
        if token in {b"(", b"[", b"{"}:
            depth += 1


def _read_insert(text: bytes, tokens: Iterator[tuple[bytes, int, int]]) -> Statement:
    previous, infile = b"INSERT", False
    for token, start, end in tokens:
        if previous in _NAME_FOLLOWS:
            infile |= previous == b"FROM" and token == b"INFILE"
        elif token == b"VALUES" and not infile:
            return Statement(format_name="Values", head=text[:start], data_offset=end)
        elif token == b"FORMAT":
            return _read_insert_format(text, start, tokens, infile=infile)
        elif token in _INSERT_SOURCES:
            return _read_other(text, tokens, infile=infile)
        previous = token
    return Statement(format_name=None, touches_client_file=infile)


def _read_insert_format(
    text: bytes, start: int, tokens: Iterator[tuple[bytes, int, int]], *, infile: bool
) -> Statement:
    _, name_start, name_end = next(tokens, (b"", len(text), len(text)))
    name = text[name_start:name_end].decode(errors="replace")
    if infile:
        return Statement(format_name=name, touches_client_file=True)
    if name.upper() == "VALUES":
        return Statement(format_name="Values", head=text[:start], data_offset=name_end)
    gap = _DATA_START.match(text, name_end)
    offset = name_end if gap is None else gap.end()
    return Statement(format_name=name, head=text[:start], data_offset=offset)


def _read_other(
    text: bytes, tokens: Iterator[tuple[bytes, int, int]], *, infile: bool = False
) -> Statement:
    seen = list(tokens)
    words = [token for token, _, _ in seen]
    pairs = set(itertools.pairwise(words))
    return Statement(
        format_name=_format_clause(text, seen),
        touches_client_file=infile or (b"INTO", b"OUTFILE") in pairs,
    )


def _format_clause(text: bytes, seen: list[tuple[bytes, int, int]]) -> str | None:
    """Name in the last `FORMAT` clause; a column or an alias may be called `format` too."""
    for at in range(len(seen) - 2, 0, -1):
        before, word = seen[at - 1][0], seen[at][0]
        after = seen[at + 2][0] if at + 2 < len(seen) else b";"
        if word == b"FORMAT" and before not in _NOT_A_CLAUSE and after in _CLAUSE_ENDS:
            name = text[seen[at + 1][1] : seen[at + 1][2]]
            return name.decode() if name.isalnum() else None
    return None
