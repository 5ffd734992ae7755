import type { Sha256Digest } from '../../core/json/canonical-json.ts';
import { isObject, type JsonObject } from '../../core/json/json-value.ts';
import type { NodeId } from '../../core/log/ids.ts';
import { isGate } from '../../core/run/decide/judge-attempt.ts';
import { draftCode, voidedBy } from '../../core/run/gate-facts.ts';
import { commentWords, unusedAnswers } from '../../core/views/attestations.ts';
import { blockersAt } from '../../core/views/run-status.ts';
import type { SessionView } from '../../core/views/session-view.ts';

/**
 * What a person rejected at a step before the draft that waits now, with their comment and what changed since, in words.
 * Somebody who decides again needs to see whether the agent did what was asked.
 */
export function earlierRejection(
  view: SessionView,
  { own, digest, details }: { readonly own: NodeId; readonly digest: string; readonly details: JsonObject | undefined },
): string | undefined {
  const newest = unusedAnswers(view, own).at(-1);
  if (newest?.data.statement.kind !== 'rejected' || newest.data.subject.kind !== 'attempt') return undefined;
  const { statement, subject } = newest.data;
  if (subject.digest === digest) return undefined;
  const before = blockersAt(view, newest.scope.nodeId).find(isGate)?.details?.['draft'];
  const now = details?.['draft'];
  const code = draftCode(subject.digest as Sha256Digest);
  const comment = commentWords(statement.comment);
  const { changes } =
    isObject(before) && isObject(now)
      ? voidedBy({ digest: subject.digest, statement: 'approved', parts: before }, now)
      : { changes: [] };
  return `Draft ${code} of this step was rejected.${comment}${changes.length === 0 ? '' : ` Changed since then: ${changes.join(', ')}.`}`;
}
