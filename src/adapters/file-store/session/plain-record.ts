import { hash } from 'node:crypto';
import type { Sha256Digest } from '../../../core/json/canonical-json.ts';
import { EventId, ID_BODY_PATTERN, SessionId } from '../../../core/log/ids.ts';
import { MANIFEST_VERSION, type ManifestRecord, segmentRelPath } from '../../../core/log/manifest.ts';

const NUMBER = '(0|[1-9][0-9]{0,8})';
const DIGEST = '"(sha256:[0-9a-f]{64})"';
const SESSION = `"(${SessionId.prefix}_${ID_BODY_PATTERN})"`;
const EVENT = `"(${EventId.prefix}_${ID_BODY_PATTERN})"`;
const SIGNATURE = '(?:,"sig":\\{"keyid":"([0-9a-f]{64})","sig":"([A-Za-z0-9+/]{85}[AQgw]==)"\\})?';

const SEGMENT = new RegExp(
  `^\\{"bytes":${NUMBER},"chain":${DIGEST},"firstEventIndex":${NUMBER},"kind":"segment_closed","lastEventIndex":${NUMBER},"manifestIndex":${NUMBER},"pins":${NUMBER},"segmentRelPath":"([^"\\\\]+)","sessionId":${SESSION},"sha256":${DIGEST}${SIGNATURE},"v":${MANIFEST_VERSION}\\}$`,
);
const PIN = new RegExp(
  `^\\{"chain":${DIGEST},"createdByEventId":${EVENT},"eventIndex":${NUMBER},"kind":"snapshot_pinned","manifestIndex":${NUMBER},"sessionId":${SESSION},"snapshotRef":${DIGEST},"v":${MANIFEST_VERSION}\\}$`,
);
const CHAIN_START = '"chain":"';
const CHAIN_LENGTH = `${CHAIN_START}sha256:",`.length + 64;

export type PlainRecord = {
  readonly record: ManifestRecord;
  /** The chain value that the record must have after another one. */
  readonly chainAfter: (previous: Sha256Digest) => string;
};

/**
 * Parses a line that is written exactly as we write it, to the byte. Such a line is canonical and has the right shape,
 * so neither is checked again; `undefined` says nothing about any other line. Nearly all lines qualify, and reading a
 * long manifest takes a third of the time.
 */
export function plainRecord(text: string): PlainRecord | undefined {
  const record = segmentIn(text) ?? pinIn(text);
  if (record === undefined) return undefined;
  const start = text.indexOf(CHAIN_START);
  const unchained = `${text.slice(0, start)}${text.slice(start + CHAIN_LENGTH)}`;
  return { record, chainAfter: (previous) => `sha256:${hash('sha256', `${previous}\n${unchained}`)}` };
}

function segmentIn(text: string): ManifestRecord | undefined {
  const found = SEGMENT.exec(text) ?? [];
  const [, size, chain, firstEvent, lastEvent, manifestIndex, pins, path, sessionId, sha256, keyid, sig] = found;
  const [firstEventIndex, lastEventIndex] = [Number(firstEvent), Number(lastEvent)];
  if (path === undefined || firstEventIndex > lastEventIndex) return undefined;
  if (path !== segmentRelPath(firstEventIndex, lastEventIndex)) return undefined;
  return {
    v: MANIFEST_VERSION,
    kind: 'segment_closed',
    manifestIndex: Number(manifestIndex),
    sessionId,
    chain,
    firstEventIndex,
    lastEventIndex,
    segmentRelPath: path,
    sha256,
    bytes: Number(size),
    pins: Number(pins),
    ...(sig === undefined ? {} : { sig: { keyid, sig } }),
  } as ManifestRecord;
}

function pinIn(text: string): ManifestRecord | undefined {
  const [, chain, createdByEventId, eventIndex, manifestIndex, sessionId, snapshotRef] = PIN.exec(text) ?? [];
  if (chain === undefined) return undefined;
  return {
    v: MANIFEST_VERSION,
    kind: 'snapshot_pinned',
    manifestIndex: Number(manifestIndex),
    sessionId,
    chain,
    eventIndex: Number(eventIndex),
    snapshotRef,
    createdByEventId,
  } as ManifestRecord;
}
