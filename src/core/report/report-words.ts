import { type JsonValue, ownValue, quote } from '../json/json-value.ts';
import type { Preferences } from '../log/autonomy.ts';
import type { Salvage } from '../log/health.ts';
import type { NodeId } from '../log/ids.ts';
import { originWords } from '../log/origin.ts';
import { notBundledWords, SETTERS } from '../prompt/reply-parts.ts';
import { shownTime } from '../text/utc-time.ts';
import { clip } from '../text/utf8.ts';
import { visibleLine } from '../text/visible-text.ts';
import { plural, sizeOf } from '../text/words.ts';
import { gradeOf, gradeWords } from '../views/line-checks.ts';
import type {
  Report,
  ReportArtifact,
  ReportBranch,
  ReportEntry,
  ReportRun,
  ReportSession,
  ReportStep,
} from './report.ts';

/** A fact about a session or run. A renderer decides how code and secondary text look. */
export type ReportFact = { readonly name: string; readonly parts: readonly FactPart[] };
export type FactPart = { readonly kind: 'plain' | 'code' | 'secondary'; readonly text: string };

const plain = (text: string): FactPart => ({ kind: 'plain', text });
const code = (text: string): FactPart => ({ kind: 'code', text });
const secondary = (text: string): FactPart => ({ kind: 'secondary', text });
const fact = (name: string, ...parts: readonly FactPart[]): ReportFact => ({ name, parts });

export function reportTitle(sessions: readonly ReportSession[]): string {
  const [first] = sessions;
  if (first === undefined || sessions.length > 1) return `WorkRail report: ${plural(sessions.length, 'session')}`;
  const run = first.runs[0];
  return run === undefined ? `WorkRail session ${first.sessionId}` : (run.goal ?? run.workflow.name);
}

export function sessionFacts(session: ReportSession): readonly ReportFact[] {
  const { sessionId, events, origin, author, firstAt, lastAt, workspace } = session;
  const latest = new Map(workspace.map(({ key, value }) => [key, value]));
  latest.delete('repo_root_hash');
  return [
    fact('Session', code(sessionId), secondary(plural(events, 'event'))),
    ...(origin === undefined ? [] : [fact('Origin', plain(originWords(origin)))]),
    ...(author === undefined ? [] : [fact('Author', plain(`git: ${author} (from the git settings, not verified)`))]),
    ...timeFacts(firstAt, lastAt),
    ...[...latest].map(([key, value]) => fact(inWords(key), key === 'git_head_sha' ? code(value) : plain(value))),
  ];
}

export function runFacts(run: ReportRun): readonly ReportFact[] {
  const { workflow, runId, preferences, setBy, startedAt, lastAt } = run;
  const { kind, ref } = workflow.source;
  const source = workflow.isFalselyBundled === true ? notBundledWords(workflow) : `${kind} ${ref}`;
  const steps =
    workflow.steps === undefined
      ? ''
      : `; the workflow has ${plural(workflow.steps, 'step')}, and ${stepsDone(run)} of them were done at least once. Steps are numbered in the order in which they ran on each branch; skipped steps have no number.`;
  return [
    fact('Workflow', code(workflow.workflowId), secondary(`${source}${steps}`)),
    fact('Workflow hash', code(workflow.hash)),
    fact('Run', code(runId)),
    fact('Mode', plain(modeWords(preferences, setBy))),
    ...timeFacts(startedAt, lastAt),
  ];
}

/** How many steps of the workflow were done, on any branch and in any round. */
function stepsDone({ entries }: ReportRun): number {
  return new Set(entries.flatMap((entry) => (entry.kind === 'step' && entry.step !== null ? [entry.step.stepId] : [])))
    .size;
}

/** When a run began and ended, in a few words; before that its mode, if nobody had to be asked. */
export function modeAndTimeWords({ startedAt, lastAt, preferences, setBy }: ReportRun): readonly string[] {
  const { autonomy } = preferences;
  const chosen = setBy === undefined ? '' : `, ${SETTERS[setBy]}`;
  const mode = autonomy === 'guided' ? [] : [`mode: ${inWords(autonomy)}${chosen}`];
  return [...mode, ...timeFacts(startedAt, lastAt).flatMap(({ parts }) => parts.map(({ text }) => text))];
}

