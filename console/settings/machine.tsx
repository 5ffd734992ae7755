import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { visibleText } from '../../src/core/text/visible-text.ts';
import { plural } from '../../src/core/text/words.ts';
import { typedCommand } from '../../src/core/wire/console-commands.ts';
import type { ConsoleReply } from '../../src/core/wire/console-shapes.ts';
import { CommandButton } from '../parts/command.tsx';
import { Diff } from '../parts/diff.tsx';
import { Button, CommandHint, ErrorPanel, Pending } from '../parts/panels.tsx';
import { wholeTime } from '../parts/times.ts';
import { Refused, read, write } from '../state/api.ts';

const SHORT = 10;

type Listed = ConsoleReply<'sources'>['sources'][number];

/** Where workflows come from besides the program, the user's folder and projects. */
export function Sources() {
  const { data, error } = useQuery({ queryKey: ['sources'], queryFn: () => read('sources') });
  if (data === undefined) return <Pending words="Reading the sources …" error={error} />;
  return (
    <>
      <p>
        Besides the bundled workflows, your own folder and the folders of projects. Sources are read with each call.
      </p>
      {data.sources.length === 0 && <p>No source was added.</p>}
      {data.sources.map((listed) => (
        <Source key={listed.source.name} listed={listed} />
      ))}
      {data.project !== undefined && <ProjectSources project={data.project} />}
      <AddSource />
      <CommandHint command={typedCommand('sources', {})} />
    </>
  );
}

type Asked = NonNullable<ConsoleReply<'sources'>['project']>;

/** What the project in the console's folder asks for. Only a person at a terminal accepts it. */
function ProjectSources({ project }: { readonly project: Asked }) {
  const isWaiting = project.sources.some(({ isAccepted }) => !isAccepted);
  return (
    <section className="panel" aria-label="Sources that this project asks for">
      <h3>This project asks for</h3>
      {project.problem !== undefined && <p className="break">{visibleText(project.problem)}</p>}
      <ul>
        {project.sources.map(({ source, isAccepted }) => (
          <li key={source.name}>
            {source.name}{' '}
            <span className={`badge ${isAccepted ? 'good' : 'warning'}`}>
              {isAccepted ? 'accepted' : 'not accepted, so not used'}
            </span>{' '}
            {source.kind === 'git' && (
              <span className="meta break">
                {visibleText(source.url)} at {source.commit.slice(0, SHORT)}
              </span>
            )}
          </li>
        ))}
      </ul>
      {isWaiting && <CommandHint command="workrail source accept" />}
    </section>
  );
}

function healthText({ health }: Listed): readonly [isGood: boolean, words: string] {
  switch (health.kind) {
    case 'ready':
      if (health.edited !== undefined)
        return [false, `${plural(health.edited, 'file')} changed after the fetch and not used: update it`];
      return [health.files > 0, health.files === 0 ? 'no workflow files' : plural(health.files, 'file')];
    case 'missing':
      return [false, `${health.dir} does not exist`];
    case 'outside':
      return [false, `${health.dir} leads to ${health.target}, outside the source`];
    case 'not_installed':
      return [false, `the package ${health.package} is not installed`];
    default:
      return [false, `the package ${health.package} declares no workflows`];
  }
}

function Source({ listed }: { readonly listed: Listed }) {
  const { source } = listed;
  const { name, kind } = source;
  const [isGood, words] = healthText(listed);
  const place = kind === 'git' ? source.url : kind === 'folder' ? source.path : `npm:${source.package}`;
  return (
    <section className="panel" aria-label={`Source ${name}`}>
      <h3>
        {name} <span className="badge">{kind}</span>{' '}
        <span className={`badge ${isGood ? 'good' : 'warning'}`}>{words}</span>
      </h3>
      <p className="meta break">
        {place}
        {kind === 'git' && ` ${source.ref ?? ''} at ${source.commit.slice(0, SHORT)}`}
      </p>
      <div className="actions">
        {kind === 'git' && <UpdateSource name={name} />}
        <CommandButton
          path="removeSource"
          input={{ name }}
          label="Remove"
          question={`Workflows of ${name} can no longer be started. Runs that use them can continue.`}
          said={() => `Removed ${name}.`}
        />
      </div>
    </section>
  );
}

