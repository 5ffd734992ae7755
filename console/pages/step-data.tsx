import { isList, isObject, type JsonObject, type JsonValue } from '../../src/core/json/json-value.ts';
import type { ReportArtifact, ReportEntry } from '../../src/core/report/report.ts';
import { artifactFacts, inWords } from '../../src/core/report/report-words.ts';
import { visibleText } from '../../src/core/text/visible-text.ts';
import { plural } from '../../src/core/text/words.ts';
import type { StepPageData } from '../../src/core/wire/run-shapes.ts';
import { CopyButton, DataTable, Facts, Json } from '../parts/panels.tsx';
import '../style/run.css';

type Parts = { readonly data: StepPageData; readonly entry: ReportEntry | undefined };

/** What was handed in as data, and what is known at this step. */
export function StepData({ data, entry }: Parts) {
  const artifacts = entry?.artifacts ?? [];
  if (artifacts.length === 0 && data.context.length === 0) return <p className="meta">No data was handed in.</p>;
  return (
    <>
      {artifacts.map((artifact) => (
        <Artifact key={artifact.sha256} artifact={artifact} renderer={data.renderers[artifact.kind ?? '']} />
      ))}
      {data.context.length === 0 ? null : <Context context={data.context} />}
    </>
  );
}

type Renderer = StepPageData['renderers'][string];

type ArtifactParts = { readonly artifact: ReportArtifact; readonly renderer: Renderer | undefined };

function Artifact({ artifact, renderer }: ArtifactParts) {
  const { kind, content } = artifact;
  return (
    <article className="artifact">
      <h3>
        {kind === undefined ? 'Artifact' : kind.startsWith('wr.') ? titled(kind) : <code>{kind}</code>}{' '}
        <span className="meta">{artifactFacts(artifact)}</span>
        {content !== undefined && <CopyButton text={JSON.stringify(content, null, 2)} />}
      </h3>
      {content === undefined ? (
        <p className="meta">Its content is missing or damaged.</p>
      ) : (
        <Rendered content={content} renderer={renderer} />
      )}
    </article>
  );
}

type RenderedParts = { readonly content: JsonValue; readonly renderer: Renderer | undefined };

/** Data as its contract says that it is shown. */
export function Rendered({ content, renderer }: RenderedParts) {
  // Nothing says what the fields mean, so nothing is made of them.
  if (renderer === undefined || renderer.hint === 'plain' || !isObject(content)) return <Tree value={content} />;
  return <Fields value={inOrder(content, renderer.order) as JsonObject} hint={renderer.hint} />;
}

function titled(kind: string): string {
  const words = inWords(kind.replace(/^wr\./, ''));
  return `${words[0]?.toUpperCase() ?? ''}${words.slice(1)}`;
}

/** The same with the fields as the contract has them, and unknown ones last. */
function inOrder(value: JsonValue, order: readonly string[]): JsonValue {
  if (isList(value)) return value.map((one) => inOrder(one, order));
  if (!isObject(value)) return value;
  const rank = (name: string) => (order.includes(name) ? order.indexOf(name) : order.length);
  const entries = Object.entries(value).sort(([a], [b]) => rank(a) - rank(b));
  return Object.fromEntries(entries.map(([name, one]) => [name, inOrder(one, order)]));
}

/** The fields of an artifact that a contract describes: lists of objects as tables. */
function Fields({ value, hint }: { readonly value: JsonObject; readonly hint: Renderer['hint'] }) {
  const { kind: _, ...fields } = value;
  const entries = Object.entries(fields);
  const single = entries.filter(([, one]) => !isList(one) && !isObject(one));
  const whole = entries.filter(([, one]) => isList(one) || isObject(one));
  const lead = hint === 'verdict' ? single.find(([name]) => name === 'verdict') : undefined;
  const facts = single.filter((one) => one !== lead);
  const isListFirst = hint === 'list' || hint === 'table';
  const list = facts.length > 0 && <Facts facts={facts.map(factOf)} />;
  return (
    <>
      {lead && <p className="verdict">{String(lead[1])}</p>}
      {!isListFirst && list}
      {whole.map(([name, one]) => (
        <Part key={name} title={inWords(spaced(name))} value={one} />
      ))}
      {isListFirst && list}
    </>
  );
}

