import { shared } from './told.ts';

const CHOICES = {
  theme: ['system', 'light', 'dark'],
  /** How much room a row takes. */
  density: ['comfortable', 'compact'],
  /** Whether the system tells when something begins to wait. */
  notify: ['off', 'on'],
} as const;

type Choice = keyof typeof CHOICES;
type Value<Name extends Choice> = (typeof CHOICES)[Name][number];

const PLACE = 'workrail-';
const changed = shared(0);

export function choices<Name extends Choice>(name: Name): readonly Value<Name>[] {
  return CHOICES[name];
}

/** What the user chose on this machine; the first is the default. */
function chosen<Name extends Choice>(name: Name): Value<Name> {
  const known: readonly Value<Name>[] = CHOICES[name];
  return (known.find((one) => one === localStorage.getItem(`${PLACE}${name}`)) ?? known[0]) as Value<Name>;
}

export function choose<Name extends Choice>(name: Name, value: Value<Name>): void {
  localStorage.setItem(`${PLACE}${name}`, value);
  applyLooks();
  changed.set(changed.get() + 1);
}

/** Called before the first paint, so that nothing flashes. */
export function applyLooks(): void {
  for (const name of ['theme', 'density'] as const) document.documentElement.dataset[name] = chosen(name);
}

export function useChosen<Name extends Choice>(name: Name): Value<Name> {
  changed.use();
  return chosen(name);
}
