import type { CommandOutcome, Switches } from '../command.ts';
import type { CommandProblem } from '../problem.ts';
import type { Program } from '../program.ts';
import { asTyped, bad, dim, type Line, lineRenderer, printableJson, strong } from './line.ts';
import { type Progress, progressDisplay } from './progress.ts';

type Done = Extract<CommandOutcome, { kind: 'done' }>;
type Serving = Extract<CommandOutcome, { kind: 'serving' }>;

/** Prints the outcome of a command: data to standard output, messages to standard error. */
export type Printer = {
  readonly done: (command: string, outcome: Done) => void;
  readonly serving: (command: string, outcome: Serving) => void;
  readonly failed: (problem: CommandProblem, command?: string) => void;
  readonly say: (line: Line) => void;
  readonly progress: Progress;
  /** Whether help may use colors. */
  readonly hasColor: boolean;
};

type Speaker = Pick<Program, 'env' | 'terminal' | 'write' | 'writeError' | 'calledAs'>;

const SHAPE = { v: 1 } as const;

export function printerFor(program: Speaker, switches: Switches): Printer {
  const { env, terminal } = program;
  const mayColor = !switches.isColorless && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb';
  const data = lineRenderer(mayColor && terminal.isOutput());
  const talk = lineRenderer(mayColor && terminal.isError());
  const writeTalk = (...lines: readonly Line[]) => program.writeError(talk(lines));
  const writeJson = (document: object) => program.write(`${printableJson(document)}\n`);
  const hasMessages = !switches.isQuiet && !switches.isJson;

  const writeProblem = ({ error }: CommandProblem) => {
    writeTalk([bad(error.code), `: ${error.message}`], [strong('Fix: '), asTyped(error.suggestion, program)]);
    if (switches.isVerbose && error.details !== undefined) writeTalk([printableJson(error.details)]);
  };

  return {
    done: (command, outcome) => {
      const { problem } = outcome;
      if (switches.isJson) {
        const failure = problem === undefined ? {} : { error: jsonError(problem) };
        writeJson({ ok: problem === undefined, ...SHAPE, command, ...failure, data: outcome.data });
        return;
      }
      program.write(data(outcome.lines));
      if (problem !== undefined) writeProblem(problem);
      if (hasMessages && outcome.next !== '') writeTalk([dim(`Next: ${asTyped(outcome.next, program)}`)]);
    },
    serving: (command, { data: known, lines = [] }) => {
      if (known === undefined) return;
      if (switches.isJson) writeJson({ ok: true, ...SHAPE, command, data: known });
      else if (switches.isQuiet) program.write(data(lines));
    },
    failed: (problem, command) => {
      if (switches.isJson) {
        const name = command === undefined ? {} : { command };
        writeJson({ ok: false, ...SHAPE, ...name, error: jsonError(problem) });
      } else writeProblem(problem);
    },
    say: (line) => {
      if (hasMessages) writeTalk(line);
    },
    progress: progressDisplay({
      write: program.writeError,
      isTerminal: terminal.isError() && env['TERM'] !== 'dumb',
      isSilent: switches.isQuiet,
    }),
    hasColor: mayColor && terminal.isOutput(),
  };
}

function jsonError({ error }: CommandProblem): object {
  return { ...error, fix: error.suggestion };
}
