import { answerGate, findWaitingDraft, signedSubject } from '../../src/app/run/answer-gate.ts';
import type { DraftOf } from '../../src/core/log/event.ts';
import type { ObservationData } from '../../src/core/log/events/run-events.ts';
import { AttestationId, derivedBits, type SessionId } from '../../src/core/log/ids.ts';
import type { TestApprover } from './approvers.ts';
import { type Engine, WORKSPACE } from './engine.ts';
import { sha256 } from './sha256.ts';

type Reply = Awaited<ReturnType<Engine['send']>>;
export type Said = Parameters<typeof answerGate>[2]['statement'];
type Channel = DraftOf<'attestation_recorded'>['data']['by'];

/** A step that only a person lets pass, with the assurance that an author asks for. */
export function shipStep(assurance?: string, title = 'Ship') {
  const step = { id: 'ship', title, prompt: 'Ship it.', requireConfirmation: { kind: 'human_approval' } };
  return assurance === undefined ? step : { ...step, assurance };
}

/** A step that asks a person for a value. */
export function whereStep(assurance?: string) {
  const userDependency = {
    reason: 'needs_user_choice',
    choiceKind: 'irreversible_action',
    contextKey: 'target',
    prompt: 'Which environment?',
  };
  const step = { id: 'where', title: 'Where', prompt: 'Where to?', notesOptional: true, userDependency };
  return assurance === undefined ? step : { ...step, assurance };
}

export const TELL = { id: 'tell', title: 'Tell', prompt: 'Tell them.', notesOptional: true };

/** A workflow file of a team. */
export function teamFile(id: string, ...steps: readonly object[]) {
  return { id, name: 'Release', description: 'Ships it.', version: '1.0.0', steps };
}

/** How an observer sees a folder. */
export const OBSERVED = async (): Promise<readonly ObservationData[]> => [
  { key: 'repo_root', value: { type: 'path', value: WORKSPACE }, confidence: 'high' },
];

/** How it sees one in a repository. */
export const IN_REPOSITORY = async (): Promise<readonly ObservationData[]> => [
  ...(await OBSERVED()),
  { key: 'git_head_sha', value: { type: 'git_sha1', value: 'a'.repeat(40) }, confidence: 'high' },
];

export const AT_TERMINAL = { via: 'terminal', launch: 'l1', askedAt: 1, answerMs: 5_000 } as const satisfies Channel;
export const APPROVED: Said = { kind: 'approved', shown: 'whole' };

/** Where a reply waits for a person, and for what. */
export async function waitingAt(run: Engine, from: Reply) {
  const { sessionId } = from.structured['session'] as { readonly sessionId: SessionId };
  const nodeId = await run.node(from);
  const session = (await run.services.sessions.load(sessionId))._unsafeUnwrap();
  return { at: { sessionId, nodeId }, found: await findWaitingDraft(run.services, session, nodeId) };
}

type Answering = {
  readonly who?: TestApprover | undefined;
  readonly statement?: Said;
  readonly by?: Channel;
  readonly attestationId?: AttestationId;
};

/** Answers what waits as a channel would, signed by somebody or by nobody. */
export async function answerAt(run: Engine, from: Reply, { who, statement = APPROVED, ...more }: Answering = {}) {
  const waiting = (await waitingAt(run, from)).found._unsafeUnwrap();
  const { by = AT_TERMINAL, attestationId = answerId('one') } = more;
  const signature = who?.sign({ attestationId, subject: signedSubject(waiting), statement });
  return answerGate(run.services, waiting, { attestationId, digest: waiting.digest, statement, by, signature });
}

/** The id of an answer that a test names. */
export function answerId(...name: readonly (string | number)[]): AttestationId {
  return AttestationId.of(derivedBits(name, sha256));
}
