import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import type { JsonValue } from '../../src/core/json/json-value.ts';
import { visibleText } from '../../src/core/text/visible-text.ts';
import { asksForWords, plural, sizeOf } from '../../src/core/text/words.ts';
import { typedCommand } from '../../src/core/wire/console-commands.ts';
import type { ConsoleReply } from '../../src/core/wire/console-shapes.ts';
import { Words } from '../parts/diff.tsx';
import { Note } from '../parts/note.tsx';
import {
  CommandHint,
  CopyButton,
  DataTable,
  EditLink,
  Facts,
  Json,
  Pending,
  Select,
  SessionLink,
} from '../parts/panels.tsx';
import { StateMark } from '../parts/state-mark.tsx';
import { Tabs } from '../parts/tabs.tsx';
import { wholeTime } from '../parts/times.ts';
import { Refused, read } from '../state/api.ts';
import { readWorkflowSearch, WORKFLOW_TABS, type WorkflowSearch } from '../state/search.ts';
import '../style/library.css';

type Shown = ConsoleReply<'workflow'>;
type Compiled = NonNullable<Shown['compiled']>;
type Version = ConsoleReply<'uses'>['versions'][number];

/** One workflow: what it does, its file, what was compiled from it, and the runs that use it. */
export function Workflow() {
  const { id } = useParams({ from: '/workflows/$id' });
  const asked = useSearch({ from: '/workflows/$id' });
  const navigate = useNavigate({ from: '/workflows/$id' });
  const { data, error } = useQuery({
    queryKey: ['workflow', id],
    queryFn: () => read('workflow', {}, { id }),
    retry: false,
  });
  const go = (part: { readonly [key in keyof WorkflowSearch]?: string | undefined }) =>
    void navigate({ search: readWorkflowSearch({ ...asked, ...part }), replace: true });
  const { tab = 'overview' } = asked;
  if (data === undefined && (error === null || tab !== 'runs')) {
    return (
      <>
        <Pending words="Reading the workflow …" error={error} isPage />
        {error instanceof Refused && error.envelope.code === 'WORKFLOW_INVALID' && (
          <div className="actions">
            <EditLink workflow={id} />
          </div>
        )}
        {error !== null && <CommandHint command={`workrail workflow check ${id}`} />}
      </>
    );
  }
  return (
    <>
      <header className="page-head">
        <p className="crumbs">
          <Link to="/workflows" search={{}}>
            Workflows
          </Link>{' '}
          / {id}
        </p>
        <h1>{visibleText(data?.name ?? id)}</h1>
        {data && <Actions id={id} source={data.source} />}
      </header>
      <div className="workflow-page">
        <Tabs label="About this workflow" names={WORKFLOW_TABS} chosen={tab} onChoose={(next) => go({ tab: next })}>
          {tab === 'runs' || data === undefined ? (
            <Runs id={id} asked={asked} onPick={go} />
          ) : tab === 'source' ? (
            <Source data={data} />
          ) : tab === 'compiled' && data.compiled ? (
            <CompiledTab id={data.id} compiled={data.compiled} />
          ) : (
            <Overview data={data} />
          )}
        </Tabs>
      </div>
      <CommandHint command={tab === 'runs' ? typedCommand('uses', { id }) : typedCommand('workflow', { id })} />
    </>
  );
}

/** Bundled workflows and those of sources are not changed where they lie. */
function Actions({ id, source }: { readonly id: string; readonly source: Shown['source'] }) {
  const isOwn = source === 'project' || source === 'user';
  return (
    <div className="actions">
      {isOwn ? (
        <EditLink workflow={id} />
      ) : (
        <Link className="button" to="/workflows/new" search={{ copy: id }}>
          Make a copy
        </Link>
      )}
    </div>
  );
}

