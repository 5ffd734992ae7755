import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useId, useState } from 'react';
import type { ConsoleInput } from '../../../src/core/wire/console-shapes.ts';
import { includesRole, ROLES, type Role, TOKEN_ROLES } from '../../../src/core/wire/team-paths.ts';
import { Button, CommandHint, CopyButton, DataTable, Pending, Select } from '../../parts/panels.tsx';
import { leave, useAbout } from '../../parts/shell.tsx';
import { wholeTime } from '../../parts/times.ts';
import { read } from '../../state/api.ts';
import { Refusal, useChange } from './changes.tsx';
import { Spaces } from './spaces.tsx';
import '../../style/library.css';

const ADMIN_PAGES = { members: 'Members', tokens: 'Tokens', audit: 'Audit log' } as const;
const PAGES = { spaces: 'Spaces', ...ADMIN_PAGES } as const;

/** The spaces of a person, and for admins who may do what in this one. Everything here is a command of the operator too. */
export function Team() {
  const { page = 'members' } = useParams({ strict: false }) as { readonly page?: string };
  const about = useAbout();
  if (about?.team === undefined) return <Pending words="Looking who you are …" error={null} />;
  const { role, space, principal, name } = about.team;
  const isAdmin = includesRole(role, 'admin');
  const pages = isAdmin ? PAGES : { spaces: PAGES.spaces };
  const known = isAdmin && page in PAGES ? (page as keyof typeof PAGES) : isAdmin ? 'members' : 'spaces';
  return (
    <>
      <header className="page-head">
        <h1>Team</h1>
        <Button label="Sign out" className="quiet" onClick={() => void leave()} />
      </header>
      <p>
        You are {name === undefined ? '' : `${name}, `}
        <code className="break">{principal}</code>, {role} of the space <span className="strong">{space}</span>.
      </p>
      {!isAdmin && <p>{ROLE_WORDS[role]} Admins also see here who else has a role, and change it.</p>}
      <div className="settings">
        <nav aria-label="Team" className="runs">
          {Object.entries(pages).map(([one, title]) => (
            <Link key={one} to="/team/$page" params={{ page: one }} {...(one === known && { 'aria-current': 'page' })}>
              {title}
            </Link>
          ))}
        </nav>
        <section className="readable" aria-label={PAGES[known]}>
          <h2>{PAGES[known]}</h2>
          {known === 'spaces' ? (
            <Spaces />
          ) : (
            <>
              {known === 'members' ? <Members /> : known === 'tokens' ? <Tokens /> : <Audit />}
              <CommandHint command={`workrail ${COMMANDS[known]} --space ${space} --database-url "$DB"`} isOfTeam />
            </>
          )}
        </section>
      </div>
    </>
  );
}

const COMMANDS = { members: 'member list', tokens: 'token list', audit: 'audit verify' } as const;

const ROLE_WORDS: { readonly [role in Role]: string } = {
  reader: 'You may look at everything.',
  agent: 'You may look at everything, and your agents may work.',
  approver: 'You may look at everything, your agents may work, and you decide what waits for a person.',
  admin: 'You may do everything.',
};

function Members() {
  const about = useAbout();
  const { data, error } = useQuery({ queryKey: ['members'], queryFn: () => read('members') });
  const set = useChange('setMember', ({ principal, role }) => `${principal} is now ${role}.`);
  const remove = useChange('removeMember', ({ principal }) => `${principal} has no role here any more.`);
  if (data === undefined) return <Pending words="Reading the members …" error={error} />;
  const { members } = data;
  return (
    <>
      <DataTable
        title="People and groups with a role"
        head={['Who', 'Role', 'Change']}
        rows={members.map(({ principal, role }) => [
          <span key="who" className="break">
            {principal}
          </span>,
          <RolePicker
            key="role"
            label={`Role of ${principal}`}
            value={role}
            onPick={(picked) => set.mutate({ principal, role: picked })}
          />,
          principal === about?.team?.principal ? (
            'you'
          ) : (
            <Button
              key="remove"
              label="Remove"
              className="quiet"
              aria-label={`Remove ${principal}`}
              onClick={() => remove.mutate({ principal })}
            />
          ),
        ])}
      />
      <AddMember onAdd={(given) => set.mutate(given)} />
      <Refusal error={set.error ?? remove.error} page="members" />
    </>
  );
}

type Pick = { readonly label: string; readonly value: Role; readonly onPick: (role: Role) => void };

function RolePicker({ label, value, onPick }: Pick) {
  return (
    <select
      aria-label={label}
      value={value}
      onChange={({ target }) => onPick(ROLES.find((one) => one === target.value) ?? value)}
    >
      {ROLES.map((role) => (
        <option key={role} value={role}>
          {role}
        </option>
      ))}
    </select>
  );
}

function AddMember({ onAdd }: { readonly onAdd: (given: ConsoleInput<'setMember'>) => void }) {
  const [who, setWho] = useState('');
  const [role, setRole] = useState<Role>('agent');
  const field = useId();
  const add = () => {
    onAdd({ principal: who.trim(), role });
    setWho('');
  };
  return (
    <form onSubmit={(event) => event.preventDefault()}>
      <label htmlFor={field}>
        Give a person a role: the issuer of your identity provider, a bar, and the subject. For everyone in a group of
        the provider: <code className="break">group:https://idp.example|NAME</code>
      </label>
      <div className="actions">
        <input
          id={field}
          value={who}
          autoComplete="off"
          size={36}
          placeholder="https://idp.example|1234"
          onChange={({ target }) => setWho(target.value)}
        />
        <RolePicker label="Role" value={role} onPick={setRole} />
        <Button label="Add" className="main" disabled={who.trim() === ''} onClick={add} />
      </div>
    </form>
  );
}

