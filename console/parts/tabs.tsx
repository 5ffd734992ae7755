import { useId } from 'react';

type Parts<Name extends string> = {
  readonly label: string;
  readonly names: readonly Name[];
  readonly chosen: Name;
  readonly onChoose: (name: Name) => void;
  /** What stands behind the name of a tab. */
  readonly marks?: { readonly [name in Name]?: React.ReactNode };
  /** Whether the tabs have the keys 1, 2, … */
  readonly hasKeys?: boolean;
  readonly children: React.ReactNode;
};

/** Tabs above what the chosen one shows. The arrows move between them. */
export function Tabs<Name extends string>({ label, names, chosen, onChoose, marks, hasKeys, children }: Parts<Name>) {
  const id = useId();
  const onKey = ({ key }: React.KeyboardEvent) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[key];
    if (by === undefined) return;
    const next = names[(names.indexOf(chosen) + by + names.length) % names.length];
    if (next === undefined) return;
    onChoose(next);
    document.getElementById(`${id}-${next}`)?.focus();
  };
  return (
    <>
      <div role="tablist" aria-label={label} className="tabs" onKeyDown={onKey}>
        {names.map((name, i) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`${id}-${name}`}
            aria-selected={chosen === name}
            aria-controls={`${id}-body`}
            tabIndex={chosen === name ? 0 : -1}
            {...(hasKeys && { title: `Key ${i + 1}` })}
            onClick={() => onChoose(name)}
          >
            {`${name.slice(0, 1).toUpperCase()}${name.slice(1)}`}
            {marks?.[name]}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-body`} aria-labelledby={`${id}-${chosen}`} tabIndex={0}>
        {children}
      </div>
    </>
  );
}
