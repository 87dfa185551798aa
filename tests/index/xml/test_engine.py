"""The engine finds what libxml2 finds: questions of every kind, documents of every kind, whatever room there is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from index.xml.documents import answers, expected
from language.xpath_strategies import xml_documents, xpath_expressions
from tidings.index.array_file import DTYPES
from tidings.index.xml import sets
from tidings.index.xml.engine import XPathEngine
from tidings.index.xml.layout import SETS, UNKEPT, VERIFIED
from tidings.index.xml.lowering import Method
from tidings.index.xml.texts import as_texts
from tidings.language.xpath import parse_xpath
from tidings.model.xpath import XPathExpression

NOTHING_KEPT, LITTLE_KEPT, ALL_KEPT = 0, 5_000, 1 << 24  # bytes, of sets that begin as small as `FEW` has them
MORE = 600  # bytes, of what is there without any set
FEW = {"sets": 8, "members": 32, "words": 32, "tests": 32, "moves": 16}


@pytest.fixture(scope="module", autouse=True)
def few_sets() -> Iterator[None]:
    """Room for a few sets at first, so that little has to grow, and is refused to."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sets, "_SMALLEST", FEW)
        yield


QUESTIONS = [
    "/a", "/a/b", "//b", "/*", "/*/*", "//*", "//a//b", "//a//a", "/a//*", "//b/@x", "//@x", "//@*", "/a/@*",
    "//text()", "/a/b/text()", "//.", "/a//.", "/", "//@x//.", "//text()//.", "//@x/a", "/a/b/c", "//c", "//d",
    "/. = '1'", "/a = 1", "//b = 2008", "//b = '2008'", "//b != 2008", "//b != '2008'", "//b < 2008", "//b <= 2008",
    "//b > 2007", "//b >= 2008", "//b < '2009'", "//b < 'x'", "//@x = 1", "//@x != 1", "//@x > 1000", "//b/@x = 'y'",
    "//b[. = 2008]", "//b[@x]", "//b[@x = 1]", "//b[@x = 1]/c", "//b[@x = 1][@y = 2]", "//b[@x = 1 and @y = 2]/c",
    "//b[@x = 1 or @y = 2]", "//b[not(@x)]", "/a[b]/c", "/a[b/c]/d", "/a[.//d > 3]/c", "/a[@x = 1]/b[@y = 2]/c",
    "//b[1]", "//b[2]", "//b[last()]", "/a/b[last()]/@x = 1", "//b[position() < last()]", "//b[@x][1]", "//b[1][@x]",
    "//b[position() = '1']", "//b[position() != 'x']", "//@*[2]", "//text()[2] = 'y'", "contains(//b, '00')",
    "starts-with(/a/b, '2')", "contains(/nothing, '')", "contains(//b/@x, 'y')", "//b[contains(., '00')]",
    "//b[starts-with(@x, 'y')]", "//b[contains(text(), '8')]", "//b[contains(@x, '')]", "not(//b)", "not(/a[b = 1])",
    "/a/b and /a/c", "/a/b or /nothing", "/a/b = 1 and not(/a/c)", "//b[c[d]]", "//b[c[d = 1]/@x]", "/a[*/d][b]//c",
    "//*[@x]", "/a[. = '2008']", "//b[text() = '2008'][@x > 0]",
]  # fmt: skip

DOCUMENTS: list[str | bytes] = [
    "<a/>",
    "<a><b/></a>",
    "<a>1</a>",
    "<a><b>2008</b></a>",
    "<a><b>2008 </b><b>abc</b><b>1e3</b></a>",
    "<a><b x='1'/><b x='2' y='2'><c/></b></a>",
    "<a><b x='1'><c/></b><b y='2'/></a>",
    "<a x='1'><b y='2'><c><d>4</d></c></b><c/></a>",
    "<a x='2'><b y='2'><c/></b></a>",
    "<a><a><a><b><a><b x='y'/></a></b></a></a></a>",
    "<a>x<b>2<!-- c -->00<?p q?>8</b>y<![CDATA[2008]]></a>",
    "<a>\n  <b>\n 2008\n</b>\t<c/>\r\n</a>",
    "<a xmlns='urn:x'><b/></a>",
    "<a xmlns:n='urn:x' n:x='1'><n:b x='1'/><b n:x='1'/></a>",
    "<!DOCTYPE a><a><b x='1'>&#50;008</b></a>",
    "<a><b>-1</b><b>.5</b><b>2008.0</b><b> 1 </b></a>",
    "<?xml version='1.0'?><!--2008--><a b='1'/><?p 1?>",
    "<a>" * 200 + "<b>1</b>" + "</a>" * 200,
    "<a>" + "<b x='1'>2008</b>" * 300 + "</a>",
    "<a>" + "".join(f"<b x{n}='{n}'/>" for n in range(70)) + "</a>",
    "<a " + " ".join(f"x{n}='{n}'" for n in range(70)) + "><b/></a>",
    '<?xml version="1.0" encoding="ISO-8859-1"?><a><b>é</b></a>'.encode("latin-1"),
    "<a><b>é</b></a>".encode("utf-16"),
    b"<a><b>2008</b></a>",
    "<a><b></a>",
    "",
    b"\xff",
    "<!DOCTYPE a [<!ENTITY e 'x'>]><a>&e;</a>",
    "<a>" * 257 + "</a>" * 257,
    "<a xmlns:n='urn:x'><n:b/><m:b/></a>",
]


