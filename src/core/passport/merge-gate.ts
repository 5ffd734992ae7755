import { err, ok, type Result } from 'neverthrow';
import * as z from 'zod';
import { approverOf, type SignatureTools } from '../approvals/approval-signature.ts';
import type { Approver } from '../approvals/approver-list.ts';
import type { Sha256 } from '../json/canonical-json.ts';
import { type JsonObject, parseJson, quote } from '../json/json-value.ts';
import { parseDocument } from '../log/document-schema.ts';
import { attestationRecordedSchema, gradeSchema, isAtLeast } from '../log/events/attestation-events.ts';
import { workflowIdSchema } from '../log/ids.ts';
import { draftVerdict } from './approved-draft.ts';
import { type PassportStatement, subjectOf } from './passport.ts';

/** Where a repository says what a merge needs. It is read from the base, so that a change cannot loosen its own gate. */
export const MERGE_GATE_FILE = '.workrail/merge-gate.json';

export const mergeGateSchema = z.strictObject({
  v: z.literal(1),
  /** Public keys in PEM, of the stores whose passports count. */
  keys: z.array(z.string()).min(1),
  /** The workflows that count. Default: any. */
  workflows: z.array(workflowIdSchema).min(1).optional(),
  /** The checks that must have run on the files of the change, each with the lowest grade that counts. */
  checks: z.record(z.string(), gradeSchema).optional(),
  /** How many different approvals of exactly these files are required, and whether they must be signed. */
  approvals: z.strictObject({ count: z.int().min(1), signed: z.boolean().optional() }).optional(),
  /** Whether open critical gaps are tolerated. Default: no. */
  gaps: z.boolean().optional(),
});
export type MergeGate = z.infer<typeof mergeGateSchema>;

/** Reads the file; the error says what is wrong with it. */
export function parseMergeGate(text: string): Result<MergeGate, string> {
  const value = parseJson(text);
  if (value.isErr()) return err('it is not JSON');
  const gate = parseDocument(mergeGateSchema, value.value);
  return gate.isOk() ? ok(gate.value) : err(`${gate.error.path || 'the document'}: ${gate.error.message}`);
}

/** Where a repository lists whose signatures count. */
export const APPROVERS_FILE = '.workrail/approvers';

type Signing = {
  readonly approvers: readonly Approver[];
  readonly tools: SignatureTools;
  readonly sha256: Sha256;
};

/**
 * Who of a list signed an approval of what a step was done with; `undefined` if nobody did, if the approval is withheld,
 * or if the events do not lead to the digest that was signed.
 */
export function signerIn(
  predicate: PassportStatement['predicate'],
  approval: Approval,
  signing: Signing,
): Approver | undefined {
  const signer = writerOf(predicate, approval, signing);
  // A rejection counts whatever became of the draft.
  const isDone = () => draftVerdict(predicate, approval.event, signing.sha256).kind === 'done';
  return signer && (approval.statement === 'rejected' || isDone()) ? signer : undefined;
}

/** Whose signature an answer has, whatever it is about. */
function writerOf({ events }: PassportStatement['predicate'], { event }: Approval, { approvers, tools }: Signing) {
  const shown = events[event]?.event;
  const parsed = attestationRecordedSchema.safeParse(shown);
  // Reading leaves out fields that it does not know. What else stands in an answer was not signed, so it counts for nothing.
  const isWhole = parsed.success && quote(parsed.data as JsonObject) === quote(shown as JsonObject);
  return parsed.success && isWhole ? approverOf(parsed.data.data, approvers, tools).unwrapOr(undefined) : undefined;
}

export type SigningProblem =
  | { readonly code: 'not_approved' | 'approval_withheld' | 'another_draft'; readonly event: number }
  /** The passport has no step that was done with a signed answer. */
  | { readonly code: 'nobody_signed'; readonly event?: never };

/** Why a signed answer in a passport does not hold against a list of approvers; `undefined` if all of them do. */
export function signingProblem(
  predicate: PassportStatement['predicate'],
  signing: Signing,
): SigningProblem | undefined {
  const signed = predicate.approvals.filter(({ signedBy }) => signedBy !== undefined);
  const verdicts = signed.map(({ event }) => draftVerdict(predicate, event, signing.sha256));
  for (const [i, approval] of signed.entries()) {
    const { event } = approval;
    if (predicate.events[event] === null) return { code: 'approval_withheld', event };
    if (writerOf(predicate, approval, signing) === undefined) return { code: 'not_approved', event };
    // After a signed draft was replaced, what was done needs a later signature.
    const { kind, step } = verdicts[i] ?? { kind: 'unchecked' };
    const isSignedAgain = verdicts.slice(i).some((later) => later.kind === 'done' && later.step === step);
    if (kind === 'unchecked') return { code: 'approval_withheld', event };
    if (kind === 'other' || (kind === 'replaced' && !isSignedAgain)) return { code: 'another_draft', event };
  }
  const isDone = signed.some(({ statement }, i) => statement !== 'rejected' && verdicts[i]?.kind === 'done');
  return isDone ? undefined : { code: 'nobody_signed' };
}

