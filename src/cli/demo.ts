import { err } from 'neverthrow';
import * as z from 'zod';
import { assert } from '../core/assert.ts';
import { shellWord } from '../core/text/words.ts';
import { command, done } from './command.ts';
import { bad, dim, good, type Line, notable, strong } from './output/line.ts';
import { columnsOf, fitLine } from './output/text-width.ts';
import { unknownWord } from './problem.ts';

const step = z.object({
  kind: z.enum(['ok', 'blocked']),
  run: z.object({ tag: z.string() }),
  pending: z
    .object({ title: z.string(), position: z.object({ index: z.number(), of: z.number().optional() }) })
    .nullable(),
  isComplete: z.boolean(),
  stateToken: z.string(),
  ackToken: z.string().optional(),
  checkpointToken: z.string().optional(),
  branch: z.object({}).optional(),
  blockers: z.array(z.object({ message: z.string(), suggestedFix: z.string().optional() })),
});
type Step = z.infer<typeof step>;

const notesOutput = z.object({ notesMarkdown: z.string() });

const demoData = z.strictObject({
  /** The tag of the run. */
  run: z.string(),
  calls: z.int().min(1),
  /** Whether the repeated call got the same reply. */
  isRepeatEqual: z.boolean(),
  /** Where the recording is, if it was kept. */
  dataDir: z.string().exactOptional(),
});
type DemoData = z.infer<typeof demoData>;

/** Runs the demo on a server and a data folder of its own; the user's sessions are not touched. */
export const demo = command({
  options: [
    { flags: '--speed <speed>', help: '1, 4 or max (default: 1 in a terminal, otherwise max)' },
    { flags: '--keep', help: 'keep the recorded session and print its folder' },
  ],
  example: 'workrail demo --speed 4',
  data: demoData,
  run: async ({ program, switches, say }, { options }) => {
    const speed = options['speed'] ?? (program.terminal.isError() ? '1' : 'max');
    const pauseMs = typeof speed === 'string' ? PAUSES[speed] : undefined;
    if (pauseMs === undefined) return err(unknownWord('speed', speed, Object.keys(PAUSES)));
    const demoStage = await program.demoStage();
    const isWatched = !switches.isJson && !switches.isQuiet;
    const isKept = options['keep'] === true;

    const { tree, ...data } = await demoStage.perform(
      async ({ server, dataDir, run }): Promise<DemoData & { readonly tree: string }> => {
        const played = await playDemo({
          call: server.call,
          show: async (line) => {
            for (const one of fitLine(line, columnsOf(program))) say(one);
            if (isWatched && line.length > 0) await demoStage.pause(pauseMs);
          },
        });
        const shownTree = isWatched ? await run(['session', 'tree', played.run]) : '';
        return { ...played, tree: shownTree, ...(isKept ? { dataDir } : {}) };
      },
      { isKept },
    );
    const next = data.dataDir === undefined ? 'workrail init' : consoleOn(data.dataDir);
    return done({ data, lines: linesOf(data, tree), next });
  },
});

/** Shows what was recorded in the browser. */
function consoleOn(dataDir: string): string {
  return `WORKRAIL_DATA_DIR=${shellWord(dataDir)} workrail console`;
}

/** A server to call over MCP, and a way to show what happens. */
export type Stage = {
  readonly call: (
    tool: string,
    args: { readonly [name: string]: unknown },
  ) => Promise<{ readonly isError: boolean; readonly data: unknown }>;
  /** Shows a line and leaves time to read it. */
  readonly show: (line: Line) => Promise<void>;
};

/** What the demo counted. */
export type Played = { readonly run: string; readonly calls: number; readonly isRepeatEqual: boolean };

const WORKFLOW = 'wr.first_steps';

const GOAL = 'Find one thing to improve';

const NOTES = {
  look: 'src/ holds the program, test/ its tests, docs/ the guides. It is a small library that parses dates.',
  propose: 'README.md, second example: it imports a name that no longer exists. Change it to parseDate.',
  aside: 'While looking: the changelog has no entry for the last release either. Not part of this task.',
  otherwise: 'test/parse.test.ts has no case for the 29th of February. Add one.',
  check: 'Read test/parse.test.ts from top to bottom: there is no such case, so the proposal stands.',
};

