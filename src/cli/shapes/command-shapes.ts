import type * as z from 'zod';
import { versionShape } from './about/version-shape.ts';
import { completionShape } from './completion/completion-shape.ts';
import { configGetShape, configListShape, configPathShape, configSetShape } from './config/config-shapes.ts';
import { demoShape } from './demo/demo-shape.ts';
import { exportShape } from './exchange/export-shape.ts';
import { importShape } from './exchange/import-shape.ts';
import { keysRotateShape, keysStatusShape } from './keys/keys-shapes.ts';
import { searchShape } from './search/search-shape.ts';
import { sessionDiffShape } from './session/look/session-diff-shape.ts';
import { sessionListShape } from './session/look/session-list-shape.ts';
import { sessionNotesShape } from './session/look/session-notes-shape.ts';
import { sessionResumeShape } from './session/look/session-resume-shape.ts';
import { sessionShowShape } from './session/look/session-show-shape.ts';
import { sessionTreeShape } from './session/look/session-tree-shape.ts';
import { sessionVerifyShape } from './session/session-verify-shape.ts';
import { doctorShape } from './setup/doctor-shape.ts';
import { initShape } from './setup/init-shape.ts';
import { sourceAddShape, sourceListShape, sourceRemoveShape, sourceUpdateShape } from './source/source-shapes.ts';
import { statusShape } from './status/status-shape.ts';
import { gcShape } from './upkeep/gc-shape.ts';
import { sessionCloseShape } from './upkeep/session-close-shape.ts';
import { sessionDeleteShape } from './upkeep/session-delete-shape.ts';
import { sessionKeepShape } from './upkeep/session-keep-shape.ts';
import { sessionPreferShape } from './upkeep/session-prefer-shape.ts';
import { workflowCheckShape } from './workflow/check-shape.ts';
import { workflowDryRunShape } from './workflow/dry-run-shape.ts';
import { workflowListShape, workflowPreviewShape, workflowShowShape } from './workflow/look-shapes.ts';
import { workflowTestShape } from './workflow/test-shape.ts';
import {
  workflowCopyShape,
  workflowDiffShape,
  workflowMigrateIdShape,
  workflowNewShape,
} from './workflow/write-shapes.ts';

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
