import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { compileWorkflow } from '../src/core/workflow/compile-workflow.ts';

const FILES = readdirSync('workflows', { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.json'));

describe('every bundled workflow', () => {
  it.each(FILES)('%s compiles, under an id of the wr namespace that is also its file name', (name) => {
    const compiled = compileWorkflow(JSON.parse(readFileSync(`workflows/${name}`, 'utf8')));
    expect(compiled.isErr() ? compiled.error : []).toEqual([]);
    expect(`${compiled._unsafeUnwrap().workflowId}.json`).toBe(name);
    expect(name).toMatch(/^wr\./);
  });
});
