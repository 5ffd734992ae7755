import { describe, expect, it } from 'vitest';
import { answerAsPerson, pendingPlace } from '../../../src/app/author/rehearsal.ts';
import type { SessionEvent } from '../../../src/core/log/event.ts';
import { askedAt } from '../../../src/core/run/requirements/step-requirements.ts';
import { BUNDLED, CORPUS, FIXTURES, type SourceFile } from '../../compiler/compile-file.ts';
import { enforces } from '../../enforces.ts';
import { filledCall } from '../../examples/filled-call.ts';
import { drawnSeed, isLong, share } from '../../volume.ts';
import { type SeededRandom, seededRandom } from '../seeded-random.ts';
import { TIMEOUT_MS } from './play/volume.ts';
import { type Call, type Reply, readReply } from './reader/obedient-reader.ts';
import { PARROTS, type Parrot, VERBATIM } from './reader/parrot.ts';
import { memoryWorld } from './world/memory-world.ts';
import { SMALL_FILES, SMALL_WORKFLOWS } from './world/small-workflows.ts';
import { workflowFile } from './world/workflow-files.ts';
import type { World } from './world/world.ts';

const PROJECT = [...FIXTURES, ...CORPUS].map((file) => workflowFile(file, { kind: 'project' }));
const FILES = [...BUNDLED, ...CORPUS];
/** After so many equal blocks in a row a parrot gives up. */
const BLOCKS_MAX = 6;
const MIXTURES = isLong ? 200 : 25;
const STOP = 'Stop: show the user this list, ask how to continue';

const idOf = ({ text }: SourceFile): string => JSON.parse(text).id;
const kindOf = ({ structuredContent }: Reply) => structuredContent?.['kind'];
const textOf = ({ content }: Reply) => content.map(({ text }) => text ?? '').join('\n');

describe.each(['guided', 'full_auto_stop_on_user_deps'])('a parrot in %s', (mode) => {
  it.each(PARROTS)(
    'a parrot that $name completes no bundled or public workflow',
    async (parrot) => {
      enforces('next_call_ready_to_send');
      const every = parrot === VERBATIM && mode === 'guided' ? 3 : 8;
      const files = share(FILES, { every, from: PARROTS.indexOf(parrot) });
      const completed: string[] = [];
      for (const file of files) {
        const { isComplete, blocks, last } = await squawk(parrot, idOf(file), mode);
        if (isComplete) completed.push(file.name);
        // After five equal blocks in a row the reply says to stop; never earlier.
        if (blocks >= BLOCKS_MAX) expect([file.name, textOf(last)]).toEqual([file.name, expect.stringContaining(STOP)]);
      }
      expect(completed).toEqual([]);
    },
    TIMEOUT_MS,
  );
});

it('after five equal blocks in a row, and not before, the reply says to stop and to ask the user', async () => {
  const world = memoryWorld(SMALL_FILES);
  const chat = await world.newChat();
  let last = await chat.call({ tool: 'start_workflow', arguments: { workflowId: 'sim.plain' } });
  const seen: unknown[] = [];
  for (let i = 0; i < 6; i++) {
    last = await chat.call(readReply(last, 'data').next as Call);
    seen.push([kindOf(last), textOf(last).includes(STOP), last.structuredContent?.['nextIntent']]);
  }
  expect(seen).toEqual([
    ...Array(4).fill(['blocked', false, 'perform_pending_then_continue']),
    ...Array(2).fill(['blocked', true, 'await_user_confirmation']),
  ]);
  expect(textOf(last)).toMatch(/^You left blanks in the call\. Blocked: .*\n6 attempts in a row were blocked\. Stop: /);
  const { stateToken } = last.structuredContent as { readonly stateToken: string };
  const shown = await chat.call({ tool: 'continue_workflow', arguments: { stateToken } });
  expect(textOf(shown)).toContain(STOP);
  const filled = await chat.call(filledCall(readReply(shown, 'data').next as Call));
  expect([kindOf(filled), textOf(filled).includes(STOP)]).toEqual(['ok', false]);
});

it(
  'a parrot that never stops leaves a gap at every step that asked for something',
  async () => {
    for (const file of share(FILES, { every: 3 })) {
      const world = memoryWorld(PROJECT);
      const chat = await world.newChat();
      const given = { workflowId: idOf(file), goal: 'Try it.', mode: 'full_auto_never_stop' };
      let last = await chat.call({ tool: 'start_workflow', arguments: given });
      for (let calls = 0; calls < 200 && kindOf(last) === 'ok'; calls++) {
        const { next } = readReply(last, 'data');
        if (next === undefined) break;
        const asked = await requiredAt(world, last);
        const before = gapsIn(world);
        last = await chat.call(next);
        const place = [file.name, asked.stepId, asked.kinds];
        // Without a person who set never-stop, a step that waits for one still blocks.
        if (kindOf(last) === 'ok' && asked.kinds.length > 0)
          expect([...place, gapsIn(world) > before]).toEqual([...place, true]);
      }
      await chat.close();
    }
  },
  TIMEOUT_MS,
);

it(
  `of ${MIXTURES} mixtures of parrot and worker, every unfilled blank is found and no filled one is refused`,
  async () => {
    let [unfilled, filled] = [0, 0];
    for (let seed = 1; seed <= MIXTURES; seed++) {
      const counts = await mixedWalk(seededRandom(isLong ? seed : drawnSeed() + seed));
      unfilled += counts.unfilled;
      filled += counts.filled;
    }
    // About two for each mixture, and by chance half as many; without any, the test would prove nothing.
    expect(unfilled).toBeGreaterThan(MIXTURES / 5);
    expect(filled).toBeGreaterThan(MIXTURES);
  },
  TIMEOUT_MS,
);

