import { describe, expect, it } from 'vitest';
import { runFake } from '../../../test/cli/fake-program.ts';
import { lookedAtWorld } from '../../../test/cli/looked-at.ts';
import { reportOf } from '../../../test/e2e/report/hunted-report.ts';
import { told, withFile } from '../../../test/examples/engine.ts';
import { forEachLoop, step } from '../../../test/examples/loop-files.ts';
import { sessionOf } from '../../../test/examples/shared-session.ts';
import { reportHtml } from '../../core/report/html/report-html.ts';
import { reportMarkdown } from '../../core/report/markdown/report-markdown.ts';

const report = { outputContract: { contractRef: 'wr.contracts.verification_report', required: true } };
const FILE = {
  id: 'test.left',
  name: 'Left open',
  description: 'Leaves gaps at steps that what they are about does not tell apart.',
  steps: [
    step('plan', { title: 'Plan it' }),
    forEachLoop('each', 'deps', [step('raise', { title: 'Raise {{currentItem}}' })]),
    step('first-check', { title: 'Check the parts', ...report }),
    forEachLoop('more', 'nobodySetThis', [step('never')]),
    step('last-check', { title: 'Verify the whole', ...report }),
  ],
};

/** A run that never stops, and at whose every step something is missing. */
async function leftOpen() {
  const world = lookedAtWorld({ listing: () => withFile(FILE) });
  const { start, send } = world;
  let at = await start('test.left', {
    goal: 'Leave gaps',
    mode: 'full_auto_never_stop',
    context: { deps: ['a', 'b'] },
  });
  for (let i = 0; i < 5; i++) at = await send(at);
  return { ...world, end: at, sessionId: sessionOf(at) };
}

describe('gaps', () => {
  it('the final reply and every view name a gap with the step that left it', async () => {
    const { look, end, sessionId, services } = await leftOpen();
    expect(told(end, 'isComplete')).toBe(true);
    const gapsIn = (text: string, head: RegExp) => text.split('\n').flatMap((line) => head.exec(line)?.[1] ?? []);
    expect(gapsIn(end.text, /^- Gap \(critical\) at (".+?): /)).toEqual([
      '"Plan it"',
      '"raise", round 1',
      '"raise", round 2',
      '"Check the parts"',
      '"Check the parts"',
      '"Verify the whole"',
    ]);
    const steps = [
      'step 1 "Plan it"',
      ...[1, 2].map((round) => `step ${1 + round} "Raise …", round ${round}`),
      'step 4 "Check the parts"',
      'step 4 "Check the parts"',
      'step 5 "Verify the whole"',
    ];
    const shown = (await look(['session', 'show'])).out;
    expect(gapsIn(shown, /critical, (.+?): /)).toEqual(steps);
    expect((await look(['session', 'diff', sessionId, '1', 'main'], 200)).out).toContain(
      'critical, step 5 "Verify the whole": ',
    );
    const made = await reportOf(services, sessionId);
    const labels = steps.map((label) => label.replace(/, (round \d)/, ' ($1)'));
    // A round is shown with its item.
    const withoutItems = (text: string) => text.replaceAll(/(round \d): .+?\)/g, '$1)');
    expect(gapsIn(withoutItems(reportMarkdown(made)), /^- \*\*open\*\* at (.+?): /)).toEqual(labels);
    const page = withoutItems(reportHtml(made));
    for (const label of labels) expect(page).toContain(`${label.slice(1).replaceAll('"', '&quot;')}: `);
    expect(reportMarkdown(made)).toContain('| Gap at step 5 "Verify the whole": ');
  });

  it('a run that completes with gaps is counted and not shown in green', async () => {
    const { sessionAccess } = await leftOpen();
    const look = async (...argv: string[]) =>
      (await runFake({ argv, sessionAccess: sessionAccess(), terminals: ['output'] })).out.replaceAll('\u001b', '');
    const [yellow, green] = ['[33m', '[32m'];
    expect(await look('session', 'show')).toContain(`${yellow}complete, 6 gaps open`);
    expect(await look('session', 'tree')).toMatch(/\[33mcomplete, 6 gaps open.*\[33m✓\[39m complete/s);
    expect(await look('session', 'list')).toContain(`${yellow}complete, gaps open`);
    expect(await look('status')).toContain(`1 complete session[22m${yellow} (with open gaps)`);
    for (const command of ['show', 'list']) expect(await look('session', command)).not.toContain(green);
  });
});

it('a skipped loop counts with all of its steps, in the last reply, in a report and in the tree alike', async () => {
  const runCondition = { var: 'isLarge', equals: true };
  const steps = [
    step('plan'),
    step('ask', { runCondition }),
    { ...forEachLoop('each', 'deps', [step('build'), step('check'), step('note')]), runCondition },
    step('end'),
  ];
  const file = { id: 'test.small', name: 'Small', description: 'Skips a loop.', steps };
  const { look, start, send, services } = lookedAtWorld({ listing: () => withFile(file) });
  const planned = await send(await start('test.small', { context: { isLarge: false } }), { notes: 'Done.' });
  const end = await send(planned, { notes: 'Done.' });
  expect(end.text).toContain('2 steps done. 4 steps were skipped:');
  const made = await reportOf(services, sessionOf(end));
  expect(reportHtml(made)).toContain('4 skipped');
  expect((await look(['session', 'tree'])).out).toContain('(3 steps)  skipped');
});
