import type { ClientServices } from '../../ports/machine.ts';
import type { MachineHealth } from '../../ports/machine-health.ts';
import { checkClients } from './check-clients.ts';
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
  /** Also mends what can be mended. */
  readonly isMending: boolean;
  readonly onProgress: (progress: { readonly done: number; readonly total: number }) => void;
};

/** Looks at everything that could keep an agent from working here; the servers are started while the rest is looked at. */
export async function examine(
  services: ClientServices,
  health: MachineHealth,
  { isMending, onProgress }: ExamineOptions,
): Promise<readonly DoctorFinding[]> {
  const clients = checkClients(services, health);
  const machine = [
    checkNode(services),
    ...(await checkConfig(services, health)),
    ...(await checkData(services, health)),
    ...(await checkKeyring(health)),
    await checkLocks(health),
    await checkIndex(health),
    ...(await checkSessions(health, onProgress)),
    await checkVersions(services, health),
  ];
  const findings = [...machine, ...(await clients)];
  if (!isMending) return findings;
  const mended: DoctorFinding[] = [];
  // One after the other: two of them may be about the same file.
  for (const finding of findings) mended.push(await mendedFinding(finding));
  return mended;
}

async function mendedFinding(finding: DoctorFinding): Promise<DoctorFinding> {
  if (finding.kind !== 'fault' || finding.mend === undefined) return finding;
  const trouble = await finding.mend();
  const { check, text } = finding;
  return trouble === undefined ? { check, kind: 'mended', text } : { check, kind: 'fault', text, fix: trouble };
}
