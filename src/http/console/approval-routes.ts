import {
  type ApprovalServices,
  addPasskey,
  approversPage,
  challengeFor,
  passkeyAnswer,
} from '../../app/sessions/console-approvals.ts';
import { type ConsoleAnswer, recordAnswer, statementOf } from '../../app/sessions/console-pages.ts';
import { APPROVAL_INPUTS } from '../../core/wire/approval-shapes.ts';
import { asError, body, type Handler, invalidRequest, RELOAD, refusal, reply } from './exchange-routes.ts';
import { nodeIn } from './run-routes.ts';

type ApprovalPath = 'approvers' | 'addPasskey' | 'challenge' | 'answer';

/**
 * What a person decides in the page, with or without a passkey. `shown` says when the page first showed each draft, and
 * a passkey signs only what was given out here, for one answer.
 */
export function approvalHandlers(
  services: ApprovalServices,
  { shown, port }: { readonly shown: ReadonlyMap<string, number>; readonly port: () => number },
): { readonly [name in ApprovalPath]: Handler } {
  const given = new Map<string, string>();
  return {
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
      if (made.isOk()) given.set(made.value.attestationId, saidText(sent.data));
      return reply(context, made);
    },
    answer: async (context) => {
      const at = nodeIn(context);
      const sent = APPROVAL_INPUTS.answer.safeParse(await body(context));
      const askedAt = sent.success ? shown.get(sent.data.digest) : undefined;
      if (at === undefined || !sent.success) return invalidRequest(context);
      // A draft that no page of this launch has shown was not read by anybody here.
      if (askedAt === undefined) return context.json(asError(NOT_SHOWN), 409);
      const { passkey, ...decided } = sent.data;
      const answer: ConsoleAnswer = { ...at, ...decided, askedAt };
      if (passkey === undefined) return reply(context, await recordAnswer(services, answer));
      const isGivenOut = given.get(passkey.attestationId) === saidText(decided);
      given.delete(passkey.attestationId);
      if (!isGivenOut) return context.json(asError(NOT_SHOWN), 409);
      const origin = `http://localhost:${port()}`;
      const signed = (root: string | undefined) => passkeyAnswer(services, { root, passkey, origin });
      return reply(context, await recordAnswer(services, answer, signed));
    },
  };
}

const NOT_SHOWN = refusal('This draft has changed, or was never shown here. Nothing was recorded.', RELOAD);

type Said = Pick<ConsoleAnswer, 'digest' | 'decision' | 'comment' | 'value'>;

function saidText({ digest, decision, comment, value }: Said): string {
  return JSON.stringify([digest, decision, comment ?? null, value ?? null]);
}
