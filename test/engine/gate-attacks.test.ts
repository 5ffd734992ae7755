import { expect, test } from 'vitest';
import { enforces } from '../enforces.ts';
import { ATTACKS, type Attack, type Level, machine, outside } from './gate-attacks.ts';

const NAMES = Object.keys(ATTACKS);

/** Tries an attack, and says whether the run went on, and what somebody outside says about that. */
async function tried(name: string, level: Level) {
  const it = machine(level);
  const { reply, change } = await (ATTACKS[name] as Attack)(it);
  const { stepId } = (reply.structured['pending'] ?? {}) as { readonly stepId?: string };
  const isPast = stepId === 'tell';
  const verdicts = await outside(it, reply, change);
  const accepted = isPast && verdicts.length > 0 && verdicts.every(({ problem }) => problem === undefined);
  const gaps = it.run.events.filter(({ kind }) => kind === 'gap_recorded').length;
  return { it, reply, isPast, accepted, verdicts, gaps, answers: await it.answersIn(reply) };
}

test('the same judge accepts an honest approval', async () => {
  const it = machine('signed');
  const from = await it.blocked();
  await it.answer(from, { who: it.alice });
  const done = await it.run.send(from);
  expect(await outside(it, done)).toMatchObject([
    { stepId: 'ship', signers: [{ name: 'alice' }], headSha: 'a'.repeat(40) },
  ]);
});

test('at signed, none of at least 40 attacks of an agent with the shell of its user gets past a gate', async () => {
  enforces('signed_gate_withstands_agent');
  expect(NAMES.length).toBeGreaterThanOrEqual(40);
  const [accepted, past]: [string[], { [name: string]: string }] = [[], {}];
  for (const name of NAMES) {
    const found = await tried(name, 'signed');
    if (found.accepted) accepted.push(name);
    if (found.isPast) past[name] = found.verdicts[0]?.problem ?? 'needed no signature';
  }
  expect(accepted).toEqual([]);
  // What somebody outside says of the runs that went on, because the agent changed lists, workflow, mode or log.
  expect(past).toMatchInlineSnapshot(`
    {
      "adds its key to the list before the run starts": "approver_unknown",
      "changes the recorded notes after the step is done": "another_draft",
      "removes the approval from the log": "nobody_answered",
      "removes the signature from the log": "not_signed",
      "replaces the key of alice in the list": "approver_unknown",
      "sets never-stop for the run in a pseudo-terminal": "nobody_answered",
      "starts a copy of the workflow that is only confirmed": "needed no signature",
      "starts a copy of the workflow without assurance": "needed no signature",
    }
  `);
});

test('at confirmed, each attack that gets past the gate is recorded as what it was', async () => {
  enforces('gate_pass_recorded');
  const recorded: { [name: string]: string } = {};
  for (const name of NAMES) {
    const { isPast, answers, gaps } = await tried(name, 'confirmed');
    if (!isPast) continue;
    const said = answers.map(({ by, signature, statement }) =>
      [statement.kind, by.via, signature === undefined ? 'unsigned' : `signed by ${signature.name}`].join(' '),
    );
    recorded[name] = [...said, ...(gaps > 0 ? ['a gap'] : [])].join(', ') || 'only the word of the agent';
  }
  expect(recorded).toMatchInlineSnapshot(`
    {
      "adds its key to the list before the run starts": "approved terminal signed by mallory",
      "adds its key to the list while the run waits": "approved terminal signed by mallory",
      "answers a form that another launch asked": "approved elicitation unsigned",
      "answers in a pseudo-terminal": "approved terminal unsigned",
      "answers in the console with a cookie that it replays": "approved console unsigned",
      "answers the form as its own client": "approved elicitation unsigned",
      "changes the recorded notes after the step is done": "approved terminal unsigned",
      "drives the browser of the user": "approved console unsigned",
      "empties the list": "approved terminal unsigned",
      "lets a hook of the project answer the form": "approved elicitation unsigned",
      "lowers gates.minimum in the settings": "approved terminal unsigned",
      "makes git fall silent before the approval": "approved terminal unsigned",
      "pretends to be a member of a team": "approved team unsigned",
      "removes the approval from the log": "approved terminal unsigned",
      "removes the signature from the log": "approved terminal unsigned",
      "replaces the key of alice in the list": "approved terminal signed by alice",
      "sends keys to the terminal through a multiplexer": "approved terminal unsigned",
      "sets never-stop for the run in a pseudo-terminal": "a gap",
      "sets the clock back and answers": "approved terminal unsigned",
      "starts a copy of the workflow that is only confirmed": "approved terminal unsigned",
      "starts a copy of the workflow without assurance": "only the word of the agent",
      "uses a client that accepts every form": "approved elicitation unsigned",
      "writes an approval into the log": "approved terminal unsigned",
    }
  `);
});
