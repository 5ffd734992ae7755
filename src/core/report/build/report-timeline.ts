import { unreachable } from '../../assert.ts';
import { defined } from '../../json/json-value.ts';
import { runTag } from '../../log/ids.ts';
import { gapText } from '../../text/words.ts';
import { attestationWords } from '../../views/attestations.ts';
import type { RunNode } from '../../views/run-graph.ts';
import { type MomentDetail, sessionTimeline } from '../../views/session-timeline.ts';
import type { ReportSession, ReportStep } from '../report.ts';
import { inWords, modeWords, quotedStep, quotedTitle, stepLabel } from '../report-words.ts';
import { type ReportSource, reportStep, stepAt, stepBefore, timeText } from './report-source.ts';

type TimelineEntry = ReportSession['timeline'][number];

/** What happened in a session, one sentence for each moment. */
export function timelineOf(source: ReportSource): TimelineEntry[] {
  return sessionTimeline(source.view.graph, source.events).flatMap(
    ({ eventIndex, at, runId, eventKind, told: detail }) => {
      const text = sentence(source, detail);
      if (text === undefined) return [];
      return [defined({ eventIndex, at: timeText(at), runId, kind: eventKind, text })];
    },
  );
}

function sentence(source: ReportSource, detail: MomentDetail): string | undefined {
  switch (detail.kind) {
    case 'session':
      return 'Session created';
    case 'seen':
      // The path of the workspace is shown in one place only, where it can be hidden.
      return detail.seen.key.startsWith('repo_root')
        ? undefined
        : `${inWords(detail.seen.key)}: ${detail.seen.value.value}`;
    case 'run':
      return `Run ${runTag(detail.runId)} of ${detail.workflowId} started`;
    case 'checkpoint': {
      const step = stepAt(source, detail.from);
      return step === null ? 'Checkpoint' : `Checkpoint at ${quotedTitle(withoutItems(step))}`;
    }
    case 'done':
      return `${labelAt(source, detail.from) ?? 'Start'}: done${detail.isFork ? ' again, on a new branch' : ''}`;
    case 'blocked':
      return `${labelAt(source, detail.from) ?? 'Start'}: blocked (${detail.codes.join(', ')})`;
    case 'skipped':
      return `Skipped ${quotedTitle(reportStep(source, detail.onWayTo.workflowHash, detail.step))}`;
    case 'mode':
      return `Mode: ${modeWords(detail.mode.effective, detail.setBy)}`;
    case 'capability':
      return `${inWords(detail.capability.capability)}: ${detail.capability.status} (${inWords(detail.capability.provenance.kind)})`;
    case 'gap':
      return detail.isResolving
        ? `Gap resolved${gapStepOf(source, detail.at)}. It was: ${gapText(detail.summary.replace(/^Met later: /, ''))}`
        : `Gap${gapStepOf(source, detail.at)}: ${gapText(detail.summary)}`;
    case 'divergence':
      return `Departed from the instructions (${inWords(detail.divergence.reason)}): ${detail.divergence.summary}`;
    case 'attestation':
      return `${labelAt(source, detail.at) ?? 'Start'}: ${attestationWords(detail.attestation)}`;
    case 'context':
      return `Context keys set: ${detail.keys.join(', ')}`;
    default:
      return unreachable(detail);
  }
}

function gapStepOf(source: ReportSource, node: RunNode): string {
  const step = stepBefore(source, node);
  return step === null ? '' : ` at ${quotedStep(withoutItems(step))}`;
}

/** The step that is due at a node, if one was selected. */
function labelAt(source: ReportSource, node: RunNode): string | undefined {
  const step = stepAt(source, node);
  return step === null ? undefined : stepLabel(withoutItems(step));
}

/** A sentence does not say which list an item is from, and only that name tells whether the item is a secret. */
function withoutItems({ rounds, ...step }: ReportStep): ReportStep {
  return { ...step, rounds: rounds.map(({ loopId, round }) => ({ loopId, round })) };
}
