import * as z from 'zod';
import { defineContract } from '../contract.ts';
import { confidence, remarks, text, texts } from '../contract-fields.ts';

export const discoveryHandoff = defineContract({
  name: 'discovery_handoff',
  purpose: 'Hands the direction found by a discovery on to whoever shapes or builds it.',
  lead: 'all that someone who was not there needs to go on.',
  fields: {
    version: z.literal(1),
    selectedDirection: text.describe('what to build, in a sentence or two'),
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
    selectedDirection: 'Keep drafts in the browser and merge them on the server by paragraph.',
    designDocPath: 'docs/drafts-design.md',
    confidenceBand: 'medium',
    keyInvariants: ['A published text is never changed by a draft.', 'A draft survives a crash of the browser.'],
    rejectedDirections: ['Locking the document: people work offline.'],
  },
  rendererHint: 'handoff',
});
