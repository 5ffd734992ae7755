import { cpSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** The workflows that pages and tests name. Reading all others would be most of what a command does. */
const WORKFLOWS = [
  'wr.first_steps.json',
  'wr.first_steps.test.json',
  'wr.code_review.json',
  'wr.code_review.test.json',
  'routines',
];

/** The folder of the built program with a small library. Made once before the tests, by the function below. */
const SMALL = resolve('.cache', 'small-program');

/** The built program with a small library, for tests in which the library is not what is looked at. */
export const SMALL_PROGRAM = join(SMALL, 'dist', 'workrail.js');

/** Vitest calls this once before the tests of the project. It is renamed whole, so that runs at once do not meet half of it. */
export function setup(): void {
  const made = `${SMALL}-${process.pid}`;
  mkdirSync(made, { recursive: true });
  for (const part of ['dist', 'schemas', 'package.json']) cpSync(part, join(made, part), { recursive: true });
  for (const name of WORKFLOWS) cpSync(join('workflows', name), join(made, 'workflows', name), { recursive: true });
  rmSync(SMALL, { recursive: true, force: true });
  renameSync(made, SMALL);
}
