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

export const investigationReport = defineContract({
  name: 'investigation_report',
  purpose: 'The diagnosis of a fault: its cause, the evidence, and what became of it.',
  lead: 'what broke, why, how that is known, and what was done.',
  fields: () => ({
    symptom: nonEmptyText,
    cause: nonEmptyText.describe('the place and the mechanism, or "not found" and how far you came'),
    confidence: confidence.describe('high only if an experiment switched the fault on and off'),
    evidence: textList(12).describe('each a command with its output, or a place in a file'),
    ruledOut: textList(8),
    outcome: z.enum(['fixed', 'fix_proposed', 'not_fixed']),
    fix: nonEmptyText,
    regressionTest: nonEmptyText.optional().describe('the test that fails without the fix'),
    openPoints: textList(6),
  }),
  example: {
    symptom: '<what was seen, and how to see it again>',
    cause: '<place and mechanism>',
    confidence: 'medium',
    evidence: ['<command and its output, or a place in a file>'],
    ruledOut: ['<explanation: what refuted it>'],
    outcome: 'fix_proposed',
    fix: '<what to change, and why that is enough>',
    openPoints: ['<what is not known>'],
  },
  rendererHint: 'handoff',
});

export const onboardingMap = defineContract({
  name: 'onboarding_map',
  purpose: 'The map of a code base that a newcomer starts from.',
  lead: 'what a newcomer needs on the first day, each line checked against the code.',
  fields: () => ({
    purpose: nonEmptyText,
    mapPath: nonEmptyText,
    run: textList(8).describe('the commands that build, run and test it, in order'),
    areas: z.array(z.strictObject({ path: nonEmptyText, does: nonEmptyText })).max(20),
    conventions: textList(10),
    traps: textList(8),
    firstTasks: textList(5),
    unknown: textList(8),
    confidence,
  }),
  example: {
    purpose: '<what the system does, and for whom>',
    mapPath: '<path of the map, or none>',
    run: ['<command: what it does>'],
    areas: [{ path: '<folder or file>', does: '<what it is responsible for>' }],
    conventions: ['<rule, and a place that shows it>'],
    traps: ['<what a newcomer would get wrong>'],
    firstTasks: ['<a small change to begin with>'],
    unknown: ['<what nobody could answer>'],
    confidence: 'medium',
  },
  rendererHint: 'handoff',
});

export const researchReport = defineContract({
  name: 'research_report',
  purpose: 'The answer to a question, with the claims and sources that it rests on.',
  lead: 'the answer first; every claim names its sources.',
  fields: () => ({
    answer: nonEmptyText,
    confidence: confidence.describe('low if the main claim has no primary source'),
    claims: z
      .array(
        z.strictObject({
          claim: nonEmptyText,
          sources: z.array(nonEmptyText),
          certainty: z.enum(['sure', 'likely', 'open']),
        }),
      )
      .min(1)
      .max(20)
      .describe('sources: the numbers S1, S2, … of the next list; empty if you found none'),
    sources: textList(30),
    against: textList(8).describe('evidence against the answer, or the searches that found none'),
    rejected: textList(8),
    wouldChange: textList(6),
  }),
  example: {
    answer: '<the answer, in a few sentences>',
    confidence: 'medium',
    claims: [{ claim: '<one sentence>', sources: ['<which source, such as S1>'], certainty: 'likely' }],
    sources: ['<S1: title, address or path, date, kind>'],
    against: ['<evidence against it, or the search that found none>'],
    rejected: ['<another answer: why not>'],
    wouldChange: ['<what would change the answer>'],
  },
  rendererHint: 'handoff',
});

export const testPlan = defineContract({
  name: 'test_plan',
  purpose: 'Which failures are tested where, which tests exist, and what is left untested on purpose.',
  lead: 'one entry for each failure, whether or not it gets a test.',
  fields: () => ({
    planPath: nonEmptyText,
    rule: nonEmptyText,
    tests: z
      .array(
        z.strictObject({
          failure: nonEmptyText,
          level: z.enum(['unit', 'integration', 'contract', 'end_to_end', 'monitor', 'type', 'none']),
          asserts: nonEmptyText,
          status: z.enum(['exists', 'written', 'planned', 'left_out']),
        }),
      )
      .min(1)
      .max(40)
      .describe('asserts: what the test checks and its path, or why there is none; level: none only if left out'),
    proof: textList(10).describe('for each written test: the change to the code that made it fail'),
    suite: nonEmptyText,
    untested: textList(10),
  }),
  example: {
    planPath: '<path of the plan or of the tests, or none>',
    rule: '<how a new test finds its place>',
    tests: [
      {
        failure: '<what goes wrong>',
        level: 'unit',
        asserts: '<what the test checks, and its path>',
        status: 'planned',
      },
    ],
    proof: ['<test: the change to the code that made it fail>'],
    suite: '<command, and how long it takes>',
    untested: ['<what stays untested: who accepts that>'],
  },
  rendererHint: 'table',
});

