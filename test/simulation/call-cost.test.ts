import { expect, it } from 'vitest';
import { storeOf } from '../../src/adapters/file-store/file-store.ts';
import type { GivenReply } from '../../src/core/log/operation/stored-reply.ts';
import type { JsonObject } from '../../src/core/json/json-value.ts';
import { countingFileSystem } from '../e2e/store/counting-file-system.ts';
import { engine, stepOf, tokenOf, withFile } from '../examples/engine.ts';
import { WALKED } from '../examples/walked-workflows.ts';
import { storeFolder } from '../store-folder.ts';
import { countOperationsDuring } from './count-operations.ts';

it('x', async () => {
  const { fs, taken } = countingFileSystem();
  const folder = storeFolder();
  const workflow = WALKED[1]!;
  const agent = engine({ store: storeOf({ ...folder, disk: { ...folder.disk, fs } }), listing: () => withFile(workflow.source) });
  let at = await agent.start('bench.real', workflow.start as never);
  let count = 0;
  const sent = (reply: GivenReply) => { const { output, context } = workflow.report(String(stepOf(reply)), count++) as any; return { notes: output.notesMarkdown, artifacts: output.artifacts ?? [], context } };
  const walkTo = async (steps: number) => { for (let i = 0; i < steps || stepOf(at) !== 'survey'; i++) at = await agent.send(at, sent(at)); };
  const early: GivenReply[] = [];
  for (const steps of [20, 200, 400, 800]) {
    await walkTo(steps);
    early.push(at);
    const show = (r: GivenReply) => agent.show(r);
    const ops: any = {};
    await show(at); await show(early[0]!);
    taken();
    ops.rehydrate = [await countOperationsDuring(() => show(at)), JSON.stringify(taken())];
    ops.rehydrateEarly = [await countOperationsDuring(() => show(early[0]!)), JSON.stringify(taken())];
    ops.rehydrateAgain = [await countOperationsDuring(() => show(at)), JSON.stringify(taken())];
    const s = sent(at); const here = at;
    ops.advance = [await countOperationsDuring(async () => { at = await agent.send(at, s); }), JSON.stringify(taken())];
    ops.replay = [await countOperationsDuring(() => agent.send(here, s)), JSON.stringify(taken())];
    console.log(steps, ops);
  }
});
