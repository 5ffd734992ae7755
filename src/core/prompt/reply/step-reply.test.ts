import { describe, expect, test } from 'vitest';
import { enforces } from '../../../../test/enforces.ts';
import { blockedParts, given, partsAt, TOKENS } from '../../../../test/examples/replies.ts';
import { PLAIN, reviewAt, SITUATIONS } from '../../../../test/examples/reply-situations.ts';
import type { JsonObject } from '../../json/json-value.ts';
import { storedReplySchema } from '../../log/events/graph-events.ts';
import type { GivenReply } from '../../log/operation/stored-reply.ts';
import type { ReplyParts } from '../reply-parts.ts';
import { replySchema } from '../reply-schema.ts';
import { renderStep } from '../step/render-step.ts';
import { stepReply } from './step-reply.ts';

const reply = (parts: ReplyParts): GivenReply => given(stepReply(parts));
const all = Object.entries(SITUATIONS).map(([what, parts]) => ({ what, parts }));

function field(structured: JsonObject, ...path: readonly string[]): JsonObject {
  return path.reduce<JsonObject>((object, key) => object[key] as JsonObject, structured);
}

describe('every reply', () => {
  test.each(all)('every reply has the published fields: $what', ({ parts }) => {
    enforces('reply_fields', 'next_intent_closed');
    const { structured } = reply(parts());
    expect(replySchema.safeParse(structured).error).toBeUndefined();
  });

  test.each(all)('every reply can be stored, with holes for tokens and session: $what', ({ parts }) => {
    const open = stepReply(parts());
    expect(storedReplySchema.safeParse(open).error).toBeUndefined();
    for (const value of Object.values(TOKENS)) expect(JSON.stringify(open)).not.toContain(value);
  });

  test.each(all)('every reply says in its text what it says in its data: $what', ({ parts }) => {
    enforces('tool_reply_text_and_structured', 'boundary_footer');
    const { text, structured } = reply(parts());
    const { pending, nextCall, stateToken, checkpointToken, isComplete } = structured;
    const called = /^Next call: (\w+) (\{.*\})$/m.exec(text);
    const call = called && { tool: called[1], arguments: JSON.parse(called[2] ?? '') };
    expect(call).toEqual(nextCall);
    expect(text).toContain(`"${stateToken}"`);
    expect(text.includes(`"${checkpointToken}"`)).toBe(!isComplete);
    if (pending !== null) expect(text).toContain(field(structured, 'pending')['prompt']);
    const lists = ['warnings', 'gaps', 'blockers'].flatMap((name) => structured[name] as JsonObject[]);
    for (const one of lists) expect(text).toContain(one['message'] ?? one['summary']);
    expect(text).toContain(`Run ${field(structured, 'run')['tag']} · ${field(structured, 'run')['workflowId']} · `);
    expect(text).toContain(`· ${field(structured, 'preferences')['autonomy']} ·`);
    expect(text.includes('is complete. No steps are left.')).toBe(isComplete);
  });

  test.each(all)('every reply ends in a footer with run, next action and tokens: $what', ({ parts }) => {
    enforces('text_prompt_first_then_footer');
    const { text, structured } = reply(parts());
    const footer = text.slice(text.lastIndexOf('\n---\n') + 5).split('\n');
    expect(footer[0]).toMatch(/^Run 00r1 · /);
    const isOver = structured['isComplete'] === true;
    if (!isOver) expect(footer.at(-1)).toMatch(/^To save notes: checkpoint_workflow \{"checkpointToken":"chk_/);
    expect(footer.at(isOver ? -1 : -2)).toMatch(
      /^To see the goal and earlier notes: continue_workflow \{"stateToken":"st_/,
    );
  });

  test.each(all.filter(({ what }) => /^(start-[gf]|advance|checkpoint|rehydrate-[td])/.test(what)))(
    'every reply about a step begins with its authored prompt: $what',
    ({ parts }) => {
      enforces('text_prompt_first_then_footer');
      const { authored } = renderStep(parts());
      expect(reply(parts()).text.startsWith(`${authored}\n\n`)).toBe(true);
    },
  );

  test.each(all)('every reply is the same when it is rendered again: $what', ({ parts }) => {
    expect(JSON.stringify(stepReply(parts()))).toBe(JSON.stringify(stepReply(parts())));
  });
});

describe('a finished run', () => {
  test('a finished run has nothing pending, no ack token and nothing to call', () => {
    enforces('complete_has_no_pending', 'completed_node_tokens');
    const { structured, text } = reply(partsAt(PLAIN, { done: 2 }));
    expect(structured).toMatchObject({
      kind: 'ok',
      pending: null,
      isComplete: true,
      nextCall: null,
      stateToken: TOKENS.stateToken,
      checkpointToken: TOKENS.checkpointToken,
    });
    expect(structured).not.toHaveProperty('ackToken');
    expect(text).not.toMatch(/Next call:|ack_/);
  });

  test('a finished run lists every open gap first, and as data', () => {
    const gaps = Array.from({ length: 30 }, (_, i) => ({ ...gapOf(SITUATIONS), summary: `Gap number ${i}.` }));
    const { text, structured } = reply({ ...partsAt(PLAIN, { done: 2 }), gaps });
    const listed = text
      .slice(0, text.indexOf('---'))
      .split('\n')
      .filter((line) => line.startsWith('- Gap (critical)'));
    expect(listed.map((line) => line.split(': ')[1])).toEqual(gaps.map(({ summary }) => summary));
    expect((structured['gaps'] as JsonObject[]).map(({ summary }) => summary)).toEqual(
      gaps.map(({ summary }) => summary),
    );
  });
});

function gapOf(situations: typeof SITUATIONS) {
  const gap = situations['complete-with-gaps']?.().gaps[0];
  if (gap === undefined) throw new Error('no gap');
  return gap;
}

describe('facts about the step just done', () => {
  const accepted = ['b', 'c'].map((assessmentId) => ({
    assessmentId,
    dimensions: [{ dimensionId: 'd', level: 'high', rationale: 'Seen.' }],
    normalizationNotes: [],
  }));
  const context = (assessments: ReplyParts['assessments']) =>
    reply({ ...partsAt(PLAIN), ...(assessments && { assessments }) }).structured;

  test('facts about the step just done are absent when there are none', () => {
    enforces('step_context_presence');
    expect(context(undefined)).not.toHaveProperty('stepContext');
    expect(context({ accepted: [], isOneOfSeveral: false })).not.toHaveProperty('stepContext');
  });

  test('facts about the step just done are one assessment where the step asks for one, and a list where it asks for several', () => {
    enforces('step_context_assessments');
    const one = accepted.slice(0, 1);
    expect(context({ accepted: one, isOneOfSeveral: false })['stepContext']).toEqual({ assessments: one[0] });
    expect(context({ accepted: one, isOneOfSeveral: true })['stepContext']).toEqual({ assessments: one });
    expect(context({ accepted, isOneOfSeveral: true })['stepContext']).toEqual({ assessments: accepted });
  });
});

describe('a blocked reply', () => {
  test('a blocked reply says first what is missing and how to continue, then shows the step', () => {
    const { text, structured } = reply(blockedParts(reviewAt('judge')));
    const order = [
      'Blocked: "Judge the change"',
      '1. ',
      '2. ',
      'Next call: continue_workflow {',
      'The step:',
      'Judge the change as a whole.',
      '\n---\nRun 00r1',
    ];
    const places = order.map((words) => text.indexOf(words));
    expect(places).toEqual([...places].sort((a, b) => a - b));
    expect(places[0]).toBe(0);
    expect(structured).toMatchObject({ kind: 'blocked', isComplete: false, pending: { stepId: 'judge' } });
    expect(structured['blockers']).toHaveLength(2);
  });

  test('a blocked reply shows the form once, in the call', () => {
    const { text } = reply(blockedParts(reviewAt('report')));
    const opening = text.slice(0, text.indexOf('The step:'));
    expect(opening.split('<fill: what is wrong, and what it causes>')).toHaveLength(2);
  });

  test('a blocked reply before the first step has nothing pending, and asks for context', () => {
    const { structured, text } = reply(SITUATIONS['start-without-its-list']?.() ?? partsAt(PLAIN));
    expect(structured).toMatchObject({
      kind: 'blocked',
      pending: null,
      isComplete: false,
      ackToken: TOKENS.ackToken,
      nextIntent: 'perform_pending_then_continue',
      nextCall: {
        tool: 'continue_workflow',
        arguments: { ackToken: TOKENS.ackToken, context: { riskyFiles: ['<fill: one file per entry>'] } },
      },
    });
    expect(text).toMatch(/^Blocked: "Review of a change" cannot start its first step yet\./);
  });

  test('a run that waited for its first step can start it once nothing is missing', () => {
    const { blocked: _, ...parts } = SITUATIONS['start-without-its-list']?.() ?? blockedParts(partsAt(PLAIN));
    const { text, structured } = reply({ ...parts, lifecycle: 'rehydrate' });
    expect(structured).toMatchObject({
      kind: 'ok',
      pending: null,
      isComplete: false,
      nextCall: { tool: 'continue_workflow', arguments: { ackToken: TOKENS.ackToken } },
    });
    expect(replySchema.safeParse(structured).error).toBeUndefined();
    expect(text).toMatch(/^"Review of a change" can start its first step now\./);
  });

  test('a blocked reply without forms offers the call for the whole report', () => {
    const { blocked, ...parts } = blockedParts(reviewAt('judge'));
    const again = reply({ ...parts, blocked: { blockers: blocked?.blockers ?? [], unmet: [] } });
    expect(again.structured['nextCall']).toEqual(reply(reviewAt('judge')).structured['nextCall']);
  });
});
