import { declaredMembers, type Member } from '../../test/engine/closed-set-members.ts';
import { producerOf } from '../../test/engine/closed-set-producers.ts';
import { cell } from './markdown.ts';

/** Every member of every closed set in the data of events, and the test that produces it. */
export function closedSetsPage(): string {
  const members = declaredMembers();
  const count = (kind: 'unwritten' | 'open') => members.filter((one) => producerOf(one) === kind).length;
  const rows = members.map((member) => `| \`${cell(member.set)}\` | \`${cell(member.member)}\` | ${words(member)} |`);
  return `${[
    '# Closed sets',
    'Generated from the event schema and `test/engine/closed-set-producers.ts` by `npm run generate`; do not edit.',
    `${members.length} members. ${count('unwritten')} are readable but unwritten: WorkRail reads them and never writes them. For ${count('open')} no test is named yet. Blocker codes, pointers, next intents and token errors in replies are compared with their whole sets in the [same test](../../test/engine/closed-sets.test.ts).`,
    ['| Set | Member | Produced by |', '|---|---|---|', ...rows].join('\n'),
  ].join('\n\n')}\n`;
}

function words(member: Member): string {
  const producer = producerOf(member);
  if (producer === 'unwritten') return 'readable but unwritten';
  return producer === 'open' ? 'no test named yet' : `[${producer.test}](../../${producer.test})`;
}
