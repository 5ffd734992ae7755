// Installs when node_modules does not match the lock file. Plain Node: runs before anything is installed.
import { execFileSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';

const stamp = 'node_modules/.package-lock.json';
const isStale = !existsSync(stamp) || statSync(stamp).mtimeMs < statSync('package-lock.json').mtimeMs;

if (isStale) {
  // `npm ci` refuses lock files written on another platform (optional native binaries), so a plain install it is.
  const args = ['install', '--no-save', '--no-audit', '--no-fund'];
  const npm = process.env.npm_execpath;
  if (npm) execFileSync(process.execPath, [npm, ...args], { stdio: 'inherit' });
  else execFileSync('npm', args, { stdio: 'inherit', shell: process.platform === 'win32' });
}
