import type { OnProgress } from '../../../core/flow.ts';
import type { ClientServices } from '../../ports/machine.ts';
import type { MachineHealth } from '../../ports/machine-health.ts';
import { checkClients } from './check-clients.ts';
import { checkForms } from './check-forms.ts';
import {
  checkConfig,
  checkData,
  checkIndex,
  checkKeyring,
  checkLocks,
  checkNode,
  checkSessions,
  checkSources,
  checkVersions,
} from './check-machine.ts';
import type { DoctorFinding } from './doctor-finding.ts';

type ExamineOptions = {
  /** Also fixes what can be fixed automatically. */
  readonly isFixing: boolean;
  /** Checks every byte of every session. */
  readonly isFull: boolean;
  readonly onProgress: OnProgress;
};

/** Checks everything that could keep an agent from working here. Servers are started while the rest is checked. */
export async function examine(
  services: ClientServices,
  health: MachineHealth,
  { isFixing, isFull, onProgress }: ExamineOptions,
): Promise<readonly DoctorFinding[]> {
  const clients = checkClients(services, health);
  const inspected = await health.index.inspect();
  const machine = [
    checkNode(services),
    ...(await checkConfig(services, health)),
    ...(await checkData(services, health)),
    ...(await checkKeyring(health)),
    await checkLocks(health),
    checkIndex(health, inspected),
    ...(await checkSessions(health, { isFull, inspected, onProgress })),
    await checkVersions(services, health),
  ];
  const findings = [...machine, ...(await clients), ...(await checkForms(services)), ...(await checkSources(health))];
  if (!isFixing) return findings;
  const fixed: DoctorFinding[] = [];
  // One after the other: two fixes may change the same file.
  for (const finding of findings) fixed.push(await fixFinding(finding));
  return fixed;
}

async function fixFinding(finding: DoctorFinding): Promise<DoctorFinding> {
  if (finding.applyFix === undefined) return finding;
  const trouble = await finding.applyFix();
  const { applyFix: _, fix: __, ...rest } = finding;
  return trouble === undefined ? { ...rest, kind: 'fixed' } : { ...rest, fix: trouble };
}