function Overview({ data }: { readonly data: Shown }) {
  const {
    description,
    about,
    examples,
    steps,
    conditions,
    size,
    source,
    added,
    path,
    shadows,
    tags,
    version,
    findings = [],
  } = data;
  return (
    <div className="readable">
      <p className="lead">{visibleText(description)}</p>
      {about !== undefined && <Note text={about} />}
      {examples.length > 0 && <h2>Examples</h2>}
      {examples.map((text) => (
        <blockquote key={text}>
          {visibleText(text)} <CopyButton text={text} />
        </blockquote>
      ))}
      <h2>Steps</h2>
      <ol className="outline plain">
        {steps.map((step) => (
          <li key={step.id} style={{ '--depth': step.depth } as React.CSSProperties} className={step.kind}>
            <p>
              <span className="strong">{visibleText(step.title)}</span> <code className="meta">{step.id}</code>
              {step.origin && <span className="badge">from {step.origin}</span>}
            </p>
            {step.repeats && <p className="meta">repeats {step.repeats}</p>}
            {step.when && <p className="meta">only when {step.when}</p>}
            {step.asksFor.length > 0 && <p className="meta">{asksForWords(step.asksFor)}</p>}
          </li>
        ))}
      </ol>
      {conditions.length > 0 && (
        <DataTable
          title="Conditions"
          head={['Name', 'Holds when']}
          rows={conditions.map(({ id, when }) => [id, when])}
        />
      )}
      {findings.length > 0 && (
        <DataTable
          title="Warnings"
          head={['Rule', 'Line', 'What it says']}
          rows={findings.map(({ code, line, message }) => [code, line, message])}
        />
      )}
      <Facts
        facts={[
          ['Source', added === undefined ? source : `${added.name} (${added.kind})`],
          ['File', path],
          ...shadows.map((shadow): [string, React.ReactNode] => ['Overrides', shadow]),
          ...(version === undefined ? [] : [['Version', version] as const]),
          [
            'Size',
            `${plural(size.steps, 'step')} (${size.conditional} conditional), ${plural(size.loops, 'loop')}, prompts of ${sizeOf(size.promptBytes.total)}`,
          ],
          ...(tags.length === 0 ? [] : [['Tags', tags.join(', ')] as const]),
        ]}
      />
    </div>
  );
}

function Source({ data: { path, text = '' } }: { readonly data: Shown }) {
  return (
    <>
      <p className="meta break">
        {path} <CopyButton text={text} />
      </p>
      <pre className="source" tabIndex={0}>
        {visibleText(text)}
      </pre>
    </>
  );
}

const FROM_WORDS = { template: 'template', feature: 'feature', ref: 'ref', project_binding: 'this project' };

type Piece = Compiled['rules'][number];

/** Texts with what put them there. What the author of the file wrote has no mark. */
function Pieces({ pieces }: { readonly pieces: readonly Piece[] }) {
  return (
    <div className="pieces">
      {pieces.map(({ text, from }, i) => (
        <div key={i} className={from === undefined ? 'own' : 'added'}>
          {from && (
            <span className="badge">
              {FROM_WORDS[from.kind]} {from.id}
            </span>
          )}
          <pre>{visibleText(text.trim())}</pre>
        </div>
      ))}
    </div>
  );
}

function code(text: string): React.ReactNode {
  return <code className="break">{text}</code>;
}

function CompiledTab({ id, compiled }: { readonly id: string; readonly compiled: Compiled }) {
  const { hash, bytes, sourceHash, inputs, rules, steps, contracts } = compiled;
  return (
    <div className="readable">
      <p>
        A run that starts now is pinned to this. It is compiled from the file and cannot be edited; a run keeps it when
        the file changes.
      </p>
      <Facts
        facts={[
          ['Hash of the compiled workflow', code(hash)],
          ['Its size', sizeOf(bytes)],
          ['Hash of what it is made from', code(sourceHash)],
        ]}
      />
      <DataTable
        title="What goes into the hash"
        head={['Name', 'Kind', 'Digest']}
        rows={inputs.map(({ kind, name, digest }) => [
          name,
          kind === 'project_binding' ? 'text of this project' : kind,
          code(digest),
        ])}
      />
      {rules.length > 0 && <h2>Rules of the workflow</h2>}
      <Pieces pieces={rules} />
      <h2>What each step says</h2>
      {steps.map((step) => (
        <details key={step.id} open={step.pieces.some(({ from }) => from !== undefined)}>
          <summary>
            {step.title} <code className="meta">{step.id}</code>{' '}
            {step.pieces.some(({ from }) => from !== undefined) && <span className="badge">has added text</span>}
          </summary>
          <Pieces pieces={step.pieces} />
        </details>
      ))}
      {contracts.length > 0 && <h2>Contracts inside it</h2>}
      {contracts.map(({ contractRef, guidance, schema, example, steps: asking }) => (
        <details key={contractRef}>
          <summary>
            {contractRef} <span className="meta">asked for by {asking.join(', ') || `${id} as a whole`}</span>
          </summary>
          <pre>{guidance}</pre>
          <h3>Example</h3>
          <Json value={example as JsonValue} />
          <h3>Schema</h3>
          <Json value={schema as JsonValue} />
        </details>
      ))}
    </div>
  );
}

