import type { MarkStore } from '../../app/ports/session-marks.ts';
import type { Store } from '../../app/ports/store.ts';
import type { SessionBin } from '../../app/ports/upkeep.ts';
import { postgresArtifacts, postgresSnapshots, postgresWorkflows } from './postgres-content.ts';
import { postgresIndex } from './postgres-index.ts';
import { postgresKeyring } from './postgres-keyring.ts';
import { postgresBin, postgresMarks } from './postgres-marks.ts';
import { postgresLogs, postgresSessions } from './postgres-sessions.ts';
import { sessionRows } from './session-rows.ts';
import type { SpaceParts } from './space.ts';

type PostgresStore = Store & { readonly marks: MarkStore; readonly bin: SessionBin };

/** Everything durable of one space, in a PostgreSQL database. */
export function postgresStore(parts: SpaceParts): PostgresStore {
  const rows = sessionRows(parts);
  const pinnedWorkflows = postgresWorkflows(parts);
  const snapshots = postgresSnapshots(parts, pinnedWorkflows);
  const index = postgresIndex(parts, rows, { snapshots, pinnedWorkflows });
  const sessions = postgresSessions(parts, rows, async (session, plan) => {
    snapshots.remember(plan.snapshots);
    await index.record(session);
  });
  return {
    sessions,
    logs: postgresLogs(parts, rows),
    sessionIndex: index,
    marks: postgresMarks(parts),
    bin: postgresBin(parts, rows),
    snapshots,
    artifacts: postgresArtifacts(parts),
    pinnedWorkflows,
    keyring: postgresKeyring(parts),
  };
}
