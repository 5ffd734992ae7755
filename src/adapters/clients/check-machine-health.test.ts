import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { fakeSetup } from '../../../test/cli/fake-setup.ts';
import { machineHealth } from './check-machine-health.ts';

it.runIf(process.platform !== 'win32')('a script on the PATH is run to find its version', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'workrail-shim-'));
  const put = (name: string, text: string) => {
    writeFileSync(join(folder, name), text, { mode: 0o755 });
    return join(folder, name);
  };
  try {
    mkdirSync(join(folder, 'node_modules', 'workrail'), { recursive: true });
    put('node_modules/workrail/package.json', '{"name":"workrail","version":"1.1.1"}');
    put('package.json', '{"name":"workrail","version":"2.2.2"}');
    const { machine } = fakeSetup({ machine: { env: { PATH: '/usr/bin:/bin' }, workspace: folder } });
    const { versionOf } = machineHealth(machine, folder);
    expect(await versionOf(put('workrail', '#!/bin/sh\n[ "$1" = --version ] && echo "workrail 0.3.0-beta.1"\n'))).toBe(
      '0.3.0-beta.1',
    );
    expect(await versionOf(put('silent', '#!/bin/sh\nexit 1\n'))).toBeUndefined();
    expect(await versionOf(put('workrail.js', ''))).toBe('2.2.2');
  } finally {
    rmSync(folder, { recursive: true });
  }
});
