import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { JsonValue } from '../../src/core/json/json-value.ts';
import type { ErrorEnvelope } from '../../src/core/log/error-envelope.ts';
import { visibleJson } from '../../src/core/text/visible-text.ts';
import { Refused } from '../state/api.ts';

/** What went wrong and what to do, for every request that is refused. */
export function ErrorPanel({ error, isPage = false }: { readonly error: Error; readonly isPage?: boolean }) {
  const envelope = error instanceof Refused ? error.envelope : undefined;
  // Where nothing else is shown, it is what the page is about.
  const Title = isPage ? 'h1' : 'p';
  return (
    <div className="panel error" role="alert">
      <Title className="strong">{envelope?.message ?? 'The console does not answer.'}</Title>
      <p>
        {envelope?.suggestion ?? 'Is "workrail console" still running? The page goes on by itself when it is back.'}
      </p>
      <Nearest details={envelope?.details} />
      {envelope === undefined ? null : <p className="meta">{envelope.code}</p>}
    </div>
  );
}

type NearSession = { readonly sessionId: string; readonly shortId: string; readonly title?: string };

/** The sessions that may have been meant. */
function Nearest({ details }: { readonly details: ErrorEnvelope['details'] }) {
  const near = (details as { readonly nearest?: readonly NearSession[] } | undefined)?.nearest ?? [];
  if (near.length === 0) return null;
  return (
    <>
      <p>Did you mean one of these?</p>
      <ul className="plain">
        {near.map(({ sessionId, shortId, title }) => (
          <li key={sessionId}>
            <Link to="/sessions/$session" params={{ session: sessionId }} search={{}}>
              {title ?? sessionId}
            </Link>{' '}
            <span className="meta">{shortId}</span>
          </li>
        ))}
      </ul>
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
  return (
    <button type="button" className="quiet" onClick={() => void copy()}>
      {isCopied ? 'Copied' : label}
    </button>
  );
}

/** The command that shows the same on the command line. */
export function CommandHint({ command }: { readonly command: string }) {
  return (
    <p className="command">
      <code>{command}</code>
      <CopyButton text={command} />
    </p>
  );
}

export function Json({ value }: { readonly value: JsonValue }) {
  const text = JSON.stringify(value, null, 2);
  return (
    <pre className="json" tabIndex={0}>
      {visibleJson(text)}
    </pre>
  );
}
