import { err, ok, type Result } from 'neverthrow';
import type * as z from 'zod';
import { assert } from '../../core/assert.ts';
import { type ConditionOutcome, isCriterion, outcomesAt, tracedOutcome } from '../../core/author/coverage.ts';
import { fillForm } from '../../core/author/fill-form.ts';
import type { PersonLine } from '../../core/author/scenario.ts';
import { defined, isObject, type JsonObject, type JsonValue } from '../../core/json/json-value.ts';
import type { Autonomy } from '../../core/log/autonomy.ts';
import { AttestationId, derivedBits } from '../../core/log/ids.ts';
import type { GivenReply } from '../../core/log/operation/stored-reply.ts';
import { blockedReplySchema, completeReplySchema, pendingReplySchema } from '../../core/prompt/reply-schema.ts';
import { type CheckRun, commandDigest } from '../../core/run/evidence/judge-check.ts';
import { checkCommand } from '../../core/run/requirements/check.ts';
import type { StepPlace } from '../../core/run/step-place.ts';
import { pendingStepAt } from '../../core/run/walk/next-step.ts';
import { loopVariablesAt } from '../../core/run/walk/walking.ts';
import { type GapRecord, unresolvedGaps } from '../../core/views/node-facts.ts';
import type { Check } from '../../core/workflow/compiled/compiled-step.ts';
import { type AdvanceRefusal, advance } from '../run/advance.ts';
import { answerGate, findWaitingDraft, type PersonAnswer } from '../run/answer-gate.ts';
import { recordCheck } from '../run/attest-check.ts';
import { type RehydrateRefusal, rehydrate } from '../run/rehydrate.ts';
import { findTokenNode, runPlace } from '../run/run-place.ts';
import { type StartRefusal, type StartRequest, startWorkflow } from '../run/start-workflow.ts';
import { triedStep } from '../run/tried-step.ts';
import type { Services } from '../services.ts';
import { setPreferences } from '../upkeep/set-preferences.ts';

/** What the log says about a run at its end. */
export type RecordedRun = { readonly skipped: readonly string[]; readonly outcomes: readonly ConditionOutcome[] };

/** Runs a workflow through the same use cases as a client. */
export type Rehearsal = {
  readonly start: (request: StartRequest) => Promise<Result<Turn, StartRefusal>>;
  readonly send: (turn: Turn, sent: Sent) => Promise<Result<Turn, AdvanceRefusal>>;
  /** Rehydrates a run. */
  readonly rehydrate: (stateToken: string) => Promise<Result<Turn, RehydrateRefusal>>;
  /** Sends an ack token exactly as given. */
  readonly sendAck: (ackToken: string, sent: Sent) => Promise<Result<Turn, AdvanceRefusal>>;
  /** Runs the checks of the pending step, as an agent does before it reports the step. */
  readonly attest: (turn: Turn) => Promise<boolean>;
  /** Sets the mode as a person does in a terminal, and returns the step as it is then shown. */
  readonly setMode: (turn: Turn, mode: Autonomy) => Promise<Result<Turn, RehydrateRefusal>>;
  /** Answers for the person that a step waits for; false where nothing waits. */
  readonly answer: (turn: Turn, line: PersonLine) => Promise<boolean>;
  /** The outcomes of the pending step's conditions. */
  readonly outcomesAt: (turn: Turn) => Promise<readonly ConditionOutcome[]>;
  /** The outcomes of the criteria of the step that a call reported. */
  readonly outcomesOf: (before: Turn, after: Turn) => Promise<readonly ConditionOutcome[]>;
  readonly openGaps: (turn: Turn) => Promise<readonly GapRecord['data'][]>;
  readonly recorded: (turn: Turn) => Promise<RecordedRun>;
};

