import * as z from 'zod';
import { confidence, defineContract, openArtifactSchema, remarks, text, texts } from './contract.ts';

export const codingHandoff = defineContract({
  name: 'coding_handoff',
  purpose: 'Hands finished code on to whoever reviews or maintains it.',
  lead: 'what a reviewer cannot see from the diff alone.',
  fields: {
    version: z.literal(1),
    keyDecisions: texts(8).describe('each with its reason'),
    knownLimitations: texts(6).describe('what does not work yet'),
    testsAdded: texts(10),
    filesChanged: texts(20).describe('the most important ones first'),
    branchName: text.optional(),
    correctedAssumptions: remarks.optional().describe('what turned out different from the plan'),
  },
  example: {
    version: 1,
    keyDecisions: ['<what was decided, and why>'],
    knownLimitations: ['<what does not work yet>'],
    testsAdded: ['<test file: what it shows>'],
    filesChanged: ['<path of a file>', '<path of the next>'],
    branchName: '<name of the branch>',
  },
  rendererHint: 'handoff',
});

export const shapingHandoff = defineContract({
  name: 'shaping_handoff',
  purpose: 'Hands a shaped piece of work on to whoever builds it.',
  lead: 'what to build, how much it is worth, and where to stop.',
  fields: {
    version: z.literal(1),
    pitchPath: text.describe('where the pitch is written, or "none"'),
    selectedShape: text,
    appetite: text.describe('the effort it is worth, such as "two days"'),
    keyConstraints: texts(8),
    rabbitHoles: texts(6).describe('where time could be lost'),
    outOfScope: texts(6),
    validationChecklist: texts(10).describe('what shows that it is done'),
  },
  example: {
    version: 1,
    pitchPath: '<path of the pitch, or none>',
    selectedShape: '<what to build>',
    appetite: '<the effort it is worth>',
    keyConstraints: ['<what it must keep to>'],
    rabbitHoles: ['<where time could be lost>'],
    outOfScope: ['<what is left out>'],
    validationChecklist: ['<what shows that it is done>'],
  },
  rendererHint: 'handoff',
});

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
