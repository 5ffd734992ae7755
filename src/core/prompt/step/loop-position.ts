import type { PendingPlace } from '../../run/walk/pending-step.ts';
import type { CompiledStep } from '../../workflow/compiled/compiled-step.ts';
import { loopOf, type WorkflowIndex } from '../../workflow/compiled/workflow-index.ts';
import { asksFor, type ValueFiller } from './fill-values.ts';

/** Which round of which loop this is, outermost first, and over what. Nothing outside of loops. */
export function loopPosition(
  { step, loops }: PendingPlace,
  index: WorkflowIndex,
  filler: ValueFiller,
): string | undefined {
  if (loops.length === 0) return undefined;
  return loops
    .map(({ loopId, title, iteration, of }, depth) => {
      const loop = loopOf(index, loopId);
      const limit = of === undefined ? `at most ${loop.maxIterations}` : `of ${of}`;
      const isHidden = loops.slice(depth + 1).some((inner) => itemName(index, inner.loopId) === loop.variables.item);
      const isShown = loop.control.kind === 'for_each' && !isHidden && !isInText(step, loop.variables.item);
      const item = isShown ? `, ${loop.variables.item}: ${filler.show(loop.variables.item)}` : '';
      return `Round ${iteration} (${limit}) of "${filler.fillLine(title)}"${item}.`;
    })
    .join('\n');
}

function itemName(index: WorkflowIndex, loopId: string): string | undefined {
  const loop = loopOf(index, loopId);
  return loop.control.kind === 'for_each' ? loop.variables.item : undefined;
}

/** An author who puts the item into the text has said it well enough. */
function isInText({ prompt, title }: CompiledStep, name: string): boolean {
  return asksFor(prompt, name) || asksFor(title, name);
}
