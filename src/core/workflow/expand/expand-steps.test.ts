import { describe, expect, it } from 'vitest';
import { compiled, compileValue, found } from '../../../../test/compiler/compile-file.ts';
import { call, routines, work, workflow } from '../../../../test/compiler/routine-calls.ts';
import { enforces } from '../../../../test/enforces.ts';

const rolesOf = (steps: readonly object[], { templates = routines({}), rest = {} } = {}) =>
  compiled(compileValue(workflow(steps, rest), { templates })).steps.map(({ stepId, agentRole }) => [
    stepId as string,
    agentRole,
  ]);

describe('a probe that is called by name', () => {
  const probe = (args: object) => ({ id: 'p', templateCall: { templateId: 'wr.templates.capability_probe', args } });
  const foundFor = (args: object) => compileValue(workflow([probe(args)])).diagnostics;

  it('takes a capability and nothing else', () => {
    expect(foundFor({ capability: 'delegation' })).toEqual([]);
    expect(foundFor({ capability: 'delegatio' })).toMatchObject([
      { code: 'wrong_value', pointer: '/steps/0/templateCall/args/capability', fix: {} },
    ]);
    expect(foundFor({ capability: 'delegation', depth: 2 })).toMatchObject([
      { code: 'unknown_argument', severity: 'warning', pointer: '/steps/0/templateCall/args/depth' },
    ]);
    expect(foundFor({})).toMatchObject([{ code: 'missing_argument', pointer: '/steps/0/templateCall/args' }]);
  });
});

describe('the role of a step', () => {
  it('is that of its checks', () => {
    enforces('agent_role_override', 'verification_and_audit_expand');
    const checked = { agentRole: 'You doubt.', verification: {}, audit: {} };
    expect(rolesOf([work('a', checked), work('b', { audit: {} })], { rest: { agentRole: 'You build.' } })).toEqual([
      ['a', 'You doubt.'],
      ['a--verify', 'You doubt.'],
      ['a--audit', 'You doubt.'],
      ['b', 'You build.'],
      ['b--audit', 'You build.'],
    ]);
  });

  it('is that of the routine for all that a call stands for, and that of the outer one where it has none', () => {
    enforces('agent_role_override');
    const decided = {
      type: 'while',
      maxIterations: 2,
      conditionSource: { kind: 'artifact_contract', contractRef: 'wr.contracts.loop_control' },
    };
    const probe = {
      id: 'p',
      templateCall: { templateId: 'wr.templates.capability_probe', args: { capability: 'delegation' } },
    };
    const loop = { id: 'l', type: 'loop', loop: decided, body: [work('b')] };
    const templates = routines({
      plain: { steps: [work('x')] },
      r: { agentRole: 'You sort {what}.', steps: [work('a', { audit: {} }), loop, call('i', 'plain'), probe] },
    });
    const steps = [call('t', 'r', { args: { what: 'mail' } }), call('u', 'plain')];
    expect(rolesOf(steps, { templates, rest: { agentRole: 'You build.' } })).toEqual([
      ['t--a', 'You sort mail.'],
      ['t--a--audit', 'You sort mail.'],
      ['t--b', 'You sort mail.'],
      ['t--l--decide', 'You sort mail.'],
      ['t--i--x', 'You sort mail.'],
      ['t--p', 'You sort mail.'],
      ['u--x', 'You build.'],
    ]);
  });
});

describe('templates that call templates', () => {
  /** r1 calls r0, r2 calls r1 and so on. */
  const chain = (length: number) =>
    Object.fromEntries(
      Array.from({ length }, (_, i) => [`r${i}`, { steps: [i === 0 ? work('a') : call('c', `r${i - 1}`)] }]),
    );

  it('may do so eight deep, and are not called endless for being deeper', () => {
    const deep = routines(chain(8));
    expect(found(compileValue(workflow([call('t', 'r7')]), { templates: deep }))).toEqual([]);
    const [top] = routines({ r8: { steps: [work('a')] } }).values();
    const inner = deep.get('x.templates.routine.r7');
    if (top === undefined || inner === undefined) throw new Error('made a moment ago');
    const callsInner = inner.steps.map((step) => ({ ...step, templateId: inner.templateId }) as typeof step);
    const templates = new Map([...deep, [top.templateId, { ...top, steps: callsInner }]]);
    const result = compileValue(workflow([call('t', 'r8')]), { templates });
    expect(found(result)).toEqual(['error template_too_deep /steps/0/templateCall/templateId']);
    expect(result.diagnostics[0]?.message).toContain('r8 → x.templates.routine.r7');
  });
});

describe('ids that grow by calls', () => {
  const long = (character: string) => character.repeat(128);
  const files = (steps: readonly object[], rest: object = {}) => routines({ r: { ...rest, steps } });

  it('are refused at the call when they would be too long for the log', () => {
    enforces('step_and_loop_ids_delimiter_safe');
    const steps = [call(long('t'), 'r')];
    const at = ['error id_too_long /steps/0/id'];
    expect(found(compileValue(workflow(steps), { templates: files([work('a'.repeat(126))]) }))).toEqual([]);
    expect(found(compileValue(workflow(steps), { templates: files([work(long('a'))]) }))).toEqual(at);
    const checked = work('a'.repeat(126), { audit: {} });
    expect(found(compileValue(workflow(steps), { templates: files([checked]) }))).toEqual(at);
    const named = { conditions: [{ id: long('c'), kind: 'always_true' }] };
    expect(found(compileValue(workflow(steps), { templates: files([work('a')], named) }))).toEqual(at);
    const loop = { id: 'l', loopId: long('l'), type: 'loop', loop: { type: 'for', count: 1, maxIterations: 1 } };
    const looped = files([{ ...loop, body: [work('a')] }]);
    expect(found(compileValue(workflow(steps), { templates: looped }))).toEqual(at);
  });
});
