import type { ReportEntry } from './report.ts';
import { stepLabel, words } from './report-words.ts';

/** What is told of an entry beside its notes, each as a name and a sentence. */
export function entryFacts(entry: ReportEntry): readonly (readonly [name: string, text: string])[] {
  return [
    ...entry.divergences.map(
      ({ reason, summary }) => ['Left the instructions', `${words(reason)}: ${summary}`] as const,
    ),
    // Which step came next is told by what follows.
    ...entry.decisions
      .filter(({ kind }) => kind !== 'selected_next_step')
      .map(({ summary }) => ['Decided', summary] as const),
    ...entry.skipped.map((step) => ['Skipped', stepLabel(step)] as const),
    ...entry.preferences.map(({ source, autonomy, riskPolicy, warnings }) => {
      const warning = warnings.length === 0 ? '' : `; ${warnings.map(words).join('; ')}`;
      return ['Mode', `${words(autonomy)}, ${riskPolicy} (${words(source)})${warning}`] as const;
    }),
    ...entry.capabilities.map(
      ({ capability, status, how }) => ['Capability', `${words(capability)}: ${status} (${words(how)})`] as const,
    ),
    ...(entry.contextKeys.length === 0 ? [] : [['Context', entry.contextKeys.join(', ')] as const]),
  ];
}
