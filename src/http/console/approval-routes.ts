import { ok } from 'neverthrow';
import type { Clock } from '../../app/ports/system-services.ts';
import {
  type ApprovalServices,
  addPasskey,
  approversPage,
  challengeFor,
  passkeyAnswer,
} from '../../app/sessions/console-approvals.ts';
import {
  type ConsoleAnswer,
  type ConsoleServices,
  recordAnswer,
  type SignedAnswer,
  statementOf,
  waitingPage,
} from '../../app/sessions/console-pages.ts';
import { defined } from '../../core/json/json-value.ts';
import { APPROVAL_INPUTS } from '../../core/wire/approval-shapes.ts';
import type { ConsoleInput } from '../../core/wire/console-shapes.ts';
import { asError, body, type Handler, invalidRequest, RELOAD, refusal, reply } from './exchange-routes.ts';
import { nodeIn } from './run-routes.ts';

type ApprovalPath = 'waiting' | 'approvers' | 'addPasskey' | 'challenge' | 'answer';

/** Knows what was given to a page, and when, so that only that can be answered. */
export type Receipts = {
  /** What the page must send back, unless this process remembers it. */
  readonly give: (what: string) => Promise<string | undefined>;
  /** `undefined` for what was not given. What is used up counts only once. */
  readonly givenAt: (
    what: string,
    receipt: string | undefined,
    how?: { readonly isUsedUp: boolean },
  ) => Promise<number | undefined>;
};

/** Remembers what this launch has given. */
export function launchReceipts(clock: Clock): Receipts {
  const given = new Map<string, number>();
  return {
    give: async (what) => {
      if (!given.has(what)) given.set(what, clock.nowMs());
      return undefined;
    },
    givenAt: async (what, _, { isUsedUp } = { isUsedUp: false }) => {
      const at = given.get(what);
      if (isUsedUp) given.delete(what);
      return at;
    },
  };
}

type Passkey = NonNullable<ConsoleInput<'answer'>['passkey']>;

type How = {
  readonly receipts: Receipts;
  /** Makes a signature of what a passkey gave; absent where nobody can sign. */
  readonly signedBy?: (passkey: Passkey) => SignedAnswer;
};

/** What waits, and what a person decides about exactly what was shown. */
export function decisionHandlers(
  services: ConsoleServices,
  { receipts, signedBy }: How,
): { readonly [name in 'waiting' | 'answer']: Handler } {
  return {
    waiting: async (context) => {
      const page = await waitingPage(services);
      if (page.isErr()) return reply(context, page);
      const waiting = page.value.waiting.map(async (item) => ({
        ...item,
        ...defined({ receipt: await receipts.give(draftText(item.digest)) }),
      }));
      return reply(context, ok({ waiting: await Promise.all(waiting) }));
    },
    answer: async (context) => {
      const at = nodeIn(context);
      const sent = APPROVAL_INPUTS.answer.safeParse(await body(context));
      if (at === undefined || !sent.success) return invalidRequest(context);
      const { passkey, receipt, ...decided } = sent.data;
      const askedAt = await receipts.givenAt(draftText(decided.digest), receipt);
      // A draft that no page has shown was not read by anybody here.
      if (askedAt === undefined) return context.json(asError(NOT_SHOWN), 409);
      const answer: ConsoleAnswer = { ...at, ...decided, askedAt };
      if (passkey === undefined) return reply(context, await recordAnswer(services, answer));
      const said = saidText(passkey.attestationId, decided);
      const givenAt = await receipts.givenAt(said, passkey.receipt, { isUsedUp: true });
      if (givenAt === undefined || signedBy === undefined) return context.json(asError(NOT_SHOWN), 409);
      return reply(context, await recordAnswer(services, answer, signedBy(passkey)));
    },
  };
}

/**
 * The same with passkeys, which sign only what was given out, for one answer. `origin` is where the page is, as a passkey
 * knows it.
 */
export function approvalHandlers(
  services: ApprovalServices,
  { receipts, origin }: { readonly receipts: Receipts; readonly origin: () => string },
): { readonly [name in ApprovalPath]: Handler } {
  const signedBy = (passkey: Passkey) => (root: string | undefined) =>
    passkeyAnswer(services, { root, passkey, origin: origin() });
  return {
    ...decisionHandlers(services, { receipts, signedBy }),
    approvers: async (context) => reply(context, await approversPage(services)),
    addPasskey: async (context) => {
      const sent = APPROVAL_INPUTS.addPasskey.safeParse(await body(context));
      return sent.success ? reply(context, await addPasskey(services, sent.data)) : invalidRequest(context);
    },
    challenge: async (context) => {
      const at = nodeIn(context);
      const sent = APPROVAL_INPUTS.challenge.safeParse(await body(context));
      if (at === undefined || !sent.success) return invalidRequest(context);
      const { digest } = sent.data;
      const made = await challengeFor(services, at, { digest, statement: statementOf(sent.data) });
      if (made.isErr()) return reply(context, made);
      const receipt = await receipts.give(saidText(made.value.attestationId, sent.data));
      return reply(context, ok({ ...made.value, ...defined({ receipt }) }));
    },
  };
}

const NOT_SHOWN = refusal('This draft has changed, or was never shown here. Nothing was recorded.', RELOAD);

type Said = Pick<ConsoleAnswer, 'digest' | 'decision' | 'comment' | 'value'>;

function draftText(digest: string): string {
  return `draft ${digest}`;
}

function saidText(attestationId: string, { digest, decision, comment, value }: Said): string {
  return JSON.stringify([attestationId, digest, decision, comment ?? null, value ?? null]);
}
