import { err, ok } from 'neverthrow';
import { expect, it } from 'vitest';
import { teamMetrics } from './team-metrics.ts';

const SOURCES = {
  connections: () => ({ inUse: 3, waiting: 1 }),
  waiting: async () => ok({ runs: 2, since: 4_000 }),
  nowMs: () => 10_500,
};

it('counts what an operator asks about, without a label that names a person, run or space', async () => {
  const metrics = teamMetrics(['start_workflow'], SOURCES);
  metrics.call({ tool: 'start_workflow', outcome: 'ok', ms: 5 });
  metrics.store('append', { outcome: 'overtaken', ms: 5 });
  metrics.store('load', { outcome: 'store_went_back', ms: 5 });
  metrics.statement();
  const text = await metrics.text();
  expect(text.split('\n')).toEqual(
    expect.arrayContaining([
      'workrail_store_seconds_count{operation="append",outcome="overtaken"} 1',
      'workrail_store_went_back_total 1',
      'workrail_statements_total 1',
      'workrail_database_connections{state="in_use"} 3',
      'workrail_database_connections{state="waiting"} 1',
      'workrail_approvals_waiting 2',
      'workrail_approvals_waiting_oldest_seconds 6.5',
    ]),
  );
  const labels = new Set(Array.from(text.matchAll(/[{,](\w+)="/g), ([, name]) => name));
  for (const name of ['le', 'space', 'kind', 'type', 'version', 'major', 'minor', 'patch']) labels.delete(name);
  expect(labels).toEqual(new Set(['tool', 'outcome', 'operation', 'state']));
});

it('shows no number of waiting approvals while the database does not answer, and the rest as ever', async () => {
  let isAway = true;
  const waiting = async () =>
    isAway
      ? err({ code: 'unreachable' as const, operation: 'count', retryAfterMs: 1 })
      : ok({ runs: 0, since: undefined });
  const metrics = teamMetrics([], { ...SOURCES, waiting });
  const away = await metrics.text();
  expect(away).toContain('workrail_statements_total 0');
  expect(away).not.toMatch(/^workrail_approvals_waiting/m);
  isAway = false;
  expect(await metrics.text()).toMatch(/^workrail_approvals_waiting 0$/m);
});
