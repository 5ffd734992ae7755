import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { plural } from '../../src/core/text/words.ts';
import { markText } from '../../src/core/wire/console-commands.ts';
import type { ConsoleInput, ConsoleReply } from '../../src/core/wire/console-shapes.ts';
import { useKeys } from '../parts/keys.tsx';
import { Button, ErrorPanel } from '../parts/panels.tsx';
import { write } from '../state/api.ts';
import { exported, notice } from '../state/told.ts';

type Row = ConsoleReply<'sessions'>['rows'][number];
type Mark = ConsoleInput<'mark'>['mark'];

const ACTIONS: readonly {
  readonly mark: Mark;
  readonly undo: Mark;
  readonly label: string;
  readonly did: string;
  /** Whether it would change the row; the others are left alone, and so undoing does not change them either. */
  readonly changes: (row: Row) => boolean;
}[] = [
  { mark: 'closed', undo: 'open', label: 'Close', did: 'Closed', changes: ({ state }) => state !== 'closed' },
  { mark: 'kept', undo: 'not_kept', label: 'Keep', did: 'Kept', changes: ({ isKept }) => !isKept },
  { mark: 'deleted', undo: 'restored', label: 'Delete', did: 'Moved to the bin:', changes: () => true },
];

const idOf = ({ sessionId }: Row) => sessionId;

/** What can be done with the selected sessions. Everything can be undone. */
export function BulkBar({ rows, onClear }: { readonly rows: readonly Row[]; readonly onClear: () => void }) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [error, setError] = useState<Error | undefined>(undefined);
  const [isBusy, setBusy] = useState(false);
  const markAll = async (ids: readonly string[], mark: Mark): Promise<readonly string[]> => {
    const done: string[] = [];
    for (const session of ids) {
      try {
        await write('mark', { session }, { mark });
        done.push(session);
      } catch (refused) {
        setError(refused instanceof Error ? refused : undefined);
      }
    }
    await queries.invalidateQueries();
    return done;
  };
  const act = async ({ mark, undo, did, changes }: (typeof ACTIONS)[number]) => {
    setBusy(true);
    setError(undefined);
    const done = await markAll(rows.filter(changes).map(idOf), mark);
    setBusy(false);
    if (done.length === 0) return;
    const words = plural(done.length, 'session');
    const takeBack = async () => {
      notice.set({ words: `Undoing: ${words} …` });
      await markAll(done, undo);
      notice.set({ words: `Undone: ${words} as before.` });
    };
    notice.set({ words: `${did} ${words}.`, undo: () => void takeBack() });
    onClear();
  };
  const exportAll = () => exported.set(rows);
  useKeys({ e: exportAll });
  const [a = '', b = '']: readonly string[] = rows.map(idOf);
  const compare = () => void navigate({ to: '/compare', search: { a, b } });
  return (
    <div className="bulk" role="toolbar" aria-label="Selected sessions">
      <span>{rows.length} selected</span>
      {ACTIONS.map((action) => (
        <Button
          key={action.mark}
          label={action.label}
          title={markText(
            action.mark,
            rows.map(({ shortId }) => shortId),
          )}
          disabled={isBusy}
          onClick={() => void act(action)}
        />
      ))}
      <Button label="Export …" onClick={exportAll} />
      {rows.length === 2 && <Button label="Compare" onClick={compare} />}
      <Button label="Clear" className="quiet" onClick={onClear} />
      <ErrorPanel error={error} />
    </div>
  );
}
