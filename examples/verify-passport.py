#!/usr/bin/env python3
"""Checks WorkRail passports with a public key, by docs/internals/passport.md. Needs Python 3.8 and the openssl program.

usage: verify-passport.py PASSPORT... PUB.pem      exit code 0 only if every passport holds
"""
import base64, hashlib, json, re, subprocess, sys, tempfile
from decimal import Decimal

TYPES = ["https://in-toto.io/Statement/v1", "https://workrail.dev/passport/v1"]
HEX, GIT = re.compile(r"[0-9a-f]{64}"), re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")

def need(holds, what):
    if not holds:
        raise ValueError(what)

def number(x):
    """A number as ECMAScript writes it."""
    if isinstance(x, int) and abs(x) <= 2**53:
        return str(x)
    minus, digits, exponent = Decimal(repr(float(x))).normalize().as_tuple()
    sign, d = "-" if minus else "", "".join(map(str, digits))
    k, n = len(d), len(d) + exponent
    if 0 < n <= 21:
        return "0" if d == "0" else sign + (d + "0" * (n - k) if k <= n else d[:n] + "." + d[n:])
    if -6 < n <= 0:
        return sign + "0." + "0" * -n + d
    return sign + d[0] + ("." + d[1:] if k > 1 else "") + "e" + ("+" if n > 0 else "-") + str(abs(n - 1))

def text(x):
    if x is None or isinstance(x, (bool, str)):
        return json.dumps(x, ensure_ascii=False)
    if not isinstance(x, (dict, list)):
        return number(x)
    if isinstance(x, list):
        return "[" + ",".join(map(text, x)) + "]"
    names = sorted(x, key=lambda name: name.encode("utf-16-be"))
    return "{" + ",".join(json.dumps(n, ensure_ascii=False) + ":" + text(x[n]) for n in names) + "}"

def jcs(x):
    return text(x).encode("utf-8")

def parse(data, what):
    value = json.loads(data.decode("utf-8"), parse_int=lambda s: int(s) if abs(int(s)) <= 2**53 else float(s))
    need(jcs(value) == data, what + " is not canonical")
    return value

sha = lambda data: hashlib.sha256(data).digest()
digest = lambda data: "sha256:" + sha(data).hex()

def unbase64(s):
    data = base64.b64decode(s, validate=True)
    need(base64.b64encode(data).decode() == s, "base64 is not canonical")
    return data

def fields(x, *names):
    need(set(x) == set(names), "fields are not " + ", ".join(names))

