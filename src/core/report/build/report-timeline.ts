import { unreachable } from '../../assert.ts';
import { runTag } from '../../log/ids.ts';
import { isoTime } from '../../text/utc-time.ts';
import type { RunNode } from '../../views/run-graph.ts';
import { type MomentDetail, sessionTimeline } from '../../views/session-timeline.ts';
import type { ReportSession } from '../report.ts';
import { stepLabel, words } from '../report-words.ts';
import { attemptedStep, type ReportSource, reportStep, stepAt } from './report-source.ts';

type TimelineEntry = ReportSession['timeline'][number];

/** What happened in a session, each moment in a sentence. */
export function timelineOf(source: ReportSource): TimelineEntry[] {
  return sessionTimeline(source.view.graph, source.events).flatMap(({ eventIndex, at, runId, eventKind, told }) => {
    const text = sentence(source, told);
    if (text === undefined) return [];
    return [
      {
        eventIndex,
        ...(at === undefined ? {} : { at: isoTime(at) }),
        ...(runId === undefined ? {} : { runId }),
        kind: eventKind,
        text,
      },
    ];
  });
}

function sentence(source: ReportSource, told: MomentDetail): string | undefined {
  switch (told.kind) {
    case 'session':
      return 'Session created';
    case 'seen':
      // Where the workspace lies is told in one place only, where it can be hidden.
      return told.seen.key.startsWith('repo_root') ? undefined : `${words(told.seen.key)}: ${told.seen.value.value}`;
    case 'run':
      return `Run ${runTag(told.runId)} of ${told.workflowId} began`;
    case 'checkpoint': {
      const label = labelAt(source, told.from);
      return label === undefined ? 'Checkpoint' : `Checkpoint at ${label}`;
    }
    case 'done':
      return `${labelAt(source, told.from) ?? 'Start'}: done${told.isFork ? ' again, as a branch' : ''}`;
    case 'blocked':
      return `${labelAt(source, told.from) ?? 'Start'}: blocked (${told.codes.join(', ')})`;
    case 'skipped':
      return `Skipped ${stepLabel(reportStep(source, told.onWayTo.workflowHash, told.step))}`;
    case 'mode':
      return `Mode: ${words(told.mode.effective.autonomy)}, ${told.mode.effective.riskPolicy} (${words(told.mode.source)})`;
    case 'capability':
      return `${words(told.capability.capability)}: ${told.capability.status} (${words(told.capability.provenance.kind)})`;
    case 'gap':
      return `${told.isResolving ? 'Gap resolved' : 'Gap'}${gapStepOf(source, told.at)}: ${told.summary}`;
    case 'divergence':
      return `Left the instructions (${words(told.divergence.reason)}): ${told.divergence.summary}`;
    case 'context':
      return `Context: ${told.keys.join(', ')}`;
    default:
      return unreachable(told);
  }
}

function gapStepOf(source: ReportSource, node: RunNode): string {
  const step = attemptedStep(source, node);
  return step === null ? '' : ` at ${stepLabel(step)}`;
}

/** The step that a node stands at, in words; none where no step is chosen. */
function labelAt(source: ReportSource, node: RunNode): string | undefined {
  const step = stepAt(source, node);
  return step === null ? undefined : stepLabel(step);
}
