import { describe, expect, it } from 'vitest';
import { WORKFLOW_HASH } from '../../../../test/examples/ids.ts';
import { forEachLoop, step, workflowOf } from '../../../../test/examples/loop-files.ts';
import { handed } from '../../../../test/examples/step-attempt.ts';
import { FACTS, walkThrough } from '../../../../test/examples/walk-through.ts';
import { executionSnapshot } from '../../log/execution-snapshot.ts';
import type { CompiledWorkflow } from '../../workflow/compiled/compiled-workflow.ts';
import { indexWorkflow } from '../../workflow/compiled/workflow-index.ts';
import { type CheckedAttempt, checkAttempt, withObservations } from './judge-attempt.ts';

const nothing = { notesMarkdown: undefined, artifacts: [] };
const notes = (notesMarkdown: string) => ({ notesMarkdown, artifacts: [] });

/** A try at the step that comes after so many others. */
function attempt(workflow: CompiledWorkflow, done: number, more: Partial<CheckedAttempt> = {}): CheckedAttempt {
  const state = walkThrough(workflow).states[done] ?? expect.fail('a step');
  const at = executionSnapshot(WORKFLOW_HASH, state);
  return { index: indexWorkflow(workflow), at, facts: FACTS, handedIn: nothing, drafts: [], isRetry: false, ...more };
}

const names = ({ unmet, met }: ReturnType<typeof checkAttempt>) => [unmet.map(({ requirement }) => requirement), met];

describe('a requirement', () => {
  const dependency = { reason: 'needs_user_artifact', prompt: 'Where is it?' };
  const workflow = workflowOf(
    [
      forEachLoop(
        'outer',
        ['a', 'b'],
        [
          forEachLoop(
            'inner',
            ['x', 'y'],
            [
              step('look', {
                validationCriteria: [{ type: 'contains', value: 'ok', message: 'Say ok.' }],
                requireConfirmation: { kind: 'human_approval' },
                assurance: 'stated',
                userDependency: dependency,
                assessmentRefs: ['grade'],
              }),
            ],
          ),
        ],
      ),
      step('check', { requireConfirmation: { kind: 'coordinator_eval' } }),
    ],
    { assessments: [{ id: 'grade', purpose: 'x', dimensions: [{ id: 'd', purpose: 'x', levels: ['a', 'b'] }] }] },
  );

  it('a requirement of a step inside of loops is named by its execution, met or not; what is about the line keeps its name', () => {
    expect(names(checkAttempt(attempt(workflow, 3)))).toEqual([
      [
        'notes:outer@1/inner@1::look',
        'criteria:outer@1/inner@1::look',
        'assessment:grade',
        'user_dependency:outer@1/inner@1::look',
        'approval:outer@1/inner@1::look',
      ],
      [],
    ]);
    const drafts = [notes('asked')];
    expect(names(checkAttempt(attempt(workflow, 0, { handedIn: notes('ok'), drafts, isRetry: true })))).toEqual([
      ['assessment:grade'],
      [
        'notes:outer@0/inner@0::look',
        'criteria:outer@0/inner@0::look',
        'user_dependency:outer@0/inner@0::look',
        'approval:outer@0/inner@0::look',
      ],
    ]);
  });

  it('a requirement of a step outside of loops is named by the step, and a context key by itself', () => {
    expect(names(checkAttempt(attempt(workflow, 4)))).toEqual([['notes:check', 'gate:check'], []]);
    const keyed = workflowOf([
      step('scope', { notesOptional: true, userDependency: { ...dependency, contextKey: 'scope' } }),
    ]);
    expect(names(checkAttempt(attempt(keyed, 0)))).toEqual([['user_dependency:scope'], []]);
  });
});

describe('a chain of blocked attempts', () => {
  const workflow = workflowOf([step('a')]);
  const claim = (status: string) =>
    handed({ kind: 'wr.capability_observation', capability: 'delegation', status, detail: status });

  it('output of blocked attempts counts for the retry, but their reports are not recorded again', () => {
    const drafts = [{ notesMarkdown: 'First.', artifacts: [claim('unavailable')] }];
    const check = checkAttempt(attempt(workflow, 0, { drafts, handedIn: nothing, isRetry: true }));
    expect([check.unmet, check.met, check.observations]).toEqual([[], ['notes:a'], []]);
    const again = { notesMarkdown: undefined, artifacts: [claim('available')] };
    const later = checkAttempt(attempt(workflow, 0, { drafts, handedIn: again, isRetry: true }));
    expect(later.observations.map(({ status }) => status)).toEqual(['available']);
  });

  it('only the newest artifacts of a chain of blocked attempts count, and the reply says so', () => {
    const artifacts = (from: number) => Array.from({ length: 32 }, (_, n) => handed({ kind: `test.${from + n}` }));
    const drafts = [{ notesMarkdown: 'x', artifacts: artifacts(0) }];
    const handedIn = { notesMarkdown: undefined, artifacts: artifacts(30) };
    const check = checkAttempt(attempt(workflow, 0, { drafts, handedIn, isRetry: true }));
    expect(check.unknownKinds).toEqual(artifacts(30).map(({ kind }) => kind));
    expect(check.unreadable).toEqual([
      { artifactKind: undefined, message: expect.stringContaining('Older artifacts that do not count: 30.') },
    ]);
  });
});

it('a weak claim never overrides what was really tried; a strong observation does', () => {
  const observed = (status: 'available' | 'unavailable', grade: 'strong' | 'weak') =>
    ({ capability: 'delegation', status, provenance: { enforcementGrade: grade } }) as never;
  const known = (...observations: readonly never[]) => withObservations(FACTS, observations).capabilities.delegation;
  expect(known(observed('available', 'weak'))).toEqual({ status: 'available', grade: 'weak' });
  expect(known(observed('unavailable', 'strong'), observed('available', 'weak'))).toEqual({
    status: 'unavailable',
    grade: 'strong',
  });
  expect(known(observed('unavailable', 'strong'), observed('available', 'strong'))).toEqual({
    status: 'available',
    grade: 'strong',
  });
});
