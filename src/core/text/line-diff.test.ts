import { expect, it } from 'vitest';
import { lineDiff, unifiedDiff } from './line-diff.ts';

it('a diff keeps the longest common part of two texts', () => {
  expect(lineDiff('a\nb\nc\nd', 'a\nx\nc\nd').map(({ kind, text }) => `${kind} ${text}`)).toEqual([
    'same a',
    'removed b',
    'added x',
    'same c',
    'same d',
  ]);
});

it('a unified diff has three lines of context and counts the lines of both files', () => {
  const before = ['1', '2', '3', '4', '5', '6', '7', '8', '9', ''].join('\n');
  expect(unifiedDiff('f', before, before.replace('5', 'x\ny'))).toEqual([
    '--- f',
    '+++ f',
    expect.stringMatching(/^@@ -2,7 [+]2,8 @@$/),
    ' 2',
    ' 3',
    ' 4',
    '-5',
    '+x',
    '+y',
    ' 6',
    ' 7',
    ' 8',
  ]);
});

it('a unified diff of a new file starts from /dev/null, and of an unchanged one is empty', () => {
  expect(unifiedDiff('f', undefined, 'a\n')).toEqual([
    '--- /dev/null',
    '+++ f',
    expect.stringMatching(/^@@ -0,0 [+]1,1 @@$/),
    '+a',
  ]);
  expect(unifiedDiff('f', 'a\n', 'a\n')).toEqual([]);
});
