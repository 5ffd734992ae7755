import { err, ok } from 'neverthrow';
import { type Exported, exportSession } from '../../../app/bundle/export-session.ts';
import type { Problem, RunCommand } from '../../command.ts';
import { EXIT, exitCodeOf } from '../../exit-codes.ts';
import { type CommandRefusal, explain } from '../../explain.ts';
import { findSessions } from '../../find-sessions.ts';
import type { Line } from '../../output/line.ts';
import { plural, sizeOf } from '../../output/wording.ts';
import type { ExportData } from '../../shapes/exchange/export-shape.ts';
import { salvageLine } from './bundle-lines.ts';

const FORMATS = ['bundle'];

export const exportCommand: RunCommand = async ({ program, switches, progress }, { operands, options }) => {
  const [asked, ...more] = operands;
  const format = options['as'] ?? 'bundle';
  const file = typeof options['output'] === 'string' ? options['output'] : undefined;
  if (asked === undefined || asked.trim() === '' || more.length > 0)
    return err(wrongUse('A bundle holds one session.', NAME_ONE));
  if (typeof format !== 'string' || !FORMATS.includes(format)) {
    return err(wrongUse(`There is no format "${String(format)}".`, 'Use --as bundle.'));
  }
  if (file === undefined && (switches.isJson || program.terminal.isOutput())) {
    return err(
      wrongUse(
        'A bundle is for a file, not for the screen.',
        `Say which: workrail export ${asked} --as bundle -o FILE`,
      ),
    );
  }
  progress.show({ label: 'looking for sessions' });
  const dataDir = await program.dataDir();
  const refused = (refusal: CommandRefusal) => {
    const error = explain(refusal, dataDir);
    return err({ error, exitCode: exitCodeOf(error.code) });
  };
  const found = await findSessions(await program.store(), [asked]);
  if (found.isErr()) return refused(found.error);
  const [sessionId] = found.value;
  if (sessionId === undefined) return err(wrongUse('A bundle holds one session.', NAME_ONE));
  const exchange = await program.exchange();
  const output = await exchange.output(file);
  if (output.isErr()) return refused(output.error);
  const exported = await exportSession(exchange.services, { sessionId, output: output.value }, (step) =>
    progress.show({ label: 'reading the session', ...step }),
  );
  if (exported.isErr()) return refused(exported.error);
  const { salvage, ...rest } = exported.value;
  const data: ExportData = { ...rest, file: file ?? '-', ...(salvage === undefined ? {} : { salvage }) };
  return ok({
    kind: 'done',
    data,
    lines: file === undefined ? [] : linesOf(exported.value, file),
    next: file === undefined ? 'workrail import FILE --dry-run' : `workrail import ${file} --dry-run`,
  });
};

function linesOf({ sessionId, events, artifacts, bytes, salvage }: Exported, file: string): readonly Line[] {
  const content = `${plural(events, 'event')}, ${plural(artifacts, 'artifact')}, ${sizeOf(bytes)}`;
  return [
    [`${sessionId} is in ${file}: ${content}.`],
    ...(salvage === undefined ? [] : [salvageLine(salvage)]),
    [{ text: 'It holds notes and paths as they were recorded; look at it before you give it away.', style: 'dim' }],
  ];
}

const NAME_ONE = 'Type the id of one session: workrail export ID --as bundle -o FILE';

function wrongUse(message: string, suggestion: string): Problem {
  return {
    exitCode: EXIT.usage,
    error: { code: 'VALIDATION_ERROR', message, suggestion, retry: { kind: 'not_retryable' } },
  };
}
