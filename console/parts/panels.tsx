import { Link } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import type { JsonValue } from '../../src/core/json/json-value.ts';
import { visibleJson } from '../../src/core/text/visible-text.ts';
import { IS_TEAM, Refused } from '../state/api.ts';
import { called } from '../state/told.ts';
import { useKeys } from './keys.tsx';

type Failed = { readonly error: Error | null | undefined; readonly isPage?: boolean };

/** What went wrong and what to do, for every request that is refused. */
export function ErrorPanel({ error, isPage = false }: Failed) {
  if (error === null || error === undefined) return null;
  const envelope = error instanceof Refused ? error.envelope : undefined;
  const near = (envelope?.details as { readonly nearest?: readonly NearSession[] } | undefined)?.nearest ?? [];
  // Where nothing else is shown, it is what the page is about.
  const Title = isPage ? 'h1' : 'p';
  return (
    <div className="panel error" role="alert">
      <Title className="strong">{envelope?.message ?? 'The console does not answer.'}</Title>
      <p>
        {envelope?.suggestion ?? 'Is "workrail console" still running? The page goes on by itself when it is back.'}
      </p>
      {near.length > 0 && <p>Did you mean one of these?</p>}
      <ul className="plain">
        {near.map(({ sessionId, shortId, title }) => (
          <li key={sessionId}>
            <SessionLink session={sessionId}>{title ?? sessionId}</SessionLink> <span className="meta">{shortId}</span>
          </li>
        ))}
      </ul>
      {envelope && <p className="meta">{envelope.code}</p>}
    </div>
  );
}

type NearSession = { readonly sessionId: string; readonly shortId: string; readonly title?: string };

/** What is shown until something was read, or instead of it. */
export function Pending({ words, error, ...more }: Failed & { readonly words: string }) {
  return error === null ? <p className="meta">{words}</p> : <ErrorPanel error={error} {...more} />;
}

export function SessionLink({ session, children }: { readonly session: string; readonly children: React.ReactNode }) {
  return (
    <Link to="/sessions/$session" params={{ session }} search={{}}>
      {children}
    </Link>
  );
}

/** Opens a workflow file in the editor: by the id, or by the path of a file that has none. */
export function EditLink({ workflow }: { readonly workflow: string }) {
  return (
    <Link className="button" to="/workflows/$workflow/edit" params={{ workflow }} search={{}}>
      Edit
    </Link>
  );
}

type Labelled = React.ComponentProps<'button'> & { readonly label: React.ReactNode };

export function Button({ label, ...more }: Labelled) {
  return (
    <button type="button" {...more}>
      {label}
    </button>
  );
}

type FileParts = Labelled & { readonly what: string; readonly onFile: (file: File | undefined) => void };

/** A button that asks for a file. The same file may be chosen twice. */
export function FileButton({ what, onFile, ...more }: FileParts) {
  const field = useRef<HTMLInputElement>(null);
  const onChange = ({ target }: React.ChangeEvent<HTMLInputElement>) => {
    onFile(target.files?.[0]);
    target.value = '';
  };
  return (
    <>
      <Button {...more} onClick={() => field.current?.click()} />
      <input ref={field} type="file" hidden aria-label={what} onChange={onChange} />
    </>
  );
}

export function CopyButton({ text, label = 'Copy' }: { readonly text: string; readonly label?: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 1_500);
  };
  return <Button label={isCopied ? 'Copied' : label} className="quiet" onClick={() => void copy()} />;
}

type Hint = {
  readonly command: string;
  /** It asks a team's database; other commands ask this machine, which knows nothing of a team's sessions. */
  readonly isOfTeam?: boolean;
};

/** The command that shows the same on the command line. What is copied also works where `workrail` is not installed. */
export function CommandHint({ command, isOfTeam = false }: Hint) {
  const whole = command.replace(/^workrail(?= )/, called.use());
  if (IS_TEAM !== isOfTeam) return null;
  return (
    <p className="command">
      <code title={whole}>{command}</code>
      <CopyButton text={whole} />
    </p>
  );
}

export function Json({ value }: { readonly value: JsonValue }) {
  // Line breaks of texts are escaped already; those between fields are ours.
  const lines = JSON.stringify(value, null, 2).split('\n').map(visibleJson);
  return (
    <pre className="json" tabIndex={0}>
      {lines.join('\n')}
    </pre>
  );
}

const TYPING_MS = 120;

type SearchParts = {
  readonly label: string;
  readonly hint?: string;
  readonly words: string;
  readonly onWords: (words: string) => void;
  /** After Enter or Escape. */
  readonly onDone?: () => void;
};

/** A field that filters what is below it, a moment after the last key. */
export function SearchField({ label, hint = 'Find by words', words, onWords, onDone }: SearchParts) {
  const field = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState(words);
  useEffect(() => setTyped(words), [words]);
  useEffect(() => {
    if (typed.trim() === words) return undefined;
    const timer = setTimeout(() => onWords(typed.trim()), TYPING_MS);
    return () => clearTimeout(timer);
  });
  useKeys({ '/': () => field.current?.focus() });
  return (
    <input
      ref={field}
      type="search"
      placeholder={hint}
      aria-label={label}
      value={typed}
      onChange={({ target }) => setTyped(target.value)}
      onKeyDown={({ key }) => {
        if (key !== 'Escape' && key !== 'Enter') return;
        field.current?.blur();
        onDone?.();
      }}
    />
  );
}

type SelectParts = {
  readonly label: string;
  /** What it is called to somebody who does not see what stands around it. */
  readonly name?: string;
  /** Without one, the first option. */
  readonly value: string | undefined;
  readonly options: { readonly [name: string]: string };
  readonly onPick: (name: string) => void;
};

export function Select({ label, name = label, value, options, onPick }: SelectParts) {
  return (
    <label className="pick">
      {label !== '' && <span>{label}</span>}
      <select
        aria-label={name}
        value={value ?? Object.keys(options)[0]}
        onChange={({ target }) => onPick(target.value)}
      >
        {Object.entries(options).map(([one, words]) => (
          <option key={one} value={one}>
            {words}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Names with what they stand for. */
export function Facts({ facts }: { readonly facts: readonly (readonly [string, React.ReactNode])[] }) {
  return (
    <dl className="facts">
      {facts.map(([name, value], i) => (
        <div key={i}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

type TableParts = {
  readonly title: string;
  readonly className?: string;
  readonly head: readonly string[];
  /** The first cell names the row. */
  readonly rows: readonly (readonly React.ReactNode[])[];
};

export function DataTable({ title, className = 'data-table', head, rows }: TableParts) {
  return (
    <div className="wide" tabIndex={0} role="region" aria-label={title}>
      <table className={className}>
        <caption>{title}</caption>
        <thead>
          <tr>
            {head.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(([first, ...cells], i) => (
            <tr key={i}>
              <th scope="row">{first}</th>
              {cells.map((cell, at) => (
                <td key={at}>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
