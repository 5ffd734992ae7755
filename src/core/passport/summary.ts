import * as z from 'zod';
import { isObject, type JsonObject, type JsonValue } from '../json/json-value.ts';
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
  node_created: z.looseObject({ snapshotRef: text, nodeKind: text, parentNodeId: text.nullable() }),
  run_started: z.looseObject({ workflowId: text, workflowHash: text }),
  gap_recorded: z.looseObject({ severity: text, reason: z.looseObject({ category: text, detail: text }) }),
  advance_recorded: z.looseObject({
    outcome: kindOf,
    checks: z.array(z.looseObject({ stepId: text, checkId: text, minimum: text, grade: text.optional() })).optional(),
  }),
  attestation_recorded: z.looseObject({
    subject: kindOf.and(z.looseObject({ workspace: z.looseObject({}).optional(), digest: text.optional() })),
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
    readonly digest?: string;
    readonly workspace?: { readonly treeDigest?: string };
  };
  readonly statement: {
    readonly kind: string;
    readonly checkId?: string;
    readonly headSha?: string;
    readonly treeDigest?: string;
    readonly folder?: string;
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

/** For an event the node of the step that it is about, or an attempt at; `undefined` if a node on the way is not shown. */
export function stepNodes(shown: readonly (Shown | undefined)[]): (event: Shown | undefined) => string | undefined {
  const events = shown.flatMap((one) => (one === undefined ? [] : [one as unknown as LooseEvent]));
  const nodes = new Map(
    events.flatMap((event) => {
      const id = nodeIn(event);
      return event.kind === 'node_created' && id !== undefined
        ? [[id, event.data as unknown as LooseNode] as const]
        : [];
    }),
  );
  return (event) => {
    let id = event === undefined ? undefined : nodeIn(event as unknown as LooseEvent);
    // A store could sign nodes that are their own ancestors.
    for (let left = nodes.size; left > 0; left--) {
      const node = id === undefined ? undefined : nodes.get(id);
      if (node?.nodeKind === 'step') return id;
      id = node?.parentNodeId ?? undefined;
    }
    return undefined;
  };
}

type LooseNode = { readonly nodeKind: string; readonly parentNodeId: string | null };

function nodeIn({ scope }: LooseEvent): string | undefined {
  const id: unknown = isObject(scope) ? scope['nodeId'] : undefined;
  return typeof id === 'string' && id !== '' ? id : undefined;
}

type Answers = Pick<Predicate, 'events' | 'approvals'>;
type Answer = Predicate['approvals'][number];

/**
 * Whether a rejection may be about what an answer before it is about: the same draft, or one of the two is withheld.
 * Withholding must not make a rejection weaker.
 */
export function mayEnd({ events }: Pick<Predicate, 'events'>, rejection: Answer, answer: Answer): boolean {
  if (rejection.statement !== 'rejected' || answer.statement === 'rejected' || rejection.event <= answer.event)
    return false;
  const [about, said] = [rejection, answer].map(({ event }) => draftOf(events[event]));
  return rejection.runId === answer.runId && (about === undefined || said === undefined || about === said);
}

/** The answers that a later rejection may have ended, each with the first such rejection. */
export function endedAnswers(answers: Answers): ReadonlyMap<number, number> {
  return new Map(
    answers.approvals.flatMap((answer) => {
      const by = answers.approvals.find((rejection) => mayEnd(answers, rejection, answer));
      return by === undefined ? [] : [[answer.event, by.event] as const];
    }),
  );
}

/** The digest of what was answered about; `undefined` if the answer is withheld. */
function draftOf(shown: Predicate['events'][number] | undefined): string | undefined {
  const { data } = (shown?.event ?? {}) as unknown as { readonly data?: LooseAttestation };
  return data?.subject.digest;
}

/** The commit and tree that a passport is about, where it is about one. */
type About = { readonly commit?: string | undefined; readonly tree?: string | undefined };

/**
 * Whether the command of a check ran on exactly the files of a tree, or exactly these were approved. A command that ran in
 * a folder below the top did not: the caller chooses the folder of a run, and the same command may fail at the top.
 */
export function treeOfAttestation(
  shown: Shown | undefined,
  { commit, tree }: About,
  tools: Pick<PassportTools, 'sha256'>,
): 'subject' | 'other' | 'unknown' {
  const { statement, subject, by } = (shown as unknown as { data?: LooseAttestation } | undefined)?.data ?? {};
  const isAnswer = subject?.kind === 'attempt';
  // What a person signed is in the subject: a digest in the statement of an answer is nobody's word.
  const said = isAnswer ? subject.workspace?.treeDigest : statement?.treeDigest;
  // A job of CI has exactly the files of its commit.
  const isOfCommit = by?.via === 'ci' && !isAnswer && (said ?? null) === null;
  const found: JsonValue = (isOfCommit ? statement?.headSha : said) ?? null;
  if (found === null || tree === undefined) return 'unknown';
  const isWhole = statement?.changedDuring !== true && statement?.folder === undefined;
  const isSame = isWhole && found === (isOfCommit ? commit : cleanTreeDigest(tree, tools));
  return isSame ? 'subject' : 'other';
}

/** The folder below the top in which the command of a check ran, if the event that says so is shown. */
export function folderOfCheck(
  { events }: Pick<Predicate, 'events'>,
  { ran }: Pick<Predicate['checks'][number], 'ran'>,
): string | undefined {
  const { data } = (events[ran ?? -1]?.event ?? {}) as unknown as { readonly data?: LooseAttestation };
  const folder: unknown = data?.statement.folder;
  return typeof folder === 'string' ? folder : undefined;
}

/** A passport can be made of a run that goes on, and its signature is as good as any other. */
export function notCompleteWords({
  predicate: { runs },
}: {
  readonly predicate: Pick<Predicate, 'runs'>;
}): string | undefined {
  const open = runs.filter(({ status }) => status === 'in_progress' || status === 'blocked').length;
  if (open === 0) return undefined;
  if (runs.length === 1) return 'The run is not complete.';
  return `${open} of ${plural(runs.length, 'run')} ${open === 1 ? 'is' : 'are'} not complete.`;
}

type Facts = Pick<Predicate, 'events' | 'checks' | 'approvals'>;

/** Whether a check ran on exactly the files of the passport, or somebody approved exactly these, in one of some runs. */
export function isAboutFiles(
  predicate: Facts,
  isOfRuns: (of: { readonly runId: string }) => boolean = () => true,
): boolean {
  const { checks, approvals } = predicate;
  const ended = endedAnswers(predicate);
  const isHere = (fact: (typeof checks | typeof approvals)[number]) =>
    fact.isOnLine && fact.tree === 'subject' && isOfRuns(fact);
  return (
    checks.some(isHere) ||
    approvals.some((answer) => answer.statement !== 'rejected' && isHere(answer) && !ended.has(answer.event))
  );
}

/** A passport names the commit that was checked out when it was made, whatever the run was about. */
export function unseenCommitWords(predicate: Facts, commit: string | undefined): string | undefined {
  const seen = seenCommit(predicate);
  if (commit === undefined || seen === undefined || seen === commit || isAboutFiles(predicate)) return undefined;
  return `The run last saw commit ${shortCommit(seen)}, and this passport is about ${shortCommit(commit)}. Nothing in it shows that the run was about these files.`;
}

/** The commit that was checked out when the run last looked, if an event that says so is shown. */
function seenCommit({ events }: Pick<Predicate, 'events'>): string | undefined {
  const seen = events.findLast(
    (item) => item?.event['kind'] === 'observation_recorded' && fieldOf(item.event, 'key') === 'git_head_sha',
  );
  const value = fieldOf((seen?.event ?? {}) as JsonObject, 'value') ?? {};
  const commit = isObject(value) ? value['value'] : undefined;
  return typeof commit === 'string' ? commit.replace('sha256:', '') : undefined;
}

function fieldOf({ data }: JsonObject, key: string): JsonValue | undefined {
  return isObject(data) ? data[key] : undefined;
}

function shortCommit(commit: string): string {
  return commit.slice(0, 10);
}

/** A check or an approval of files that were committed later is about other files, and nothing can repair it. */
export function otherFilesWords({
  predicate,
}: {
  readonly predicate: Pick<Predicate, 'events' | 'checks' | 'approvals'>;
}): readonly string[] {
  const { checks, approvals } = predicate;
  const isInFolder = (check: (typeof checks)[number]) => folderOfCheck(predicate, check) !== undefined;
  const found = [
    [othersIn(checks.filter((check) => !isInFolder(check))), 'check'],
    [othersIn(approvals.filter(({ statement }) => statement !== 'rejected')), 'approval'],
    [othersIn(approvals.filter(({ statement }) => statement === 'rejected')), 'rejection'],
  ] as const;
  const named = found.filter(([many]) => many > 0).map(([many, noun]) => plural(many, noun));
  const verb = named.length > 1 || !named[0]?.startsWith('1 ') ? 'are' : 'is';
  const others = `${andList(named)} ${verb} about other files than this commit, so a merge gate does not count them. Commit first; then run the checks and ask for the approvals.`;
  const inFolders = plural(othersIn(checks.filter(isInFolder)), 'check');
  const below = `${inFolders} ran in a folder below the top of the repository, so a merge gate does not count what they showed. Start the run at the top.`;
  return [...(named.length === 0 ? [] : [others]), ...(inFolders.startsWith('0 ') ? [] : [below])];
}

function othersIn(facts: readonly { readonly isOnLine: boolean; readonly tree: string }[]): number {
  return facts.filter(({ isOnLine, tree }) => isOnLine && tree === 'other').length;
}
