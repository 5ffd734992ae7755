import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { enforces } from './enforces.ts';

type Manifest = {
  readonly name: string;
  readonly type: string;
  readonly engines: object;
  readonly bin: object;
  readonly scripts: Readonly<Record<string, string>>;
  readonly workspaces?: unknown;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
};

const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as Manifest;

/** What npm runs on a user's machine, or on ours when someone merely installs. */
const INSTALL_SCRIPTS = ['preinstall', 'install', 'postinstall', 'preprepare', 'prepare', 'postprepare', 'prepublish'];

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

  it('installing the package runs no script', () => {
    enforces('no_install_scripts');
    expect(Object.keys(manifest.scripts)).toContain('check');
    expect(Object.keys(manifest.scripts).filter((name) => INSTALL_SCRIPTS.includes(name))).toEqual([]);
  });
});
