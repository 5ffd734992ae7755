import { err, ok, type Result } from 'neverthrow';
import type * as z from 'zod';
import { defined } from '../../core/json/json-value.ts';
import type { ErrorEnvelope } from '../../core/log/error-envelope.ts';
import { type NodeId, runTag, type SessionId } from '../../core/log/ids.ts';
import { originWords } from '../../core/log/origin.ts';
import { voidedWords } from '../../core/run/gate-facts.ts';
import {
  boardPage,
  readFilter,
  type SessionRow,
  type UnknownFilter,
  waitsForPersonIn,
} from '../../core/sessions/board-rows.ts';
import { listedSessionData } from '../../core/sessions/describe-session.ts';
import { attestationWords } from '../../core/views/attestations.ts';
import {
  type CONSOLE_INPUTS,
  type ConsoleInput,
  type ConsoleReply,
  PAGE_OF_SESSIONS,
  type WaitingItem,
} from '../../core/wire/console-shapes.ts';
import type { ExportRefusal } from '../bundle/export-session.ts';
import type { ImportRefusal } from '../bundle/import-session.ts';
import type { PassportExportRefusal } from '../passport.ts';
import type { MarkStore } from '../ports/session-marks.ts';
import type { LoadRefusal } from '../ports/session-store.ts';
import type { AnswerIds } from '../ports/system-services.ts';
import type { BinRefusal, RestoreRefusal } from '../ports/upkeep.ts';
import type { ReportServices } from '../report.ts';
import {
  type AnswerRefusal,
  answerGate,
  boundFileLines,
  type PersonAnswer,
  type WaitingSignature,
} from '../run/answer-gate.ts';
import type { AcceptRefusal } from '../upkeep/accept-session.ts';
import type { CloseRefusal } from '../upkeep/close-runs.ts';
import type { PreferRefusal } from '../upkeep/set-preferences.ts';
import type { ResumeCallRefusal } from './resume-call.ts';
import type { NotAtTerminal, RunPageServices } from './run-pages.ts';
import { type ListServices, sessionBoard, wholeBoard } from './session-board.ts';
import { type WaitingRun, waitingRuns } from './waiting-runs.ts';

/** Why a session cannot be brought in, taken out or put away. */
type ExchangeRefusal =
  | ImportRefusal
  | ExportRefusal
  | PassportExportRefusal
  | AcceptRefusal
  | BinRefusal
  | RestoreRefusal;

/** What the pages of the console need: everything that reads, and the one way to record a person's answer. */
export type ConsoleServices = RunPageServices &
  ListServices &
  ReportServices & {
    readonly answerIds: AnswerIds;
    readonly marks: MarkStore;
    /** On which channel answers in this page count, and whose they are where somebody signed in. */
    readonly channel: Pick<PersonAnswer['by'], 'principal'> & { readonly via: 'console' | 'team' };
    /** Home folders, which reports hide. */
    readonly homes: readonly string[];
    /** Why something cannot be shown or done, in words for a person. */
    readonly explain: (
      refusal:
        | LoadRefusal
        | AnswerRefusal
        | ResumeCallRefusal
        | CloseRefusal
        | PreferRefusal
        | ExchangeRefusal
        | NotAtTerminal,
    ) => ErrorEnvelope;
  };

type Page<Path extends keyof typeof import('../../core/wire/console-shapes.ts').CONSOLE_REPLIES> = Promise<
  Result<ConsoleReply<Path>, ErrorEnvelope>
>;

/** A page of the list of sessions. */
export async function sessionsPage(services: ConsoleServices, asked: ConsoleInput<'sessions'>): Page<'sessions'> {
  const board = await sessionBoard(services);
  if (board.isErr()) return err(services.explain(board.error));
  const { rows } = board.value;
  const {
    q = '',
    state,
    sort,
    group,
    offset = 0,
    limit = PAGE_OF_SESSIONS,
  } = asked as z.output<typeof CONSOLE_INPUTS.sessions>;
  const filter = readFilter([q], services.clock.nowMs());
  if ('key' in filter) return err(unknownFilter(filter));
  const states = state === undefined ? filter.states : [state];
  const page = boardPage(rows, { ...filter, states, sort, group, offset, limit });
  const { shortId, waiting } = wholeBoard(services, rows);
  return ok({
    rows: page.rows.map((row) => listRow(row, shortId)),
    total: page.total,
    counts: page.counts,
    groups: [...page.groups],
    stored: rows.length,
    waiting,
  });
}

function unknownFilter({ key, value }: UnknownFilter): ErrorEnvelope {
  return {
    code: 'VALIDATION_ERROR',
    message: `The filter ${key}: does not know "${value}".`,
    suggestion: 'Filters are state:blocked, wf:coding, repo:api, branch:main and after:2d.',
    retry: { kind: 'not_retryable' },
  };
}

type ListRow = ConsoleReply<'sessions'>['rows'][number];

