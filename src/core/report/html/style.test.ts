import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { STYLE, STYLE_HASH } from './style.ts';

it('the page lets in its own style: whoever changes it writes down its hash', () => {
  expect(STYLE_HASH).toBe(`sha256-${createHash('sha256').update(STYLE).digest('base64')}`);
});
