import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import type { GivenReply } from '../../../src/core/log/operation/stored-reply.ts';
import { stepReply } from '../../../src/core/prompt/reply/step-reply.ts';
import { given } from '../../examples/replies.ts';
import { IGNORED, SITUATIONS } from '../../examples/reply-situations.ts';

const replies: { readonly [what: string]: () => GivenReply } = {
  ...Object.fromEntries(Object.entries(SITUATIONS).map(([what, parts]) => [what, () => given(stepReply(parts()))])),
  ...IGNORED,
};

/** The whole reply in the order in which a client gets it. */
function page({ text, furtherTexts = [], structured }: GivenReply): string {
  const parts = [text, ...furtherTexts, JSON.stringify(structured, null, 2)];
  return `${parts.join('\n\n~~~~~~~~~~\n\n')}\n`;
}

describe('golden replies', () => {
  test.each(Object.keys(replies))('the reply of %s has exactly these words', async (what) => {
    const golden = fileURLToPath(new URL(`./${what}.txt`, import.meta.url));
    expect(existsSync(golden)).toBe(true);
    const reply = replies[what];
    if (reply === undefined) throw new Error(what);
    await expect(page(reply())).toMatchFileSnapshot(golden);
  });
});