export const incidentReport = defineContract({
  name: 'incident_report',
  purpose: 'What happened in an incident, why, and who does what by when.',
  lead: 'facts with times; actions with owners; no blame.',
  fields: () => ({
    summary: nonEmptyText,
    reportPath: nonEmptyText,
    impact: nonEmptyText,
    timeline: z.array(z.strictObject({ at: nonEmptyText, what: nonEmptyText })).max(30),
    causes: textList(8),
    detection: nonEmptyText,
    actions: z
      .array(
        z.strictObject({
          action: nonEmptyText,
          owner: nonEmptyText,
          due: nonEmptyText,
          kind: z.enum(['prevent', 'detect', 'mitigate', 'learn']),
        }),
      )
      .max(15)
      .describe('owner: a person or team, or "unassigned"; due: a date, or "not agreed"'),
    openQuestions: textList(8),
  }),
  example: {
    summary: '<what happened, for whom, for how long>',
    reportPath: '<path of the report, or none>',
    impact: '<who was affected, with numbers>',
    timeline: [{ at: '<time with zone>', what: '<event, and where that is recorded>' }],
    causes: ['<condition, and its evidence>'],
    detection: '<who noticed, and after how long>',
    actions: [{ action: '<what will be done>', owner: '<person or team>', due: '<date>', kind: 'prevent' }],
    openQuestions: ['<what is not known>'],
  },
  rendererHint: 'handoff',
});

export const performanceReport = defineContract({
  name: 'performance_report',
  purpose: 'What was slow, why, what changed, and what the measurements say before and after.',
  lead: 'numbers with their spread, measured the same way before and after.',
  fields: () => ({
    goal: nonEmptyText,
    verdict: z.enum(['target_met', 'improved', 'unchanged', 'not_measured']),
    confidence,
    measurements: z
      .array(z.strictObject({ name: nonEmptyText, before: nonEmptyText, after: nonEmptyText, runs: nonEmptyText }))
      .min(1)
      .max(12)
      .describe('before and after: value, unit and spread; runs: how many, and the command'),
    cause: nonEmptyText,
    changes: textList(8).describe('each change with what it costs; empty if nothing was changed'),
    guards: textList(6),
    limits: textList(6),
  }),
  example: {
    goal: '<what was slow for whom, and the target>',
    verdict: 'improved',
    confidence: 'medium',
    measurements: [
      {
        name: '<what was measured>',
        before: '<value, unit, spread>',
        after: '<value, unit, spread>',
        runs: '<how many runs, and the command>',
      },
    ],
    cause: '<where the time went, and how that is known>',
    changes: ['<change, and what it costs>'],
    guards: ['<check that notices if it gets slow again>'],
    limits: ['<where these numbers do not hold>'],
  },
  rendererHint: 'table',
});

export const designDecision = defineContract({
  name: 'design_decision',
  purpose: 'The design that was chosen, why the others lost, and what would reopen the choice.',
  lead: 'what somebody needs who builds it, and somebody who asks in two years why.',
  fields: () => ({
    question: nonEmptyText,
    decision: nonEmptyText.describe('what is built, and what decided'),
    documentPath: nonEmptyText,
    confidence: confidence.describe('high only if what decided was tried'),
    options: z
      .array(
        z.strictObject({
          id: nonEmptyText,
          verdict: z.enum(['chosen', 'rejected']),
          reason: nonEmptyText,
          reopenIf: nonEmptyText,
        }),
      )
      .min(1)
      .max(10),
    consequences: textList(8).describe('what it costs, and what undoing it takes'),
    invariants: textList(12).describe('each with what would notice a breach'),
    firstPiece: nonEmptyText,
    untried: textList(8),
  }),
  example: {
    question: '<the question>',
    decision: '<what is built, and the force that decided>',
    documentPath: '<path of the document, or none>',
    confidence: 'medium',
    options: [
      {
        id: '<id and name>',
        verdict: 'rejected',
        reason: '<what decided>',
        reopenIf: '<the fact that would change it>',
      },
    ],
    consequences: ['<price, or what undoing it takes>'],
    invariants: ['<what must stay true: what notices a breach>'],
    firstPiece: '<what can be released alone, and where it begins>',
    untried: ['<claim that nobody tried>'],
  },
  rendererHint: 'verdict',
});
