import { err, ok, type Result } from 'neverthrow';
import { BUNDLE_BYTES_MAX } from '../../core/bundle/bundle-document.ts';
import { defined } from '../../core/json/json-value.ts';
import type { ErrorEnvelope } from '../../core/log/error-envelope.ts';
import { SessionId } from '../../core/log/ids.ts';
import { signatureWords } from '../../core/log/log-signatures.ts';
import { WITHHELD_KINDS } from '../../core/passport/passport.ts';
import { type ComparedSide, compareLines, sideLabel } from '../../core/report/compare-lines.ts';
import type { Report, ReportRun, ReportSession } from '../../core/report/report.ts';
import { titleOf } from '../../core/sessions/board-rows.ts';
import { listedSessionData } from '../../core/sessions/describe-session.ts';
import { brokenState } from '../../core/sessions/session-state.ts';
import { searchWords } from '../../core/text/search-words.ts';
import { editDistance } from '../../core/text/spelling.ts';
import type { ConsoleInput, ConsoleLine, ConsoleReply } from '../../core/wire/console-shapes.ts';
import { type ExportServices, exportSession } from '../bundle/export-session.ts';
import { type ImportServices, importSession } from '../bundle/import-session.ts';
import { exportPassport, type PassportServices } from '../passport.ts';
import type { BundleOutput } from '../ports/bundle-output.ts';
import type { LoadRefusal } from '../ports/session-store.ts';
import type { BinRefusal, RestoreRefusal, SessionBin } from '../ports/upkeep.ts';
import { readReport } from '../report.ts';
import { acceptSession } from '../upkeep/accept-session.ts';
import { type CloseRefusal, closeRuns } from '../upkeep/close-runs.ts';
import type { ConsoleServices } from './console-pages.ts';
import { type FoundSession, type SearchHit, searchSessions } from './search-sessions.ts';
import { sessionBoard } from './session-board.ts';

/** What bringing sessions in and out of the store, and putting them away, needs. */
export type ExchangeServices = ConsoleServices &
  ImportServices &
  ExportServices &
  PassportServices & { readonly bin: SessionBin };

/** Closes, reopens, protects or deletes a session, or restores it from the bin. */
export async function markSession(
  services: ExchangeServices,
  sessionId: SessionId,
  { mark }: ConsoleInput<'mark'>,
): Promise<Result<ConsoleReply<'mark'>, ErrorEnvelope>> {
  const marked = await setMark(services, sessionId, mark);
  return marked.isErr() ? err(services.explain(marked.error)) : ok({});
}

function setMark(
  services: ExchangeServices,
  sessionId: SessionId,
  mark: ConsoleInput<'mark'>['mark'],
): Promise<Result<unknown, LoadRefusal | CloseRefusal | BinRefusal | RestoreRefusal>> {
  switch (mark) {
    case 'kept':
    case 'not_kept':
      return services.marks.setKept(sessionId, mark === 'kept');
    case 'closed':
    case 'open':
      return closeRuns(services, { sessionId, isUndone: mark === 'open' });
    case 'deleted':
      return services.bin.put(sessionId, services.clock.nowMs());
    case 'restored':
      return services.bin.restore(sessionId);
  }
}

type ImportLine = ConsoleLine<'import'>;

/** Imports a bundle, or says what importing it would do. */
export async function importBundle(
  services: ExchangeServices,
  { bytes, asked }: { readonly bytes: Uint8Array; readonly asked: ConsoleInput<'import'> },
  tell: (line: ImportLine) => void,
): Promise<ImportLine> {
  if (isSealed(bytes)) return { kind: 'refused', error: SEALED };
  if (bytes.length > BUNDLE_BYTES_MAX) return { kind: 'refused', error: TOO_LARGE };
  const isDryRun = asked.dry === '1';
  if (!isDryRun && asked.accept === '1' && !services.mayDecide) {
    return { kind: 'refused', error: services.explain({ code: 'not_at_terminal' }) };
  }
  const chooseUpdate = async () => (asked.update === '1' ? 'update' : 'copy');
  const imported = await importSession(services, { bytes, isDryRun, chooseUpdate }, ({ done, total }) =>
    tell({ kind: 'progress', done, total }),
  );
  if (imported.isErr()) return { kind: 'refused', error: services.explain(imported.error) };
  const { kind: what, from, sessionId, events, runs, artifacts, salvage, earlier } = imported.value;
  const isPart = salvage !== undefined;
  const mayAccept = !isDryRun && !isPart && asked.accept === '1' && sessionId !== undefined;
  const isAccepted = mayAccept && (await acceptSession(services, sessionId)).isOk();
  return {
    kind: 'done',
    what,
    from,
    ...defined({
      sessionId,
      earlier: earlier && { sessionId: earlier.sessionId, newEvents: earlier.newEvents },
    }),
    events,
    runs,
    artifacts,
    isPart,
    isAccepted,
  };
}

