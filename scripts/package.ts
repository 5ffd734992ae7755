// Packs what is handed out, into release/: the npm tarball, a bundle for clients that install servers by a click, and
// the checksums of both, which "sha256sum --check SHA256SUMS" reads.
// Usage: npm run package (after a build)
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Zippable, zipSync } from 'fflate';
import { desktopManifest } from './generate/desktop-manifest.ts';

const RELEASE = 'release';
/** Where the package is put together; not part of what is handed out. */
const STAGE = join(RELEASE, '.package');
const {
  scripts: _,
  devDependencies: __,
  ...manifest
} = JSON.parse(readFileSync('package.json', 'utf8')) as {
  version: string;
  files: string[];
  scripts: object;
  devDependencies: object;
};
const { version, files } = manifest;
/** Zip cannot tell a time before 1980; a fixed one gives the same bytes each time. */
const MADE_AT = '1980-01-02T00:00:00';

rmSync(RELEASE, { recursive: true, force: true });
mkdirSync(STAGE, { recursive: true });
// Without scripts, so that npm has nothing to run or to warn about, and without what only contributors need.
writeFileSync(join(STAGE, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
for (const part of [...files, 'README.md', 'LICENSE']) cpSync(part, join(STAGE, part), { recursive: true });
execFileSync('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', '..'], {
  cwd: STAGE,
  stdio: ['ignore', 'ignore', 'inherit'],
});

const bundle: Zippable = { 'manifest.json': Buffer.from(`${JSON.stringify(desktopManifest(), null, 2)}\n`) };
// A client that runs the server has nobody who reads documents.
for (const folder of ['dist', 'workflows', 'schemas']) addFolder(folder);
for (const file of ['package.json', 'LICENSE']) bundle[file] = readFileSync(join(STAGE, file));
rmSync(STAGE, { recursive: true });
const ordered = Object.fromEntries(Object.entries(bundle).sort(([a], [b]) => (a < b ? -1 : 1)));
writeFileSync(join(RELEASE, `workrail-${version}.mcpb`), zipSync(ordered, { level: 9, mtime: MADE_AT }));

const sums = readdirSync(RELEASE)
  .sort()
  .map((name) => `${digestOf(join(RELEASE, name))}  ${name}\n`);
writeFileSync(join(RELEASE, 'SHA256SUMS'), sums.join(''));

for (const name of readdirSync(RELEASE)) console.log(`${RELEASE}/${name}`);

function addFolder(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) addFolder(path);
    else bundle[path] = readFileSync(path);
  }
}

function digestOf(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}
