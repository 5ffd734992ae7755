import * as z from 'zod';
import { defineContract } from '../contract.ts';
import { confidence, remarks, text, texts } from '../contract-fields.ts';

export const discoveryHandoff = defineContract({
  name: 'discovery_handoff',
  purpose: 'Hands the direction found by a discovery on to whoever shapes or builds it.',
  lead: 'all that someone who was not there needs to go on.',
  fields: {
    version: z.literal(1),
    selectedDirection: text.describe('what to do now, in a sentence or two'),
    designDocPath: text.describe('where the reasoning is written, or "none"'),
    confidenceBand: confidence,
    keyInvariants: texts(12).describe('what must stay true'),
    rejectedDirections: remarks.optional(),
    implementationConstraints: remarks.optional(),
    keyCodebaseLocations: remarks.optional(),
    selectionTier: text.optional(),
  },
  example: {
    version: 1,
    selectedDirection: '<what to do now>',
    designDocPath: '<path of the document, or none>',
    confidenceBand: 'medium',
    keyInvariants: ['<what must stay true>', '<what else must>'],
    rejectedDirections: ['<another direction: why not>'],
  },
  rendererHint: 'handoff',
});
