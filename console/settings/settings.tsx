import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { typedCommand } from '../../src/core/wire/console-commands.ts';
import type { ConsoleReply } from '../../src/core/wire/console-shapes.ts';
import { CommandButton } from '../parts/command.tsx';
import { LookChoice, NotifyButton } from '../parts/look-choices.tsx';
import { CommandHint, DataTable, ErrorPanel, Facts, Pending, SessionLink } from '../parts/panels.tsx';
import { read } from '../state/api.ts';
import { SETTINGS_PAGES } from '../state/search.ts';
import { Clients, Doctor, Sources } from './machine.tsx';
import { Servers } from './servers.tsx';
import { PREFERENCES, SettingRow, useSettings } from './setting-row.tsx';
import { Storage } from './storage.tsx';
import '../style/library.css';

const TITLES: { readonly [page in (typeof SETTINGS_PAGES)[number]]: string } = {
  general: 'General',
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
  general: <General />,
  preferences: <PreferencesHub />,
  server: <Servers />,
  sources: <Sources />,
  clients: <Clients />,
  doctor: <Doctor />,
  storage: <Storage />,
  keys: <Keys />,
  about: <About />,
};

/** How the console looks and when it calls, in this browser. */
function General() {
  return (
    <>
      <p>These choices are kept in this browser. They change how the console looks, not how agents work.</p>
      <div className="list-tools">
        <LookChoice name="theme" label="Theme" />
        <LookChoice name="density" label="Rows" />
      </div>
      <p>The system can show a notice when something begins to wait for you.</p>
      <div className="actions">
        <NotifyButton />
      </div>
    </>
  );
}

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

function Keys() {
  const { data, error } = useQuery({ queryKey: ['keys'], queryFn: () => read('keys') });
  if (data === undefined) return <Pending words="Reading the keys …" error={error} />;
  const { current, previous } = data.keys;
  return (
    <>
      <p>
        Keys sign the tokens that agents hold, the log of each session, and passports. A key is shown by the start of
        its keyid, as logs and passports name it; "workrail keys public" prints the public key.
      </p>
      <Facts
        facts={[
          ['Current key, signs new tokens, events and passports', current ?? 'none yet; the first run creates one'],
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
              ? 'New tokens, logs and passports are signed with a new key: give the new public key to everybody who checks passports. Tokens that agents hold stay valid.'
              : `Tokens signed with ${previous} become invalid; resume_session brings every run back. New passports need the new public key.`
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
