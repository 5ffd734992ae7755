import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { desktopManifest } from '../scripts/generate/desktop-manifest.ts';
import { enforces } from './enforces.ts';

type Manifest = {
  readonly name: string;
  readonly type: string;
  readonly engines: object;
  readonly bin: object;
  readonly scripts: Readonly<Record<string, string>>;
  readonly workspaces?: unknown;
  readonly keywords: readonly string[];
  readonly files: readonly string[];
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
};

const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as Manifest;

/** What npm runs when someone installs a package. It runs `prepare` too, but only in a clone and for an install from git. */
const INSTALL_SCRIPTS = [
  'preinstall',
  'install',
  'postinstall',
  'preprepare',
  'postprepare',
  'prepublish',
  'dependencies',
];

describe('the package', () => {
  it('the package is one ES module package with one binary, for Node 20.19 and later', () => {
    enforces('node_and_package_floor');
    const { name, type, engines, bin, workspaces } = manifest;
    expect({ name, type, engines, bin, workspaces }).toEqual({
      name: 'workrail',
      type: 'module',
      engines: { node: '>=20.19' },
      bin: { workrail: 'dist/workrail.js' },
      workspaces: undefined,
    });
    const versions = Object.entries({
      ...manifest.dependencies,
      ...manifest.devDependencies,
      ...manifest.optionalDependencies,
    });
    expect(versions.length).toBeGreaterThan(5);
    expect(versions.filter(([, version]) => !/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version))).toEqual([]);
  });

  it('installing the packed package runs no script, and an install from git builds it', () => {
    enforces('no_install_scripts');
    expect(manifest.scripts['prepare']).toBe(`node scripts/setup.mjs --prepare && ${manifest.scripts['build']}`);
    const setup = (env: object) =>
      spawnSync(process.execPath, ['scripts/setup.mjs', '--prepare'], {
        env: { ...process.env, ...env },
        encoding: 'utf8',
      });
    expect(setup({ npm_config_global: '' }).status).toBe(0);
    // npm would leave a link to a folder that it removes.
    expect(setup({ npm_config_global: 'true' })).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('npm run package'),
    });
    expect(Object.keys(manifest.scripts).filter((name) => INSTALL_SCRIPTS.includes(name))).toEqual([]);
  });

  it('the package describes itself without placeholders, and the desktop bundle names the platforms of the README', () => {
    expect(manifest.keywords).toContain('mcp-server');
    expect(JSON.stringify(manifest)).not.toMatch(/example\.(?:org|com)|TODO|your-|<[a-z]+>/i);
    const { compatibility } = desktopManifest() as { compatibility: { platforms: readonly string[] } };
    const names = { darwin: 'macOS', linux: 'Linux', win32: 'Windows' } as const;
    const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
    const [, promised = ''] = /^(.*) are supported[.,]/m.exec(readme) ?? [];
    expect(promised).not.toBe('');
    for (const [platform, name] of Object.entries(names)) {
      expect([name, compatibility.platforms.includes(platform)]).toEqual([name, promised.includes(name)]);
    }
  });

  it('every link of the README and of the packed documents leads to a packed file, unless it leads to a test or a source', () => {
    const isPacked = (path: string) =>
      ['README.md', 'LICENSE', ...manifest.files].some((part) => path === part || path.startsWith(`${part}/`));
    const listed = execFileSync('git', ['ls-files', '*.md'], { encoding: 'utf8' }).trim().split('\n');
    const links = listed.filter(isPacked).flatMap((file) => {
      const text = readFileSync(file, 'utf8').replaceAll(/```[\s\S]*?```/g, '');
      const targets = [...text.matchAll(/\]\(([^)#\s]+)/g)].map(([, target = '']) => target);
      return targets.filter((target) => !target.includes(':')).map((target) => posix.join(posix.dirname(file), target));
    });
    expect(links.length).toBeGreaterThan(100);
    // What a page of the project has, and what only people who work on it need.
    const isElsewhere = /^(?:\.\.\/|test\/|src\/|bench\/|scripts\/|console\/|deploy\/|\.github\/)/;
    expect(links.filter((path) => !isPacked(path) && !isElsewhere.test(path))).toEqual([]);
  });

  it('no text of the program or the documents tells people to install a package by a name that nobody owns', () => {
    const files = execFileSync('git', ['ls-files', 'src', 'docs', 'workflows', 'integrations', 'examples', '*.md'], {
      encoding: 'utf8',
    });
    const isInstalling = /npm i(?:nstall)? (?:-g |--global |-D |--save-dev )*workrail\b|npx (?:-y |--yes )?workrail\b/;
    expect(isInstalling.test('npm install -g workrail')).toBe(true);
    const found = files
      .trim()
      .split('\n')
      .filter((file) => isInstalling.test(readFileSync(file, 'utf8')));
    expect(found).toEqual([]);
  });
});
