import { expect, it } from 'vitest';
import { spaceSourceProblem } from './space-source.ts';

type Refusal = Parameters<typeof spaceSourceProblem>[0];

it('a refused source of a space is never to be fixed with a command for the sources of the user', () => {
  const url = 'https://example.org/team/flows.git';
  const refusals: readonly Refusal[] = [
    { code: 'address_refused', address: 'http://example.org', reason: 'insecure' },
    { code: 'source_exists', name: 'flows' },
    { code: 'source_unusable', what: 'name', value: 'a b' },
    { code: 'source_unknown', name: 'flows', known: [] },
    { code: 'source_unknown', name: 'flows', known: ['others'] },
    { code: 'git_commit_missing', url, commit: 'a'.repeat(40) },
    { code: 'git_missing' },
    { code: 'git_timeout', ms: 60_000, url },
    { code: 'git_rewritten', name: 'flows', url, from: 'a'.repeat(40), to: 'b'.repeat(40) },
  ];
  for (const refusal of refusals) {
    const { suggestion } = spaceSourceProblem(refusal, 'shop').error;
    expect([refusal.code, suggestion]).toEqual([
      refusal.code,
      expect.not.stringMatching(/--name|workrail source|folder|npm/),
    ]);
  }
  expect(spaceSourceProblem(refusals[1] ?? expect.fail(), 'shop').error.suggestion).toContain('--as');
  expect(spaceSourceProblem(refusals.at(-1) ?? expect.fail(), 'shop').error.suggestion).toContain(
    'workrail space source shop --update flows --force --database-url URL',
  );
});
