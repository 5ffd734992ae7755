import type { JsonObject } from '../../src/core/json/json-value.ts';
import { AUTONOMY } from '../../src/core/log/autonomy.ts';
import { CAPABILITIES, CAPABILITY_STATUSES } from '../../src/core/log/blockers.ts';
import { GAP_SEVERITIES } from '../../src/core/log/events/gap-events.ts';
import { OBSERVATION_KEYS } from '../../src/core/log/events/run-events.ts';
import type { RunId } from '../../src/core/log/ids.ts';
import { REASONS } from '../../src/core/log/reasons.ts';
import { type CapabilityFact, type GapFact, type NodeFacts, OTHER_KINDS } from './node-facts.ts';
import { type SeededRandom, seededRandom } from './seeded-random.ts';
import { type SessionWriter, sessionWriter, type WriterOptions, type WrittenNode } from './session-writer.ts';

export type HistoryOptions = WriterOptions & {
  readonly seed: number;
  /** Plans are added until there are at least so many events. */
  readonly eventsMin: number;
  /** How often an operation goes back to an older node than the ones just made; 0 gives one long line. */
  readonly rewindChance?: number;
  /** The workflow of every run, for stores that look for it. Without it, runs follow several that are nowhere. */
  readonly workflowText?: string;
};

/** A legal history. The seed makes it again. */
export type RandomHistory = Pick<SessionWriter, 'plans' | 'events' | 'snapshots'> & { readonly seed: number };

type Making = {
  readonly random: SeededRandom;
  readonly writer: SessionWriter;
  readonly rewindChance: number;
  readonly workflowText: string | undefined;
  readonly nodes: WrittenNode[];
  /** Names of what later facts may refer to; gaps by run. */
  readonly gaps: Map<RunId, string[]>;
  readonly notes: Map<WrittenNode, string[]>;
  readonly artifacts: Map<WrittenNode, string[]>;
  names: number;
};

/** Forks, blocked attempts and retries, checkpoints, several runs, corrections and facts that come late. */
export function randomHistory({
  seed,
  eventsMin,
  rewindChance = 0.15,
  workflowText,
  ...options
}: HistoryOptions): RandomHistory {
  const random = seededRandom(seed);
  const writer = sessionWriter(options);
  const making: Making = {
    random,
    writer,
    rewindChance,
    workflowText,
    nodes: [],
    gaps: new Map(),
    notes: new Map(),
    artifacts: new Map(),
    names: 0,
  };
  makeNode(making, undefined, (facts) => writer.startRun(facts, workflowText));
  while (writer.events.length < eventsMin) addPlan(making);
  const { plans, events, snapshots } = writer;
  return { seed, plans, events, snapshots };
}

function addPlan(making: Making): void {
  const { random, writer, workflowText } = making;
  const dice = random.below(100);
  if (dice < 3)
    makeNode(making, undefined, (facts) => writer.startRun(facts, workflowText ?? `source ${random.below(3)}`));
  else if (dice < 18) recordLate(making, pickNode(making));
  else if (dice < 30) makeBelow(making, pickNode(making), writer.checkpoint);
  else if (dice < 50) makeBelow(making, pickOpenNode(making), writer.block);
  else makeBelow(making, pickOpenNode(making), (at, facts) => writer.advance(at, facts, maybeComplete(random)));
}

function makeBelow(making: Making, at: WrittenNode, write: (at: WrittenNode, facts: NodeFacts) => WrittenNode): void {
  makeNode(making, at.runId, (facts) => write(at, facts));
}

function maybeComplete(random: SeededRandom): 'complete' | undefined {
  return random.chance(0.05) ? 'complete' : undefined;
}

function pickOpenNode(making: Making): WrittenNode {
  return pickNode(making, ({ isComplete }) => !isComplete);
}

/** Mostly one of the last nodes: retries, replays from a sibling, going on. Sometimes any: a rewind. */
function pickNode({ random, nodes, rewindChance }: Making, isFit = (_: WrittenNode) => true): WrittenNode {
  const recent = nodes.slice(-4).filter(isFit);
  if (recent.length > 0 && !random.chance(rewindChance)) {
    return random.chance(0.7) ? (recent.at(-1) as WrittenNode) : random.pick(recent);
  }
  const node = random.pick(nodes);
  // A root is never complete, so climbing ends at a fit node.
  for (let at: WrittenNode | undefined = node; at !== undefined; at = at.parent) if (isFit(at)) return at;
  return node;
}