function listRow(row: SessionRow, shortId: (sessionId: SessionId) => string): ListRow {
  const { isHere: _, ...listed } = listedSessionData(row, { shortId, workspaces: [] });
  const run = row.summary?.runs.find(({ runId }) => !row.closed.has(runId));
  const place = run?.place.kind === 'step' ? run.place : undefined;
  return {
    ...listed,
    ...defined({
      step: place && { title: place.title, ...defined({ index: place.position?.index, of: place.position?.of }) },
      note: run?.note,
      owner: run?.owner ?? row.summary?.runs[0]?.owner,
    }),
    branches: run?.branchCount ?? 0,
    attempts: run?.attempts ?? 0,
    openGaps: run?.openGaps ?? 0,
    waitsForPerson: waitsForPersonIn(row),
  };
}

/** Everything that waits for a person. */
export async function waitingPage(services: ConsoleServices): Page<'waiting'> {
  const found = await waitingRuns(services);
  return found.isErr()
    ? err(services.explain(found.error))
    : ok({ waiting: found.value.map((run) => waitingItem(run, services.channel.via)) });
}

function waitingItem(
  { waiting, goal, workspace, at, origin }: WaitingRun,
  via: ConsoleServices['channel']['via'],
): WaitingItem {
  const {
    sessionId,
    runId,
    nodeId,
    step,
    question,
    contextKey,
    digest,
    code,
    workflow,
    draft,
    answer,
    voided,
    accept,
  } = waiting;
  return {
    sessionId,
    runId,
    tag: runTag(runId),
    nodeId,
    stepTitle: step.title,
    question,
    ...defined({
      contextKey,
      goal,
      folder: workspace,
      lastAt: at,
      origin: origin && originWords(origin),
      owner: waiting.owner,
    }),
    digest,
    code,
    workflow,
    draft: {
      ...defined({ notes: draft.notesMarkdown }),
      artifacts: draft.artifacts.map(({ kind, value }) => ({ ...defined({ kind }), value })),
      context: draft.context,
    },
    standing: [...waiting.standing],
    files: [...boundFileLines(waiting)],
    ...defined({
      answered: answer && attestationWords(answer),
      voided: (voided && voidedWords(voided)) ?? waiting.rejected,
    }),
    ...defined({ signing: waiting.signing && shownSigning(waiting.signing) }),
    isAccepted: accept.includes(via),
  };
}

function shownSigning({ approvers, needed, signers }: WaitingSignature): NonNullable<WaitingItem['signing']> {
  return { approvers: [...approvers], needed, signers: [...signers] };
}

export type ConsoleAnswer = Omit<ConsoleInput<'answer'>, 'passkey' | 'receipt'> & {
  readonly sessionId: SessionId;
  readonly nodeId: NodeId;
  /** When the page first showed the draft. */
  readonly askedAt: number;
};

/** Records what a person answered in the console, about exactly the draft that was shown. */
export async function recordAnswer(
  services: ConsoleServices,
  given: ConsoleAnswer,
  signed: SignedAnswer = async () => ok({}),
): Page<'answer'> {
  const { sessionId, nodeId, digest, askedAt } = given;
  if (!services.mayDecide) return err(services.explain({ code: 'not_at_terminal' }));
  const waiting = await waitingRuns(services);
  if (waiting.isErr()) return err(services.explain(waiting.error));
  const open = waiting.value.find((one) => one.waiting.nodeId === nodeId && one.waiting.sessionId === sessionId);
  // A newer draft has taken its place: an approval of the old one would open nothing.
  if (open === undefined || open.waiting.digest !== digest) return err(services.explain({ code: 'not_waiting' }));
  if (!isFitting(given, open.waiting.contextKey)) return err(UNFITTING);
  const statement = statementOf(given);
  const by: PersonAnswer['by'] = {
    ...services.channel,
    launch: services.answerIds.launch,
    askedAt,
    answerMs: Math.max(0, services.clock.nowMs() - askedAt),
  };
  const signature = await signed(open.waiting.root);
  if (signature.isErr()) return err(signature.error);
  const attestationId = services.answerIds.attestation();
  const answer: PersonAnswer = { attestationId, digest, statement, by, ...signature.value };
  const recorded = await answerGate(services, { sessionId, nodeId }, answer);
  return recorded.isErr() ? err(services.explain(recorded.error)) : ok({ words: attestationWords(answer) });
}

/** The signature of an answer, and the id that it is about. */
export type SignedAnswer = (
  root: string | undefined,
) => Promise<Result<Partial<Pick<PersonAnswer, 'attestationId' | 'signature'>>, ErrorEnvelope>>;

/** A question is answered with a value, and anything else is approved or rejected. */
function isFitting({ decision, value }: ConsoleAnswer, contextKey: string | undefined): boolean {
  if (contextKey === undefined) return decision !== 'answered' && value === undefined;
  return decision === 'answered' && value !== undefined && value !== '';
}

const UNFITTING: ErrorEnvelope = {
  code: 'VALIDATION_ERROR',
  message: 'This answer does not fit what was asked. Nothing was recorded.',
  suggestion: 'Reload the page.',
  retry: { kind: 'not_retryable' },
};

export function statementOf({
  decision,
  comment,
  value,
}: Pick<ConsoleAnswer, 'decision' | 'comment' | 'value'>): PersonAnswer['statement'] {
  const said = { shown: 'whole', ...(comment?.trim() ? { comment: comment.trim() } : {}) } as const;
  return decision === 'answered' ? { kind: decision, ...said, ...defined({ value }) } : { kind: decision, ...said };
}
