import { expect, it } from 'vitest';
import { serverLog } from './server-log.ts';

function lines(isStructured: boolean): readonly string[] {
  const written: string[] = [];
  const log = serverLog({ write: (text) => written.push(text), isStructured, now: () => new Date(0) });
  log.event('serving', { transport: 'stdio' });
  log.call({ tool: 'continue_workflow', outcome: 'ok', run: '7f3a', ms: 4 });
  log.call({ tool: 'continue_workflow', outcome: 'error', code: 'STORE_IO', ms: 2 });
  log.trouble('The disk\nis full.');
  return written;
}

it('the server logs only problems unless logging is on', () => {
  expect(lines(false)).toEqual(['workrail: The disk\nis full.\n']);
});

it('the server logs everything as lines of JSON if logging is on', () => {
  const at = '1970-01-01T00:00:00.000Z';
  expect(lines(true).map((line) => JSON.parse(line))).toEqual([
    { at, level: 'info', event: 'serving', transport: 'stdio' },
    { at, level: 'info', event: 'call', tool: 'continue_workflow', outcome: 'ok', run: '7f3a', ms: 4 },
    { at, level: 'error', event: 'call', tool: 'continue_workflow', outcome: 'error', code: 'STORE_IO', ms: 2 },
    { at, level: 'error', event: 'trouble', message: 'The disk\nis full.' },
  ]);
  expect(lines(true).every((line) => line.indexOf('\n') === line.length - 1)).toBe(true);
});
