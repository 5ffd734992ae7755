import { defineContract, openArtifactSchema } from '../contract.ts';

export const differentiationHandoff = defineContract({
  name: 'differentiation_handoff',
  purpose: 'Hands on how a product or idea is set apart from others; the fields are free.',
  lead: 'name the fields after what they hold, and say for each claim what it rests on.',
  schema: openArtifactSchema('differentiation_handoff'),
  example: {
    position: 'The only editor of its kind that works without a network.',
    evidence: ['Five others were tried in flight mode; none could save.'],
  },
  rendererHint: 'handoff',
});
