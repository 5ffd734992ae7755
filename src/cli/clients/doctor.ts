import { ok } from 'neverthrow';
import * as z from 'zod';
import {
  CHECKS,
  type DoctorFinding,
  FINDING_KINDS,
  type FindingKind,
} from '../../app/clients/doctor/doctor-finding.ts';
import { examine } from '../../app/clients/doctor/examine.ts';
import { plural } from '../../core/text/words.ts';
import { type CommandContext, type CommandProblem, EXIT, type RunCommand } from '../command.ts';
import { commandShape } from '../command-shape.ts';
import type { Line } from '../output/line.ts';
import { asTyped } from '../output/wording.ts';

export const doctor: RunCommand = async ({ program, progress }, { options }) => {
  progress.show({ label: 'looking at this machine' });
  const [setup, dataDir] = await Promise.all([program.setup(), program.dataDir()]);
  const findings = await examine(setup, setup.health, {
    isFixing: options['fix'] === true,
    onProgress: ({ done, total }) =>
      progress.show(done < total ? { label: 'checking sessions', done, total } : { label: 'starting every client' }),
  });
  const data: DoctorData = {
    version: program.version,
    dataDir,
    findings: findings.map(({ applyFix, ...finding }) => ({ ...finding, isMendable: applyFix !== undefined })),
    totals: totalsOf(findings),
  };
  const faults = findings.filter(({ kind }) => kind === 'fault');
  return ok({
    kind: 'done',
    data,
    lines: findings.flatMap((finding) => findingLines(finding, program)),
    ...(faults.length === 0 ? {} : { problem: problemOf(faults) }),
    next: nextOf(faults),
  });
};

/** What is left to a person has its own line; then it is time to look again. */
function nextOf(faults: readonly DoctorFinding[]): string {
  if (faults.length === 0) return 'workrail status';
  return faults.some(({ applyFix }) => applyFix !== undefined) ? 'workrail doctor --fix' : 'workrail doctor';
}

const MARKS: { readonly [kind in FindingKind]: Exclude<Line[number], string> } = {
  good: { text: '✓', style: 'good' },
  note: { text: '•', style: 'notable' },
  fault: { text: '✗', style: 'bad' },
  mended: { text: '✓ mended:', style: 'good' },
};

function findingLines({ kind, text, fix }: DoctorFinding, program: CommandContext['program']): readonly Line[] {
  const head: Line = [MARKS[kind], ` ${text}`];
  return fix === undefined ? [head] : [head, [{ text: `  → ${asTyped(fix, program)}`, style: 'dim' }]];
}

function totalsOf(findings: readonly DoctorFinding[]): DoctorData['totals'] {
  const count = (wanted: FindingKind) => findings.filter(({ kind }) => kind === wanted).length;
  return { good: count('good'), note: count('note'), fault: count('fault'), mended: count('mended') };
}

function problemOf(faults: readonly DoctorFinding[]): CommandProblem {
  const mendable = faults.filter(({ applyFix }) => applyFix !== undefined).length;
  return {
    exitCode: EXIT.checkFailed,
    error: {
      code: 'VALIDATION_ERROR',
      message: `${plural(faults.length, 'thing')} on this machine ${faults.length === 1 ? 'needs' : 'need'} attention.`,
      suggestion:
        mendable === 0
          ? 'Each says above what to do about it.'
          : `Run "workrail doctor --fix" to fix ${mendable === faults.length ? 'all of it' : `${mendable} of them`}.`,
      retry: { kind: 'not_retryable' },
    },
  };
}

const doctorData = z.strictObject({
  version: z.string(),
  dataDir: z.string(),
  findings: z.array(
    z.strictObject({
      check: z.enum(CHECKS),
      kind: z.enum(FINDING_KINDS),
      text: z.string(),
      fix: z.string().exactOptional(),
      /** Whether `--fix` mends it. */
      isMendable: z.boolean(),
    }),
  ),
  totals: z.strictObject({ good: z.int(), note: z.int(), fault: z.int(), mended: z.int() }),
});
type DoctorData = z.infer<typeof doctorData>;

/** What `workrail doctor --json` prints. */
export const doctorShape = commandShape('doctor', doctorData);
