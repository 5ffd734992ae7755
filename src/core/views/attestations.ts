import { unreachable } from '../assert.ts';
import { quote } from '../json/json-value.ts';
import type { EventOf } from '../log/event.ts';
import type { NodeId } from '../log/ids.ts';
import { clip } from '../text/utf8.ts';
import { visibleJson, visibleLine } from '../text/visible-text.ts';
import { plural } from '../text/words.ts';
import { nodeOf, type RunGraph } from './run-graph.ts';

export type Attestation = EventOf<'attestation_recorded'>;

/** What people answered and commands showed at each node, oldest first. */
export type AttestationsView = Map<NodeId, Attestation[]>;

export function applyAttestation(attestations: AttestationsView, event: Attestation): void {
  const ofNode = attestations.get(event.scope.nodeId) ?? [];
  attestations.set(event.scope.nodeId, ofNode);
  ofNode.push(event);
}

/**
 * What people answered about attempts at a step, oldest first. An answer is about a draft, whichever attempt handed it in.
 * Doing the step uses up all answers before it: doing it again asks again. A rejection ends every approval before it, also
 * of another draft: somebody who approves a draft and rejects a later one did not mean the earlier one to be done.
 */
export function unusedAnswers(
  { graph, attestations }: { readonly graph: RunGraph; readonly attestations: AttestationsView },
  stepNodeId: NodeId,
): readonly Attestation[] {
  const found: Attestation[] = [];
  let doneAt = -1;
  const around = [nodeOf(graph, stepNodeId)];
  // The list grows while it is walked: attempts hang on each other.
  for (const { children } of around) {
    for (const child of children) {
      const node = nodeOf(graph, child);
      if (node.kind === 'step') doneAt = Math.max(doneAt, node.createdIndex);
      else {
        around.push(node);
        found.push(...(attestations.get(child) ?? []));
      }
    }
  }
  const answers = found
    .filter(({ data, eventIndex }) => data.subject.kind === 'attempt' && eventIndex > doneAt)
    .sort((a, b) => a.eventIndex - b.eventIndex);
  return answers.filter((answer) => !isTakenBack(answers, answer));
}

/** Whether a person rejected a draft of the same step after an answer that is not itself a rejection. */
export function isTakenBack(answers: readonly Attestation[], { data, eventIndex }: Attestation): boolean {
  const isLater = (other: Attestation) => other.eventIndex > eventIndex && other.data.statement.kind === 'rejected';
  return data.statement.kind !== 'rejected' && answers.some(isLater);
}

/** The newest answer about a draft. */
export function answerTo(answers: readonly Attestation[], digest: string): Attestation | undefined {
  return answers.findLast(({ data: { subject } }) => subject.kind === 'attempt' && subject.digest === digest);
}

/** What a person wrote with an answer, in quotation marks. */
export function commentWords(comment: string | undefined): string {
  return comment === undefined ? '' : ` The comment was: ${quote(clip(comment, COMMENT_BYTES_MAX))}`;
}

const COMMENT_BYTES_MAX = 300;

type Statement = Attestation['data'];

/** What was said and how it reached us, never more than is known: without a principal, nobody is named. */
export function attestationWords({
  statement,
  by,
  signature,
}: Pick<Statement, 'statement' | 'by'> & { readonly signature?: Statement['signature'] }): string {
  const said =
    statement.kind === 'check'
      ? `check "${statement.checkId}"${statement.command === undefined ? '' : `, ${commandText(statement.command)},`} ${checkRunWords(statement, by)}`
      : `${statement.kind} ${channelWords(by)}`;
  const signed = signature === undefined ? [] : [signedByWords(signature)];
  return [said, ...signed, ...oddities({ statement, by })].join(', ');
}

/** As whom an answer is signed. Checking it needs a list of keys: `session verify --approvers` does that. */
export function signedByWords({ kind, name, fingerprint }: NonNullable<Statement['signature']>): string {
  return `signed as ${name} with ${SIGNED_WITH[kind]} ${fingerprint}`;
}

const SIGNED_WITH: { readonly [kind in NonNullable<Statement['signature']>['kind']]: string } = {
  ssh_key: 'the SSH key',
  security_key: 'the security key',
  passkey: 'the passkey',
};

/** A command exactly as it was run: in a code span, or as a JSON text if it has line breaks, backticks or codes. */
export function commandText(command: string): string {
  const isPlain = !command.includes('`') && command.trim() === command && visibleLine(command) === command;
  return isPlain ? `\`${command}\`` : visibleJson(quote(command));
}

/** How a command of a check ended, here and on the base, and whether on other files than those that are asked about. */
export function checkRunWords(
  {
    exitCode,
    signal,
    timedOut,
    tests,
    base,
    headSha,
    uncommitted = 0,
    treeDigest,
    folder,
    chosenByAgent,
    unseen,
  }: CheckStatement,
  by: Statement['by'],
  filesAsked?: string,
): string {
  const result = timedOut
    ? 'timed out'
    : exitCode === null
      ? `was ended by ${signal ?? 'a signal'}`
      : `ended with exit code ${exitCode}`;
  const counted = tests === undefined ? [] : [testWords(tests)];
  const onBase =
    base === undefined
      ? []
      : [
          `exit code ${base.exitCode ?? 'none'} on the base ${base.sha.slice(0, SHA_SHOWN)}`,
          ...(base.tests === undefined ? [] : [`${testWords(base.tests)} there`]),
        ];
  const changes = uncommitted === 0 ? 'at' : `with ${plural(uncommitted, 'file')} changed since`;
  const commit = headSha === undefined ? [] : [`${changes} commit ${headSha.slice(0, SHA_SHOWN)}`];
  const below = folder === undefined ? [] : [`in the folder ${quote(folder)}`];
  const isOtherTree = filesAsked !== undefined && treeDigest !== undefined && treeDigest !== filesAsked;
  const odd = [
    ...(chosenByAgent === true ? ['the agent chose the command'] : []),
    ...(unseen === true ? ['nobody was shown the command'] : []),
  ];
  const where = by.via === 'terminal' ? 'run by workrail attest' : `run ${channelWords(by)}`;
  const files = isOtherTree ? ['not on these files'] : [];
  return [result, ...counted, ...onBase, ...commit, ...below, ...files, where, ...odd].join(', ');
}

const SHA_SHOWN = 10;

function testWords({ executed, failed }: NonNullable<CheckStatement['tests']>): string {
  return `${plural(executed, 'test')} run, ${failed} failed`;
}

type CheckStatement = Extract<Statement['statement'], { kind: 'check' }>;

function channelWords({ via, client, principal }: Statement['by']): string {
  switch (via) {
    case 'elicitation':
      return client === undefined
        ? "in the client's form"
        : // The client chose its name, and may have chosen one that reads like a sentence of ours.
          `in a form of the client ${quote(`${client.name} ${client.version}`.trimEnd())}`;
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
  const isPart = statement.kind !== 'check' && statement.shown === 'part';
  return [
    ...(isFast ? [`answered in ${(by.answerMs / 1_000).toFixed(2)} s`] : []),
    ...(by.askedLaunch === undefined ? [] : ['the answer came to another launch of WorkRail than the one that asked']),
    ...(isPart ? ['only the beginning of the draft was shown'] : []),
  ];
}
