import { err } from 'neverthrow';
import type { RunCommand } from '../command.ts';
import { exportBundle } from '../commands/exchange/export-bundle.ts';
import { exportReport, isReportFormat } from '../commands/exchange/export-report.ts';
import { wrongUse } from '../commands/exchange/wrong-use.ts';

export const exportCommand: RunCommand = async (context, { operands, options }) => {
  const format = options['as'] ?? 'bundle';
  const file = typeof options['output'] === 'string' ? options['output'] : undefined;
  const asked = operands.filter((id) => id.trim() !== '');
  if (asked.length === 0) {
    return err(wrongUse('A session is missing.', 'Type its id: workrail export ID --as bundle -o FILE'));
  }
  if (format === 'bundle') return exportBundle(context, { asked, file });
  if (isReportFormat(format)) {
    return exportReport(context, { asked, file, format, isRedacted: options['redact'] !== false });
  }
  return err(wrongUse(`There is no format "${String(format)}".`, 'Use --as bundle, md, html or json.'));
};
