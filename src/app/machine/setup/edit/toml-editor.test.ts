import { expect, it } from 'vitest';
import { enforces } from '../../../../../test/enforces.ts';
import { parseToml } from '../../../../adapters/setup/parse-toml.ts';
import type { Edited } from './edited-file.ts';
import { tomlEditor as editorWith } from './toml-editor.ts';

const tomlEditor = editorWith(parseToml);

const place = { key: 'mcp_servers', name: 'workrail' };
const entry = { command: 'C:\\node "x"', args: ['serve'], env: { A: 'b' } };

it('a table is appended, and not a byte before it changes', () => {
  enforces('init_edits_in_place');
  const before = '# mine\nmodel = "o"  # kept\n\n[mcp_servers.other]\ncommand = "x"\n';
  const after = textOf(tomlEditor.put(before, place, entry));
  expect(after).toBe(
    `${before}\n[mcp_servers.workrail]\ncommand = "C:\\\\node \\"x\\""\nargs = ["serve"]\n\n[mcp_servers.workrail.env]\nA = "b"\n`,
  );
  expect(tomlEditor.find(after, place)).toEqual({ entry });
});

it('a table that is there is cut out by its lines, with those inside it, and no other', () => {
  const before =
    'a = 1\n[mcp_servers."workrail"]\ncommand = "old"\n[ mcp_servers.workrail.env ]\nB = "c"\n[mcp_servers.workrail2]\ncommand = "y"\n';
  const after = textOf(tomlEditor.remove(before, place));
  expect(after).toBe('a = 1\n[mcp_servers.workrail2]\ncommand = "y"\n');
  expect(tomlEditor.find(textOf(tomlEditor.put(before, place, entry)), place)).toEqual({ entry });
});

it('a file that is broken, or in which no table can be added, is told with its line', () => {
  enforces('init_leaves_foreign_content');
  expect(tomlEditor.put('a = 1\nb =\n', place, entry)).toMatchObject({ trouble: { line: 2 } });
  expect(tomlEditor.put('a = 1\nmcp_servers = { x = { command = "y" } }\n', place, entry)).toEqual({
    trouble: { line: 2, problem: '"mcp_servers" is written in a way that no table can be added to' },
  });
});

function textOf(edited: Edited): string {
  return 'text' in edited ? edited.text : expect.fail(edited.trouble.problem);
}
