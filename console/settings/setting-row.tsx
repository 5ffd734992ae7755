import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import {
  SETTING_KEYS,
  SETTING_NAMES,
  type SettingKey,
  type SettingName,
  settingText,
} from '../../src/core/settings/setting-keys.ts';
import { originText } from '../../src/core/settings/settings-words.ts';
import { typedCommand } from '../../src/core/wire/console-commands.ts';
import type { ConsoleReply } from '../../src/core/wire/console-shapes.ts';
import { CommandButton } from '../parts/command.tsx';
import { CommandHint, Select } from '../parts/panels.tsx';
import { read } from '../state/api.ts';

type Shown = ConsoleReply<'settings'>['settings'][number];

/** What a repository may set too: how its runs behave. */
export const PREFERENCES: readonly SettingName[] = SETTING_NAMES.filter((name) => SETTING_KEYS[name].isForWorkspaces);

export function useSettings() {
  return useQuery({ queryKey: ['settings'], queryFn: () => read('settings'), refetchInterval: LOOK_MS });
}

/** Files and servers change without the store. */
export const LOOK_MS = 1_500;

const SCOPES = { user: 'all projects', project: 'this project' } as const;

/** A setting with what is in force, where that comes from, and a way to change it. */
export function SettingRow({
  setting: { key, value, origin },
  children,
}: {
  readonly setting: Shown;
  readonly children?: React.ReactNode;
}) {
  const { about, expected, isForWorkspaces, variable } = SETTING_KEYS[key];
  const [scope, setScope] = useState<'user' | 'project'>('user');
  const [typed, setTyped] = useState<string | undefined>(undefined);
  const now = typeof value === 'boolean' ? (value ? '1' : '0') : settingText(value).replaceAll(', ', ',');
  const isLocked = origin.kind === 'variable';
  const next = typed ?? now;
  return (
    <section className="setting" aria-label={key}>
      <h3>
        <code>{key}</code> <span className="strong">{settingText(value)}</span>{' '}
        <span className="meta break">{origin.kind === 'default' ? 'default' : `from ${originText(origin)}`}</span>
      </h3>
      <p className="meta">{about}</p>
      {children}
      {isLocked ? (
        <p>
          The variable <code>{variable}</code> overrides every file, so it can only be changed where the console was
          started.
        </p>
      ) : (
        <div className="list-tools">
          <Field name={key} value={next} onValue={setTyped} />
          {isForWorkspaces && (
            <Select
              label="for"
              name={`${key} for`}
              value={scope}
              options={SCOPES}
              onPick={(one) => setScope(one as typeof scope)}
            />
          )}
          <CommandButton
            path="setSetting"
            input={{ key, value: next, scope }}
            label="Change"
            question={`${key} becomes ${next} for ${SCOPES[scope]}. It can be ${expected}.`}
            isDisabled={next === now && origin.kind !== 'default'}
            said={({ isChanged, file }) => (isChanged ? `${key} is set in ${file}.` : 'Already set; nothing changed.')}
          />
          {(origin.kind === 'user' || origin.kind === 'workspace') && (
            <CommandButton
              path="setSetting"
              input={{ key, scope: origin.kind === 'user' ? 'user' : 'project' }}
              label="Remove"
              question={`${key} is removed from ${origin.file}, so the next file or the default applies.`}
              said={({ file }) => `${key} was removed from ${file}.`}
            />
          )}
        </div>
      )}
      <CommandHint command={typedCommand('setSetting', { key, value: next === '' ? 'VALUE' : next, scope })} />
    </section>
  );
}

const SWITCH = { 1: 'on', 0: 'off' };

type FieldParts = { readonly name: SettingName; readonly value: string; readonly onValue: (value: string) => void };

function Field({ name, value, onValue }: FieldParts) {
  const key: SettingKey = SETTING_KEYS[name];
  if (key.kind === 'choice' || key.kind === 'switch') {
    const options = key.kind === 'choice' ? Object.fromEntries(key.values.map((one) => [one, one])) : SWITCH;
    return <Select label="" name={name} value={value} options={options} onPick={onValue} />;
  }
  return <input type="text" aria-label={name} value={value} onChange={({ target }) => onValue(target.value)} />;
}
