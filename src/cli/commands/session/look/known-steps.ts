import type { RunLine } from '../../../../core/sessions/run-lines.ts';
import { numbered } from '../../../sessions/run-words.ts';

const NEAR_MAX = 4;

/** The steps of lines that may have been meant: for a number those nearest to it, with their titles; else all ids. */
export function knownSteps(lines: readonly RunLine[], asked: string): readonly string[] {
  const places = lines.flatMap(({ steps }) => steps.flatMap(({ place }) => (place.kind === 'step' ? [place] : [])));
  const steps = [...new Map(places.map((place) => [place.stepId, place])).values()];
  const number = Number(asked);
  if (!Number.isSafeInteger(number)) return steps.map(({ stepId }) => stepId);
  const away = ({ position = 0 }: (typeof steps)[number]) => Math.abs(position - number);
  return steps
    .toSorted((a, b) => away(a) - away(b))
    .slice(0, NEAR_MAX)
    .toSorted((a, b) => (a.position ?? 0) - (b.position ?? 0))
    .map(({ position, title }) => numbered({ title, ...(position === undefined ? {} : { position }) }));
}