/** Runs the whole demo, including what an agent does that loses a reply and its chat. */
async function playDemo(stage: Stage): Promise<Played> {
  let calls = 0;
  const call = async (tool: string, args: { readonly [name: string]: unknown }): Promise<Step> => {
    calls += 1;
    await stage.show([notable('  agent  '), `${tool} ${shown(args)}`]);
    const { isError, data } = await stage.call(tool, args);
    const reply = step.safeParse(isError ? undefined : data);
    assert(reply.success, `${tool} was refused in the demo`);
    for (const line of answer(reply.data)) await stage.show(line);
    return reply.data;
  };
  const scene = async (title: string) => {
    await stage.show([]);
    await stage.show([strong(title)]);
  };
  const report = ({ ackToken }: Step, notesMarkdown: string) =>
    call('continue_workflow', { ackToken, output: { notesMarkdown } });

  await scene('An agent starts a workflow. It sees one step, and a token for it.');
  const look = await call('start_workflow', { workflowId: WORKFLOW, goal: GOAL });

  await scene('It claims to be done but has written no notes.');
  const blocked = await call('continue_workflow', { ackToken: look.ackToken });

  await scene('The reply says exactly what is missing, so one call fixes it.');
  const propose = await report(blocked, NOTES.look);

  await scene('The reply got lost, so the agent repeats the call. The repeated call has no second effect.');
  const repeated = await report(blocked, NOTES.look);

  await scene('It saves a note on the way, then finishes the step.');
  await call('checkpoint_workflow', {
    checkpointToken: propose.checkpointToken,
    output: { notesMarkdown: NOTES.aside },
  });
  await report(propose, NOTES.propose);

  await scene('The user rewinds the chat to get another proposal. The run branches.');
  const again = await call('continue_workflow', { stateToken: propose.stateToken });
  await report(again, NOTES.otherwise);

  await scene('The chat is lost. A new chat finds the run by searching for two words, and continues it.');
  const found = await call('resume_session', { query: '29th February' });
  const done = await report(found, NOTES.check);
  assert(done.isComplete, 'the demo finishes its run');

  return { run: done.run.tag, calls, isRepeatEqual: JSON.stringify(repeated) === JSON.stringify(propose) };
}

function answer({ kind, pending, isComplete, run, blockers, branch }: Step): readonly Line[] {
  const name: Line = [good('  rail   ')];
  const [blocker] = blockers;
  if (kind === 'blocked' && blocker !== undefined) {
    return [
      [...name, bad('blocked: '), blocker.message],
      ...(blocker.suggestedFix === undefined ? [] : [[...name, `fix: ${blocker.suggestedFix}`]]),
    ];
  }
  if (branch !== undefined) {
    return [[...name, `run ${run.tag} has already continued from here; doing the step again creates a branch`]];
  }
  if (isComplete) return [[...name, good(`run ${run.tag} is complete`)]];
  const at = pending === null ? '' : ` step ${positionWords(pending.position)}: ${pending.title}`;
  return [[...name, `run ${run.tag},${at}`]];
}

const TOKEN_SHOWN = 'ack_7f3a'.length;

const TEXT_SHOWN_MAX = 28;

/** A call on one line: tokens by their tag, notes by their beginning. */
function shown(args: { readonly [name: string]: unknown }): string {
  return Object.entries(args)
    .map(([name, value]) => {
      if (typeof value === 'string' && name.endsWith('Token')) return `${name}=${value.slice(0, TOKEN_SHOWN)}…`;
      const output = notesOutput.safeParse(value);
      return output.success ? `notes="${output.data.notesMarkdown.slice(0, TEXT_SHOWN_MAX)}…"` : `${name}="${value}"`;
    })
    .join(' ');
}

/** How long to wait after each line at speed 1, so that it can be read. */
const PAUSE_MS = 1_200;

const PAUSES: { readonly [speed: string]: number } = { 1: PAUSE_MS, 4: PAUSE_MS / 4, max: 0 };

/** The marks that the tree of the demo contains. */
const LEGEND =
  '✓ done   ▲ blocked attempt   ◆ checkpoint   ⑂ branch   ▸ current branch   ○ step not finished   ×2 two of them';

function linesOf({ calls, dataDir }: DemoData, tree: string): readonly Line[] {
  return [
    [],
    [strong('The recorded session'), '   (workrail session tree)'],
    ...tree
      .trimEnd()
      .split('\n')
      // The legend below explains all marks.
      .filter((line) => !line.includes('Marks: '))
      .map((line): Line => [line]),
    [dim(LEGEND)],
    [],
    [`${calls} MCP calls to a real server. No network, no model, no API key.`],
    ...(dataDir === undefined ? [] : [[`Kept in ${dataDir}. The next command shows it in your browser.`]]),
  ];
}

function positionWords({ index, of }: { readonly index: number; readonly of?: number | undefined }): string {
  return of === undefined ? `${index}` : `${index} of ${of}`;
}
