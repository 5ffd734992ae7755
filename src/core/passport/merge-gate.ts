import { err, ok, type Result } from 'neverthrow';
import * as z from 'zod';
import { approverOf, type SignatureTools } from '../approvals/approval-signature.ts';
import type { Approver } from '../approvals/approver-list.ts';
import type { Sha256 } from '../json/canonical-json.ts';
import { type JsonObject, parseJson, quote } from '../json/json-value.ts';
import { repeatedName } from '../json/repeated-name.ts';
import { gradeSchema, isAtLeast } from '../log/autonomy.ts';
import { parseDocument } from '../log/document-schema.ts';
import { attestationRecordedSchema } from '../log/events/attestation-events.ts';
import { workflowHashSchema, workflowIdSchema } from '../log/ids.ts';
import { type DraftVerdict, draftVerdict } from './approved-draft.ts';
import { type PassportStatement, subjectOf } from './passport.ts';
import { folderOfCheck, isAboutFiles, mayEnd } from './summary.ts';

/** Where a repository says what a merge needs. It is read from the base, so that a change cannot loosen its own gate. */
export const MERGE_GATE_FILE = '.workrail/merge-gate.json';

export const mergeGateSchema = z.strictObject({
  v: z.literal(1),
  /** Public keys in PEM, of the stores whose passports count. */
  keys: z.array(z.string()).min(1),
  /** The workflows that count, each with the hashes of its compiled form: any file can have the same id. Default: any. */
  workflows: z.record(workflowIdSchema, z.array(workflowHashSchema).min(1)).optional(),
  /** The checks that must have run on the files of the change, each with the lowest grade that counts. */
  checks: z.record(z.string(), gradeSchema).optional(),
  /** How many different approvals of exactly these files are required, and whether they must be signed. */
  approvals: z.strictObject({ count: z.int().min(1), signed: z.boolean().optional() }).optional(),
  /** Whether open critical gaps are tolerated. Default: no. */
  gaps: z.boolean().optional(),
});
export type MergeGate = z.infer<typeof mergeGateSchema>;

/** A gate with many keys and hashes is far smaller. */
const GATE_LENGTH_MAX = 1_000_000;

/** Reads the file; the error says what is wrong with it. */
export function parseMergeGate(text: string): Result<MergeGate, string> {
  if (text.length > GATE_LENGTH_MAX) return err(`it has more than ${GATE_LENGTH_MAX} characters`);
  const value = parseJson(text);
  if (value.isErr()) return err('it is not JSON');
  const name = repeatedName(text);
  if (name !== undefined) return err(`${quote(name)} is written twice in one object; remove one of them`);
  const gate = parseDocument(mergeGateSchema, value.value);
  if (gate.isErr()) return err(`${gate.error.path || 'the document'}: ${gate.error.message}`);
  const { checks, workflows } = gate.value;
  // Anybody can write a workflow whose check of that name shows nothing.
  const isOpen = checks !== undefined && workflows === undefined;
  return isOpen ? err('"checks" needs "workflows" with the hash of each workflow whose checks count') : ok(gate.value);
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
  const isDone = () => verdictIn(predicate, approval, signing).kind === 'done';
  return signer && (approval.statement === 'rejected' || isDone()) ? signer : undefined;
}

const signedNodeSchema = z.looseObject({
  scope: z.looseObject({ runId: z.string() }),
  data: z.looseObject({ workflowHash: z.string() }),
});

/**
 * What an answer is about, in the run that it is listed under. What was signed names the run and the workflow of its node;
 * in which run the answer stands, and what that run says about its workflow, is only the word of the store.
 */
function verdictIn(
  predicate: Pick<PassportStatement['predicate'], 'events' | 'log' | 'runs'>,
  { event, runId }: Approval,
  { sha256 }: Pick<Signing, 'sha256'>,
): DraftVerdict {
  const verdict = draftVerdict(predicate, event, sha256);
  const { data: node } = signedNodeSchema.safeParse(predicate.events[verdict.step ?? event]?.event);
  const runs = predicate.runs.filter((run) => run.runId === runId);
  const isSame = runs.length > 0 && runs.every(({ workflowHash }) => workflowHash === node?.data.workflowHash);
  return verdict.kind === 'done' && !(isSame && node?.scope.runId === runId) ? { ...verdict, kind: 'other' } : verdict;
}

/**
 * The signed answers that nobody can check against a list of approvers, because they, or a part of what they cover, are not
 * in the passport.
 */
export function uncheckableAnswers(predicate: PassportStatement['predicate'], sha256: Sha256): readonly number[] {
  return predicate.approvals
    .filter(({ signedBy }) => signedBy !== undefined)
    .filter((one) => isWithheld(predicate, one) || verdictIn(predicate, one, { sha256 }).kind === 'unchecked')
    .map(({ event }) => event);
}

