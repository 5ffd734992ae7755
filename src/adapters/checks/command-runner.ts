import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, type Stats, statSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import type { CheckRunner, CommandResult, CommandWork } from '../../app/ports/check-runner.ts';
import { junitReport, type TestReport, tapReader } from '../../core/run/evidence/test-report.ts';
import { atExit } from '../at-exit.ts';
import { readRegular } from '../guarded-file.ts';
import { withBase } from './throw-away-worktree.ts';

/** What is kept of the output: the end of it says how a command failed. */
const TAIL_BYTES_MAX = 64 * 1024;
/** A longer line is not a result of a test. */
const LINE_LENGTH_MAX = 64 * 1024;
/** A larger report is not read. */
const REPORT_BYTES_MAX = 32 * 1024 * 1024;
/** Children that outlive the command may still hold its output open. */
const CLOSING_MS_MAX = 500;

export const checkRunner: CheckRunner = { run: runCommand, withBase };

async function runCommand(work: CommandWork): Promise<CommandResult> {
  const { command, folder, timeoutMs, report, onOutput } = work;
  const before = report === undefined || report === TAP ? undefined : fileAt(join(folder, report));
  const startedMs = performance.now();
  const startedAt = Date.now();
  const child = spawn('sh', ['-c', command], {
    cwd: folder,
    env: cleanEnvironment(),
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own, so that everything it starts can be ended with it.
    detached: true,
    windowsHide: true,
  });
  const cancel = atExit(() => killGroup(child));
  const tail = tailOf(TAIL_BYTES_MAX);
  const tap = report === TAP ? lineReader(tapReader((name) => isFileIn(folder, name))) : undefined;
  const read = async (stream: Readable, isStandard: boolean) => {
    for await (const chunk of stream as AsyncIterable<Uint8Array>) {
      tail.add(chunk);
      if (isStandard) tap?.add(chunk);
      await onOutput(chunk);
    }
  };
  const outputs = Promise.allSettled([read(child.stdout, true), read(child.stderr, false)]);
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    killGroup(child);
  }, timeoutMs);
  const end = await endOf(child);
  clearTimeout(timer);
  const durationMs = Math.round(performance.now() - startedMs);
  await Promise.race([outputs, pause(CLOSING_MS_MAX, undefined, { ref: false })]);
  killGroup(child);
  child.stdout.destroy();
  child.stderr.destroy();
  await outputs;
  cancel();
  const found = report === undefined ? undefined : (tap?.report() ?? fileReport({ work, before, startedAt }));
  return { ...end, timedOut, durationMs, tail: tail.text(), ...(found === undefined ? {} : { report: found }) };
}

const TAP = 'tap';

function endOf(child: ChildProcess): Promise<{ readonly exitCode: number | null; readonly signal?: string }> {
  return new Promise((resolve) => {
    // Without a shell nothing can be run, which shells report with this code.
    child.once('error', () => resolve({ exitCode: 127 }));
    child.once('exit', (exitCode, signal) => resolve({ exitCode, ...(signal === null ? {} : { signal }) }));
  });
}

function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The whole group has ended.
  }
}

/** Variables that point git to another repository would make tests look at the wrong one. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const { GIT_DIR: _, GIT_WORK_TREE: __, GIT_INDEX_FILE: ___, NODE_TEST_CONTEXT: ____, ...env } = process.env;
  return env;
}

/** Keeps the end of what is added. */
function tailOf(bytesMax: number) {
  let kept: Uint8Array[] = [];
  let bytes = 0;
  return {
    add: (chunk: Uint8Array) => {
      kept.push(chunk);
      bytes += chunk.length;
      while (bytes - (kept[0]?.length ?? 0) >= bytesMax) bytes -= kept.shift()?.length ?? 0;
    },
    text: () => {
      const all = Buffer.concat(kept);
      kept = [];
      return plainText(all.subarray(Math.max(0, all.length - bytesMax)).toString('utf8'));
    },
  };
}

/** Colours and other control sequences say nothing in a log. */
function plainText(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is removed
  return text.replaceAll(/\u001b\[[0-9;?]*[ -/]*[@-~]/g, '').replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f]/g, '');
}

function lineReader(reader: { readonly line: (text: string) => void; readonly report: () => TestReport | undefined }) {
  const decoder = new TextDecoder();
  let rest = '';
  return {
    add: (chunk: Uint8Array) => {
      const lines = `${rest}${decoder.decode(chunk, { stream: true })}`.split('\n');
      rest = (lines.pop() ?? '').slice(0, LINE_LENGTH_MAX);
      for (const line of lines) reader.line(line.trimEnd());
    },
    report: () => {
      if (rest !== '') reader.line(rest.trimEnd());
      rest = '';
      return reader.report();
    },
  };
}

function fileAt(path: string): Stats | undefined {
  return statSync(path, { throwIfNoEntry: false });
}

/** A report counts only if this run of the command wrote it. */
function fileReport({
  work: { folder, report },
  before,
  startedAt,
}: {
  readonly work: CommandWork;
  readonly before: Stats | undefined;
  readonly startedAt: number;
}): TestReport | undefined {
  if (report === undefined || report === TAP) return undefined;
  const path = join(folder, report);
  const after = fileAt(path);
  if (after === undefined || !after.isFile() || after.size > REPORT_BYTES_MAX) return undefined;
  const isSame = before !== undefined && before.mtimeMs === after.mtimeMs && before.ino === after.ino;
  // File systems keep times less exactly than the clock.
  if (isSame || after.mtimeMs < startedAt - 2_000) return undefined;
  return junitReport(readRegular(path).toString(), (name) => isFileIn(folder, name));
}

function isFileIn(folder: string, name: string): boolean {
  if (name === '' || !/[./\\]/.test(name) || name.includes('\0')) return false;
  const path = isAbsolute(name) ? name : join(folder, name);
  return existsSync(path) && fileAt(path)?.isFile() === true;
}
