import type { NodeId } from '../log/ids.ts';
import type { LineStep, RunLine } from './run-lines.ts';

/** A step of a run that a user named. */
export type FoundStep = { readonly line: RunLine; readonly step: LineStep };

/**
 * The step that a user means by its number, its id, a node id, words of its title, or a line of our own output. `id@2` is
 * the second round of a loop; without a round the last one is meant. Earlier lines are searched before later ones.
 */
export function findStep(lines: readonly RunLine[], asked: string): FoundStep | 'several' | undefined {
  const [whole, round] = roundOf(asked.trim().replace(/^[✓●▲○◆–-] /, ''));
  const [name, title] = numberOf(whole);
  for (const line of lines) {
    const steps = line.steps.filter((step) => round === undefined || roundAt(step) === round);
    for (const isMatch of [isNode, isNumber, isId]) {
      const step = steps.findLast((one) => isMatch(one, name) && (title === '' || isTitled(one, title)));
      if (step !== undefined) return { line, step };
    }
    const titled = steps.filter((one) => isTitled(one, whole));
    if (new Set(titled.map(({ place }) => (place.kind === 'step' ? place.stepId : ''))).size > 1) return 'several';
    const step = titled.at(-1);
    if (step !== undefined) return { line, step };
  }
  return undefined;
}

/** The line with a name. */
export function findLine(lines: readonly RunLine[], asked: string): RunLine | undefined {
  const name = asked
    .trim()
    .toLowerCase()
    .replace(/^branch[ -]?/, '');
  return lines.find((line) => line.name.toLowerCase() === name);
}

/** The node whose id starts with a text, if there is only one. */
export function findNodeByStart(nodeIds: Iterable<NodeId>, asked: string): NodeId | undefined {
  const text = asked.trim().toLowerCase();
  if (text.length < NODE_START_MIN) return undefined;
  const [first, ...others] = [...nodeIds].filter((nodeId) => nodeId.startsWith(text));
  return others.length === 0 ? first : undefined;
}

const NODE_START_MIN = 'node_'.length + 3;

/** A round as users type it, or as replies, commands and reports show it; of nested loops the inner one counts. */
function roundOf(asked: string): readonly [string, number?] {
  const match = /^(.+?)(?:@| · round |, round | \(round )(?:\d+\.)*(\d+)\)?$/.exec(asked);
  return match?.[1] === undefined ? [asked] : [match[1], Number(match[2])];
}

/** Splits the number from the title, as in `26 Raise it` or `26. Raise it`. Without a number, all of it is the name. */
function numberOf(asked: string): readonly [name: string, title: string] {
  const match = /^(?:step )?(\d+)(?: of \d+)?[.:]?(?: "?(.*?)"?)?$/i.exec(asked);
  return match?.[1] === undefined ? [asked, ''] : [match[1], match[2] ?? ''];
}

/** Rounds count from 1, iterations from 0. */
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
