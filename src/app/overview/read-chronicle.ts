import type { SessionId } from '../../core/log/ids.ts';
import { type Chronicle, chronicleEvent, emptyChronicle } from '../../core/views/history.ts';
import type { AppliedEvent, SessionView } from '../../core/views/session-view.ts';
import type { SessionLogs } from '../ports/session-store.ts';

type ChronicleServices = { readonly logs: SessionLogs };

/** The chronicle of a session, as far as a view of it goes: what was appended since it was made is left out. */
export async function readChronicle(
  { logs }: ChronicleServices,
  sessionId: SessionId,
  { nextEventIndex }: SessionView,
): Promise<Chronicle> {
  const chronicle = emptyChronicle();
  const log = await logs.open(sessionId);
  for (const append of log.isErr() ? [] : log.value.appends) {
    const events = log.isErr() ? [] : (await log.value.readEvents(append)).unwrapOr([]);
    // The manifest attests these events, and the view took them in.
    for (const event of events as readonly AppliedEvent[]) {
      if (event.eventIndex >= nextEventIndex) return chronicle;
      chronicleEvent(chronicle, event);
    }
  }
  return chronicle;
}
