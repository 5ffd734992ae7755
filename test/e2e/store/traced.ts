import { existsSync } from 'node:fs';
import type { Result } from 'neverthrow';
import { fileStore } from '../../../src/adapters/file-store/file-store.ts';
import { nodeHasher } from '../../../src/adapters/system.ts';
import type { EventIndex } from '../../../src/core/log/ids.ts';
import type { AppendPlan } from '../../../src/core/log/plan/append-plan.ts';
import { sessionWriter } from '../../simulation/session-writer.ts';
import { appendCheckpoint } from './append-checkpoint.ts';
import { sessionNamed } from './named-plans.ts';

/** What is done between two marks in the trace of this program. */
export type TracedPart = 'warm_append' | 'append_with_artifacts' | 'warm_reads' | 'cold_reads' | 'end';

const root = process.argv[2] ?? '';
const store = fileStore(root, nodeHasher.sha256);
const sessionId = sessionNamed('one');
const writer = sessionWriter();
writer.advance(writer.startRun());
const replied = writer.events.findIndex(({ kind }) => kind === 'advance_recorded') as EventIndex;

for (const name of ['a', 'b', 'c'])
  done(await appendCheckpoint(store.sessions, sessionId, { name, artifacts: [`${name}-artifact`] }));
for (const plan of writer.plans) await append(plan);
mark('warm_append');
done(await appendCheckpoint(store.sessions, sessionId, { name: 'd' }));
mark('append_with_artifacts');
done(await appendCheckpoint(store.sessions, sessionId, { name: 'e', artifacts: ['one', 'two'] }));
mark('warm_reads');
await read(store);
mark('cold_reads');
await read(fileStore(root, nodeHasher.sha256));
mark('end');

async function append(plan: AppendPlan): Promise<void> {
  const { sessions } = store;
  done(await sessions.exclusively(plan.sessionId, async (_, permit) => sessions.append(permit, plan)));
}

async function read({ sessions, sessionIndex }: typeof store): Promise<void> {
  const other = writer.plans[0]?.sessionId ?? sessionId;
  done(await sessions.load(sessionId));
  done(await sessions.loadValidPrefix(sessionId));
  done(await sessions.storedReply(other, replied));
  done(await sessions.list());
  done(await sessionIndex.summaries());
}

function done(result: Result<unknown, unknown>): void {
  result._unsafeUnwrap();
}

/** Asks for a file that nobody has, which shows in the trace. */
function mark(part: TracedPart): void {
  existsSync(`/workrail-mark/${part}`);
}
