import type { DoctorFinding, FindingKind } from '../../app/clients/doctor/doctor-finding.ts';
import { examine } from '../../app/clients/doctor/examine.ts';
import { plural } from '../../core/text/words.ts';
import { type DoctorData, doctorData } from '../../core/wire/machine-shapes.ts';
import { type CommandContext, command, done } from '../command.ts';
import { asTyped, bad, dim, good, type Line, notable } from '../output/line.ts';
import { type CommandProblem, EXIT, problem } from '../problem.ts';

/** The published name of each kind. */
const PUBLISHED_KINDS = { good: 'good', note: 'note', fault: 'fault', fixed: 'mended' } as const satisfies {
  readonly [kind in FindingKind]: string;
};

export const doctor = command({
  options: [
    { flags: '--fix', help: 'fix what can be fixed automatically' },
    { flags: '--full', help: 'check every stored byte of every session (slow with thousands of sessions)' },
  ],
  example: 'workrail doctor --fix',
  needsNoConfig: true,
  data: doctorData,
  run: async ({ program, progress }, { options }) => {
    progress.show({ label: 'checking this machine' });
    const [setup, dataDir] = await Promise.all([program.setup(), program.dataDir()]);
    const findings = await examine(setup, setup.health, {
      isFixing: options['fix'] === true,
      isFull: options['full'] === true,
      onProgress: ({ done, total }) =>
        progress.show(done < total ? { label: 'checking sessions', done, total } : { label: 'starting every client' }),
    });
    const data: DoctorData = {
      version: program.version,
      dataDir,
      findings: findings.map(({ applyFix, kind, ...finding }) => ({
        ...finding,
        kind: PUBLISHED_KINDS[kind],
        isMendable: applyFix !== undefined,
      })),
      totals: totalsOf(findings),
    };
    const faults = findings.filter(({ kind }) => kind === 'fault');
    const stored = await setup.health.sessions.list();
    return done({
      data,
      lines: findings.flatMap((finding) => findingLines(finding, program)),
      problem: problemOf(faults),
      next: nextOf(findings, { faults, isUsed: stored.isErr() || stored.value.length > 0 }),
    });
  },
});

function nextOf(
  findings: readonly DoctorFinding[],
  { faults, isUsed }: { readonly faults: readonly DoctorFinding[]; readonly isUsed: boolean },
): string {
  const isRegistered = findings.some(({ client }) => client !== undefined);
  if (faults.length === 0 && isRegistered) return isUsed ? 'workrail status' : FIRST_RUN;
  if (faults.length === 0) return 'workrail init';
  // The summary already says to run --fix.
  return faults.some(({ applyFix }) => applyFix !== undefined) ? '' : 'workrail doctor';
}

/** The status would be empty. */
const FIRST_RUN = 'restart the client and say "List the WorkRail workflows and start the one that fits: …"';

const MARKS: { readonly [kind in FindingKind]: Exclude<Line[number], string> } = {
  good: good('✓'),
  note: notable('•'),
  fault: bad('✗'),
  fixed: good('✓ fixed:'),
};

/** A finding, and below it what to do. */
export function findingLines({ kind, text, fix }: DoctorFinding, program: CommandContext['program']): readonly Line[] {
  const head: Line = [MARKS[kind], ` ${text}`];
  return fix === undefined ? [head] : [head, [dim(`  → ${asTyped(fix, program)}`)]];
}

function totalsOf(findings: readonly DoctorFinding[]): DoctorData['totals'] {
  const count = (wanted: FindingKind) => findings.filter(({ kind }) => kind === wanted).length;
  return { good: count('good'), note: count('note'), fault: count('fault'), mended: count('fixed') };
}

function problemOf(faults: readonly DoctorFinding[]): CommandProblem | undefined {
  if (faults.length === 0) return undefined;
  const fixable = faults.filter(({ applyFix }) => applyFix !== undefined).length;
  return problem(
    EXIT.checkFailed,
    `${plural(faults.length, 'problem')} found.`,
    fixable === 0
      ? 'Follow the advice under each problem.'
      : `Run "workrail doctor --fix" to fix ${fixable === faults.length ? 'this' : `${fixable} of them`} automatically.`,
  );
}
