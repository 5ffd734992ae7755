import { describe, expect, it } from 'vitest';
import { applyFixes, collectDiagnostics, sourcePosition } from '../diagnostics/diagnostic.ts';
import { parseSource } from './parse-source.ts';
import { nodeAt, plainValue } from './source-node.ts';

function parsed(text: string) {
  const diagnostics = collectDiagnostics();
  const root = parseSource(text, diagnostics)._unsafeUnwrap();
  return { root, diagnostics: diagnostics.all() };
}

describe('a parsed file', () => {
  it('a parsed file has the values of its JSON, each with its span and pointer', () => {
    const text = '{"a": [1, {"b/c": null}, true], "d~": "ü\\n"}';
    const { root } = parsed(text);
    expect(plainValue(root)).toEqual(JSON.parse(text));
    const inner = nodeAt(root, '/a/1/b~1c');
    expect(inner.pointer).toBe('/a/1/b~1c');
    expect(text.slice(inner.span.offset, inner.span.offset + inner.span.length)).toBe('null');
    expect(nodeAt(root, '/d~0').kind).toBe('string');
  });

  it('a pointer that leads nowhere gives the nearest value above it', () => {
    const { root } = parsed('{"a": {"b": 1}}');
    expect(nodeAt(root, '/a/x/y').pointer).toBe('/a');
    expect(nodeAt(root, '/nothing').pointer).toBe('');
  });

  it('a key that is written twice is reported, and the later value is kept', () => {
    const { root, diagnostics } = parsed('{"a": 1, "b": 2, "a": 3}');
    expect(diagnostics).toMatchObject([{ code: 'duplicate_key', pointer: '/a', span: { offset: 17, length: 3 } }]);
    expect(plainValue(root)).toEqual({ a: 3, b: 2 });
  });

  it('a comma after the last value is accepted with a warning, and the fix removes it', () => {
    const text = '{"a": [1, 2,], "b,]": {"c": ",}" , \n },}';
    const { root, diagnostics } = parsed(text);
    expect(plainValue(root)).toEqual({ a: [1, 2], 'b,]': { c: ',}' } });
    expect(diagnostics.map(({ code, severity, span }) => [code, severity, span.offset])).toEqual(
      [11, 33, 38].map((offset) => ['trailing_comma', 'warning', offset]),
    );
    expect(JSON.parse(applyFixes(text, diagnostics).text)).toEqual(plainValue(root));
    for (const broken of ['[,]', '{,}', '[1,,]', '{"a":1,,}', '[1,', '{"a":,}']) {
      expect(parseSource(broken, collectDiagnostics())._unsafeUnwrapErr().code, broken).toBe('not_json');
    }
  });

  it('a key with invisible characters gets a fix without them', () => {
    const { diagnostics } = parsed('{"na\u200bme": 1}');
    expect(diagnostics[0]?.fix?.edits).toEqual([{ offset: 1, length: 7, text: '"name"' }]);
  });

  it('a text with characters that cannot be seen is refused at its place, and the fix removes them', () => {
    const { diagnostics } = parsed(
      '{"steps": [{"prompt": "Do it.\u200b\u{e0041} \\u202ethen\\r\\n\u{1f469}\u200d\u{1f4bb}"}]}',
    );
    expect(diagnostics).toMatchObject([
      {
        code: 'hidden_character',
        severity: 'error',
        pointer: '/steps/0/prompt',
        message:
          'This text contains characters that cannot be seen or that change the direction of text: [U+200B], [U+E0041], [U+202E]. Remove them.',
        fix: { edits: [{ text: '"Do it. then\\n\u{1f469}\u200d\u{1f4bb}"' }] },
      },
    ]);
  });

  it.each([
    ['', 'The file is empty.', 0],
    ['{"a": 1,,}', 'This is not JSON: a key in double quotes is expected near ",}".', 8],
    ['{"a": 1', 'This is not JSON: a closing brace } is missing at the end.', 7],
    ['[1', 'This is not JSON: a closing bracket ] is missing at the end.', 2],
    ['{a: 1}', 'This is not JSON near "a: 1}". Put the key in double quotes.', 1],
    ["{'a': 1}", 'This is not JSON near "\'a\': 1}". Use double quotes.', 1],
    ['{"a": True}', 'This is not JSON near "True}". Write true, false or null in lower case.', 6],
    ['{"a": 1 "b": 2}', 'This is not JSON: a comma is missing near "\\"b\\": 2}".', 8],
    ['{"a" 1}', 'This is not JSON: a colon is missing near "1}".', 5],
    [
      '{"a": "x\ny"}',
      'This is not JSON: the text does not end on its line, near "\\"x\\ny\\"}". Write a line break as \\n, and a quotation mark inside a text as \\".',
      6,
    ],
    ['{"a": "x"y"}', 'This is not JSON near "y\\"}". Write a quotation mark inside a text as \\".', 9],
    [
      '{"a": 1 // b\n}',
      'This is not JSON: comments are not allowed near "// b\\n}". Remove the comment, or put it into a key such as "$comment".',
      8,
    ],
    ['{} {}', 'This is not JSON: the file should end here, near "{}". Remove what follows.', 3],
    ['{"a": "\\x"}', 'This is not JSON: an invalid backslash, near "\\"\\\\x\\"}". Write a backslash as \\\\.', 6],
  ])('the text %j is not read, and the place of the mistake is reported', (text, message, offset) => {
    const refusal = parseSource(text, collectDiagnostics())._unsafeUnwrapErr();
    expect({ message: refusal.message, offset: refusal.span.offset }).toEqual({ message, offset });
  });
});

describe('line and column', () => {
  it('line and column are counted from one', () => {
    const text = 'a\nbc\r\n\nd';
    expect([0, 1, 2, 4, 7, 8].map((offset) => sourcePosition(text, { offset, length: 0 }))).toEqual([
      { line: 1, column: 1 },
      { line: 1, column: 2 },
      { line: 2, column: 1 },
      { line: 2, column: 3 },
      { line: 4, column: 1 },
      { line: 4, column: 2 },
    ]);
  });
});
