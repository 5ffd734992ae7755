import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { needsRestart } from '../../src/core/settings/applied-settings.ts';
import {
  SETTING_KEYS,
  SETTING_NAMES,
  type SettingKey,
  type SettingName,
  settingText,
} from '../../src/core/settings/setting-keys.ts';
import { originText } from '../../src/core/settings/settings-words.ts';
import { plural } from '../../src/core/text/words.ts';
import { typedCommand } from '../../src/core/wire/console-commands.ts';
import type { ConsoleReply } from '../../src/core/wire/console-shapes.ts';
import { CommandButton } from '../parts/command.tsx';
import { CommandHint, DataTable, ErrorPanel, Facts, Pending, SessionLink } from '../parts/panels.tsx';
import { wholeTime } from '../parts/times.ts';
import { read } from '../state/api.ts';
import { SETTINGS_PAGES } from '../state/search.ts';
import { Clients, Doctor, Sources, Storage } from './machine.tsx';
import '../style/library.css';

type Shown = ConsoleReply<'settings'>['settings'][number];

const PREFERENCES: readonly SettingName[] = SETTING_NAMES.filter((name) => SETTING_KEYS[name].isForWorkspaces);

const TITLES: { readonly [page in (typeof SETTINGS_PAGES)[number]]: string } = {
  preferences: 'Preferences',
  server: 'Flags and servers',
  sources: 'Sources',
  clients: 'Clients',
  doctor: 'Doctor',
  storage: 'Storage',
  keys: 'Keys',
  about: 'About',
};

/** What is set on this machine, what is in force, and how to change it. */
export function Settings() {
  const { page = 'preferences' } = useParams({ strict: false }) as { readonly page?: string };
  const known = SETTINGS_PAGES.find((one) => one === page) ?? 'preferences';
  return (
    <>
      <header className="page-head">
        <h1>Settings</h1>
      </header>
      <div className="settings">
        <nav aria-label="Settings" className="runs">
          {SETTINGS_PAGES.map((one) => (
            <Link
              key={one}
              to="/settings/$page"
              params={{ page: one }}
              {...(one === known && { 'aria-current': 'page' })}
            >
              {TITLES[one]}
            </Link>
          ))}
        </nav>
        <section className="readable" aria-label={TITLES[known]}>
          <h2>{TITLES[known]}</h2>
          {PAGES[known]}
        </section>
      </div>
    </>
  );
}

const PAGES: { readonly [page in (typeof SETTINGS_PAGES)[number]]: React.ReactNode } = {
  preferences: <PreferencesHub />,
  server: <Servers />,
  sources: <Sources />,
  clients: <Clients />,
  doctor: <Doctor />,
  storage: <Storage />,
  keys: <Keys />,
  about: <About />,
};

function useSettings() {
  return useQuery({ queryKey: ['settings'], queryFn: () => read('settings'), refetchInterval: LOOK_MS });
}

/** Files and servers change without the store. */
const LOOK_MS = 1_500;

/** How much agents may do on their own: the defaults, and every open run with what holds for it. */
function PreferencesHub() {
  const { data, error } = useSettings();
  if (data === undefined) return <Pending words="Reading the settings …" error={error} />;
  return (
    <>
      <p>
        What holds for runs that are started from now on. A project and the environment can only tighten these; a looser
        value is ignored. A run that is open keeps its own mode until it is changed there.
      </p>
      <Problems data={data} />
      {data.settings
        .filter(({ key }) => PREFERENCES.includes(key))
        .map((setting) => (
          <SettingRow key={setting.key} setting={setting} />
        ))}
      <OpenRuns />
      <CommandHint command={typedCommand('settings', {})} />
    </>
  );
}

function Problems({ data: { problems, ignored } }: { readonly data: ConsoleReply<'settings'> }) {
  return (
    <>
      {problems.map((text) => (
        <p key={text} className="banner damaged" role="alert">
          {text}
        </p>
      ))}
      {ignored.map((text) => (
        <p key={text} className="banner lacking">
          {text}
        </p>
      ))}
    </>
  );
}

const SCOPES = { user: 'all my work', project: 'this project' } as const;

/** A setting with what is in force, where that comes from, and a way to change it. */
function SettingRow({
  setting: { key, value, origin },
  children,
}: {
  readonly setting: Shown;
  readonly children?: React.ReactNode;
}) {
  const { about, expected, isForWorkspaces, variable } = SETTING_KEYS[key];
  const [scope, setScope] = useState<'user' | 'project'>('user');
  const [typed, setTyped] = useState<string | undefined>(undefined);
  const now = typeof value === 'boolean' ? (value ? '1' : '0') : settingText(value).replaceAll(', ', ',');
  const isLocked = origin.kind === 'variable';
  const next = typed ?? now;
  return (
    <section className="setting" aria-label={key}>
      <h3>
        <code>{key}</code> <span className="strong">{settingText(value)}</span>{' '}
        <span className="meta break">{origin.kind === 'default' ? 'default' : `from ${originText(origin)}`}</span>
      </h3>
      <p className="meta">{about}</p>
      {children}
      {isLocked ? (
        <p>
          The variable <code>{variable}</code> overrides every file, so it can only be changed where the console was
          started.
        </p>
      ) : (
        <div className="list-tools">
          <Field name={key} value={next} onValue={setTyped} />
          {isForWorkspaces && (
            <label className="pick">
              <span>for</span>
              <select
                aria-label={`${key} for`}
                value={scope}
                onChange={({ target }) => setScope(target.value as typeof scope)}
              >
                {Object.entries(SCOPES).map(([name, words]) => (
                  <option key={name} value={name}>
                    {words}
                  </option>
                ))}
              </select>
            </label>
          )}
          <CommandButton
            path="setSetting"
            input={{ key, value: next, scope }}
            label="Change"
            question={`${key} becomes ${next} for ${SCOPES[scope]}. It can be ${expected}.`}
            isDisabled={next === now && origin.kind !== 'default'}
            said={({ isChanged, file }) => (isChanged ? `${key} is set in ${file}.` : 'Already set; nothing changed.')}
          />
          {(origin.kind === 'user' || origin.kind === 'workspace') && (
            <CommandButton
              path="setSetting"
              input={{ key, scope: origin.kind === 'user' ? 'user' : 'project' }}
              label="Remove"
              question={`${key} is removed from ${origin.file}, so the next file or the default applies.`}
              said={({ file }) => `${key} was removed from ${file}.`}
            />
          )}
        </div>
      )}
      <CommandHint command={typedCommand('setSetting', { key, value: next === '' ? 'VALUE' : next, scope })} />
    </section>
  );
}

