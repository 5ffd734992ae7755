import { useQuery } from '@tanstack/react-query';
import type { PassportStatement, WithheldKind } from '../../src/core/passport/passport.ts';
import { plural } from '../../src/core/text/words.ts';
import { readExport } from '../state/api.ts';
import { CommandHint, ErrorPanel } from './panels.tsx';

const KINDS: { readonly [kind in WithheldKind]: string } = {
  notes: 'notes',
  context: 'context',
  artifacts: 'artifacts',
  workspace: 'folder and branch',
};

type PassportParts = {
  readonly session: { readonly sessionId: string; readonly shortId: string };
  readonly file: string;
  /** Kinds with commas between. */
  readonly withhold: string;
  readonly onWithhold: (withhold: string) => void;
};

/** What a passport of a session would leave out and say, before it is saved. */
export function PassportExport({ session: { sessionId, shortId }, file, withhold, onWithhold }: PassportParts) {
  const chosen = withhold.split(',').filter((kind) => kind !== '');
  const { data, error } = useQuery({
    queryKey: ['passport', sessionId, withhold],
    queryFn: async () => statementIn(await readExport({ sessions: [sessionId], as: 'passport', withhold })),
    retry: false,
  });
  const turn = (kind: string) =>
    onWithhold(
      Object.keys(KINDS)
        .filter((one) => chosen.includes(one) !== (one === kind))
        .join(','),
    );
  const without = withhold === '' ? '' : ` --withhold ${withhold}`;
  return (
    <>
      <fieldset>
        <legend>Leave out</legend>
        {Object.entries(KINDS).map(([kind, word]) => (
          <label key={kind}>
            <input type="checkbox" checked={chosen.includes(kind)} onChange={() => turn(kind)} /> {word}
          </label>
        ))}
      </fieldset>
      {data && (
        <div role="status">
          <ul className="hidden-list">
            {passportWords(data).map((line) => (
              <li key={line}>{line}</li>
            ))}
          </ul>
        </div>
      )}
      <ErrorPanel error={error} />
      <CommandHint command={`workrail export ${shortId} --as passport${without} -o ${file}`} />
      <CommandHint command={`workrail verify ${file} --key workrail.pem`} />
      <p className="meta">
        The event with the git name of the author is left out; <code>--author</code> keeps it. Others check the file
        with your public key: <code>workrail keys public &gt; workrail.pem</code>
      </p>
    </>
  );
}

/** The payload is base64 of UTF-8. */
async function statementIn(content: Blob): Promise<PassportStatement> {
  const { payload } = JSON.parse(await content.text()) as { readonly payload: string };
  const bytes = Uint8Array.from(atob(payload), (character) => character.charCodeAt(0));
  return JSON.parse(new TextDecoder().decode(bytes)) as PassportStatement;
}

function passportWords({
  subject,
  predicate: { session, withheld, log, approvals },
}: PassportStatement): readonly string[] {
  const [commit] = subject.flatMap(({ digest }) => ('gitCommit' in digest ? [digest.gitCommit] : []));
  const signed = approvals.filter(({ signedBy }) => signedBy !== undefined);
  const unchecked = signed.filter(({ event }) => withheld.events.includes(event)).length;
  const kinds =
    withheld.kinds.length === 0 ? '' : ` (${withheld.kinds.join(', ')}, and what repeats them or has a hash of them)`;
  return [
    commit === undefined
      ? 'It names no commit, because the git repository of the run is not on this machine.'
      : `It is about commit ${commit}.`,
    log.signedSince === null
      ? 'The log is not signed; only the passport is.'
      : `The log is signed from event ${log.signedSince} on.`,
    `Answers of people: ${approvals.length}, ${signed.length} of them signed.`,
    ...(unchecked === 0
      ? []
      : [`Nobody can check ${plural(unchecked, 'signature')} of these: what was signed is withheld.`]),
    withheld.events.length === 0
      ? 'Nothing is withheld: it shows every event with notes and paths as they were recorded.'
      : `Withheld: ${withheld.events.length} of ${plural(session.events, 'event')}${kinds}.`,
  ];
}