function factOf([name, value]: readonly [string, JsonValue]): readonly [string, string] {
  return [inWords(spaced(name)), cellText(value)];
}

/** A list of objects becomes a table with every field that one of them has. */
function Part({ title, value }: { readonly title: string; readonly value: JsonValue }) {
  if (isList(value) && value.length === 0) {
    return (
      <p>
        {title}: <span className="meta">none</span>
      </p>
    );
  }
  if (isList(value) && value.every(isObject)) {
    const names = [...new Set(value.flatMap((row) => Object.keys(row)))];
    const rows = value.map((row) => names.map((name) => cellText((row as JsonObject)[name])));
    return (
      <DataTable title={`${title} (${rows.length})`} head={names.map((name) => inWords(spaced(name)))} rows={rows} />
    );
  }
  return (
    <>
      <h4>{title}</h4>
      {isList(value) ? (
        <ul>
          {value.map((one, i) => (
            <li key={i}>{cellText(one)}</li>
          ))}
        </ul>
      ) : (
        <Facts facts={Object.entries(value as JsonObject).map(factOf)} />
      )}
    </>
  );
}

/** A place such as `src/a.ts:12` reads better than its parts. */
function cellText(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return visibleText(value);
  if (isList(value)) return value.map(cellText).join(', ');
  if (!isObject(value)) return String(value);
  const { file, line, ...rest } = value;
  if (typeof file === 'string' && Object.keys(rest).length === 0) return line === undefined ? file : `${file}:${line}`;
  return visibleText(JSON.stringify(value));
}

/** `mrComments` as "mr comments". */
function spaced(name: string): string {
  return name.replaceAll(/([a-z])([A-Z])/g, (_, a: string, b: string) => `${a} ${b.toLowerCase()}`);
}

const TREE_DEPTH = 12;

/** Any JSON, to be opened part by part. */
function Tree({ value, depth = 0 }: { readonly value: JsonValue; readonly depth?: number }) {
  if (!isList(value) && !isObject(value)) return <code>{visibleText(JSON.stringify(value))}</code>;
  if (depth >= TREE_DEPTH) return <Json value={value} />;
  const entries = isList(value) ? value.map((one, i) => [String(i), one] as const) : Object.entries(value);
  if (entries.length === 0) return <code>{isList(value) ? '[]' : '{}'}</code>;
  return (
    <ul className="tree">
      {entries.map(([name, one]) => (
        <li key={name}>
          {isList(one) || isObject(one) ? (
            <details open={depth < 1}>
              <summary>
                <code>{visibleText(name)}</code> <span className="meta">{sizeWords(one)}</span>
              </summary>
              <Tree value={one} depth={depth + 1} />
            </details>
          ) : (
            <>
              <code>{visibleText(name)}</code>: <Tree value={one} depth={depth + 1} />
            </>
          )}
        </li>
      ))}
    </ul>
  );
}

function sizeWords(value: JsonValue): string {
  return isList(value)
    ? plural(value.length, 'item')
    : plural(isObject(value) ? Object.keys(value).length : 0, 'field');
}

const SETTERS = { agent: 'the agent', person: 'a person', start: 'the start of the run' } as const;

/** What is known at this step, and who said so. */
function Context({ context }: Pick<StepPageData, 'context'>) {
  const rows = context.map(({ key, value, by, at, isHere }) => [
    <code key="key">{visibleText(key)}</code>,
    isObject(value) || isList(value) ? <Tree key="value" value={value} /> : cellText(value),
    <>
      {SETTERS[by]}
      {at && (at.number === undefined ? `, ${at.title}` : `, step ${at.number}`)}
      {isHere && by !== 'start' && <span className="badge">here</span>}
    </>,
  ]);
  const head = ['Key', 'Value', 'Set by'];
  return <DataTable title="Context at this step" className="data-table context" head={head} rows={rows} />;
}
