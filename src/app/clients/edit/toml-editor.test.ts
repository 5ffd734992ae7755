import { expect, it } from 'vitest';
import { enforces } from '../../../../test/enforces.ts';
import { parseToml } from '../../../adapters/clients/user-files.ts';
import type { Edited } from './entry-editor.ts';
import { tomlEditor as editorWith } from './toml-editor.ts';

const tomlEditor = editorWith(parseToml);

const place = { key: 'mcp_servers', name: 'workrail' };
const entry = { command: 'C:\\node "x"', args: ['serve'], env: { A: 'b' } };

it('a TOML table is appended without changing a byte before it', () => {
  enforces('init_edits_in_place');
  const before = '# mine\nmodel = "o"  # kept\n\n[mcp_servers.other]\ncommand = "x"\n';
  const after = textOf(tomlEditor.put(before, place, entry));
  expect(after).toBe(
    `${before}\n[mcp_servers.workrail]\ncommand = "C:\\\\node \\"x\\""\nargs = ["serve"]\n\n[mcp_servers.workrail.env]\nA = "b"\n`,
  );
  expect(tomlEditor.find(after, place)).toEqual({ entry });
});

it('a TOML table is removed with its inner tables and nothing else', () => {
  const before =
    'a = 1\n[mcp_servers."workrail"]\ncommand = "old"\n[ mcp_servers.workrail.env ]\nB = "c"\n[mcp_servers.workrail2]\ncommand = "y"\n';
  const after = textOf(tomlEditor.remove(before, place));
  expect(after).toBe('a = 1\n[mcp_servers.workrail2]\ncommand = "y"\n');
  expect(tomlEditor.find(textOf(tomlEditor.put(before, place, entry)), place)).toEqual({ entry });
});

it('comments, empty lines and order stay when a TOML table is replaced or removed', () => {
  enforces('init_edits_in_place');
  const [head, tail] = ['# before us\n', '\n# keep me: about profiles\n[profiles.a]\nx = 1\n\n# the end\n'];
  const before = `${head}[mcp_servers.workrail]\ncommand = "old"\n# ours\nargs = []\n${tail}`;
  const after = textOf(tomlEditor.put(before, place, { command: 'new' }));
  expect(after).toBe(`${head}[mcp_servers.workrail]\ncommand = "new"\n${tail}`);
  expect(textOf(tomlEditor.remove(after, place))).toBe(`${head}${tail}`);
  const last = `${tail}[mcp_servers.workrail]\ncommand = "old"\n# my last word\n`;
  expect(textOf(tomlEditor.remove(last, place))).toBe(`${tail}# my last word\n`);
});

it('an inline TOML entry or a list entry is refused with its line', () => {
  enforces('init_leaves_foreign_content');
  const list = { trouble: { line: 2, problem: '"mcp_servers" is not a table' } };
  const listed = '# mcp_servers\n[[mcp_servers]]\nname = "x"\n';
  expect([tomlEditor.find(listed, place), tomlEditor.put(listed, place, entry)]).toEqual([list, list]);
  const problem = '"workrail" is not written as a separate table. Change it by hand';
  for (const [text, line] of [
    ['# mcp_servers\nmcp_servers = { workrail = { command = "y" } }\n', 2],
    ['[mcp_servers]\nworkrail.command = "y"\n', 2],
    ['[a]\nworkrail = 1\n[mcp_servers]\nworkrail = { command = "y" }\n', 4],
    ['\nmcp_servers.workrail.command = "y"\n', 2],
    ['[[mcp_servers.workrail]]\ncommand = "y"\n', 1],
  ] as const) {
    expect(tomlEditor.put(text, place, entry), text).toEqual({ trouble: { line, problem } });
    expect(tomlEditor.remove(text, place), text).toEqual({ trouble: { line, problem } });
  }
});

it('a broken TOML file, or one that cannot be extended, is refused with its line', () => {
  enforces('init_leaves_foreign_content');
  expect(tomlEditor.put('a = 1\nb =\n', place, entry)).toMatchObject({ trouble: { line: 2 } });
  expect(tomlEditor.put('a = 1\nmcp_servers = { x = { command = "y" } }\n', place, entry)).toEqual({
    trouble: { line: 2, problem: '"mcp_servers" is written in a notation that cannot be extended by a table' },
  });
});

function textOf(edited: Edited): string {
  return 'text' in edited ? edited.text : expect.fail(edited.trouble.problem);
}
