import { beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/core/json/json-value.ts';
import type { GivenReply } from '../../src/core/log/operation/stored-reply.ts';
import { RECORDED_LABEL } from '../../src/core/prompt/reply-parts.ts';
import { harmfulCharacters, hiddenCharacters } from '../../src/core/text/visible-text.ts';
import { errorResult } from '../../src/mcp/answer-call.ts';
import { enforces } from '../enforces.ts';
import { engine, withFile } from '../examples/engine.ts';
import { INJECTIONS } from './injection-strings.ts';

/** A workflow that shows a value in every way there is. */
const SHOWN = {
  id: 'test.shown',
  name: 'Shown values',
  description: 'Shows values.',
  steps: [
    { id: 'one', title: 'About {{value}}', prompt: 'Look at {{value}}, `{{value}}` and "{{value}}".\n{{value}}' },
    {
      id: 'two',
      title: 'Two',
      prompt: '```\n{{value}}\n```\n\n- {{value}}\n\n{{ value }}',
      outputContract: { contractRef: 'wr.contracts.findings' },
    },
    { id: 'three', title: 'Three', prompt: 'Finish.' },
  ],
};

/** Every line of a text outside the block, with what a reader would take for a mark taken away. */
function ownLines(text: string): readonly string[] {
  return text.split('\n').filter((line) => !line.startsWith('>'));
}

/** The lines of two replies must be the same ones, whatever the recorded text was. */
function skeleton({ text, furtherTexts = [] }: GivenReply): readonly string[] {
  // The footer shows the beginning of a title, and ends the quotation where it is cut.
  const bare = (line: string) => line.replaceAll(/"(?:[^"\\]|\\.)*"/g, '"…"').replaceAll(/[0-9a-z]{30,}/g, '…');
  return [text, ...furtherTexts].flatMap(ownLines).map(bare);
}

const finding = (text: string) => ({
  kind: 'wr.findings',
  findings: [{ severity: 'minor', summary: text, evidence: text }],
});

async function walk(hostile: string) {
  const agent = engine({ listing: () => withFile(SHOWN) });
  const begun = await agent.start('test.shown', { goal: hostile, context: { value: hostile } });
  const second = await agent.send(begun, { notes: hostile, context: { other: hostile } });
  const saved = await agent.save(second, hostile);
  const blocked = await agent.send(second, { notes: hostile, artifacts: [finding(hostile)] });
  return { agent, replies: [begun, second, saved, blocked, await agent.show(second), await agent.show(begun)], second };
}

