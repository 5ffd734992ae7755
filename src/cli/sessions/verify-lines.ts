import { WRONG_KIND } from '../../app/ports/store-failure.ts';
import type { AuditFinding } from '../../app/ports/upkeep.ts';
import { digestHex } from '../../core/json/canonical-json.ts';
import type { AuditFindingKind, DamageReason } from '../../core/log/health.ts';
import { signatureWords } from '../../core/log/log-signatures.ts';
import { plural, shortList, sizeOf } from '../../core/text/words.ts';
import type { SessionVerifyData } from '../../core/wire/machine-shapes.ts';
import { bad, dim, good, type Line, type LineSpan, notable } from '../output/line.ts';

/** What is wrong with the file, as the second half of a sentence. */
function findingWords({ what, offset, reason, version, code }: AuditFinding): string {
  if (what === 'unknown_version') return `has version ${version}, which this workrail cannot read`;
  if (what === 'unreadable') {
    const wrong = code === undefined ? undefined : WRONG_KIND[code];
    return wrong === undefined ? `cannot be read (${code})` : `must be a ${wrong.wanted}, but ${wrong.found} is there`;
  }
  if (reason === 'manifest_cut_short' && offset === undefined) return 'is missing or empty, although there are events';
  const words = WORDS_BY_KIND[what];
  return words ?? (reason === undefined ? 'is damaged' : WORDS_BY_REASON[reason]);
}

/** Kinds that are more precise than the reason. */
const WORDS_BY_KIND: { readonly [kind in AuditFindingKind]?: string } = {
  event_invalid: 'has an invalid event',
  history_inconsistent: 'has an event that contradicts earlier ones',
  orphan_segment: 'is not in the manifest, so it is ignored and later removed',
  torn_tail: 'ends in an interrupted write that was never confirmed; the next write removes it',
  torn_bytes_kept: 'holds the rest of an interrupted write',
  leftover_file: 'does not belong to the session, so it is ignored',
  origin_damaged:
    'does not say any more where the session comes from, so it counts as not accepted; to accept it: workrail session accept ID',
  salvage_mark: 'marks this as only part of a session, which can be read and exported but not continued',
};

const WORDS_BY_REASON: { readonly [reason in DamageReason]: string } = {
  manifest_not_json: 'has a line that is not valid JSON',
  manifest_wrong_record: 'has an invalid record',
  manifest_foreign_session: 'has a record of another session',
  manifest_chain_broken: 'has a record that was changed, moved or duplicated',
  manifest_index_gap: 'has a record with the wrong number',
  manifest_events_not_contiguous: 'lacks events between two records',
  manifest_pin_without_segment: 'has a record without the one it belongs to',
  manifest_pins_missing: 'lacks records of an earlier write',
  manifest_cut_short: 'ends too early: there are events after its end',
  manifest_replaced: 'lacks events that were already confirmed: it was cut or replaced while a process used it',
  segment_missing: 'is missing',
  segment_digest_mismatch: 'has changed since it was written',
  segment_not_json: 'has a line that is not valid JSON',
  segment_wrong_events: 'has different events from those that were recorded',
  content_missing: 'is missing',
  content_digest_mismatch: 'has changed since it was written',
  content_not_json: 'is not valid JSON',
  content_wrong_shape: 'has invalid content',
  salvaged: 'marks this as only part of a session, which cannot be continued',
};

type Session = SessionVerifyData['sessions'][number];

const GOOD: LineSpan = good('✓');

const BAD: LineSpan = bad('✗');

const PART: LineSpan = notable('–');

/**
 * What was found, each fact once, then the totals. Sessions without findings of their own are listed only if every session
 * is wanted.
 */
export function verifyLines(data: SessionVerifyData, isEachShown: boolean, against: Against = {}): readonly Line[] {
  const shown = data.sessions.filter(
    ({ findings, signature }) =>
      isEachShown || signature.kind === 'wrong' || findings.some((finding) => !isShared(finding)),
  );
  return [
    ...shown.flatMap((session) => [...sessionLines(session), ...signatureLines(session, isEachShown, against)]),
    ...sharedLines(data.sessions),
    totalsLine(data),
    ...limitLines(data, against),
  ];
}

