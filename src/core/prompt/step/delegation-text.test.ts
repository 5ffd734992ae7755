import { describe, expect, test } from 'vitest';
import { enforces } from '../../../../test/enforces.ts';
import { type Place, partsAt } from '../../../../test/examples/replies.ts';
import { CAPABILITY_STATUSES } from '../../log/blockers.ts';
import { renderStep } from './render-step.ts';

const delegations = [
  {
    workflowId: 'wr.security',
    goal: 'Look at {{branch}}.',
    contextMapping: { ref: 'branch', files: 'changed.files', gone: 'nowhere' },
    args: { depth: 'deep {{branch}}' },
    allowedTools: ['read', 'grep'],
    modelTier: 'small',
  },
  { workflowId: 'wr.history', runCondition: { var: 'size', equals: 'large' } },
];

const file = (parallelDelegations: readonly object[], more: object = {}) => ({
  id: 'wr.many',
  name: 'Many',
  description: 'Many tasks.',
  ...more,
  steps: [{ id: 'all', type: 'parallel', title: 'All', parallelDelegations }],
});

const context = { branch: 'fix', changed: { files: ['a'] }, size: 'large' };

function told(place: Place, more: object = {}, tasks: readonly object[] = delegations) {
  const { prompt, warnings } = renderStep(partsAt(file(tasks, more), { context, ...place }));
  return { text: prompt.split('\n\n')[4] ?? '', warnings: warnings.map(({ code }) => code) };
}

const known = (status: (typeof CAPABILITY_STATUSES)[number], grade: 'strong' | 'weak' = 'strong'): Place => ({
  capabilities: { delegation: { status, grade } },
});

describe('a delegating step', () => {
  test('a delegating step lists its tasks for subagents where delegation is known to work', () => {
    enforces('parallel_rendering');
    expect(told(known('available')).text.split('\n')).toEqual([
      expect.stringMatching(/^Delegate these 2 tasks\. Start one subagent for each.*not start_workflow/),
      '1. workflow: wr.security',
      '   goal: Look at fix.',
      '   context: depth: "deep fix", ref: "fix", files: ["a"], gone: [unset: nowhere]',
      '   tools: read, grep',
      '   model: small',
      '2. workflow: wr.history',
    ]);
  });

  test('a delegating step lists its tasks one after the other, with a warning, where delegation is known to fail', () => {
    enforces('parallel_rendering', 'capability_preferred_degrades');
    const { text, warnings } = told(known('unavailable'), { capabilities: { delegation: 'preferred' } });
    expect(text).toMatch(/^There are no subagents here, so do these 2 tasks yourself, one after the other: call start/);
    expect(text).not.toContain('Start one subagent');
    expect(warnings).toContain('capability_degraded');
  });

  test.each([known('unknown'), {}])(
    'a delegating step asks to try delegation where nothing is known, with an alternative and a report',
    (place) => {
      enforces('parallel_rendering');
      const { text, warnings } = told(place);
      expect(text).toMatch(
        /^Try to delegate these 2 tasks\..*\nIf you cannot, do them yourself, one after the other: /,
      );
      expect(text).toContain('{"kind":"wr.capability_observation","capability":"delegation","status":"available"}');
      expect(warnings).not.toContain('capability_degraded');
    },
  );

  test('a delegating step is not delegated where its author disabled it, and no warning is given', () => {
    const disabled = { capabilities: { delegation: 'disabled' } };
    for (const status of CAPABILITY_STATUSES) {
      const { text, warnings } = told(known(status), disabled);
      expect(text).toMatch(/^There are no subagents here/);
      expect(warnings).not.toContain('capability_degraded');
    }
  });

  test('a delegating step leaves out tasks whose condition does not hold, and says so', () => {
    enforces('parallel_rendering');
    const { text } = told({ ...known('available'), context: { ...context, size: 'small' } });
    expect(text).toMatch(/^Delegate this task \(the others are not due\)\. Start a subagent for it\./);
    expect(text).not.toContain('wr.history');
    const second = told(known('available'), {}, [
      { ...delegations[1], runCondition: { var: 'size', equals: 'small' } },
      { workflowId: 'wr.b' },
    ]);
    expect(second.text).toContain('\n2. workflow: wr.b');
    const none = told({ context: {} }, {}, delegations.slice(1));
    expect(none.text).toBe('None of these tasks is due here. Say so in your notes and continue.');
  });
});
