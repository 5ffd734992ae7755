import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { utf8Length } from '../src/core/text/utf8.ts';
import { contracts } from '../src/core/workflow/builtins/contracts.ts';
import { routineTemplateId, templates } from '../src/core/workflow/builtins/templates.ts';

const FOLDER = 'workflows/routines';
const PROMPT_BYTES_MAX = 1500;

type Routine = {
  readonly id: string;
  readonly steps: readonly {
    readonly id: string;
    readonly prompt: string;
    readonly outputContract?: { readonly contractRef: string };
  }[];
};

const FILES = readdirSync(FOLDER)
  .filter((name) => !name.endsWith('.test.json'))
  .sort();
const read = (name: string) => JSON.parse(readFileSync(`${FOLDER}/${name}`, 'utf8')) as Routine;

describe('the bundled routines', () => {
  it('every bundled routine is the target of a template, with the arguments the template declares', () => {
    const pointed = templates.all.flatMap((template) => (template.kind === 'routine' ? [template] : []));
    expect(pointed.map(({ routineId }) => `${routineId}.json`).sort()).toEqual(FILES);
    for (const { routineId, templateId, parameters } of pointed) {
      expect(routineTemplateId(routineId)).toBe(templateId);
      const prompts = read(`${routineId}.json`).steps.map(({ prompt }) => prompt);
      const used = new Set(
        prompts.flatMap((prompt) => [...prompt.matchAll(/(?<!\{)\{(\w+)\}(?!\})/g)].map(([, name]) => name)),
      );
      expect([...used].sort()).toEqual(parameters.map(({ name }) => name).sort());
    }
  });

  it.each(FILES)(
    '%s has a few short steps, each saying what to hand in, when it is done and what if it cannot be',
    (name) => {
      const { id, steps } = read(name);
      expect(`${id}.json`).toBe(name);
      expect(steps.length).toBeGreaterThanOrEqual(4);
      expect(steps.length).toBeLessThanOrEqual(6);
      for (const { id: stepId, prompt, outputContract } of steps) {
        expect(utf8Length(prompt), stepId).toBeLessThanOrEqual(PROMPT_BYTES_MAX);
        expect(prompt, stepId).toMatch(/[Hh]and in|\b[Ss]end\b/);
        expect(prompt, stepId).toMatch(/\bIf (?!.*\bIf\b)/);
        if (outputContract === undefined) expect(prompt, stepId).toContain('Done when');
        else expect(contracts.find(outputContract.contractRef), stepId).toBeDefined();
      }
    },
  );
});
