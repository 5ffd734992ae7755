import { declaredMembers, type Member } from '../../test/engine/closed-set-members.ts';
import { producerOf } from '../../test/engine/closed-set-producers.ts';
import { cell } from './markdown.ts';

/** Every member of every closed set, and the test that produces it. Fails if a member has none. */
export function closedSetsPage(): string {
  const members = declaredMembers();
  const unwritten = members.filter((one) => producerOf(one) === 'unwritten').length;
  const rows = members.map((member) => `| \`${cell(member.set)}\` | \`${cell(member.member)}\` | ${words(member)} |`);
  return `${[
    '# Closed sets',
    'Generated from the event schema, the lists of error and warning codes and `test/engine/closed-set-producers.ts` by `npm run generate`; do not edit.',
    `${members.length} members. ${unwritten} are readable but unwritten: WorkRail reads them and never writes them. Every other member is produced by a real call or command in the named test.`,
    ['| Set | Member | Produced by |', '|---|---|---|', ...rows].join('\n'),
  ].join('\n\n')}\n`;
}

function words(member: Member): string {
  const producer = producerOf(member);
  if (producer === 'unwritten') return 'readable but unwritten';
  const { test, title } = producer;
  return `${cell(title)} ([${test}](../../${test}))`;
}
