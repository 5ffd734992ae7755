import { describe, expect, it } from 'vitest';
import { TOOLS } from './answer-call.ts';
import { INSTRUCTIONS, listedPrompts, promptNamed } from './instructions.ts';

function textOf(name: string, given: Record<string, string> = {}): string {
  const { content } = promptNamed(name, given)?.messages[0] ?? expect.fail(name);
  return content.type === 'text' ? content.text : expect.fail('a text');
}

describe('the slash commands', () => {
  it('the slash commands are start, resume and checkpoint, with optional arguments', () => {
    expect(listedPrompts().map(({ name }) => name)).toEqual(['start', 'resume', 'checkpoint']);
    for (const { title, description, arguments: taken = [] } of listedPrompts()) {
      expect([title, description]).toEqual([expect.stringMatching(/^[A-Z]/), expect.stringMatching(/\w/)]);
      expect(taken.map(({ required }) => required)).toEqual(taken.map(() => false));
    }
    expect(promptNamed('stop', {})).toBeUndefined();
    expect(promptNamed('constructor', {})).toBeUndefined();
  });

  it('every slash command names the tool to call and its arguments', () => {
    expect(textOf('start')).toMatch(/list_workflows.*start_workflow.*continue_workflow/s);
    expect(textOf('start', { workflow: 'bug "hunt"', goal: 'Repair it' })).toContain('{"query":"bug \\"hunt\\""}');
    expect(textOf('start', { workflow: 'x', goal: 'Repair it' })).toContain('"goal":"Repair it"');
    expect(textOf('resume', { about: ' ' })).toContain('Call resume_session with {}.');
    expect(textOf('resume', { about: 'login' })).toContain('Call resume_session with {"query":"login"}.');
    expect(textOf('resume', { about: 'st_abc' })).toContain('{"stateToken":"st_abc"}');
    expect(textOf('checkpoint', { notes: 'the key is in a.ts' })).toMatch(/checkpoint_workflow.*the key is in a\.ts/s);
  });

  it('the slash commands name only existing tools', () => {
    const names = TOOLS.map(({ name }) => name);
    const texts = [...listedPrompts().map(({ name }) => textOf(name)), INSTRUCTIONS];
    const named = texts.flatMap((text) => text.match(/\b[a-z]+_(?:workflows?|session)\b/g) ?? []);
    expect(named.filter((name) => !names.includes(name))).toEqual([]);
    expect(new Set(named).size).toBeGreaterThan(3);
  });
});

describe('the server instructions', () => {
  it('the instructions are short and begin with what matters', () => {
    expect(INSTRUCTIONS.length).toBeLessThanOrEqual(2_048);
    const first = INSTRUCTIONS.slice(0, 500);
    for (const part of [
      'start_workflow',
      'continue_workflow',
      'ackToken',
      'one step at a time',
      'do not know the next',
    ]) {
      expect(first).toContain(part);
    }
  });
});
