import { err, ok, type Result } from 'neverthrow';
import * as z from 'zod';
import { approverOf, type SignatureTools } from '../approvals/approval-signature.ts';
import type { Approver } from '../approvals/approver-list.ts';
import { parseJson, quote } from '../json/json-value.ts';
import { parseDocument } from '../log/document-schema.ts';
import { attestationRecordedSchema, gradeSchema, isAtLeast } from '../log/events/attestation-events.ts';
import { workflowIdSchema } from '../log/ids.ts';
import { type Statement, subjectOf } from './passport.ts';

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

/** Who of a list signed an approval of a passport; `undefined` if nobody did, or if the approval is withheld. */
export function signerIn(
  { events }: Statement['predicate'],
  { event }: Approval,
  { approvers, tools }: { readonly approvers: readonly Approver[]; readonly tools: SignatureTools },
): Approver | undefined {
  const parsed = attestationRecordedSchema.safeParse(events[event]?.event);
  return parsed.success ? approverOf(parsed.data.data, approvers, tools).unwrapOr(undefined) : undefined;
}

/** Why a verified passport does not let a change in; empty if it does. */
export function gateFailures(
  gate: MergeGate,
  statement: Statement,
  change: {
    readonly tree: string;
    /** Whose signature an approval has, by the list of the base. */
    readonly signerOf: (approval: Approval) => string | undefined;
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
    ...approvalFailures(
      gate,
      predicate.approvals.filter((approval) => isOfRuns(approval) && approval.isOnLine),
      signerOf,
    ),
  ];
}

export type Approval = Statement['predicate']['approvals'][number];

function approvalFailures(
  { approvals }: MergeGate,
  given: readonly Approval[],
  signerOf: (approval: Approval) => string | undefined,
): readonly string[] {
  if (approvals === undefined) return [];
  const about = given.filter(({ tree }) => tree === 'subject');
  const isRejected = about.some((answer, i) => answer.statement === 'rejected' && !about.slice(i).some(isApproved));
  if (isRejected) return ['The last answer about these files is a rejection.'];
  // Two answers of one person are one approval. Without a signature nobody knows whose an answer is.
  const people = new Set(
    about.filter(isApproved).flatMap((approval): readonly (string | number)[] => {
      const signer = signerOf(approval);
      if (signer !== undefined) return [signer];
      return approvals.signed === true ? [] : [approval.event];
    }),
  );
  if (people.size >= approvals.count) return [];
  const kind = approvals.signed === true ? `approval that an approver in ${APPROVERS_FILE} signed` : 'approval';
  const found = people.size === 0 ? `no ${kind}` : `${people.size} of these: ${kind}`;
  return [
    `It has ${found} for exactly these files, and ${approvals.count} ${approvals.count === 1 ? 'is' : 'are'} required.`,
  ];
}

function isApproved({ statement }: Approval): boolean {
  return statement === 'approved';
}
