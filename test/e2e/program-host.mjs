// Runs commands and servers of the built program one after the other in one process, for tests in which the process is
// not what is looked at. The parts of the program are loaded once; its main file is loaded again for every start.

import { createRequire } from 'node:module';
import { PassThrough, Writable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

const own = { stdin: process.stdin, stdout: process.stdout, writeError: process.stderr.write.bind(process.stderr) };
const PATIENCE_MS = 2_000;
const LOOKS = 3;
let count = 0;
let input;
let hasScripts = false;
/** Timers of the server. */
let timers = [];
for (const name of ['setTimeout', 'setInterval', 'setImmediate']) {
  const begin = globalThis[name];
  globalThis[name] = (...given) => {
    const timer = begin(...given);
    timers.push(timer);
    return timer;
  };
}
process.setMaxListeners(0);
process.stdout.setMaxListeners(0);

process.on('message', async (asked) => {
  if (asked.kind === 'input') input.write(asked.line);
  else if (asked.kind === 'run') await run(asked);
  else if (asked.kind === 'serve') await serve(asked);
  else await end();
});

async function run(asked) {
  const ended = { out: '', talk: '' };
  own.stdout.write = into(ended, 'out');
  process.stderr.write = into(ended, 'talk');
  put('stdin', own.stdin);
  put('stdout', own.stdout);
  await start(asked);
  process.send({ kind: 'ended', exitCode: process.exitCode ?? 0, ...ended });
}

async function serve(asked) {
  runScriptsOnce(asked.program);
  input = new PassThrough();
  process.stderr.write = own.writeError;
  put('stdin', input);
  put('stdout', new Writable({ write: (part, _, done) => process.send({ kind: 'output', part: String(part) }, done) }));
  await start({ ...asked, args: ['serve'] });
}

/** A process would end as soon as nothing is left to do; clients wait for that, but not for ever. */
async function end() {
  input.end();
  const endedAt = performance.now();
  // Not everything that is under way can be seen between two steps of it.
  for (let looks = 0; looks < LOOKS && performance.now() - endedAt < PATIENCE_MS; ) {
    await pause(1);
    looks = isBusy() ? 0 : looks + 1;
  }
  // Those that keep no process alive end with it.
  for (const timer of timers) if (!timer.hasRef()) timer[Symbol.dispose]();
  timers = [];
  process.send({ kind: 'ended' });
}

/** Whether something under way would keep a process alive, besides the pipe to the tests and the timer that asks. */
function isBusy() {
  const others = process.getActiveResourcesInfo().filter((kind) => kind !== 'PipeWrap' && kind !== 'CloseReq');
  return others.length > 1;
}

async function start({ program, args, cwd, env }) {
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  process.chdir(cwd);
  process.argv = [process.execPath, program, ...args];
  process.exitCode = undefined;
  await import(`${pathToFileURL(program).href}?${++count}`);
}

/** The program reads and runs the scripts of its server in each process. Here those of the first one are used again. */
function runScriptsOnce(program) {
  if (hasScripts) return;
  hasScripts = true;
  const require = createRequire(program);
  const { openScripts } = require('./server.cjs');
  let scripts;
  const opened = (folder) => {
    scripts ??= { ...openScripts(folder), keep: () => undefined };
    return scripts;
  };
  require.cache[require.resolve('./server.cjs')].exports = { openScripts: opened };
}

function put(name, stream) {
  Object.defineProperty(process, name, { value: stream, configurable: true });
}

function into(ended, name) {
  return (part, ...rest) => {
    ended[name] += typeof part === 'string' ? part : Buffer.from(part).toString();
    rest.findLast((one) => typeof one === 'function')?.();
    return true;
  };
}
