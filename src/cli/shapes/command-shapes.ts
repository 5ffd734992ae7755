import type * as z from 'zod';
import { versionShape } from './about/version-shape.ts';
import { exportShape } from './exchange/export-shape.ts';
import { importShape } from './exchange/import-shape.ts';
import { sessionVerifyShape } from './session/session-verify-shape.ts';

/** What each command prints under `--json`, by its name. A command that serves prints none. */
export const COMMAND_SHAPES: { readonly [command: string]: z.ZodType } = {
  export: exportShape,
  import: importShape,
  'session verify': sessionVerifyShape,
  version: versionShape,
};
