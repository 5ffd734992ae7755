import type * as z from 'zod';
import { versionShape } from './shapes/about/version-shape.ts';
import { completionShape } from './shapes/completion/completion-shape.ts';
import { configGetShape, configListShape, configPathShape, configSetShape } from './shapes/config/config-shapes.ts';
import { demoShape } from './shapes/demo/demo-shape.ts';
import { exportShape } from './shapes/exchange/export-shape.ts';
import { importShape } from './shapes/exchange/import-shape.ts';
import { keysRotateShape, keysStatusShape } from './shapes/keys/keys-shapes.ts';
import { searchShape } from './shapes/search/search-shape.ts';
import { sessionDiffShape } from './shapes/session/look/session-diff-shape.ts';
import { sessionListShape } from './shapes/session/look/session-list-shape.ts';
import { sessionNotesShape } from './shapes/session/look/session-notes-shape.ts';
import { sessionResumeShape } from './shapes/session/look/session-resume-shape.ts';
import { sessionShowShape } from './shapes/session/look/session-show-shape.ts';
import { sessionTreeShape } from './shapes/session/look/session-tree-shape.ts';
import { sessionVerifyShape } from './shapes/session/session-verify-shape.ts';
import { doctorShape } from './shapes/setup/doctor-shape.ts';
import { initShape } from './shapes/setup/init-shape.ts';
import {
  sourceAddShape,
  sourceListShape,
  sourceRemoveShape,
  sourceUpdateShape,
} from './shapes/source/source-shapes.ts';
import { statusShape } from './shapes/status/status-shape.ts';
import { gcShape } from './shapes/upkeep/gc-shape.ts';
import { sessionCloseShape } from './shapes/upkeep/session-close-shape.ts';
import { sessionDeleteShape } from './shapes/upkeep/session-delete-shape.ts';
import { sessionKeepShape } from './shapes/upkeep/session-keep-shape.ts';
import { sessionPreferShape } from './shapes/upkeep/session-prefer-shape.ts';
import { workflowCheckShape } from './shapes/workflow/check-shape.ts';
import { workflowDryRunShape } from './shapes/workflow/dry-run-shape.ts';
import { workflowListShape, workflowPreviewShape, workflowShowShape } from './shapes/workflow/look-shapes.ts';
import { workflowTestShape } from './shapes/workflow/test-shape.ts';
import {
  workflowCopyShape,
  workflowDiffShape,
  workflowMigrateIdShape,
  workflowNewShape,
} from './shapes/workflow/write-shapes.ts';

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
