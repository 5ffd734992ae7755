import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { generatedFiles } from '../scripts/generate/generated-files.ts';
import { runGenerate } from '../scripts/generate/run-generate.ts';
import { NON_ASSUMABLE_CHOICES, USER_ONLY_REASONS } from '../src/core/log/reasons.ts';
import { check as checkFields } from '../src/core/workflow/format/check-fields.ts';
import { enforces } from './enforces.ts';

const root = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');

describe('generated files', () => {
  const files = generatedFiles(root);
  let target = '';
  beforeAll(() => {
    target = mkdtempSync(join(tmpdir(), 'workrail-generated-'));
  });
  afterAll(() => rmSync(target, { recursive: true, force: true }));

  const check = () => runGenerate({ files, target, isCheck: true });
  const generate = () => runGenerate({ files, target, isCheck: false });

  it('generated files are the same each time and name neither a time nor this machine', () => {
    expect(files).toEqual(generatedFiles(root));
    expect(files.length).toBeGreaterThan(6);
    for (const { path, text } of files) {
      expect(text.endsWith('\n') && !text.endsWith('\n\n'), path).toBe(true);
      expect(text.includes(root), path).toBe(false);
      expect(
        text.match(/\b20\d\d-\d\d-\d\d(?!\/(?:schema|server\.schema))/g)?.filter((date) => date !== '2020-12') ?? [],
        path,
      ).toEqual([]);
    }
  });

  it('the check fails when a generated file is missing, differs by a byte, or is no longer generated', () => {
    enforces('generated_docs_verified');
    expect(check().exitCode).toBe(1);
    expect(generate().exitCode).toBe(0);
    expect(check()).toMatchObject({ exitCode: 0 });

    for (const { path, text } of files) {
      appendFileSync(join(target, path), ' ');
      expect(check()).toEqual({
        exitCode: 1,
        lines: [`out of date: ${path}`, expect.stringContaining('npm run generate')],
      });
      generate();
      expect(readFileSync(join(target, path), 'utf8')).toBe(text);
    }

    writeFileSync(join(target, 'schemas/forgotten.schema.json'), '{}\n');
    expect(check()).toMatchObject({
      exitCode: 1,
      lines: ['out of date: schemas/forgotten.schema.json', expect.anything()],
    });
    generate();
    expect(check()).toMatchObject({ exitCode: 0 });
  });

  it('the guide names every reason and kind of choice, each field of a check, bindings, arguments and decisions', () => {
    const read = (name: string) => readFileSync(join(root, 'docs/guides', `${name}.md`), 'utf8');
    const guides = read('author-a-workflow') + read('evidence');
    const fields = Object.keys(checkFields.fields);
    expect(fields).toContain('minimum');
    const words = [
      ...[...USER_ONLY_REASONS, ...NON_ASSUMABLE_CHOICES, ...fields],
      ...['stated', 'confirmed', '.workrail/bindings.json', 'arguments', 'continueWhen'],
    ];
    expect(words.filter((word) => !new RegExp(`[\`"]${word}[\`"]`).test(guides))).toEqual([]);
  });

  it('generated files are part of the check', () => {
    const script = readFileSync(join(root, 'scripts/check.mjs'), 'utf8');
    expect(script).toContain("'scripts/generate.ts', '--check'");
  });

  it('the page of the workflow format names every alternative of a field once, also inside of lists', () => {
    const page = files.find(({ path }) => path === 'docs/reference/workflow-format.md')?.text ?? '';
    const rows = [...page.matchAll(/^\| `(\w+)` \| ([^|]+) \|/gm)].map(
      ([, name = '', type = '']) => [name, type.replaceAll(/\[(\w+)\]\(#\w+\)/g, '$1')] as const,
    );
    const from = rows.findIndex(([name]) => name === 'constraints') - 1;
    const types = new Map([...rows, ...rows.slice(from, from + 5)]);
    const text = 'text (up to 8192 bytes)';
    const part = `${text}, a textPart, a refPart, or a list of these`;
    expect(types.get('goal')).toBe(part);
    for (const name of ['constraints', 'procedure', 'verify']) {
      expect(types.get(name)).toBe(`${text}, or a list whose entries are ${part}`);
    }
    expect(types.get('outputRequired')).toBe(`object; each value is ${text}, a textPart, or a list of these`);
    expect(types.get('requireConfirmation')).toBe(
      '`true`, `false`, a gate, a constantCondition, a contextCondition, a condition or a conditionRef',
    );
    const wrong = rows.filter(([, type]) => {
      const sides = type.split(/ whose entries are | each value is /).map((side) => side.split(/,? or |, /));
      return sides.some((side) => side.includes('') || new Set(side).size < side.length);
    });
    expect(wrong).toEqual([]);
  });
});
