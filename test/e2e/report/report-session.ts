import type { SessionId } from '../../../src/core/log/ids.ts';
import { type Engine, type EngineParts, engine, tokenOf, withFile } from '../../examples/engine.ts';
import { sessionOf } from '../../examples/shared-session.ts';

const BUG_HUNT = {
  id: 'team.bug_hunt',
  name: 'Bug hunt',
  description: 'Finds a bug and shows that it is gone.',
  steps: [
    { id: 'triage', title: 'Triage', prompt: 'What is wrong?' },
    { id: 'hypotheses', title: 'Hypotheses', prompt: 'What may be the cause?' },
    {
      id: 'on-call',
      title: 'Tell whoever is on call',
      prompt: 'Tell them.',
      runCondition: { var: 'isUrgent', equals: true },
    },
    { id: 'fix', title: 'Fix it', prompt: 'Fix it.' },
    {
      id: 'verify',
      title: 'Verify the fix',
      prompt: 'Show that it is gone.',
      outputContract: { contractRef: 'wr.contracts.verification_report' },
    },
    { id: 'wrap-up', title: 'Wrap up', prompt: 'Sum up.' },
  ],
};

/** An engine that knows the bug hunt and whose clock goes on, as a real one does. */
export function huntEngine(parts: Pick<EngineParts, 'store'> = {}): Engine {
  let ms = Date.UTC(2026, 10, 15, 14, 2, 11);
  const clock = { nowMs: () => (ms += 7_300) };
  return engine({ ...parts, listing: () => withFile(BUG_HUNT), services: { clock } });
}

/** A session that was blocked, went two ways and came to its end, and a second run in it that never stops. */
export async function bugHunt({ start, send, sendNext, show, save }: Engine, hostile: string): Promise<SessionId> {
  const first = await start('team.bug_hunt', { goal: 'Checkout fails on an empty cart', context: { isUrgent: false } });
  const second = await send(first, { notes: TRIAGE });
  const saved = await save(second, 'Read the logs of the last deploy meanwhile; nothing unusual.');
  const wrong = await send(saved, { notes: '**Cache.** A stale price list would explain it, *if* it is ever read.' });
  await send(wrong, { notes: 'Cleared the cache. It still fails, so this was not it.' });

  const right = await send(await show(second), { notes: HYPOTHESES });
  const fixed = await send(right, { notes: FIX, context: { fixedIn: 'cart.ts' } });
  const blocked = await send(fixed, { notes: 'Looks good to me.' });
  const verified = await sendNext(blocked);
  await send(verified, { notes: `${hostile}\n\nAll done.` });

  const again = await start('test.modes', {
    attachTo: tokenOf(verified, 'stateToken'),
    goal: 'Release <b>it</b><script>window.owned = 1</script>',
  });
  const going = await send(again, { notes: 'Go on without me.', mode: 'full_auto_never_stop' });
  const without = await send(going, {});
  await send(without, { notes: 'Went on without an answer.' });
  return sessionOf(first);
}

const TRIAGE = `## What happens

Checkout answers with \`500\` when the cart is **empty**. First seen after deploy \`4f2a91c\`.

| Cart | Answer | Since |
| --- | --- | --- |
| one item | 200 | always |
| empty | 500 | 2026-11-14 |

1. Open the shop at <https://shop.example/cart>
2. Press *Check out*
   - in Firefox and Chromium
   - signed in or not

> It used to say "Your cart is empty".

Reported by Ana (ana.silva@shop.example), seen in \`/home/ana/shop/src/cart.ts\`.`;

const HYPOTHESES = `The total of no items is \`undefined\`: \`reduce\` without a first value throws.

\`\`\`ts
const total = items.map((item) => item.price).reduce((a, b) => a + b);
\`\`\`

- [x] reproduces with \`[]\`
- [ ] is there another place like this?`;

const FIX = `Gave \`reduce\` its first value and added a test.

The deploy script had a key in it: AKIAIOSFODNN7EXAMPLE, and \`password=hunter2-and-more\`. Both were taken out; see [the guide](https://shop.example/guide?a=1&b=2).

שלום: right to left stays readable.`;
