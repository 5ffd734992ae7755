import { expect, it } from 'vitest';
import { fitLine } from './fit-line.ts';

it('what somebody says goes on below the words where it does not fit, and stays as it is where it does', () => {
  const speaker = { text: '  rail   ', style: 'good' } as const;
  const line = [speaker, { text: 'blocked: ', style: 'bad' } as const, 'This step needs notes and none were sent.'];
  expect(fitLine(line, 80)).toEqual([line]);
  expect(fitLine(line, 40)).toEqual([[speaker, 'blocked: This step needs notes'], ['         and none were sent.']]);
});
