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
  const findings = [...machine, ...(await clients), ...(await checkForms(services))];
  if (!isFixing) return findings;
  const fixed: DoctorFinding[] = [];
  // One after the other: two fixes may change the same file.
  for (const finding of findings) fixed.push(await fixFinding(finding));
  return fixed;
}

async function fixFinding(finding: DoctorFinding): Promise<DoctorFinding> {
  if (finding.applyFix === undefined) return finding;
  const trouble = await finding.applyFix();
  const { check, kind, text } = finding;
  return trouble === undefined ? { check, kind: 'fixed', text } : { check, kind, text, fix: trouble };
}
