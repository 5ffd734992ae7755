import { getNodeValue } from 'jsonc-parser';
import * as z from 'zod';
import { parseLenientJson } from '../../../core/json/lenient-json.ts';
import type { ClientServices } from '../../ports/machine.ts';
import { type Client, type ClientScope, SERVER_NAME, shortPath, spaceOf } from '../client.ts';
import { CLIENTS } from '../client-list.ts';
import { inspectClient } from '../inspect-client.ts';
import { type DoctorFinding, findingsOf } from './doctor-finding.ts';

const { good, note } = findingsOf('forms');

const HOOKS = ['Elicitation', 'ElicitationResult'] as const;
/** What Claude Code may call our server: registered by `init`, or brought by our plugin. */
const OUR_NAMES = [SERVER_NAME, `plugin:${SERVER_NAME}:${SERVER_NAME}`];
/** A longer pattern is not read. */
const MATCHER_MAX = 200;

const hooksFile = z.object({
  hooks: z.record(z.string(), z.array(z.object({ matcher: z.string().optional().catch(undefined) })).catch([])),
});

const OTHER_WAYS = 'Or leave it, and answer with "workrail answer" in a terminal of your own.';

/** Finds what answers or hides the form in which a person decides: hooks, settings and clients. */
export async function checkForms(services: ClientServices): Promise<readonly DoctorFinding[]> {
  const found = [
    ...(await hookFindings(services)),
    ...(await codexFindings(services)),
    ...(await cursorFindings(services)),
  ];
  return found.length > 0
    ? found
    : [good('approvals: found no hook or client setting that answers approval forms for you')];
}

async function hookFindings(services: ClientServices): Promise<readonly DoctorFinding[]> {
  const files = [...new Set([...settingsFiles(services), ...(await pluginFiles(services))])];
  const found = await Promise.all(
    files.map(async (file) => {
      const hooks = answeringHooks(await jsonOf(services, file));
      return hooks.map((hook) =>
        note(
          `Claude Code (${shortPath(services.machine, file)}): the hook ${hook} can answer forms of workrail without asking a person`,
          `Remove "${hook}" from hooks in ${file}, or give it a matcher for other servers. ${OTHER_WAYS}`,
        ),
      );
    }),
  );
  return found.flat();
}

function settingsFiles({ machine }: ClientServices): readonly string[] {
  const { join, workspace } = machine;
  return [
    join(claudeFolder(machine), 'settings.json'),
    join(workspace, '.claude', 'settings.json'),
    join(workspace, '.claude', 'settings.local.json'),
  ];
}

function claudeFolder({ env, home, join }: ClientServices['machine']): string {
  return env['CLAUDE_CONFIG_DIR'] ?? join(home, '.claude');
}

const installed = z.object({ installPath: z.string() });
const pluginList = z.object({
  plugins: z.record(z.string(), z.union([installed.transform((one) => [one]), z.array(installed)])),
});

/** The hooks of the installed plugins. */
async function pluginFiles(services: ClientServices): Promise<readonly string[]> {
  const { machine } = services;
  const list = await jsonOf(services, machine.join(claudeFolder(machine), 'plugins', 'installed_plugins.json'));
  const parsed = pluginList.safeParse(list);
  if (!parsed.success) return [];
  const folders = Object.values(parsed.data.plugins).flat();
  return folders.map(({ installPath }) => machine.join(installPath, 'hooks', 'hooks.json'));
}

/** A file that does not exist or cannot be read has no hooks. */
async function jsonOf({ files }: ClientServices, file: string): Promise<unknown> {
  const text = (await files.read(file)).unwrapOr(undefined);
  return text === undefined ? undefined : parseLenientJson(text).map(getNodeValue).unwrapOr(undefined);
}

function answeringHooks(settings: unknown): readonly string[] {
  const parsed = hooksFile.safeParse(settings);
  if (!parsed.success) return [];
  return HOOKS.filter((hook) => parsed.data.hooks[hook]?.some(({ matcher }) => couldMatch(matcher)));
}

/** Whether a matcher could name our server. Only names and `.*` are read; any other pattern could match. */
function couldMatch(matcher = ''): boolean {
  if (['', '*'].includes(matcher)) return true;
  if (/^[\w:|-]+$/.test(matcher)) return matcher.split('|').some((name) => OUR_NAMES.includes(name));
  const isReadable = matcher.length <= MATCHER_MAX && /^\^?(?:[\w:|-]|\.\*)+\$?$/.test(matcher);
  return !isReadable || OUR_NAMES.some((name) => new RegExp(matcher).test(name));
}

const codexSettings = z.object({
  approval_policy: z.unknown().optional(),
  profiles: z
    .record(z.string(), z.object({ approval_policy: z.unknown().optional() }).catch({}))
    .optional()
    .catch({}),
});

async function codexFindings(services: ClientServices): Promise<readonly DoctorFinding[]> {
  const files = await registeredFiles(services, 'codex', { isAnyScope: true });
  return files.flatMap(({ file, text }) => {
    const where = `Codex (${shortPath(services.machine, file)})`;
    return neverPlaces(services, text).map((place) =>
      note(
        `${where}: ${place} = "never" declines every form without showing it`,
        `Set ${place} = "on-request" in ${file}. ${OTHER_WAYS}`,
      ),
    );
  });
}

/** The keys of a Codex file that say never to ask. */
function neverPlaces({ parseToml }: ClientServices, text: string): readonly string[] {
  const parsed = codexSettings.safeParse(parseToml(text).unwrapOr({}));
  if (!parsed.success) return [];
  const { approval_policy: policy, profiles = {} } = parsed.data;
  const ofProfiles = Object.entries(profiles).filter(([, profile]) => profile.approval_policy === 'never');
  return [
    ...(policy === 'never' ? ['approval_policy'] : []),
    ...ofProfiles.map(([name]) => `profiles.${name}.approval_policy`),
  ];
}

async function cursorFindings(services: ClientServices): Promise<readonly DoctorFinding[]> {
  const [first] = await registeredFiles(services, 'cursor', { isAnyScope: false });
  if (first === undefined) return [];
  const where = `Cursor (${shortPath(services.machine, first.file)})`;
  return [
    note(
      `${where}: Cursor does not show forms in 3.10, although it says that it can`,
      'When a step waits for a person, run "workrail waiting" and "workrail answer" in a terminal of your own.',
    ),
  ];
}

type ClientFile = { readonly file: string; readonly text: string };

/**
 * The existing files of a client that has us registered. With `isAnyScope`, the settings in one file also apply to a
 * registration in the other.
 */
async function registeredFiles(
  services: ClientServices,
  id: Client['id'],
  { isAnyScope }: { readonly isAnyScope: boolean },
): Promise<readonly ClientFile[]> {
  const client = CLIENTS.find((one) => one.id === id);
  if (client === undefined) return [];
  const scopes: readonly ClientScope[] = ['user', 'project'];
  const inspected = await Promise.all(scopes.map((scope) => inspectClient(services, client, { scope })));
  const isRegistered = (one: (typeof inspected)[number]) => {
    if (one?.state.kind !== 'same' && one?.state.kind !== 'other') return false;
    // Through the bridge to a team server, no form counts.
    return one.state.launch === undefined || spaceOf(one.state.launch) === undefined;
  };
  if (!inspected.some(isRegistered)) return [];
  const files = inspected.filter((one) => isAnyScope || isRegistered(one));
  return files.flatMap((one) => (one?.text === undefined ? [] : [{ file: one.file, text: one.text }]));
}