const DRIFT: { readonly [drift in Version['drift']]: string } = {
  current: 'what a new run uses',
  compiler: 'same files, compiled by another version of WorkRail',
  changed: 'the files have changed since',
  gone: 'the workflow is gone',
  unknown: 'whether the files have changed is unknown',
};

type RunsParts = {
  readonly id: string;
  readonly asked: WorkflowSearch;
  readonly onPick: (part: { readonly a?: string; readonly b?: string }) => void;
};

/** The versions that runs are pinned to. Two of them can be compared. */
function Runs({ id, asked: { a, b }, onPick }: RunsParts) {
  const { data, error } = useQuery({ queryKey: ['uses', id], queryFn: () => read('uses', {}, { id }) });
  if (data === undefined) return <Pending words="Looking for runs …" error={error} />;
  if (data.versions.length === 0) return <p>No run here uses this workflow yet.</p>;
  const sides = [...(data.hash === undefined ? [] : [data.hash]), ...data.versions.map(({ hash }) => hash)];
  const [first = '', second = first] = [...new Set(sides)];
  return (
    <div className="readable">
      {data.versions.map(({ hash, drift, runs }) => (
        <section key={hash} aria-label={`Version ${short(hash)}`}>
          <h2>
            Version <code>{short(hash)}</code>{' '}
            <span className={`badge ${drift === 'changed' || drift === 'gone' ? 'warning' : ''}`}>{DRIFT[drift]}</span>
          </h2>
          <ul className="plain">
            {runs.slice(0, RUNS_SHOWN).map(({ sessionId, runId, title, state, startedAt, tag }) => (
              <li key={runId}>
                <StateMark name={state} /> <SessionLink session={sessionId}>{title}</SessionLink>{' '}
                <span className="meta">
                  {tag}
                  {startedAt === undefined ? '' : ` · ${wholeTime(startedAt)}`}
                </span>
              </li>
            ))}
          </ul>
          {runs.length > RUNS_SHOWN && <p className="meta">and {runs.length - RUNS_SHOWN} more</p>}
        </section>
      ))}
      <Versions hashes={[...new Set(sides)]} current={data.hash} a={a ?? second} b={b ?? first} onPick={onPick} />
    </div>
  );
}

const RUNS_SHOWN = 20;
const HASH_SHOWN = 15;

function short(hash: string): string {
  return hash.slice(0, HASH_SHOWN);
}

type VersionParts = {
  readonly hashes: readonly string[];
  readonly current: string | undefined;
  readonly a: string;
  readonly b: string;
  readonly onPick: RunsParts['onPick'];
};

function Versions({ hashes, current, a, b, onPick }: VersionParts) {
  const { data, error } = useQuery({
    queryKey: ['versions', a, b],
    queryFn: () => read('versions', {}, { a, b }),
    enabled: a !== b,
    retry: false,
  });
  if (hashes.length < 2) return null;
  const options = Object.fromEntries(hashes.map((hash) => [hash, `${short(hash)}${hash === current ? ' (now)' : ''}`]));
  return (
    <section className="readable" aria-label="Compare two versions">
      <h2>Compare two versions</h2>
      <div className="list-tools">
        <Select label="From" value={a} options={options} onPick={(hash) => onPick({ a: hash })} />
        <Select label="To" value={b} options={options} onPick={(hash) => onPick({ b: hash })} />
      </div>
      {a === b ? (
        <p>Choose two different versions.</p>
      ) : data === undefined ? (
        <Pending words="Comparing …" error={error} />
      ) : (
        <Difference difference={data} />
      )}
      <CommandHint command={typedCommand('versions', { a, b })} />
    </section>
  );
}

const KINDS = { added: 'added', removed: 'removed', changed: 'changed' } as const;

function Difference({ difference: { isSame, isReordered, parts } }: { readonly difference: ConsoleReply<'versions'> }) {
  if (isSame) return <p>There are no differences.</p>;
  return (
    <>
      {isReordered && <p className="warning">The order of the steps differs.</p>}
      {parts.map(({ part, id, kind, changes }) => (
        <section key={`${part} ${id}`} className="panel" aria-label={`${part} ${id}`}>
          <h3>
            {part} {id} <span className="badge">{KINDS[kind]}</span>
          </h3>
          {changes.map(({ field, before, after }) => (
            <div key={field}>
              <p className="meta">{field}</p>
              <Words before={textOf(before)} after={textOf(after)} isCode={typeof (before ?? after) !== 'string'} />
            </div>
          ))}
        </section>
      ))}
    </>
  );
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value, null, 2);
}
