import fc from 'fast-check';
import { expect, it } from 'vitest';
import { randomHistory } from '../../../test/simulation/random-history.ts';
import type { NodeId } from '../log/ids.ts';
import { chronicleEvent, emptyChronicle } from '../views/history.ts';
import { recapSources } from '../views/recap.ts';
import { preferredTip } from '../views/run-status.ts';
import { foldEvents } from '../views/session-view.ts';
import { lineOutputs } from './line-outputs.ts';
import { type Picture, runLines } from './run-lines.ts';

function pictureOf(seed: number): Picture {
  const { events } = randomHistory({ seed, eventsMin: 100, rewindChance: 0.4 });
  const chronicle = emptyChronicle();
  for (const event of events) chronicleEvent(chronicle, event);
  return { view: foldEvents(events), chronicle, placeOf: () => ({ kind: 'untold' }) };
}

it('every step is on exactly one line except where lines part, and no attempt or checkpoint is lost', () => {
  fc.assert(
    fc.property(fc.nat(), (seed) => {
      const picture = pictureOf(seed);
      const { graph } = picture.view;
      for (const { runId } of graph.runs.values()) {
        const lines = runLines(picture, runId);
        const own = lines
          .flatMap(({ from, steps }) => steps.slice(from === undefined ? 0 : 1))
          .map(({ nodeId }) => nodeId);
        const stepNodes = [...graph.nodes.values()].filter((node) => node.runId === runId && node.kind === 'step');
        expect(own.toSorted()).toEqual(stepNodes.map(({ nodeId }) => nodeId).toSorted());
        expect(lines[0]).toMatchObject({ name: 'main', from: undefined, tip: preferredTip(graph, runId)?.nodeId });
        expect(new Set(lines.map(({ name }) => name)).size).toBe(lines.length);
        const all = lines.flatMap(({ steps }) => steps);
        const count = (kind: string) =>
          [...graph.nodes.values()].filter((one) => one.runId === runId && one.kind === kind);
        // One from which two lines went on counts for both.
        expect(all.reduce((sum, { blocked }) => sum + blocked, 0)).toBeGreaterThanOrEqual(
          count('blocked_attempt').length,
        );
        expect(all.reduce((sum, one) => sum + one.checkpoints, 0)).toBeGreaterThanOrEqual(count('checkpoint').length);
        for (const { from, steps } of lines.slice(1)) {
          const owner = lines.find(({ name }) => name === from);
          expect(owner?.steps.map(({ nodeId }) => nodeId)).toContain(steps[0]?.nodeId);
        }
      }
    }),
    { numRuns: 25 },
  );
});

it('the outputs of a line are those that a recap of its tip uses', () => {
  fc.assert(
    fc.property(fc.nat(), (seed) => {
      const { view } = pictureOf(seed);
      const noted = (nodeId: NodeId) =>
        lineOutputs(view, { nodeId })
          .flatMap(({ outputs }) => outputs)
          .filter(({ data }) => data.outputChannel === 'recap')
          .map(({ data }) => data.outputId);
      for (const { runId } of view.graph.runs.values()) {
        const tip = preferredTip(view.graph, runId);
        if (tip === undefined) continue;
        const sources = recapSources(view.notes, tip.nodeId).map(({ data }) => data.outputId);
        expect(noted(tip.nodeId).toSorted()).toEqual(sources.toSorted());
      }
    }),
    { numRuns: 25 },
  );
});
