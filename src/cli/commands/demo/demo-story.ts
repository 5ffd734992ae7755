import * as z from 'zod';
import { assert } from '../../../core/assert.ts';
import type { Line } from '../../output/line.ts';

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
export async function playDemo(stage: Stage): Promise<Played> {
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