/** Shows what an update would change before it is done. */
function UpdateSource({ name }: { readonly name: string }) {
  const look = useMutation({ mutationFn: () => write('updateSource', {}, { name, isDry: true }) });
  const [found] = look.data?.sources ?? [];
  return (
    <>
      <Button
        label={look.isPending ? 'Fetching …' : 'Look for updates'}
        disabled={look.isPending}
        onClick={() => look.mutate()}
      />
      <ErrorPanel error={look.error} />
      {found && (
        <div className="update">
          {found.problem !== undefined ? (
            <p className="warning">{found.problem}</p>
          ) : found.from === found.to ? (
            <p>It is up to date: {found.to.slice(0, SHORT)}.</p>
          ) : (
            <>
              <p>
                {found.from.slice(0, SHORT)} → {found.to.slice(0, SHORT)}, {plural(found.changes?.length ?? 0, 'file')}{' '}
                changed
              </p>
              {found.changes?.map(({ file, kind, diff }) => (
                <details key={file} open>
                  <summary>
                    {file} <span className="badge">{kind}</span>
                  </summary>
                  <Diff lines={diff} />
                </details>
              ))}
              <div className="actions">
                <CommandButton
                  path="updateSource"
                  input={{ name }}
                  label="Update"
                  isMain
                  question="New runs use the new commit. Runs that are open keep their version."
                  said={({ sources: [one] }) => one?.problem ?? `${name} is at ${one?.to.slice(0, SHORT)}.`}
                />
              </div>
            </>
          )}
          <CommandHint command={typedCommand('updateSource', { name, isDry: true })} />
        </div>
      )}
    </>
  );
}

function AddSource() {
  const [address, setAddress] = useState('');
  const [ref, setRef] = useState('');
  const input = { address: address.trim() || 'ADDRESS', ...(ref.trim() !== '' && { ref: ref.trim() }) };
  return (
    <section className="part" aria-label="Add a source">
      <h3>Add a source</h3>
      <div className="list-tools">
        <input
          type="text"
          aria-label="Address of the source"
          placeholder="https://…, git@host:path, a folder or npm:NAME"
          value={address}
          onChange={({ target }) => setAddress(target.value)}
        />
        <input
          type="text"
          aria-label="Branch or tag"
          placeholder="branch or tag"
          value={ref}
          onChange={({ target }) => setRef(target.value)}
        />
        <CommandButton
          path="addSource"
          input={input}
          label="Add"
          isDisabled={address.trim() === ''}
          question="It is fetched and pinned. Its workflows are text that agents read: add only what you trust."
          said={({ source }) => `Added ${source.name}.`}
        />
      </div>
      <CommandHint command={typedCommand('addSource', input)} />
    </section>
  );
}

type Registered = ConsoleReply<'registrations'>['clients'][number];

const RESULTS: { readonly [result in Registered['result']]?: string } = {
  unchanged: 'registered',
  planned: 'not registered',
  kept: 'an entry "workrail" starts something else',
  broken: 'its file is invalid',
  unreadable: 'its file cannot be read',
};

/** The agent clients of this machine: what registering would change, and what can be undone. */
export function Clients() {
  const { data, error } = useQuery({ queryKey: ['registrations'], queryFn: () => read('registrations'), retry: false });
  const undoable = useQuery({ queryKey: ['undoable'], queryFn: () => read('undoable'), retry: false });
  // A machine without clients is no fault of the page.
  const none = error instanceof Refused && error.envelope.code === 'VALIDATION_ERROR' ? error.envelope : undefined;
  return (
    <>
      <p>
        The clients that seem to be installed here. Registering writes an entry into the client's own file and keeps a
        backup.
      </p>
      {data === undefined &&
        (none === undefined ? (
          <Pending words="Looking for clients …" error={error} />
        ) : (
          <p>
            {none.message} {none.suggestion}
          </p>
        ))}
      {data?.clients.map((one) => (
        <Client
          key={one.client}
          one={one}
          canUndo={undoable.data?.clients.some(({ client }) => client === one.client) ?? false}
        />
      ))}
      {data?.forms?.map(({ text, fix }) => (
        <p key={text} className="banner lacking">
          {text}. {fix}
        </p>
      ))}
      <CommandHint command={typedCommand('registrations', {})} />
    </>
  );
}

