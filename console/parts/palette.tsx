import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useId, useState } from 'react';
import { read } from '../state/api.ts';
import { choices, choose } from '../state/looks.ts';
import { Dialog } from './dialog.tsx';
import { boundKeys } from './keys.tsx';
import { Mark } from './state-mark.tsx';

type Option = {
  readonly id: string;
  readonly words: React.ReactNode;
  readonly keys?: string;
  readonly act: () => void;
};

const TYPING_MS = 60;
const SESSIONS_MAX = 8;
/** What only moves a selection makes no sense in a list of its own. */
const NOT_LISTED: readonly string[] = ['j', 'k', 'Enter', 'Ctrl k', '/'];

/** Go, find and do in one box. */
export function Palette({ onClose }: { readonly onClose: () => void }) {
  const [typed, setTyped] = useState('');
  const [at, setAt] = useState(0);
  const list = useId();
  const sessions = useSessions(typed, onClose);
  const { commands, search } = useCommands(typed, onClose);
  const options = [...commands, ...sessions, ...search];
  const current = Math.min(at, options.length - 1);
  useEffect(() => {
    document.getElementById(`${list}-${current}`)?.scrollIntoView({ block: 'nearest' });
  }, [current, list]);
  const onKey = (event: React.KeyboardEvent) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by !== undefined) setAt((current + by + options.length) % Math.max(1, options.length));
    else if (event.key === 'Enter') options[current]?.act();
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title="Go, find or do" className="palette" onClose={onClose}>
      <input
        type="text"
        role="combobox"
        aria-label="Go, find or do"
        aria-expanded="true"
        aria-controls={list}
        aria-activedescendant={options.length === 0 ? undefined : `${list}-${current}`}
        aria-autocomplete="list"
        placeholder="A session, a page or something to do"
        value={typed}
        onChange={({ target }) => {
          setTyped(target.value);
          setAt(0);
        }}
        onKeyDown={onKey}
      />
      <div id={list} role="listbox" aria-label="What fits">
        {options.map(({ id, words, keys, act }, i) => (
          <div
            key={id}
            id={`${list}-${i}`}
            role="option"
            aria-selected={i === current}
            onClick={act}
            onPointerMove={() => setAt(i)}
          >
            <span>{words}</span>
            {keys === undefined ? null : <kbd>{keys}</kbd>}
          </div>
        ))}
      </div>
    </Dialog>
  );
}

/** What the keys of this page do, what can be set, and a search for the words. */
function useCommands(
  typed: string,
  onClose: () => void,
): { readonly commands: readonly Option[]; readonly search: readonly Option[] } {
  const navigate = useNavigate();
  // Each word that was typed begins a word of what can be done.
  const fits = (text: string) =>
    typed
      .toLowerCase()
      .split(/\s+/)
      .every((word) => ` ${text.toLowerCase()}`.includes(` ${word}`));
  const then = (act: () => void) => () => {
    onClose();
    // The dialog has to give the focus back first.
    setTimeout(act);
  };
  const keys = boundKeys()
    .filter((one) => !NOT_LISTED.includes(one.keys) && fits(one.does))
    .map(
      ({ keys: pressed, does, act }): Option => ({ id: does, words: sentence(does), keys: pressed, act: then(act) }),
    );
  const looks = (['theme', 'density'] as const)
    .flatMap((name) => choices(name).map((value) => ({ name, value, words: `${sentence(name)}: ${value}` })))
    .filter(({ words }) => typed !== '' && fits(words))
    .map(({ name, value, words }): Option => ({ id: words, words, act: then(() => choose(name, value)) }));
  const find = () => void navigate({ to: '/search', search: { q: typed.trim() } });
  const search = { id: 'search', words: `Find "${typed.trim()}" in all notes`, act: then(find) };
  return { commands: [...keys, ...looks], search: typed.trim() === '' ? [] : [search] };
}

function useSessions(typed: string, onClose: () => void): readonly Option[] {
  const navigate = useNavigate();
  const [q, setWords] = useState('');
  useEffect(() => {
    const timer = setTimeout(() => setWords(typed.trim()), TYPING_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  const { data } = useQuery({
    queryKey: ['palette', q],
    queryFn: () => read('sessions', {}, { q, limit: SESSIONS_MAX }),
    retry: false,
  });
  return (data?.rows ?? []).map(({ sessionId, title, state, shortId, waitsForPerson }) => ({
    id: sessionId,
    words: (
      <>
        <Mark name={waitsForPerson ? 'waiting' : state} /> {title ?? 'cannot be read'}{' '}
        <span className="meta">{shortId}</span>
      </>
    ),
    act: () => {
      onClose();
      void navigate({ to: '/sessions/$session', params: { session: sessionId }, search: {} });
    },
  }));
}

function sentence(words: string): string {
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`;
}
