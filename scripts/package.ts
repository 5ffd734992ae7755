// Packs what is handed out, into release/: the npm tarball and a bundle for clients that install servers by a click.
// Usage: npm run package (after a build)
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Zippable, zipSync } from 'fflate';
import { desktopManifest } from './generate/desktop-manifest.ts';

const RELEASE = 'release';
const { version, files } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string; files: string[] };
/** Zip cannot tell a time before 1980; a fixed one gives the same bytes each time. */
const MADE_AT = '1980-01-02T00:00:00';

rmSync(RELEASE, { recursive: true, force: true });
mkdirSync(RELEASE);
execFileSync('npm', ['pack', '--silent', '--pack-destination', RELEASE], { stdio: ['ignore', 'ignore', 'inherit'] });

const bundle: Zippable = { 'manifest.json': Buffer.from(`${JSON.stringify(desktopManifest(), null, 2)}\n`) };
for (const folder of files.filter((file) => !file.startsWith('!'))) addFolder(folder);
for (const file of ['package.json', 'LICENSE']) bundle[file] = readFileSync(file);
const ordered = Object.fromEntries(Object.entries(bundle).sort(([a], [b]) => (a < b ? -1 : 1)));
writeFileSync(join(RELEASE, `workrail-${version}.mcpb`), zipSync(ordered, { level: 9, mtime: MADE_AT }));

for (const name of readdirSync(RELEASE)) console.log(`${RELEASE}/${name}`);

function addFolder(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) addFolder(path);
    else if (!path.endsWith('.test.json')) bundle[path] = readFileSync(path);
  }
}