/** Content is stored once for all sessions, so its problems are reported once. */
function isShared({ place }: AuditFinding): boolean {
  return !/^sessions[\\/]/.test(place);
}

function sessionLines({ sessionId, findings, ...session }: Session): readonly Line[] {
  const isNewer = session.health.kind === 'unknown_version';
  // What a newer program wrote is not left over, only because this one cannot read the record of it.
  const own = findings.filter((finding) => !isShared(finding) && !(isNewer && finding.what === 'orphan_segment'));
  return [
    [markOf(session), ` ${sessionId}  ${stateOf(session, own)}, ${sizeOf(session.bytes)}`],
    ...own.filter((finding) => !isLeftover(finding)).map(findingLine),
    ...leftoverLines(own.filter(isLeftover), own),
  ];
}

function findingLine(finding: AuditFinding): Line {
  return ['    ', labelOf(finding), `  ${sentence(finding)}`];
}

/** What interrupted writes left. There may be hundreds, and nobody has to do anything about them. */
function isLeftover({ what, place }: AuditFinding): boolean {
  return what === 'orphan_segment' || (what === 'leftover_file' && place.endsWith('.tmp'));
}

function leftoverLines(left: readonly AuditFinding[], own: readonly AuditFinding[]): readonly Line[] {
  const damages = own.filter(({ severity }) => severity === 'damage');
  if (damages.length === 0) return leftLines(left, LEFT);
  // A damaged manifest may have named any of them.
  const isNameLost = damages.some(({ place }) => /[\\/]manifest\.jsonl$/.test(place));
  const isLost = ({ what }: AuditFinding) => isNameLost && what === 'orphan_segment';
  return [
    ...leftLines(left.filter(isLost), LOST),
    ...leftLines(
      left.filter((finding) => !isLost(finding)),
      STAYS,
    ),
  ];
}

type LeftWords = { readonly one?: string; readonly many: string };

const LEFT: LeftWords = {
  many: 'are left from interrupted writes; after an hour the next write to the session or gc removes them',
};
/** Neither writers nor collection touch a damaged session. */
const STAYS: LeftWords = {
  one: 'is left from an interrupted write; it stays until the session is repaired or deleted',
  many: 'are left from interrupted writes; they stay until the session is repaired or deleted',
};
const LOST: LeftWords = {
  one: 'is not in the readable part of the manifest; it may hold events of the session, so keep it',
  many: 'are not in the readable part of the manifest; they may hold events of the session, so keep them',
};

function leftLines(left: readonly AuditFinding[], { one, many }: LeftWords): readonly Line[] {
  const [first, ...more] = left;
  if (first === undefined) return [];
  const said = (words: string): readonly Line[] => [['    ', labelOf(first), `  ${words}`]];
  if (more.length === 0) return one === undefined ? [findingLine(first)] : said(`${first.place} ${one}`);
  const folders = new Set(left.map(({ place }) => place.slice(0, place.search(/[\\/][^\\/]*$/))));
  return said(`In ${[...folders].join(' and ')}, ${left.length} files ${many}`);
}

function markOf({ health }: Pick<Session, 'health'>): LineSpan {
  if (health.kind === 'healthy') return GOOD;
  return health.kind === 'salvaged' ? PART : BAD;
}

function stateOf({ health, events }: Pick<Session, 'health' | 'events'>, own: readonly AuditFinding[]): string {
  const count = plural(events, 'event');
  if (health.kind === 'healthy') return `healthy: ${count}`;
  if (health.kind === 'salvaged') return `salvaged, read-only part of a session: ${count}`;
  if (!own.some(({ severity }) => severity === 'damage')) return `lacks content that it needs: ${count}`;
  return `${TROUBLE[health.kind]} ${events === 0 ? 'from the start' : `after ${count}`}`;
}

const TROUBLE: { readonly [kind in Exclude<Session['health']['kind'], 'healthy' | 'salvaged'>]: string } = {
  unreadable: 'cannot be read',
  unknown_version: 'written by a newer workrail',
  corrupt_head: 'damaged',
  corrupt_tail: 'damaged',
};

