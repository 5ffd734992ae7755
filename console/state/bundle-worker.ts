import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { err, ok, Result } from 'neverthrow';
import * as z from 'zod';
import { bundleRefusalWords } from '../../src/core/bundle/bundle-refusal.ts';
import type { BundleTools } from '../../src/core/bundle/bundle-tools.ts';
import { viewBundle } from '../../src/core/bundle/view-bundle.ts';
import type { ParsedJson, Sha256Digest } from '../../src/core/json/canonical-json.ts';
import { defined } from '../../src/core/json/json-value.ts';
import type { ErrorEnvelope } from '../../src/core/log/error-envelope.ts';
import type { NodeId, RunId } from '../../src/core/log/ids.ts';
import { fillReply } from '../../src/core/log/operation/stored-reply.ts';
import type { ReportSource } from '../../src/core/report/build/report-source.ts';
import { titleOf } from '../../src/core/sessions/board-rows.ts';
import { runData } from '../../src/core/sessions/describe-session.ts';
import { type ReportPages, reportPages } from '../../src/core/sessions/report-pages.ts';
import { runStanding } from '../../src/core/sessions/run-standing.ts';
import { sessionState } from '../../src/core/sessions/session-state.ts';
import { replyAt } from '../../src/core/views/history.ts';
import { preferredTip } from '../../src/core/views/run-status.ts';
import type { ConsoleReply } from '../../src/core/wire/console-shapes.ts';
import type { OpenedBundle, WorkerReply, WorkerRequest } from './open-bundle.ts';

// The policy of the page forbids making code from texts.
z.config({ jitless: true });

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const parse = Result.fromThrowable(
  (bytes: Uint8Array): ParsedJson => {
    const text = decoder.decode(bytes);
    return { text, value: JSON.parse(text), bytes };
  },
  () => 'not_json' as const,
);

function parseText(bytes: Uint8Array): Result<ParsedJson, 'not_json' | 'reserved_name'> {
  return parse(bytes).andThen((parsed) => (hasName(parsed.value, '__proto__') ? err('reserved_name') : ok(parsed)));
}

function hasName(value: unknown, name: string): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.hasOwn(value, name) || Object.values(value).some((inner) => hasName(inner, name));
}

const base64 = Result.fromThrowable(atob, () => undefined);

const digest = (bytes: Uint8Array): Sha256Digest => `sha256:${bytesToHex(sha256(bytes))}`;

const tools: BundleTools = {
  sha256: digest,
  digestOf: digest,
  runningSha256: () => {
    const hash = sha256.create();
    return { add: (bytes) => void hash.update(bytes), digest: () => `sha256:${bytesToHex(hash.digest())}` };
  },
  parseJson: (bytes) => parseText(bytes).map(({ value }) => value),
  parseText,
  toBase64: (bytes) => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join('')),
  fromBase64: (text) => {
    const decoded = base64(text);
    // Browsers accept several spellings of the same bytes.
    if (decoded.isErr() || btoa(decoded.value) !== text) return undefined;
    return Uint8Array.from(decoded.value, (letter) => letter.charCodeAt(0));
  },
};

let source: ReportSource | undefined;
let pages: ReportPages | undefined;

function open(bytes: ArrayBuffer): Result<OpenedBundle, ErrorEnvelope> {
  return viewBundle(new Uint8Array(bytes), tools)
    .map((viewed) => {
      source = viewed.source;
      pages = reportPages(source);
      const { refusal } = viewed;
      const first = `Event ${viewed.source.events.length} is the first that does not fit.`;
      const problem = refusal && `${bundleRefusalWords(refusal)}${viewed.isCut ? ` ${first}` : ''}`;
      return { session: sessionOf(viewed.source), problem };
    })
    .mapErr((refusal) => ({
      code: refusal.code,
      message: bundleRefusalWords(refusal),
      suggestion: 'Choose a file that "workrail export --as bundle" wrote.',
      retry: { kind: 'not_retryable' as const },
    }));
}

function sessionOf({ sessionId, salvage, view, snapshots, workflows, closed }: ReportSource) {
  const standings = [...view.graph.runs.values()].map((run) => {
    const tip = preferredTip(view.graph, run.runId);
    const snapshot = tip && snapshots.get(tip.snapshotRef);
    const workflow = workflows.get(run.pinned.workflowHash);
    return runStanding(run, { view, snapshot, workflow, closed, isImported: true });
  });
  const damage = { reason: 'salvaged', place: 'the file', offset: 0 } as const;
  const session: ConsoleReply<'session'> = {
    sessionId,
    shortId: sessionId.slice(-6),
    state: salvage === undefined ? sessionState(standings) : 'salvaged',
    health: salvage === undefined ? { kind: 'healthy' } : { kind: 'corrupt_tail', damage },
    ...defined({ title: titleOf(standings), salvage }),
    isKept: false,
    runs: standings.map(runData),
  };
  return session;
}

const TOKEN_PLACE = '…';

/** What the agent was sent when a step became the current one. */
function promptAt(nodeId: NodeId): Result<unknown, ErrorEnvelope> {
  const reply = replyAt(source?.events ?? [], nodeId);
  if (reply === undefined) return err(NOT_IN_FILE);
  const holes = { sessionId: TOKEN_PLACE, stateToken: TOKEN_PLACE, ackToken: TOKEN_PLACE };
  const { text } = fillReply(reply, { ...holes, checkpointToken: TOKEN_PLACE, againToken: TOKEN_PLACE });
  return ok({ text, isStored: true });
}

const NOT_IN_FILE: ErrorEnvelope = {
  code: 'VALIDATION_ERROR',
  message: 'The file does not have this.',
  suggestion: 'Import it to see everything that can be made from it.',
  retry: { kind: 'not_retryable' },
};

type Place = { readonly node: NodeId; readonly run: RunId; readonly query: object };

/** The same that the server answers about sessions of its store. */
function pageOf(name: string, { node, run, query }: Place): unknown {
  const { line = 'main', from, around, by } = query as PageQuery;
  switch (name) {
    case 'run':
      return pages?.run(run);
    case 'notes':
      return pages?.notes(run, { line, from: around ?? from ?? 0, count: NOTES_IN_A_WINDOW });
    case 'step':
      return pages?.step(node, { by, line });
    case 'raw':
      return pages?.raw(node, { by });
    default:
      return undefined;
  }
}

type PageQuery = {
  readonly line?: string;
  readonly from?: number;
  readonly around?: NodeId;
  readonly by?: NodeId;
};

const NOTES_IN_A_WINDOW = 50;

function answer(asked: WorkerRequest): Result<unknown, ErrorEnvelope> {
  if (asked.kind === 'open') return open(asked.bytes);
  const { node, run } = asked.places as { readonly node: NodeId; readonly run: RunId };
  if (asked.name === 'prompt') return promptAt(node);
  const found = pageOf(asked.name, { node, run, query: asked.query });
  return found === undefined ? err(NOT_IN_FILE) : ok(found);
}

addEventListener('message', ({ data }: MessageEvent<WorkerRequest>) => {
  const { id } = data;
  const reply: WorkerReply = answer(data).match(
    (value) => ({ id, value }),
    (error) => ({ id, error }),
  );
  postMessage(reply);
});
