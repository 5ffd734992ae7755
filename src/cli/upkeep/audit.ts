import { err } from 'neverthrow';
import * as z from 'zod';
import type { AuditLog } from '../../app/ports/team-database.ts';
import { assert } from '../../core/assert.ts';
import { canonicalLines } from '../../core/json/canonical-json.ts';
import { plural, shellWord } from '../../core/text/words.ts';
import { ROLES } from '../../core/wire/team-paths.ts';
import { AUDIT_ACTIONS } from '../../core/wire/team-shapes.ts';
import { put } from '../bundle/export.ts';
import { command, done } from '../command.ts';
import { table } from '../output/text-width.ts';
import { type CommandProblem, EXIT, problem, usageProblem } from '../problem.ts';
import { refusalProblem } from '../refusal-problem.ts';
import { OF_DATABASE, SPACE_OPTIONS, withAccess } from './team-access.ts';

export const auditVerify = command({
  options: SPACE_OPTIONS,
  example: 'workrail audit verify --space shop --database-url "$DB"',
  needsNoConfig: true,
  data: z.strictObject({
    entries: z.array(
      z.strictObject({
        seq: z.int().min(1),
        at: z.iso.datetime(),
        by: z.string(),
        action: z.enum(AUDIT_ACTIONS),
        subject: z.string(),
        role: z.enum(ROLES).nullable(),
      }),
    ),
    /** The first entry that was changed, removed or added; null if there is none. */
    brokenAt: z.int().min(1).nullable(),
  }),
  run: (context, input) =>
    withAccess(context, input, async ({ access, space }) => {
      const read = await access.audit();
      if (read.isErr()) return err(refusalProblem(read.error, OF_DATABASE));
      const { brokenAt = null } = read.value;
      const entries = read.value.entries.map(({ seq, at, by, action, subject, role = null }) => ({
        seq,
        at: new Date(at).toISOString(),
        by,
        action,
        subject,
        role,
      }));
      const whole = `Each of the ${entries.length} entries continues the one before.`;
      return done({
        data: { entries, brokenAt },
        lines: [
          ...table(entries.map(({ at, by, action, subject, role }) => [at, by, action, subject, role ?? ''])),
          [
            brokenAt === null
              ? whole
              : `Entry ${brokenAt} is missing or does not continue the one before: the log was changed.`,
          ],
        ],
        problem: changedProblem(space, brokenAt),
        next: `workrail member list --space ${space} --database-url URL`,
      });
    }),
});

export const auditExport = command({
  options: [
    ...SPACE_OPTIONS,
    { flags: '-o, --output <file>', help: 'the file to write (default: standard output)' },
    { flags: '--force', help: 'replace the file if it exists' },
  ],
  example: 'workrail audit export --space shop --database-url "$DB" -o audit.jsonl',
  needsNoConfig: true,
  data: z.strictObject({
    /** "-" for standard output. */
    file: z.string(),
    entries: z.int().min(0),
    bytes: z.int().min(0),
    /** The chain of the last entry; null if the log is empty. */
    head: z.string().nullable(),
    /** The first entry that was changed, removed or added; null if there is none. It and all later ones are left out. */
    brokenAt: z.int().min(1).nullable(),
  }),
  run: (context, input) => {
    const { output, force } = input.options;
    const file = typeof output === 'string' ? output : undefined;
    if (file === undefined && context.switches.isJson) {
      return Promise.resolve(err(usageProblem('With --json, the log needs a file.', 'Name a file: -o FILE')));
    }
    return withAccess(context, input, async ({ access, space }) => {
      const read = await access.audit();
      if (read.isErr()) return err(refusalProblem(read.error, OF_DATABASE));
      const { entries, chains, brokenAt = null } = read.value;
      const bytes = logBytes(read.value);
      const opened = await (await context.program.bundleAccess()).output(file, { mayReplace: force === true });
      if (opened.isErr()) return err(refusalProblem(opened.error, OF_DATABASE));
      const written = await put(opened.value, bytes);
      if (written.isErr()) return err(refusalProblem(written.error, OF_DATABASE));
      return done({
        data: {
          file: file ?? '-',
          entries: entries.length,
          bytes: bytes.length,
          head: chains.at(-1) ?? null,
          brokenAt,
        },
        lines:
          file === undefined
            ? []
            : [[`Wrote ${plural(entries.length, 'entry', 'entries')} of the audit log of ${space} to ${file}.`]],
        problem: changedProblem(space, brokenAt),
        next: `workrail audit verify --space ${shellWord(space)} --database-url URL`,
      });
    });
  },
});

/** One line for each entry, in the form that its chain is computed from. */
function logBytes({ entries, chains }: AuditLog): Uint8Array {
  const lines = canonicalLines(entries.map((entry, at) => ({ chain: chains[at], entry })));
  assert(lines.isOk(), 'an entry is JSON');
  return lines.value;
}

function changedProblem(space: string, brokenAt: number | null): CommandProblem | undefined {
  if (brokenAt === null) return undefined;
  return problem(EXIT.checkFailed, `The audit log of ${space} was changed.`, 'Compare it with a backup.');
}
