import fc from 'fast-check';
import { expect, it } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import { randomHistory } from '../../../test/simulation/random-history.ts';
import type { SessionEvent } from '../log/event.ts';
import type { NodeId } from '../log/ids.ts';
import { recapSources } from '../views/recap.ts';
import { nodeOf } from '../views/run-graph.ts';
import { preferredTip } from '../views/run-status.ts';
import { foldEvents } from '../views/session-view.ts';
import { lineOutputs } from './line-outputs.ts';
import { branchName, currentLine, namedLines, type Picture, pathTo, runLines } from './run-lines.ts';

function pictureOf(events: readonly SessionEvent[]): Picture {
  return { view: foldEvents(events), placeOf: () => ({ kind: 'untold' }) };
}

const eventsOf = (seed: number) => randomHistory({ seed, eventsMin: 100, rewindChance: 0.4 }).events;

it('every step is on exactly one line except where lines part, and a checkpoint counts on each line that begins after it', () => {
  fc.assert(
    fc.property(fc.nat(), (seed) => {
      const picture = pictureOf(eventsOf(seed));
      const { graph } = picture.view;
      for (const { runId } of graph.runs.values()) {
        const lines = runLines(picture, runId);
        const own = lines
          .flatMap(({ from, steps }) => steps.slice(from === undefined ? 0 : 1))
          .map(({ nodeId }) => nodeId);
        const nodes = [...graph.nodes.values()].filter((node) => node.runId === runId);
        const stepNodes = nodes.filter(({ kind }) => kind === 'step');
        expect(own.toSorted()).toEqual(stepNodes.map(({ nodeId }) => nodeId).toSorted());
        expect(lines.map(({ name }) => name)).toEqual(['main', ...lines.slice(1).map((_, i) => branchName(i))]);
        const all = lines.flatMap(({ steps }) => steps);
        const count = (kind: string) => nodes.filter((one) => one.kind === kind).length;
        expect(all.reduce((sum, { blocked }) => sum + blocked, 0)).toBe(count('blocked_attempt'));
        const named = namedLines(graph, runId);
        const inherited = named.reduce((sum, { seen }) => sum + seen.length, 0);
        expect(all.reduce((sum, { checkpoints }) => sum + checkpoints, 0)).toBe(count('checkpoint') + inherited);
        for (const { seen, leaves, steps, hung } of named) {
          const begun = [...steps, ...[...hung.values()].flat()].map(({ createdIndex }) => createdIndex);
          for (const { createdIndex, hostNodeId } of seen) {
            expect(createdIndex).toBeLessThan(Math.min(...begun));
            expect(nodeOf(graph, hostNodeId).stepNumber).toBe(leaves?.stepNumber);
          }
        }
        for (const { from, steps } of lines.slice(1)) {
          const owner = lines.find(({ name }) => name === from);
          expect(owner?.steps.map(({ nodeId }) => nodeId)).toContain(steps[0]?.nodeId);
        }
      }
    }),
    { numRuns: 25 },
  );
});

it('a line keeps its name and its steps whatever happens later, and exactly one line is marked as the current one', () => {
  enforces('branch_names_stay');
  fc.assert(
    fc.property(fc.nat(), fc.double({ min: 0.1, max: 1, noNaN: true }), (seed, part) => {
      const events = eventsOf(seed);
      const earlier = pictureOf(events.slice(0, Math.ceil(part * events.length)));
      const later = pictureOf(events);
      for (const { runId } of earlier.view.graph.runs.values()) {
        const now = new Map(runLines(later, runId).map((line) => [line.name, line]));
        for (const { name, from, steps } of runLines(earlier, runId)) {
          const ids = steps.map(({ nodeId }) => nodeId);
          const same = now.get(name);
          expect([same?.from, same?.steps.slice(0, ids.length).map(({ nodeId }) => nodeId)]).toEqual([from, ids]);
        }
      }
      for (const { runId, rootNodeId } of later.view.graph.runs.values()) {
        const lines = runLines(later, runId);
        const tip = preferredTip(later.view.graph, runId);
        expect(lines.filter(({ isCurrent }) => isCurrent)).toHaveLength(tip === undefined ? 0 : 1);
        const [whole] = currentLine(lines);
        if (whole === undefined || tip === undefined) continue;
        // Somebody may have turned to a checkpoint or an attempt that its line has passed long ago.
        const end = whole.steps.at(-1)?.nodeId ?? whole.tip;
        if (nodeOf(later.view.graph, end).createdIndex > tip.createdIndex) continue;
        expect([whole.tip, whole.steps[0]?.nodeId]).toEqual([tip?.nodeId, rootNodeId]);
        const path = pathTo(later.view.graph, nodeOf(later.view.graph, whole.tip)).filter(
          ({ kind }) => kind === 'step',
        );
        expect(whole.steps.map(({ nodeId }) => nodeId)).toEqual(path.map(({ nodeId }) => nodeId));
      }
    }),
    { numRuns: 40 },
  );
});

it('the outputs of a line are those that a recap of its tip uses', () => {
  fc.assert(
    fc.property(fc.nat(), (seed) => {
      const { view } = pictureOf(eventsOf(seed));
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
