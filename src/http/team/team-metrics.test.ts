import { expect, it } from 'vitest';
import { teamMetrics } from './team-metrics.ts';

it('counts what an operator asks about, without a label that names a person, run or space', async () => {
  const metrics = teamMetrics(['start_workflow'], () => ({ inUse: 3, waiting: 1 }));
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
    ]),
  );
  const labels = new Set(Array.from(text.matchAll(/[{,](\w+)="/g), ([, name]) => name));
  for (const name of ['le', 'space', 'kind', 'type', 'version', 'major', 'minor', 'patch']) labels.delete(name);
  expect(labels).toEqual(new Set(['tool', 'outcome', 'operation', 'state']));
});
