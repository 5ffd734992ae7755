import type * as z from 'zod';
import { workflowCheckShape } from './author/workflow-check.ts';
import { workflowListShape, workflowPreviewShape, workflowShowShape } from './author/workflow-data.ts';
import { workflowDryRunShape } from './author/workflow-dry-run.ts';
import { workflowTestShape } from './author/workflow-test.ts';
import {
  workflowCopyShape,
  workflowDiffShape,
  workflowMigrateIdShape,
  workflowNewShape,
} from './author/written-workflow.ts';
import { exportShape } from './bundle/export.ts';
import { importShape } from './bundle/import.ts';
import { doctorShape } from './clients/doctor.ts';
import { initShape } from './clients/init.ts';
import { completionShape } from './completion.ts';
import { demoShape } from './demo.ts';
import { keysRotateShape, keysStatusShape } from './keys.ts';
import { searchShape } from './search.ts';
import { sessionDiffShape } from './sessions/session-diff.ts';
import { sessionNotesShape } from './sessions/session-notes.ts';
import { sessionResumeShape } from './sessions/session-resume.ts';
import { sessionListShape } from './sessions/session-shapes.ts';
import { sessionShowShape } from './sessions/session-show.ts';
import { sessionTreeShape } from './sessions/tree-steps.ts';
import { sessionVerifyShape } from './sessions/verify-lines.ts';
import { configGetShape, configListShape, configPathShape, configSetShape } from './settings.ts';
import { sourceAddShape, sourceListShape, sourceRemoveShape, sourceUpdateShape } from './sources.ts';
import { statusShape } from './status.ts';
import { gcShape } from './upkeep/gc.ts';
import { sessionCloseShape } from './upkeep/session-close.ts';
import { sessionDeleteShape } from './upkeep/session-delete.ts';
import { sessionKeepShape } from './upkeep/session-keep.ts';
import { sessionPreferShape } from './upkeep/session-prefer.ts';
import { versionShape } from './version.ts';

/** What each command prints under `--json`, by its name. A command that serves prints none. */
export const COMMAND_SHAPES: { readonly [command: string]: z.ZodType } = {
  demo: demoShape,
  completion: completionShape,
  'config get': configGetShape,
  'config list': configListShape,
  'config path': configPathShape,
  'config set': configSetShape,
  doctor: doctorShape,
  export: exportShape,
  import: importShape,
  init: initShape,
  'keys rotate': keysRotateShape,
  'keys status': keysStatusShape,
  search: searchShape,
  'session diff': sessionDiffShape,
  'session list': sessionListShape,
  'session notes': sessionNotesShape,
  'session resume': sessionResumeShape,
  'session show': sessionShowShape,
  'session tree': sessionTreeShape,
  gc: gcShape,
  'session close': sessionCloseShape,
  'session delete': sessionDeleteShape,
  'session keep': sessionKeepShape,
  'session prefer': sessionPreferShape,
  'session verify': sessionVerifyShape,
  status: statusShape,
  'source add': sourceAddShape,
  'source list': sourceListShape,
  'source remove': sourceRemoveShape,
  'source update': sourceUpdateShape,
  version: versionShape,
  'workflow check': workflowCheckShape,
  'workflow copy': workflowCopyShape,
  'workflow diff': workflowDiffShape,
  'workflow dry-run': workflowDryRunShape,
  'workflow list': workflowListShape,
  'workflow migrate-id': workflowMigrateIdShape,
  'workflow new': workflowNewShape,
  'workflow preview': workflowPreviewShape,
  'workflow show': workflowShowShape,
  'workflow test': workflowTestShape,
};