function labelOf({ severity }: AuditFinding): LineSpan {
  return { text: severity, style: severity === 'damage' ? 'bad' : 'notable' };
}

function sentence(finding: AuditFinding): string {
  const { place, offset } = finding;
  return `${place}${offset === undefined ? '' : ` at byte ${offset}`} ${findingWords(finding)}`;
}

function sharedLines(sessions: readonly Session[]): readonly Line[] {
  const shared = new Map<string, { readonly finding: AuditFinding; readonly neededBy: string[] }>();
  for (const { sessionId, findings } of sessions) {
    for (const finding of findings.filter(isShared)) {
      const known = shared.get(finding.place) ?? { finding, neededBy: [] };
      known.neededBy.push(sessionId);
      shared.set(finding.place, known);
    }
  }
  return [...shared.values()].map(({ finding, neededBy }) => [
    BAD,
    ` ${sentence(finding)}; needed by ${shortList(neededBy)}`,
  ]);
}

/** What sessions were checked against, if not only against the keys of this store. */
export type Against = { readonly keyFile?: string; readonly head?: string };

function signatureLines(
  { signature, head, knownUntil }: Session,
  isEachShown: boolean,
  against: Against,
): readonly Line[] {
  if (!isEachShown && signature.kind !== 'wrong') return [];
  const words = signatureWords(signature, against.keyFile === undefined ? undefined : `the key in ${against.keyFile}`);
  const isWeak = against.keyFile !== undefined && signature.kind !== 'signed';
  const known =
    knownUntil === undefined
      ? 'this log never had the head that you gave'
      : `unchanged up to event ${knownUntil}: it had the head that you gave`;
  return [
    ['    ', signature.kind === 'wrong' || isWeak ? bad(words) : dim(words)],
    ...(against.head === undefined ? [] : [['    ', knownUntil === undefined ? bad(known) : good(known)]]),
    ...(head === undefined ? [] : [['    ', dim(`head ${digestHex(head)}`)]]),
  ];
}

/** An intact chain is easily taken for a proof, and so is a signature. */
function limitLines({ sessions }: SessionVerifyData, { head }: Against): readonly Line[] {
  if (sessions.length === 0) return [];
  const signed = sessions.filter(({ signature }) => signature.kind === 'signed').length;
  if (signed === 0) return [[dim(CHECKED_CHAIN)]];
  const [all, some] = [plural(sessions.length, 'session'), `${signed} of ${plural(sessions.length, 'session')}`];
  const which = signed === sessions.length ? all : some;
  return [
    [dim(`Checked: the hash chain, and the signatures of ${which}. ${head === undefined ? SIGNED_LIMIT : HEAD_LIMIT}`)],
  ];
}

const CHECKED_CHAIN =
  'Checked: the hash chain without signatures, so only accidents were checked. Anyone who can write these files can change a session and recompute its hashes.';
const SIGNED_LIMIT =
  'Anyone who can read the keys of the store can sign a false history. The head is the hash of the last event; one that you kept from an earlier report or check shows whether anything up to it was changed. To compare: workrail session verify ID --head HEAD';
const HEAD_LIMIT = 'What follows the head is only signed, and anyone who can read the keys of the store can sign.';

function totalsLine({ dataDir, sessions: audits, totals }: SessionVerifyData): Line {
  const { sessions, damaged, events, bytes } = totals;
  const salvaged = audits.filter(({ health }) => health.kind === 'salvaged').length;
  const others = salvaged === 0 ? 'all' : 'the others';
  const verdict: LineSpan =
    damaged > 0 ? bad(`${damaged} damaged`) : good(sessions === salvaged ? 'none damaged' : `${others} healthy`);
  const parts: readonly LineSpan[] = salvaged === 0 ? [] : [notable(`${salvaged} salvaged, `)];
  const checked = `${plural(sessions, 'session')} checked in ${dataDir}, `;
  return [checked, ...parts, verdict, `: ${plural(events, 'event')}, ${sizeOf(bytes)}`];
}
