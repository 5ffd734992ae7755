import { expect, it, vi } from 'vitest';

it('a question in a terminal without a size is laid out for 80 columns, not for one letter a line', async () => {
  const before = process.stderr.columns;
  try {
    process.stderr.columns = 0;
    vi.resetModules();
    await import('./terminal-ask.ts');
    expect(process.stderr.columns).toBe(80);
  } finally {
    process.stderr.columns = before;
  }
});
