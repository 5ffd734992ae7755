import { ownJsonBytes, type Sha256Digest } from '../json/canonical-json.ts';
import { defined, type JsonValue } from '../json/json-value.ts';
import { PRESETS } from '../log/autonomy.ts';
import type { SessionEvent } from '../log/event.ts';
import type { ExecutionSnapshot } from '../log/execution-snapshot.ts';
import type { ArtifactDigest, NodeId, SessionId, SnapshotRef } from '../log/ids.ts';
import { appendSignature, chainHead, type LogKey } from '../log/log-signatures.ts';
import { chainGenesis, type LogSignature, type SegmentClosed, type SnapshotPinned } from '../log/manifest.ts';
import { bytesOfHex } from '../text/binary-text.ts';
import { runsBefore } from '../views/line-checks.ts';
import { unresolvedGaps } from '../views/node-facts.ts';
import { nodeOf } from '../views/run-graph.ts';
import { preferredTip, runStatus } from '../views/run-status.ts';
import type { SessionView } from '../views/session-view.ts';
import {
  leafOf,
  PAYLOAD_TYPE,
  type PassportAppend,
  type PassportStatement,
  type PassportTools,
  PREDICATE_TYPE,
  type Predicate,
  preAuthEncoding,
  rootOfLeaves,
  STATEMENT_TYPE,
} from './passport.ts';
import { type EventFacts, factsOf, isRunOf, treeOfAttestation } from './summary.ts';
import { type WithheldReason, type Withholding, withheldEvents } from './withhold.ts';

/** A whole session, as it was read for the passport. */
export type PassportSource = {
  readonly sessionId: SessionId;
  readonly appends: readonly { readonly segment: SegmentClosed; readonly pins: readonly SnapshotPinned[] }[];
  readonly events: readonly SessionEvent[];
  readonly snapshots: ReadonlyMap<SnapshotRef, ExecutionSnapshot>;
  /** What artifacts contain, to find what is withheld in them. */
  readonly contents: ReadonlyMap<ArtifactDigest, JsonValue>;
  readonly view: SessionView;
};

export type PassportMaking = {
  /** The commit and tree that the run is about; absent outside of a repository. */
  readonly subject: { readonly commit: string; readonly tree: string } | undefined;
  readonly withholding: Withholding;
  readonly made: Predicate['made'];
  readonly tools: PassportTools;
  /** 32 bytes for an event that nobody can guess. */
  readonly saltOf: (event: string) => Uint8Array;
  readonly key: { readonly keyid: string; readonly signBytes: (message: Uint8Array) => string };
  /** The public keys of the store. A signature of the log by any other key counts as none: nobody here can check it. */
  readonly keys: readonly LogKey[];
};

/** A session as one signed file, which others can check with the public key alone. */
export function makePassport(
  source: PassportSource,
  making: PassportMaking,
): { bytes: Uint8Array; statement: PassportStatement; withheld: ReadonlyMap<number, WithheldReason> } {
  const withheld = withheldEvents(source, making.withholding, { subject: making.subject, sha256: making.tools.sha256 });
  const statement = statementOf(source, making, withheld);
  const payload = ownJsonBytes(statement);
  const { keyid, signBytes } = making.key;
  const signature: LogSignature = { keyid, sig: signBytes(preAuthEncoding(payload)) };
  const envelope = { payload: making.tools.toBase64(payload), payloadType: PAYLOAD_TYPE, signatures: [signature] };
  return { bytes: ownJsonBytes(envelope), statement, withheld };
}

function statementOf(
  source: PassportSource,
  making: PassportMaking,
  withheld: ReadonlyMap<number, WithheldReason>,
): PassportStatement {
  const { sessionId, events } = source;
  const { subject, made, tools, saltOf } = making;
  // Of the content too: after a restored backup, another event can have the place of one whose salt was shown.
  const salts = events.map((event) => saltOf(`${sessionId}/${event.eventIndex}/${tools.sha256(ownJsonBytes(event))}`));
  const leaves = events.map((event, i) => leafOf(salts[i] as Uint8Array, event, tools));
  const signers = signersOfAppends(source, making);
  const appends = shownAppends(source, withheld, signers);
  const last = appends.at(-1);
  const isHeadShown = last !== undefined && ('record' in last || last.chain !== undefined);
  return {
    _type: STATEMENT_TYPE,
    subject: [
      ...(subject === undefined
        ? []
        : [
            { name: 'commit' as const, digest: { gitCommit: subject.commit } },
            { name: 'tree' as const, digest: { gitTree: subject.tree } },
          ]),
      { name: sessionId, digest: { sha256: rootOfLeaves(leaves, tools) } },
    ],
    predicateType: PREDICATE_TYPE,
    predicate: {
      v: 1,
      session: { id: sessionId, events: events.length },
      made,
      ...summaryOf(source, subject ?? {}, tools),
      log: {
        ...defined({ head: isHeadShown ? chainHead(source.appends) : undefined }),
        ...signedEnd(source, signers),
        appends,
      },
      leaves,
      events: events.map((event, i) =>
        withheld.has(event.eventIndex) ? null : { salt: hex(salts[i] as Uint8Array), event: event as unknown as never },
      ),
      withheld: { kinds: [...making.withholding.kinds].sort(), events: [...withheld.keys()].sort((a, b) => a - b) },
    },
  };
}

/**
 * The records of each append, unless they hold a hash of something withheld. A chain value after such an append is shown
 * only if the append is signed: without its signature, which nobody can guess, the chain value is a hash of the content.
 */
