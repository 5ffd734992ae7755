import type { SessionEvent } from '../../src/core/log/event.ts';
import { type GoldenRun, STEP_COUNT, WORKFLOW_NAMES } from './golden-store.ts';

/** The arguments of the tool. */
export type Asked = {
  readonly query?: string;
  readonly gitBranch?: string;
  readonly gitHeadSha?: string;
  readonly workspace?: string;
};

/** The specified order, computed from the known runs and not from what the program derives. */
export function naiveRanking(
  runs: readonly GoldenRun[],
  events: readonly SessionEvent[],
  asked: Asked,
): readonly { readonly name: string; readonly tier: number }[] {
  const unfinished = runs.filter(({ notes }) => notes.length < STEP_COUNT);
  const facts = unfinished.map((run) => {
    const ofSession = events.filter(({ sessionId }) => sessionId === run.sessionId);
    const touches = ofSession.filter(
      ({ scope }) => scope !== undefined && 'nodeId' in scope && 'runId' in scope && scope.runId === run.runId,
    );
    return {
      ...run,
      tier: naiveTier(run, asked),
      isHere: Number(run.root === asked.workspace),
      lastAt: Math.max(...ofSession.map(({ at }) => at ?? 0)),
      touched: Math.max(...touches.map(({ eventIndex }) => eventIndex)),
    };
  });
  const keys = (run: (typeof facts)[number]) => [run.tier, -run.isHere, -run.lastAt, -run.touched];
  facts.sort((a, b) => {
    const differing = keys(a).findIndex((key, i) => key !== keys(b)[i]);
    if (differing >= 0) return (keys(a)[differing] ?? 0) - (keys(b)[differing] ?? 0);
    return `${a.sessionId}${a.runId}` < `${b.sessionId}${b.runId}` ? -1 : 1;
  });
  return facts.map(({ name, tier }) => ({ name, tier }));
}

function naiveTier(run: GoldenRun, { query = '', gitBranch, gitHeadSha }: Asked): number {
  const { branch = '', sha = '' } = run;
  if (gitHeadSha !== undefined && (sha === gitHeadSha || sha === `sha256:${gitHeadSha}`)) return 1;
  if (gitBranch !== undefined && branch.slice(0, gitBranch.length) === gitBranch) return 2;
  const last = run.redone ?? run.notes.at(-1) ?? '';
  const noted = [last, run.saved ?? '', run.savedFirst ?? ''].join(' ').split('\n\n[TRUNCATED]').join(' ');
  const notes = words(`${noted} Goal of ${run.name}`);
  const workflow = words(`${run.workflow} ${WORKFLOW_NAMES[run.workflow]}`);
  const wanted = [...words(query)];
  if (wanted.length > 0 && wanted.every((word) => notes.has(word))) return 3;
  if (wanted.length > 0 && wanted.every((word) => workflow.has(word))) return 4;
  return 5;
}

function words(text: string): ReadonlySet<string> {
  const plain = text.normalize('NFKC').toLowerCase();
  const found = new Set<string>();
  let word = '';
  let before = '';
  for (const character of `${plain} `) {
    const isKana = character >= '\u3041' && character <= '\u30ff';
    if (/[\p{L}\p{M}\p{N}]/u.test(character) && !isKana) word += character;
    else {
      if (word !== '') found.add(word);
      word = '';
    }
    if (isKana) found.add(character);
    if (isKana && before >= '\u3041' && before <= '\u30ff') found.add(before + character);
    before = character;
  }
  return found;
}

/** The one run that is clearly meant; `undefined` if there is a choice. */
export function naiveStrong(runs: readonly GoldenRun[], events: readonly SessionEvent[], asked: Asked) {
  const isOpen = ({ notes }: GoldenRun) => notes.length < STEP_COUNT;
  const isHere = ({ root }: GoldenRun) => asked.workspace === undefined || root === asked.workspace;
  const tiers = new Map(naiveRanking(runs, events, asked).map(({ name, tier }) => [name, tier]));
  const best = Math.min(...tiers.values());
  const meant = runs.filter((run) => isOpen(run) && isHere(run) && tiers.get(run.name) === best);
  return best <= 3 && meant.length === 1 ? meant[0]?.name : undefined;
}
