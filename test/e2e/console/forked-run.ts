import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isLong } from '../../volume.ts';
import { CLIENT_KINDS, type TestClient } from '../clients.ts';

/** A workflow with a loop, a step that is skipped, contracts, a check, and a capability that it prefers. */
export const SURVEY = {
  id: 'project.survey',
  name: 'Survey',
  description: 'Looks at code and says what it found.',
  version: '1.0.0',
  capabilities: { web_browsing: 'preferred' },
  steps: [
    {
      id: 'look',
      title: 'Look around',
      prompt: 'Look at the code for {{goal}}.',
      outputContract: { contractRef: 'wr.contracts.findings' },
    },
    {
      id: 'deeper',
      title: 'Look deeper',
      prompt: 'Look again.',
      runCondition: { var: 'size', equals: 'large' },
    },
    {
      id: 'rounds',
      type: 'loop',
      title: 'Rounds of trying',
      loop: {
        type: 'while',
        maxIterations: 4,
        conditionSource: { kind: 'artifact_contract', contractRef: 'wr.contracts.loop_control', loopId: 'rounds' },
      },
      body: [
        { id: 'try', title: 'Try one thing', prompt: 'Try it.' },
        {
          id: 'decide',
          title: 'Decide about another round',
          prompt: 'Go on?',
          outputContract: { contractRef: 'wr.contracts.loop_control' },
        },
      ],
    },
    {
      id: 'prove',
      title: 'Prove it',
      prompt: 'Run the tests.',
      checks: [{ id: 'tests', run: 'npm test', minimum: 'asserted' }],
    },
    {
      id: 'report',
      title: 'Report what stands',
      prompt: 'Write the report.',
      validationCriteria: [{ type: 'contains', value: 'Result:', message: 'Write a line "Result:".' }],
    },
  ],
};

/** More steps than a page has room for. */
export const LONG = {
  id: 'project.long',
  name: 'Long',
  description: 'Takes a while.',
  version: '1.0.0',
  steps: Array.from({ length: isLong ? 2_100 : 260 }, (_, i) => ({
    id: `s${i}`,
    title: `Step ${i + 1}`,
    prompt: 'Do it.',
  })),
};

export type Reply = {
  readonly kind: string;
  readonly ackToken: string;
  readonly checkpointToken: string;
  readonly stateToken: string;
  readonly sessionId: string;
  readonly nextCall?: { readonly arguments: Record<string, unknown> };
};

type Output = { readonly notesMarkdown?: string; readonly artifacts?: readonly object[] };

/** An agent in a project of its own, and everything it does there. */
export type Played = {
  readonly folder: string;
  readonly place: { readonly env: Record<string, string>; readonly cwd: string };
  readonly agent: TestClient;
  readonly send: (tool: string, given: Record<string, unknown>) => Promise<Reply>;
  readonly hand: (ackToken: string, output: Output, more?: object) => Promise<Reply>;
  /** Does a step again that was done before, on a branch of its own. */
  readonly again: (ackToken: string, output: Output) => Promise<Reply>;
};

export async function startPlaying(name: string, workflows: readonly { readonly id: string }[]): Promise<Played> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), `workrail-${name}-`)));
  const files = join(folder, 'here', '.workrail', 'workflows');
  mkdirSync(files, { recursive: true });
  for (const workflow of workflows) writeFileSync(join(files, `${workflow.id}.json`), JSON.stringify(workflow));
  const env = { WORKRAIL_DATA_DIR: join(folder, 'data'), WORKRAIL_ENABLE_START_SESSION: '1' };
  const place = { env, cwd: join(folder, 'here') };
  const agent = await (CLIENT_KINDS['client 2.x'] as NonNullable<(typeof CLIENT_KINDS)[string]>)(place);
  const send = async (tool: string, given: Record<string, unknown>) => {
    const result = await agent.call(tool, given);
    if (result.structuredContent === undefined) throw new Error(JSON.stringify(result));
    return result.structuredContent as unknown as Reply;
  };
  const hand = (ackToken: string, output: Output, more = {}) =>
    send('continue_workflow', { ackToken, output, ...more });
  const again = async (ackToken: string, output: Output) => {
    const used = await hand(ackToken, output);
    return send('continue_workflow', used.nextCall?.arguments ?? {});
  };
  return { folder, place, agent, send, hand, again };
}

