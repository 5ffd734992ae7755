import { describe, expect, it } from 'vitest';
import { applyFixes } from '../../src/core/workflow/diagnostics/apply-fixes.ts';
import { DIAGNOSTIC_CODES } from '../../src/core/workflow/diagnostics/diagnostic.ts';
import { enforces } from '../enforces.ts';
import { FIX_EXAMPLES } from '../lint/fix-examples.ts';
import { OPERATORS } from './author-mistakes.ts';
import { compileText, fixture } from './compile-file.ts';
import type { Json } from './json-leaves.ts';

/** Codes for which a machine can mend the file, at least where it can guess what was meant. */
const FIXABLE = Object.keys(FIX_EXAMPLES).sort();

/** One file with a mistake of each kind that can be mended. */
const BROKEN = {
  id: 'Test.Broken Flow',
  name: 'Broken',
  descripton: 'Everything is a little wrong.',
  'na\u200bmes': 1,
  version: 'v1',
  features: ['wr.features.mode_guidence'],
  conditions: [
    { id: 'is_open', kind: 'context', var: 'n', equls: 1 },
    { id: 'Is Shut', kind: 'context', not: { kind: 'condition_ref', conditionId: 'is_open' } },
  ],
  assessments: [
    { id: 'quality', purpose: 'P.', dimensions: [{ id: 'd', purpose: 'P.', levels: ['shallow', 'deep'] }] },
  ],
  functionDefinitions: [{ name: 'summary', definition: 'D.', scope: 'step' }],
  extensionPoints: [
    { slotId: 'product', purpose: 'P.', default: 'it' },
    { slotId: 'review', purpose: 'P.', default: 'project.templates.routine.traige', acceptedKinds: ['routine'] },
  ],
  recommendedPreferences: { recommendedAutonomy: 'guidet' },
  steps: [
    {
      id: 'First Step',
      title: 'T\ud800',
      promptBlocks: { goal: [{ kind: 'ref', refId: 'wr.refs.memory_usge' }] },
      runCondition: { kind: 'condition_ref', conditionId: 'is_opne' },
      outputContract: { contractRef: 'wr.contracts.finding' },
      assessmentRefs: ['qualty', 'quality'],
      assessmentConsequences: [
        { when: { anyEqualsLevel: 'shalow' }, effect: { kind: 'require_followup', guidance: 'G.' } },
      ],
      functionReferences: ['sumary()'],
    },
    { id: 'second', title: 'T', prompt: 'About {{wr.bindings.prodct}}.', runCondition: { var: 'n', gt: 1, lt: 3 } },
    {
      id: 'third',
      templateCall: { templateId: 'project.templates.routine.traige', args: { subject: 'x', subjet: 'y' } },
    },
    { id: 'loop', type: 'loop', loop: { type: 'for', count: 1, items: 'x' }, body: 'secnd' },
    { id: 'fourth', title: 'T', prompt: 'P', runCondition: { kind: 'condition_ref', conditionId: 'Is Shut' } },
  ],
};

describe('fixes', () => {
  it('mend every mistake they are offered for', () => {
    enforces('author_error_offers_fix');
    const seen = new Set<string>();
    let text = JSON.stringify(BROKEN, null, 2);
    for (let round = 0; round < 5; round++) {
      const { diagnostics } = compileText(text);
      const { text: mended, mended: made } = applyFixes(text, diagnostics);
      const places = made.map(
        ({ code, pointer, span }) => `${code} ${pointer} ${text.slice(span.offset, span.offset + span.length)}`,
      );
      for (const { code } of made) seen.add(code);
      text = mended;
      const left = compileText(text).diagnostics.map(
        ({ code, pointer, span }) => `${code} ${pointer} ${text.slice(span.offset, span.offset + span.length)}`,
      );
      expect(left.filter((place) => places.includes(place))).toEqual([]);
    }
    expect([...seen].sort()).toEqual(FIXABLE);
    expect(compileText(text).diagnostics.filter(({ fix }) => fix !== undefined)).toEqual([]);
  });

  it('exist for just these codes', () => {
    const offered = new Set<string>();
    for (const name of ['assessments', 'design-loops', 'functions']) {
      const document = JSON.parse(fixture(name)) as Json;
      for (const mistake of OPERATORS.flatMap(({ mistakes }) => mistakes(document).slice(0, 1))) {
        for (const { code, fix } of compileText(mistake.text).diagnostics) if (fix) offered.add(code);
      }
    }
    expect([...offered].filter((code) => !FIXABLE.includes(code))).toEqual([]);
    expect(FIXABLE.filter((code) => !(DIAGNOSTIC_CODES as readonly string[]).includes(code))).toEqual([]);
  });
});
