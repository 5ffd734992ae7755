import { useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { isObject, type JsonValue } from '../../src/core/json/json-value.ts';
import { visibleText } from '../../src/core/text/visible-text.ts';
import { plural } from '../../src/core/text/words.ts';
import type { ConsoleReply } from '../../src/core/wire/console-shapes.ts';
import { Words } from '../parts/diff.tsx';
import { CommandHint, CopyButton, DataTable, Pending, SessionLink } from '../parts/panels.tsx';
import { duration } from '../parts/times.ts';
import { read } from '../state/api.ts';

type Compared = ConsoleReply<'compare'>;
type Step = Compared['steps'][number];
type Handed = NonNullable<Step['a']>;

/** Two branches, steps or sessions side by side. */
export function Compare() {
  const asked = useSearch({ from: '/compare' });
  const { data, error } = useQuery({
    queryKey: ['compare', asked],
    queryFn: () => read('compare', {}, asked),
    retry: false,
  });
  const [isAll, setAll] = useState(false);
  if (data === undefined) return <Pending words="Comparing …" error={error} isPage />;
  const steps = data.steps.filter(({ kind }) => isAll || kind !== 'same');
  const same = data.steps.length - data.steps.filter(({ kind }) => kind !== 'same').length;
  const { a: from, b: to } = data.commits;
  return (
    <>
      <header className="page-head">
        <h1>Compare</h1>
        <div className="actions">
          <label>
            <input type="checkbox" checked={isAll} onChange={({ target }) => setAll(target.checked)} /> Show what is the
            same ({plural(same, 'step')})
          </label>
          <CopyButton text={markdownOf(data)} label="Copy as Markdown" />
        </div>
      </header>
      <div className="sides">
        <Side side={data.a} letter="a" />
        <Side side={data.b} letter="b" />
      </div>
      {from && to && from !== to && <CommandHint command={`git diff ${from} ${to}`} />}
      <Changes
        title="Values that differ"
        changes={data.context.flatMap(({ key, a, b }) => valueChanges({ path: key, a: a ?? null, b: b ?? null }))}
      />
      {steps.length === 0 && <p className="panel">The steps of both sides were done in the same way.</p>}
      {steps.map((step, i) => (
        <StepDifference key={i} step={step} />
      ))}
      {data.command && <CommandHint command={data.command} />}
    </>
  );
}

function Side({ side, letter }: { readonly side: Compared['a']; readonly letter: 'a' | 'b' }) {
  return (
    <p className={`side ${letter}`}>
      <span className="badge">{letter === 'a' ? 'removed from' : 'added in'}</span>{' '}
      <SessionLink session={side.sessionId}>{side.title}</SessionLink>
      <span className="meta">
        {side.label} · {side.workflow} · {side.shortId}
      </span>
    </p>
  );
}

const KINDS = { same: 'the same', changed: 'changed', only_a: 'only on the first', only_b: 'only on the second' };

function StepDifference({ step: { kind, title, a, b } }: { readonly step: Step }) {
  return (
    <section className="panel difference" aria-label={title}>
      <h2>
        {title} <span className={`badge ${kind}`}>{KINDS[kind]}</span>
      </h2>
      {kind !== 'same' && (
        <>
          <p className="meta">{[tookWords(a, 'the first'), tookWords(b, 'the second')].filter(Boolean).join(', ')}</p>
          <Words before={a?.notes ?? ''} after={b?.notes ?? ''} />
          <Changes title="Data that differs" changes={artifactChanges(a, b)} />
        </>
      )}
    </section>
  );
}

function tookWords(handed: Handed | undefined, side: string): string {
  if (handed?.from === undefined || handed.to === undefined) return '';
  return `${duration(handed.from, handed.to)} on ${side}`;
}

type Change = {
  readonly path: string;
  readonly a: JsonValue | undefined;
  readonly b: JsonValue | undefined;
};

/** The places of two values that differ, each with its path. */
function valueChanges({ path, a, b }: Change): readonly Change[] {
  if (JSON.stringify(a) === JSON.stringify(b)) return [];
  const [left, right] = [childrenOf(a), childrenOf(b)];
  if (left === undefined || right === undefined) return [{ path, a, b }];
  const keys = [...new Set([...left.keys(), ...right.keys()])];
  return keys.flatMap((key) =>
    valueChanges({ path: path === '' ? key : `${path}.${key}`, a: left.get(key), b: right.get(key) }),
  );
}

function childrenOf(value: JsonValue | undefined): ReadonlyMap<string, JsonValue> | undefined {
  if (Array.isArray(value)) return new Map(value.map((item, i) => [String(i + 1), item as JsonValue]));
  return isObject(value) ? new Map(Object.entries(value) as [string, JsonValue][]) : undefined;
}

/** Artifacts of one kind are compared in their order. */
function artifactChanges(a: Handed | undefined, b: Handed | undefined): readonly Change[] {
  const byName = (handed: Handed | undefined) => {
    const seen = new Map<string, number>();
    return new Map(
      (handed?.artifacts ?? []).map(({ kind = 'artifact', content, sha256 }) => {
        const count = (seen.get(kind) ?? 0) + 1;
        seen.set(kind, count);
        return [count === 1 ? kind : `${kind} ${count}`, content ?? sha256] as const;
      }),
    );
  };
  const [left, right] = [byName(a), byName(b)];
  const names = [...new Set([...left.keys(), ...right.keys()])];
  return names.flatMap((name) => valueChanges({ path: name, a: left.get(name), b: right.get(name) }));
}

function Changes({ title, changes }: { readonly title: string; readonly changes: readonly Change[] }) {
  if (changes.length === 0) return null;
  const rows = changes.map(({ path, a, b }) => [
    visibleText(path),
    a !== undefined && <del key="a">{shown(a)}</del>,
    b !== undefined && <ins key="b">{shown(b)}</ins>,
  ]);
  return <DataTable title={title} className="changes" head={['Where', 'First', 'Second']} rows={rows} />;
}

function shown(value: JsonValue): string {
  return visibleText(typeof value === 'string' ? value : JSON.stringify(value));
}

/** The comparison for a message or a pull request. What was written by agents stands in code blocks. */
function markdownOf({ a, b, steps, context }: Compared): string {
  const heading = `# ${oneLine(a.title)}: ${a.label} and ${oneLine(b.title)}: ${b.label}`;
  const values = context.map(({ key, ...sides }) => changeLine({ path: key, a: undefined, b: undefined, ...sides }));
  const parts = steps.map((step) => {
    const head = `## ${oneLine(step.title)} (${KINDS[step.kind]})`;
    if (step.kind === 'same') return head;
    const lines = [...signed('-', step.a?.notes), ...signed('+', step.b?.notes)];
    const data = artifactChanges(step.a, step.b).map(changeLine);
    return [head, ...(lines.length === 0 ? [] : ['````diff', ...lines, '````']), ...data].join('\n');
  });
  return [heading, ...(values.length === 0 ? [] : [`## Values\n\n${values.join('\n')}`]), ...parts].join('\n\n');
}

function signed(sign: string, notes: string | undefined): readonly string[] {
  const lines = notes ? visibleText(notes).split('\n') : [];
  return lines.map((line) => `${sign} ${line}`);
}

function changeLine({ path, a, b }: Change): string {
  return `- ${path}: ${code(a)} → ${code(b)}`;
}

function oneLine(text: string): string {
  return visibleText(text).replaceAll(/\s+/g, ' ');
}

function code(value: JsonValue | undefined): string {
  return value === undefined ? '(none)' : `\`${oneLine(JSON.stringify(value)).replaceAll('`', "'")}\``;
}
