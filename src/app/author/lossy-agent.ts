import { ok, type Result } from 'neverthrow';
import type { AdvanceRefusal } from '../run/advance.ts';
import type { Send } from './play-run.ts';
import { type Rehearsal, type Sent, type Turn, turnAckToken } from './rehearsal.ts';

/** A faulty way to make a call. It records violations. */
type Fault = (call: Call, problems: string[]) => Promise<Result<Turn, AdvanceRefusal>>;

type Call = {
  readonly stage: Rehearsal;
  readonly turn: Turn;
  readonly ackToken: string;
  readonly sent: Sent;
  /** The call before this one. */
  readonly earlier: { readonly ackToken: string; readonly sent: Sent } | undefined;
};

/** An agent that makes every call in another faulty way, in a fixed order from a given start. */
export function lossyAgent(stage: Rehearsal, begin: number): { readonly send: Send; readonly problems: string[] } {
  const problems: string[] = [];
  let count = begin;
  let earlier: Call['earlier'];
  return {
    problems,
    send: async (turn, sent) => {
      const ackToken = turnAckToken(turn) ?? '';
      const fault = FAULTS[count % FAULTS.length] ?? asItShould;
      count += 1;
      const result = await fault({ stage, turn, ackToken, sent, earlier }, problems);
      earlier = { ackToken, sent };
      return result;
    },
  };
}

const asItShould: Fault = ({ stage, ackToken, sent }) => stage.sendAck(ackToken, sent);

const sendsTwice: Fault = async (call, problems) => {
  const first = await asItShould(call, problems);
  const again = await asItShould(call, problems);
  if (first.isOk() && again.isOk() && first.value.text !== again.value.text)
    problems.push(`${placeOf(call)}: the same call sent again got a different reply`);
  return first;
};

const sendsSomethingElse: Fault = async (call, problems) => {
  const first = await asItShould(call, problems);
  const other = await call.stage.sendAck(call.ackToken, { notes: 'Something else.', artifacts: [] });
  if (first.isOk() && other.isOk() && first.value.reply.stateToken !== other.value.reply.stateToken)
    problems.push(`${placeOf(call)}: the same token with other notes led to a different node`);
  return first;
};

const mangles: Fault = ({ stage, ackToken, sent }) => stage.sendAck(` \`${ackToken.toUpperCase()}\` `, sent);

const cutsShort: Fault = async (call, problems) => {
  const cut = await call.stage.sendAck(call.ackToken.slice(0, -4), call.sent);
  if (cut.isOk()) problems.push(`${placeOf(call)}: a truncated token was accepted`);
  return asItShould(call, problems);
};

const losesTheReply: Fault = async (call, problems) => {
  const lost = await asItShould(call, problems);
  const back = await call.stage.rehydrate(call.turn.reply.stateToken);
  const preferred = back.isOk() ? back.value.reply.branch?.preferred : undefined;
  if (preferred === undefined) return lost;
  const there = await call.stage.rehydrate(preferred.stateToken);
  return there.isOk() ? ok(there.value) : lost;
};

const sendsAnOldOne: Fault = async (call, problems) => {
  if (call.earlier !== undefined) await call.stage.sendAck(call.earlier.ackToken, call.earlier.sent);
  return asItShould(call, problems);
};

const looksFirst: Fault = async (call, problems) => {
  const seen = await call.stage.rehydrate(call.turn.reply.stateToken);
  const ackToken = seen.isOk() ? turnAckToken(seen.value) : undefined;
  if (ackToken === undefined) problems.push(`${placeOf(call)}: looking again returned no token to continue with`);
  return asItShould({ ...call, ackToken: ackToken ?? call.ackToken }, problems);
};

const FAULTS: readonly Fault[] = [
  sendsTwice,
  mangles,
  losesTheReply,
  sendsSomethingElse,
  cutsShort,
  sendsAnOldOne,
  looksFirst,
];

function placeOf({ turn }: Call): string {
  return `at ${turn.reply.pending?.stepId ?? 'the start'}`;
}
