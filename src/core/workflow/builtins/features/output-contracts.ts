import { defineFeature } from '../features.ts';

export const outputContracts = defineFeature({
  name: 'output_contracts',
  purpose: 'Tells the agent how to fill in artifacts honestly, on steps that require one.',
  effects: [
    {
      kind: 'step_guidance',
      steps: 'with_contract',
      text: 'Send the artifact as an object in output.artifacts, not as text in the notes, and use the field names as given. Fill it from what you did in this step. If a fact is missing, get it or name the lack in a text field; do not invent a value to pass the check.',
    },
  ],
});