function isWithheld({ events }: PassportStatement['predicate'], { event }: Approval): boolean {
  return events[event] === null;
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
  /** The passport has no step that was done with a signed answer, or none with one about its own files. */
  | { readonly code: 'nobody_signed' | 'other_files_signed'; readonly event?: never };

/** Why a signed answer in a passport fails the check against a list of approvers; `undefined` if none does. */
export function signingProblem(
  predicate: PassportStatement['predicate'],
  signing: Signing & {
    /** Whether somebody asks about certain files: then a signed approval of other files says nothing. */
    readonly isTreeAsked?: boolean;
  },
): SigningProblem | undefined {
  const signed = predicate.approvals.filter(({ signedBy }) => signedBy !== undefined);
  const verdicts = signed.map((approval) => {
    const verdict = verdictIn(predicate, approval, signing);
    // A rejection of another draft of the same step ends it too.
    const isSameStep = (later: Approval, step: number | undefined) =>
      later.statement === 'rejected' &&
      later.event > approval.event &&
      step !== undefined &&
      verdictIn(predicate, later, signing).step === step;
    const isTakenBack = ({ end = 0, step }: typeof verdict) =>
      predicate.approvals.some(
        (later) => later.event < end && (mayEnd(predicate, later, approval) || isSameStep(later, step)),
      );
    return verdict.kind === 'done' && isTakenBack(verdict) ? { ...verdict, kind: 'replaced' as const } : verdict;
  });
  for (const [i, approval] of signed.entries()) {
    const { event } = approval;
    if (isWithheld(predicate, approval)) return { code: 'approval_withheld', event };
    if (writerOf(predicate, approval, signing) === undefined) return { code: 'not_approved', event };
    // After a signed draft was replaced, what was done needs a later signature.
    const { kind, step } = verdicts[i] ?? { kind: 'unchecked' };
    const isSignedAgain = verdicts.slice(i).some((later) => later.kind === 'done' && later.step === step);
    if (kind === 'unchecked') return { code: 'approval_withheld', event };
    if (kind === 'other' || (kind === 'replaced' && !isSignedAgain)) return { code: 'another_draft', event };
  }
  const done = signed.filter(({ statement }, i) => statement !== 'rejected' && verdicts[i]?.kind === 'done');
  if (done.length === 0) return { code: 'nobody_signed' };
  const isMissing = signing.isTreeAsked === true && done.every(({ tree }) => tree !== 'subject');
  return isMissing ? { code: 'other_files_signed' } : undefined;
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
  const treeFailures =
    subject === tree ? [] : [`It is about tree ${subject ?? 'none'}, and the change has tree ${tree}.`];
  const { wanted, unknown } = workflowRuns(gate, statement);
  const runs = wanted.filter(
    ({ status }) => status === 'complete' || (gate.gaps === true && status === 'complete_with_gaps'),
  );
  const unknownFailures = unknown.map(
    ({ workflowId, workflowHash }) =>
      `Its run of ${workflowId} does not count: the gate does not name the workflow ${workflowHash}.`,
  );
  // Nothing of these runs counts, so every other failure would only repeat this one.
  if (wanted.length === 0 && unknown.length > 0) return [...treeFailures, ...unknownFailures];
  const isOfRuns = ({ runId }: { readonly runId: string }) => runs.some((run) => run.runId === runId);
  return [
    ...treeFailures,
    ...(runs.length > 0
      ? []
      : [
          `No run of ${gate.workflows === undefined ? 'a workflow' : Object.keys(gate.workflows).join(' or ')} is complete${gate.gaps === true ? '' : ' without critical gaps'}.`,
          ...unknownFailures,
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
      if (found.tree === 'subject') return [];
      const folder = folderOfCheck(predicate, found);
      const why =
        folder !== undefined
          ? `it ran in the folder ${quote(folder)}; start the run at the top of the repository`
          : found.tree === 'other'
            ? 'it ran on others'
            : 'the files are not recorded';
      return [`Check ${quote(checkId)} did not run on exactly these files (${why}).`];
    }),
    ...approvalFailures(gate, predicate, {
      signerOf,
      isOnLine: (approval) => isOfRuns(approval) && approval.isOnLine,
    }),
    // Otherwise any commit would pass with any run.
    ...(requiresFiles(gate) || runs.length === 0 || isAboutFiles(predicate, isOfRuns) ? [] : [NOT_ABOUT_FILES]),
  ];
}

const NOT_ABOUT_FILES =
  'Nothing in it shows that the run was about these files: no check ran on exactly these files, and nobody approved exactly these.';

/** Whether a gate asks for something that must be about exactly the files of the change. */
export function requiresFiles({ checks = {}, approvals }: MergeGate): boolean {
  return approvals !== undefined || Object.keys(checks).length > 0;
}

type Run = PassportStatement['predicate']['runs'][number];

/** The runs that may count, and those of a workflow that the gate names, in a version that it does not name. */
export function workflowRuns(
  { workflows }: MergeGate,
  { predicate: { runs } }: PassportStatement,
): { readonly wanted: readonly Run[]; readonly unknown: readonly Run[] } {
  if (workflows === undefined) return { wanted: runs, unknown: [] };
  const pinned = new Map(Object.entries(workflows));
  const isPinned = ({ workflowId, workflowHash }: Run) => pinned.get(workflowId)?.includes(workflowHash) ?? false;
  const named = runs.filter(({ workflowId }) => pinned.has(workflowId));
  return { wanted: named.filter(isPinned), unknown: named.filter((run) => !isPinned(run)) };
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
    (answer.tree !== 'other' ||
      isWithheld(predicate, answer) ||
      draftOf(predicate, answer).some((draft) => drafts.has(draft)));
  let inForce: readonly Approval[] = [];
  let isRejected = false;
  for (const answer of [...predicate.approvals].sort((a, b) => a.event - b.event)) {
    if (counts(answer)) {
      inForce = [...inForce, answer];
      isRejected = false;
    } else if (answer.statement === 'rejected') {
      // It ends what the same person approved before, also if it is about other files, and every approval of the same
      // draft. If it is withheld, it may be by anybody about anything; if it is not signed, by anybody who did not sign.
      const signer = signerOf(answer)?.name;
      inForce = inForce.filter(
        (before) =>
          !isWithheld(predicate, answer) && !mayEnd(predicate, answer, before) && signerOf(before)?.name !== signer,
      );
      isRejected ||= isAgainst(answer);
    }
  }
  // Two answers of one person are one approval. Without a signature nobody knows whose an answer is.
  const people = new Set(inForce.map((answer) => signerOf(answer)?.name ?? answer.event));
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
