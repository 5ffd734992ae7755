import { plural } from '../../src/core/text/words.ts';
import { CommandHint, CopyButton, Facts, Pending } from '../parts/panels.tsx';
import { useRead } from '../state/session-source.ts';

/** What is signed in a session, since when and by which key, who signed the answers of people, and how others check it. */
export function Signatures({ shortId }: { readonly shortId: string }) {
  const { data, error } = useRead('signatures');
  if (data === undefined) return <Pending words="Checking the signatures …" error={error} />;
  const { log, head, answers } = data;
  const unsigned = answers.filter(({ isSigned }) => !isSigned).length;
  const facts: (readonly [string, React.ReactNode])[] = [
    ['Log', <span key="log" className={log.isSigned ? '' : 'warning'}>{`The log is ${log.words}.`}</span>],
    [
      'Answers of people',
      answers.length === 0 ? (
        'none'
      ) : (
        <ul key="answers" className="plain">
          {answers.map(({ eventIndex, words }) => (
            <li key={eventIndex}>
              {words} <span className="meta">event {eventIndex}</span>
            </li>
          ))}
        </ul>
      ),
    ],
    ...(unsigned === 0 ? [] : [['Without a signature', plural(unsigned, 'answer')] as const]),
    [
      'Withheld',
      'Nothing: this page reads the whole session. A passport for others (Export …) can leave out notes, context, artifacts or the workspace, and says what it leaves out.',
    ],
    ...(head === undefined
      ? []
      : [
          [
            'Head',
            <span key="head">
              <code>{head}</code> <CopyButton text={head} label="Copy the head" />
              <span className="meta">
                Give it to somebody who should be able to see later whether anything up to now was changed, no matter
                who signed it.
              </span>
            </span>,
          ] as const,
        ]),
  ];
  return (
    <section className="signatures" aria-label="Signatures">
      <Facts facts={facts} />
      <CommandHint command={`workrail session verify ${shortId}`} />
      <CommandHint command={`workrail export ${shortId} --as passport -o passport.json --withhold notes`} />
    </section>
  );
}
