import { describe, expect, it } from 'vitest';
import { enforces } from '../../../../test/enforces.ts';
import { attemptAt, foundAt, NOTHING_FOUND, tryStep } from '../../../../test/examples/step-attempt.ts';
import type { JsonObject } from '../../json/json-value.ts';
import { loopIdSchema, stepIdSchema } from '../../log/ids.ts';
import { contractFix } from '../../workflow/builtins/explain-violations.ts';
import { loopControl } from '../../workflow/builtins/run-contracts.ts';
import { loopObjection } from './loop-control.ts';

const { contractRef, artifactKind: kind } = loopControl;
const decided = (decision: string, loopId?: string) => ({
  kind,
  decision,
  ...(loopId === undefined ? {} : { loopId }),
});
const step = (id: string, rest: object = {}) => ({ id, title: id, prompt: 'P', notesOptional: true, ...rest });
const decide = (id: string) => step(id, { outputContract: { contractRef } });
const loop = (id: string, body: readonly object[], rest: object = {}) => ({
  id,
  type: 'loop',
  title: id,
  loop: { type: 'while', maxIterations: 3, ...rest },
  body,
});
const named = (loopId: string) => ({ conditionSource: { kind: 'artifact_contract', contractRef, loopId } });
const single = { steps: [loop('round', [step('work'), decide('decide')], named('rounds'))] };
const nested = {
  steps: [
    loop(
      'outer-step',
      [loop('inner-step', [step('work'), decide('decide-inner')], named('inner')), decide('decide-outer')],
      named('outer'),
    ),
  ],
};
const at = (file: object, stepId: string, artifacts: readonly JsonObject[]) =>
  foundAt(attemptAt(file, { stepId, artifacts }));
const unmet = (loopId: string) => {
  const summary = '<fill: what is done, and what is open>';
  return {
    pointer: { kind: 'output_contract', contractRef },
    suggestedFix: contractFix({ artifactKind: kind }),
    requirement: `loop_control:${loopId}`,
    form: { artifacts: [{ kind, loopId, decision: '<fill: continue | stop>', summary }] },
  };
};
const refused = (loopId: string, rest: string) => ({
  ...unmet(loopId),
  reason: 'contract_violation:invalid_required_output',
  message: `The wr.loop_control artifact was not accepted: ${rest}.`,
});