def engine_of(questions: Sequence[str], memory: int = ALL_KEPT, method: Method = Method.PRUNED) -> XPathEngine:
    return XPathEngine.build([parse_xpath(question) for question in questions], method=method, memory=memory)


@pytest.mark.parametrize("memory", [NOTHING_KEPT, LITTLE_KEPT, ALL_KEPT])
@pytest.mark.parametrize("method", Method)
def test_every_kind_of_question_about_every_kind_of_document(method: Method, memory: int) -> None:
    questions = [parse_xpath(question) for question in dict.fromkeys(QUESTIONS)]
    wanted, problems = expected(questions, DOCUMENTS)
    engine = XPathEngine.build(questions, method=method, memory=memory)
    engine.check()
    for _ in range(2):  # the second time with what was kept
        found = engine.find(as_texts(DOCUMENTS))
        assert answers(found) == wanted
        assert list(found.problems) == problems
        assert (engine.sets.lazy.used[SETS] > 2) == (memory != NOTHING_KEPT)
        assert (engine.counts[UNKEPT] > 0) == (memory != ALL_KEPT)
        assert engine.sets.nbytes <= memory + MORE
        engine.check()


@pytest.mark.parametrize("question", dict.fromkeys(QUESTIONS))
def test_each_question_alone(question: str) -> None:
    questions = [parse_xpath(question)]
    wanted, _ = expected(questions, DOCUMENTS)
    assert answers(XPathEngine.build(questions).find(as_texts(DOCUMENTS))) == wanted


@settings(max_examples=60)
@given(
    st.lists(xpath_expressions(), min_size=1, max_size=10, unique=True),
    st.lists(xml_documents(), min_size=1, max_size=3),
    st.sampled_from((NOTHING_KEPT, LITTLE_KEPT, ALL_KEPT)),
    st.sampled_from(Method),
)
def test_random_questions_about_random_documents(
    questions: list[XPathExpression], documents: list[str], memory: int, method: Method
) -> None:
    wanted, problems = expected(questions, documents)
    found = XPathEngine.build(questions, method=method, memory=memory).find(as_texts(documents))
    assert answers(found) == wanted
    assert list(found.problems) == problems


@settings(max_examples=60)
@given(st.lists(xpath_expressions(), min_size=1, max_size=10, unique=True), xml_documents())
def test_documents_that_the_scanner_hands_over(questions: list[XPathExpression], source: str) -> None:
    body = source.removeprefix('<?xml version="1.0"?>').removeprefix("<!DOCTYPE a>")
    documents: list[str | bytes] = [f"<!DOCTYPE a [<!ELEMENT q ANY>]>{body}", source.encode("utf-16"), source]
    wanted, problems = expected(questions, documents)
    assert not problems
    assert answers(XPathEngine.build(questions).find(as_texts(documents))) == wanted


def test_predicates_must_hold_along_one_chain() -> None:
    engine = engine_of(["//b[@x = 1]/c", "/a/b[@x = 1][@y = 2]"])
    apart = "<a><b x='1'/><b y='2'><c/></b></a>"
    together = "<a><b/><b x='1' y='2'><c/></b></a>"
    assert answers(engine.find(as_texts([apart, together]))) == [[], [0, 1]]


def test_paths_below_nested_nodes_are_followed_once_and_to_the_end() -> None:
    engine = engine_of(["//a//b[@x = 1]/c", "//a//b[@y]/c", "//a[@x = 2]//b/c", "//b[@x]/@y = 2"])
    nested = "<a><b y='0' x='1'/><a x='2'><b x='2' y='2'><c/></b></a><a><b/></a></a><!-- -->"
    apart = "<r><a/><b x='1'><c/></b><a><a><d/><b x='0'/></a><b x='1'><d/><c/></b></a></r>"
    assert answers(engine.find(as_texts([nested, apart]))) == [[1, 2, 3], [0]]


