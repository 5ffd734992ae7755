import { describe, expect, it } from 'vitest';
import {
  compiled,
  compileValue,
  found,
  routine,
  type Surroundings,
  templatesOf,
} from '../../../../test/compiler/compile-file.ts';

const CHECK = { id: 'unit', run: 'npm test', minimum: 'observed' };

const workflowOf = (checks: readonly object[], rest: object = {}) => ({
  id: 'test.checks',
  name: 'N',
  description: 'D',
  steps: [{ id: 'a', title: 'T', prompt: 'P', checks }],
  ...rest,
});
const checksOf = (checks: readonly object[], rest: object = {}, around: Surroundings = {}) =>
  compiled(compileValue(workflowOf(checks, rest), around)).steps[0]?.checks;
const foundIn = (...checks: readonly object[]) => found(compileValue(workflowOf(checks)));

describe('checks of a step', () => {
  it('a check is pinned with exactly what its author wrote, and the contract for reports with it', () => {
    const whole = {
      ...CHECK,
      against: 'base',
      tests: ['test/**'],
      link: ['deps'],
      report: 'tap',
      atLeast: 2,
      fresh: 'head',
    };
    const { id: checkId, ...rest } = whole;
    expect(checksOf([whole])).toEqual([{ checkId, ...rest }]);
    expect(checksOf([CHECK])).toEqual([{ checkId: 'unit', run: 'npm test', minimum: 'observed' }]);
    expect(checksOf([{ ...CHECK, expect: 'fail' }])).toMatchObject([{ expect: 'fail' }]);
    const { contracts } = compiled(compileValue(workflowOf([CHECK])));
    expect(contracts.map(({ contractRef }) => contractRef)).toEqual(['wr.contracts.verification_report']);
  });

  it('a step without checks is pinned as before', () => {
    expect(checksOf([])).toBeUndefined();
  });

  it('a check that would not do what its author believes is refused', () => {
    const at = '/steps/0/checks/0';
    expect(foundIn({ ...CHECK, atLeast: 3 })).toEqual([`error wrong_value ${at}/atLeast`]);
    expect(foundIn({ ...CHECK, tests: ['test/**'] })).toEqual([`error wrong_value ${at}/tests`]);
    expect(foundIn({ ...CHECK, link: ['deps'] })).toEqual([`error wrong_value ${at}/link`]);
    expect(foundIn({ ...CHECK, against: 'base' })).toEqual([`error missing_field ${at}`]);
    expect(foundIn({ ...CHECK, against: 'base', tests: ['t/**'], expect: 'fail' })).toEqual([
      `error wrong_value ${at}/expect`,
    ]);
    expect(foundIn({ ...CHECK, minimun: 'observed' })).toEqual([`error unknown_key ${at}/minimun`]);
    expect(foundIn({ ...CHECK, minimum: 'proven' })).toEqual([`error wrong_value ${at}/minimum`]);
    expect(foundIn(CHECK, CHECK)).toEqual(['error duplicate_id /steps/0/checks/1/id']);
    const nine = Array.from({ length: 9 }, (_, i) => ({ ...CHECK, id: `c${i}` }));
    expect(foundIn(...nine)).toHaveLength(1);
  });

  it.each(['/etc/passwd', '../up', 'a/../../b', '~/x', '-rf', ':(exclude)x', 'C:\\..\\x'])(
    'no path of a check leads out of the workspace: %s',
    (path) => {
      expect(foundIn({ ...CHECK, report: path })).toEqual(['error wrong_value /steps/0/checks/0/report']);
    },
  );

  it('a command with text that the workspace put into an extension point is marked', () => {
    const points = {
      extensionPoints: [{ slotId: 'tests', purpose: 'P', default: 'npm test', acceptedKinds: ['text'] }],
    };
    const check = { ...CHECK, run: '{{wr.bindings.tests}} --ci' };
    expect(checksOf([check], points)).toEqual([{ checkId: 'unit', run: 'npm test --ci', minimum: 'observed' }]);
    expect(checksOf([check], points, { bindings: { tests: 'true' } })).toMatchObject([
      { run: 'true --ci', isBound: true },
    ]);
  });

  it('a command that reaches a routine as an argument is marked too', () => {
    const template = routine(
      JSON.stringify({
        id: 'test.routine-run',
        name: 'N',
        description: 'D',
        steps: [{ id: 'r', title: 'T', prompt: 'Run {command}.', checks: [{ ...CHECK, run: '{command}' }] }],
      }),
    );
    const points = {
      extensionPoints: [{ slotId: 'tests', purpose: 'P', default: 'npm test', acceptedKinds: ['text'] }],
    };
    const steps = [
      {
        id: 'a',
        title: 'T',
        type: 'template_call',
        templateId: template.templateId,
        args: { command: '{{wr.bindings.tests}}' },
      },
    ];
    const around = { templates: templatesOf(template), bindings: { tests: 'make check' } };
    const [first] = compiled(compileValue(workflowOf([], { ...points, steps }), around)).steps;
    expect(first?.checks).toMatchObject([{ run: 'make check', isBound: true }]);
  });
});
