import type { NodeId } from '../log/ids.ts';
import type { LineStep, RunLine } from './run-lines.ts';

/** A place in a run that a person named. */
export type FoundStep = { readonly line: RunLine; readonly step: LineStep };

/**
 * The step that a person means: by its number, its id, a node id, or words of its title, and as views print it; `id@2` is
 * the second round of a loop. Of several rounds the last one is meant, and the line that goes on comes before those that were left.
 */
export function findStep(lines: readonly RunLine[], asked: string): FoundStep | 'several' | undefined {
  const [whole, round] = roundOf(asked.trim().replace(/^[✓●▲○◆–-] /, ''));
  const [name, title] = numberOf(whole);
  for (const line of lines) {
    const due = line.steps.filter((step) => round === undefined || roundAt(step) === round);
    for (const isMeant of [isNode, isNumber, isId]) {
      const step = due.findLast((one) => isMeant(one, name) && (title === '' || isTitled(one, title)));
      if (step !== undefined) return { line, step };
    }
    const titled = due.filter((one) => isTitled(one, whole));
    if (new Set(titled.map(({ place }) => (place.kind === 'step' ? place.stepId : ''))).size > 1) return 'several';
    const step = titled.at(-1);
    if (step !== undefined) return { line, step };
  }
  return undefined;
}

/** A line by its name. */
export function findLine(lines: readonly RunLine[], asked: string): RunLine | undefined {
  const name = asked
    .trim()
    .toLowerCase()
    .replace(/^branch[ -]?/, '');
  return lines.find((line) => line.name.toLowerCase() === name);
}

/** A node that a person named by the beginning of its id, when only one fits. */
export function findNodeByStart(nodeIds: Iterable<NodeId>, asked: string): NodeId | undefined {
  const text = asked.trim().toLowerCase();
  if (text.length < NODE_START_MIN) return undefined;
  const [first, ...others] = [...nodeIds].filter((nodeId) => nodeId.startsWith(text));
  return others.length === 0 ? first : undefined;
}

const NODE_START_MIN = 'node_'.length + 3;

/** A round as it is typed, or as replies, commands and reports show it; of loops in loops the inner one is meant. */
function roundOf(asked: string): readonly [string, number?] {
  const match = /^(.+?)(?:@| · round |, round | \(round )(?:\d+\.)*(\d+)\)?$/.exec(asked);
  return match?.[1] === undefined ? [asked] : [match[1], Number(match[2])];
}

/** A number that stands before a title, as in `26 Raise it` or `26. Raise it`; else all there is, and no title. */
function numberOf(asked: string): readonly [name: string, title: string] {
  const match = /^(?:step )?(\d+)(?: of \d+)?[.:]?(?: "?(.*?)"?)?$/i.exec(asked);
  return match?.[1] === undefined ? [asked, ''] : [match[1], match[2] ?? ''];
}

/** Rounds are counted from 1 for people. */
function roundAt({ place }: LineStep): number | undefined {
  const iteration = place.kind === 'step' ? place.loopPath.at(-1)?.iteration : undefined;
  return iteration === undefined ? undefined : iteration + 1;
}

function isNode({ nodeId }: LineStep, name: string): boolean {
  return name.length >= NODE_START_MIN && nodeId.startsWith(name.toLowerCase());
}

function isNumber({ place }: LineStep, name: string): boolean {
  return place.kind === 'step' && String(place.position) === name;
}

function isId({ place }: LineStep, name: string): boolean {
  return place.kind === 'step' && place.stepId === name.toLowerCase();
}

function isTitled({ place }: LineStep, name: string): boolean {
  return name !== '' && place.kind === 'step' && place.title.toLowerCase().includes(name.toLowerCase());
}
