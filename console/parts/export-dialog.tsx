import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { visibleText } from '../../src/core/text/visible-text.ts';
import { plural } from '../../src/core/text/words.ts';
import type { ConsoleInput } from '../../src/core/wire/console-shapes.ts';
import { readExport, saveFile } from '../state/api.ts';
import { exported, notice } from '../state/told.ts';
import { Dialog } from './dialog.tsx';
import { PassportExport } from './export-passport.tsx';
import { Button, CopyButton, ErrorPanel } from './panels.tsx';

const FORMATS = {
  md: ['Markdown', 'to read or to paste'],
  html: ['HTML', 'one file that opens in a browser'],
  json: ['JSON', 'for programs'],
  bundle: ['Bundle', 'the whole session, to import elsewhere'],
  passport: ['Passport', 'signed, for others to check with your public key'],
} as const;

type Format = ConsoleInput<'report'>['as'];
type Named = { readonly sessionId: string; readonly shortId: string };

const PREVIEW_LENGTH = 20_000;

/** Saves sessions as a document, and shows before what would be hidden. */
export function ExportDialog({ sessions }: { readonly sessions: readonly Named[] }) {
  const [as, setFormat] = useState<Format>('md');
  const [isRedacted, setRedacted] = useState(true);
  const ids = sessions.map(({ sessionId }) => sessionId);
  const redact = isRedacted ? '1' : '0';
  const [withhold, setWithhold] = useState('');
  // One file for each session.
  const isApart = as === 'bundle' || as === 'passport';
  const preview = useQuery({
    queryKey: ['export', ids, as, redact],
    queryFn: async () => {
      const [model, text] = await Promise.all([
        readExport({ sessions: ids, as: 'json', redact }).then((content) => content.text()),
        readExport({ sessions: ids, as: as === 'json' ? 'json' : 'md', redact }).then((content) => content.text()),
      ]);
      return { hidden: (JSON.parse(model) as { readonly hidden: readonly Hidden[] }).hidden, text };
    },
    enabled: !isApart,
    retry: false,
  });
  const shown = isApart ? undefined : preview.data;
  const [error, setError] = useState<Error | undefined>(undefined);
  const close = () => exported.set([]);
  const save = async () => {
    try {
      for (const one of isApart ? sessions : sessions.slice(0, 1)) {
        const content = await readExport({ sessions: isApart ? [one.sessionId] : ids, as, redact, withhold });
        saveFile(content, fileName(one, as, sessions.length));
      }
      notice.set({ words: `Exported ${plural(sessions.length, 'session')}.` });
      close();
    } catch (failed) {
      setError(failed instanceof Error ? failed : undefined);
    }
  };
  return (
    <Dialog
      title={sessions.length === 1 ? 'Export the session' : `Export ${sessions.length} sessions`}
      className="exchange wide"
      onClose={close}
    >
      <fieldset>
        <legend>As</legend>
        {Object.entries(FORMATS).map(([name, [word, what]]) => (
          <label key={name}>
            <input type="radio" name="as" checked={as === name} onChange={() => setFormat(name as Format)} /> {word}{' '}
            <span className="meta">{what}</span>
          </label>
        ))}
      </fieldset>
      {as === 'passport' && sessions[0] && (
        <PassportExport
          session={sessions[0]}
          file={fileName(sessions[0], as, 1)}
          withhold={withhold}
          onWithhold={setWithhold}
        />
      )}
      {as === 'bundle' && (
        <p className="warning">
          A bundle holds everything that was recorded, secrets too. For an encrypted one, in a terminal:{' '}
          <code>workrail export {sessions[0]?.shortId} --as bundle --encrypt</code>
        </p>
      )}
      {!isApart && (
        <label>
          <input type="checkbox" checked={isRedacted} onChange={({ target }) => setRedacted(target.checked)} /> Hide
          secrets and private paths
        </label>
      )}
      {shown && (
        <>
          <p className="hidden-list" role="status">
            {hiddenWords(shown.hidden, isRedacted)}
          </p>
          <pre className="preview" tabIndex={0}>
            {visibleText(shown.text.slice(0, PREVIEW_LENGTH))}
            {shown.text.length > PREVIEW_LENGTH ? '\n…' : ''}
          </pre>
        </>
      )}
      <ErrorPanel error={error ?? preview.error} />
      <div className="actions">
        <Button label="Save" className="main" onClick={() => void save()} />
        {shown && <CopyButton text={shown.text} label="Copy the text" />}
        <Button label="Cancel" className="quiet" onClick={close} />
      </div>
    </Dialog>
  );
}

function fileName({ shortId }: Named, as: Format, count: number): string {
  if (as === 'bundle' || as === 'passport') return `workrail-${shortId}.${as}.json`;
  return `workrail-${shortId}${count > 1 ? `-and-${count - 1}` : ''}.${as}`;
}

type Hidden = { readonly kind: string; readonly count: number };

function hiddenWords(hidden: readonly Hidden[], isRedacted: boolean): string {
  if (!isRedacted) return 'Nothing is hidden.';
  if (hidden.length === 0) return 'Nothing that looks like a secret was found.';
  return `Hidden: ${hidden.map(({ kind, count }) => `${kind} (${count})`).join(', ')}.`;
}