export function rehearsal(services: Services): Rehearsal {
  const sendAck: Rehearsal['sendAck'] = async (ackToken, { notes, artifacts, context }) => {
    const output = { ...defined({ notesMarkdown: notes }), artifacts };
    const reply = await advance(services, { ackToken, output, context });
    return turnFrom(services, reply);
  };
  return {
    start: async (request) => turnFrom(services, await startWorkflow(services, request)),
    sendAck,
    send: async (turn, sent) => {
      const ackToken = turnAckToken(turn);
      assert(ackToken !== undefined, 'only a run that is not complete goes on');
      return sendAck(ackToken, sent);
    },
    rehydrate: async (stateToken) => turnFrom(services, await rehydrate(services, { stateToken })),
    setMode: async ({ reply }, mode) => {
      const { session } = await standing(services, reply.stateToken);
      const asPerson = { ...services, by: { via: 'cli', terminal: true } as const };
      const { sessionId } = session;
      const set = await setPreferences(asPerson, { sessionId, mode, isLooseningAllowed: true });
      assert(set.isOk(), 'a run that was just started can be changed');
      return turnFrom(services, await rehydrate(services, { stateToken: reply.stateToken }));
    },
    attest: ({ reply }) => attestInRehearsal(services, reply.stateToken),
    answer: ({ reply }, line) => answerAsPerson(services, reply.stateToken, line),
    outcomesAt: async (turn) => outcomesIn(await stepAt(services, turn)),
    outcomesOf: async (before, after) => {
      const step = await stepAt(services, before);
      if (step === undefined) return [];
      const { place } = await standing(services, after.reply.stateToken);
      // The context that a call brings counts for the step it reports.
      return outcomesAt({ ...step, facts: place.facts }).filter(({ siteId }) => isCriterion(siteId));
    },
    openGaps: async (turn) => {
      const { session, nodeId } = await standing(services, turn.reply.stateToken);
      return unresolvedGaps(session.view.gaps, nodeId).map(({ data }) => data);
    },
    recorded: (turn) => readLog(services, turn),
  };
}

/** Records a person's answer as one of the rehearsal; false where nothing waits at the node of the token. */
export async function answerAsPerson(services: Services, stateToken: string, line: PersonLine): Promise<boolean> {
  const isAttested = line === 'reject' ? false : await attestInRehearsal(services, stateToken);
  const { session, nodeId } = await standing(services, stateToken);
  const found = await findWaitingDraft(services, session, nodeId);
  if (found.isErr()) return isAttested;
  const { digest, sessionId, contextKey } = found.value;
  const { sha256 } = services.hasher;
  const place = session.view.nextEventIndex;
  const recorded = await answerGate(services, found.value, {
    attestationId: AttestationId.of(derivedBits(['rehearsal', sessionId, place], sha256)),
    digest,
    statement: statementOf(line, contextKey),
    by: { via: 'rehearsal', launch: 'rehearsal', askedAt: services.clock.nowMs(), answerMs: 0 },
  });
  return recorded.isOk();
}

/** Records the checks of the pending step as if their commands had ended as they must; false where it has none. */
async function attestInRehearsal(services: Services, stateToken: string): Promise<boolean> {
  const step = await pendingPlace(services, stateToken);
  const observed = (step?.step.checks ?? []).filter(({ minimum }) => minimum === 'observed');
  if (step === undefined) return false;
  const { sha256 } = services.hasher;
  for (const check of observed) {
    const { session, nodeId } = await standing(services, stateToken);
    const { sessionId, view } = session;
    const { text } = checkCommand(check, { context: step.facts.context, loopVariables: step.loopVariables });
    const own = triedStep(view, nodeId).step;
    const found = { sessionId, runId: own.runId, stepNodeId: own.nodeId, step: step.step, check };
    await recordCheck(services, found, {
      statement: expectedRun(check, commandDigest(text, sha256)),
      tail: 'Not run: this is a rehearsal.',
      attestationId: AttestationId.of(derivedBits(['rehearsal', sessionId, view.nextEventIndex], sha256)),
      by: { via: 'rehearsal', launch: 'rehearsal', askedAt: services.clock.nowMs(), answerMs: 0 },
    });
  }
  return observed.length > 0;
}

/** A run of a check that ended as it must. */
function expectedRun({ checkId, expect, against, report, atLeast = 1 }: Check, digest: string): CheckRun {
  const isRed = expect === 'fail';
  const end = { timedOut: false, durationMs: 0 };
  return {
    kind: 'check',
    checkId,
    commandDigest: digest as CheckRun['commandDigest'],
    exitCode: isRed ? 1 : 0,
    ...end,
    ...(report === undefined ? {} : { tests: { executed: atLeast, failed: isRed ? 1 : 0 } }),
    ...(against === undefined ? {} : { base: { exitCode: 1, ...end, sha: '0'.repeat(40), fixed: 1 } }),
  };
}

function statementOf(line: PersonLine, contextKey: string | undefined): PersonAnswer['statement'] {
  if (line === 'reject') return { kind: 'rejected', shown: 'whole', comment: 'Rejected in the rehearsal.' };
  if (line === 'approve' && contextKey === undefined) return { kind: 'approved', shown: 'whole' };
  const value = typeof line === 'object' ? line.value : 'The answer of the rehearsal.';
  return { kind: 'answered', shown: 'whole', value };
}

