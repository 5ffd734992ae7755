import { ok } from 'neverthrow';
import { expect, test } from 'vitest';
import { EXAMPLE } from '../../../test/bench/example-workflow.ts';
import { memoryBench } from '../../../test/bench/memory-bench.ts';
import { authorCatalog } from './author-catalog.ts';
import { lossyAgent } from './lossy-agent.ts';
import { listedAnswers, playRun } from './play-run.ts';
import { type Rehearsal, rehearsal, type Turn } from './rehearsal.ts';

/** All faults in turn, on a stage that may have something wrong with it. */
async function played(spoil: (stage: Rehearsal) => Rehearsal) {
  const { author } = memoryBench({ '.workrail/workflows/team.example.json': EXAMPLE });
  const { catalog } = await authorCatalog(author);
  const sound = rehearsal(await author.services(catalog));
  const { send, problems } = lossyAgent(spoil(sound), 0);
  const request = {
    workflowId: 'team.example',
    workspace: '/repo',
    mode: 'guided',
    context: { taskSize: 'large' },
  } as const;
  const player = { stage: sound, send, answer: listedAnswers([]).answer, yieldNow: author.yieldNow };
  const run = (await playRun(player, request))._unsafeUnwrap();
  return { run, problems };
}

test('a lossy agent completes a run like a careful one', async () => {
  const { run, problems } = await played((stage) => stage);
  expect([run.isComplete, run.path, problems]).toEqual([
    true,
    ['size', 'design', 'work', 'rounds--decide', 'judge', 'merge'],
    [],
  ]);
});

test('a lossy agent reports a different reply to the same call and an accepted damaged token', async () => {
  const heard = new Map<string, number>();
  const { problems } = await played((stage) => ({
    ...stage,
    sendAck: async (token, sent) => {
      const reply = await stage.sendAck(token, sent);
      heard.set(token, (heard.get(token) ?? 0) + 1);
      const changed = (turn: Turn) => ({ ...turn, text: `${turn.text} ${heard.get(token)}` });
      return reply.map(changed);
    },
  }));
  expect(problems).toEqual(['at size: the same call sent again got a different reply']);
  const forgiving = await played((stage) => {
    let last: Turn | undefined;
    return {
      ...stage,
      sendAck: async (token, sent) => {
        const reply = await stage.sendAck(token, sent);
        if (reply.isErr() && last !== undefined) return ok(last);
        last = reply.unwrapOr(last as Turn);
        return reply;
      },
    };
  });
  expect(forgiving.problems).toEqual(['at judge: a truncated token was accepted']);
});
