import type { Clock } from '../ports/clock.ts';
import type { WorkspaceObserver } from '../ports/workspace-observer.ts';
import type { ListServices } from './list-sessions.ts';
import type { InspectServices } from './look-at-session.ts';
import type { ResumeCallServices } from './resume-call.ts';
import type { SearchServices } from './search-sessions.ts';

/** What looking at sessions needs; nothing in it can append. */
export type SessionsServices = ListServices &
  InspectServices &
  SearchServices &
  ResumeCallServices & { readonly workspace: WorkspaceObserver; readonly clock: Clock };