/** How an encrypted bundle begins. */
const SEAL = 'workrail encrypted bundle\n';

function isSealed(bytes: Uint8Array): boolean {
  return [...SEAL].every((letter, i) => bytes[i] === letter.charCodeAt(0));
}

function problem(message: string, suggestion: string): ErrorEnvelope {
  return { code: 'VALIDATION_ERROR', message, suggestion, retry: { kind: 'not_retryable' } };
}

const SEALED = problem(
  'The file is encrypted, and the console does not take passphrases. Nothing was written.',
  'Import it in a terminal: workrail import FILE',
);
const TOO_LARGE = problem('The file is larger than any bundle. Nothing was written.', 'Choose another file.');

/** What was recorded, as a model for documents. */
export async function exportReport(
  services: ExchangeServices,
  sessionIds: readonly SessionId[],
  { isRedacted }: { readonly isRedacted: boolean },
): Promise<Result<Report, ErrorEnvelope>> {
  const report = await readReport(services, { sessionIds, isRedacted, homes: services.homes });
  return report.mapErr(services.explain);
}

/** What is signed in a session, by which key and by which people. */
export async function signaturesPage(
  services: ExchangeServices,
  sessionId: SessionId,
): Promise<Result<ConsoleReply<'signatures'>, ErrorEnvelope>> {
  const report = await exportReport(services, [sessionId], { isRedacted: false });
  return report.map(({ sessions: [session] }) => {
    const { log, head, approvals } = session?.signature ?? { log: UNSIGNED, head: undefined, approvals: [] };
    const textOf = (eventIndex: number) => session?.timeline.find((moment) => moment.eventIndex === eventIndex)?.text;
    return {
      log: { isSigned: log.kind === 'signed', words: signatureWords(log) },
      ...defined({ head }),
      answers: approvals.map(({ eventIndex, statement, signedBy }) => ({
        eventIndex,
        words: textOf(eventIndex) ?? statement,
        isSigned: signedBy !== undefined,
      })),
    };
  });
}

const UNSIGNED = { kind: 'unsigned' } as const;

/** The session as one signed file for others, without what is withheld. */
export async function passportFile(
  services: ExchangeServices,
  sessionId: SessionId,
  withhold = '',
): Promise<Result<Uint8Array, ErrorEnvelope>> {
  const kinds = WITHHELD_KINDS.filter((kind) => withhold.split(',').includes(kind));
  const made = await exportPassport(services, { sessionId, ref: undefined, withholding: { kinds, events: [] } });
  return made.map(({ bytes }) => bytes).mapErr(services.explain);
}

/** The whole session, piece by piece. */
export async function exportBundle(
  services: ExchangeServices,
  { sessionId, output }: { readonly sessionId: SessionId; readonly output: BundleOutput },
): Promise<Result<unknown, ErrorEnvelope>> {
  return (await exportSession(services, { sessionId, output })).mapErr(services.explain);
}

/** Two branches, steps or sessions side by side. */
export async function comparePage(
  services: ExchangeServices,
  asked: ConsoleInput<'compare'>,
): Promise<Result<ConsoleReply<'compare'>, ErrorEnvelope>> {
  const [a, b] = [SessionId.schema.parse(asked.a), SessionId.schema.parse(asked.b)];
  const report = await readReport(services, { sessionIds: [...new Set([a, b])], isRedacted: false, homes: [] });
  if (report.isErr()) return err(services.explain(report.error));
  const left = sideIn(report.value, { sessionId: a, run: asked.aRun, at: asked.aAt });
  const right = sideIn(report.value, { sessionId: b, run: asked.bRun, at: asked.bAt });
  const compared = left && right && compareLines(left, right);
  if (left === undefined || right === undefined || compared === undefined) return err(NOTHING_THERE);
  const ids = (await services.sessions.list()).unwrapOr([a, b]);
  const told = (side: ComparedSide) => sideData(side, services.shortIds(ids));
  // A step is named by the node where it was due, which the command would take for the step before it.
  const isBranch = (at: string | undefined) => at !== undefined && !at.includes('node_');
  const command =
    a === b && isBranch(asked.aAt) && isBranch(asked.bAt)
      ? `workrail session diff ${services.shortIds(ids)(a)} ${asked.aAt} ${asked.bAt}`
      : undefined;
  return ok({ a: told(left), b: told(right), ...compared, ...defined({ command }) });
}

