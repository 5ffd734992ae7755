// Installs where node_modules does not match the lock file. Plain Node: runs before anything is installed.
// Usage: node scripts/setup.mjs [--tests | --prepare]. --tests also installs what only tests need; --prepare, which npm
// runs when somebody installs from git, only checks that the build can follow.
import { execFileSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';

if (process.argv.includes('--prepare')) {
  // npm links such an install to a folder that it then removes, and installs no development packages there.
  if (process.env.npm_config_global === 'true') {
    console.error('npm cannot install WorkRail globally from git. In a clone, run: npm run package');
    console.error('Then install the tarball: npm install -g ./release/workrail-VERSION.tgz');
    process.exit(1);
  }
} else install('.');
if (process.argv.includes('--tests')) {
  try {
    install('test');
  } catch (error) {
    // Tests that need these tools are skipped, each with a loud line.
    console.error(`The tools of tests were not installed: ${error.message}`);
  }
}

function install(folder) {
  const stamp = join(folder, 'node_modules/.package-lock.json');
  const lock = join(folder, 'package-lock.json');
  if (existsSync(stamp) && statSync(stamp).mtimeMs >= statSync(lock).mtimeMs) return;
  // `npm ci` refuses lock files written on another platform (optional native binaries), so a plain install it is.
  // What `prepare` does for an install from git is done by the command that runs this.
  const args = ['install', '--no-save', '--no-audit', '--no-fund', '--ignore-scripts'];
  const npm = process.env.npm_execpath;
  const options = { cwd: folder, stdio: 'inherit' };
  if (npm) execFileSync(process.execPath, [npm, ...args], options);
  else execFileSync('npm', args, { ...options, shell: process.platform === 'win32' });
}