const DAYS = 90;

function Tokens() {
  const { data, error } = useQuery({ queryKey: ['tokens'], queryFn: () => read('tokens') });
  const create = useChange('createToken', ({ for: name }) => `A token for ${name} was made.`);
  const revoke = useChange('revokeToken', ({ tokenId }) => `The token ${tokenId} was revoked.`);
  if (data === undefined) return <Pending words="Reading the tokens …" error={error} />;
  return (
    <>
      <p>For CI and agents without a person. A token reads or works; it never approves, and it always ends.</p>
      {data.tokens.length > 0 && (
        <DataTable
          title="Tokens of programs"
          head={['For', 'Role', 'Valid until', 'State', 'Change']}
          rows={data.tokens.map(({ tokenId, for: name, role, expiresAt, state }) => [
            <span key="for" className="break">
              {name} <span className="meta">{tokenId}</span>
            </span>,
            role,
            wholeTime(expiresAt),
            state,
            state === 'valid' ? (
              <Button
                key="revoke"
                label="Revoke"
                className="quiet"
                aria-label={`Revoke ${tokenId}`}
                onClick={() => revoke.mutate({ tokenId })}
              />
            ) : (
              ''
            ),
          ])}
        />
      )}
      <AddToken onAdd={(given) => create.mutate(given)} />
      {create.data && (
        <section className="panel" aria-label="The new token">
          <p>Shown only now; the server keeps only its hash.</p>
          <p>
            <code className="break">{create.data.token}</code> <CopyButton text={create.data.token} />
          </p>
        </section>
      )}
      <Refusal error={create.error ?? revoke.error} page="tokens" />
    </>
  );
}

function AddToken({ onAdd }: { readonly onAdd: (given: ConsoleInput<'createToken'>) => void }) {
  const [name, setName] = useState('');
  const [role, setRole] = useState<(typeof TOKEN_ROLES)[number]>('agent');
  const field = useId();
  return (
    <form onSubmit={(event) => event.preventDefault()}>
      <label htmlFor={field}>The program that uses the new token, for {DAYS} days</label>
      <div className="actions">
        <input
          id={field}
          value={name}
          autoComplete="off"
          placeholder="ci-bot"
          onChange={({ target }) => setName(target.value)}
        />
        <Select
          label="Role"
          value={role}
          options={Object.fromEntries(TOKEN_ROLES.map((one) => [one, one]))}
          onPick={(picked) => setRole(TOKEN_ROLES.find((one) => one === picked) ?? 'agent')}
        />
        <Button
          label="Make a token"
          className="main"
          disabled={name.trim() === ''}
          onClick={() => {
            onAdd({ for: name.trim(), role, days: DAYS });
            setName('');
          }}
        />
      </div>
    </form>
  );
}

const ACTION_WORDS = {
  member_set: 'gave the role',
  member_removed: 'removed the member',
  token_created: 'made a token with the role',
  token_revoked: 'revoked the token',
  handover_set: 'set who may continue a run',
  session_handed_over: 'handed over',
  four_eyes_set: 'set four eyes',
  signed_in: 'signed in',
  signed_out: 'signed out',
  decision_refused: 'was refused',
  ci_trusted: 'trusted the CI of',
  ci_removed: 'no longer trusts the CI of',
  limit_set: 'set a limit of the space',
  keys_rotated: 'rotated the keys that sign tokens',
  keys_resealed: 'sealed the keys with another master key',
  source_proposed: 'proposed the workflows of',
  source_accepted: 'accepted the workflows of',
  source_removed: 'removed the workflows of',
  session_deleted: 'deleted',
  session_restored: 'restored',
  session_exported: 'took a copy of',
  sessions_collected: 'removed for good',
  copy_started: 'began to copy',
} as const;

function Audit() {
  const { data, error } = useQuery({ queryKey: ['audit'], queryFn: () => read('audit') });
  if (data === undefined) return <Pending words="Reading the log …" error={error} />;
  const { entries, total, brokenAt } = data;
  return (
    <>
      {brokenAt === undefined ? (
        <p>
          {total} entries, each chained to the one before: none was changed or removed.
          {entries.length < total && ` The newest ${entries.length} are shown.`}
        </p>
      ) : (
        <p className="banner damaged" role="alert">
          Entry {brokenAt} was changed or removed. What follows is not shown. Tell the operator.
        </p>
      )}
      <DataTable
        title="Entries, newest first"
        head={['When', 'Who', 'What']}
        rows={entries.map(({ at, by, action, subject, role }) => [
          wholeTime(at),
          <span key="who" className="break">
            {by}
          </span>,
          <span key="what" className="break">
            {ACTION_WORDS[action]}
            {role === undefined ? '' : ` ${role}`}
            {subject === by ? '' : `: ${subject}`}
          </span>,
        ])}
      />
    </>
  );
}
