import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { visibleText } from '../../src/core/text/visible-text.ts';
import { plural } from '../../src/core/text/words.ts';
import { typedCommand } from '../../src/core/wire/console-commands.ts';
import type { ConsoleReply } from '../../src/core/wire/console-shapes.ts';
import { moveAmong, useKeys } from '../parts/keys.tsx';
import { CommandHint, EditLink, Pending, SearchField, Select } from '../parts/panels.tsx';
import { length } from '../parts/times.ts';
import { read } from '../state/api.ts';
import { type LibrarySearch, readLibrarySearch } from '../state/search.ts';
import '../style/library.css';

type Listed = ConsoleReply<'workflows'>['workflows'][number];

/** Every workflow that can be started here, and the files that cannot be used. */
export function Workflows() {
  const asked = useSearch({ from: '/workflows' });
  const navigate = useNavigate({ from: '/workflows' });
  const { data, error } = useQuery({ queryKey: ['workflows'], queryFn: () => read('workflows') });
  const change = (part: { readonly [key in keyof LibrarySearch]?: string | undefined }) =>
    void navigate({ search: readLibrarySearch({ ...asked, ...part }), replace: true });
  useKeys({ j: () => moveAmong('.library h2 a', 1), k: () => moveAmong('.library h2 a', -1) });
  if (data === undefined) return <Pending words="Reading the workflows …" error={error} isPage />;
  const shown = data.workflows.filter((one) => fits(one, asked));
  const choices = (values: readonly string[]) => ({
    '': 'all',
    ...Object.fromEntries([...new Set(values)].sort().map((one) => [one, one])),
  });
  return (
    <>
      <header className="page-head">
        <h1>Workflows</h1>
        <SearchField label="Filter the workflows" words={asked.q ?? ''} onWords={(q) => change({ q })} />
        <Link className="button main" to="/workflows/new" search={{}}>
          New workflow
        </Link>
      </header>
      <div className="list-tools">
        <p className="meta count-of">
          {shown.length === data.workflows.length ? '' : `${shown.length} of `}
          {plural(data.workflows.length, 'workflow')}
        </p>
        <Select
          label="Source"
          value={asked.source ?? ''}
          options={choices(data.workflows.map(sourceName))}
          onPick={(source) => change({ source })}
        />
        <Select
          label="Tag"
          value={asked.tag ?? ''}
          options={choices(data.workflows.flatMap(({ tags }) => tags))}
          onPick={(tag) => change({ tag })}
        />
        <Select
          label="Kind"
          value={asked.kind ?? ''}
          options={choices(['workflow', 'routine'])}
          onPick={(kind) => change({ kind })}
        />
      </div>
      <Invalid files={data.invalid} />
      {shown.length === 0 ? (
        <p className="panel">No workflow matches.</p>
      ) : (
        <ul className="library plain">
          {shown.map((one) => (
            <Row key={one.id} one={one} />
          ))}
        </ul>
      )}
      <CommandHint command={typedCommand('workflows', {})} />
    </>
  );
}

function fits(one: Listed, { q = '', source, tag, kind }: LibrarySearch): boolean {
  const text = [one.id, one.name, one.description, ...one.tags].join(' ').toLowerCase();
  return (
    q
      .toLowerCase()
      .split(/\s+/)
      .every((word) => text.includes(word)) &&
    (source === undefined || sourceName(one) === source) &&
    (tag === undefined || one.tags.includes(tag)) &&
    (kind === undefined || one.kind === kind)
  );
}

function sourceName({ source, added }: Listed): string {
  return added?.name ?? source;
}

function Row({ one }: { readonly one: Listed }) {
  const { id, name, description, kind, version, steps = 0, warnings, shadows, use } = one;
  return (
    <li>
      <div>
        <h2>
          <Link to="/workflows/$id" params={{ id }} search={{}}>
            {visibleText(name)}
          </Link>{' '}
          <code className="meta">{id}</code>
        </h2>
        <p>{visibleText(description)}</p>
        {shadows.map((path) => (
          <p key={path} className="meta break">
            overrides {path}
          </p>
        ))}
      </div>
      <p className="facts-line meta">
        <span className="badge">{sourceName(one)}</span>
        {kind === 'routine' && <span className="badge">routine</span>}
        {version !== undefined && <span>{version}</span>}
        <span>{plural(steps, 'step')}</span>
        {warnings > 0 && <span className="warning">{plural(warnings, 'warning')}</span>}
      </p>
      <p className="facts-line meta">{use === undefined || use.runs === 0 ? 'no runs yet' : <Use use={use} />}</p>
    </li>
  );
}

/** What the sessions here know of a workflow. */
export function Use({
  use: { runs, done, open, medianMs, mostBlocked },
}: {
  readonly use: NonNullable<Listed['use']>;
}) {
  return (
    <>
      <span>{plural(runs, 'run')}</span>
      <span>{Math.round((100 * done) / runs)} % done</span>
      {open > 0 && <span>{open} open</span>}
      {medianMs !== undefined && <span>median {length(medianMs)}</span>}
      {mostBlocked && (
        <span className="warning">
          mostly blocked at “{mostBlocked.title}” ({plural(mostBlocked.attempts, 'attempt')})
        </span>
      )}
    </>
  );
}

function Invalid({ files }: { readonly files: ConsoleReply<'workflows'>['invalid'] }) {
  if (files.length === 0) return null;
  return (
    <details className="panel error" open={files.length < 4}>
      <summary>{plural(files.length, 'file')} cannot be used</summary>
      <ul className="plain">
        {files.map(({ path, id, errors, first }) => (
          <li key={path}>
            <span className="strong break">{id ?? path}</span>{' '}
            <span className="meta break">
              {id === undefined ? '' : `${path}, `}
              {plural(errors, 'error')}
            </span>
            <p className="break">{first}</p>
            <div className="actions">
              <EditLink workflow={id ?? path} />
              <CommandHint command={`workrail workflow check ${path}`} />
            </div>
          </li>
        ))}
      </ul>
    </details>
  );
}
