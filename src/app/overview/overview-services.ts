import type { Clock } from '../ports/system.ts';
import type { WorkspaceObserver } from '../ports/workspace.ts';
import type { InspectServices } from '../sessions/inspect-session.ts';
import type { ListServices } from '../sessions/list-sessions.ts';
import type { ResumeCallServices } from '../sessions/resume-call.ts';
import type { SearchServices } from '../sessions/search-sessions.ts';

/** What looking at sessions needs; nothing in it can append. */
export type SessionsServices = ListServices &
  InspectServices &
  SearchServices &
  ResumeCallServices & { readonly workspace: WorkspaceObserver; readonly clock: Clock };
