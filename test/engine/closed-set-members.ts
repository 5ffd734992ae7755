import { ERROR_CODES } from '../../src/core/log/error-envelope.ts';
import { EVENT_KINDS } from '../../src/core/log/event.ts';
import { REPLY_WARNING_CODES } from '../../src/core/prompt/warning-facts.ts';
import { closedSets, dataSchema } from '../examples/event-schema.ts';

/** One member of a closed set of the event schema: `gap_recorded/severity` and `info`. */
export type Member = { readonly set: string; readonly member: string };

/** Every member of every closed set in the data of events, and every code of an error or a warning. */
export function declaredMembers(): readonly Member[] {
  return [
    ...EVENT_KINDS.flatMap((kind) =>
      Object.entries(closedSets(dataSchema(kind))).flatMap(([path, members]) =>
        members.map((member) => ({ set: `${kind}${path}`, member: String(member) })),
      ),
    ),
    ...ERROR_CODES.map((member) => ({ set: 'error', member })),
    ...REPLY_WARNING_CODES.map((member) => ({ set: 'warning', member })),
  ];
}

/** What recorded events hold at the places of closed sets, as `set member`. */
export function membersIn(events: readonly { readonly kind: string; readonly data: unknown }[]): ReadonlySet<string> {
  const found = new Set<string>();
  const visit = (value: unknown, path: string): void => {
    if (Array.isArray(value)) for (const one of value) visit(one, `${path}/*`);
    else if (typeof value === 'object' && value !== null) {
      for (const [key, inner] of Object.entries(value)) visit(inner, `${path}/${key}`);
    } else found.add(memberName({ set: path, member: String(value) }));
  };
  for (const { kind, data } of events) visit(data, kind);
  return found;
}

export function memberName({ set, member }: Member): string {
  return `${set} ${member}`;
}
