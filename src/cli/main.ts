import type { Program } from './program.ts';

/**
 * Runs one command line and returns the exit code; `undefined` while a server is running. What is decided here starts at
 * once; the rest is loaded first. This file shares no code with the rest, because that would have to be loaded too.
 */
export async function runCommand(program: Program): Promise<number | undefined> {
  const [command, ...rest] = program.argv;
  if (rest.length === 0 && (command === '--version' || command === 'version')) {
    program.write(`${program.version}\n`);
    return 0;
  }
  const mayBeClient = rest.length === 0 && (command === undefined || command === 'serve');
  if (mayBeClient && !program.terminal.isInput()) {
    await program.serve({ transport: 'stdio', isLogged: false });
    return undefined;
  }
  const { runCommandLine } = await import('./run-command-line.ts');
  return runCommandLine(program);
}
