import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { CommandHint, ErrorPanel } from '../parts/panels.tsx';
import { openBundle } from '../state/open-bundle.ts';

/** Shows a bundle in this browser. Nothing is uploaded, and nothing is written. */
export function Open() {
  const navigate = useNavigate();
  const field = useRef<HTMLInputElement>(null);
  const [reading, setReading] = useState<string | undefined>(undefined);
  const [error, setError] = useState<Error | undefined>(undefined);
  const look = async (file: File | undefined) => {
    if (file === undefined) return;
    setReading(file.name);
    setError(undefined);
    try {
      const { key } = await openBundle(file);
      await navigate({ to: '/sessions/$session', params: { session: key }, search: {} });
    } catch (failed) {
      setError(failed instanceof Error ? failed : new Error(String(failed)));
    }
    setReading(undefined);
  };
  const latest = useRef(look);
  latest.current = look;
  useEffect(() => {
    // On this page a dropped file is only looked at; everywhere else it is offered for import.
    const onDrop = (event: DragEvent) => {
      event.preventDefault();
      void latest.current(event.dataTransfer?.files[0]);
    };
    addEventListener('drop', onDrop, { capture: true });
    return () => removeEventListener('drop', onDrop, { capture: true });
  }, []);
  return (
    <>
      <header className="page-head">
        <h1>Open a file</h1>
      </header>
      <section className="panel drop">
        <p className="strong">Drop a bundle here to look at it.</p>
        <p>It is checked and shown in this browser. It is not uploaded, and nothing is written.</p>
        <button type="button" className="main" onClick={() => field.current?.click()}>
          Choose a file …
        </button>
        <input
          ref={field}
          type="file"
          hidden
          aria-label="A bundle to look at"
          onChange={({ target }) => {
            void look(target.files?.[0]);
            target.value = '';
          }}
        />
        <p className="meta" role="status">
          {reading === undefined ? '' : `Checking ${reading} …`}
        </p>
      </section>
      {error === undefined ? null : <ErrorPanel error={error} />}
      <CommandHint command="workrail import FILE --dry-run" />
    </>
  );
}
