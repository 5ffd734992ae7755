import { describe, expect, it } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import { engine, eventsOf, tokenOf, told, WORKSPACE } from '../../../test/examples/engine.ts';
import { replySchema } from '../../core/prompt/reply-schema.ts';
import { SESSION_NOTES } from '../../core/workflow/builtins/builtin-workflows.ts';
import { parseCompiledWorkflow } from '../../core/workflow/compiled/compiled-workflow.ts';
import { sessionReplyShape } from '../../mcp/reply-shapes.ts';
import { resumeSession } from '../resume/resume-session.ts';
import { checkpoint } from './checkpoint.ts';
import { startSession } from './start-session.ts';
import { startWorkflow } from './start-workflow.ts';

async function begun(goal = 'Find out why it is slow') {
  const made = engine();
  const reply = (await startSession(made.services, { goal, workspace: WORKSPACE }))._unsafeUnwrap();
  expect(sessionReplyShape.safeParse(reply.structured).error).toBeUndefined();
  return { ...made, reply };
}

describe('a session without a workflow', () => {
  it('a session for notes is a run that is complete from the start, with the goal in its context', async () => {
    enforces('session_notes_workflow', 'start_session_flagged');
    const { reply, events, view, show } = await begun();
    expect(reply.structured).toMatchObject({
      run: { workflowId: 'wr.session_notes' },
      isComplete: true,
      pending: null,
      nextCall: null,
    });
    expect(told(reply, 'sessionToken')).toBe(told(reply, 'stateToken'));
    expect(reply.text).toContain(tokenOf(reply, 'checkpointToken'));
    expect(eventsOf({ events }, 'context_set').map(({ data }) => data.context)).toEqual([
      { goal: 'Find out why it is slow' },
    ]);
    expect(eventsOf({ events }, 'step_skipped')).toEqual([]);
    expect((await view(reply)).graph.nodes.size).toBe(1);
    expect(told(await show(reply), 'goal')).toBe('Find out why it is slow');
  });

  it('a session for notes keeps each note once and returns all of them', async () => {
    enforces('checkpoint_idempotent', 'checkpoint_arguments', 'checkpoint_token_accompanies_replies');
    const { reply, services, view, show } = await begun();
    const sessionToken = String(told(reply, 'sessionToken'));
    let last = reply;
    for (const notesMarkdown of ['The cache is cold.', 'Warming it helps.']) {
      const sent = { checkpointToken: tokenOf(last, 'checkpointToken'), sessionToken };
      const output = { notesMarkdown, artifacts: [] };
      const saved = (await checkpoint(services, { ...sent, output }))._unsafeUnwrap();
      expect(replySchema.safeParse(saved.structured).error).toBeUndefined();
      expect(saved.text).toMatch(/^Saved\./);
      expect((await checkpoint(services, { ...sent, output }))._unsafeUnwrap()).toEqual(saved);
      last = saved;
    }
    expect((await view(reply)).graph.nodes.size).toBe(3);
    const shown = await show(last);
    expect(shown.text).toMatch(/The cache is cold\..*Warming it helps\./s);
    expect(shown.text).not.toContain('is complete');
  });

  it('a session for notes refuses tokens of other runs', async () => {
    enforces('checkpoint_arguments');
    const { reply, services, start } = await begun();
    const other = await start('test.plain');
    const output = { notesMarkdown: 'Lost.', artifacts: [] };
    const mixed = { checkpointToken: tokenOf(reply, 'checkpointToken'), sessionToken: tokenOf(other, 'stateToken') };
    const refused = (await checkpoint(services, { ...mixed, output }))._unsafeUnwrapErr();
    expect(refused).toMatchObject({ code: 'TOKEN_SCOPE_MISMATCH', mismatch: { kind: 'pair' } });
    const ack = { checkpointToken: mixed.checkpointToken, sessionToken: tokenOf(other, 'ackToken') };
    expect((await checkpoint(services, { ...ack, output }))._unsafeUnwrapErr()).toMatchObject({
      code: 'TOKEN_SCOPE_MISMATCH',
    });
  });

  it('a session for notes is found by its notes', async () => {
    const { reply, services, save } = await begun();
    await save(reply, 'The cache is cold.');
    const found = (await resumeSession(services, { query: 'cold cache', workspace: WORKSPACE }))._unsafeUnwrap();
    expect(found.structured).toMatchObject({
      candidates: [
        { status: 'complete', whyMatched: ['matched_notes', 'matched_workspace'], snippet: 'The cache is cold.' },
      ],
    });
  });

  it('the workflow of a session for notes cannot be listed or started', async () => {
    enforces('session_notes_workflow');
    const { services } = await begun();
    const { workflows } = await services.catalog.list(WORKSPACE);
    expect(workflows.map(({ id }) => id)).not.toContain('wr.session_notes');
    const started = await startWorkflow(services, { workflowId: 'wr.session_notes' });
    expect(started._unsafeUnwrapErr()).toMatchObject({ code: 'workflow_not_found' });
  });

  it('a session for notes is refused if its goal is too long', async () => {
    const { services, events } = engine();
    const refused = await startSession(services, { goal: 'x'.repeat(1_025) });
    expect(refused._unsafeUnwrapErr()).toEqual({ code: 'goal_too_large', bytes: 1_025, bytesMax: 1_024 });
    expect(events).toEqual([]);
  });
});

it('the workflow of a session for notes is stored and read like any other', () => {
  expect(parseCompiledWorkflow(JSON.parse(JSON.stringify(SESSION_NOTES)))._unsafeUnwrap()).toEqual(SESSION_NOTES);
});
