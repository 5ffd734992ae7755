import * as z from 'zod';
import { anyCase, confidence, defineContract, location, nonEmptyText, SEVERITIES } from './contract.ts';

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
