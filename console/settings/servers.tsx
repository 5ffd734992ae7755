import { useQuery } from '@tanstack/react-query';
import { needsRestart } from '../../src/core/settings/applied-settings.ts';
import { type SettingName, settingText } from '../../src/core/settings/setting-keys.ts';
import { plural } from '../../src/core/text/words.ts';
import { typedCommand } from '../../src/core/wire/console-commands.ts';
import type { ConsoleReply } from '../../src/core/wire/console-shapes.ts';
import { CommandHint, DataTable, Pending } from '../parts/panels.tsx';
import { wholeTime } from '../parts/times.ts';
import { read } from '../state/api.ts';
import { LOOK_MS, PREFERENCES, SettingRow, useSettings } from './setting-row.tsx';

/** What is set, what each running server applied, and whether it has to be restarted. */
export function Servers() {
  const settings = useSettings();
  const { data, error } = useQuery({ queryKey: ['servers'], queryFn: () => read('servers'), refetchInterval: LOOK_MS });
  const clients = useQuery({ queryKey: ['clients'], queryFn: () => read('clients') });
  if (data === undefined || settings.data === undefined) {
    return <Pending words="Looking for servers …" error={error ?? settings.error} />;
  }
  const { servers, desired } = data;
  const rows = settings.data.settings.filter(({ key }) => !PREFERENCES.includes(key));
  const unseen = (clients.data?.clients ?? []).filter(
    ({ isRegistered, name }) => isRegistered && !servers.some(({ client }) => sameName(client?.name, name)),
  );
  return (
    <>
      <p>
        Each agent client starts servers of its own. A server keeps what it read when it started; sources, preferences
        and limits are read with each call and need no restart.
      </p>
      <h3>Servers that run now</h3>
      {servers.map((server) => (
        <Server key={`${server.pid} ${server.startedAt}`} server={server} />
      ))}
      {servers.length === 0 && <p>Not seen yet: a server is seen once an agent has recorded something with it.</p>}
      {unseen.map(({ id, name }) => (
        <p key={id} className="meta">
          {name}: registered, not seen yet
        </p>
      ))}
      <p className="meta">
        A server that starts now applies <code>{desired.hash.slice(0, HASH_SHOWN)}</code>
      </p>
      <CommandHint command={typedCommand('servers', {})} />
      <h3>Flags</h3>
      {rows.map((setting) => (
        <SettingRow key={setting.key} setting={setting}>
          <Applied name={setting.key} servers={servers} />
        </SettingRow>
      ))}
      <CommandHint command={typedCommand('settings', {})} />
    </>
  );
}

const HASH_SHOWN = 19;

/** Clients name themselves in many ways. */
function sameName(said: string | undefined, name: string): boolean {
  const plain = (text: string) => text.toLowerCase().replaceAll(/[^a-z]/g, '');
  return said !== undefined && (plain(said).includes(plain(name)) || plain(name).includes(plain(said)));
}

type ServerData = ConsoleReply<'servers'>['servers'][number];

function Server({ server }: { readonly server: ServerData }) {
  const {
    client,
    pid,
    version,
    transport,
    startedAt,
    appliedConfigHash,
    changes,
    needsRestart: isOld,
    restart,
    tools,
  } = server;
  return (
    <section className="panel server" aria-label={`Server ${pid}`}>
      <h4>
        {client === undefined ? 'A client without a name' : `${client.name} ${client.version}`}{' '}
        <span className={`badge ${isOld ? 'warning' : ''}`}>{isOld ? 'restart needed' : 'up to date'}</span>
      </h4>
      <p className="meta">
        process {pid}, {transport}, workrail {version}, {plural(tools.length, 'tool')}, since {wholeTime(startedAt)},
        applied <code>{appliedConfigHash.slice(0, HASH_SHOWN)}</code>
      </p>
      {isOld && (
        <DataTable
          title="What a restart would change"
          head={['Setting', 'Applied', 'Desired']}
          rows={changes.map(({ key, applied, desired }) => [key, settingText(applied), settingText(desired)])}
        />
      )}
      {isOld && <p className="strong">{restart}</p>}
    </section>
  );
}

/** What each server applied of a setting, and when a change takes effect. */
function Applied({ name, servers }: { readonly name: SettingName; readonly servers: readonly ServerData[] }) {
  if (!needsRestart(name)) return <p className="meta">A change takes effect with the next call.</p>;
  return (
    <>
      <p className="meta">A change takes effect when a server is restarted.</p>
      <ul className="plain meta">
        {servers.map(({ pid, client, applied }) => {
          const one = applied.find(({ key }) => key === name);
          return (
            <li key={pid}>
              {client?.name ?? 'a client without a name'}, process {pid}:{' '}
              {one === undefined ? 'unknown' : settingText(one.value)}
              {one?.origin.kind === 'variable' && `, set by ${one.origin.name}`}
            </li>
          );
        })}
      </ul>
    </>
  );
}
