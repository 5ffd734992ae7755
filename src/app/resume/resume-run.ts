import { err, type Result } from 'neverthrow';
import { canonicalLength } from '../../core/json/canonical-json.ts';
import { RESUME_CANDIDATES_MAX, RESUME_REPLY_BYTES_MAX } from '../../core/log/budgets.ts';
import type { SessionId } from '../../core/log/ids.ts';
import type { GivenReply } from '../../core/log/operation/stored-reply.ts';
import { type OfferedRun, shorterCandidate } from '../../core/resume/candidate.ts';
import type { RankedRun } from '../../core/resume/rank-runs.ts';
import { resumedReply } from '../../core/resume/resume-replies.ts';
import { utf8Length } from '../../core/text/utf8.ts';
import { rehydrateNode, type ShownRoom } from '../run/rehydrate.ts';
import {
  type CandidateReader,
  readCandidate,
  sessionOf,
  tipOf,
  type UnreadableRun,
  unreadableRun,
} from './read-candidate.ts';
import type { VerifiedRuns } from './verified-runs.ts';

/** Byte limits for the parts of a reply that are neither the author's nor required. */
type Room = ShownRoom & {
  /** The limit for each of the other runs. */
  readonly other: number;
  readonly others: number;
};

/** From the widest to the narrowest: the recap shrinks first, then the other runs, the goal last. */
const ROOMS: readonly Room[] = [
  { recap: 6_144, draft: 4_096, goal: 1_024, other: 256, others: 4 },
  { recap: 4_608, draft: 4_096, goal: 1_024, other: 256, others: 4 },
  { recap: 3_072, draft: 4_096, goal: 1_024, other: 256, others: 4 },
  { recap: 2_048, draft: 3_072, goal: 1_024, other: 128, others: 4 },
  { recap: 1_024, draft: 2_048, goal: 1_024, other: 64, others: 4 },
  { recap: 1_024, draft: 1_024, goal: 1_024, other: 64, others: 4 },
  { recap: 512, draft: 512, goal: 1_024, other: 48, others: 4 },
  { recap: 512, draft: 256, goal: 512, other: 32, others: 4 },
  { recap: 256, draft: 128, goal: 256, other: 32, others: 2 },
  { recap: 64, draft: 64, goal: 64, other: 24, others: 0 },
];
/** If the author's texts alone exceed the budget, cutting the rest further would not help. */
const ROOM_ANYWAY: Room = { recap: 1_024, draft: 1_024, goal: 1_024, other: 64, others: 4 };

type StrongRun = {
  readonly strong: RankedRun;
  readonly workspace: string | undefined;
  readonly damaged: readonly SessionId[];
};

/** Rehydrates the run within the budget of a reply, and lists other runs that may be meant. */
export async function resumeRun(
  reader: CandidateReader,
  { ranked }: VerifiedRuns,
  { strong, workspace, damaged }: StrongRun,
): Promise<Result<GivenReply, UnreadableRun>> {
  const beside = ranked.slice(0, RESUME_CANDIDATES_MAX).filter((one) => one !== strong);
  const others: OfferedRun[] = [];
  for (const one of beside.slice(0, RESUME_CANDIDATES_MAX - 1)) {
    const candidate = await readCandidate(reader, one);
    if (candidate.isErr()) return err(candidate.error);
    others.push(candidate.value);
  }
  const replyIn = async (room: Room): Promise<Result<GivenReply, UnreadableRun>> => {
    const { services, mint } = reader;
    const shown = { session: sessionOf(reader.sessions, strong), target: tipOf(strong), mint, workspace, room };
    const lines = others.slice(0, room.others).map((one) => shorterCandidate(one, room.other));
    const origin = reader.origins.get(strong.session.sessionId);
    const resumed = { whyMatched: strong.whyMatched, others: lines, damaged, origin };
    const reply = await rehydrateNode(services, shown);
    return reply.map((one) => resumedReply(one, resumed)).mapErr(unreadableRun(strong));
  };
  for (const room of ROOMS) {
    const reply = await replyIn(room);
    if (reply.isErr() || replyBytes(reply.value) <= RESUME_REPLY_BYTES_MAX) return reply;
  }
  return replyIn(ROOM_ANYWAY);
}

/** A client shows the text or the data, so the longer one counts. Data is measured as sent, with escapes. */
function replyBytes({ text, furtherTexts = [], structured }: GivenReply): number {
  const textBytes = [text, ...furtherTexts].reduce((bytes, one) => bytes + utf8Length(one), 0);
  return Math.max(textBytes, canonicalLength(structured));
}
