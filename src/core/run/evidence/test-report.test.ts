import { describe, expect, test } from 'vitest';
import { fixedTests, junitReport, tapReader } from './test-report.ts';

const isFile = (name: string) => name.endsWith('.test.mjs');

function tap(text: string) {
  const reader = tapReader(isFile);
  for (const line of text.split('\n')) reader.line(line);
  return reader.report();
}
const found = (report: ReturnType<typeof tap>) =>
  report && {
    executed: report.executed,
    failed: report.failed,
    passing: [...report.passing],
    failing: [...report.failing],
  };

const NESTED = `TAP version 13
# Subtest: adds
not ok 1 - adds
  ---
  error: 'no'
  stack: |-
    ok 7 - quoted
  ...
# Subtest: suite
    # Subtest: inner
    ok 1 - inner
    # Subtest: later
    ok 2 - later # SKIP
    # Subtest: planned
    not ok 3 - planned # TODO
    1..3
ok 2 - suite
not ok 3 - /work/bad.test.mjs
ok 4 - empty.test.mjs
1..4`;

describe('TAP', () => {
  test('tests are counted once and by their whole names; skipped ones, suites and files are not tests', () => {
    expect(found(tap(NESTED))).toEqual({ executed: 2, failed: 1, passing: ['suite > inner'], failing: ['adds'] });
  });

  test('output without a version and a plan is not a report, and neither is a run that bailed out', () => {
    expect(tap('ok, all is well\nok 1 - fine')).toBeUndefined();
    expect(tap('TAP version 13\nok 1 - a\nBail out! Disk full.')).toBeUndefined();
    expect(found(tap('1..0'))).toEqual({ executed: 0, failed: 0, passing: [], failing: [] });
  });

  test('a name with a passing and a failing result is failing', () => {
    expect(found(tap('1..2\nok 1 - a\nnot ok 2 - a'))).toMatchObject({ passing: [], failing: ['a'] });
  });
});

describe('JUnit XML', () => {
  test('failures, errors and skipped tests are distinguished, whatever the text around them holds', () => {
    const xml = `<?xml version="1.0"?>
<testsuites><!-- <testcase name="hidden"/> --><testsuite name="s">
<testcase name="a &lt; b" classname="s"/>
<testcase classname='s' name="red"><failure message="x > y"><![CDATA[<testcase name="fake"/>]]></failure></testcase>
<testcase classname="s" name="broken"><error/></testcase>
<testcase classname="s" name="off"><skipped/></testcase>
<testcase name="x.test.mjs" classname="x.test.mjs"/>
</testsuite></testsuites>`;
    const report = junitReport(xml, isFile);
    expect(found(report)).toEqual({
      executed: 3,
      failed: 2,
      passing: ['s > a < b'],
      failing: ['s > red', 's > broken'],
    });
    expect(junitReport('<html><testcase name="a"/></html>', isFile)).toBeUndefined();
  });
});

test('only a test that is named on both sides was fixed', () => {
  const base = tap('1..2\nnot ok 1 - a\nnot ok 2 - b');
  expect(fixedTests(base, tap('1..2\nok 1 - a\nok 2 - c'))).toBe(1);
  expect(fixedTests(base, tap('1..1\nok 1 - c'))).toBe(0);
  expect(fixedTests(undefined, tap('1..1\nok 1 - a'))).toBe(0);
});
