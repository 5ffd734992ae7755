import { resolve } from 'node:path';
import { expect } from 'vitest';
import { nodeFolderAccess } from '../../../src/adapters/sources/read-folder.ts';
import { workflowFiles } from '../../../src/adapters/sources/workflow-files.ts';
import { workflowCatalog } from '../../../src/app/catalog/workflow-catalog.ts';
import type { Store } from '../../../src/app/ports/store.ts';
import { readReport } from '../../../src/app/report.ts';
import type { JsonObject } from '../../../src/core/json/json-value.ts';
import type { SessionId } from '../../../src/core/log/ids.ts';
import { reportHtml } from '../../../src/core/report/html/report-html.ts';
import { reportMarkdown } from '../../../src/core/report/markdown/report-markdown.ts';
import { type Report, reportJson, reportSchema } from '../../../src/core/report/report.ts';
import { listeningTools } from '../../catalog/catalog-of.ts';
import { exportServices } from '../../examples/bundles.ts';
import { engine, type Sent } from '../../examples/engine.ts';
import { sessionOf } from '../../examples/shared-session.ts';
import { bugHunt, huntEngine } from './report-session.ts';

/** All that a report can be written as. */
export const FORMATS = [reportMarkdown, reportHtml, reportJson];

/** The report of a session, found to have the published shape. */
export async function reportOf(store: Store, sessionId: SessionId, isRedacted = false): Promise<Report> {
  const request = { sessionIds: [sessionId], isRedacted, homes: [] };
  const report = (await readReport({ ...exportServices(store), marks: store.marks }, request))._unsafeUnwrap();
  expect(reportSchema.safeParse(report).error).toBeUndefined();
  return report;
}

/** A bug hunt in memory, with its report in which nothing is hidden. */
export async function hunted(hostile = 'Nothing hostile.') {
  const hunt = huntEngine();
  const sessionId = await bugHunt(hunt, hostile);
  return { hunt, sessionId, report: await reportOf(hunt.services, sessionId) };
}

/** The report of a coding task in four steps, with one attempt that left out a criterion; the text stands in its notes. */
export async function codingReport(hostile: string): Promise<Report> {
  const files = workflowFiles({ bundled: resolve('workflows'), user: resolve('nowhere') }, nodeFolderAccess);
  const run = engine({ services: { catalog: workflowCatalog(files, listeningTools()) } });
  const check = (name: string, evidence: string) => ({ name, outcome: 'pass', evidence });
  const report = (...checks: readonly JsonObject[]) => ({
    kind: 'wr.verification_report',
    checks: [...checks],
    summary: 'The flag works from a clean clone; without it the output is the same. Windows was not tried.',
  });
  const tests = check('tests', '812 passed');
  const sent: readonly Sent[] = [
    {
      notes: 'Files: src/export.ts, test/export.test.ts. **Small**: one command, one writer.',
      context: {
        criteria: ['AC1: `app export --json` prints valid JSON', 'AC2: without the flag the output is unchanged'],
        taskSize: 'small',
        riskLevel: 'low',
        testCommand: 'npm test',
      },
    },
    {
      notes: 'Red before: "unknown option --json", exit 2.\nGreen after: 1 passed.',
      artifacts: [
        {
          kind: 'wr.changed_files',
          changedFiles: [
            { path: 'src/export.ts', summary: 'takes --json', risk: 'L' },
            { path: 'test/export.test.ts', summary: hostile.slice(0, 120), risk: 'L' },
          ],
        },
      ],
    },
    { artifacts: [report(tests, check('AC1', 'jq exits 0'))] },
    { artifacts: [report(tests, check('AC1', 'jq exits 0'), check('AC2', hostile.slice(0, 80)))] },
    {
      artifacts: [
        {
          kind: 'wr.coding_handoff',
          version: 1,
          keyDecisions: ['One writer for both formats, because the rows are the same.'],
          knownLimitations: ['Not tried on Windows.'],
          testsAdded: ['test/export.test.ts: --json prints what jq reads'],
          filesChanged: ['src/export.ts', 'test/export.test.ts'],
        },
      ],
    },
  ];
  let reply = await run.start('wr.coding_task', { goal: 'Add a --json flag to the export command' });
  for (const one of sent) reply = await run.send(reply, one);
  expect(reply.structured['isComplete']).toBe(true);
  return reportOf(run.services, sessionOf(reply));
}