function Client({ one, canUndo }: { readonly one: Registered; readonly canUndo: boolean }) {
  const { client, name, file, result, diff, command, line, problem } = one;
  const isForced = result === 'kept';
  return (
    <section className="panel" aria-label={name}>
      <h3>
        {name}{' '}
        <span className={`badge ${result === 'unchanged' ? 'good' : 'warning'}`}>{RESULTS[result] ?? result}</span>
      </h3>
      <p className="meta break">
        {file}
        {line === undefined ? '' : `, line ${line}`}
        {problem === undefined ? '' : `: ${problem}`}
      </p>
      {command && <p>Registering runs its own command: {command}</p>}
      {result === 'unchanged' && <LastRehearsal client={client} />}
      {diff && <Diff lines={diff} />}
      <div className="actions">
        {(result === 'planned' || isForced) && (
          <CommandButton
            path="register"
            input={{ client, ...(isForced && { isForced }) }}
            label={isForced ? 'Replace the entry' : 'Register'}
            isMain={!isForced}
            question={`${file} is changed as shown. The old file is kept as a backup.`}
            said={({ clients: [done] }) =>
              `${name}: ${done?.result ?? 'nothing changed'}. Restart it, then rehearse it.`
            }
          />
        )}
        {canUndo && (
          <CommandButton
            path="unregister"
            input={{ client }}
            label="Undo"
            question={`${file} becomes what it was before it was registered.`}
            said={({ clients: [done] }) => `${name}: ${done?.result.replace('_', ' ') ?? 'nothing to undo'}.`}
          />
        )}
      </div>
    </section>
  );
}

/** How the client's registration did when the doctor last started it. */
function LastRehearsal({ client }: { readonly client: string }) {
  const { data, dataUpdatedAt, error, isFetching, refetch } = useDoctor();
  const found = data?.findings.filter((one) => one.client === client) ?? [];
  return (
    <>
      <h4>Last rehearsal{found.length > 0 && `, ${wholeTime(dataUpdatedAt)}`}</h4>
      {found.length === 0 && <p className="meta">None since the console was opened.</p>}
      {found.map((one) => (
        <div key={one.text}>
          <Finding finding={one} />
        </div>
      ))}
      <ErrorPanel error={error} />
      <div className="actions">
        <Button
          label={isFetching ? 'Starting every client …' : 'Rehearse'}
          disabled={isFetching}
          onClick={() => void refetch()}
        />
      </div>
      <CommandHint command={typedCommand('doctor', {})} />
    </>
  );
}

const KINDS = { good: 'good', note: 'worth knowing', fault: 'problem', mended: 'fixed' };

/** What the doctor found last, since the console was opened. It starts every client, so it runs only when asked. */
function useDoctor() {
  return useQuery({
    queryKey: ['doctor'],
    queryFn: () => read('doctor'),
    enabled: ({ state }) => state.data !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: Number.POSITIVE_INFINITY,
    refetchOnMount: false,
  });
}

/** Everything that could keep an agent from working here. */
export function Doctor() {
  const { data, error, isFetching, refetch } = useDoctor();
  const look = () => void refetch();
  const fixable = data?.findings.filter(({ isMendable }) => isMendable).length ?? 0;
  return (
    <>
      <p>
        Checks this machine, the data folder, the sessions and every registered client, each of which is started once.
      </p>
      <div className="actions">
        <Button label={isFetching ? 'Checking …' : 'Check now'} className="main" disabled={isFetching} onClick={look} />
        {fixable > 0 && (
          <CommandButton
            path="fix"
            input={{}}
            label="Fix"
            question={`${plural(fixable, 'problem')} can be fixed automatically.`}
            said={({ totals }) => `${totals.mended} fixed, ${totals.fault} left.`}
          />
        )}
      </div>
      <ErrorPanel error={error} />
      <ul className="plain findings">
        {data?.findings.map((one, i) => (
          <li key={i}>
            <Finding finding={one} />
          </li>
        ))}
      </ul>
      <CommandHint command={typedCommand('doctor', {})} />
    </>
  );
}

function Finding({ finding: { kind, text, fix } }: { readonly finding: ConsoleReply<'doctor'>['findings'][number] }) {
  return (
    <>
      <span className={`badge ${kind === 'fault' || kind === 'note' ? 'warning' : 'good'}`}>{KINDS[kind]}</span>{' '}
      <span className="break">{text}</span>
      {fix && <p className="meta break">→ {fix}</p>}
    </>
  );
}
