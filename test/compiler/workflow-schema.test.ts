import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { workflowSchema } from '../../scripts/generate/workflow-schema.ts';
import { isLong } from '../volume.ts';
import { BUNDLED, CORPUS, compileText, compileValue, FIXTURES } from './compile-file.ts';
import { DIFFERENCES, isDifference } from './schema-differences.ts';
import { mutationsByObject } from './schema-mutations.ts';

const SCHEMA = workflowSchema();
const MUTATIONS_MIN = isLong ? 200 : 25;

const validate = new Ajv2020({ strict: false }).compile(SCHEMA);
const fitsSchema = (value: unknown) => validate(value);

describe('the published schema of workflow files', () => {
  it.each([...BUNDLED, ...FIXTURES, ...CORPUS])('the published schema accepts $name', ({ text }) => {
    expect(fitsSchema(JSON.parse(text)), JSON.stringify(validate.errors?.slice(0, 3))).toBe(true);
  });

  it('the published schema is the file in the repository', () => {
    expect(JSON.parse(readFileSync('schemas/workflow.schema.json', 'utf8'))).toEqual(SCHEMA);
  });

  it('the published schema and the compiler accept and refuse the same mutations of every object', {
    timeout: 600_000,
  }, () => {
    const mutations = mutationsByObject(MUTATIONS_MIN);
    const named = Object.keys(SCHEMA['$defs'] as object).filter((name) => !NOT_OBJECTS.includes(name));
    expect([...mutations.keys()].filter((name) => name !== 'workflow').sort()).toEqual(named.sort());
    const wrong: string[] = [];
    const counts = { agreed: 0, refused: 0, differed: 0 };
    for (const [name, documents] of mutations) {
      expect(documents.length, name).toBeGreaterThanOrEqual(MUTATIONS_MIN);
      for (const { document, what } of documents) {
        const isAccepted = fitsSchema(document);
        const result = compileValue(document);
        if (isAccepted === (result.kind === 'compiled')) {
          counts.agreed += 1;
          if (!isAccepted) counts.refused += 1;
        } else if (isAccepted && isDifference(result, document)) counts.differed += 1;
        else {
          const errors = result.diagnostics.filter(({ severity }) => severity === 'error');
          const said = isAccepted
            ? errors.map(({ code, pointer }) => `${code} ${pointer}`)
            : [JSON.stringify(validate.errors?.[0])];
          wrong.push(
            `${name}: ${what}: the ${isAccepted ? 'compiler' : 'schema'} alone refuses it: ${said.join(', ')}`,
          );
        }
      }
    }
    console.info(`mutations of ${mutations.size} objects: ${JSON.stringify(counts)}`);
    expect(wrong.slice(0, 20)).toEqual([]);
    expect(counts.refused).toBeGreaterThan(counts.agreed / 4);
  });

  it.each(Object.entries(DIFFERENCES))(
    'the published schema accepts what only the compiler can refuse: %s',
    (_, { document, code }) => {
      expect(fitsSchema(document), JSON.stringify(validate.errors?.slice(0, 3))).toBe(true);
      const result = compileValue(document);
      expect(result.kind).toBe('refused');
      expect(result.diagnostics.filter(({ severity }) => severity === 'error').map((one) => one.code)).toContain(code);
      expect(isDifference(result, document)).toBe(true);
    },
  );

  it('the published schema and the compiler accept a workflow with a wrong label', () => {
    const [file] = FIXTURES;
    const document = { ...JSON.parse(file?.text ?? ''), examples: ['abc'], version: 1 };
    expect(fitsSchema(document)).toBe(true);
    const { kind, diagnostics } = compileText(JSON.stringify(document));
    expect({ kind, codes: diagnostics.map(({ code }) => code).sort() }).toEqual({
      kind: 'compiled',
      codes: ['text_too_short', 'wrong_type'],
    });
  });
});

/** Definitions that stand for several objects, or for none. */
const NOT_OBJECTS = ['condition', 'wholeCondition', 'criteria', 'step', 'something', 'unknownStep', 'noCondition'];
