import type { JsonValue } from '../json/json-value.ts';
import { readableJson } from '../json/quote.ts';
import type { Salvage } from '../log/health.ts';
import type { NodeId } from '../log/ids.ts';
import { shownTime } from '../text/utc-time.ts';
import type { ReportBranch, ReportEntry, ReportRun, ReportSession, ReportStep } from './report.ts';

/** A word of the log as people write it. */
export function words(name: string): string {
  return SPOKEN[name] ?? name.replaceAll('_', ' ');
}

const SPOKEN: { readonly [name: string]: string } = {
  git_branch: 'Git branch',
  git_head_sha: 'Commit',
  repo_root: 'Workspace',
  repo_root_hash: 'Workspace hash',
  full_auto_stop_on_user_deps: 'full auto, stops for the user',
  full_auto_never_stop: 'full auto, never stops',
  in_progress: 'in progress',
  complete_with_gaps: 'complete with gaps',
  user: 'set by the user',
  workflow_recommendation: 'recommended by the workflow',
  system: 'default',
  manual_claim: 'claimed',
  probe_step: 'probed',
  attempted_use: 'tried',
};

/** A step with the rounds of its loops. */
export function stepLabel({ title, rounds }: ReportStep): string {
  return rounds.length === 0 ? title : `${title} (${rounds.map(({ round }) => `round ${round}`).join(', ')})`;
}

/** A step by its number and title, as commands and replies name it. */
export function gapStepLabel(step: ReportStep): string {
  return `${step.position === undefined ? '' : `${step.position} `}${stepLabel(step)}`;
}

/** What an entry is called. */
export function entryLabel(entry: ReportEntry): string {
  switch (entry.kind) {
    case 'start':
      return 'Start';
    case 'checkpoint':
      return entry.step === null ? 'Checkpoint' : `Checkpoint at ${stepLabel(entry.step)}`;
    default:
      return entry.step === null ? 'Start' : stepLabel(entry.step);
  }
}

/** What a report as a whole is called. */
export function reportTitle(sessions: readonly ReportSession[]): string {
  const [first] = sessions;
  if (first === undefined || sessions.length > 1) return `WorkRail report: ${sessions.length} sessions`;
  const run = first.runs[0];
  return run === undefined ? `WorkRail session ${first.sessionId}` : (run.goal ?? run.workflow.name);
}

/** What is told of a session that is only part of one. */
export function salvageText({ health, lastEventIndex }: Salvage): string {
  return `Part of a session only: ${SALVAGE_CAUSES[health]} behind event ${lastEventIndex}. What follows is what can be trusted.`;
}

const SALVAGE_CAUSES: { readonly [health in Salvage['health']]: string } = {
  corrupt_tail: 'it is damaged',
  unknown_version: 'a newer WorkRail wrote what comes',
  import_unfinished: 'its import did not come to its end, at the latest',
};

/** From when to when, as far as it is known. */
export function timeSpan(from: string | undefined, to: string | undefined): string | undefined {
  if (from === undefined || to === undefined) return undefined;
  if (from.slice(0, 16) === to.slice(0, 16)) return shownTime(to);
  const isOneDay = from.slice(0, 10) === to.slice(0, 10);
  return `${shownTime(from).replace(' UTC', '')} – ${isOneDay ? shownTime(to).slice(11) : shownTime(to)}`;
}

/** How a run stands. */
export function statusLabel({ status, isClosed }: Pick<ReportRun, 'status' | 'isClosed'>): string {
  return isClosed ? `${words(status)}, closed` : words(status);
}

/** What a run comes to, in numbers. */
export function runFigures({ entries, branches, gaps }: ReportRun): readonly (readonly [string, number])[] {
  const ofKind = (kind: ReportEntry['kind']) => entries.filter((entry) => entry.kind === kind).length;
  const openGaps = gaps.filter(({ isOpen }) => isOpen).length;
  return [
    figure(ofKind('step'), 'step done', 'steps done'),
    figure(ofKind('blocked_attempt'), 'blocked attempt', 'blocked attempts'),
    figure(branches.length, 'line', 'lines'),
    figure(ofKind('checkpoint'), 'checkpoint', 'checkpoints'),
    figure(openGaps, 'open gap', 'open gaps'),
  ];
}

