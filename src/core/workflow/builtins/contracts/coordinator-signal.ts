import { defineContract, openArtifactSchema } from '../contract.ts';

export const coordinatorSignal = defineContract({
  name: 'coordinator_signal',
  purpose: 'Tells a coordinator something that the two have agreed on; the content is theirs.',
  lead: 'put what it is about into signalKind and the facts into payload; further fields are allowed.',
  schema: openArtifactSchema('coordinator_signal'),
  example: { signalKind: 'needs_input', payload: { question: '<what you need to know>' } },
  rendererHint: 'plain',
});
