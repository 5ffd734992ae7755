import type { Launch, Machine } from '../ports/machine.ts';
import { type Client, type ClientScope, SERVER_NAME } from './client.ts';

const SERVERS = 'mcpServers';
const plainEntry = ({ command, args, env }: Launch) => ({ command, args: [...args], env: { ...env } });
const stdioEntry = (launch: Launch) => ({ type: 'stdio', ...plainEntry(launch) });

/** What most clients have in common. */
const USUAL = { hasWindow: false, format: 'json', key: SERVERS, entry: plainEntry } as const;

/** What is particular to each client. */
const CLIENT_FACTS: readonly (Omit<Client, keyof typeof USUAL> & Partial<Client>)[] = [
  {
    id: 'claude-code',
    name: 'Claude Code',
    userFiles: ({ home, join }) => [join(home, '.claude.json')],
    projectFile: ['.mcp.json'],
    signs: ({ home, join }) => [join(home, '.claude.json'), join(home, '.claude')],
    entry: stdioEntry,
    command: {
      program: 'claude',
      // The name comes first: an option with several values would swallow it.
      add: (launch, scope) => [
        ...['mcp', 'add', SERVER_NAME, '--scope', scope],
        ...variables(launch),
        '--',
        ...words(launch),
      ],
    },
  },
  {
    id: 'claude-desktop',
    name: 'Claude Desktop',
    hasWindow: true,
    userFiles: (machine) => [machine.join(settingsFolder(machine), 'Claude', 'claude_desktop_config.json')],
    signs: (machine) => [machine.join(settingsFolder(machine), 'Claude')],
  },
  {
    id: 'codex',
    name: 'Codex',
    isSparing: true,
    format: 'toml',
    key: 'mcp_servers',
    userFiles: ({ env, home, join }) => [join(env['CODEX_HOME'] ?? join(home, '.codex'), 'config.toml')],
    projectFile: ['.codex', 'config.toml'],
    signs: ({ env, home, join }) => [env['CODEX_HOME'] ?? join(home, '.codex')],
    entry: ({ command, args, env }) => ({
      command,
      args: [...args],
      ...(Object.keys(env).length === 0 ? {} : { env: { ...env } }),
    }),
    command: {
      program: 'codex',
      add: (launch, scope) =>
        scope === 'user' ? ['mcp', 'add', SERVER_NAME, ...variables(launch), '--', ...words(launch)] : undefined,
    },
  },
  {
    id: 'gemini',
    name: 'Gemini CLI',
    userFiles: ({ home, join }) => [join(home, '.gemini', 'settings.json')],
    projectFile: ['.gemini', 'settings.json'],
    signs: ({ home, join }) => [join(home, '.gemini')],
    command: { program: 'gemini', add: geminiAdd },
  },
  {
    id: 'cursor',
    name: 'Cursor',
    hasWindow: true,
    userFiles: ({ home, join }) => [join(home, '.cursor', 'mcp.json')],
    projectFile: ['.cursor', 'mcp.json'],
    signs: ({ home, join }) => [join(home, '.cursor')],
  },
  {
    id: 'vscode',
    name: 'VS Code',
    hasWindow: true,
    key: 'servers',
    userFiles: (machine) => [machine.join(settingsFolder(machine), 'Code', 'User', 'mcp.json')],
    projectFile: ['.vscode', 'mcp.json'],
    signs: (machine) => [machine.join(settingsFolder(machine), 'Code', 'User')],
    entry: stdioEntry,
    command: {
      program: 'code',
      add: (launch, scope) =>
        scope === 'user' ? ['--add-mcp', JSON.stringify({ name: SERVER_NAME, ...stdioEntry(launch) })] : undefined,
    },
  },
  {
    id: 'windsurf',
    name: 'Windsurf',
    hasWindow: true,
    userFiles: ({ home, join }) => [join(home, '.codeium', 'windsurf', 'mcp_config.json')],
    signs: ({ home, join }) => [join(home, '.codeium', 'windsurf')],
  },
  {
    id: 'zed',
    name: 'Zed',
    hasWindow: true,
    key: 'context_servers',
    userFiles: (machine) => [machine.join(zedFolder(machine), 'settings.json')],
    projectFile: ['.zed', 'settings.json'],
    signs: (machine) => [zedFolder(machine)],
    entry: (launch) => ({ source: 'custom', ...plainEntry(launch) }),
  },
  {
    id: 'opencode',
    name: 'OpenCode',
    key: 'mcp',
    userFiles: (machine) =>
      ['opencode.json', 'opencode.jsonc'].map((name) => machine.join(dotConfig(machine), 'opencode', name)),
    projectFile: ['opencode.json'],
    signs: (machine) => [machine.join(dotConfig(machine), 'opencode')],
    entry: ({ command, args, env }) => ({
      type: 'local',
      command: [command, ...args],
      ...(Object.keys(env).length === 0 ? {} : { environment: { ...env } }),
    }),
  },
];

/** Every supported client, in the order of display. */
export const CLIENTS: readonly Client[] = CLIENT_FACTS.map((facts) => ({ ...USUAL, ...facts }));

function zedFolder(machine: Parameters<Client['signs']>[0]): string {
  return machine.platform === 'win32'
    ? machine.join(settingsFolder(machine), 'Zed')
    : machine.join(dotConfig(machine), 'zed');
}

/**
 * The command reads everything after a variable as more variables, so a launch with variables is written to the file
 * instead.
 */
function geminiAdd(launch: Launch, scope: ClientScope): readonly string[] | undefined {
  const hasVariables = Object.keys(launch.env).length > 0;
  return hasVariables ? undefined : ['mcp', 'add', '--scope', scope, SERVER_NAME, ...words(launch)];
}

function variables({ env }: Launch): readonly string[] {
  return Object.entries(env).flatMap(([name, value]) => ['--env', `${name}=${value}`]);
}

function words({ command, args }: Launch): readonly string[] {
  return [command, ...args];
}

/** Where a program keeps its settings on this platform. */
function settingsFolder({ platform, env, home, join }: Machine): string {
  if (platform === 'darwin') return join(home, 'Library', 'Application Support');
  if (platform === 'win32') return env['APPDATA'] ?? join(home, 'AppData', 'Roaming');
  return dotConfig({ env, home, join });
}

/** The folder that terminal programs use on every platform. */
function dotConfig({ env, home, join }: Pick<Machine, 'env' | 'home' | 'join'>): string {
  const given = env['XDG_CONFIG_HOME'];
  return given?.startsWith('/') ? given : join(home, '.config');
}
