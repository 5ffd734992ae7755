import { err, ok, type Result } from 'neverthrow';
import { assert } from '../../core/assert.ts';
import type { ConditionOutcome, Met } from '../../core/author/coverage.ts';
import type { SentStep } from '../../core/author/scenario.ts';
import { defined, type JsonObject } from '../../core/json/json-value.ts';
import type { Autonomy } from '../../core/log/autonomy.ts';
import { utf8Length } from '../../core/text/utf8.ts';
import type { GapRecord } from '../../core/views/node-facts.ts';
import type { AdvanceRefusal } from '../run/advance.ts';
import type { StartRefusal } from '../run/start-workflow.ts';
import { type Rehearsal, type Sent, type Turn, turnAckToken } from './rehearsal.ts';

export type PlayRequest = {
  readonly workflowId: string;
  readonly workspace: string;
  readonly mode: Autonomy;
  /** Whether a person sets the mode after the start, which opens gates, or the agent with the start. */
  readonly modeSetBy?: 'agent' | 'person' | undefined;
  readonly goal?: string | undefined;
  readonly context?: JsonObject | undefined;
};

/** What the agent sends at a turn; `undefined` stops there. */
export type Answer = (turn: Turn) => Promise<{ readonly sent: Sent; readonly listed?: SentStep } | undefined>;

export type ReplyBlocker = Turn['reply']['blockers'][number];

/** One call of the agent and its outcome. */
export type PlayedCall = {
  readonly stepId: string | undefined;
  readonly title: string;
  readonly sent: Sent;
  readonly listed?: SentStep;
  readonly blockers: readonly ReplyBlocker[];
};

/** Why a run did not complete. */
export type Stuck =
  | { readonly code: 'no_way_on'; readonly stepId: string | undefined; readonly blockers: readonly ReplyBlocker[] }
  | { readonly code: 'refused'; readonly stepId: string | undefined; readonly refusal: string }
  | { readonly code: 'stopped'; readonly stepId: string | undefined }
  | { readonly code: 'too_long'; readonly calls: number };

export type PlayedRun = {
  readonly path: readonly string[];
  readonly skipped: readonly string[];
  readonly calls: readonly PlayedCall[];
  readonly blocks: number;
  /** The size of all replies. */
  readonly bytesRead: number;
  readonly gaps: readonly GapRecord['data'][];
  readonly isComplete: boolean;
  readonly stuck?: Stuck;
  readonly met: Met;
};

/** How a call is made: correctly, or by a lossy agent. */
export type Send = (turn: Turn, sent: Sent) => Promise<Result<Turn, AdvanceRefusal>>;

/** Far more than any workflow needs. */
const CALLS_MAX = 1_000;
/** The limit for a step that stays blocked although its form was filled in. */
const BLOCKS_IN_A_ROW_MAX = 4;

export type Player = {
  readonly stage: Rehearsal;
  readonly send: Send;
  readonly answer: Answer;
  /** Awaited before every call, so that the user can interrupt. */
  readonly yieldNow: () => Promise<void>;
  /** Called with every turn. */
  readonly watch?: (turn: Turn) => void;
};

/** Plays a run until it is complete or stuck. */
export async function playRun(player: Player, request: PlayRequest): Promise<Result<PlayedRun, StartRefusal>> {
  const { modeSetBy, mode, ...start } = request;
  const isByPerson = modeSetBy === 'person';
  const begun = await player.stage.start({ ...start, mode: isByPerson ? 'guided' : mode });
  if (begun.isErr()) return err(begun.error);
  const started = isByPerson ? await player.stage.setMode(begun.value, mode) : ok(begun.value);
  assert(started.isOk(), 'a run that was just started can be shown');
  const progress: Progress = { turn: started.value, path: [], calls: [], outcomes: [], blocksInRow: 0, bytesRead: 0 };
  await arrive(player, progress, started.value);
  let stuck: Stuck | undefined;
  while (stuck === undefined && !progress.turn.reply.isComplete) {
    await player.yieldNow();
    stuck = progress.calls.length >= CALLS_MAX ? { code: 'too_long', calls: CALLS_MAX } : await goOn(player, progress);
  }
  return ok(await outcome(player, progress, stuck));
}

type Progress = {
  turn: Turn;
  readonly path: string[];
  readonly calls: PlayedCall[];
  readonly outcomes: ConditionOutcome[];
  blocksInRow: number;
  bytesRead: number;
};

