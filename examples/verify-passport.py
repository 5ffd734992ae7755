#!/usr/bin/env python3
"""Checks WorkRail passports with a public key, by docs/internals/passport.md. Needs Python 3.8 and the openssl program.
usage: verify-passport.py PASSPORT... PUB.pem      exit code 0 only if every passport holds"""
import base64, hashlib, json, pathlib, re, subprocess, sys, tempfile
from decimal import Decimal
# Shapes: a type, a pattern of texts, alternatives, a list of one shape, exactly these fields ("name?" is optional, "..." allows more).
ID, HEX, GIT, MORE = "_[0-9a-hjkmnp-tv-z]{16}", "[0-9a-f]{64}", "[0-9a-f]{40}|[0-9a-f]{64}", {"...": 0}
SHA, SESSION, SIG = "sha256:" + HEX, "sess" + ID, {"keyid": HEX, "sig": "[A-Za-z0-9+/]{85}[AQgw]=="}
RANGE, ITEM = {"firstEventIndex": int, "lastEventIndex": int}, dict(MORE, v=int, manifestIndex=int, sessionId=SESSION, chain=SHA)
RECORD = dict(ITEM, **RANGE, kind="segment_closed", segmentRelPath=str, sha256=SHA, bytes=int, pins=int, **{"sig?": {**SIG, **MORE}})
PIN = dict(ITEM, kind="snapshot_pinned", eventIndex=int, snapshotRef=SHA, createdByEventId="evt" + ID)
FACT, SIGNER, WORDS = {"event": int, "runId": "run" + ID}, {"fingerprint": str, "name": str}, "status isOpen isOnLine ran tree".split()
GRADE, WORKFLOW = "asserted|reported|observed|verified", r"(?=.{1,128}\Z)([a-z][a-z0-9_-]*\.[a-z][a-z0-9_-]*|[a-z0-9_-]{3,64})"
ABOUT, CHANNEL = {"tree": "subject|other|unknown", "isOnLine": bool}, "elicitation|terminal|console|team|ci|rehearsal"
ABOUT_WORDS = {"subject": "for exactly these files", "other": "for other files", "unknown": "files not recorded"}
ENVELOPE = {"payload": str, "payloadType": r"application/vnd\.in-toto\+json", "signatures": [SIG]}
NAMED = (("commit", "gitCommit", GIT), ("tree", "gitTree", GIT), (SESSION, "sha256", HEX))
PREDICATE = {
    "v": int, "session": {"id": SESSION, "events": int}, "made": {"at": str, "by": str}, "leaves": [HEX],
    "events": [(None, {"salt": HEX, "event": {"kind": str, **MORE}})],
    "withheld": {"kinds": ["notes|context|artifacts|workspace"], "events": [int]},
    "log": {"head?": SHA, "keyids": [HEX], "signedSince": (int, None),
            "appends": [({"record": RECORD, "pins": [PIN]}, {**RANGE, "chain?": SHA})]},
    "runs": [dict(FACT, workflowId=WORKFLOW, workflowHash=SHA, status="in_progress|blocked|complete|complete_with_gaps")],
    "gaps": [dict(FACT, severity="info|warning|critical", reason=str, isOpen=bool)],
    "checks": [dict(FACT, **ABOUT, stepId="[a-z0-9_-]{1,256}", checkId=str, minimum=GRADE, grade=(GRADE, None), ran=(int, None))],
    "approvals": [dict(FACT, **ABOUT, statement="approved|rejected|answered", via=CHANNEL, **{"signedBy?": SIGNER})]}
STATEMENT = {"_type": r"https://in-toto\.io/Statement/v1", "predicateType": r"https://workrail\.dev/passport/v1",
             "subject": [tuple({"name": name, "digest": {of: one}} for name, of, one in NAMED)], "predicate": PREDICATE}
CHECK, KIND = {"stepId": str, "checkId": str, "minimum": str, "grade?": str, **MORE}, {"kind": str, **MORE}
DATA = {"node_created": {"snapshotRef": str, "nodeKind": str, "parentNodeId": (str, None), **MORE},
        "run_started": {"workflowId": str, "workflowHash": str, **MORE},
        "gap_recorded": {"severity": str, "reason": {"category": str, "detail": str, **MORE}, **MORE},
        "advance_recorded": {"outcome": KIND, "checks?": [CHECK], **MORE},
        "attestation_recorded": {"subject": {"workspace?": MORE, "digest?": str, **KIND}, "statement": KIND, "by": {"via": str, **MORE},
                                 "signature?": {**SIGNER, **MORE}, **MORE}}

