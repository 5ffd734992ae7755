import { expect } from 'vitest';
import type { Store } from '../../../src/app/ports/store.ts';
import { readReport } from '../../../src/app/report.ts';
import type { SessionId } from '../../../src/core/log/ids.ts';
import { reportHtml } from '../../../src/core/report/html/report-html.ts';
import { reportMarkdown } from '../../../src/core/report/markdown/report-markdown.ts';
import { type Report, reportJson, reportSchema } from '../../../src/core/report/report.ts';
import { exportServices } from '../../examples/bundles.ts';
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
