import { describe, expect, it } from 'vitest';
import { checkRunner } from '../../src/adapters/checks/command-runner.ts';
import { nodeHasher } from '../../src/adapters/system.ts';
import { gitObserver } from '../../src/adapters/workspace.ts';
import { findCheck, recordCheck, runCheck } from '../../src/app/run/attest-check.ts';
import { AttestationId, derivedBits, type RunId, type SessionId } from '../../src/core/log/ids.ts';
import { enforces } from '../enforces.ts';
import { engine, withFile } from '../examples/engine.ts';
import { sha256 } from '../examples/sha256.ts';
import { isLong, share } from '../volume.ts';
import { type EvidenceCase, FALSE_CASES, FALSE_CLASSES, HONEST_CASES } from './evidence-corpus.ts';
import { tinyRepository } from './tiny-repository.ts';

/** The check as an author would write it for proof, and with nothing but an exit code. */
const CHECKS = {
  'two-sided': ({ report = 'tap' }: EvidenceCase) => ({
    against: 'base',
    tests: ['test/**', 'test.sh'],
    report,
    fresh: 'head',
  }),
  'exit code': () => ({}),
};
type Way = keyof typeof CHECKS;

const MINUTES = 60_000;
/** How long git takes on a busy machine is not what is looked at here. */
const PATIENT = { start: MINUTES, short: MINUTES, long: MINUTES };

const fileOf = (one: EvidenceCase, way: Way) => ({
  id: 'team.fix',
  name: 'Fix',
  description: 'Fixes it.',
  version: '1.0.0',
  steps: [
    {
      id: 'fix',
      title: 'Fix',
      prompt: 'Fix it.',
      checks: [{ id: 'tests', run: '{{command}}', minimum: 'observed', ...CHECKS[way](one) }],
    },
    { id: 'end', title: 'End', prompt: 'End.', notesOptional: true },
  ],
});

/** Whether an agent gets past the step with this evidence. */
async function passes(one: EvidenceCase, way: Way): Promise<boolean> {
  const repository = tinyRepository(one.begin);
  try {
    const workspace = gitObserver(nodeHasher, PATIENT);
    const run = engine({ listing: () => withFile(fileOf(one, way)), services: { workspace } });
    const { folder } = repository;
    const start = await run.start('team.fix', { workspace: folder, context: { command: 'sh test.sh' } });
    repository.write(one.work);
    if (one.isCommitted === true) repository.commit();
    const { sessionId, runId } = start.structured['session'] as { sessionId: SessionId; runId: RunId };
    const session = (await run.services.sessions.load(sessionId))._unsafeUnwrap();
    const found = (await findCheck(run.services, session, { runId, checkId: 'tests' }))._unsafeUnwrap();
    const services = { workspace, hasher: nodeHasher, checkRunner };
    const result = await runCheck(services, found, {
      timeoutMs: 60_000,
      isConfirmed: true,
      onOutput: async () => undefined,
    });
    const recorded = await recordCheck(run.services, found, {
      ...result,
      attestationId: AttestationId.of(derivedBits(['corpus', folder], sha256)),
      by: { via: 'terminal', launch: 'l1', askedAt: 1, answerMs: 5 },
    });
    expect(recorded.isOk()).toBe(true);
    repository.write(one.after ?? {});
    const context = one.swapped === undefined ? {} : { command: one.swapped };
    const reply = await run.send(start, { notes: 'Fixed it; all tests pass.', context });
    return reply.structured['kind'] === 'ok';
  } finally {
    repository.remove();
  }
}

/** Two at a time: each waits for processes. */
async function passing(cases: readonly EvidenceCase[], way: Way): Promise<readonly string[]> {
  const left = [...cases];
  const passed: string[] = [];
  const work = async () => {
    for (let one = left.shift(); one !== undefined; one = left.shift())
      if (await passes(one, way)) passed.push(one.what);
  };
  await Promise.all([work(), work()]);
  return passed.sort();
}

describe('evidence in tiny repositories', () => {
  it('there are at least 60 false cases in 12 classes and 60 honest ones', () => {
    expect(Object.keys(FALSE_CLASSES).length).toBeGreaterThanOrEqual(12);
    expect(FALSE_CASES.length).toBeGreaterThanOrEqual(60);
    expect(HONEST_CASES.length).toBeGreaterThanOrEqual(60);
  });

  it(
    'two-sided checks catch false evidence, of which exit codes alone miss most',
    async () => {
      enforces('evidence_two_sided');
      const tried = share(FALSE_CASES, { every: 31 });
      const missed = await passing(tried, 'two-sided');
      const plain = isLong ? await passing(tried, 'exit code') : [];
      const caught = (count: number) => `${tried.length - count} of ${tried.length}`;
      process.stdout.write(
        `false evidence caught: two-sided ${caught(missed.length)}${isLong ? `, exit code ${caught(plain.length)}` : ''}\n`,
      );
      expect(missed).toEqual([]);
    },
    10 * MINUTES,
  );

  it(
    'no honest work is refused',
    async () => {
      const tried = share(HONEST_CASES, { every: 31 });
      const passed = await passing(tried, 'two-sided');
      const refused = tried.map(({ what }) => what).filter((what) => !passed.includes(what));
      process.stdout.write(`honest work accepted: ${passed.length} of ${tried.length}\n`);
      expect(refused).toEqual([]);
    },
    10 * MINUTES,
  );
});