/** Nothing where no event has a time. The second day is shown only if it differs. */
function timeFacts(from: string | undefined, to: string | undefined): readonly ReportFact[] {
  if (from === undefined || to === undefined) return [];
  if (from.slice(0, 16) === to.slice(0, 16)) return [fact('Time', plain(shownTime(to)))];
  const isOneDay = from.slice(0, 10) === to.slice(0, 10);
  const end = isOneDay ? shownTime(to).slice(11) : shownTime(to);
  return [fact('Time', plain(`${shownTime(from).replace(' UTC', '')} – ${end}`))];
}

/** The warning above a session of which only the start could be read. */
export function salvageText({ health, lastEventIndex }: Salvage): string {
  return `Only part of this session is shown: ${SALVAGE_CAUSES[health]} event ${lastEventIndex}. Everything shown here was verified.`;
}

const SALVAGE_CAUSES: { readonly [health in Salvage['health']]: string } = {
  corrupt_tail: 'it is damaged after',
  unknown_version: 'a newer version of WorkRail wrote what comes after',
  import_unfinished: 'its import stopped, at the latest after',
};

export function statusLabel({ status, isClosed }: Pick<ReportRun, 'status' | 'isClosed'>): string {
  return isClosed ? `${inWords(status)}, closed` : inWords(status);
}

/** The size of a run in numbers, each with its noun. */
export function runFigures({
  entries,
  branches,
  gaps,
}: ReportRun): readonly (readonly [noun: string, count: number])[] {
  const figure = (count: number, one: string, many: string) => [count === 1 ? one : many, count] as const;
  const ofKind = (kind: ReportEntry['kind']) => entries.filter((entry) => entry.kind === kind).length;
  // A step that was done on two branches is one step of the run.
  const current = branches.find(({ isCurrent }) => isCurrent);
  const seen = new Set(current?.line);
  const done = entries.filter((entry) => entry.kind === 'step' && entry.step !== null && seen.has(entry.nodeId)).length;
  const hasRounds = entries.some((entry) => entry.kind === 'step' && (entry.step?.rounds.length ?? 0) > 0);
  const rounds = `${branches.length > 1 ? ` along ${branchPhrase(current?.name ?? 'main')}` : ''}${hasRounds ? ' (each loop round counted)' : ''}`;
  return [
    figure(done, `step done${rounds}`, `steps done${rounds}`),
    figure(ofKind('blocked_attempt'), 'blocked attempt', 'blocked attempts'),
    ...(branches.length === 1 ? [] : [figure(branches.length, 'branch', 'branches')]),
    figure(ofKind('checkpoint'), 'checkpoint', 'checkpoints'),
    figure(gaps.filter(({ isOpen }) => isOpen).length, 'open gap', 'open gaps'),
  ];
}

export function branchTitle(name: string): string {
  return name === 'main' ? 'Main branch' : `Branch ${name}`;
}

/** The heading of a branch. If there are several, the one where work goes on is marked. */
export function branchHeading({ name, isCurrent }: ReportBranch, { branches }: Pick<ReportRun, 'branches'>): string {
  if (branches.length === 1) return 'Steps';
  return `${branchTitle(name)}${isCurrent ? ' (current)' : ''}`;
}

/** A branch inside a sentence. */
export function branchPhrase(name: string): string {
  return name === 'main' ? 'the main branch' : `branch ${name}`;
}

export function forkLabel(fork: ReportEntry): string {
  const { kind } = fork;
  const step = kind === 'start' || fork.step === null ? '' : quotedStep(fork.step);
  const what = kind === 'checkpoint' ? 'the checkpoint' : kind === 'blocked_attempt' ? 'a blocked attempt' : '';
  const at = what !== '' && step !== '' ? `${what} at ${step}` : what || step || 'the start';
  return `This branch leaves ${branchPhrase(fork.branch)} after ${at}`;
}