describe('the step that decides a loop', () => {
  it.each([undefined, 'rounds', 'round', 'no-such-loop'])(
    'the step that decides a loop decides the only loop there is, called %s or not',
    (loopId) => {
      enforces('loop_control_contract_decides', 'loop_control_wrong_id_tolerated');
      for (const decision of ['continue', 'stop']) {
        expect(at(single, 'decide', [decided(decision, loopId)])).toEqual({
          ...NOTHING_FOUND,
          met: ['loop_control:rounds'],
          loopDecision: { loopId: 'rounds', decision },
        });
      }
    },
  );

  it('the step that decides a loop without a decision lacks it, and decides nothing', () => {
    enforces('loop_control_missing_is_not_exit', 'loop_control_contract_decides');
    expect(at(single, 'decide', [])).toEqual({
      ...NOTHING_FOUND,
      unmet: [
        {
          ...unmet('rounds'),
          reason: 'contract_violation:missing_required_output',
          message: 'The required artifact of kind wr.loop_control was not sent.',
        },
      ],
    });
    expect(at(single, 'decide', [decided('maybe')])).toEqual({
      ...NOTHING_FOUND,
      unmet: [
        {
          ...refused('rounds', '/decision is "maybe" (allowed: continue | stop)'),
          form: { artifacts: [decided('<fill: continue | stop>', 'rounds')] },
        },
      ],
    });
  });

  it('the step that decides a loop takes no decision that only a later version of the contract knows', () => {
    enforces('loop_control_contract_decides');
    const open = [{ loopId: loopIdSchema.parse('rounds'), stepId: stepIdSchema.parse('round'), isArtifact: true }];
    expect([decided('stop'), decided('pause')].map((value) => loopObjection(value, open))).toEqual([
      undefined,
      'its decision must be "continue" or "stop"',
    ]);
  });

  it('the step that decides a loop goes by the last decision that can be read', () => {
    const artifacts = [decided('continue'), decided('stop', 'rounds'), decided('perhaps')];
    expect(at(single, 'decide', artifacts).loopDecision).toEqual({ loopId: 'rounds', decision: 'stop' });
  });

  it.each([undefined, 'inner', 'inner-step'])(
    'the step that decides a loop decides its own of several loops, called %s or not',
    (loopId) => {
      enforces('loop_control_contract_decides');
      expect(at(nested, 'decide-inner', [decided('stop', loopId)])).toEqual({
        ...NOTHING_FOUND,
        met: ['loop_control:inner'],
        loopDecision: { loopId: 'inner', decision: 'stop' },
      });
    },
  );

  it('the step that decides a loop cannot decide another loop in its place', () => {
    expect(at(nested, 'decide-inner', [decided('stop', 'outer')])).toEqual({
      ...NOTHING_FOUND,
      unmet: [refused('inner', 'it decides loop "outer", but this step decides loop "inner"')],
    });
    expect(at(nested, 'decide-inner', [decided('stop', 'outer'), decided('continue', 'inner')])).toEqual({
      ...NOTHING_FOUND,
      met: ['loop_control:inner'],
      loopDecision: { loopId: 'inner', decision: 'continue' },
    });
  });

  it('the form for a decision that names another loop and has a wrong word names the loop of the step', () => {
    const corrected = at(nested, 'decide-inner', [{ ...decided('go', 'outer'), summary: 'S' }]).unmet[0]?.form;
    expect(corrected).toEqual({ artifacts: [{ ...decided('<fill: continue | stop>', 'inner'), summary: 'S' }] });
  });

  it('a decision with a wrong name among several open loops gets the names of the open ones', () => {
    enforces('loop_control_wrong_id_tolerated');
    expect(at(nested, 'decide-inner', [decided('stop', 'round')])).toEqual({
      ...NOTHING_FOUND,
      unmet: [refused('inner', 'no open loop is named "round" (open loops: "outer", "inner")')],
    });
    // The outer loop is the only one that is open here, so its name does not matter.
    expect(at(nested, 'decide-outer', [decided('stop', 'round')]).met).toEqual(['loop_control:outer']);
  });
});

describe('a decision on another step', () => {
  it.each<[string | undefined, JsonObject | undefined]>([
    [undefined, { loopId: 'inner', decision: 'stop' }],
    ['outer', { loopId: 'outer', decision: 'stop' }],
    ['outer-step', { loopId: 'outer', decision: 'stop' }],
  ])(
    'a decision on another step is about the loop it names, else the innermost that waits for one: %s',
    (loopId, loopDecision) => {
      expect(at(nested, 'work', [decided('stop', loopId)])).toEqual({ ...NOTHING_FOUND, loopDecision });
    },
  );

  it('a decision on another step with a wrong name is reported, and blocks nothing', () => {
    expect(at(nested, 'work', [decided('stop', 'round')])).toEqual({
      ...NOTHING_FOUND,
      unreadable: [
        {
          artifactKind: kind,
          message: refused('', 'no open loop is named "round" (open loops: "outer", "inner")').message,
        },
      ],
    });
  });

  it('a decision on another step passes by loops that do not wait for one, unless there are no others', () => {
    const body = [loop('each', [decide('decide')], { type: 'for', count: 2 })];
    const inside = { steps: [loop('round', body, named('rounds'))] };
    expect(at(inside, 'decide', [decided('stop')])).toEqual({
      ...NOTHING_FOUND,
      met: [`output_contract:${contractRef}`],
      loopDecision: { loopId: 'rounds', decision: 'stop' },
    });
    const around = { steps: [loop('all', body, { type: 'for', count: 2 })] };
    expect(at(around, 'decide', [decided('stop')]).loopDecision).toEqual({ loopId: 'each', decision: 'stop' });
    expect(at(around, 'decide', [decided('stop', 'nope')]).unmet.map(({ message }) => message)).toEqual([
      'The wr.loop_control artifact was not accepted: no open loop is named "nope" (open loops: "all", "each").',
    ]);
  });

  it('a decision on another step outside of loops decides nothing', () => {
    expect(foundAt(tryStep({ notesOptional: true }, { artifacts: [decided('stop', 'x')] }))).toEqual(NOTHING_FOUND);
  });
});
