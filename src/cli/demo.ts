import { err, ok } from 'neverthrow';
import * as z from 'zod';
import { assert } from '../core/assert.ts';
import { type CommandProblem, EXIT, type RunCommand } from './command.ts';
import { commandShape } from './command-shape.ts';
import type { Line } from './output/line.ts';
import { columnsOf, fitLine } from './output/text-width.ts';

/** Where the story is played: a server over MCP, and someone who watches. */
export type Stage = {
  readonly call: (
    tool: string,
    args: { readonly [name: string]: unknown },
  ) => Promise<{ readonly isError: boolean; readonly data: unknown }>;
  /** Shows a line and gives time to read it. */
  readonly tell: (line: Line) => Promise<void>;
};

/** What the demo counts, for whoever wants to know that it was real. */
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

const step = z.object({
  kind: z.enum(['ok', 'blocked']),
  run: z.object({ tag: z.string() }),
  pending: z.object({ title: z.string(), position: z.object({ index: z.number(), of: z.number() }) }).nullable(),
  isComplete: z.boolean(),
  stateToken: z.string(),
  ackToken: z.string().optional(),
  checkpointToken: z.string().optional(),
  branch: z.object({}).optional(),
  blockers: z.array(z.object({ message: z.string(), suggestedFix: z.string().optional() })),
});
type Step = z.infer<typeof step>;

/** Plays the whole story with what a lossy agent does, call by call. */
async function playDemo(stage: Stage): Promise<Played> {
  let calls = 0;
  const call = async (tool: string, args: { readonly [name: string]: unknown }): Promise<Step> => {
    calls += 1;
    await stage.tell([{ text: '  agent  ', style: 'notable' }, `${tool} ${shown(args)}`]);
    const { isError, data } = await stage.call(tool, args);
    const reply = step.safeParse(isError ? undefined : data);
    assert(reply.success, `${tool} was refused in the demo`);
    for (const line of answer(reply.data)) await stage.tell(line);
    return reply.data;
  };
  const scene = async (title: string) => {
    await stage.tell([]);
    await stage.tell([{ text: title, style: 'strong' }]);
  };
  const report = ({ ackToken }: Step, notesMarkdown: string) =>
    call('continue_workflow', { ackToken, output: { notesMarkdown } });

  await scene('An agent starts a workflow. It sees one step, with a token for its place.');
  const look = await call('start_workflow', { workflowId: WORKFLOW, goal: GOAL });

  await scene('It claims to be done without having written anything down.');
  const blocked = await call('continue_workflow', { ackToken: look.ackToken });

  await scene('The block said exactly what to send, so one call mends it.');
  const propose = await report(blocked, NOTES.look);

  await scene('The reply got lost, so the agent repeats its call. It counts once.');
  const repeated = await report(blocked, NOTES.look);

  await scene('It notes something in between, then does the step.');
  await call('checkpoint_workflow', {
    checkpointToken: propose.checkpointToken,
    output: { notesMarkdown: NOTES.aside },
  });
  await report(propose, NOTES.propose);

  await scene('The user rewinds the chat for another proposal. The run branches.');
  const again = await call('continue_workflow', { stateToken: propose.stateToken });
  await report(again, NOTES.otherwise);

  await scene('The chat is lost. A new one finds the work by two words, and goes on.');
  const found = await call('resume_session', { query: '29th February' });
  const done = await report(found, NOTES.check);
  assert(done.isComplete, 'the demo comes to its end');

  return { run: done.run.tag, calls, isRepeatEqual: JSON.stringify(repeated) === JSON.stringify(propose) };
}

function answer({ kind, pending, isComplete, run, blockers, branch }: Step): readonly Line[] {
  const name: Line = [{ text: '  rail   ', style: 'good' }];
  const [blocker] = blockers;
  if (kind === 'blocked' && blocker !== undefined) {
    return [
      [...name, { text: 'blocked: ', style: 'bad' }, blocker.message],
      ...(blocker.suggestedFix === undefined ? [] : [[...name, `what to do: ${blocker.suggestedFix}`]]),
    ];
  }
  if (branch !== undefined) {
    return [[...name, `run ${run.tag} has gone on from here; both ways stay, and this is how to take either`]];
  }
  if (isComplete) return [[...name, { text: `run ${run.tag} is complete`, style: 'good' }]];
  const at = pending === null ? '' : ` step ${pending.position.index} of ${pending.position.of}: ${pending.title}`;
  return [[...name, `run ${run.tag},${at}`]];
}

const TOKEN_SHOWN = 'ack_7f3a'.length;
const TEXT_SHOWN_MAX = 28;

/** A call in one line: of tokens the tag is enough, of notes the beginning. */
function shown(args: { readonly [name: string]: unknown }): string {
  return Object.entries(args)
    .map(([name, value]) => {
      if (typeof value === 'string' && name.endsWith('Token')) return `${name}=${value.slice(0, TOKEN_SHOWN)}…`;
      const output = notesOutput.safeParse(value);
      return output.success ? `notes="${output.data.notesMarkdown.slice(0, TEXT_SHOWN_MAX)}…"` : `${name}="${value}"`;
    })
    .join(' ');
}

const notesOutput = z.object({ notesMarkdown: z.string() });

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

const demoData = z.strictObject({
  /** The tag of the run that was played. */
  run: z.string(),
  calls: z.int().min(1),
  /** Whether the call that was repeated got the same answer. */
  isRepeatEqual: z.boolean(),
  /** Where it is kept, if it is. */
  dataDir: z.string().exactOptional(),
});
type DemoData = z.infer<typeof demoData>;

/** What `workrail demo --json` prints. */
export const demoShape = commandShape('demo', demoData);
