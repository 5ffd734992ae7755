import { useEffect, useRef } from 'react';

/** Every key of the console. The sheet shows this table, and a key that is not in it cannot be bound. */
export const KEYS = [
  { keys: 'g s', does: 'go to the sessions' },
  { keys: 'g w', does: 'go to what waits for you' },
  { keys: '/', does: 'search' },
  { keys: 'j', does: 'next row' },
  { keys: 'k', does: 'previous row' },
  { keys: 'Enter', does: 'open the row' },
  { keys: 'u', does: 'go up, from a session to the list' },
  { keys: '1 … 6', does: 'choose a tab of the step' },
  { keys: 'b', does: 'show or hide the other branches' },
  { keys: '?', does: 'show the keys' },
] as const;

type Bound = Exclude<(typeof KEYS)[number]['keys'], '1 … 6'> | '1' | '2' | '3' | '4' | '5' | '6';
export type KeyBindings = { readonly [keys in Bound]?: () => void };

const SECOND_KEY_MS = 1_000;

/** Binds keys while a part is shown. Keys never act while the user is typing. */
export function useKeys(bindings: KeyBindings): void {
  const current = useRef(bindings);
  current.current = bindings;
  useEffect(() => {
    let first = '';
    let until = 0;
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTaken(event)) return;
      const pressed = first !== '' && event.timeStamp < until ? `${first} ${event.key}` : event.key;
      const act = current.current[pressed as Bound];
      first = event.key === 'g' ? 'g' : '';
      until = event.timeStamp + SECOND_KEY_MS;
      if (act === undefined) return;
      event.preventDefault();
      act();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
}

/** Whether the part that has the focus uses the key itself. */
function isTaken({ target, key }: KeyboardEvent): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.closest(`input, textarea, select, dialog${key === 'Enter' ? ', a, button, summary' : ''}`) !== null;
}