function outcomesIn(place: StepPlace | undefined): readonly ConditionOutcome[] {
  return place === undefined ? [] : outcomesAt(place).filter(({ siteId }) => !isCriterion(siteId));
}

function stepAt(services: Services, { reply }: Turn): Promise<StepPlace | undefined> {
  return pendingPlace(services, reply.stateToken);
}

/** The pending step at the node of a state token, with everything that its requirements depend on. */
export async function pendingPlace(services: Services, stateToken: string): Promise<StepPlace | undefined> {
  const { place } = await standing(services, stateToken);
  const { index, snapshot, facts } = place;
  const { state } = snapshot.enginePayload;
  const pending = pendingStepAt(index, state);
  return pending && { index, step: pending.step, facts, loopVariables: loopVariablesAt(index, state) };
}

async function standing(services: Services, stateToken: string) {
  const found = await findTokenNode(services, { text: stateToken, slot: 'stateToken' });
  assert(found.isOk(), 'a token that was just given is good');
  const { session, target } = found.value;
  const place = await runPlace(services, session, target);
  assert(place.isOk(), 'a place that was just reached can be read');
  return { session, nodeId: target.nodeId, place: place.value };
}

async function readLog(services: Services, turn: Turn): Promise<RecordedRun> {
  const { session } = await standing(services, turn.reply.stateToken);
  const { view } = session;
  return {
    skipped: [...view.skipped.values()]
      .flat()
      .flatMap(({ stepId, through }) => [stepId, ...(through === undefined ? [] : [through.stepId])]),
    outcomes: [...view.trace.values()].flat().flatMap((entry) => tracedOutcome(entry) ?? []),
  };
}

type RunReply =
  | z.infer<typeof pendingReplySchema>
  | z.infer<typeof completeReplySchema>
  | z.infer<typeof blockedReplySchema>;

/** What an agent sends with a call. */
export type Sent = {
  readonly notes?: string | undefined;
  readonly artifacts: readonly JsonObject[];
  readonly context?: JsonObject | undefined;
};

/** The reply that an agent acts on. */
export type Turn = {
  readonly reply: RunReply;
  readonly text: string;
  /** The offered call, filled in; `undefined` if no call leads on. */
  readonly filled: Sent | undefined;
};

function turnOf({ text, furtherTexts = [], structured }: GivenReply): Turn {
  const reply = replyIn(structured);
  return { reply, text: [text, ...furtherTexts].join('\n\n'), filled: offeredIn(reply) };
}

/** A turn with the offered call filled in, as an agent that does what it reads would. */
async function turnFrom<Refusal>(
  services: Services,
  given: Result<GivenReply, Refusal>,
): Promise<Result<Turn, Refusal>> {
  if (given.isErr()) return err(given.error);
  const turn = turnOf(given.value);
  if (turn.filled === undefined) return ok(turn);
  const { notes, artifacts, context } = turn.filled;
  const filled = fillForm(defined({ notesMarkdown: notes, artifacts, context }), await stepAt(services, turn));
  return ok({
    ...turn,
    filled: defined({ notes: filled.notesMarkdown, artifacts: filled.artifacts ?? [], context: filled.context }),
  });
}

/** Errors are refusals, so these are all kinds of replies. */
function replyIn(structured: JsonObject): RunReply {
  if (structured['kind'] === 'blocked') return blockedReplySchema.parse(structured);
  return structured['isComplete'] === true
    ? completeReplySchema.parse(structured)
    : pendingReplySchema.parse(structured);
}

export function turnAckToken({ reply }: Turn): string | undefined {
  return 'ackToken' in reply ? reply.ackToken : undefined;
}

/** What a reply offers to send, with its blanks; `undefined` if no call leads on. */
export function offeredIn({ nextCall }: RunReply): Sent | undefined {
  if (nextCall === null || nextCall.arguments['ackToken'] === undefined) return undefined;
  const { output = {}, context } = nextCall.arguments;
  const { notesMarkdown, artifacts = [] } = output as JsonObject;
  return {
    ...(typeof notesMarkdown === 'string' ? { notes: notesMarkdown } : {}),
    artifacts: (artifacts as readonly JsonValue[]).filter(isObject),
    ...(isObject(context) ? { context } : {}),
  };
}