type FieldParts = { readonly name: SettingName; readonly value: string; readonly onValue: (value: string) => void };

function Field({ name, value, onValue }: FieldParts) {
  const key: SettingKey = SETTING_KEYS[name];
  if (key.kind === 'choice' || key.kind === 'switch') {
    const values = key.kind === 'choice' ? key.values : ['1', '0'];
    return (
      <select aria-label={name} value={value} onChange={({ target }) => onValue(target.value)}>
        {values.map((one) => (
          <option key={one} value={one}>
            {key.kind === 'switch' ? (one === '1' ? 'on' : 'off') : one}
          </option>
        ))}
      </select>
    );
  }
  return <input type="text" aria-label={name} value={value} onChange={({ target }) => onValue(target.value)} />;
}

const RUNS_MAX = 20;

/** Open runs with their own preferences: what holds since which step, and what is pending. */
function OpenRuns() {
  const { data, error } = useQuery({
    queryKey: ['open-runs'],
    queryFn: async () => {
      const listed = await Promise.all(
        (['running', 'blocked'] as const).map((state) => read('sessions', {}, { state, limit: RUNS_MAX })),
      );
      const open = listed.flatMap(({ rows }) => rows).slice(0, RUNS_MAX);
      const runs = open.flatMap(({ sessionId, runs: all }) =>
        all
          .filter(({ status, isClosed }) => !isClosed && (status === 'blocked' || status === 'in_progress'))
          .map((run) => ({ sessionId, run })),
      );
      return Promise.all(
        runs.map(async ({ sessionId, run }) => {
          const { preferences } = await read('run', { session: sessionId, run: run.runId });
          return { sessionId, run, preferences };
        }),
      );
    },
  });
  if (data === undefined) return <ErrorPanel error={error} />;
  if (data.length === 0) return <p>No run is open.</p>;
  return (
    <DataTable
      title="Open runs"
      head={['Run', 'Mode', 'Since', 'Pending']}
      rows={data.map(({ sessionId, run, preferences: { autonomy, since, isPending } }) => [
        <SessionLink key="run" session={sessionId}>
          {run.goal ?? run.workflowId}
        </SessionLink>,
        autonomy,
        since === undefined ? 'the start' : `step ${since.number ?? ''} ${since.title}`,
        isPending ? 'applies to the next attempt' : 'no',
      ])}
    />
  );
}

/** What is set, what each running server applied, and whether it has to be restarted. */
function Servers() {
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

function Keys() {
  const { data, error } = useQuery({ queryKey: ['keys'], queryFn: () => read('keys') });
  if (data === undefined) return <Pending words="Reading the keys …" error={error} />;
  const { current, previous } = data.keys;
  return (
    <>
      <p>Keys sign the tokens that agents hold. Only fingerprints are shown.</p>
      <Facts
        facts={[
          ['Current key, signs new tokens', current ?? 'none yet; the first run creates one'],
          ['Previous key, its tokens stay valid until the next rotation', previous ?? 'none'],
        ]}
      />
      <div className="actions">
        <CommandButton
          path="rotateKeys"
          input={{}}
          label="Rotate"
          question={
            previous === null
              ? 'New tokens are signed with a new key. Tokens that agents hold stay valid.'
              : `Tokens signed with ${previous} become invalid; resume_session brings every run back.`
          }
          said={({ after }) => `New tokens are signed with ${after.current}.`}
        />
      </div>
      <CommandHint command={typedCommand('keys', {})} />
    </>
  );
}

function About() {
  const { data, error } = useQuery({ queryKey: ['about'], queryFn: () => read('about') });
  const settings = useSettings();
  if (data === undefined) return <Pending words="Reading …" error={error} />;
  return (
    <>
      <Facts
        facts={[
          ['Version', data.version],
          ['Data folder', data.dataDir],
          ['Hash of the settings in effect', settings.data?.hash ?? ''],
          [
            'Decisions',
            data.isAtTerminal
              ? 'this console was started at a terminal and takes decisions'
              : 'this console was not started at a terminal and takes no decisions',
          ],
        ]}
      />
      <p>WorkRail sends nothing anywhere: there is no telemetry.</p>
      <CommandHint command="workrail version" />
    </>
  );
}
