import * as z from 'zod';
import { anyCase, confidence, defineContract, location, nonEmptyText, SEVERITIES, textList } from './contract.ts';

const finding = z.strictObject({
  severity: anyCase(SEVERITIES),
  location,
  title: nonEmptyText,
  rationale: nonEmptyText,
  suggestion: nonEmptyText,
});

export const findings = defineContract({
  name: 'findings',
  purpose: 'Findings of a review with their locations, and comments ready to post.',
  lead: 'only what you can point to; an empty list is a valid answer.',
  fields: () => ({
    findings: z.array(finding).describe('use line 1 for the whole file; rationale: what goes wrong, and for whom'),
    mrComments: z
      .array(z.strictObject({ location, title: nonEmptyText, body: nonEmptyText }))
      .optional()
      .describe('ready to post'),
  }),
  example: {
    findings: [
      {
        severity: 'major',
        location: { file: '<path of the file>', line: 1 },
        title: '<the finding in a few words>',
        rationale: '<what goes wrong, and for whom>',
        suggestion: '<what to do about it>',
      },
    ],
  },
  rendererHint: 'list',
});

export const reviewVerdict = defineContract({
  name: 'review_verdict',
  purpose: 'The outcome of a review, with the findings that led to it.',
  lead: 'the verdict must follow from the findings, and each finding must have a place you can point to.',
  fields: () => ({
    verdict: z.enum(['clean', 'minor', 'blocking']).describe('blocking if any finding is critical or major'),
    confidence: confidence.describe('low if you could not see everything that matters'),
    findings: z
      .array(z.looseObject({ severity: z.enum(SEVERITIES), summary: nonEmptyText }))
      .describe('empty when clean; add file, line or suggestion where they help'),
    struck: textList(20).optional().describe('findings that proved wrong, each with the reason'),
    summary: nonEmptyText,
  }),
  example: {
    verdict: 'blocking',
    confidence: 'high',
    findings: [
      {
        severity: 'major',
        summary: '<what is wrong, and what it causes>',
        file: '<path of the file>',
        line: 1,
      },
    ],
    summary: '<the reasons for the verdict>',
  },
  rendererHint: 'verdict',
});

const check = z.strictObject({
  name: nonEmptyText,
  command: nonEmptyText.optional(),
  outcome: z.enum(['pass', 'fail', 'skipped']),
  evidence: nonEmptyText.optional(),
});

export const verificationReport = defineContract({
  name: 'verification_report',
  purpose: 'Lists the checks that were run, with outcome and evidence.',
  lead: 'one entry for each check, including failed and skipped ones.',
  fields: () => ({
    checks: z
      .array(check)
      .min(1)
      .describe('evidence: the line of output that shows the outcome, or why it was skipped'),
    summary: nonEmptyText.describe('what the checks prove, and what they do not'),
  }),
  example: {
    checks: [
      {
        name: '<what was checked>',
        command: '<the command>',
        outcome: 'pass',
        evidence: '<the line of output that shows it>',
      },
      { name: '<what was not checked>', outcome: 'skipped', evidence: '<why it was skipped>' },
    ],
    summary: '<what the checks prove, and what they do not>',
  },
  rendererHint: 'table',
});

const changedFile = z.strictObject({ path: nonEmptyText, summary: nonEmptyText, risk: anyCase(['L', 'M', 'H']) });

export const changedFiles = defineContract({
  name: 'changed_files',
  purpose: 'The files of a change, each with what happened to it and how risky that is.',
  lead: 'every file that was changed, added or removed, each once.',
  fields: () => ({
    changedFiles: z
      .array(changedFile)
      .describe('path: from the root of the repository; risk: L (low), M (medium) or H (high)'),
  }),
  example: {
    changedFiles: [
      { path: '<path of a file>', summary: '<what changed in it>', risk: 'M' },
      { path: '<path of the next file>', summary: '<what changed in it>', risk: 'L' },
    ],
  },
  rendererHint: 'table',
});