def is_signed(message, sig, pub):
    with tempfile.NamedTemporaryFile() as m, tempfile.NamedTemporaryFile() as s:
        m.write(message), m.flush(), s.write(sig), s.flush()
        args = ["openssl", "pkeyutl", "-verify", "-pubin", "-inkey", pub, "-rawin", "-in", m.name, "-sigfile", s.name]
        return subprocess.run(args, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0

def check_log(p, keyid, pub):
    log, events, sid = p["log"], [e and e["event"] for e in p["events"]], p["session"]["id"]
    fields(log, "appends", "keyids", "signedSince", *(["head"] if "head" in log else []))
    chain, next_event, index, since, checked = digest(("workrail:" + sid).encode()), 0, 0, None, None
    for a in log["appends"]:
        record = a.get("record")
        first, last = (record or a)["firstEventIndex"], (record or a)["lastEventIndex"]
        need(first == next_event and first <= last < len(events), "appends have gaps")
        next_event, mine = last + 1, events[first : last + 1]
        if record is None:
            fields(a, "firstEventIndex", "lastEventIndex", *(["chain"] if "chain" in a else []))
            need(chain is None or None in mine, "an append is hidden without need")
            chain, index = a.get("chain"), None
            since = None if chain is None else first if since is None else since
            checked = None if chain is None or set(log["keyids"]) - {keyid} else first if checked is None else checked
            continue
        fields(a, "record", "pins")
        need(chain is not None and None not in mine, "an append is shown that cannot be")
        segment = b"".join(jcs(e) + b"\n" for e in mine)
        need(record["sha256"] == digest(segment) and record["bytes"] == len(segment), "a segment is not the recorded one")
        nodes = [e for e in mine if e["kind"] == "node_created"]
        need(record["kind"] == "segment_closed" and record["pins"] == len(nodes) == len(a["pins"]), "pins are missing")
        for e, pin in zip(nodes, a["pins"]):
            same = [pin["eventIndex"], pin["createdByEventId"], pin["snapshotRef"], pin["kind"]]
            need(same == [e["eventIndex"], e["eventId"], e["data"]["snapshotRef"], "snapshot_pinned"], "a pin is wrong")
        if record.get("sig", {}).get("keyid") == keyid:
            bare = {k: v for k, v in record.items() if k not in ("chain", "sig")}
            signed = sha(chain.encode() + b"\n" + jcs(bare))
            need(is_signed(signed, unbase64(record["sig"]["sig"]), pub), "an append has a wrong signature")
        index = record["manifestIndex"] if index is None else index
        for i, item in enumerate([record] + a["pins"]):
            need(item["v"] == 1 and item["sessionId"] == sid, "a record is of another session")
            need(item["manifestIndex"] == index + i, "records are not counted")
            chain = digest(chain.encode() + b"\n" + jcs({k: v for k, v in item.items() if k != "chain"}))
            need(item["chain"] == chain, "the chain is broken")
        by, index = record.get("sig", {}).get("keyid"), index + 1 + len(nodes)
        since = None if by not in log["keyids"] else first if since is None else since
        checked = None if by != keyid else first if checked is None else checked
    need(next_event == len(events) and log.get("head") == chain and log["signedSince"] == since, "the end is wrong")
    return None if since is None else checked

def facts(e, i):
    """What a shown event adds to the summary, by list."""
    d, run = e.get("data", {}), e.get("scope", {}).get("runId") if e.get("scope") else None
    if e["kind"] == "run_started":
        yield "runs", dict(event=i, runId=run, workflowId=d["workflowId"], workflowHash=d["workflowHash"])
    if e["kind"] == "gap_recorded":
        reason = d["reason"]["category"] + ":" + d["reason"]["detail"]
        yield "gaps", dict(event=i, runId=run, severity=d["severity"], reason=reason)
    if e["kind"] == "advance_recorded" and d["outcome"]["kind"] == "advanced":
        for c in d.get("checks", []):
            names = {k: c[k] for k in ("stepId", "checkId", "minimum")}
            yield "checks", dict(names, event=i, runId=run, grade=c.get("grade"))
    if e["kind"] == "attestation_recorded" and d["subject"]["kind"] == "attempt":
        signature = {"signedBy": {k: d["signature"][k] for k in ("fingerprint", "name")}} if "signature" in d else {}
        yield "approvals", dict(signature, event=i, runId=run, statement=d["statement"]["kind"], via=d["by"]["via"])

def tree_of(e, tree):
    said = e["data"] if e else {}
    found = said.get("statement", {}).get("treeDigest") or said.get("subject", {}).get("workspace", {}).get("treeDigest")
    if found is None or tree is None:
        return "unknown"
    clean = digest(jcs({"files": [], "status": "", "tree": tree, "v": 1}))
    return "subject" if found == clean and said["statement"].get("changedDuring") is not True else "other"

def check_summary(p, tree):
    events = [e and e["event"] for e in p["events"]]
    found = {"runs": [], "gaps": [], "checks": [], "approvals": []}
    for i, e in enumerate(events):
        for name, fact in facts(e, i) if e else ():
            found[name].append(fact)
    for name, expected in found.items():
        order = [x["event"] for x in p[name]]
        need(order == sorted(order) and all(0 <= x < len(events) for x in order), name + " are not in order")
        words = ("status", "isOpen", "isOnLine", "ran", "tree")
        stated = [{k: v for k, v in x.items() if k not in words} for x in p[name] if events[x["event"]]]
        need(stated == expected, name + " are not those of the events")
    for c in p["checks"]:
        need(c["ran"] is None or 0 <= c["ran"] < c["event"], "a check ran later")
        ran = None if c["ran"] is None else events[c["ran"]]
        if ran:
            s = ran["data"]["subject"]
            same = [ran["kind"], ran["scope"]["runId"], s["kind"], s["stepId"], ran["data"]["statement"]["checkId"]]
            need(same == ["attestation_recorded", c["runId"], "step", c["stepId"], c["checkId"]], "another check ran")
        need(c["tree"] == tree_of(ran, tree) or (c["ran"] is not None and not ran), "a check is about another tree")
    for e, stated in ((events[a["event"]], a["tree"]) for a in p["approvals"]):
        need(not e or stated == tree_of(e, tree), "an approval is about another tree")

def verify(data, pub, keyid):
    envelope = parse(data, "the file")
    fields(envelope, "payload", "payloadType", "signatures")
    need(envelope["payloadType"] == "application/vnd.in-toto+json", "the payload has another type")
    (signature,) = envelope["signatures"]
    fields(signature, "keyid", "sig")
    payload, sig = unbase64(envelope["payload"]), unbase64(signature["sig"])
    need(signature["keyid"] == keyid, "it is signed by another key")
    pae = b"DSSEv1 28 application/vnd.in-toto+json %d " % len(payload) + payload
    need(len(sig) == 64 and is_signed(pae, sig, pub), "the signature is wrong")
    s = parse(payload, "the payload")
    fields(s, "_type", "subject", "predicateType", "predicate")
    need([s["_type"], s["predicateType"]] == TYPES, "not a passport")
    p, digests = s["predicate"], {x["name"]: x["digest"] for x in s["subject"]}
    fields(p, *"v session made leaves events withheld log runs gaps checks approvals".split())
    names, sid, n = [x["name"] for x in s["subject"]], p["session"]["id"], p["session"]["events"]
    need(p["v"] == 1 and names in ([sid], ["commit", "tree", sid]), "the subject is wrong")
    tree = digests.get("tree", {}).get("gitTree")
    need(len(names) == 1 or GIT.fullmatch(tree) and GIT.fullmatch(digests["commit"]["gitCommit"]), "no commit")
    need(len(p["leaves"]) == n == len(p["events"]) and all(map(HEX.fullmatch, p["leaves"])), "leaves are missing")
    need(digests[sid]["sha256"] == sha(b"".join(map(bytes.fromhex, p["leaves"]))).hex(), "the root is wrong")
    need(p["withheld"]["events"] == [i for i, e in enumerate(p["events"]) if e is None], "withheld is wrong")
    for i, item in enumerate(p["events"]):
        if item is not None:
            fields(item, "salt", "event")
            e = item["event"]
            need(sha(bytes.fromhex(item["salt"]) + jcs(e)).hex() == p["leaves"][i], "event %d is not the signed one" % i)
            need(HEX.fullmatch(item["salt"]) and e["eventIndex"] == i and e["sessionId"] == sid, "event %d is misplaced" % i)
    since = check_log(p, keyid, pub)
    check_summary(p, tree)
    log = "not signed by this key" if since is None else "signed since event %d" % since
    return "signed: %s, %d events, %d withheld, log %s, head %s" % (sid, n, n - sum(map(bool, p["events"])), log, p["log"].get("head"))

def main(args):
    if len(args) < 2:
        sys.exit(__doc__)
    *files, pub = args
    der = subprocess.run(["openssl", "pkey", "-pubin", "-in", pub, "-outform", "DER"], stdout=subprocess.PIPE, check=True)
    failed = False
    for file in files:
        try:
            with open(file, "rb") as f:
                print(file + ": " + verify(f.read(), pub, sha(der.stdout).hex()))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OSError) as why:
            failed = print("%s: refused: %s" % (file, why)) is None
    return int(failed)

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