/** Whether a branch can still continue, rather than having been abandoned or closed. */
export function isWaiting({ isCurrent }: ReportBranch, { isClosed }: Pick<ReportRun, 'isClosed'>): boolean {
  return isCurrent === true && !isClosed;
}

/** The step at the end of a branch that is not complete. */
export function endLabel(branch: ReportBranch, run: Pick<ReportRun, 'isClosed'>): string | undefined {
  if (branch.waiting === null) return undefined;
  return `${isWaiting(branch, run) ? 'Now' : 'Stopped'} at ${quotedTitle(branch.waiting)}`;
}

/** A branch with the entries that no earlier branch has. */
export type BranchEntries = {
  readonly branch: ReportBranch;
  readonly entries: readonly ReportEntry[];
  /** The entry that it starts from, if it leaves another branch. */
  readonly fork: ReportEntry | undefined;
};

/** The branches of a run in the order of the report. */
export function entriesByBranch({ branches, entries }: ReportRun): readonly BranchEntries[] {
  return branches.map((branch) => ({
    branch,
    entries: entries.filter((entry) => entry.branch === branch.name),
    fork: branch.forkNodeId === null ? undefined : lastShared(branch, entries),
  }));
}

/** The last entry that a branch shares with another one. A checkpoint before it began belongs to it too. */
function lastShared({ name, line }: ReportBranch, entries: readonly ReportEntry[]): ReportEntry | undefined {
  const seen = new Set(line);
  return entries.findLast((entry) => entry.branch !== name && seen.has(entry.nodeId));
}

export const ENTRY_MARKS: { readonly [kind in ReportEntry['kind']]: string } = {
  start: '○',
  step: '✓',
  blocked_attempt: '▲',
  checkpoint: '◆',
};

/** `look` is how a page shows it. */
type EntryTag = { readonly text: string; readonly look: 'bad' | 'gaps' | 'plain' };

/** What happened at an entry other than its step being done. */
export function entryTags(entry: ReportEntry, { gaps }: Pick<ReportRun, 'gaps'>): readonly EntryTag[] {
  const open = gaps.filter(({ isOpen, nodeId }) => isOpen && nodeId === entry.nodeId).length;
  return [
    ...(entry.kind === 'blocked_attempt' ? [{ text: 'blocked', look: 'bad' } as const] : []),
    ...(entry.kind === 'step' && entry.isFork ? [{ text: 'done again', look: 'plain' } as const] : []),
    ...(open === 0 ? [] : [{ text: plural(open, 'open gap'), look: 'gaps' } as const]),
  ];
}

/** How a complete branch ended, with the gaps that are known to be open on it; `look` is how a page shows it. */
export function completeEnd({ name, line, isCurrent }: ReportBranch, { gaps }: Pick<ReportRun, 'gaps'>) {
  const seen = new Set(line);
  const open = gaps.filter((gap) => gap.isOpen && (isCurrent === true ? seen.has(gap.nodeId) : gap.branch === name));
  const label = open.length === 0 ? 'Complete' : `Complete with ${plural(open.length, 'open gap')}`;
  return { label, look: open.length === 0 ? 'complete' : 'complete_with_gaps' } as const;
}

/** Whether the heading of an entry shows the number of its step. Waiting for the first step is none. */
export function isNumbered(entry: ReportEntry): boolean {
  return (entry.kind === 'step' || entry.kind === 'blocked_attempt') && entry.step !== null;
}

/**
 * The number of each entry's step in the workflow, as replies show it; where the workflow is unknown, the position on its
 * branch. An attempt or checkpoint has the number of the step it was made at.
 */
export function stepNumbers(entries: readonly ReportEntry[]): ReadonlyMap<NodeId, number> {
  const done = new Map<NodeId, number>();
  const numbers = new Map<NodeId, number>();
  for (const entry of entries) {
    const { nodeId, parentNodeId, kind } = entry;
    const position = entry.kind === 'start' ? undefined : entry.step?.position;
    const before = parentNodeId === null ? 0 : (done.get(parentNodeId) ?? 0);
    done.set(nodeId, entry.kind === 'step' && entry.step !== null ? before + 1 : before);
    numbers.set(nodeId, kind === 'start' ? 0 : (position ?? before + 1));
  }
  return numbers;
}