function shownAppends(
  { appends }: PassportSource,
  withheld: ReadonlyMap<number, unknown>,
  signers: AppendSigners,
): PassportAppend[] {
  let isChainShown = true;
  return appends.map(({ segment, pins }, append): PassportAppend => {
    const { firstEventIndex, lastEventIndex } = segment;
    let isWhole = isChainShown;
    for (let i: number = firstEventIndex; i <= lastEventIndex; i++) if (withheld.has(i)) isWhole = false;
    if (isWhole) return { record: segment, pins: [...pins] };
    isChainShown = signers[append] !== undefined;
    const chain = isChainShown ? ((pins.at(-1) ?? segment).chain as Sha256Digest) : undefined;
    return { firstEventIndex, lastEventIndex, ...defined({ chain }) };
  });
}

/** For each append the key of the store that signed it; `undefined` where no key of the store did. */
type AppendSigners = readonly (string | undefined)[];

function signersOfAppends({ sessionId, appends }: PassportSource, { tools, keys }: PassportMaking): AppendSigners {
  const means = { sha256: tools.sha256, bytesOf: (digest: string) => bytesOfHex(digest.slice('sha256:'.length)), keys };
  let chain = chainGenesis(sessionId, tools.sha256);
  return appends.map(({ segment, pins }) => {
    const { kind, keyid } = appendSignature(chain, segment, means);
    ({ chain } = pins.at(-1) ?? segment);
    return kind === 'signed' ? keyid : undefined;
  });
}

/** From which event on every append is signed by the store, and with which keys. */
function signedEnd(
  { appends }: PassportSource,
  signers: AppendSigners,
): Pick<Predicate['log'], 'signedSince' | 'keyids'> {
  const first = signers.lastIndexOf(undefined) + 1;
  const keyids = new Set(signers.slice(first).flatMap((keyid) => keyid ?? []));
  return { signedSince: appends[first]?.segment.firstEventIndex ?? null, keyids: [...keyids] };
}

type Summary = Pick<Predicate, 'runs' | 'gaps' | 'checks' | 'approvals'>;

function summaryOf(
  source: PassportSource,
  subject: Partial<NonNullable<PassportMaking['subject']>>,
  tools: PassportTools,
): Summary {
  const { events, view, snapshots } = source;
  const lines = linesOf(view);
  const facts = events.map((event) => factsOf(event, event.eventIndex));
  const snapshotOf = (ref: SnapshotRef) => snapshots.get(ref) as ExecutionSnapshot;
  const sources = { snapshotOf, defaults: PRESETS.guided };
  return {
    runs: facts.flatMap(({ runs }) => runs.map((run) => ({ ...run, status: runStatus(view, run.runId, sources) }))),
    gaps: facts.flatMap(({ gaps }) => gaps.map((gap) => ({ ...gap, isOpen: lines.openGaps.has(gap.event) }))),
    checks: facts.flatMap(({ checks }) =>
      checks.map((check) => {
        const ran = countedRun(source, check);
        const isOnLine = lines.has(doneNode(events[check.event]));
        return { ...check, ran: ran?.eventIndex ?? null, tree: treeOfAttestation(ran, subject, tools), isOnLine };
      }),
    ),
    approvals: facts.flatMap(({ approvals }) =>
      approvals.map((approval) => ({
        ...approval,
        tree: treeOfAttestation(events[approval.event], subject, tools),
        isOnLine: lines.has(askedNode(view, events[approval.event])),
      })),
    ),
  };
}

/**
 * The run of a command that a grade rests on: the newest at the attempts that led to the advance. The same step on another
 * branch ran on other files. A grade below observed is the agent's word, unless a run was limited to that.
 */
function countedRun({ events, view }: PassportSource, check: EventFacts['checks'][number]): SessionEvent | undefined {
  const done = doneNode(events[check.event]);
  const node = done === undefined ? undefined : nodeOf(view.graph, done);
  if (node === undefined || node.parentNodeId === null) return undefined;
  const ran = runsBefore(view, node.parentNodeId, node.createdIndex).get(check.checkId);
  if (ran === undefined || ran.data.statement.kind !== 'check' || !isRunOf(ran, check)) return undefined;
  const { unseen, chosenByAgent, base, exitCode, timedOut } = ran.data.statement;
  const hasPassed = exitCode === 0 && !timedOut && base?.exitCode !== 0;
  const isLimited = hasPassed && (unseen === true || chosenByAgent === true || base !== undefined);
  return check.grade === 'observed' || check.grade === 'verified' || isLimited ? ran : undefined;
}

/** The nodes on the line that each run ended on, and the gaps that are open there. */
function linesOf(view: SessionView) {
  const nodes = new Set<NodeId>();
  const openGaps = new Set<number>();
  for (const { runId } of view.graph.runs.values()) {
    const tip = preferredTip(view.graph, runId);
    for (let id: NodeId | null = tip?.nodeId ?? null; id !== null; id = nodeOf(view.graph, id).parentNodeId)
      nodes.add(id);
    for (const gap of tip === undefined ? [] : unresolvedGaps(view.gaps, tip.nodeId)) openGaps.add(gap.eventIndex);
  }
  return { openGaps, has: (id: NodeId | undefined) => id !== undefined && nodes.has(id) };
}

function doneNode(event: SessionEvent | undefined): NodeId | undefined {
  if (event?.kind !== 'advance_recorded' || event.data.outcome.kind !== 'advanced') return undefined;
  return event.data.outcome.toNodeId;
}

/** The step that was asked about: an answer is recorded at one of its attempts. */
function askedNode({ graph }: SessionView, event: SessionEvent | undefined): NodeId | undefined {
  if (event?.kind !== 'attestation_recorded') return undefined;
  let node = nodeOf(graph, event.scope.nodeId);
  while (node.kind !== 'step' && node.parentNodeId !== null) node = nodeOf(graph, node.parentNodeId);
  return node.nodeId;
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
