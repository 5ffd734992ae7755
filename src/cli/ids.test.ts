import { expect, test } from 'vitest';
import { runFake } from '../../test/cli/fake-program.ts';
import { enforces } from '../../test/enforces.ts';
import { DAMAGED, HEALTHY } from '../../test/examples/audits.ts';
import { OTHER_SESSION } from '../../test/examples/ids.ts';
import { SESSION_EVENTS } from '../../test/examples/session.ts';
import { SNAPSHOTS_BY_REF } from '../../test/examples/snapshots.ts';
import { PRESETS } from '../core/log/autonomy.ts';
import { RunId, runTag } from '../core/log/ids.ts';
import { summarise } from '../core/views/session-summary.ts';
import { foldEvents } from '../core/views/session-view.ts';

test('finds a damaged session by a run tag that only the index remembers, and says when nobody does', async () => {
  enforces('cli_ids_forgiving');
  const audits = [HEALTHY, DAMAGED];
  const argv = ['session', 'verify', '--quiet', 'zzzz'];
  const untold = await runFake({ argv, audits });
  expect(untold).toMatchObject({ exitCode: 3, out: '' });
  expect(untold.talk).toBe(
    'SESSION_NOT_FOUND: There is no session "zzzz".\n' +
      `Fix: 1 session cannot tell its runs any more; if you mean one, type its id: ${OTHER_SESSION}.\n`,
  );
  const runId = RunId.of(Buffer.alloc(10, 0xff));
  expect(runTag(runId)).toBe('zzzz');
  const remembered = summarise(OTHER_SESSION, foldEvents(SESSION_EVENTS), {
    snapshotOf: (ref) => SNAPSHOTS_BY_REF.get(ref) ?? expect.fail(ref),
    defaults: PRESETS.guided,
  });
  const [run] = remembered.runs;
  const summaries = run === undefined ? [] : [{ ...remembered, runs: [{ ...run, runId }] }];
  expect((await runFake({ argv, audits, summaries })).out).toContain(`✗ ${OTHER_SESSION}  damaged`);
});