export const securityReport = defineContract({
  name: 'security_report',
  purpose: 'Weaknesses that an attacker could use, classified, with how to fix each.',
  lead: 'one entry for each finding or struck suspicion; an empty list is a valid answer.',
  fields: () => ({
    findings: z
      .array(
        z.strictObject({
          id: nonEmptyText,
          severity: anyCase(SEVERITIES),
          status: z.enum(['confirmed', 'likely', 'struck']),
          cwe: nonEmptyText,
          owasp: nonEmptyText.optional(),
          cvss: nonEmptyText,
          location,
          attack: nonEmptyText,
          fix: nonEmptyText,
        }),
      )
      .max(40)
      .describe(
        'cwe: such as CWE-89; owasp: such as A03:2021; cvss: vector and score, or "none" if struck; attack: who does what and gains what, or why it was struck',
      ),
    scope: nonEmptyText,
    releaseAdvice: z.enum(['release', 'release_after_fixes', 'do_not_release']),
    reasons: nonEmptyText,
  }),
  example: {
    findings: [
      {
        id: '<id of the finding>',
        severity: 'major',
        status: 'confirmed',
        cwe: '<CWE number and name>',
        owasp: '<category, such as A03:2021>',
        cvss: '<vector and score>',
        location: { file: '<path of the file>', line: 1 },
        attack: '<who does what, and gains what>',
        fix: '<what to change>',
      },
    ],
    scope: '<what was looked at, at which commit, and what was not>',
    releaseAdvice: 'release_after_fixes',
    reasons: '<what decided the advice>',
  },
  rendererHint: 'table',
});

export const releaseDecision = defineContract({
  name: 'release_decision',
  purpose: 'Whether a candidate may be released, with the evidence and the way back.',
  lead: 'go only if no point is blocking and either CI is green for this very commit or the person responsible accepted that it is not.',
  fields: () => ({
    candidate: nonEmptyText,
    decision: z.enum(['go', 'no_go']),
    reasons: nonEmptyText,
    ciEvidence: nonEmptyText.describe('the CI run of this commit and its result, or why there is none'),
    points: z
      .array(
        z.strictObject({ id: nonEmptyText, state: z.enum(['closed', 'accepted', 'blocking']), note: nonEmptyText }),
      )
      .describe('every point; note: what closed it, who accepts it, or why it blocks'),
    rollback: nonEmptyText,
    watch: textList(6),
  }),
  example: {
    candidate: '<version and commit>',
    decision: 'no_go',
    reasons: '<what decided it>',
    ciEvidence: '<CI run of this commit, and its result>',
    points: [{ id: '<id of the point>', state: 'closed', note: '<what closed it, or who accepts it>' }],
    rollback: '<how to go back, and whether that was tried>',
    watch: ['<what to watch, and the value that means trouble>'],
  },
  rendererHint: 'verdict',
});

export const upgradeReport = defineContract({
  name: 'upgrade_report',
  purpose: 'Which dependencies were upgraded, what that changed, and what was left.',
  lead: 'one entry for each dependency that was considered.',
  fields: () => ({
    upgrades: z
      .array(
        z.strictObject({
          name: nonEmptyText,
          from: nonEmptyText,
          to: nonEmptyText,
          outcome: z.enum(['upgraded', 'held_back', 'removed']),
          notes: nonEmptyText,
        }),
      )
      .min(1)
      .describe('notes: breaking changes that touch this code and how they were handled, or why it was held back'),
    advisories: textList(10),
    filesChanged: textList(20),
    followUps: textList(8),
    rollback: nonEmptyText,
  }),
  example: {
    upgrades: [
      {
        name: '<package>',
        from: '<old version>',
        to: '<new version>',
        outcome: 'upgraded',
        notes: '<breaking changes that touch this code>',
      },
    ],
    advisories: ['<advisory: closed or open>'],
    filesChanged: ['<path of a file>'],
    followUps: ['<what waits, and why>'],
    rollback: '<how to go back>',
  },
  rendererHint: 'table',
});

export const pullRequest = defineContract({
  name: 'pull_request',
  purpose: 'The description of a pull request, written for the person who reviews it.',
  lead: 'what a reviewer reads before the diff.',
  fields: () => ({
    title: nonEmptyText.describe('one line, in the style of this project'),
    branch: nonEmptyText,
    base: nonEmptyText,
    body: nonEmptyText.describe('Markdown: why, what changes for users, how to try it, what to look at first'),
    criteria: z
      .array(z.strictObject({ criterion: nonEmptyText, evidence: nonEmptyText }))
      .describe('every criterion with the command, test or place that shows it'),
    risks: textList(6),
    notIncluded: textList(6),
    url: nonEmptyText.optional(),
  }),
  example: {
    title: '<one line>',
    branch: '<branch>',
    base: '<branch it goes into>',
    body: '<Markdown: why, what changes for users, how to try it, what to look at first>',
    criteria: [{ criterion: '<what must be true>', evidence: '<command, test or place that shows it>' }],
    risks: ['<what could go wrong, and how to undo it>'],
    notIncluded: ['<what a reviewer might expect and will not find>'],
  },
  rendererHint: 'handoff',
});

