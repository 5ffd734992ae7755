import * as z from 'zod';
import { confidence, defineContract, nonEmptyText, openArtifactSchema, remarks, textList } from './contract.ts';

export const codingHandoff = defineContract({
  name: 'coding_handoff',
  purpose: 'Hands finished code to the people who review or maintain it.',
  lead: 'what a reviewer cannot see from the diff alone.',
  fields: () => ({
    version: z.literal(1),
    keyDecisions: textList(8).describe('each with its reason'),
    knownLimitations: textList(6).describe('what does not work yet'),
    testsAdded: textList(10),
    filesChanged: textList(20).describe('the most important ones first'),
    branchName: nonEmptyText.optional(),
    correctedAssumptions: remarks.optional().describe('what turned out different from the plan'),
  }),
  example: {
    version: 1,
    keyDecisions: ['<what was decided, and why>'],
    knownLimitations: ['<what does not work yet>'],
    testsAdded: ['<test file: what it shows>'],
    filesChanged: ['<path of a file>', '<path of the next file>'],
    branchName: '<name of the branch>',
  },
  rendererHint: 'handoff',
});

export const shapingHandoff = defineContract({
  name: 'shaping_handoff',
  purpose: 'Hands a shaped piece of work to the people who build it.',
  lead: 'what to build, how much it is worth, and where to stop.',
  fields: () => ({
    version: z.literal(1),
    pitchPath: nonEmptyText.describe('where the pitch is written, or "none"'),
    selectedShape: nonEmptyText,
    appetite: nonEmptyText.describe('the effort it is worth, such as "two days"'),
    keyConstraints: textList(8),
    rabbitHoles: textList(6).describe('where time could be lost'),
    outOfScope: textList(6),
    validationChecklist: textList(10).describe('what shows that it is done'),
  }),
  example: {
    version: 1,
    pitchPath: '<path of the pitch, or none>',
    selectedShape: '<what to build>',
    appetite: '<the effort it is worth>',
    keyConstraints: ['<what it must respect>'],
    rabbitHoles: ['<where time could be lost>'],
    outOfScope: ['<what is left out>'],
    validationChecklist: ['<what shows that it is done>'],
  },
  rendererHint: 'handoff',
});

export const discoveryHandoff = defineContract({
  name: 'discovery_handoff',
  purpose: 'Hands the direction that a discovery found to the people who shape or build it.',
  lead: 'everything a newcomer needs in order to continue the work.',
  fields: () => ({
    version: z.literal(1),
    selectedDirection: nonEmptyText.describe('the result, in a few sentences'),
    designDocPath: nonEmptyText.describe('where the reasoning is written, or "none"'),
    confidenceBand: confidence,
    keyInvariants: textList(12).describe('what is certain or must stay true'),
    rejectedDirections: remarks.optional(),
    implementationConstraints: remarks.optional(),
    keyCodebaseLocations: remarks.optional(),
    selectionTier: nonEmptyText.optional(),
  }),
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

export const differentiationHandoff = defineContract({
  name: 'differentiation_handoff',
  purpose: 'Says how a product or idea differs from others; the fields are free.',
  lead: 'name the fields after what they contain, and give the evidence for each claim.',
  schema: () => openArtifactSchema('differentiation_handoff'),
  example: {
    position: '<how it differs>',
    evidence: ['<the evidence for that claim>'],
  },
  rendererHint: 'handoff',
});