const FINDINGS = {
  kind: 'wr.findings',
  findings: [
    {
      severity: 'major',
      location: { file: 'src/dates.ts', line: 41 },
      title: 'Leap days are dropped',
      rationale: 'February 29 is parsed as March 1, for everybody born then.',
      suggestion: 'Ask the calendar, not a table.',
    },
    {
      severity: 'minor',
      location: { file: 'src/zones.ts', line: 7 },
      title: 'A zone is guessed',
      rationale: 'Without a zone the one of the server is used.',
      suggestion: 'Refuse it.',
    },
  ],
};

const DEPARTED = {
  kind: 'wr.workflow_divergence',
  reason: 'efficiency_skip',
  summary: 'The generated files were not read, because they are made from the others.',
};

const NO_WEB = {
  kind: 'wr.capability_observation',
  capability: 'web_browsing',
  status: 'unavailable',
  failureCode: 'tool_missing',
  detail: 'There is no tool for it here.',
};

const decided = (decision: string) => ({ kind: 'wr.loop_control', decision });

/** A run forked three ways with a loop, blocked attempts, gaps, divergence and checkpoints. Returns the open step. */
export async function playForkedRun({ send, hand, again }: Played): Promise<Reply> {
  const first = await send('start_workflow', {
    workflowId: SURVEY.id,
    goal: 'Find out why dates are wrong',
    context: { owner: 'Ada' },
  });
  await send('checkpoint_workflow', {
    checkpointToken: first.checkpointToken,
    output: { notesMarkdown: 'Half of the files are read.' },
  });
  const blocked = await hand(first.ackToken, { notesMarkdown: 'A draft without findings.' });
  const twice = await hand(blocked.ackToken, {
    artifacts: [{ kind: 'wr.findings', findings: [{ severity: 'huge', title: 'x' }] }],
  });
  const look = await hand(
    twice.ackToken,
    {
      notesMarkdown:
        '# What is there\n\nThe parser is in `src/dates.ts`.\n\n| file | lines |\n| --- | --- |\n| dates | 120 |',
      artifacts: [FINDINGS, DEPARTED, { kind: 'team.sketch', boxes: [{ name: 'parser', uses: ['zones', 'table'] }] }],
    },
    { context: { size: 'small', areas: ['parser', 'zones'] } },
  );
  const tried = await hand(look.ackToken, { notesMarkdown: 'Round one: tried the table.', artifacts: [NO_WEB] });
  const on = await hand(tried.ackToken, { notesMarkdown: 'One more.', artifacts: [decided('continue')] });
  const more = await hand(on.ackToken, { notesMarkdown: 'Round two: tried the calendar.' });
  const stop = await hand(more.ackToken, { notesMarkdown: 'Enough.', artifacts: [decided('stop')] });
  const proved = await hand(stop.ackToken, { notesMarkdown: 'The tests pass: main.' });
  await hand(proved.ackToken, { notesMarkdown: 'Nothing of use.' });
  // Branch A leaves in the first round of the loop, branch B does the proof again.
  const a = await again(look.ackToken, { notesMarkdown: 'Branch A tried something else.' });
  await hand(a.ackToken, { notesMarkdown: 'Branch A stops.', artifacts: [decided('stop')] });
  const b = await again(stop.ackToken, { notesMarkdown: 'Branch B proved it with another suite.' });
  const last = await hand(b.ackToken, { notesMarkdown: 'No result yet.' });
  await send('checkpoint_workflow', {
    checkpointToken: last.checkpointToken,
    output: { notesMarkdown: 'The report is half written.' },
  });
  return last;
}

/** A session with two runs, and notes before and between them. */
export async function playTwoRuns({ send, hand }: Played): Promise<void> {
  const noted = await send('start_session', { goal: 'A week of looking' });
  const note = (from: Reply, notesMarkdown: string) =>
    send('checkpoint_workflow', { checkpointToken: from.checkpointToken, output: { notesMarkdown } });
  const before = await note(noted, 'Before all: look at dates first.');
  const attached = { workflowId: SURVEY.id, attachTo: noted.stateToken };
  const first = await send('start_workflow', { ...attached, goal: 'Look at dates' });
  await hand(first.ackToken, { notesMarkdown: 'Read.', artifacts: [FINDINGS] });
  await note(before, 'Between the runs: the build is slow.');
  await send('start_workflow', { ...attached, goal: 'Look at the build' });
}