export function entryLabel(entry: ReportEntry): string {
  if (entry.kind === 'checkpoint') {
    return entry.step === null ? 'Checkpoint' : `Checkpoint at ${quotedTitle(entry.step)}`;
  }
  return entry.kind === 'start' || entry.step === null ? 'Start' : stepLabel(entry.step);
}

/** A step with the rounds of its loops. */
export function stepLabel({ title, rounds }: Pick<ReportStep, 'title' | 'rounds'>): string {
  if (rounds.length === 0) return title;
  const isNested = rounds.length > 1;
  const hasOneCount = rounds.filter(({ item }) => item === undefined).length === 1;
  const shown = rounds.map(({ loopId, round, item }) => {
    if (item !== undefined) return `${isNested ? 'item' : 'round'} ${round}: ${valueWords(item.value)}`;
    return hasOneCount ? `round ${round}` : `round ${round} of ${loopId}`;
  });
  return `${title} (${shown.join(', ')})`;
}

const VALUE_SHOWN_MAX = 160;

/** A recorded value on one line. */
function valueWords(value: JsonValue): string {
  return visibleLine(clip(quote(value), VALUE_SHOWN_MAX));
}

function contextWords({ contextKeys, contextValues = {} }: ReportEntry): string {
  return contextKeys
    .map((key) => {
      const value = ownValue(contextValues, key);
      if (value === undefined) return key;
      return value === null ? `${key} removed` : `${key} = ${valueWords(value)}`;
    })
    .join('; ');
}

/** A step inside a sentence: its number, its quoted title and its rounds. */
export function quotedStep({ position, title, rounds }: ReportStep): string {
  return `step${position === undefined ? '' : ` ${position}`} ${quotedTitle({ title, rounds })}`;
}

/** A step by its quoted title, with the rounds of its loops. */
export function quotedTitle({ title, rounds }: Pick<ReportStep, 'title' | 'rounds'>): string {
  return stepLabel({ title: `"${title}"`, rounds });
}

/** What is known of an entry besides its notes and artifacts. */
export function entryFacts(entry: ReportEntry): readonly (readonly [name: string, text: string])[] {
  return [
    ...(entry.answers ?? []).map((words) => ['Answer', words] as const),
    ...(entry.checks ?? []).map(
      ({ run, command: _, ...check }) =>
        [
          `${CHECK} ${quote(check.checkId)}`,
          run === undefined ? gradeWords(check) : `${gradeOf(check)}, ${run}`,
        ] as const,
    ),
    ...entry.divergences.map(
      ({ reason, summary }) => ['Departed from the instructions', `${inWords(reason)}: ${summary}`] as const,
    ),
    // The next entry shows which step was selected.
    ...entry.decisions
      .filter(({ kind }) => kind !== 'selected_next_step')
      .map(({ summary }) => ['Decision', decisionText(summary, entry)] as const),
    ...entry.skipped.map((step) => ['Skipped', stepLabel({ ...step, title: `"${step.title}"` })] as const),
    ...entry.preferences.map((change) => {
      return ['Mode', [modeWords(change, change.setBy), ...change.warnings].join('. ')] as const;
    }),
    ...entry.capabilities.map(
      ({ capability, status, how }) => ['Capability', `${inWords(capability)}: ${status} (${inWords(how)})`] as const,
    ),
    ...(entry.contextKeys.length === 0 ? [] : [['Context set', contextWords(entry)] as const]),
  ];
}

const CHECK = 'Evidence for check';
const DETAILS: ReadonlySet<string> = new Set(['Decision', 'Mode', 'Capability', 'Context set', 'Skipped']);

function isDetail(name: string): boolean {
  return DETAILS.has(name) || isCheckFact(name);
}