def need(holds, what):
    if not holds: raise ValueError(what)
def fits(x, shape):
    if isinstance(shape, tuple): return any(fits(x, one) for one in shape)
    if isinstance(shape, list): return isinstance(x, list) and all(fits(item, shape[0]) for item in x)
    if isinstance(shape, dict):
        known = {name.rstrip("?"): one for name, one in shape.items() if name != "..."}
        return (isinstance(x, dict) and all(name in x for name in known if name in shape)
                and all(fits(x[n], known[n]) if n in known else "..." in shape for n in x))
    if isinstance(shape, str): return isinstance(x, str) and re.fullmatch(shape, x) is not None
    return x is None if shape is None else shape is object or type(x) is shape and (shape is not int or x >= 0)
def number(x):  # as ECMAScript writes it
    if isinstance(x, int) and abs(x) <= 2**53: return str(x)
    minus, digits, exponent = Decimal(repr(float(x))).normalize().as_tuple()
    sign, d, k, n = "-" if minus else "", "".join(map(str, digits)), len(digits), len(digits) + exponent
    if -6 < n <= 21:
        return "0" if d == "0" else sign + ("0." + "0" * -n + d if n <= 0 else d.ljust(n, "0") if k <= n else d[:n] + "." + d[n:])
    return sign + d[0] + ("." + d[1:] if k > 1 else "") + "e" + ("+" if n > 0 else "-") + str(abs(n - 1))
def text(x, depth=0):
    need(depth < 256 or not isinstance(x, (dict, list)), "it is nested too deeply")
    if isinstance(x, dict):
        need("__proto__" not in x, "a name is reserved")
        return "{" + ",".join(text(n) + ":" + text(x[n], depth + 1) for n in sorted(x, key=lambda name: name.encode("utf-16-be"))) + "}"
    if isinstance(x, list): return "[" + ",".join(text(item, depth + 1) for item in x) + "]"
    return json.dumps(x, ensure_ascii=False) if x is None or isinstance(x, (bool, str)) else number(x)
def parse(data, shape, what):
    value = json.loads(data.decode("utf-8"), parse_int=lambda s: int(s) if abs(int(s)) < 2**53 else float(s))
    need(jcs(value) == data and fits(value, shape), what + " is not written as a passport must be")
    return value
jcs = lambda x: text(x).encode("utf-8")
sha = lambda data: hashlib.sha256(data).digest()
digest = lambda data: "sha256:" + sha(data).hex()
def unbase64(s):
    data = base64.b64decode(s, validate=True)
    need(base64.b64encode(data).decode() == s, "base64 is not canonical")
    return data