/** Why a verified passport does not let a change in; empty if it does. */
export function gateFailures(
  gate: MergeGate,
  statement: PassportStatement,
  change: {
    readonly tree: string;
    /** Whose signature an answer has, by the list of the base. One name is one person, whatever the key. */
    readonly signerOf: (approval: Approval) => Pick<Approver, 'name'> | undefined;
  },
): readonly string[] {
  const { tree, signerOf } = change;
  const { predicate } = statement;
  const subject = subjectOf(statement).tree;
  const wanted = predicate.runs.filter(({ workflowId }) => gate.workflows?.includes(workflowId) ?? true);
  const runs = wanted.filter(
    ({ status }) => status === 'complete' || (gate.gaps === true && status === 'complete_with_gaps'),
  );
  const isOfRuns = ({ runId }: { readonly runId: string }) => runs.some((run) => run.runId === runId);
  return [
    ...(subject === tree ? [] : [`It is about tree ${subject ?? 'none'}, and the change has tree ${tree}.`]),
    ...(runs.length > 0
      ? []
      : [
          `No run of ${gate.workflows?.join(' or ') ?? 'a workflow'} is complete${gate.gaps === true ? '' : ' without critical gaps'}.`,
        ]),
    ...predicate.checks
      .filter((check) => isOfRuns(check) && check.isOnLine && !isAtLeast(check.grade ?? undefined, check.minimum))
      .map(
        ({ checkId, minimum, grade }) =>
          `Check ${quote(checkId)} is ${grade ?? 'not shown'}, and its step requires ${minimum}.`,
      ),
    ...Object.entries(gate.checks ?? {}).flatMap(([checkId, minimum]) => {
      const found = predicate.checks
        .filter((check) => check.checkId === checkId && isOfRuns(check) && check.isOnLine)
        .at(-1);
      if (found === undefined) return [`Check ${quote(checkId)} is not in it.`];
      if (!isAtLeast(found.grade ?? undefined, minimum))
        return [`Check ${quote(checkId)} is ${found.grade ?? 'not shown'}, and ${minimum} is required.`];
      return found.tree === 'subject'
        ? []
        : [
            `Check ${quote(checkId)} did not run on exactly these files (${found.tree === 'other' ? 'it ran on others' : 'the files are not recorded'}).`,
          ];
    }),
    ...approvalFailures(gate, predicate, {
      signerOf,
      isOnLine: (approval) => isOfRuns(approval) && approval.isOnLine,
    }),
  ];
}

export type Approval = PassportStatement['predicate']['approvals'][number];

function approvalFailures(
  { approvals }: MergeGate,
  predicate: PassportStatement['predicate'],
  answers: {
    readonly signerOf: (approval: Approval) => Pick<Approver, 'name'> | undefined;
    readonly isOnLine: (approval: Approval) => boolean;
  },
): readonly string[] {
  if (approvals === undefined) return [];
  const { signerOf, isOnLine } = answers;
  const isSigned = approvals.signed === true;
  const counts = (answer: Approval) =>
    isApproved(answer) && answer.tree === 'subject' && isOnLine(answer) && !(isSigned && !signerOf(answer));
  const drafts = new Set(predicate.approvals.filter(counts).flatMap((answer) => draftOf(predicate, answer)));
  // A rejection counts wherever it was given, unless it is known to be about something else.
  const isAgainst = (answer: Approval) =>
    answer.statement === 'rejected' &&
    (answer.tree !== 'other' || draftOf(predicate, answer).some((draft) => drafts.has(draft)));
  // Two answers of one person are one approval. Without a signature nobody knows whose an answer is.
  const people = new Set<string | number>();
  let isRejected = false;
  for (const answer of [...predicate.approvals].sort((a, b) => a.event - b.event)) {
    const signer = signerOf(answer)?.name;
    if (counts(answer)) {
      people.add(signer ?? answer.event);
      isRejected = false;
    } else if (isAgainst(answer)) {
      // A rejection ends what the same person approved before, and may be by anybody who did not sign.
      for (const person of people)
        if (signer === undefined ? typeof person === 'number' : person === signer) people.delete(person);
      isRejected = true;
    }
  }
  if (isRejected) return ['The last answer about these files is a rejection.'];
  if (people.size >= approvals.count) return [];
  const kind = isSigned ? `approval that an approver in ${APPROVERS_FILE} signed` : 'approval';
  const found = people.size === 0 ? `no ${kind}` : `${people.size} of these: ${kind}`;
  return [
    `It has ${found} for exactly these files, and ${approvals.count} ${approvals.count === 1 ? 'is' : 'are'} required.`,
  ];
}

/** What was answered about, by its digest; nothing if the answer is withheld. */
function draftOf({ events }: PassportStatement['predicate'], { event }: Approval): readonly string[] {
  const { data } = attestationRecordedSchema.safeParse(events[event]?.event);
  return data?.data.subject.kind === 'attempt' ? [data.data.subject.digest] : [];
}

function isApproved({ statement }: Approval): boolean {
  return statement === 'approved';
}
