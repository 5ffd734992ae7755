import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { enforces } from './enforces.ts';
import { readSourceTree } from './tidy/source-file.ts';

const files = readSourceTree(fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '')).filter(
  ({ path }) => path.startsWith('src/') && !path.endsWith('.test.ts'),
);

/** The files in which something is called or imported. */
const where = (pattern: RegExp) =>
  files.filter(({ codeWithStrings }) => pattern.test(codeWithStrings)).map(({ path }) => path);

it('keys are rotated and garbage is collected only when a person asks for it', () => {
  enforces('cli_keys_rotate_explicit', 'gc_started_by_person');
  // Of a data folder, and of a space of a team.
  expect(where(/\.rotate\(/)).toEqual(['src/cli/keys.ts', 'src/cli/upkeep/space-upkeep.ts']);
  expect(where(/\bawait collectGarbage\(/)).toEqual(['src/cli/upkeep/gc.ts', 'src/cli/upkeep/space-upkeep.ts']);
  expect(where(/\.collect\(/)).toEqual(['src/app/upkeep/collect-garbage.ts']);
});

it('no part of the program opens a network connection of its own', () => {
  enforces('cli_no_telemetry');
  const transport = /from '(?:node:)?(?:https?|http2|net|tls|dgram|dns|undici|axios|got|ws)(?:\/[\w/]+)?'/;
  // It listens, and needs the type of the address at which it does.
  const servers = ['src/http/local-requests.ts'];
  expect(where(transport)).toEqual(servers);
  expect(where(/import type \{ AddressInfo \} from 'node:net'/)).toEqual(servers);
  expect(
    where(
      /(?:await|return|void|=|=>) (?:globalThis\.)?fetch\(|\bsendBeacon\(|\bnew (?:WebSocket|EventSource|XMLHttpRequest)\b/,
    ),
    // A team server asks the identity provider that its operator named for its keys. Somebody who signs in to a team
    // server named that one.
  ).toEqual([
    'src/adapters/identity/identity-provider.ts',
    'src/adapters/identity/space-sign-ins.ts',
    'src/mcp/bridge.ts',
  ]);
});

it('files are read by the guarded reader only, which refuses pipes and devices', () => {
  enforces('guarded_files');
  // Files of the system, and of this package.
  const known = ['src/adapters/code-cache.ts', 'src/adapters/console.ts', 'src/adapters/lock/claim-locks.ts'];
  expect(
    where(/\b(?:readFileSync|readFile|createReadStream)\(\s*[^{]/).filter((path) => !/keyring/.test(path)),
  ).toEqual(known);
  expect(where(/\bopenSync\(/)).toEqual([
    'src/adapters/file-store/disk/node-file-system.ts',
    'src/adapters/guarded-file.ts',
    'src/adapters/lock/system-locks.ts',
  ]);
});

it('only the import takes events and snapshots for parsed, which it checked before', () => {
  enforces('import_validates_first');
  const callers = [
    'src/core/bundle/bundle-content.ts',
    'src/core/bundle/check-bundle.ts',
    'src/core/bundle/read-appends.ts',
  ];
  const own = ['src/core/log/event.ts', 'src/core/log/execution-snapshot.ts'];
  expect(where(/\btake(?:Snapshot)?AsParsed\b/)).toEqual([...callers, ...own]);
  expect(where(/isChecked: true/)).toEqual(['src/core/bundle/check-bundle.ts']);
});