async function goOn(player: Player, progress: Progress): Promise<Stuck | undefined> {
  const { turn } = progress;
  const { pending, blockers } = turn.reply;
  const stepId = pending?.stepId;
  if (isChecked(turn)) await player.stage.attest(turn);
  if (turnWaitsForPerson(turn)) await player.stage.answer(turn, progress.calls.at(-1)?.listed?.person ?? 'approve');
  const answer = await player.answer(turn);
  if (answer === undefined && turn.filled !== undefined) return { code: 'stopped', stepId };
  if (answer === undefined || turnAckToken(turn) === undefined) return { code: 'no_way_on', stepId, blockers };
  const { sent, listed } = answer;
  const next = await player.send(turn, sent);
  if (next.isErr()) return { code: 'refused', stepId, refusal: next.error.code };
  const { reply } = next.value;
  const title = pending?.title ?? 'before the first step';
  progress.calls.push({ stepId, title, sent, blockers: reply.blockers, ...defined({ listed }) });
  progress.outcomes.push(...(await player.stage.outcomesOf(turn, next.value)));
  progress.turn = next.value;
  await arrive(player, progress, next.value);
  if (reply.kind !== 'blocked') {
    progress.blocksInRow = 0;
    return undefined;
  }
  progress.blocksInRow += sent === turn.filled ? 1 : 0;
  const isOver = progress.blocksInRow >= BLOCKS_IN_A_ROW_MAX;
  return isOver ? { code: 'no_way_on', stepId, blockers: reply.blockers } : undefined;
}

/** Whether nothing is missing but a person's answer. */
export function turnWaitsForPerson({ reply }: Turn): boolean {
  return reply.kind === 'blocked' && reply.blockers.every(({ details }) => details?.['approval'] !== undefined);
}

/** Whether the pending step has checks that the agent runs before it reports the step, or again after a block. */
function isChecked({ reply }: Turn): boolean {
  const isDue = reply.pending?.prompt.includes(' attest ') === true;
  return isDue || (reply.kind === 'blocked' && reply.blockers.some(({ details }) => details?.['check'] !== undefined));
}

async function arrive({ stage, watch }: Player, progress: Progress, turn: Turn): Promise<void> {
  watch?.(turn);
  const { reply } = turn;
  progress.bytesRead += utf8Length(turn.text);
  if (reply.kind === 'ok' && reply.pending !== null) progress.path.push(reply.pending.stepId);
  progress.outcomes.push(...(await stage.outcomesAt(turn)));
}

async function outcome({ stage }: Player, progress: Progress, stuck: Stuck | undefined): Promise<PlayedRun> {
  const { turn, path, calls, outcomes, bytesRead } = progress;
  const recorded = await stage.recorded(turn);
  return {
    path,
    skipped: recorded.skipped,
    calls,
    blocks: calls.filter(({ blockers }) => blockers.length > 0).length,
    bytesRead,
    gaps: await stage.openGaps(turn),
    isComplete: turn.reply.isComplete,
    ...defined({ stuck }),
    met: { stepIds: path, outcomes: [...outcomes, ...recorded.outcomes] },
  };
}

/** Answers with the listed steps, in order. A step that is not listed gets its form, filled in. */
export function listedAnswers(steps: readonly SentStep[]): { readonly answer: Answer; readonly left: SentStep[] } {
  const left = [...steps];
  return {
    left,
    answer: async (turn) => {
      const [first] = left;
      const { pending } = turn.reply;
      if (first === undefined || first.at !== pending?.stepId) return turn.filled && { sent: turn.filled };
      left.shift();
      return { sent: filledIn(first, turn.filled), listed: first };
    },
  };
}

/**
 * What to send for a listed step: its own values, and the filled form for the rest. If a block is expected, only its own
 * values, because the form would meet the requirement.
 */
function filledIn({ notes, artifacts, context, expect }: SentStep, form: Sent | undefined): Sent {
  if (expect === 'blocked' || form === undefined) {
    return { notes, artifacts: artifacts ?? [], context };
  }
  const given = artifacts ?? [];
  const kinds = new Set(given.map(kindOf));
  const rest = form.artifacts.filter((artifact) => !kinds.has(kindOf(artifact)));
  const whole = { ...form.context, ...context };
  return {
    notes: notes ?? form.notes,
    artifacts: [...given, ...rest],
    ...(Object.keys(whole).length === 0 ? {} : { context: whole }),
  };
}

function kindOf({ kind }: JsonObject): string {
  return String(kind);
}
