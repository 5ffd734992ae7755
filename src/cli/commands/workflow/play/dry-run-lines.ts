import type { DryRun } from '../../../../app/author/dry-run.ts';
import type { PlayedCall } from '../../../../app/author/play-run.ts';
import type { Turn } from '../../../../app/bench/play/turn.ts';
import { stuckWords } from '../../../../app/bench/scenario/judge-scenario.ts';
import type { Line } from '../../../output/line.ts';
import { plural, sizeOf } from '../../../output/wording.ts';

/** What the agent reads at a turn, for a person who answers in its place. */
export function turnLines({ reply, text }: Turn): readonly Line[] {
  const { pending, kind } = reply;
  if (reply.isComplete) return [];
  const place =
    pending === null ? 'before the first step' : `${pending.position.index}/${pending.position.of} ${pending.stepId}`;
  // Tokens and calls are for machines; the person answers with what is asked for.
  const [prompt = ''] = kind === 'blocked' ? [blockedText(reply.blockers)] : [pending?.prompt ?? text];
  return [
    [],
    [
      { text: `── ${place} `, style: 'strong' },
      { text: kind === 'blocked' ? '▲ blocked' : '', style: 'notable' },
    ],
    ...prompt.split('\n').map((line): Line => [line]),
  ];
}

function blockedText(blockers: Turn['reply']['blockers']): string {
  return blockers.map(({ code, message, suggestedFix }) => `${code}: ${message} ${suggestedFix ?? ''}`).join('\n');
}

/** Every call on a line, then what was passed over, what is open, and how it ended. */
export function dryRunLines({ run, unsent }: DryRun, { isVerbose }: { readonly isVerbose: boolean }): readonly Line[] {
  const { calls, skipped, gaps, stuck, isComplete, path, bytesRead, blocks } = run;
  const width = Math.max(0, ...calls.map(({ stepId }) => stepId?.length ?? 0));
  const end = `${plural(path.length, 'step')}, ${plural(calls.length, 'call')}, ${plural(blocks, 'block')}, ${sizeOf(bytesRead)} read`;
  return [
    ...calls.flatMap((call) => callLines(call, { width, isVerbose })),
    ...(skipped.length === 0 ? [] : [[{ text: 'skipped  ', style: 'dim' } as const, [...new Set(skipped)].join(', ')]]),
    ...gaps.map(
      ({ reason, summary }): Line => [
        { text: 'gap      ', style: 'notable' },
        `${reason.category}:${reason.detail}  ${summary}`,
      ],
    ),
    ...unsent.map((at): Line => [{ text: 'unsent   ', style: 'notable' }, `"${at}" was not due when its turn came`]),
    isComplete
      ? [{ text: '✓ complete  ', style: 'good' }, end]
      : [{ text: '✗ not complete  ', style: 'bad' }, `${end}; ${stuck === undefined ? '' : stuckWords(stuck)}`],
  ];
}

function callLines(
  { stepId = '', title, sent, blockers }: PlayedCall,
  { width, isVerbose }: { readonly width: number; readonly isVerbose: boolean },
): readonly Line[] {
  const isDone = blockers.length === 0;
  const handed = [
    ...(sent.notes === undefined ? [] : ['notes']),
    ...sent.artifacts.map(({ kind }) => String(kind)),
    ...(sent.context === undefined ? [] : [`context ${JSON.stringify(sent.context)}`]),
  ];
  return [
    [
      { text: isDone ? '✓ ' : '▲ ', style: isDone ? 'good' : 'notable' },
      { text: stepId.padEnd(width), style: 'strong' },
      `  ${title}`,
      { text: `  ${handed.length === 0 ? 'nothing' : handed.join(', ')}`, style: 'dim' },
    ],
    ...blockers.map(({ code, message }): Line => [`    ${code}: ${message}`]),
    ...(isVerbose && sent.notes !== undefined
      ? sent.notes.split('\n').map((line): Line => [{ text: `    ${line}`, style: 'dim' }])
      : []),
  ];
}
