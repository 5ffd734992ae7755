import { useEffect, useRef } from 'react';

/** Every key of the console. The sheet and the palette show this table, and a key that is not in it cannot be bound. */
export const KEYS = [
  { keys: 'g s', does: 'go to the sessions' },
  { keys: 'g w', does: 'go to what is waiting for you' },
  { keys: 'g f', does: 'find words in all notes' },
  { keys: 'g l', does: 'go to the workflows' },
  { keys: 'g b', does: 'go to the built-ins' },
  { keys: 'g ,', does: 'go to the settings' },
  { keys: 'g o', does: 'open a bundle without importing it' },
  { keys: '/', does: 'filter or search' },
  { keys: 'j', does: 'next row' },
  { keys: 'k', does: 'previous row' },
  { keys: 'Enter', does: 'open the row' },
  { keys: 'x', does: 'select the row' },
  { keys: 'X', shown: 'Shift x', does: 'select all rows from the last one' },
  { keys: 'e', does: 'export' },
  { keys: 'd', does: 'compare: mark the first, then the second' },
  { keys: 'z', does: 'undo what was just done' },
  { keys: 'u', does: 'go up, from a session to the list' },
  { keys: '1 … 6', does: 'choose a tab of the step' },
  { keys: 'o', does: 'open or fold the row' },
  { keys: 'b', does: 'show or hide the other branches' },
  { keys: 'f', does: 'follow the run as it goes on' },
  { keys: 't', does: 'show or hide the timeline of the session' },
  { keys: '[', does: 'show the session as it was one moment before' },
  { keys: ']', does: 'show the session one moment later' },
  { keys: 'y', does: 'copy the address of this view' },
  { keys: 'p', does: 'pause: show no changes, or go on' },
  { keys: 'Ctrl s', does: 'save the file' },
  { keys: 'Ctrl .', does: 'fix the problem at the cursor' },
  { keys: 'Ctrl k', does: 'go, find or do by words' },
  { keys: '?', does: 'show the keys' },
] as const;

type Bound = Exclude<(typeof KEYS)[number]['keys'], '1 … 6'> | '1' | '2' | '3' | '4' | '5' | '6';
export type KeyBindings = { readonly [keys in Bound]?: () => void };

const SECOND_KEY_MS = 1_000;

/** What is bound at the moment, innermost last. */
const active = new Set<{ readonly current: KeyBindings }>();

/** What the keys would do now, for the palette. */
export function boundKeys(): readonly { readonly keys: string; readonly does: string; readonly act: () => void }[] {
  return KEYS.flatMap((key) => {
    const act = [...active].map(({ current }) => current[key.keys as Bound]).findLast((one) => one !== undefined);
    const keys = 'shown' in key ? key.shown : key.keys;
    return act === undefined ? [] : [{ keys, does: key.does, act }];
  });
}

/** Binds keys while a part is shown. Keys never act while the user is typing. */
export function useKeys(bindings: KeyBindings): void {
  const current = useRef(bindings);
  current.current = bindings;
  useEffect(() => {
    let first = '';
    let until = 0;
    const onKey = (event: KeyboardEvent) => {
      const isControl = (event.ctrlKey || event.metaKey) && ['k', 's', '.'].includes(event.key);
      if (!isControl && (event.ctrlKey || event.metaKey || event.altKey || isTaken(event))) return;
      const isSecond = first !== '' && event.timeStamp < until;
      const pressed = isControl ? `Ctrl ${event.key}` : isSecond ? `${first} ${event.key}` : event.key;
      const act = current.current[pressed as Bound];
      first = event.key === 'g' ? 'g' : '';
      until = event.timeStamp + SECOND_KEY_MS;
      if (act === undefined) return;
      event.preventDefault();
      act();
    };
    active.add(current);
    addEventListener('keydown', onKey);
    return () => {
      active.delete(current);
      removeEventListener('keydown', onKey);
    };
  }, []);
}

/** Puts the focus on the next or the previous of these parts of the page. */
export function moveAmong(selector: string, by: 1 | -1): void {
  const all = [...document.querySelectorAll<HTMLElement>(selector)];
  const at = all.indexOf(document.activeElement as HTMLElement);
  all[at === -1 ? (by === 1 ? 0 : all.length - 1) : Math.min(all.length - 1, Math.max(0, at + by))]?.focus();
}

/** Whether the part that has the focus uses the key itself. */
function isTaken({ target, key }: KeyboardEvent): boolean {
  if (!(target instanceof HTMLElement)) return false;
  const isOfButtons = key === 'Enter' || key === ' ';
  const own = `input:not([type=checkbox]), textarea, select, dialog, [contenteditable=true]${isOfButtons ? ', a, button, summary, input' : ''}`;
  return target.closest(own) !== null;
}
