import type { Call, Reply } from '../reader/obedient-reader.ts';

/** What a reply says about a run, for those who arrange and judge a play. The readers do not use it. */
export type Told = {
  readonly reply: Reply;
  readonly kind: 'ok' | 'blocked';
  readonly sessionId: string;
  readonly runId: string;
  readonly tag: string;
  readonly workflowId: string;
  readonly stateToken: string;
  readonly ackToken: string | undefined;
  readonly checkpointToken: string;
  readonly nextCall: Call | undefined;
  readonly stepId: string | undefined;
  readonly prompt: string;
  readonly isComplete: boolean;
  readonly mode: string;
  readonly warnings: readonly string[];
};

type Shape = {
  readonly kind: string;
  readonly run: { readonly tag: string; readonly workflowId: string };
  readonly session: { readonly sessionId: string; readonly runId: string };
  readonly pending: { readonly stepId: string; readonly prompt: string } | null;
  readonly stateToken: string;
  readonly ackToken?: string;
  readonly checkpointToken: string;
  readonly nextCall: Call | null;
  readonly isComplete: boolean;
  readonly preferences: { readonly autonomy: string };
  readonly warnings: readonly { readonly code: string }[];
};

/** `undefined` for an error and for a reply that is not about a run. */
export function told(reply: Reply): Told | undefined {
  const data = reply.structuredContent as Shape | undefined;
  if (data === undefined || (data.kind !== 'ok' && data.kind !== 'blocked') || data.stateToken === undefined) {
    return undefined;
  }
  return {
    reply,
    kind: data.kind,
    ...data.session,
    ...data.run,
    stateToken: data.stateToken,
    ackToken: data.ackToken,
    checkpointToken: data.checkpointToken,
    nextCall: data.nextCall ?? undefined,
    stepId: data.pending?.stepId,
    prompt: data.pending?.prompt ?? '',
    isComplete: data.isComplete,
    mode: data.preferences.autonomy,
    warnings: data.warnings.map(({ code }) => code),
  };
}
