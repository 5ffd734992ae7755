import * as z from 'zod';
import type { JsonObject, JsonValue } from '../json/json-value.ts';
import type { SessionEvent } from '../log/event.ts';
import { andList, plural } from '../text/words.ts';
import { cleanTreeDigest, type PassportTools, type Predicate } from './passport.ts';

/** An event as a passport shows it. Only what is read here is known of it. */
type Shown = SessionEvent | JsonObject;

type Summary = Pick<Predicate, 'runs' | 'gaps' | 'checks' | 'approvals'>;
/** What follows from an event alone. What depends on the whole session is the word of the store that exported it. */
export type EventFacts = {
  readonly runs: Omit<Summary['runs'][number], 'status'>[];
  readonly gaps: Omit<Summary['gaps'][number], 'isOpen'>[];
  readonly checks: Omit<Summary['checks'][number], 'isOnLine' | 'tree' | 'ran'>[];
  readonly approvals: Omit<Summary['approvals'][number], 'isOnLine' | 'tree'>[];
};

const text = z.string();
const kindOf = z.looseObject({ kind: text });

/** What is read of the data of an event, by its kind. A newer release may record more, and other kinds. */
const READ_DATA: { readonly [kind: string]: z.ZodType } = {
  node_created: z.looseObject({ snapshotRef: text }),
  run_started: z.looseObject({ workflowId: text, workflowHash: text }),
  gap_recorded: z.looseObject({ severity: text, reason: z.looseObject({ category: text, detail: text }) }),
  advance_recorded: z.looseObject({
    outcome: kindOf,
    checks: z.array(z.looseObject({ stepId: text, checkId: text, minimum: text, grade: text.optional() })).optional(),
  }),
  attestation_recorded: z.looseObject({
    subject: kindOf.and(z.looseObject({ workspace: z.looseObject({}).optional() })),
    statement: kindOf,
    by: z.looseObject({ via: text }),
    signature: z.looseObject({ fingerprint: text, name: text }).optional(),
  }),
};

/** Whether an event has everything that a verifier reads of it. The store's key may have signed anything. */
export function isReadable({ kind, data }: JsonObject): boolean {
  const read = typeof kind === 'string' && Object.hasOwn(READ_DATA, kind) ? READ_DATA[kind] : undefined;
  return typeof kind === 'string' && (read === undefined || read.safeParse(data).success);
}

/** What an event adds to the summary of a passport. The maker and the verifier both use it. */
export function factsOf(shown: Shown, event: number): EventFacts {
  const { kind, data, scope } = shown as unknown as LooseEvent;
  const facts: EventFacts = { runs: [], gaps: [], checks: [], approvals: [] };
  const runId = scope?.runId as never;
  if (kind === 'run_started') {
    const { workflowId, workflowHash } = data as never;
    facts.runs.push({ event, runId, workflowId, workflowHash });
  }
  if (kind === 'gap_recorded') {
    const { severity, reason } = data as { severity: never; reason: { category: string; detail: string } };
    facts.gaps.push({ event, runId, severity, reason: `${reason.category}:${reason.detail}` });
  }
  if (kind === 'advance_recorded') {
    const { outcome, checks = [] } = data as { outcome: { kind: string }; checks?: readonly LooseCheck[] };
    for (const { stepId, checkId, minimum, grade } of outcome.kind === 'advanced' ? checks : []) {
      facts.checks.push({ event, runId, stepId, checkId, minimum, grade: grade ?? null } as never);
    }
  }
  if (kind === 'attestation_recorded') {
    const { subject, statement, by, signature } = data as LooseAttestation;
    if (subject.kind === 'attempt') {
      const signedBy =
        signature === undefined ? {} : { signedBy: { fingerprint: signature.fingerprint, name: signature.name } };
      facts.approvals.push({ event, runId, statement: statement.kind as never, via: by.via as never, ...signedBy });
    }
  }
  return facts;
}

type LooseEvent = {
  readonly kind: string;
  readonly scope?: { readonly runId?: string; readonly nodeId?: string };
  readonly data: JsonObject;
};
type LooseCheck = {
  readonly stepId: string;
  readonly checkId: string;
  readonly minimum: string;
  readonly grade?: string;
};
type LooseAttestation = {
  readonly subject: {
    readonly kind: string;
    readonly stepId?: string;
    readonly workspace?: { readonly treeDigest?: string };
  };
  readonly statement: {
    readonly kind: string;
    readonly checkId?: string;
    readonly treeDigest?: string;
    readonly changedDuring?: true;
  };
  readonly by: { readonly via: string };
  readonly signature?: { readonly fingerprint: string; readonly name: string };
};

type AskedCheck = { readonly runId: string; readonly stepId: string; readonly checkId: string };

/** Whether an event is a run of the command of a check. */
export function isRunOf(shown: Shown, { runId, stepId, checkId }: AskedCheck): boolean {
  const { kind, data, scope } = shown as unknown as LooseEvent;
  if (kind !== 'attestation_recorded' || scope?.runId !== runId) return false;
  const { subject, statement } = data as unknown as LooseAttestation;
  return subject.kind === 'step' && subject.stepId === stepId && statement.checkId === checkId;
}

/** Whether the command of a check ran on exactly the files of a tree, or exactly these were approved. */
export function treeOfAttestation(
  shown: Shown | undefined,
  tree: string | undefined,
  tools: Pick<PassportTools, 'sha256'>,
): 'subject' | 'other' | 'unknown' {
  const { statement, subject } = (shown as unknown as { data?: LooseAttestation } | undefined)?.data ?? {};
  // What a person signed is in the subject: a digest in the statement of an answer is nobody's word.
  const said = subject?.kind === 'attempt' ? subject.workspace?.treeDigest : statement?.treeDigest;
  const digest: JsonValue = said ?? null;
  if (digest === null || tree === undefined) return 'unknown';
  const isSame = digest === cleanTreeDigest(tree, tools) && statement?.changedDuring !== true;
  return isSame ? 'subject' : 'other';
}

/** A check or an approval of files that were committed later is about other files, and nothing can repair it. */
export function otherFilesWords({
  predicate,
}: {
  readonly predicate: Pick<Predicate, 'checks' | 'approvals'>;
}): readonly string[] {
  const others = (facts: readonly { readonly isOnLine: boolean; readonly tree: string }[]) =>
    facts.filter(({ isOnLine, tree }) => isOnLine && tree === 'other').length;
  const found = [
    [others(predicate.checks), 'check'],
    [others(predicate.approvals), 'approval'],
  ] as const;
  const named = found.filter(([many]) => many > 0).map(([many, noun]) => plural(many, noun));
  if (named.length === 0) return [];
  const verb = named.length > 1 || !named[0]?.startsWith('1 ') ? 'are' : 'is';
  return [
    `${andList(named)} ${verb} about other files than this commit, so a merge gate does not count them. Commit first; then run the checks and ask for the approvals.`,
  ];
}
