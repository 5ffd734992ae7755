import fc from 'fast-check';
import { expect, test } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import type { JsonValue } from '../json/json-value.ts';
import { utf8Length } from '../text/utf8.ts';
import { contracts } from '../workflow/builtins/contracts.ts';
import { ARTIFACT_TEXT_BYTES_MAX, artifactText } from './artifact-text.ts';

test('an artifact is shown by its contract: lists first where the contract is a list', () => {
  const findings = {
    kind: 'wr.findings',
    findings: [{ severity: 'minor' }, { severity: 'major' }],
    verdict: 'ok\nfine',
  };
  expect(artifactText(findings)).toBe('findings (first of 2): {"severity":"minor"}\nverdict: ok fine');
  expect(artifactText({ kind: 'x.own', list: [], note: 'a' })).toBe('note: a\nlist: none');
});

test('an artifact of any content takes at most three lines and 400 bytes', () => {
  enforces('artifacts_come_back');
  const examples = contracts.all.map(({ example }) => example);
  const values = fc.oneof(fc.constantFrom(...examples), fc.jsonValue({ maxDepth: 3 }));
  fc.assert(
    fc.property(values, (value) => {
      const text = artifactText(value as JsonValue);
      expect(text.split('\n').length).toBeLessThanOrEqual(3);
      expect(utf8Length(text)).toBeLessThanOrEqual(ARTIFACT_TEXT_BYTES_MAX);
    }),
  );
});
