import { parse } from 'jsonc-parser';
import { describe, expect, it } from 'vitest';
import { enforces } from '../../../../test/enforces.ts';
import type { Edited } from './entry-editor.ts';
import { jsonEditor } from './json-editor.ts';

const place = { key: 'mcpServers', name: 'workrail' };
const entry = { command: 'workrail', args: ['serve'] };

const put = (text: string) => textOf(jsonEditor.put(text, place, entry));

describe('an entry is put into JSON', () => {
  it('a JSON entry is added after the last one without moving its comment or reformatting', () => {
    enforces('init_edits_in_place');
    const before = [
      '{',
      '  // mine',
      '  "mcpServers": {',
      '    "one": {"command": "a"}, // first',
      '    "two": {"command":   "b"} // second',
      '    /* the end */',
      '  },',
      '  "theme": "dark",',
      '}',
      '',
    ].join('\n');
    const after = put(before);
    expect(after.split('\n')).toEqual([
      '{',
      '  // mine',
      '  "mcpServers": {',
      '    "one": {"command": "a"}, // first',
      '    "two": {"command":   "b"}, // second',
      '    "workrail": {',
      '      "command": "workrail",',
      '      "args": [',
      '        "serve"',
      '      ]',
      '    }',
      '    /* the end */',
      '  },',
      '  "theme": "dark",',
      '}',
      '',
    ]);
  });

  it.each([
    ['nothing at all', ''],
    ['an empty object', '{}'],
    ['an empty object with a line', '{\n}\n'],
    ['a comment only', '{\n  // nothing yet\n}\n'],
    ['a comma too many', '{\n  "a": 1, // hi\n}\n'],
    ['servers that are empty', '{\n\t"mcpServers": {}\n}'],
    ['servers on one line', '{\n  "mcpServers": { "a": { "b": 1 } }\n}\n'],
    ['servers on one line with a comma too many', '{\n  "mcpServers": { "a": 1, } // x\n}\n'],
    ['one line', '{"a":1,"mcpServers":{"b":{}}}'],
    ['one line with empty servers', '{"mcpServers":{}}\n'],
    ['one line without servers', '{ "a": 1 }'],
    ['line ends of Windows', '{\r\n  "mcpServers": {\r\n    "a": 1\r\n  }\r\n}\r\n'],
    ['a mark in front', '\uFEFF{\n  "a": 1\n}\n'],
  ])('a JSON entry is added to a file that holds %s without changing the rest', (_, before) => {
    const after = put(before);
    const meant = (text: string) => parse(text.replace('\uFEFF', '') || '{}', [], { allowTrailingComma: true });
    const old = meant(before);
    expect(meant(after)).toEqual({ ...old, mcpServers: { ...old.mcpServers, workrail: entry } });
    expect(after.startsWith('\uFEFF')).toBe(before.startsWith('\uFEFF'));
    expect(/[^\r]\n/.test(after)).toBe(!before.includes('\r\n') && after.includes('\n'));
    for (const comment of before.match(/\/\/ .*/g) ?? []) expect(after).toContain(comment);
    expect(put(after)).toBe(after);
    expect(jsonEditor.find(textOf(jsonEditor.remove(after, place)), place)).toEqual({ entry: undefined });
  });

  it('a broken JSON file is refused with the line', () => {
    enforces('init_leaves_foreign_content');
    const broken = (text: string) => jsonEditor.put(text, place, entry);
    expect(broken('{\n  "a": 1\n  "b": 2\n}')).toEqual({
      trouble: { line: 3, problem: 'not valid JSON (comma expected)' },
    });
    expect(broken('[]')).toEqual({ trouble: { line: 1, problem: 'expected an object' } });
    expect(broken('{\n "mcpServers": []}')).toEqual({ trouble: { line: 2, problem: '"mcpServers" is not an object' } });
    expect(broken('{\n "mcpServers": {},\n "mcpServers": {}}')).toEqual({
      trouble: { line: 3, problem: 'duplicate key "mcpServers"' },
    });
    expect(broken('{"mcpServers": {\n "workrail": {},\n "workrail": {}}}')).toEqual({
      trouble: { line: 3, problem: 'duplicate key "workrail"' },
    });
  });

  it('a JSON entry is replaced without changing anything around it', () => {
    const before = '{\n  "mcpServers": {\n    "workrail": {"command": "old"}, // mine\n    "b": 1\n  }\n}\n';
    expect(put(before)).toBe(
      '{\n  "mcpServers": {\n    "workrail": {\n      "command": "workrail",\n      "args": [\n        "serve"\n      ]\n    }, // mine\n    "b": 1\n  }\n}\n',
    );
  });
});

function textOf(edited: Edited): string {
  return 'text' in edited ? edited.text : expect.fail(edited.trouble.problem);
}
