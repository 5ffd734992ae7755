import * as z from 'zod';
import { SEARCHED_KINDS } from '../../../app/overview/searched-texts.ts';
import { RunId } from '../../../core/log/ids.ts';
import { commandShape } from '../../command-shape.ts';
import { count, placeShape } from '../../sessions/session-shapes.ts';
import { listedSessionShape } from '../session/look/session-list-shape.ts';

const hit = z.strictObject({
  where: z.enum(SEARCHED_KINDS),
  runId: RunId.schema,
  tag: z.string(),
  /** The step that it was handed in with; a goal has none. */
  place: placeShape.exactOptional(),
  words: z.array(z.string()),
  snippet: z.string(),
});

const searchData = z.strictObject({
  words: z.array(z.string()),
  /** Best first; not all may be shown. */
  found: z.array(z.strictObject({ session: listedSessionShape, hits: z.array(hit) })),
  /** How many sessions hold all words. */
  total: count,
  /** How many sessions were read, and how many were not. */
  searched: count,
  notSearched: count,
  /** What could not be read: all of a session, the end of one, or an artifact. */
  unreadable: z.strictObject({ sessions: count, ends: count, artifacts: count }),
});
export type SearchData = z.infer<typeof searchData>;

/** What `workrail search --json` prints. */
export const searchShape = commandShape('search', searchData);
