import { useSyncExternalStore } from 'react';

export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const PLACE = 'workrail-theme';
const listeners = new Set<() => void>();

function theme(): Theme {
  return THEMES.find((one) => one === localStorage.getItem(PLACE)) ?? 'system';
}

export function setTheme(next: Theme): void {
  localStorage.setItem(PLACE, next);
  applyTheme();
  for (const listener of listeners) listener();
}

/** Called before the first paint, so that nothing flashes. */
export function applyTheme(): void {
  document.documentElement.dataset['theme'] = theme();
}

export function useTheme(): Theme {
  return useSyncExternalStore((onChange) => {
    listeners.add(onChange);
    return () => listeners.delete(onChange);
  }, theme);
}