function makeNode(making: Making, runId: RunId | undefined, write: (facts: NodeFacts) => WrittenNode): void {
  const facts = randomFacts(making, runId);
  const node = write(facts);
  making.nodes.push(node);
  remember(making, node, facts);
}

/** Only some of these does an engine write late; views must be right about all of them. */
function recordLate(making: Making, at: WrittenNode): void {
  const { random } = making;
  const note = random.chance(0.3) ? { note: correction(making, making.notes.get(at), 'corrected') } : {};
  const artifacts = random.chance(0.2) ? { artifacts: [correction(making, making.artifacts.get(at), '')] } : {};
  const { context, mode, gaps, capability } = randomFacts(making, at.runId);
  const others = [
    // From outside, preferences are set at a step.
    at.kind === 'step' ? { mode: mode ?? random.pick(AUTONOMY) } : {},
    { gaps: gaps ?? [randomGap(making, at.runId)] },
    { context, capability },
  ];
  const chosen = Object.entries({ ...note, ...artifacts, ...random.pick(others) });
  const facts: NodeFacts = Object.fromEntries(chosen.filter(([, fact]) => fact !== undefined));
  if (Object.keys(facts).length === 0) return;
  making.writer.record(at, facts);
  remember(making, at, facts);
}

function correction(making: Making, earlier: readonly string[] | undefined, text: string) {
  const name = newName(making);
  return earlier === undefined ? { name, text } : { name, text, supersedes: making.random.pick(earlier) };
}

function remember(making: Making, node: WrittenNode, facts: NodeFacts): void {
  for (const gap of facts.gaps ?? []) addTo(making.gaps, node.runId, gap.name);
  if (facts.note !== undefined) addTo(making.notes, node, facts.note.name);
  for (const { name } of facts.artifacts ?? []) addTo(making.artifacts, node, name);
}

function addTo<Owner>(names: Map<Owner, string[]>, owner: Owner, name: string): void {
  const known = names.get(owner) ?? [];
  names.set(owner, known);
  known.push(name);
}

function randomFacts(making: Making, runId: RunId | undefined): NodeFacts {
  const { random } = making;
  const maybe = <Value>(probability: number, fact: () => Value) => (random.chance(probability) ? fact() : undefined);
  const named = () => ({ name: newName(making) });
  const facts = {
    note: maybe(0.6, () => ({ ...named(), text: `note ${making.names}` })),
    artifacts: maybe(0.15, () => Array.from({ length: 1 + random.below(2) }, named)),
    context: maybe(0.3, () => randomContext(random)),
    mode: maybe(0.1, () => random.pick(AUTONOMY)),
    gaps: maybe(0.2, () => Array.from({ length: 1 + random.below(2) }, () => randomGap(making, runId))),
    capability: maybe(0.15, () => randomCapability(random)),
    trace: maybe(0.3, () => 'chosen by the walk'),
    others: OTHER_KINDS.filter(() => random.chance(0.05)),
    observed: maybe(0.1, () => ({ [random.pick(OBSERVATION_KEYS)]: `value ${random.below(3)}` })),
  };
  return Object.fromEntries(Object.entries(facts).filter(([, fact]) => fact !== undefined));
}

function randomCapability(random: SeededRandom): CapabilityFact {
  const capability = random.pick(CAPABILITIES);
  return random.chance(0.5)
    ? { capability, grade: 'strong', status: random.pick(CAPABILITY_STATUSES) }
    : { capability, grade: 'weak', status: random.pick(['available', 'unavailable'] as const) };
}

function randomContext(random: SeededRandom): JsonObject {
  const value = () => (random.chance(0.2) ? null : random.below(100));
  return Object.fromEntries(Array.from({ length: 1 + random.below(2) }, () => [`key${random.below(5)}`, value()]));
}

/** Resolves any earlier gap of the run, also on another branch: such a link must not count. */
function randomGap(making: Making, runId: RunId | undefined): GapFact {
  const { random } = making;
  const gaps = runId === undefined ? [] : (making.gaps.get(runId) ?? []);
  const name = newName(making);
  if (gaps.length > 0 && random.chance(0.4)) return { name, resolves: random.pick(gaps.slice(-6)) };
  const { category, detail } = random.pick(Object.values(REASONS)).gap;
  return { name, severity: random.pick(GAP_SEVERITIES), reason: { category, detail } as GapFact['reason'] & object };
}

function newName(making: Making): string {
  return `name ${making.names++}`;
}