async function squawk(parrot: Parrot, workflowId: string, mode: string) {
  const world = memoryWorld(PROJECT);
  const chat = await world.newChat();
  const given = { workflowId, goal: 'Try it.', mode };
  let last = await chat.call({ tool: 'start_workflow', arguments: given });
  let [blocks, earlier]: [number, Call | undefined] = [0, undefined];
  for (let calls = 0; calls < 300 && blocks < BLOCKS_MAX; calls++) {
    const { next, isComplete } = readReply(last, 'data');
    if (isComplete || next === undefined) break;
    last = await chat.call(parrot.say(next, earlier));
    blocks = kindOf(last) === 'blocked' ? blocks + 1 : 0;
    if (blocks === 0) earlier = next;
  }
  await chat.close();
  return { isComplete: readReply(last, 'data').isComplete, blocks, last };
}

async function requiredAt(world: World, { structuredContent = {} }: Reply) {
  const { stateToken } = structuredContent as { readonly stateToken: string };
  const place = await pendingPlace(world.services, stateToken);
  if (place === undefined) return { stepId: undefined, kinds: [] };
  const kinds = askedAt(place).requirements.filter(
    (one) =>
      !(one.kind === 'criteria' && !one.isEnforced) &&
      !(one.kind === 'output_contract' && !one.isRequired) &&
      !(one.kind === 'capability' && one.known === 'available') &&
      // A value that is already there was not asked for.
      !(
        one.kind === 'user_dependency' &&
        one.contextKey !== undefined &&
        Object.hasOwn(place.facts.context, one.contextKey)
      ),
  );
  return { stepId: place.step.stepId, kinds: kinds.map(({ kind }) => kind) };
}

function gapsIn(world: World): number {
  const events: readonly SessionEvent[] = [...world.log().values()].flat();
  return events.filter(({ kind }) => kind === 'gap_recorded').length;
}

/** A run in which each part of each offered call is filled in or left as it is, as chance has it. */
async function mixedWalk(random: SeededRandom) {
  const world = memoryWorld(SMALL_FILES);
  const chat = await world.newChat();
  const given = { workflowId: random.pick(SMALL_WORKFLOWS), goal: 'Try it.', context: { files: ['a.ts'] } };
  let last = await chat.call({ tool: 'start_workflow', arguments: given });
  let [unfilled, filled] = [0, 0];
  // What a blocked attempt left is still part of its draft.
  let draft: readonly string[] = [];
  for (let calls = 0; calls < 40; calls++) {
    const { next, isComplete } = readReply(last, 'data');
    if (isComplete || next === undefined) break;
    const { call, left } = await mixture(world, last, { next, random });
    last = await chat.call(call);
    const words = textOf(last);
    const found = left.filter((unit) => words.includes(unit));
    expect([given.workflowId, calls, left]).toEqual([given.workflowId, calls, found]);
    if (left.length === 0) {
      filled += 1;
      const named = /(?:Not filled in: |Not filled in, so it was left out: )(.*)/.exec(words)?.[1];
      expect(named === undefined || draft.some((unit) => named.includes(unit)), words).toBe(true);
    } else {
      unfilled += left.length;
      expect(words).toMatch(/You sent the form unfilled|Not filled in/);
    }
    draft = kindOf(last) === 'blocked' ? [...draft, ...left] : [];
  }
  await chat.close();
  return { unfilled, filled };
}

type Parts = {
  readonly output?: { readonly notesMarkdown?: string; readonly artifacts?: readonly { readonly kind: string }[] };
  readonly context?: Readonly<Record<string, unknown>>;
};

/** The offered call with some of its parts filled in, and how a reply names the parts that were left. */
async function mixture(
  world: World,
  { structuredContent = {} }: Reply,
  { next, random }: { readonly next: Call; readonly random: SeededRandom },
) {
  const { stateToken, kind } = structuredContent as { readonly stateToken: string; readonly kind: string };
  if (kind === 'blocked') await answerAsPerson(world.services, stateToken, 'approve');
  const whole = filledCall(next, await pendingPlace(world.services, stateToken)).arguments as Parts;
  const offered = next.arguments as Parts;
  const left: string[] = [];
  const choose = <Part>(name: string, blank: Part, real: Part): Part => {
    const isBlank = JSON.stringify(blank)?.includes('<fill: ') === true;
    if (!isBlank || random.chance(0.7)) return real;
    left.push(name);
    return blank;
  };
  const notesMarkdown = choose('`output.notesMarkdown`', offered.output?.notesMarkdown, whole.output?.notesMarkdown);
  const artifacts = offered.output?.artifacts?.map((artifact, i) =>
    choose(artifact.kind, artifact, whole.output?.artifacts?.[i] ?? artifact),
  );
  const context = Object.entries(offered.context ?? {}).map(
    ([key, value]) => [key, choose(`context ${JSON.stringify(key)}`, value, whole.context?.[key])] as const,
  );
  const output = {
    ...(notesMarkdown === undefined ? {} : { notesMarkdown }),
    ...(artifacts === undefined ? {} : { artifacts }),
  };
  const sent = {
    ...next.arguments,
    ...(Object.keys(output).length === 0 ? {} : { output }),
    ...(context.length === 0 ? {} : { context: Object.fromEntries(context) }),
  };
  return { call: { ...next, arguments: sent }, left };
}
