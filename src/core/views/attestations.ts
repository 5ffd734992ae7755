import { unreachable } from '../assert.ts';
import type { EventOf } from '../log/event.ts';
import type { NodeId } from '../log/ids.ts';

export type Attestation = EventOf<'attestation_recorded'>;

/** What people answered and commands showed at each node, oldest first. */
export type AttestationsView = Map<NodeId, Attestation[]>;

export function applyAttestation(attestations: AttestationsView, event: Attestation): void {
  const ofNode = attestations.get(event.scope.nodeId) ?? [];
  attestations.set(event.scope.nodeId, ofNode);
  ofNode.push(event);
}

type Statement = Attestation['data'];

/** What was said and how it reached us, never more than is known: without a principal, nobody is named. */
export function attestationWords({ statement, by }: Statement): string {
  const said = statement.kind === 'check' ? checkWords(statement) : statement.kind;
  return [`${said} ${channelWords(by)}`, ...oddities({ statement, by })].join(', ');
}

function checkWords({ checkId, exitCode, timedOut }: Extract<Statement['statement'], { kind: 'check' }>): string {
  const result = timedOut ? 'timed out' : exitCode === 0 ? 'passed' : `ended with exit code ${exitCode ?? 'none'}`;
  return `check "${checkId}" ${result}, run`;
}

function channelWords({ via, client, principal }: Statement['by']): string {
  switch (via) {
    case 'elicitation':
      return client === undefined
        ? "in the client's form"
        : `in the form of ${client.name} ${client.version}`.trimEnd();
    case 'terminal':
      return 'at a terminal';
    case 'console':
      return 'in the console';
    case 'team':
      return principal === undefined ? 'on the team server' : `by ${principal}`;
    case 'ci':
      return principal === undefined ? 'in CI' : `in CI as ${principal}`;
    case 'rehearsal':
      return 'in a rehearsal';
    default:
      return unreachable(via);
  }
}

/** An answer that came faster than a person reads. */
const FAST_MS = 1_000;

function oddities({ statement, by }: Pick<Statement, 'statement' | 'by'>): readonly string[] {
  const isFast = statement.kind !== 'check' && by.via !== 'rehearsal' && by.answerMs < FAST_MS;
  return isFast ? [`answered in ${(by.answerMs / 1_000).toFixed(2)} s`] : [];
}
