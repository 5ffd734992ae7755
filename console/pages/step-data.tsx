import { isList, isObject, type JsonObject, type JsonValue } from '../../src/core/json/json-value.ts';
import type { ReportArtifact, ReportEntry } from '../../src/core/report/report.ts';
import { artifactFacts, inWords } from '../../src/core/report/report-words.ts';
import { visibleText } from '../../src/core/text/visible-text.ts';
import type { StepPageData } from '../../src/core/wire/run-shapes.ts';
import { CopyButton, Json } from '../parts/panels.tsx';

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

function Artifact({
  artifact,
  renderer,
}: {
  readonly artifact: ReportArtifact;
  readonly renderer: Renderer | undefined;
}) {
  const { kind, content } = artifact;
  return (
    <article className="artifact">
      <h3>
        {kind === undefined ? 'Artifact' : kind.startsWith('wr.') ? titled(kind) : <code>{kind}</code>}{' '}
        <span className="meta">{artifactFacts(artifact)}</span>
        {content === undefined ? null : <CopyButton text={JSON.stringify(content, null, 2)} />}
      </h3>
      {content === undefined ? (
        <p className="meta">Its content is missing or damaged.</p>
      ) : renderer === undefined || renderer.hint === 'plain' || !isObject(content) ? (
        // Nothing says what the fields mean, so nothing is made of them.
        <Tree value={content} />
      ) : (
        <Fields value={inOrder(content, renderer.order) as JsonObject} hint={renderer.hint} />
      )}
    </article>
  );
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
  const list = facts.length === 0 ? null : <Facts facts={facts} />;
  const parts = whole.map(([name, one]) => <Part key={name} name={name} value={one} />);
  return (
    <>
      {lead === undefined ? null : <p className={`verdict ${String(lead[1])}`}>{String(lead[1])}</p>}
      {hint === 'list' || hint === 'table' ? (
        <>
          {parts}
          {list}
        </>
      ) : (
        <>
          {list}
          {parts}
        </>
      )}
    </>
  );
}

function Facts({ facts }: { readonly facts: readonly (readonly [string, JsonValue])[] }) {
  return (
    <dl className="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{inWords(spaced(name))}</dt>
          <dd>{cellText(value)}</dd>
        </div>
      ))}
    </dl>
  );
}

function Part({ name, value }: { readonly name: string; readonly value: JsonValue }) {
  const title = inWords(spaced(name));
  if (isList(value) && value.length === 0) {
    return (
      <p>
        {title}: <span className="meta">none</span>
      </p>
    );
  }
  if (isList(value) && value.every(isObject)) return <Rows title={title} rows={value as readonly JsonObject[]} />;
  if (isList(value)) {
    return (
      <>
        <h4>{title}</h4>
        <ul>
          {value.map((one, i) => (
            <li key={i}>{cellText(one)}</li>
          ))}
        </ul>
      </>
    );
  }
  return (
    <>
      <h4>{title}</h4>
      <Facts facts={Object.entries(value as JsonObject)} />
    </>
  );
}

/** A table with every field that one of the rows has. */
function Rows({ title, rows }: { readonly title: string; readonly rows: readonly JsonObject[] }) {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return (
    <div className="wide" tabIndex={0} role="region" aria-label={title}>
      <table className="data-table">
        <caption>
          {title} <span className="meta">{rows.length}</span>
        </caption>
        <thead>
          <tr>
            {names.map((name) => (
              <th key={name} scope="col">
                {inWords(spaced(name))}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, i) => (
            <tr key={i}>
              {names.map((name) => (
                <td key={name}>{cellText(row[name])}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
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
  if (isList(value)) return value.length === 1 ? '1 item' : `${value.length} items`;
  const count = isObject(value) ? Object.keys(value).length : 0;
  return count === 1 ? '1 field' : `${count} fields`;
}

const SETTERS = { agent: 'the agent', person: 'a person', start: 'the start of the run' } as const;

/** What is known at this step, and who said so. */
function Context({ context }: Pick<StepPageData, 'context'>) {
  return (
    <table className="data-table context">
      <caption>Context at this step</caption>
      <thead>
        <tr>
          <th scope="col">Key</th>
          <th scope="col">Value</th>
          <th scope="col">Set by</th>
        </tr>
      </thead>
      <tbody>
        {context.map(({ key, value, by, at, isHere }) => (
          <tr key={key} className={isHere ? 'here' : ''}>
            <th scope="row">
              <code>{visibleText(key)}</code>
            </th>
            <td>{isObject(value) || isList(value) ? <Tree value={value} /> : cellText(value)}</td>
            <td>
              {SETTERS[by]}
              {at === undefined ? '' : at.number === undefined ? `, ${at.title}` : `, step ${at.number}`}
              {isHere && by !== 'start' ? <span className="badge">here</span> : null}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
