import { describe, expect, it } from 'vitest';
import { catalogOf, fileWith, listeningTools, workflowText } from '../../../test/catalog/catalog-of.ts';
import { usedSlots } from './used-slots.ts';

const slot = (slotId: string) => ({ slotId, purpose: 'How to do it.', default: 'make' });
const call = (name: string) => ({
  id: `call-${name}`,
  type: 'template_call',
  templateId: `team.templates.routine.${name}`,
  args: {},
});
const loop = { id: 'again', type: 'loop', maxIterations: 2, while: { kind: 'always_true' } };

const files = [
  fileWith(workflowText('team.x', { steps: [{ ...loop, body: [call('outer')] }] }), { ref: 'x.json' }),
  fileWith(workflowText('team.outer', { steps: [call('inner')] }), { ref: 'routines/outer.json' }),
  fileWith(workflowText('team.inner', { extensionPoints: [slot('build')] }), { ref: 'routines/inner.json' }),
  fileWith(workflowText('team.other', { extensionPoints: [slot('lint')] }), { ref: 'routines/other.json' }),
];

describe('the slots that a workflow depends on', () => {
  it('are its own and those of the routines it calls, through other routines and loops too', async () => {
    const { workflows } = await catalogOf(files);
    expect(workflows.map(({ id, origin }) => [id, origin.slotIds])).toEqual([
      ['team.x', ['build']],
      ['team.inner', ['build']],
      ['team.other', ['lint']],
      ['team.outer', ['build']],
    ]);
  });

  it('are found where routines call each other, or one that does not exist', async () => {
    const tools = listeningTools();
    const round = workflowText('team.round', { extensionPoints: [slot('test')], steps: [call('round'), call('none')] });
    await catalogOf([fileWith(round, { ref: 'routines/round.json' })], { tools });
    const templates = tools.inputs[0]?.templates ?? new Map();
    expect([...templates.values()].map((template) => usedSlots(template, templates))).toEqual([['test']]);
  });
});
