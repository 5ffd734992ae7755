import { err, ok } from 'neverthrow';
import type { Command } from './command.ts';
import { dim, notable } from './output/line.ts';
import { consolePortProblem, refusalProblem } from './refusal-problem.ts';

/** Not the port of `serve --http`, so that both can run. It is fixed so that a bookmark stays valid. */
const PORT = 7_434;
const PORT_MAX = 65_535;

/** An agent that may run commands can start the console, too. */
const NOT_AT_TERMINAL =
  'This is not a terminal, so the page shows everything and takes no decisions: run the command in a terminal to answer, to accept an import, or to let an agent do more.';

export const consoleCommand: Command = {
  options: [
    { flags: '--port <port>', help: `the port on 127.0.0.1; 0 chooses any free port (default: ${PORT})` },
    { flags: '--no-open', help: 'print the link, and do not open a browser' },
  ],
  example: 'workrail console --no-open',
  run: async ({ program, say, switches }, { options }) => {
    const { port = String(PORT), open } = options;
    const dataDir = await program.dataDir();
    if (typeof port !== 'string' || !/^\d{1,5}$/.test(port) || Number(port) > PORT_MAX) {
      return err(
        consolePortProblem(refusalProblem({ code: 'port_unusable', asked: String(port), portMax: PORT_MAX }, dataDir)),
      );
    }
    const isAtTerminal = program.terminal.isInput() && program.terminal.isError();
    const serving = await program.console({ port: Number(port), isAtTerminal });
    if (serving.isErr()) return err(consolePortProblem(refusalProblem(serving.error, dataDir)));
    const { newLink, openBrowser, onEnter } = serving.value;
    // Each link works once, so the one for a script is not printed for a person too.
    if (switches.isJson || switches.isQuiet) {
      const url = newLink();
      return ok({ kind: 'serving', data: { url }, lines: [[url]] });
    }
    const show = () => say([`Open ${newLink()}`]);
    const isOpened = open !== false && program.terminal.isOutput() && (await openBrowser());
    say([
      isOpened
        ? 'The console is open in your browser. If it is not:'
        : 'The console is running, for this machine only.',
    ]);
    show();
    if (!isAtTerminal) say([notable(NOT_AT_TERMINAL)]);
    const more = isAtTerminal ? ' Press Enter for a new one, Ctrl-C to stop.' : '';
    say([dim(`The link works once, and for a minute.${more}`)]);
    onEnter(show);
    return ok({ kind: 'serving' });
  },
};