export const refactoringReport = defineContract({
  name: 'refactoring_report',
  purpose: 'What became better about the code, and what shows that its behaviour stayed the same.',
  lead: 'one entry for each behaviour that had to stay, with what shows it.',
  fields: () => ({
    better: nonEmptyText.describe('what was measured, before and after'),
    behaviours: z
      .array(
        z.strictObject({
          id: nonEmptyText,
          state: z.enum(['kept', 'changed_as_agreed', 'changed', 'not_checked']),
          evidence: nonEmptyText,
        }),
      )
      .min(1)
      .max(40)
      .describe('evidence: the test or comparison that shows it'),
    moves: textList(20).describe('each "mechanical" or "needs review"'),
    filesToReview: textList(20),
    oddities: textList(10).describe('odd behaviour and bugs that were kept'),
    openPoints: textList(8),
    rollback: nonEmptyText,
  }),
  example: {
    better: '<what was measured: before and after>',
    behaviours: [{ id: '<id of the behaviour>', state: 'kept', evidence: '<test or comparison that shows it>' }],
    moves: ['<move: mechanical or needs review>'],
    filesToReview: ['<path: what to look at>'],
    oddities: ['<place: what is odd, and why it was kept>'],
    openPoints: ['<what is left>'],
    rollback: '<how to go back>',
  },
  rendererHint: 'table',
});

export const documentationReport = defineContract({
  name: 'documentation_report',
  purpose: 'Which pages were written for whom, what was tried, and what will make them untrue.',
  lead: 'one entry for each question of the reader and for each page.',
  fields: () => ({
    reader: nonEmptyText,
    answers: z
      .array(z.strictObject({ question: nonEmptyText, place: nonEmptyText, tried: nonEmptyText }))
      .min(1)
      .max(20)
      .describe('place: page and heading, or "none" and why; tried: what was run or looked up'),
    pages: z
      .array(
        z.strictObject({
          path: nonEmptyText,
          change: z.enum(['added', 'changed', 'moved', 'removed']),
          outdatedBy: nonEmptyText,
        }),
      )
      .max(30)
      .describe('outdatedBy: the change that makes the page untrue, and what notices it'),
    unconfirmed: textList(10).describe('statements that nobody could try'),
    leftOut: textList(8),
  }),
  example: {
    reader: '<who opens it, and when>',
    answers: [
      { question: '<what the reader asks>', place: '<page and heading>', tried: '<what was run or looked up>' },
    ],
    pages: [{ path: '<path of the page>', change: 'added', outdatedBy: '<change, and what notices it>' }],
    unconfirmed: ['<statement: who could confirm it>'],
    leftOut: ['<subject: why>'],
  },
  rendererHint: 'table',
});

export const workflowReport = defineContract({
  name: 'workflow_report',
  purpose: 'A workflow file for its owner: what it enforces, how it was tried, and where its limits are.',
  lead: 'one entry for each mistake that the workflow should prevent.',
  fields: () => ({
    file: nonEmptyText,
    scenarioFile: nonEmptyText,
    guards: z
      .array(z.strictObject({ mistake: nonEmptyText, enforcedBy: nonEmptyText, scenario: nonEmptyText }))
      .min(1)
      .max(20)
      .describe('enforcedBy: step and rule, or "nothing" and why; scenario: its name, or "none"'),
    paths: textList(8).describe('each path with its number of steps'),
    checks: textList(8).describe('the commands to run after each change'),
    limits: textList(8),
    changeWhen: textList(6),
  }),
  example: {
    file: '<path of the workflow>',
    scenarioFile: '<path of the scenarios, or none>',
    guards: [{ mistake: '<what must not happen>', enforcedBy: '<step and rule>', scenario: '<name of a scenario>' }],
    paths: ['<path: number of steps>'],
    checks: ['<command>'],
    limits: ['<what it cannot enforce>'],
    changeWhen: ['<sign that it has to change>'],
  },
  rendererHint: 'table',
});
