import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { STYLE, STYLE_HASH } from './style.ts';

it('the hash in the content security policy is the hash of the style', () => {
  expect(STYLE_HASH).toBe(`sha256-${createHash('sha256').update(STYLE).digest('base64')}`);
});