def test_what_branches_at_a_single_node_is_not_verified() -> None:
    engine = engine_of(["/a[@x = 1]/b[@y = 2]", "//b[@y = 2]/c"])
    assert answers(engine.find(as_texts(["<a x='1'><b/><b y='2'/></a>"]))) == [[0]]
    assert engine.counts[VERIFIED] == 0
    assert answers(engine.find(as_texts(["<a x='1'><b/><b y='2'/><b><c/></b></a>"]))) == [[0]]
    assert engine.counts[VERIFIED] == 1


def test_without_room_the_automaton_runs_undetermined() -> None:
    engine = engine_of(["//a//b", "/a/b/@x = 1"], memory=NOTHING_KEPT)
    assert answers(engine.find(as_texts(["<a><b x='1'/></a>"] * 3))) == [[0, 1]] * 3
    assert engine.counts[UNKEPT] == 9
    roomy = engine_of(["//a//b", "/a/b/@x = 1"])
    roomy.find(as_texts(["<a><b x='1'/></a>"] * 3))
    assert roomy.counts[UNKEPT] == 0


def test_what_is_kept_stays_within_the_bound() -> None:
    questions = [f"//a{n}//b{n}" for n in range(40)]
    documents = [f"<r><a{n}><a{n + 1}><b{n}/></a{n + 1}></a{n}></r>" for n in range(39)]
    wanted, _ = expected([parse_xpath(question) for question in questions], documents)
    for memory in range(0, 40_000, 2_500):
        engine = engine_of(questions, memory=memory)
        assert answers(engine.find(as_texts(documents))) == wanted
        assert engine.sets.nbytes <= memory + MORE
        engine.check()


def test_what_is_kept_is_begun_afresh_when_other_documents_come() -> None:
    questions = [f"//a{n}//b{n}" for n in range(40)]
    odd = [f"<r><a{n}><a{n + 1}><b{n}/></a{n + 1}></a{n}></r>" for n in range(39)]
    ordinary = ["<r><a0><b0/></a0></r>"] * 3
    engine = engine_of(questions, memory=LITTLE_KEPT)
    wanted = answers(engine.find(as_texts(odd))) + [[0]] * 3
    assert engine.counts[UNKEPT] > 0
    for _ in range(30):
        assert answers(engine.find(as_texts(ordinary))) == [[0]] * 3
    before = int(engine.counts[UNKEPT])
    engine.find(as_texts(ordinary))
    assert engine.counts[UNKEPT] == before
    assert answers(engine.find(as_texts(odd + ordinary))) == wanted
    engine.check()


def test_equal_questions_in_two_spellings_are_two_facts() -> None:
    assert answers(engine_of(["//b[@x = 1]", "//b/@x = 1"]).find(as_texts(["<b x='1'/>"]))) == [[0, 1]]


def test_no_questions_and_no_documents() -> None:
    assert answers(XPathEngine.build([]).find(as_texts(["<a/>", "<a"]))) == [[], []]
    assert answers(engine_of(["/a"]).find(as_texts([]))) == []


def test_arrays_are_all_that_an_engine_knows() -> None:
    questions = [parse_xpath(question) for question in dict.fromkeys(QUESTIONS)]
    engine = XPathEngine.build(questions)
    arrays = engine.arrays()
    assert all(array.ndim == 1 and array.dtype.str in DTYPES for array in arrays.values())
    read_only = {name: array.copy() for name, array in arrays.items()}
    for array in read_only.values():
        array.flags.writeable = False
    again = XPathEngine.from_arrays(read_only)
    again.check()
    assert answers(again.find(as_texts(DOCUMENTS))) == answers(engine.find(as_texts(DOCUMENTS)))


def test_facts_are_numbers_of_questions() -> None:
    found = engine_of(["/a", "/b"]).find(as_texts(["<b/>"]))
    assert (found.start.dtype.str, found.fact.dtype.str) == ("<i8", "<i4")
    assert found.fact.tolist() == [1]


@pytest.mark.parametrize(
    ("question", "satisfying"),
    [
        ("//b[.//c = 5]/@y", "<b y='1'><c>5</c></b>"),
        ("/a/b[.//c > 3][.//c < 2]", "<b><c>5</c><c>1</c></b>"),
    ],
)
def test_what_is_below_each_of_many_nodes_is_found_there(question: str, satisfying: str) -> None:
    """From the beginning of the document for each of them, which it was, it takes minutes."""
    engine = engine_of([question])
    many = "<b><x><c>1</c></x></b>" * 40_000
    found = engine.find(as_texts([f"<a>{many}<b><c>5</c></b><b y='1'/></a>", f"<a>{many}{satisfying}</a>"]))
    assert found.start.tolist() == [0, 0, 1]
    assert engine.counts[VERIFIED] > 0