def is_signed(message, sig, pub):
    with tempfile.NamedTemporaryFile() as m, tempfile.NamedTemporaryFile() as s:
        m.write(message), m.flush(), s.write(unbase64(sig)), s.flush()
        args = ["openssl", "pkeyutl", "-verify", "-pubin", "-inkey", pub, "-rawin", "-in", m.name, "-sigfile", s.name]
        return subprocess.run(args, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0

def check_log(p, keyid, pub):
    log, events, sid = p["log"], [e and e["event"] for e in p["events"]], p["session"]["id"]
    chain, next_event, index, since, checked = digest(("workrail:" + sid).encode()), 0, 0, None, None
    for a in log["appends"]:
        record = a.get("record")
        first, last = (record or a)["firstEventIndex"], (record or a)["lastEventIndex"]
        need(first == next_event and first <= last < len(events), "appends have gaps")
        next_event, mine = last + 1, events[first : last + 1]
        if record is None:
            need(chain is None or None in mine, "an append is hidden without need")
            chain, index = a.get("chain"), None
            since = None if chain is None else first if since is None else since
            checked = None if chain is None or set(log["keyids"]) - {keyid} else first if checked is None else checked
            continue
        need(chain is not None and None not in mine, "an append is shown that cannot be")
        segment = b"".join(jcs(e) + b"\n" for e in mine)
        same = [digest(segment), len(segment), "events/%08d-%08d.jsonl" % (first, last)]
        need(same == [record["sha256"], record["bytes"], record["segmentRelPath"]], "a segment is not the recorded one")
        pinned = [[pin["eventIndex"], pin["createdByEventId"], pin["snapshotRef"]] for pin in a["pins"]]
        implied = [[e["eventIndex"], e["eventId"], e["data"]["snapshotRef"]] for e in mine if e["kind"] == "node_created"]
        need(record["pins"] == len(implied) and pinned == implied, "pins are wrong")
        by, signed = record.get("sig", {}).get("keyid"), {k: v for k, v in record.items() if k not in ("chain", "sig")}
        need(by != keyid or is_signed(sha(chain.encode() + b"\n" + jcs(signed)), record["sig"]["sig"], pub), "an append is not signed")
        index = record["manifestIndex"] if index is None else index
        for item in [record] + a["pins"]:
            need([item["v"], item["sessionId"], item["manifestIndex"]] == [1, sid, index], "a record is of another place")
            chain, index = digest(chain.encode() + b"\n" + jcs({k: v for k, v in item.items() if k != "chain"})), index + 1
            need(item["chain"] == chain, "the chain is broken")
        since = None if by not in log["keyids"] else first if since is None else since
        checked = None if by != keyid else first if checked is None else checked
    need(next_event == len(events) and log.get("head") == chain, "the end is wrong")
    need(log["signedSince"] == since and (since is None or log["keyids"]), "signedSince is wrong")
    return None if since is None else checked
scope = lambda e, name: e["scope"][name] if e and isinstance(e.get("scope"), dict) and isinstance(e["scope"].get(name), str) else ""
def facts(e, i):  # what a shown event adds to the summary, by list
    d, run = e.get("data"), scope(e, "runId")
    if e["kind"] == "run_started": yield "runs", dict(event=i, runId=run, workflowId=d["workflowId"], workflowHash=d["workflowHash"])
    reason = d["reason"]["category"] + ":" + d["reason"]["detail"] if e["kind"] == "gap_recorded" else None
    if reason: yield "gaps", dict(event=i, runId=run, severity=d["severity"], reason=reason)
    for c in d.get("checks", []) if e["kind"] == "advance_recorded" and d["outcome"]["kind"] == "advanced" else ():
        yield "checks", dict({k: c[k] for k in ("stepId", "checkId", "minimum")}, event=i, runId=run, grade=c.get("grade"))
    if e["kind"] == "attestation_recorded" and d["subject"]["kind"] == "attempt":
        signature = {"signedBy": {k: d["signature"][k] for k in SIGNER}} if "signature" in d else {}
        yield "approvals", dict(signature, event=i, runId=run, statement=d["statement"]["kind"], via=d["by"]["via"])
def tree_of(e, tree, commit):
    subject, statement = e["data"]["subject"], e["data"]["statement"]  # a person signs the subject, not the statement alone
    found = (subject.get("workspace", {}) if subject["kind"] == "attempt" else statement).get("treeDigest")
    wanted, is_ci = digest(jcs({"files": [], "status": "", "tree": tree, "v": 1})), e["data"]["by"]["via"] == "ci"
    if is_ci and found is None and subject["kind"] != "attempt": found, wanted = statement.get("headSha"), commit
    is_same = found == wanted and statement.get("changedDuring") is not True and "folder" not in statement
    return "unknown" if found is None or tree is None else "subject" if is_same else "other"
def step_of(node, nodes):  # the step that a node is, or is an attempt at; None if a node on the way is not shown
    for _ in nodes: node = nodes[node]["parentNodeId"] if node in nodes and nodes[node]["nodeKind"] != "step" else node
    return node if node in nodes and nodes[node]["nodeKind"] == "step" else None
def is_run(e, c):
    if not e or e["kind"] != "attestation_recorded": return False
    subject, wanted = e["data"]["subject"], [c["runId"], "step", c["stepId"], c["checkId"]]
    return wanted == [scope(e, "runId"), subject["kind"], subject.get("stepId"), e["data"]["statement"].get("checkId")]
def check_summary(p, tree, commit):
    events = [e and e["event"] for e in p["events"]]
    found = [fact for i, e in enumerate(events) if e for fact in facts(e, i)]
    for name in ("runs", "gaps", "checks", "approvals"):
        order = [x["event"] for x in p[name]]
        need(order == sorted(order) and all(x < len(events) for x in order), name + " are not in order")
        stated = [{k: v for k, v in x.items() if k not in WORDS} for x in p[name] if events[x["event"]]]
        need(stated == [fact for of, fact in found if of == name], name + " are not those of the events")
    nodes = {scope(e, "nodeId"): e["data"] for e in events if e and e["kind"] == "node_created" and scope(e, "nodeId")}
    step = lambda e: step_of(scope(e, "nodeId"), nodes)
    for c in p["checks"]:
        ran, at, before = c["ran"], step(events[c["event"]]), events[: c["event"]]
        may = [i for i, e in enumerate(before) if not e or is_run(e, c) and len({at, step(e)} - {None}) < 2]
        newest = max((i for i in may if before[i] and None is not at == step(before[i])), default=-1)
        need(ran is None or ran in may and ran >= newest, "another run counts")
        stated = "unknown" if ran is None else tree_of(before[ran], tree, commit) if before[ran] else c["tree"]
        need(c["tree"] == stated, "a check is about another tree")
    for e, stated in ((events[a["event"]], a["tree"]) for a in p["approvals"]):
        need(not e or stated == tree_of(e, tree, commit), "an approval is about another tree")
    draft = lambda a: events[a["event"]] and events[a["event"]]["data"]["subject"].get("digest")
    ends = lambda r, a: (r["statement"] == "rejected" != a["statement"] and r["event"] > a["event"]
                         and r["runId"] == a["runId"] and len({draft(r), draft(a)} - {None}) < 2)
    return [a["event"] for a in p["approvals"] if any(ends(r, a) for r in p["approvals"])]
def summary(p, named, ended):  # names are quoted: the key may have signed any text
    about = lambda x: ABOUT_WORDS[x["tree"]] + ("" if x["isOnLine"] else ", on a branch that the run left")
    yield "commit %s, tree %s" % (named["commit"]["gitCommit"], named["tree"]["gitTree"]) if "tree" in named else "no commit"
    for r in p["runs"]: yield "run of %s (%s): %s" % (r["workflowId"], r["workflowHash"], r["status"].replace("_", " "))
    for c in p["checks"]: yield "check %s: %s, %s" % (json.dumps(c["checkId"]), c["grade"] or "no grade", about(c))
    for a in p["approvals"]:
        by = "signature of %s not checked" % json.dumps(a["signedBy"]["name"]) if "signedBy" in a else "not signed"
        yield "%s via %s, %s, %s%s" % (a["statement"], a["via"], by, about(a), ", ended by a later rejection" * (a["event"] in ended))
def verify(data, pub, keyid):
    envelope = parse(data, ENVELOPE, "the file")
    (signature,), payload = envelope["signatures"], unbase64(envelope["payload"])
    need(signature["keyid"] == keyid, "it is signed by another key")
    pae = b"DSSEv1 28 application/vnd.in-toto+json %d " % len(payload) + payload
    need(is_signed(pae, signature["sig"], pub), "the signature is wrong")
    s = parse(payload, STATEMENT, "the payload")
    p, digests, names = s["predicate"], {x["name"]: x["digest"] for x in s["subject"]}, [x["name"] for x in s["subject"]]
    sid, n, tree = p["session"]["id"], p["session"]["events"], digests.get("tree", {}).get("gitTree")
    commit = digests.get("commit", {}).get("gitCommit")
    need(p["v"] == 1 and names in ([sid], ["commit", "tree", sid]), "the subject is wrong")
    root = sha(b"".join(map(bytes.fromhex, p["leaves"]))).hex()
    need(n > 0 and len(p["leaves"]) == n == len(p["events"]) and digests[sid]["sha256"] == root, "leaves are missing")
    need(p["withheld"]["events"] == [i for i, e in enumerate(p["events"]) if e is None], "withheld is wrong")
    for i, e in ((i, item["event"]) for i, item in enumerate(p["events"]) if item):
        leaf = sha(bytes.fromhex(p["events"][i]["salt"]) + jcs(e)).hex()
        need(leaf == p["leaves"][i] and fits(e.get("data"), DATA.get(e["kind"], object)), "event %d is not the signed one" % i)
        need(jcs(e["eventIndex"]) == jcs(i) and e["sessionId"] == sid, "event %d is misplaced" % i)
    since, ended, withheld = check_log(p, keyid, pub), check_summary(p, tree, commit), len(p["withheld"]["events"])
    log = "not signed by this key" if since is None else "signed from event %d on" % since
    first = "signed: %s, %d events, %d withheld, log %s, head %s" % (sid, n, withheld, log, p["log"].get("head"))
    return "\n    ".join([first, *summary(p, digests, ended)])
def main(args):
    *files, pub = args if len(args) > 1 else sys.exit(__doc__)
    der = subprocess.run(["openssl", "pkey", "-pubin", "-in", pub, "-outform", "DER"], stdout=subprocess.PIPE, check=True)
    if der.stdout[:12].hex() != "302a300506032b6570032100": sys.exit(pub + " is not an Ed25519 key")
    failed, keyid = False, sha(der.stdout).hex()
    for file in files:
        try: print(file + ": " + verify(pathlib.Path(file).read_bytes(), pub, keyid))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OSError) as why: failed = print("%s: refused: %s" % (file, why)) is None
    return int(failed)
if __name__ == "__main__": sys.exit(main(sys.argv[1:]))
