import * as z from 'zod';
import { utcMinute } from '../text/utc-time.ts';
import { plainDigestSchema, SessionId } from './ids.ts';

const VERSION = /^[\w.+-]{1,64}$/;

/** What a bundle says about the program that made it. Nothing proves it, and it is shown inside our own lines. */
const producerSchema = z.object({
  appVersion: z.string().regex(VERSION),
  appliedConfigHash: plainDigestSchema.optional(),
});

/** A version as an origin can hold it; any other text is not one. */
export function plainVersion(text: string): string {
  return VERSION.test(text) ? text : UNKNOWN_VERSION;
}

export const UNKNOWN_VERSION = 'unknown';

const moment = z.int().min(0);

/**
 * Where a session comes from that was not started here. It is stored beside the log and not in it: the log is the other
 * machine's, and accepting it changes nothing in it.
 */
export const originSchema = z.object({
  v: z.literal(1),
  kind: z.literal('imported'),
  at: moment,
  producer: producerSchema,
  /** The id of the session in the store that exported it, and the last chain value of its manifest. */
  sessionId: SessionId.schema.optional(),
  head: plainDigestSchema.optional(),
  /** The damaged session here from whose intact part it was made. */
  forkedFrom: SessionId.schema.optional(),
  /** When a person accepted it; until then, no agent is sent to it. */
  acceptedAt: moment.optional(),
});
export type Origin = z.infer<typeof originSchema>;

/** The origin of a session. One that cannot be read counts as not accepted. */
export type SessionOrigin = Origin | { readonly kind: 'unreadable' };

/** Whether a session may be offered like one that was started here. A session without an origin was. */
export function isTrusted(origin: SessionOrigin | undefined): boolean {
  return origin === undefined || (origin.kind === 'imported' && origin.acceptedAt !== undefined);
}

/** The origin as commands, replies and reports show it as data. */
export const shownOriginSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('imported'),
    at: moment,
    producer: z.strictObject({ appVersion: z.string() }),
    /** The damaged session here from whose intact part it was made. */
    forkedFrom: SessionId.schema.exactOptional(),
    /** Absent until a person accepts it. */
    acceptedAt: moment.exactOptional(),
  }),
  /** The record of its origin is damaged, so it counts as imported and not accepted. */
  z.strictObject({ kind: z.literal('unreadable') }),
]);
export type ShownOrigin = z.infer<typeof shownOriginSchema>;

export function shownOrigin(origin: SessionOrigin): ShownOrigin {
  if (origin.kind === 'unreadable') return origin;
  const { kind, at, producer, forkedFrom, acceptedAt } = origin;
  return {
    kind,
    at,
    producer: { appVersion: producer.appVersion },
    ...(forkedFrom === undefined ? {} : { forkedFrom }),
    ...(acceptedAt === undefined ? {} : { acceptedAt }),
  };
}

/** The same in a few words, for a list. */
export function originLabel(origin: ShownOrigin): string {
  if (origin.kind === 'unreadable') return 'origin unreadable, not accepted';
  const made = origin.forkedFrom === undefined ? 'imported' : `forked from ${origin.forkedFrom}`;
  return origin.acceptedAt === undefined ? `${made}, not accepted` : made;
}

/** The same as a phrase with the times. */
export function originWords(origin: ShownOrigin): string {
  if (origin.kind === 'unreadable') return 'the record of its origin is damaged, so it counts as not accepted';
  const { at, producer, forkedFrom, acceptedAt } = origin;
  if (forkedFrom !== undefined) {
    const note = acceptedAt === undefined ? ', not accepted by a person' : '';
    return `forked ${utcMinute(at)} from the intact part of ${forkedFrom}${note}`;
  }
  const accepted = acceptedAt === undefined ? 'not accepted by a person' : `accepted ${utcMinute(acceptedAt)}`;
  return `imported ${utcMinute(at)} from a file written by WorkRail ${producer.appVersion}, ${accepted}`;
}

/** The command by which a person accepts a session. */
export function acceptCommand({ sessionId }: { readonly sessionId: SessionId }): string {
  return `workrail session accept ${sessionId}`;
}
