import { err } from 'neverthrow';
import { nodeBundleTools } from '../adapters/bundle.ts';
import { yieldOften } from '../adapters/file-store/yield-often.ts';
import { systemClock } from '../adapters/system.ts';
import type { SpaceStore } from '../app/ports/team-database.ts';
import type { CommitReader } from '../app/ports/workspace-observer.ts';
import type { Services } from '../app/services.ts';
import { shortIds } from '../cli/session-ids.ts';
import { includesRole } from '../core/wire/team-paths.ts';
import type { ConsoleCaller, SpaceConsole } from '../http/team/team-console.ts';
import { explainedToPage, TEAM_REFUSALS } from './explain-to-page.ts';
import { logKeysOf } from './open-bundles.ts';
import { passportMaking } from './open-passports.ts';

/** A folder that a client named is not one of this machine, so git is never asked about it. */
const NO_REPOSITORIES: CommitReader = {
  commitAt: async () => undefined,
  commitNamed: async () => err({ code: 'commit_unknown' }),
  fileAt: async () => undefined,
};

type Asked = { readonly services: Services; readonly caller: ConsoleCaller; readonly version: string };

/** The pages of a space for one person: the use cases of the local console, over the store of the space. */
export function spaceConsole(store: SpaceStore, { services, caller, version }: Asked): SpaceConsole {
  const { principal, role, isFresh } = caller;
  return {
    feed: store.feed,
    services: {
      ...services,
      ...store,
      by: { via: 'team', principal },
      channel: { via: 'team', principal },
      // A person who decides has just proved who they are. An agent cannot: it holds no session of a browser.
      mayDecide: isFresh && includesRole(role, 'approver'),
      allowedMode: async (mode) => mode,
      shortIds,
      homes: [],
      command: 'workrail',
      explain: (refusal: { readonly code: string }) => explainedToPage(refusal, 'of the space', TEAM_REFUSALS),
      tools: nodeBundleTools,
      yieldNow: yieldOften(),
      appVersion: version,
      appliedConfigHash: async () => undefined,
      now: () => new Date(systemClock.nowMs()).toISOString(),
      logKeys: logKeysOf(store),
      ...passportMaking(store, NO_REPOSITORIES),
    },
  };
}
