import { spawn } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const OPENERS: { readonly [platform: string]: readonly string[] } = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
};

const FILE_LIFE_MS = 60_000;

function linkFile(dataDir: string): string {
  return join(dataDir, `console-${process.pid}.html`);
}

export async function removeLinkFile(dataDir: string): Promise<void> {
  await rm(linkFile(dataDir), { force: true });
}

/**
 * Opens the browser on a file that only this user can read and that leads to the link: other users can read the command
 * lines of this machine.
 */
export async function openInBrowser(link: string, dataDir: string): Promise<boolean> {
  const file = linkFile(dataDir);
  const page = `<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url=${link.replaceAll('&', '&amp;')}"><title>WorkRail</title>`;
  const isWritten = await writeFile(file, page, { mode: 0o600 }).then(
    () => true,
    () => false,
  );
  if (!isWritten) return false;
  setTimeout(() => rm(file, { force: true }), FILE_LIFE_MS).unref();
  const [program = 'xdg-open', ...args] = OPENERS[process.platform] ?? ['xdg-open'];
  return new Promise((resolve) => {
    const child = spawn(program, [...args, file], { stdio: 'ignore', detached: true });
    child.once('error', () => resolve(false));
    child.once('spawn', () => {
      child.unref();
      resolve(true);
    });
  });
}