const NOTHING_THERE = problem(
  'One of the two sides does not exist: the session has no such run, branch or step.',
  'Go back to the session and choose again.',
);

type AskedSide = { readonly sessionId: SessionId; readonly run: string | undefined; readonly at: string | undefined };

function sideIn({ sessions }: Report, { sessionId, run: asked, at }: AskedSide): ComparedSide | undefined {
  const session = sessions.find((one) => one.sessionId === sessionId);
  const has = (run: ReportRun) => run.entries.some(({ nodeId }) => at?.endsWith(nodeId) === true);
  const run =
    asked === undefined
      ? (session?.runs.find(has) ?? session?.runs[0])
      : session?.runs.find(({ runId }) => runId === asked);
  return session && run && { session, run, at };
}

function sideData(side: ComparedSide, shortId: (sessionId: SessionId) => string) {
  const { session, run } = side;
  return {
    sessionId: session.sessionId,
    shortId: shortId(session.sessionId),
    title: titleIn(session),
    workflow: run.workflow.workflowId,
    label: sideLabel(side),
  };
}

function titleIn({ runs }: ReportSession): string {
  const named = runs.map(({ goal, workflow }) => defined({ goal, ...workflow, workflowName: workflow.name }));
  return titleOf(named) ?? 'A session';
}

/** Covers months of work, and takes about a second to read. */
const READ_MAX = 200;
const FOUND_MAX = 100;

/** Sessions that have all words in their goals, notes or artifacts, each as soon as it is found. */
export async function searchMatches(
  services: ExchangeServices,
  { q }: ConsoleInput<'search'>,
  tell: (line: ConsoleLine<'search'>) => void,
): Promise<ConsoleLine<'search'>> {
  const ids = (await services.sessions.list()).unwrapOr([]);
  const known = { shortId: services.shortIds(ids), workspaces: [] };
  const words = searchWords(q);
  const onFound = (found: FoundSession, tier: number) => tell(foundLine(found, { tier, known }));
  const result = await searchSessions(
    services,
    { words, readMax: READ_MAX, foundMax: FOUND_MAX, onFound },
    ({ done, total }) => tell({ kind: 'progress', done, total }),
  );
  if (result.isErr()) return { kind: 'refused', error: services.explain(result.error) };
  const { searched, total, unreadable } = result.value;
  return { kind: 'done', searched, total, unreadable: unreadable.sessions };
}

type Told = { readonly tier: number; readonly known: Parameters<typeof listedSessionData>[1] };

/** The index may not know a damaged session, or not know of the damage; reading it showed both. */
function foundLine({ row, health, goal, hits }: FoundSession, { tier, known }: Told): ConsoleLine<'search'> {
  const { isHere: _, ...listed } = listedSessionData(row, known);
  const session = { ...listed, ...defined({ state: brokenState(health), title: listed.title ?? goal }) };
  return { kind: 'found', tier, session, hits: hits.map(hitData) };
}

function hitData({ kind, runId, place, words, snippet }: SearchHit) {
  const step = place?.kind === 'step' ? place.title : undefined;
  return { where: kind, runId, ...defined({ step }), words: [...words], snippet };
}

const NEAREST_MAX = 3;
const COMPARED_MAX = 200;

/** The sessions whose ids are most like one that does not exist, for a person who mistyped it. */
export async function withNearest(
  services: ExchangeServices,
  asked: string,
  error: ErrorEnvelope,
): Promise<ErrorEnvelope> {
  const board = await sessionBoard(services);
  const rows = board.isOk() ? board.value.rows : [];
  const shortId = services.shortIds(rows.map(({ sessionId }) => sessionId));
  const typed = asked.slice(0, 64).toLowerCase();
  // A part that was copied names its session; of the others, only the newest are compared letter by letter.
  const isPart = ({ sessionId }: { readonly sessionId: string }) => typed.length > 3 && sessionId.includes(typed);
  const near = [...rows.filter(isPart), ...rows.slice(0, COMPARED_MAX)]
    .map((row) => ({ row, far: isPart(row) ? 0 : editDistance(typed, row.sessionId) }))
    .toSorted((a, b) => a.far - b.far)
    .map(({ row }) => row);
  const nearest = [...new Set(near)].slice(0, NEAREST_MAX).map(({ sessionId, summary }) => ({
    sessionId,
    shortId: shortId(sessionId),
    ...defined({ title: titleOf(summary?.runs ?? []) }),
  }));
  return nearest.length === 0 ? error : { ...error, details: { nearest } };
}
