import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { CommandHint, ErrorPanel, FileButton } from '../parts/panels.tsx';
import { openBundle } from '../state/open-bundle.ts';

/** Shows a bundle in this browser. Nothing is uploaded, and nothing is written. */
export function Open() {
  const navigate = useNavigate();
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
        <FileButton
          label="Choose a file …"
          className="main"
          what="A bundle to look at"
          onFile={(file) => void look(file)}
        />
        <p className="meta" role="status">
          {reading === undefined ? '' : `Checking ${reading} …`}
        </p>
      </section>
      <ErrorPanel error={error} />
      <CommandHint command="workrail import FILE --dry-run" />
    </>
  );
}
