import { defineContract, openArtifactSchema } from '../contract.ts';

export const differentiationHandoff = defineContract({
  name: 'differentiation_handoff',
  purpose: 'Hands on how a product or idea is set apart from others; the fields are free.',
  lead: 'name the fields after what they hold, and say for each claim what it rests on.',
  schema: openArtifactSchema('differentiation_handoff'),
  example: {
    position: '<what sets it apart>',
    evidence: ['<what that claim rests on>'],
  },
  rendererHint: 'handoff',
});
