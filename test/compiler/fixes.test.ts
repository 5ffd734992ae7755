import { describe, expect, it } from 'vitest';
import { applyFixes, DIAGNOSTIC_CODES } from '../../src/core/workflow/diagnostics/diagnostic.ts';
import { enforces } from '../enforces.ts';
import { FIX_EXAMPLES } from '../lint/fix-examples.ts';
import { fixedText } from '../lint/fixed-text.ts';
import { isLong, share } from '../volume.ts';
import { OPERATORS } from './author-mistakes.ts';
import { compileText, fixture } from './compile-file.ts';
import type { Json } from './json-leaves.ts';

/** Codes with an automatic fix, at least where what was meant can be guessed. */
const FIXABLE = Object.keys(FIX_EXAMPLES).sort();

const TRIAGE = 'project.templates.routine.triage';

/** One file with a mistake of each kind that can be fixed. */
const BROKEN = {
  id: 'Test.Broken Flow',
  name: 'Bro\u202eken',
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
      notesOptional: 'yes',
    },
    { id: 'second', title: 'T', prompt: 'About {{wr.bindings.prodct}}.', runCondition: { var: 'n', gt: 1, lt: 3 } },
    {
      id: 'third',
      templateCall: { templateId: 'project.templates.routine.traige', args: { subjet: 'y' } },
    },
    { id: 'loop', type: 'loop', loop: { type: 'for', count: 1, items: 'x' }, body: 'secnd' },
    { id: 'fourth', title: 'T', prompt: 'P', runCondition: { kind: 'condition_ref', conditionId: 'Is Shut' } },
  ],
};

describe('fixes', () => {
  it('fixes remove every mistake they are offered for', () => {
    enforces('author_error_offers_fix');
    const seen = new Set<string>();
    let text = JSON.stringify(BROKEN, null, 2);
    for (let round = 0; round < 5; round++) {
      const { diagnostics } = compileText(text);
      const { text: corrected, fixed: made } = applyFixes(text, diagnostics);
      const places = made.map(
        ({ code, pointer, span }) => `${code} ${pointer} ${text.slice(span.offset, span.offset + span.length)}`,
      );
      for (const { code } of made) seen.add(code);
      text = corrected;
      const left = compileText(text).diagnostics.map(
        ({ code, pointer, span }) => `${code} ${pointer} ${text.slice(span.offset, span.offset + span.length)}`,
      );
      expect(left.filter((place) => places.includes(place))).toEqual([]);
    }
    expect([...seen].sort()).toEqual(FIXABLE);
    expect(compileText(text).diagnostics.filter(({ fix }) => fix !== undefined)).toEqual([]);
  });

  it('the fixes of two mistakes never cause a third', () => {
    enforces('author_error_offers_fix');
    const made: string[] = [];
    let cases = 0;
    for (const name of ['design-loops', 'functions']) {
      const firsts = fixableMistakes(JSON.parse(fixture(name)) as Json);
      const alone = new Map(firsts.map(({ operator, text }) => [operator, errorsIn(text)]));
      for (const [i, first] of share([...firsts.entries()])) {
        for (const second of fixableMistakes(JSON.parse(first.text) as Json, firsts.slice(i))) {
          const known = [first, second].flatMap(({ operator }) => alone.get(operator) ?? []);
          const both = [...known, ...errorsIn(second.text), ...SHOWN_ONCE_FOUND];
          const left = errorsLeft(second.text).filter((code) => !both.includes(code));
          if (left.length > 0) made.push(`${name}: ${first.operator} and ${second.operator} end in ${left.join(', ')}`);
          cases += 1;
        }
      }
    }
    expect(made).toEqual([]);
    expect(cases).toBeGreaterThan(isLong ? 500 : 100);
  });

  it('fixes never rename two keys of an object to the same key', () => {
    const step = (args: object) => ({ id: 'third', templateCall: { templateId: TRIAGE, args } });
    const fixed = (args: object) => {
      const file = { id: 'test.twice', name: 'T', description: 'T.', steps: [step(args)] };
      return fixedText(JSON.stringify(file), (text) => compileText(text).diagnostics);
    };
    expect(fixed({ subject: 'x', subjet: 'y' })).toContain('{"subject":"x","subjet":"y"}');
    expect(fixed({ subjet: 'x', subjetc: 'y' })).toContain('{"subject":"x","subjetc":"y"}');
  });

  it('fixes exist for exactly these codes', () => {
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

/** Operators add steps of one id, calls without arguments and references; that these do not fit shows once they are found. */
const SHOWN_ONCE_FOUND = ['duplicate_id', 'missing_argument', 'loop_control_misplaced'];

/** Each way to go wrong that a fix is offered for, at the first place where a document has it. */
function fixableMistakes(document: Json, among: readonly { readonly operator: string }[] = []) {
  const isWanted = (name: string) => among.length === 0 || among.some(({ operator }) => operator === name);
  return OPERATORS.filter(({ name }) => isWanted(name)).flatMap(({ name, mistakes }) =>
    mistakes(document)
      .filter(({ hasFix }) => hasFix === true)
      .slice(0, 1)
      .map(({ text }) => ({ operator: name, text })),
  );
}

function errorsLeft(text: string): readonly string[] {
  return errorsIn(fixedText(text, (one) => compileText(one).diagnostics));
}

function errorsIn(text: string): readonly string[] {
  return compileText(text).diagnostics.flatMap(({ severity, code }) => (severity === 'error' ? [code] : []));
}
