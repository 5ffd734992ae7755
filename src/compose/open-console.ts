import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Result } from 'neverthrow';
import { ownApprovers } from '../adapters/approvers.ts';
import { consoleAssets, fileStoreFeed } from '../adapters/console.ts';
import { otherDataDir } from '../adapters/data-dir.ts';
import { findDataDir, loadOwnConfig, settingsOf } from '../adapters/settings.ts';
import { registrations } from '../app/clients/inspect-client.ts';
import type { Program, ServeRefusal, ServingConsole } from '../cli/program.ts';
import { runForPage } from '../cli/run-command-line.ts';
import { shortIds } from '../cli/session-ids.ts';
import type { Autonomy } from '../core/log/autonomy.ts';
import type { ErrorEnvelope } from '../core/log/error-envelope.ts';
import { chosenMode, runDefaults } from '../core/settings/settings-in-effect.ts';
import { serveConsole } from '../http/console/serve-console.ts';
import { explainedToPage } from './explain-to-page.ts';
import { openAnswers } from './open-answers.ts';
import { bundleServices, logKeysOf } from './open-bundles.ts';
import { type Bundled, openCatalog } from './open-catalog.ts';
import { openInBrowser, removeLinkFile } from './open-in-browser.ts';
import { passportMaking } from './open-passports.ts';
import { openStore } from './open-store.ts';

type Host = {
  readonly version: string;
  readonly pages: string;
  readonly bundled: Bundled;
  /** The script file that is running. */
  readonly program: string;
  /** What to type for `workrail`, with the data folder unless it is the default one. */
  readonly commandInReplies: (dataDir: string | undefined) => string;
  /** This very program, for the commands that the page runs. */
  readonly own: Program;
};

type Opened = ServingConsole & { readonly stop: () => Promise<void> };

export async function openConsole(
  { port, isAtTerminal }: Parameters<Program['console']>[0],
  { version, pages, bundled, program, commandInReplies, own }: Host,
): Promise<Result<Opened, ServeRefusal>> {
  const [store, dataDir] = await Promise.all([openStore(), findDataDir()]);
  const command = commandInReplies(otherDataDir(dataDir));
  const services = {
    ...openAnswers(store),
    ownApprovers: ownApprovers(),
    ...store,
    by: { via: 'console' } as const,
    ...bundleServices(version),
    logKeys: logKeysOf(store),
    ...passportMaking(store),
    catalog: openCatalog(bundled, dataDir),
    command,
    mayDecide: isAtTerminal,
    channel: { via: 'console' } as const,
    shortIds,
    allowedMode,
    homes: [homedir()],
    tokenForm: settingsOf(await loadOwnConfig([])).tokenForm,
    explain: (refusal: { readonly code: string }): ErrorEnvelope => explainedToPage(refusal, dataDir),
  };
  const about = { version, dataDir, command, isAtTerminal };
  const feed = fileStoreFeed(join(dataDir, 'cache'));
  const clients = async () => {
    const { openClients } = await import('./open-clients.ts');
    const { installed, registered } = await registrations(
      openClients({ programPath: program, version, dataDir, store }),
    );
    return installed.map((client) => ({ id: client.id, name: client.name, isRegistered: registered.includes(client) }));
  };
  const runCommand = (words: readonly string[]) => runForPage(own, words);
  const assets = consoleAssets(pages);
  const editor = async () => (await import('./open-editor.ts')).openEditor(bundled, services, services.explain);
  const served = await serveConsole({ port, services, feed, assets, about, clients, runCommand, editor });
  // A browser takes longer to start than the list takes to be read, so it is there when the page asks.
  if (served.isOk()) setImmediate(() => void services.sessionIndex.sessions());
  return served.map(({ newLink, stop }) => ({
    newLink,
    openBrowser: () => openInBrowser(newLink(), dataDir),
    onEnter: (callback) => {
      if (process.stdin.isTTY !== true) return;
      process.stdin.on('data', callback);
    },
    stop: async () => {
      await removeLinkFile(dataDir);
      await stop();
    },
  }));
}

/** A person may not allow an agent more than the settings do. */
async function allowedMode(mode: Autonomy, folders: readonly string[]): Promise<Autonomy> {
  return chosenMode(mode, runDefaults(await loadOwnConfig(folders))).preferences.autonomy;
}