/** Whether a fact is the grade of a check. */
export function isCheckFact(name: string): boolean {
  return name.startsWith(CHECK);
}

/** What everybody should see of an entry, apart from what only explains how the run went. */
export function plainFacts(entry: ReportEntry): ReturnType<typeof entryFacts> {
  return entryFacts(entry).filter(([name]) => !isDetail(name));
}

/** How the run went at an entry; skipped steps have a line of their own. */
export function detailFacts(entry: ReportEntry): ReturnType<typeof entryFacts> {
  return entryFacts(entry).filter(
    ([name, text]) => isDetail(name) && name !== 'Skipped' && !(name === 'Decision' && text.startsWith('Skipped ')),
  );
}

/** Decisions that people read more easily in other words than those of the log. */
const DECISIONS: readonly (readonly [logged: RegExp, shown: string])[] = [
  [
    /^There is no decision in loop (".+")\.$/,
    'The agent sent no "continue" or "stop" for loop $1, which counts as "continue".',
  ],
  [/^The decision is (".+") in loop (".+")\.$/, 'The agent decided $1 for loop $2.'],
  [/^The run condition of (step|loop) (".+") is false\.$/, 'Skipped $1 $2: its condition is false.'],
  [/^The run condition of (?:1 step from|step) (".+") is true\.$/, 'Step $1 comes next: its condition is true.'],
  [/^The run condition of loop (".+") is true\.$/, 'Loop $1 runs, because its condition is true.'],
  [/^The run condition of (\d+ steps) from (".+") is true\.$/, '$1 come next, from $2 on: their condition is true.'],
  [/^(Skipped \d+ steps \(.+\)): the run condition is false\.$/, '$1: their condition is false.'],
  [
    /^This step was already done from here, so this is a new branch\.$/,
    'This step had been done before. Both attempts are kept, each on its own branch.',
  ],
  [/^Reached loop /, 'Started loop '],
];

/** The log names a skipped step or loop by its id; people know it by its title. */
function decisionText(summary: string, { skipped }: Pick<ReportEntry, 'skipped'>): string {
  const known = DECISIONS.find(([logged]) => logged.test(summary));
  const text = known === undefined ? summary : summary.replace(...known);
  return text.replace(/^Skipped (?:step|loop) "([^"]+)"/, (whole, id) => {
    const title = skipped.find(({ stepId }) => stepId === id)?.title;
    return title === undefined ? whole : `Skipped "${title}"`;
  });
}

/** What is known of an artifact besides its content. */
export function artifactFacts({ contentType, byteLength, isSuperseded }: ReportArtifact): string {
  return `${contentType}, ${sizeOf(byteLength)}${isSuperseded ? ', corrected later' : ''}`;
}

/** What was hidden: one sentence, or one line for each kind. */
export function hiddenWords({ isRedacted, hidden }: Report): string | readonly string[] {
  if (!isRedacted) return 'This report was made without redaction. Secrets in it were not hidden.';
  if (hidden.length === 0) return 'Nothing was found that looks like a secret.';
  return hidden.map(({ kind, count }) => `${kind}: ${plural(count, 'occurrence')}`);
}

/** The mode has its own name here: the same report shows the name in other sentences. */
export function modeWords({ autonomy, riskPolicy }: Preferences, setBy?: keyof typeof SETTERS): string {
  return `${autonomy}${setBy === undefined ? '' : `, ${SETTERS[setBy]}`}; risk policy: ${riskPolicy}`;
}

/** A name from the log as people write it. */
export function inWords(name: string): string {
  return NAMES[name] ?? name.replaceAll('_', ' ');
}

const NAMES: { readonly [name: string]: string } = {
  git_branch: 'Git branch',
  git_head_sha: 'Commit',
  repo_root: 'Workspace',
  repo_root_hash: 'Workspace hash',
  repo_remote: 'Repository',
  full_auto_stop_on_user_deps: 'full auto (stops for the user)',
  full_auto_never_stop: 'full auto (never stops)',
  manual_claim: 'claimed',
  probe_step: 'probed',
  attempted_use: 'tried',
};
