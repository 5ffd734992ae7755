import { defined, type JsonValue, ownValue, quote } from '../json/json-value.ts';
import { lineDiff } from '../text/line-diff.ts';
import type { ConsoleReply } from '../wire/console-shapes.ts';
import type { ReportBranch, ReportEntry, ReportRun, ReportSession } from './report.ts';
import { branchTitle, entryLabel } from './report-words.ts';

/** One side of a comparison: a branch up to its end, or a single step. */
export type ComparedSide = {
  readonly session: ReportSession;
  readonly run: ReportRun;
  /** A branch by its name, the step that is due at a node, or both. Default: the branch where work goes on. */
  readonly at?: string | undefined;
};

type Compared = ConsoleReply<'compare'>;
type ComparedStep = Compared['steps'][number];
type HandedIn = NonNullable<ComparedStep['a']>;

type Line = {
  readonly branch: ReportBranch;
  readonly entries: readonly ReportEntry[];
  /** Set if only this step is compared. */
  readonly step: ReportEntry | undefined;
};

/** The entries that a side stands for; `undefined` if the run has no such branch or step. */
function lineOf({ run, at }: ComparedSide): Line | undefined {
  const byId = new Map<string, ReportEntry>(run.entries.map((entry) => [entry.nodeId, entry]));
  const [name, nodeId] = placeOf(at);
  const has = ({ line }: ReportBranch) => nodeId === undefined || line.some((one) => one === nodeId);
  const branch =
    name === undefined
      ? (run.branches.find((one) => one.isCurrent === true && has(one)) ?? run.branches.find(has))
      : run.branches.find((one) => one.name === name && has(one));
  if (branch === undefined) return undefined;
  const entries = branch.line.flatMap((one) => byId.get(one) ?? []);
  if (nodeId === undefined) return { branch, entries, step: undefined };
  // The step that is due at a node is done by the next one of its line.
  const from = entries.findIndex((entry) => entry.nodeId === nodeId);
  const done = entries.findIndex(({ kind }, i) => i > from && kind === 'step');
  const upTo = entries.slice(0, (done < 0 ? from : done) + 1);
  return { branch, entries: upTo, step: upTo.at(-1) };
}

/** `A`, `node_…` or `A/node_…`. */
function placeOf(at: string | undefined): readonly [name: string | undefined, nodeId: string | undefined] {
  const [first, second] = at?.split('/', 2) ?? [];
  if (first === undefined || second !== undefined) return [first, second];
  return first.startsWith('node_') ? [undefined, first] : [first, undefined];
}

/** What a side is, in words. */
export function sideLabel(side: ComparedSide): string {
  const line = lineOf(side);
  if (line === undefined) return '';
  return line.step === undefined ? branchTitle(line.branch.name) : entryLabel(line.step);
}

/** The differences between two branches, steps or sessions; `undefined` if a side does not exist. */
export function compareLines(
  a: ComparedSide,
  b: ComparedSide,
): Pick<Compared, 'steps' | 'context' | 'commits'> | undefined {
  const [lineA, lineB] = [lineOf(a), lineOf(b)];
  if (lineA === undefined || lineB === undefined) return undefined;
  const steps =
    lineA.step !== undefined && lineB.step !== undefined
      ? [paired(handedAt(lineA, lineA.step), handedAt(lineB, lineB.step), titleOf(lineA.step))]
      : alignedSteps(lineA, lineB);
  const [valuesA, valuesB] = [contextOf(lineA), contextOf(lineB)];
  const keys = [...new Set([...valuesA.keys(), ...valuesB.keys()])].sort();
  return {
    steps,
    context: keys
      .map((key) => defined({ key, a: valuesA.get(key), b: valuesB.get(key) }))
      .filter((one) => quote(one.a) !== quote(one.b)),
    commits: defined({ a: commitAt(a.session, lineA), b: commitAt(b.session, lineB) }),
  };
}

/** Steps are the same if they have the same id in the same rounds; a step that both have keeps its place. */
function alignedSteps(a: Line, b: Line): ComparedStep[] {
  const [stepsA, stepsB] = [stepsOf(a), stepsOf(b)];
  const keys = (steps: readonly ReportEntry[]) => steps.map(keyOf).join('\n');
  if (stepsA.length === 0 && stepsB.length === 0) return [];
  let [i, j] = [0, 0];
  return lineDiff(keys(stepsA), keys(stepsB)).flatMap(({ kind }): readonly ComparedStep[] => {
    const left = kind === 'added' ? undefined : stepsA[i++];
    const right = kind === 'removed' ? undefined : stepsB[j++];
    if (left !== undefined && right !== undefined)
      return [paired(handedAt(a, left), handedAt(b, right), titleOf(left))];
    if (left !== undefined) return [{ kind: 'only_a', title: titleOf(left), a: handedAt(a, left) }];
    return right === undefined ? [] : [{ kind: 'only_b', title: titleOf(right), b: handedAt(b, right) }];
  });
}

function paired(a: HandedIn, b: HandedIn, title: string): ComparedStep {
  const body = ({ notes, artifacts }: HandedIn) => quote([notes, ...artifacts.map(({ sha256 }) => sha256)]);
  return a.nodeId === b.nodeId || body(a) === body(b) ? { kind: 'same', title } : { kind: 'changed', title, a, b };
}

function stepsOf({ entries }: Line): readonly ReportEntry[] {
  return entries.filter(({ kind }) => kind === 'step');
}

function keyOf(entry: ReportEntry): string {
  const step = entry.kind === 'start' ? null : entry.step;
  return step === null ? '' : [step.stepId, ...step.rounds.map(({ loopId, round }) => `${loopId} ${round}`)].join(' ');
}

function titleOf(entry: ReportEntry): string {
  const step = entry.kind === 'start' ? null : entry.step;
  const rounds = (step?.rounds ?? []).map(({ round }) => `, round ${round}`).join('');
  return step === null ? 'Start' : `${step.title}${rounds}`;
}

function handedAt({ entries }: Line, entry: ReportEntry): HandedIn {
  const { nodeId, notes, artifacts, at, parentNodeId } = entry;
  const begun = entries.find((one) => one.nodeId === parentNodeId)?.at;
  return {
    nodeId,
    notes: notes.flatMap(({ markdown, isSuperseded }) => (isSuperseded ? [] : [markdown])).join('\n\n'),
    artifacts: artifacts
      .filter(({ isSuperseded }) => !isSuperseded)
      .map(({ sha256, kind, content }) => defined({ sha256, kind, content })),
    ...defined({ from: begun, to: at }),
  };
}

/** The context at the end of a line. A key that was removed has no value. */
function contextOf({ entries }: Line): ReadonlyMap<string, JsonValue> {
  const values = new Map<string, JsonValue>();
  for (const { contextKeys, contextValues = {} } of entries) {
    for (const key of contextKeys) {
      const value = ownValue(contextValues, key) ?? null;
      if (value === null) values.delete(key);
      else values.set(key, value);
    }
  }
  return values;
}

/** The commit that was seen last before the end of a line. */
function commitAt({ workspace }: ReportSession, { entries }: Line): string | undefined {
  const end = entries.at(-1);
  const seen = workspace.filter(({ key, at }) => key === 'git_head_sha' && (at ?? '') <= (end?.at ?? '9'));
  return seen.at(-1)?.value;
}