function figure(number: number, one: string, many: string): readonly [string, number] {
  return [number === 1 ? one : many, number];
}

/** How the line of a branch stands at its end, if it waits for a step. */
export function endLabel(
  { name, waiting }: ReportBranch,
  { isClosed }: Pick<ReportRun, 'isClosed'>,
): string | undefined {
  if (waiting === null) return undefined;
  return `${name === 'main' && !isClosed ? 'Waiting' : 'Left'} at ${stepLabel(waiting)}`;
}

/** Where a line parts from another. */
export function forkLabel(fork: ReportEntry): string {
  return `Leaves ${fork.branch === 'main' ? 'the main line' : `branch ${fork.branch}`} after ${entryLabel(fork)}`;
}

/** What a line is called. */
export function branchTitle(name: string): string {
  return name === 'main' ? 'Main line' : `Branch ${name}`;
}

/** What is told of an entry beside its notes, each as a name and a sentence. */
export function entryFacts(entry: ReportEntry): readonly (readonly [name: string, text: string])[] {
  return [
    ...entry.divergences.map(
      ({ reason, summary }) => ['Left the instructions', `${words(reason)}: ${summary}`] as const,
    ),
    // Which step came next is told by what follows.
    ...entry.decisions
      .filter(({ kind }) => kind !== 'selected_next_step')
      .map(({ summary }) => ['Decided', summary] as const),
    ...entry.skipped.map((step) => ['Skipped', stepLabel(step)] as const),
    ...entry.preferences.map(({ source, autonomy, riskPolicy, warnings }) => {
      const warning = warnings.length === 0 ? '' : `; ${warnings.map(words).join('; ')}`;
      return ['Mode', `${words(autonomy)}, ${riskPolicy} (${words(source)})${warning}`] as const;
    }),
    ...entry.capabilities.map(
      ({ capability, status, how }) => ['Capability', `${words(capability)}: ${status} (${words(how)})`] as const,
    ),
    ...(entry.contextKeys.length === 0 ? [] : [['Context', entry.contextKeys.join(', ')] as const]),
  ];
}

/** A line of a run with what happened on it and on no line before it. */
export type BranchEntries = { readonly branch: ReportBranch; readonly entries: readonly ReportEntry[] };

/** The lines of a run in the order in which a report tells them. */
export function entriesByBranch({ branches, entries }: ReportRun): readonly BranchEntries[] {
  const byBranch = new Map<string, ReportEntry[]>(branches.map(({ name }) => [name, []]));
  for (const entry of entries) byBranch.get(entry.branch)?.push(entry);
  return branches.map((branch) => ({ branch, entries: byBranch.get(branch.name) ?? [] }));
}

/**
 * The number of each entry's step in its workflow, as replies tell it; without the workflow, the how-manieth of its line
 * it is. An attempt or checkpoint has the number of the step it was made at.
 */
export function stepNumbers(entries: readonly ReportEntry[]): ReadonlyMap<NodeId, number> {
  const done = new Map<NodeId, number>();
  const numbers = new Map<NodeId, number>();
  for (const entry of entries) {
    const { nodeId, parentNodeId, kind } = entry;
    const position = entry.kind === 'start' ? undefined : entry.step?.position;
    const before = parentNodeId === null ? 0 : (done.get(parentNodeId) ?? 0);
    done.set(nodeId, kind === 'step' ? before + 1 : before);
    numbers.set(nodeId, kind === 'start' ? 0 : (position ?? before + 1));
  }
  return numbers;
}

const CONTENT_LENGTH_MAX = 8_000;

/** As much of an artifact as a page shows; a report as JSON has all of it. */
export function shownContent(content: JsonValue): { readonly text: string; readonly isCut: boolean } {
  const whole = readableJson(content);
  const isCut = whole.length > CONTENT_LENGTH_MAX;
  return { text: isCut ? whole.slice(0, CONTENT_LENGTH_MAX).toWellFormed() : whole, isCut };
}
