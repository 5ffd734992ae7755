import { execFile } from 'node:child_process';
import { constants, realpathSync } from 'node:fs';
import { access, realpath, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { Commands, FoundProgram, Machine } from '../../app/ports/machine.ts';

type Running = { readonly programPath: string; readonly version: string };

/** The machine that this process runs on. */
export function thisMachine({ programPath, version }: Running): Machine {
  return {
    platform: process.platform,
    home: homedir(),
    workspace: process.cwd(),
    env: process.env,
    join,
    nodePath: process.execPath,
    nodeVersion: process.versions.node,
    programPath: realpathSync(programPath),
    version,
  };
}

/** Some clients' commands are slow to start. */
const TIMEOUT_MS = 20_000;

/** Programs on the PATH. */
export function nodeCommands({ env, platform, workspace }: Pick<Machine, 'env' | 'platform' | 'workspace'>): Commands {
  const folders = (env['PATH'] ?? env['Path'] ?? '').split(delimiter).filter((folder) => folder !== '');
  const endings = platform === 'win32' ? ['.exe', '.cmd', '.bat'] : [''];
  return {
    find: async (name) => {
      const candidates = folders.flatMap((folder) => endings.map((ending) => join(folder, `${name}${ending}`)));
      const found = await Promise.all(candidates.map(programAt));
      return found.filter((program) => program !== undefined);
    },
    run: ({ path, args, timeoutMs = TIMEOUT_MS }) =>
      new Promise((resolve) => {
        // Only a shell can run such files, and a shell must not interpret our arguments.
        if (/\.(?:cmd|bat)$/i.test(path)) return resolve({ exitCode: undefined, said: '' });
        const options = { cwd: workspace, env: { ...env }, timeout: timeoutMs, killSignal: 'SIGKILL' } as const;
        const child = execFile(path, [...args], options, (error, stdout, stderr) => {
          const code = error === null ? 0 : error.code;
          resolve({ exitCode: typeof code === 'number' ? code : undefined, said: `${stdout}${stderr}`.trim() });
        });
        child.stdin?.end();
      }),
  };
}

async function programAt(path: string): Promise<FoundProgram | undefined> {
  try {
    await access(path, constants.X_OK);
    if (!(await stat(path)).isFile()) return undefined;
    return { path, realPath: await realpath(path) };
  } catch {
    return undefined;
  }
}
