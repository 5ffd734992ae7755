import { describe, expect, it } from 'vitest';
import { enforces } from '../../../../test/enforces.ts';
import { openReader, readWorkflow } from '../format/read-workflow.ts';
import { parseSource } from '../source/parse-source.ts';
import { applyFixes, collectDiagnostics, type Diagnostic, type Edit, sourcePosition } from './diagnostic.ts';

describe('the position of a span', () => {
  it.each([
    ['', 0, { line: 1, column: 1 }],
    ['{"a":1}', 1, { line: 1, column: 2 }],
    ['{\n  "a": 1\n}', 4, { line: 2, column: 3 }],
    ['{\r\n  "a": 1\r\n}', 5, { line: 2, column: 3 }],
    ['{\n\n}', 1, { line: 1, column: 2 }],
    ['{\n\n}', 2, { line: 2, column: 1 }],
    ['{\n\n}', 3, { line: 3, column: 1 }],
    ['{"😀é": x', 7, { line: 1, column: 7 }],
    ['a\n', 2, { line: 2, column: 1 }],
  ])('in %j at %i is %j', (text, offset, position) => {
    expect(sourcePosition(text, { offset, length: 1 })).toEqual(position);
  });
});

function problem(...edits: readonly Edit[]): Diagnostic {
  return {
    code: 'unknown_key',
    severity: 'warning',
    pointer: '',
    span: { offset: 0, length: 0 },
    message: 'wrong',
    ...(edits.length === 0 ? {} : { fix: { title: 'fix', edits } }),
  };
}

function diagnosticsOf(text: string): readonly Diagnostic[] {
  const diagnostics = collectDiagnostics();
  readWorkflow(openReader(diagnostics, parseSource(text, diagnostics)._unsafeUnwrap()));
  return diagnostics.all();
}

describe('applying fixes', () => {
  it('applying fixes makes every edit at its place, in any order', () => {
    const late = problem({ offset: 4, length: 1, text: 'FIVE' });
    const early = problem({ offset: 0, length: 1, text: '' });
    const split = problem({ offset: 2, length: 0, text: '<' }, { offset: 6, length: 0, text: '>' });
    expect(applyFixes('abcdefg', [late, early, split, problem()])).toEqual({
      text: 'b<cdFIVEf>g',
      fixed: [late, early, split],
    });
  });

  it('applying fixes leaves overlapping fixes for the next round and never applies half of one', () => {
    const first = problem({ offset: 2, length: 2, text: 'X' });
    const overlapping = problem({ offset: 3, length: 2, text: 'Y' });
    const halfApart = problem({ offset: 6, length: 1, text: 'Z' }, { offset: 2, length: 0, text: 'Z' });
    const adjacent = problem({ offset: 4, length: 0, text: 'W' });
    expect(applyFixes('abcdefg', [first, overlapping, halfApart, adjacent])).toEqual({
      text: 'abXefg',
      fixed: [first],
    });
  });

  it('applying fixes repeatedly repairs everything that has a fix', () => {
    enforces('author_error_offers_fix');
    const text = `{
  "id": "Project.My Flow",
  "name": "Fixed",
  "descripton": "Shows what a machine can fix.",
  "capabilities": { "delegation": "requred" },
  "conditions": [{ "id": "Is Large", "kind": "context", "var": "size", "equal": "large" }],
  "steps": [
    { "id": "First Step", "title": "One", "promt": "Do it." },
    {
      "id": "again",
      "type": "lop",
      "title": "Again",
      "loop": { "type": "while", "condition": { "var": "more", "equalz": true } },
      "body": [{ "id": "inner", "title": "Inner", "prompt": "Do it again." }]
    }
  ]
}`;
    let fixed = text;
    for (let round = 0; round < 5; round++) fixed = applyFixes(fixed, diagnosticsOf(fixed)).text;
    expect(JSON.parse(fixed)).toEqual({
      id: 'project.my_flow',
      name: 'Fixed',
      description: 'Shows what a machine can fix.',
      capabilities: { delegation: 'required' },
      conditions: [{ id: 'is-large', kind: 'context', var: 'size', equals: 'large' }],
      steps: [
        { id: 'first-step', title: 'One', prompt: 'Do it.' },
        {
          id: 'again',
          type: 'loop',
          title: 'Again',
          loop: { maxIterations: 10, type: 'while', condition: { var: 'more', equals: true } },
          body: [{ id: 'inner', title: 'Inner', prompt: 'Do it again.' }],
        },
      ],
    });
    expect(diagnosticsOf(fixed).filter(({ fix }) => fix !== undefined)).toEqual([]);
  });
});
