import { err, ok } from 'neverthrow';
import type { CommandProblem, RunCommand } from './command.ts';
import { playDemo } from './commands/demo/demo-story.ts';
import { EXIT } from './exit-codes.ts';
import { fitLine } from './output/fit-line.ts';
import type { Line } from './output/line.ts';
import { columnsOf } from './output/text-width.ts';
import type { DemoData } from './shapes/demo/demo-shape.ts';

/** How long a line stays alone, so that it can be read, at speed 1. */
const PAUSE_MS = 1_200;
const PAUSES: { readonly [speed: string]: number } = { 1: PAUSE_MS, 4: PAUSE_MS / 4, max: 0 };

/** Plays the story on a server of its own, in a folder of its own; what the user has recorded is not touched. */
export const demo: RunCommand = async ({ program, switches, say }, { options }) => {
  const speed = options['speed'] ?? (program.terminal.isError() ? '1' : 'max');
  const pauseMs = typeof speed === 'string' ? PAUSES[speed] : undefined;
  if (pauseMs === undefined) return err(NO_SPEED);
  const theatre = await program.theatre();
  const isWatched = !switches.isJson && !switches.isQuiet;
  const isKept = options['keep'] === true;

  const { tree, ...data } = await theatre.perform(
    async ({ server, dataDir, run }): Promise<DemoData & { readonly tree: string }> => {
      const played = await playDemo({
        call: server.call,
        tell: async (line) => {
          for (const one of fitLine(line, columnsOf(program))) say(one);
          if (isWatched && line.length > 0) await theatre.pause(pauseMs);
        },
      });
      const shownTree = isWatched ? await run(['session', 'tree', played.run]) : '';
      return { ...played, tree: shownTree, ...(isKept ? { dataDir } : {}) };
    },
    { isKept },
  );
  return ok({ kind: 'done', data, lines: linesOf(data, tree), next: 'workrail init' });
};

function linesOf({ calls, dataDir }: DemoData, tree: string): readonly Line[] {
  return [
    [],
    [{ text: 'What is on record', style: 'strong' }, '   (workrail session tree)'],
    ...tree
      .trimEnd()
      .split('\n')
      .map((line): Line => [line]),
    [],
    [`${calls} calls over MCP to a real server. No network, no model, no key.`],
    ...(dataDir === undefined ? [] : [[`Kept in ${dataDir}; look with WORKRAIL_DATA_DIR set to it.`]]),
  ];
}

const NO_SPEED: CommandProblem = {
  exitCode: EXIT.usage,
  error: {
    code: 'VALIDATION_ERROR',
    message: 'There is no such speed.',
    suggestion: 'Use --speed 1, --speed 4 or --speed max.',
    retry: { kind: 'not_retryable' },
  },
};
