import { afterAll, describe, expect, it } from 'vitest';
import { AUTONOMY } from '../../../src/core/log/autonomy.ts';
import { decidingContext } from '../../../src/core/run/condition/deciding-context.ts';
import {
  BUNDLED,
  CORPUS,
  CORPUS_FOLDER,
  compiled,
  compileText,
  FIXTURES,
  type SourceFile,
} from '../../compiler/compile-file.ts';
import { enforces } from '../../enforces.ts';
import { share } from '../../volume.ts';
import type { Sight } from './reader/obedient-reader.ts';
import { walkToEnd } from './walk/walk-to-end.ts';
import { newWitness } from './witness/witness.ts';
import { memoryWorld } from './world/memory-world.ts';
import { workflowFile } from './world/workflow-files.ts';

if (CORPUS.length === 0) console.warn(`No public workflow files in ${CORPUS_FOLDER}: none of them is walked.`);

const SIGHTS: readonly Sight[] = ['data', 'text'];
const FILES = [...BUNDLED, ...FIXTURES, ...CORPUS];
const CALLS_MAX = 400;

/** The short way, past everything that has a condition, and the long way, through it. */
const WAYS = ['short', 'long'] as const;

const PROJECT = [...FIXTURES, ...CORPUS].map((file) => workflowFile(file, { kind: 'project' }));
const table: string[] = [];

afterAll(() => console.log(`calls and blocks on the way through each file\n${table.join('\n')}`));

describe.each(FILES.map((file, at) => ({ name: file.name, file, at })))('$name', ({ file, at }) => {
  const all = AUTONOMY.flatMap((mode) => WAYS.flatMap((way) => SIGHTS.map((sight) => ({ mode, way, sight }))));
  const cases = share(all, { every: all.length, from: at });

  it.each(cases)(
    'is walked to the end in $mode on the $way way by a reader of $sight',
    async ({ mode, way, sight }) => {
      enforces('next_call_ready_to_send', 'tool_reply_text_and_structured');
      const world = memoryWorld(PROJECT);
      const witness = newWitness(world);
      const chat = await world.newChat();
      const context = way === 'short' ? {} : { context: contextFor(file) };
      const given = { workflowId: JSON.parse(file.text).id, goal: 'Try it.', mode, ...context };
      const start = { tool: 'start_workflow', arguments: given };
      const walked = await walkToEnd((call) => witness.send(chat, call), start, {
        sight,
        callsMax: CALLS_MAX,
        services: world.services,
      });
      await chat.close();
      const blocks = walked.path.filter((one) => one.startsWith('blocked')).length;
      if (sight === 'data') table.push(`${file.name.padEnd(42)}${mode.padEnd(30)}${way} ${walked.calls}/${blocks}`);
      const stuck = `stuck:\n${walked.path.slice(-6).join('\n')}\n${walked.last.content[0]?.text}`;
      expect(walked.isComplete, stuck).toBe(true);
      expect(witness.violations).toEqual([]);
    },
  );
});

/** Values by which as many conditions of a workflow hold as can hold together. */
function contextFor({ text, isBundled = false }: SourceFile): object {
  const { steps, loops, conditions } = compiled(compileText(text, { isBundled }));
  const named = new Map(conditions.map(({ conditionId, condition }) => [conditionId, condition]));
  const asked = [...steps, ...loops].flatMap(({ runCondition }) => runCondition ?? []);
  const parts = asked.map((one) => decidingContext(one, true, { conditions: named, isFixed: () => false }) ?? {});
  return Object.fromEntries(parts.flatMap(Object.entries).filter(([, value]) => value !== null));
}
