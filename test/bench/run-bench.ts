import { commandShapes } from '../../src/cli/command-shape.ts';
import { runFake } from '../cli/fake-program.ts';
import { type MemoryBench, memoryBench } from './memory-bench.ts';

const COMMAND_SHAPES = await commandShapes();

export const FILE = '.workrail/workflows/team.example.json';
export const SCENARIOS = '.workrail/workflows/team.example.test.json';

/** Runs `workrail workflow …` on files in memory. */
export function onBench(content: Parameters<typeof memoryBench>[0]) {
  const { author, disk }: MemoryBench = memoryBench(content);
  const run = (...words: readonly string[]) => runFake({ argv: ['workflow', ...words], author });
  return {
    author,
    disk,
    run,
    /** The same under `--json`; its shape is checked. */
    json: async (verb: string, ...words: readonly string[]) => {
      const { out, exitCode } = await run(verb, ...words, '--json');
      const document = JSON.parse(out) as { ok: boolean; data: never; error?: { message: string } };
      COMMAND_SHAPES[`workflow ${verb}`]?.parse(document);
      return { ...document, exitCode };
    },
    text: (path: string) => disk.get(`/repo/${path}`),
  };
}
