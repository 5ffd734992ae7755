/** What the commands are handed: everything that touches the world outside of this folder. */
export type Program = {
  readonly version: string;
  readonly argv: readonly string[];
  readonly isInputTerminal: boolean;
  readonly write: (text: string) => void;
  readonly writeError: (text: string) => void;
  /** Serves MCP on standard input and output until the client hangs up. */
  readonly serve: () => Promise<void>;
};

const EXIT = { ok: 0, usage: 2 } as const;

const HELP = `workrail: walks an AI agent through a workflow, one step at a time

Usage
  workrail serve     serve MCP on standard input and output (what an agent client starts)
  workrail version   print the version
  workrail help      print this

Example
  claude mcp add workrail -- workrail serve
`;

/** Runs one command line and returns the exit code; `undefined` while a server goes on. */
export async function runCommand(program: Program): Promise<number | undefined> {
  const [command, ...rest] = program.argv;
  switch (command) {
    case 'serve':
      return rest.length === 0 ? serve(program) : usage(program, `serve takes no "${rest.join(' ')}"`);
    case undefined:
      return program.isInputTerminal ? print(program, HELP) : serve(program);
    case 'version':
    case '--version':
      return print(program, `${program.version}\n`);
    case 'help':
    case '--help':
    case '-h':
      return print(program, HELP);
    default:
      return usage(program, `unknown command "${command}"`);
  }
}

async function serve(program: Program): Promise<undefined> {
  await program.serve();
  return undefined;
}

function print(program: Program, text: string): number {
  program.write(text);
  return EXIT.ok;
}

function usage(program: Program, problem: string): number {
  program.writeError(`workrail: ${problem}\nRun "workrail help" to see the commands.\n`);
  return EXIT.usage;
}
