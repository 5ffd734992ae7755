import { type DoctorFinding, good } from '../../../clients/doctor/doctor-finding.ts';
import type { MachineHealth } from '../../../ports/machine-health.ts';
import type { ClientServices } from '../setup-services.ts';

/** Every workrail that the shell would find, besides the one that runs. */
export async function checkVersions(
  { machine, commands }: ClientServices,
  { versionOf }: Pick<MachineHealth, 'versionOf'>,
): Promise<DoctorFinding> {
  const onPath = await commands.find('workrail');
  const places = new Map(onPath.map(({ realPath, path }) => [realPath, path]));
  if (!places.has(machine.programPath)) places.set(machine.programPath, machine.programPath);
  const installed = await Promise.all(
    [...places].map(async ([realPath, path]) => ({
      path,
      version: realPath === machine.programPath ? machine.version : await versionOf(realPath),
    })),
  );
  const isOne = installed.every(({ version }) => version === machine.version);
  if (isOne) return good('versions', `workrail ${machine.version} at ${installed[0]?.path ?? machine.programPath}`);
  return {
    check: 'versions',
    kind: 'fault',
    text: `several versions are installed: ${installed.map(({ path, version }) => `${version ?? 'one that does not tell its version'} at ${path}`).join(', ')}`,
    fix: 'Remove those you do not need (npm uninstall -g workrail, in each Node that has it), then type: workrail doctor',
  };
}
