import { describe, expect, test } from 'vitest';
import { fixedTests, junitReport, tapReader } from './test-report.ts';
import { xmlTags } from './xml-tags.ts';

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

  test('output with fewer results than a plan says is not a report, at any depth', () => {
    expect(tap('TAP version 13\n1..5\nok 1 - a')).toBeUndefined();
    expect(tap('ok 1 - a\n1..2 # all')).toBeUndefined();
    expect(tap('TAP version 13\n    1..3\n    ok 1 - inner\nok 1 - suite\n1..1')).toBeUndefined();
    expect(tap('TAP version 13\nok 1 - a\n    1..3\n    ok 1 - inner')).toBeUndefined();
  });

  test('two streams after each other are one report, and a plan in the words of a program is none', () => {
    expect(found(tap('TAP version 13\nok 1 - a\n1..1\nTAP version 13\nok 1 - b\n1..1'))).toMatchObject({ executed: 2 });
    expect(tap('TAP version 13\nok 1 - a\n1..1\nTAP version 13\n1..2\nok 1 - b')).toBeUndefined();
    expect(found(tap('1..9 files read\nTAP version 13\nok 1 - a\n1..1'))).toMatchObject({ executed: 1 });
  });

  test('the time of a test and the bracket of its subtests are not part of its name', () => {
    const before = 'ok 1 - a.test.mjs # time=5.71ms {\n    not ok 1 - c # time=4.44ms\n    1..1\n}\nok 2 - d\n1..2';
    const after = before.replace('not ok', 'ok').replace('4.44', '3.10');
    expect(found(tap(`TAP version 14\n${before}`))).toMatchObject({
      executed: 2,
      passing: ['d'],
      failing: ['a.test.mjs > c'],
    });
    expect(fixedTests(tap(`TAP version 14\n${before}`), tap(`TAP version 14\n${after}`))).toBe(1);
    expect(tap(`TAP version 14\n${before.replace('    1..1', '    1..2')}`)).toBeUndefined();
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

describe('a JUnit XML file that does not list everything', () => {
  const report = (xml: string) => found(junitReport(xml, isFile));
  const one = '<testcase name="a"/>';

  test.each([
    ['tests and no test', '<testsuite tests="5" skipped="2"></testsuite>'],
    ['more failures', `<testsuite tests="1" failures="3" errors="1">${one}</testsuite>`],
    ['more failures in all suites', `<testsuites failures="2"><testsuite>${one}</testsuite></testsuites>`],
    ['a failed suite', `<testsuite><error message="boom"/>${one}</testsuite>`],
    ['a cut test', `<testsuite>${one}<testcase name="b"><fail`],
    ['a cut suite', `<testsuite>${one}`],
    ['an unclosed comment', `<testsuite>${one}<!-- </testsuite>`],
    ['an unclosed CDATA section', `<testsuite>${one}<![CDATA[ </testsuite>`],
  ])('is not a report: %s', (_, xml) => {
    expect(report(xml)).toBeUndefined();
  });

  // pytest counts the parts of a test, and mocha-junit-reporter skipped tests, which neither of them lists.
  test('is one if its counters have skipped tests or parts of tests that it does not list', () => {
    expect(report(`<testsuite tests="12" failures="0" errors="0">${one}</testsuite>`)).toMatchObject({ executed: 1 });
    const skipped = `<testsuite tests="2" skipped="2"></testsuite><testsuite tests="3">${one}</testsuite>`;
    expect(report(`<testsuites tests="7" skipped="4">${skipped}</testsuites>`)).toMatchObject({ executed: 1 });
  });

  test('is one if it lists more than its counters say, as with nested suites', () => {
    const inner = `<testsuite tests="2">${one}<testcase name="b"><failure/><failure/></testcase></testsuite>`;
    expect(report(`<testsuites><testsuite tests="1" failures="1">${inner}</testsuite></testsuites>`)).toMatchObject({
      executed: 2,
      failed: 1,
    });
    expect(report(`<testsuite name=" tests='9'" tests="1">${one}</testsuite>`)).toMatchObject({ executed: 1 });
  });

  test('a test inside another one hides no failure of it', () => {
    const nested = `<testsuite><testcase name="a"><failure/><testcase name="b"/></testcase></testsuite>`;
    expect(report(nested)).toMatchObject({ executed: 2, failed: 1 });
  });
});

test.each([
  ['comments', '<!--'],
  ['CDATA sections', '<![CDATA['],
  ['instructions', '<?'],
  ['tags', '<a '],
  ['values', '<a b="\''],
  ['marks', '<'],
  ['whole tags', '<a b="c"/>'],
])('no part of a text of many %s is searched twice', (_, part) => {
  const xml = part.repeat(1_000);
  let searched = 0;
  const search = (mark: RegExp, from: number) => {
    mark.lastIndex = from;
    const at = mark.exec(xml)?.index ?? -1;
    searched += (at === -1 ? xml.length : at + 1) - from;
    return at;
  };
  for (const tag of xmlTags(xml, search)) expect(tag.name).toBe('a');
  expect(searched).toBeLessThanOrEqual(xml.length);
});

test('only a test that is named on both sides was fixed', () => {
  const base = tap('1..2\nnot ok 1 - a\nnot ok 2 - b');
  expect(fixedTests(base, tap('1..2\nok 1 - a\nok 2 - c'))).toBe(1);
  expect(fixedTests(base, tap('1..1\nok 1 - c'))).toBe(0);
  expect(fixedTests(undefined, tap('1..1\nok 1 - a'))).toBe(0);
});