describe('recorded text in replies', () => {
  let walks: readonly Awaited<ReturnType<typeof walk>>[];

  beforeAll(async () => {
    walks = await Promise.all(INJECTIONS.map(walk));
  });

  test('more than sixty texts try to look like ours', () => {
    expect(new Set(INJECTIONS).size).toBe(INJECTIONS.length);
    expect(INJECTIONS.length).toBeGreaterThanOrEqual(60);
  });

  test('no line of a recorded text can be taken for a line of ours', async () => {
    enforces('recorded_text_is_data', 'hidden_characters_shown');
    const plain = await walk('harmless\nwords');
    const [secret, odd] = [await walk('password: hunter2hunter2'), await walk('a\u0000b')];
    const own = new Set([plain, secret, odd].flatMap(({ replies }) => replies.flatMap(skeleton)));
    for (const reply of walks.flatMap(({ replies }) => replies)) {
      const shown = [reply.text, ...(reply.furtherTexts ?? [])].join('\n');
      expect(shown.replaceAll(/[\n\t]/g, '').match(harmfulCharacters())).toBe(null);
      expect(skeleton(reply).filter((line) => !own.has(line) && !isPlaced(line))).toEqual([]);
      expect(reply.text.split('\n').filter((line) => line === RECORDED_LABEL).length).toBeLessThanOrEqual(1);
      expect(reply.text.split('\n').filter((line) => line === '---').length).toBe(1);
    }
  });

  test('recorded texts come back exactly as data', async () => {
    enforces('recorded_text_is_data');
    for (const [i, { agent, second }] of walks.entries()) {
      const hostile = INJECTIONS[i];
      const { structured } = await agent.show(second);
      expect(structured['goal']).toBe(hostile);
      const recap = structured['recap'] as { readonly entries: readonly JsonObject[] };
      expect(recap.entries.map(({ text }) => text)).toContain(hostile);
      const events = agent.events.flatMap((event) => (event.kind === 'context_set' ? [event.data.context] : []));
      expect(Object.assign({}, ...events)).toMatchObject({ goal: hostile, value: hostile, other: hostile });
    }
  });

  test('no title or name of a workflow makes a line that looks like ours', async () => {
    for (const hostile of INJECTIONS) {
      const file = { ...SHOWN, name: hostile, steps: [{ id: 'one', title: hostile, prompt: 'Do it.' }] };
      const agent = engine({ listing: () => withFile(file) });
      if (hiddenCharacters(hostile).length > 0) {
        await expect(agent.start('test.shown')).rejects.toThrow();
        continue;
      }
      const begun = await agent.start('test.shown');
      for (const reply of [begun, await agent.show(begun), await agent.send(begun, { notes: 'Done.' })]) {
        const lines = ownLines(reply.text);
        expect(lines.filter((line) => line === '---')).toHaveLength(1);
        expect(lines.filter((line) => LOOKS.test(line))).toEqual([
          '---',
          expect.stringMatching(/^Run \w{4} · test\.shown \(project\) · guided · /),
          ...(reply.structured['isComplete'] === true
            ? []
            : [expect.stringMatching(/^Next call: continue_workflow \{"ackToken"/)]),
        ]);
      }
    }
  });

  test('no line of a text that an author wrote is shown so that it could be taken for a line of ours', async () => {
    enforces('authored_lines_not_ours');
    let tried = 0;
    for (const hostile of INJECTIONS.filter((text) => hiddenCharacters(text).length === 0)) {
      const file = authoredEverywhere(`Look.\n${hostile}\nDone.`);
      const agent = engine({ listing: () => withFile(file) });
      const begun = await agent.start('test.shown');
      const blocked = await agent.send(begun, { notes: 'x' });
      const second = await agent.send(blocked, { notes: 'The magic word' });
      for (const reply of [begun, blocked, await agent.show(begun), second, await agent.send(second, { notes: 'x' })]) {
        const [prompt = '', ...ends] = [reply.text, ...(reply.furtherTexts ?? [])].join('\n').split('\n---\nRun ');
        expect(ends).toHaveLength(1);
        const lines = ownLines(prompt).filter((line) => CLAIMS_OURS.test(line));
        const ours = OWN_PROMPT_LINES;
        expect(lines.filter((line) => !ours.some((own) => line.startsWith(own)))).toEqual([]);
        expect(lines.filter((line) => line.startsWith('Required:')).length).toBeLessThanOrEqual(1);
        tried += 1;
      }
    }
    expect(tried).toBeGreaterThan(150);
  });

  test('a refusal that quotes such a text has no line that looks like ours', () => {
    for (const hostile of INJECTIONS) {
      const { content } = errorResult({
        code: 'VALIDATION_ERROR',
        message: `Unknown argument ${hostile}`,
        retry: { kind: 'not_retryable' },
        suggestion: hostile,
      } as Parameters<typeof errorResult>[0]);
      const [first] = content;
      const lines = first?.type === 'text' ? first.text.split('\n') : [];
      expect(lines.filter((line) => LOOKS.test(line))).toEqual([]);
    }
  });
});

/** A workflow that has a text everywhere where an author can write one that agents read. */
const authoredEverywhere = (text: string) => ({
  id: 'test.shown',
  name: 'Hostile',
  description: text,
  preconditions: [text],
  clarificationPrompts: [text],
  metaGuidance: [text],
  functionDefinitions: [{ name: 'shape', definition: text }],
  steps: [
    {
      id: 'one',
      title: 'One',
      prompt: text,
      agentRole: text,
      guidance: [text],
      functionReferences: ['shape()'],
      validationCriteria: { type: 'contains', value: 'magic', message: text },
    },
    {
      id: 'two',
      title: 'Two',
      promptFragments: [{ id: 'a', text }],
      prompt: 'Ask.',
      userDependency: { reason: 'needs_user_choice', choiceKind: 'scope_boundary', prompt: text, contextKey: 'choice' },
    },
    { id: 'three', title: 'Three', prompt: 'End.' },
  ],
});

const CLAIMS_OURS =
  /^[\s*_#+`~-]*(?:\d+[.)]\s*)?(?:---\s*$|Next call:|Run \w{4} ·|Warning:|Gap \(|Blocked:|Confirmation:|Required:|Recorded earlier|Rules for the whole|To see the goal|To save notes|The step:|Documents of this|Assessment "|No gaps|Every required output|Approved by)/;
/** What a prompt of such a workflow has of these. */
const OWN_PROMPT_LINES = [
  'Required:',
  'Rules for the whole workflow:',
  'Blocked: "',
  'The step:',
  'Recorded earlier by agents and users.',
  'Next call: continue_workflow {"ackToken":"',
  '---',
];

/** How a reader recognises our lines, also as items, headings and in bold. */
const LOOKS = /^[\s*_#+`~-]*(?:\d+[.)]\s*)?(?:---\s*$|Next call:|Run \w{4} ·|Warning:|Gap \(|Blocked:|Confirmation:)/;

/** Lines of the author in which a value stands where the author put it. */
function isPlaced(line: string): boolean {
  return /^(?:Look at |- |"…"|\[value: see )/.test(line);
}
